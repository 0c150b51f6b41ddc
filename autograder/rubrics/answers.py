"""How a rubric reads a learner's answers: numbers with some room, words, and the text to quote."""

from __future__ import annotations

from autograder.rubrics.submission import Submission, is_number
from beowulf.course import answers

FAR = 10  # times too large or too small


def is_near(submission: Submission, name: str, wanted: float, room: float) -> bool:
    """Whether this answer is a number within `room` of the wanted one."""
    answer = submission.answers.get(name)
    return is_number(answer) and abs(answer - wanted) <= room


def word(submission: Submission, name: str) -> str:
    """This answer as a text in small letters, empty when it is not one."""
    return answers.word(submission.answers.get(name))


def doubt(submission: Submission, name: str, wanted: float) -> str:
    """A question about an answer of another order of magnitude, or of the other sign; empty about any other."""
    answer = submission.answers.get(name)
    if not is_number(answer) or not answer or not wanted:
        return ""
    times = answer / wanted
    if times < 0:
        return f"Look at the sign of {name}: it is the opposite one."
    if 1 / FAR < times < FAR:
        return ""
    how = "large" if times > 1 else "small"
    return f"In which unit is {name}? It is at least {FAR} times too {how}."


def given(submission: Submission, *names: str) -> str:
    """The answers as the learner wrote them, or why there are none."""
    *first, last = map(submission.given, names)
    return " ".join([*(each if each.endswith(".") else f"{each}," for each in first), last])
