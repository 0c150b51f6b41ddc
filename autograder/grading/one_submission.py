"""One submission graded as nbgrader's steps do it, without its database: points and files, for the entries.

What a step would read from the database is read once for the lab; what it would write there is in the Outcome.
"""

from __future__ import annotations

import fnmatch
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from nbformat import NotebookNode, v4
from nbgrader.converters import Autograde
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution, is_task

from autograder import rubrics
from autograder.cells import KnownNotebook, known, restore
from autograder.course.course import Course
from autograder.files import read_json
from autograder.grading import safe_page, scoring
from autograder.grading.scoring import Assessed
from autograder.intake import inspection, submissions
from autograder.intake.inspection import HandInError
from autograder.rubrics import Rubric, questions
from autograder.rubrics.score import Score
from beowulf.errors import LabError

NEW = ".new"  # in autograded/: submissions that are being graded, each until its rows are saved
RESPONSE = "No response."  # as nbgrader writes it


@dataclass(frozen=True)
class Assignment:
    """What is the same for all submissions of a lab."""

    course: Path
    slug: str
    rubric: Rubric | None  # None: an instructor's own, which is not graded here
    notebooks: list[KnownNotebook]
    ignored: list[str]  # patterns of files that are not copied
    of_learners: list[str]  # files of the course that a learner changes and hands in
    permissions: int

    @classmethod
    def of(cls, course: Course, slug: str, book: Any) -> Assignment:
        """A released lab of a course, as its open gradebook and its configuration have it.

        LabError when its lab.toml contradicts it.
        """
        notebooks = [known(each) for each in course.released(slug, book)]
        marks = [cell.marks() for each in notebooks for cell in each.cells.values()]
        scored = questions.check(slug, marks, course.folder)
        api = course.api
        configured = Autograde(api.coursedir, parent=api)
        return cls(
            course=course.folder,
            slug=slug,
            rubric=partial(rubrics.ask, scored) if scored else None,
            notebooks=notebooks,
            ignored=[*api.coursedir.ignore, "*.ipynb"],
            of_learners=list(configured.exclude_overwriting.get(slug, [])),
            permissions=int(str(configured.permissions), 8),
        )

    def submitted(self, student: str) -> Path:
        """The folder of what a learner handed in."""
        return self.course / "submitted" / student / self.slug

    def autograded(self, student: str) -> Path:
        """Where formgrader finds it when it is graded."""
        return self.course / "autograded" / student / self.slug

    def new(self, student: str) -> Path:
        """Where it is while it is graded."""
        return self.course / "autograded" / NEW / student / self.slug


@dataclass(frozen=True)
class Outcome:
    """What came of a submission: points (None: a person gives them) and comments by question, or the problem."""

    student: str
    points: dict[str, float | None] = field(default_factory=dict)
    comments: dict[str, str | None] = field(default_factory=dict)
    assessed: Assessed = field(default_factory=Assessed)
    problem: str = ""


def grade(assignment: Assignment, student: str) -> Outcome:
    """Grade one submission into its new folder; never raises because of what a learner handed in."""
    folder = assignment.new(student)
    outcome = Outcome(student)
    try:
        _lay_out(assignment, student)
        for released in assignment.notebooks:
            notebook = _restored(assignment, student, released)
            assessed = _assess(assignment, student, notebook, folder)
            scoring.write_scores(notebook, assessed.scores)
            points, comments = _marks(notebook)
            outcome = replace(
                outcome,
                points=outcome.points | points,
                comments=outcome.comments | comments,
                assessed=assessed,
            )
            safe_page.make_safe(notebook, folder)
            # Without comparing with nbformat's schema once more, which takes as long as all else.
            text = v4.writes(notebook)
            (folder / f"{released.name}.ipynb").write_text(text + "\n", encoding="utf-8")
        for path in filter(Path.is_file, folder.rglob("*")):
            path.chmod(assignment.permissions)
    except LabError as problem:
        return Outcome(student, problem=str(problem))
    except OSError as problem:
        why = f"It could not be written: {problem.strerror or problem}. Make room and grade again."
        return Outcome(student, problem=why)
    except Exception as problem:
        reason = (f"{type(problem).__name__}: {problem}".splitlines() or [""])[0]
        return Outcome(student, problem=f"It could not be graded ({reason[:200]}).")
    return outcome


def assess(assignment: Assignment, student: str) -> dict[str, Score]:
    """The points alone, from what is in submitted/: nothing is written."""
    folder = assignment.submitted(student)
    scores: dict[str, Score] = {}
    for released in assignment.notebooks:
        notebook = _restored(assignment, student, released)
        scores |= _assess(assignment, student, notebook, folder).scores
    return scores


