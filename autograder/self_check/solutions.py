"""The author's answer to a question, where the checkout has the author's notebook and the course allows it."""

from __future__ import annotations

from typing import Any

from autograder import rubrics
from autograder.cells import text_of
from autograder.self_check.work import Work
from beowulf.errors import LabError


def solution(work: Work, question: str) -> str:
    """What the author wrote, and what the learner's own Records give; LabError where it is not to be shown."""
    work.question(question)
    if not work.limits.solutions:
        day = work.limits.solutions_from
        raise LabError(
            f"{work.limits.whose}solutions are closed.",
            f"They open on {day}." if day else "Your course gives them out.",
        )
    parts = [text_of(cell) for cell in cells(work.slug).get(question, [])]
    # What would earn all points, by the learner's own Records where they decide.
    rubric = rubrics.find(work.slug, work.course)
    score = rubric(work.submission).get(question) if rubric else None
    if score and (expected := score.expected.rstrip(".")):
        parts.append(f"For all points: {expected}.")
    if not parts:
        raise LabError(
            f"The notebook has no answer of the author's to {question}.",
            f"It is about a program or a measurement of your own: see {work.lab.handout}.",
        )
    return "\n\n".join(parts)


def cells(slug: str) -> dict[str, list[Any]]:
    """The author's cells for each question of a lab: its answer cell, or those since the question before it."""
    from autograder.course import release

    source = release.sources().get(slug)
    if source is None:
        raise LabError("This copy of the labs has no solutions.", "Your course gives them out.")
    by_question: dict[str, list[Any]] = {}
    found: list[Any] = []
    for cell in release.instructor_version(source).cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("solution"):
            found.append(cell)
        if marks.get("grade"):
            question = str(marks["grade_id"])
            name = f"{question}-answer"
            named = [each for each in found if each.metadata["nbgrader"]["grade_id"] == name]
            by_question[question] = named or found
            found = []
    return by_question
