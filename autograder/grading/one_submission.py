"""One submission graded by nbgrader's configured steps, without its database: points and files, for the entries.

What a step would read from the database is read once for the lab; what it would write there is in the Outcome.
"""

from __future__ import annotations

import fnmatch
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader import preprocessors as steps
from nbgrader.converters import Autograde
from nbgrader.utils import (
    compute_checksum,
    determine_grade,
    is_grade,
    is_solution,
    is_task,
    parse_utc,
)
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from autograder.cells import KnownCell, RestoreCells, identify, known_cells, node, restored
from autograder.course.course import Course
from autograder.grading.safe_page import KeepSafe
from autograder.grading.scoring import ASSESSED, Assessed, AssessSubmission
from autograder.intake import inspection, submissions
from autograder.rubrics import questions
from autograder.rubrics.score import Score
from beowulf.errors import LabError

NEW = ".new"  # in autograded/: submissions that are being graded, each until its rows are saved
MOST_TRIES = 100
RESPONSE = "No response."  # as nbgrader writes it
# What these do with the database is done in _restore() and by the entries; what CheckCellMetadata compares with a
# schema, cell by cell, are after that the released marks themselves; KeepSafe is the last one whatever a course sets.
_BY_US = (
    RestoreCells,
    steps.CheckCellMetadata,
    steps.OverwriteKernelspec,
    steps.OverwriteCells,
    steps.SaveAutoGrades,
    KeepSafe,
)


@dataclass(frozen=True)
class KnownNotebook:
    """A released notebook of a lab, from the gradebook."""

    cells: dict[str, KnownCell]
    kernelspec: dict[str, Any]


@dataclass(frozen=True)
class Assignment:
    """What is the same for all submissions of a lab."""

    course: Path
    slug: str
    notebooks: dict[str, KnownNotebook]
    config: Config
    sanitize: list[Any]  # nbgrader's steps
    autograde: list[Any]
    ignored: list[str]  # patterns of files that are not copied
    of_learners: list[str]  # files of the course that a learner changes and hands in
    permissions: int
    db_url: str

    @classmethod
    def of(cls, course: Course, slug: str) -> Assignment:
        """A released lab of a course, as its gradebook and its configuration have it.

        LabError when its lab.toml contradicts it.
        """
        with course.gradebook() as book:
            notebooks = {
                each.name: KnownNotebook(known_cells(each), json.loads(each.kernelspec or "{}"))
                for each in course.released(slug, book)
            }
        cells = [cell for each in notebooks.values() for cell in each.cells.values()]
        questions.check(slug, [cell.marks() for cell in cells])
        api = course.api
        configured = Autograde(api.coursedir, parent=api)
        return cls(
            course=course.folder,
            slug=slug,
            notebooks=notebooks,
            config=api.config,
            sanitize=list(map(_step, configured.sanitize_preprocessors)),
            autograde=list(map(_step, configured.autograde_preprocessors)),
            ignored=[*api.coursedir.ignore, "*.ipynb"],
            of_learners=list(configured.exclude_overwriting.get(slug, [])),
            permissions=int(str(configured.permissions), 8),
            db_url=api.coursedir.db_url,
        )

    def within(self, longest_s: float) -> Assignment:
        """The same, with no more time than that for a hand-in's programs."""
        config = deepcopy(self.config)
        config.AssessSubmission.longest_s = longest_s
        return replace(self, config=config)

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
    """What came of a submission: by notebook the points (None: a person gives them) and comments, or the problem."""

    student: str
    points: dict[str, dict[str, float | None]] = field(default_factory=dict)
    comments: dict[str, dict[str, str | None]] = field(default_factory=dict)
    doubted: str = ""  # which Records are doubted, and why
    errors: list[str] = field(
        default_factory=list
    )  # of ours: the tracebacks of what could not be scored
    problem: str = ""
    out_of_time: bool = False  # its programs were ended because they took too long


def grade(assignment: Assignment, student: str) -> Outcome:
    """Grade one submission into its new folder; never raises because of what a learner handed in."""
    folder = assignment.new(student)
    try:
        _lay_out(assignment, student)
        points: dict[str, dict[str, float | None]] = {}
        comments: dict[str, dict[str, str | None]] = {}
        doubted, out_of_time = "", False
        errors: list[str] = []
        for name, released in assignment.notebooks.items():
            notebook = read(assignment.submitted(student), name)
            resources = _resources(assignment, student, name, folder)
            _restore(notebook, released)
            for step in [*assignment.sanitize, *assignment.autograde]:
                if step not in _BY_US and not issubclass(step, steps.AssignLatePenalties):
                    notebook, resources = step(config=assignment.config)(notebook, resources)
            points[name], comments[name] = _marks(notebook)
            assessed: Assessed = resources[ASSESSED]
            doubted, out_of_time = assessed.doubted, out_of_time or assessed.out_of_time
            errors += assessed.errors
            KeepSafe(config=assignment.config)(notebook, resources)
            write: Callable[..., Any] = nbformat.write
            write(notebook, folder / f"{name}.ipynb")
        set_permissions(folder, assignment.permissions)
    except LabError as problem:
        return Outcome(student, problem=str(problem))
    except OSError as problem:
        reason = problem.strerror or str(problem)
        return Outcome(
            student, problem=f"It could not be written: {reason}. Make room and grade again."
        )
    except (Exception, RecursionError, MemoryError) as problem:
        reason = (f"{type(problem).__name__}: {problem}".splitlines() or [""])[0]
        return Outcome(student, problem=f"It could not be graded ({reason[:200]}).")
    return Outcome(student, points, comments, doubted, errors, out_of_time=out_of_time)


