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
    """One question of one learner that gives or is worth other points today than when it was graded."""

    student: str
    question: str
    before: float | None  # None: it waits for a person
    after: float | None
    of_before: float
    of: float
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
            raise UsageError(f"{student} has not been graded in {slug} yet.")
    chosen = [student for student in lab_class.graded if not students or student in students]
    for done, student in enumerate(chosen):
        progress(done, len(chosen), student)
        try:
            today = one_submission.assess(assignment, student)
        except HandInError:
            continue  # what was handed in since cannot be read; the points of before stay
        worth = points.worth_when_graded(course, slug, student)
        for question, given in sorted(lab_class.of_student(student).items()):
            score = today.get(question)
            before = after = given.points
            why = "read by a person"
            if score is not None and given.by_rubric is not None:
                before, after = given.by_rubric, score.within(given.of).points
                why = "; expected: ".join(filter(None, (score.found, score.expected)))
            of = worth.get(question, given.of)
            if abs((after or 0) - (before or 0)) > LEAST_CHANGE or of != given.of:
                by_hand = given.by_hand and score is not None
                yield Change(student, question, before, after, of, given.of, why, by_hand)