def sources(assignment: Assignment, student: str) -> dict[str, str]:
    """What a learner wrote into each cell that has a name, as it was handed in; HandInError where it cannot be read."""
    return {
        str(cell.metadata.nbgrader.grade_id): cell.source
        for released in assignment.notebooks
        for cell in _restored(assignment, student, released).cells
        if "nbgrader" in cell.metadata
    }


def _restored(assignment: Assignment, student: str, released: KnownNotebook) -> NotebookNode:
    notebook = inspection.read(assignment.submitted(student) / f"{released.name}.ipynb")
    restore(notebook, released)
    return notebook


def _assess(assignment: Assignment, student: str, notebook: NotebookNode, folder: Path) -> Assessed:
    assert assignment.rubric, "driver and regrade have looked for it"
    return scoring.assess(assignment.rubric, folder, notebook, student, assignment.course)


def _lay_out(assignment: Assignment, student: str) -> None:
    """The files beside the notebook as nbgrader lays them out: the learner's, then those of the course."""
    folder = assignment.new(student)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    handed_in = assignment.submitted(student)
    if sum(1 for _ in _files(handed_in, assignment.ignored)) > submissions.MOST_FILES:
        raise HandInError(f"It has more than {submissions.MOST_FILES:,} files.")
    _copy(handed_in, folder, assignment.ignored, [])
    source = assignment.course / "source" / assignment.slug
    _copy(source, folder, assignment.ignored, assignment.of_learners)


def _copy(source: Path, folder: Path, ignored: list[str], left_out: list[str]) -> None:
    for path in _files(source, ignored):
        name = path.relative_to(source)
        if str(name) in left_out or path.is_symlink() or not path.is_file():
            continue
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / name)


def _files(folder: Path, ignored: list[str]) -> Iterator[Path]:
    """The files that nbgrader would copy; its own search looks through a folder again for each of its files."""
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_ignored(name, ignored))
        yield from (Path(here, name) for name in sorted(names) if not _is_ignored(name, ignored))


def _is_ignored(name: str, ignored: list[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, each) for each in ignored)


def _marks(notebook: NotebookNode) -> tuple[dict[str, float | None], dict[str, str | None]]:
    """The points and comments that SaveAutoGrades would write, by the names of the cells."""
    points: dict[str, float | None] = {}
    comments: dict[str, str | None] = {}
    for cell in notebook.cells:
        if is_grade(cell):
            points[cell.metadata.nbgrader.grade_id] = determine_grade(cell)[0]
        if is_solution(cell) or is_task(cell):
            same = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
            name = cell.metadata.nbgrader.grade_id
            comments[name] = RESPONSE if same and not is_task(cell) else None
    return points, comments


def publish(assignment: Assignment, student: str) -> None:
    """Put what was graded into its place; what was there before is removed only when the new is complete."""
    new, place = assignment.new(student), assignment.autograded(student)
    old = new.with_name(f"{new.name}.old")
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(old, ignore_errors=True)
    if place.exists():
        os.replace(place, old)
    os.replace(new, place)
    discard(assignment, student)


def unchanged(assignment: Assignment, student: str) -> set[str]:
    """The named cells in which what was graded now is what was graded before."""
    before, now = (
        _texts(assignment, folder)
        for folder in (assignment.autograded(student), assignment.new(student))
    )
    return {name for name, _ in before & now}


def _texts(assignment: Assignment, folder: Path) -> set[tuple[str, str]]:
    nothing: dict[str, Any] = {"cells": []}
    return {
        (cell["metadata"]["nbgrader"]["grade_id"], "".join(cell["source"]))
        for released in assignment.notebooks
        for cell in read_json(folder / f"{released.name}.ipynb", nothing)["cells"]
        if "nbgrader" in cell["metadata"]
    }


def discard(assignment: Assignment, student: str) -> None:
    """Remove what is left of a submission's grading."""
    shutil.rmtree(assignment.new(student).parent, ignore_errors=True)


def is_graded(assignment: Assignment, student: str) -> bool:
    """Whether it was graded and nothing newer was handed in, by nbgrader's own rule."""
    place = assignment.autograded(student)
    if not all((place / f"{each.name}.ipynb").is_file() for each in assignment.notebooks):
        return False
    places = (assignment.submitted(student), place)
    handed_in, graded = map(submissions.timestamp, places)
    return handed_in is None or graded is None or handed_in <= graded
