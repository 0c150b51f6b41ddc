"""Grades a class: processes grade one submission each, one process writes the gradebook.

A bad submission stops no other. Each result is saved at once, so that the next run continues one that was broken off.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SAWarning

from autograder.course.course import Course, Graded, saving
from autograder.files import locked, read_json, write_text
from autograder.grading import one_submission, workers
from autograder.grading.gradebook import Entries
from autograder.grading.one_submission import Assignment, Outcome
from autograder.intake import log
from autograder.rubrics import questions
from autograder.sandbox import LONGEST_S
from beowulf.errors import LabError, UsageError
from beowulf.this_machine.progress import Progress, no_progress

UNGRADED = "ungraded.json"  # in reports/SLUG/: why, by learner
# Over the time for programs, for all else that is done with a submission.
LONGEST_REST_S = 180.0


def grade(
    course: Course,
    slug: str,
    students: Sequence[str] | None = None,
    *,
    jobs: int = 1,
    again: bool = False,
    progress: Progress = no_progress,
) -> Iterator[Graded]:
    """Grade what is new of a lab, or all of it `again`, `jobs` at a time; each Graded as it ends.

    LabError at once when nothing was released or collected or it is no lab of ours, UsageError for a learner who handed
    in nothing.
    """
    slug = course.lab(slug)
    if not questions.has_rubric(slug):
        raise LabError(
            f"{slug} has no rubric: its own test cells give the points, and they have to be run.",
            f"`nbgrader autograde {slug}` runs them, and learners' code too, on this machine and without a sandbox.",
        )
    with ExitStack() as opened:
        book = opened.enter_context(course.gradebook())
        assignment = Assignment.of(course, slug, book)
        chosen = _chosen(course, slug, students)
        return _grade(course, assignment, chosen, jobs, again, progress, book, opened.pop_all())


def ungraded(course: Path, slug: str) -> dict[str, str]:
    """Why submissions could not be graded when it was tried last, by learner."""
    return read_json(log.folder(course, slug) / UNGRADED, {})


def _chosen(course: Course, slug: str, students: Sequence[str] | None) -> list[str]:
    there = course.submitted(slug)
    if not there:
        raise LabError(
            f"No submission of {slug} has been collected yet.",
            f"`beowulf class collect {slug} FOLDER` collects what was handed in.",
        )
    for student in students or []:
        if student not in there:
            raise UsageError(f"There is no submission of {slug} by {student!r}.")
    return list(students or there)


def _grade(
    course: Course,
    assignment: Assignment,
    chosen: list[str],
    jobs: int,
    again: bool,
    progress: Progress,
    book: Any,
    opened: ExitStack,
) -> Iterator[Graded]:
    why = ungraded(course.folder, assignment.slug)
    unfinished = course.folder / "autograded" / one_submission.NEW
    with opened, locked(course.folder), warnings.catch_warnings():
        # nbgrader's own queries; an instructor cannot fix them.
        warnings.simplefilter("ignore", SAWarning)
        entries = Entries(book, assignment)
        new: list[str] = []
        for student in chosen:
            known = one_submission.is_graded(assignment, student) and entries.knows(student)
            if known and not again:
                yield entries.graded(student, skipped=True)
            else:
                new.append(student)
        try:
            shutil.rmtree(unfinished, ignore_errors=True)
            grade_one = partial(one_submission.grade, assignment)
            outcomes = workers.run(grade_one, new, jobs, LONGEST_S + LONGEST_REST_S)
            for done, outcome in enumerate(outcomes):
                progress(done, len(new), outcome.student)
                graded = _save(entries, assignment, outcome)
                _save_reason(course.folder, assignment.slug, why, graded)
                yield graded
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def _save(entries: Entries, assignment: Assignment, outcome: Outcome) -> Graded:
    """Save the rows first, then the files: if it breaks off between them, it is graded again."""
    student, problem, assessed = outcome.student, outcome.problem, outcome.assessed
    if not problem:
        try:
            with saving("The points"):
                entries.enter(outcome, one_submission.unchanged(assignment, student))
            one_submission.publish(assignment, student)
            errors = _save_errors(assignment, student, assessed.errors)
            return replace(entries.graded(student), doubted=assessed.doubted, errors=errors)
        except LabError as fault:
            problem = str(fault)
        except OSError as fault:
            reason = fault.strerror or str(fault)
            problem = f"What was graded could not be put into its place ({reason}). Grade again."
    one_submission.discard(assignment, student)
    return Graded(student, problem=problem)


def _save_errors(assignment: Assignment, student: str, errors: list[str]) -> str:
    """Save the tracebacks of what could not be scored, and remove those of the last time; where they are."""
    file = log.folder(assignment.course, assignment.slug) / f"errors-{student}.txt"
    if not errors:
        file.unlink(missing_ok=True)
        return ""
    with suppress(LabError):  # on a full disk the question's own sentence remains
        write_text(file, "\n\n".join(errors) + "\n")
    where = file.relative_to(assignment.course)
    return f"An error of ours, or an edited Record: not everything could be scored, see {where}."


def _save_reason(course: Path, slug: str, why: dict[str, str], graded: Graded) -> None:
    """Save why a submission could not be graded, and remove the reason of one that could."""
    before = why.pop(graded.student, "")
    if graded.problem:
        why[graded.student] = graded.problem
    if before != graded.problem:
        text = json.dumps(dict(sorted(why.items())), indent=1, ensure_ascii=False)
        with suppress(LabError):  # on a full disk the sentence is still in the Graded
            write_text(log.folder(course, slug) / UNGRADED, text + "\n")
