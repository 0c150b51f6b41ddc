"""Whose points a changed rubric would change, before it is applied: nothing is written."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.grading import one_submission, points
from autograder.grading.one_submission import Assignment
from autograder.intake.inspection import HandInError
from autograder.rubrics import questions
from beowulf.errors import LabError, UsageError
from beowulf.this_machine.progress import Progress, no_progress

if TYPE_CHECKING:
    from autograder.course.course import Course

LEAST_CHANGE = 1e-9  # below it two numbers of points are the same


@dataclass(frozen=True)
class Change:
    """One question of one learner that the rubric of today gives other points than are in the gradebook."""

    student: str
    question: str
    before: float
    after: float
    why: str
    by_hand: bool = False  # a person gave points, and those stay


def changes(
    course: Course,
    slug: str,
    progress: Progress = no_progress,
    students: Collection[str] | None = None,
) -> Iterator[Change]:
    """Every change that grading again would make, to some students or all; LabError when there is no rubric."""
    if not questions.has_rubric(slug):
        raise LabError(
            f"{slug} has no rubric: its own test cells give the points.",
            f"`nbgrader autograde {slug} --force` runs them again.",
        )
    lab_class = points.gather(course, slug)
    with course.gradebook() as book:
        assignment = Assignment.of(course, slug, book)
    for student in students or ():
        if student not in lab_class.graded:
            raise UsageError(f"{student} was not graded in {slug} yet.")
    chosen = [student for student in lab_class.graded if not students or student in students]
    for done, student in enumerate(chosen):
        progress(done, len(chosen), student)
        try:
            today = one_submission.assess(assignment, student)
        except HandInError:
            continue  # what was handed in since cannot be read; the points of before stay
        for question, given in sorted(lab_class.of_student(student).items()):
            score = today.get(question)
            if score is None or given.by_rubric is None:
                continue
            after = score.within(given.of).points
            if abs(after - given.by_rubric) > LEAST_CHANGE:
                why = "; expected: ".join(filter(None, (score.found, score.expected)))
                yield Change(student, question, given.by_rubric, after, why, given.by_hand)
