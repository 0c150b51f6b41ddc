"""How a rubric reads a learner's answers: numbers with some room, words, and the text to quote."""

from __future__ import annotations

from autograder.rubrics.submission import Submission, is_number


def is_near(submission: Submission, name: str, wanted: float, room: float) -> bool:
    """Whether this answer is a number within `room` of the wanted one."""
    answer = submission.answers.get(name)
    return is_number(answer) and abs(answer - wanted) <= room


def word(submission: Submission, name: str) -> str:
    """This answer as a text in small letters, empty when it is not one."""
    answer = submission.answers.get(name)
    return " ".join(answer.lower().split()) if isinstance(answer, str) else ""


def given(submission: Submission, *names: str) -> str:
    """The answers as the learner wrote them, or why there are none."""
    return ", ".join(f"{name} = {submission.given(name)}" for name in names)