def assess(assignment: Assignment, student: str) -> dict[str, Score]:
    """The points alone, from what is in submitted/: nothing is written."""
    folder = assignment.submitted(student)
    scores: dict[str, Score] = {}
    for name, released in assignment.notebooks.items():
        notebook = read(folder, name)
        _restore(notebook, released)
        resources = _resources(assignment, student, name, folder)
        AssessSubmission(config=assignment.config).preprocess(notebook, resources)
        scores |= resources[ASSESSED].scores
    return scores


def sources(assignment: Assignment, student: str) -> dict[str, str]:
    """What a learner wrote into each cell that has a name, as it was handed in; HandInError where it cannot be read."""
    texts: dict[str, str] = {}
    for name, released in assignment.notebooks.items():
        notebook = read(assignment.submitted(student), name)
        _restore(notebook, released)
        named = (
            (cell.metadata.get("nbgrader", {}).get("grade_id"), cell) for cell in notebook.cells
        )
        texts |= {str(grade_id): cell.source for grade_id, cell in named if grade_id}
    return texts


class HandInError(LabError):
    """A hand-in that cannot be read, and why."""


def read(folder: Path, name: str) -> NotebookNode:
    """The notebook of a hand-in; HandInError with a sentence where it is not one."""
    path = folder / f"{name}.ipynb"
    if fault := inspection.notebook_fault(path):
        raise HandInError(fault)
    return inspection.read(path)


def _lay_out(assignment: Assignment, student: str) -> None:
    """The files beside the notebook as nbgrader lays them out: the learner's, then those of the course."""
    folder = assignment.new(student)
    shutil.rmtree(folder, ignore_errors=True)
    _make(folder)
    handed_in = assignment.submitted(student)
    if sum(1 for _ in _files(handed_in, assignment.ignored)) > submissions.MOST_FILES:
        raise HandInError(f"It has more than {submissions.MOST_FILES:,} files.")
    _copy(handed_in, folder, assignment.ignored, ())
    source = assignment.course / "source" / assignment.slug
    _copy(source, folder, assignment.ignored, assignment.of_learners)


def _make(folder: Path) -> None:
    """Make a folder in which others are graded, too: one who is done removes an empty one above (discard)."""
    for _ in range(MOST_TRIES):
        with suppress(FileNotFoundError):
            folder.mkdir(parents=True)
            return
    folder.mkdir(parents=True)


def _copy(source: Path, folder: Path, ignored: list[str], left_out: Iterable[str]) -> None:
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
    # As glob has it, a star is no dot at the beginning.
    return any(
        fnmatch.fnmatchcase(name, each) and (each.startswith(".") or not name.startswith("."))
        for each in ignored
    )


def _resources(assignment: Assignment, student: str, name: str, folder: Path) -> dict[str, Any]:
    """What nbgrader's converter passes to its steps."""
    about = {"student": student, "assignment": assignment.slug, "notebook": name}
    return {
        "unique_key": name,
        "output_files_dir": f"{name}_files",
        "metadata": {"path": str(folder), "name": name},
        "nbgrader": about | {"db_url": assignment.db_url},
    }


def _restore(notebook: NotebookNode, released: KnownNotebook) -> None:
    """What RestoreCells, OverwriteKernelspec and OverwriteCells do together."""
    notebook.metadata = node({"kernelspec": released.kernelspec} if released.kernelspec else {})
    notebook.cells = restored(notebook.cells, released.cells)
    identify(notebook)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        original = released.cells.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
        if original and original.locked and compute_checksum(cell) != original.checksum:
            cell.source = original.source


def _step(step: Any) -> Any:
    return import_item(step) if isinstance(step, str) else step


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


def set_permissions(folder: Path, permissions: int) -> None:
    """Give the files the permissions of the course's configuration."""
    for path in folder.rglob("*"):
        if path.is_file():
            path.chmod(permissions)


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


def discard(assignment: Assignment, student: str) -> None:
    """Remove what is left of a submission's grading."""
    shutil.rmtree(assignment.new(student).parent, ignore_errors=True)
    with suppress(OSError):  # others are being graded there
        assignment.new(student).parent.parent.rmdir()


def is_graded(assignment: Assignment, student: str) -> bool:
    """Whether it was graded and nothing newer was handed in, by nbgrader's own rule."""
    place = assignment.autograded(student)
    if not all((place / f"{name}.ipynb").is_file() for name in assignment.notebooks):
        return False
    handed_in, graded = when(assignment.submitted(student)), when(place)
    return handed_in is None or graded is None or handed_in <= graded


def when(folder: Path) -> datetime | None:
    """The time in a hand-in's timestamp.txt, as nbgrader reads it; None where there is none."""
    try:
        time: datetime = parse_utc(submissions.stamp(folder / submissions.TIMESTAMP))
    except (ValueError, OverflowError):
        return None
    return time if submissions.is_a_day(time) else None
