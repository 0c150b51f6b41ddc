"""A course: nbgrader's folder layout, database and exchange, with this project's labs in it."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import NbGraderAPI
from nbgrader.utils import capture_log, temp_attrs
from sqlalchemy.exc import SAWarning
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder import hand_ins
from autograder.hand_ins import Collected
from beowulf.errors import LabError, UsageError
from beowulf.studies import Progress, no_progress

CONFIGURATION = "nbgrader_config.py"
LARGEST_NOTEBOOK_BYTES = 20_000_000


@dataclass(frozen=True)
class Graded:
    """What came of one submission: its points, or the `problem` that kept it from being graded."""

    student: str
    points: float = 0.0
    of: float = 0.0
    questions: dict[str, float | None] = field(default_factory=dict)  # None: awaits a person
    by_hand: float = 0.0  # how much of `of` only a person can give, and has not given
    problem: str = ""
    skipped: bool = False  # it was graded before, and nothing newer was handed in

    @property
    def awaiting(self) -> list[str]:
        """The questions that a person still has to grade."""
        return [name for name, points in self.questions.items() if points is None]


class Course:
    """The course in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()

    @classmethod
    def find(cls, start: Path) -> Course:
        """The course that `start` is in; LabError when it is in none."""
        start = start.absolute()
        for folder in (start, *start.parents):
            if (folder / CONFIGURATION).is_file():
                return cls(folder)
        raise LabError(
            f"There is no course in {start}: it has no {CONFIGURATION}.",
            "`beowulf class init DIR` makes a course; go into its folder.",
        )

    @cached_property
    def api(self) -> Any:
        """The nbgrader API, set up as nbgrader's own commands are by the course's configuration."""
        try:
            config: Config = PyFileConfigLoader(CONFIGURATION, str(self.folder)).load_config()
        except Exception as problem:
            said = f"{type(problem).__name__}: {problem}"
            raise LabError(f"{self.folder / CONFIGURATION} cannot be read: {said}.") from None
        config.CourseDirectory.root = str(self.folder)
        _put_our_programs_on_the_path()
        return NbGraderAPI(config=config)

    @property
    def labs(self) -> list[str]:
        """The labs of this course."""
        return sorted(path.name for path in (self.folder / "source").glob("[!.]*") if path.is_dir())

    def lab(self, name: str) -> str:
        """The NN-slug of a lab of this course, asked for by number (`1`, `01`) or by slug."""
        wanted = f"{int(name):02}" if name.isdecimal() else name
        for slug in self.labs:
            if wanted in (slug, slug.partition("-")[0]):
                return slug
        known = ", ".join(self.labs) or "none"
        raise UsageError(f"This course has no lab {name!r}.", f"Its labs are: {known}.")

    def release(self, name: str) -> Path:
        """Generate a lab's released version and put it into the exchange; the folder there."""
        slug = self.lab(name)
        self._must(self.api.generate_assignment(slug), f"{slug} could not be generated")
        with temp_attrs(self.api.coursedir, assignment_id=slug):
            app = self.api.exchange.ReleaseAssignment(
                coursedir=self.api.coursedir, authenticator=self.api.authenticator, parent=self.api
            )
            app.force = True
            result = capture_log(app)
        self._must(result, f"{slug} could not be put into the exchange")
        return Path(app.dest_path)

    def collect(self, name: str, folder: Path | None = None) -> list[Collected]:
        """Take in submissions from a folder of hand-ins, or from the exchange."""
        slug = self.lab(name)
        if folder is None:
            return self._collect_from_exchange(slug)
        if not folder.is_dir():
            raise UsageError(f"There is no folder {folder}.")
        found = list(hand_ins.collect(folder, slug, self.folder / "submitted"))
        if not found:
            raise LabError(
                f"There is nothing to collect in {folder}.",
                "It holds one folder a learner, named as the learner, with the notebook in it.",
            )
        return found

    def _collect_from_exchange(self, slug: str) -> list[Collected]:
        before = {student: self._timestamp(student, slug) for student in self.submitted(slug)}
        self._must(self.api.collect(slug), f"{slug} could not be collected")
        found = []
        for student in self.submitted(slug):
            outcome = "new" if student not in before else "unchanged"
            if student in before and self._timestamp(student, slug) != before[student]:
                outcome = "updated"
            found.append(Collected(student, outcome))
        if not found:
            raise LabError(
                f"Nobody has handed in {slug} through the exchange yet.",
                "To collect from a folder, name it: `beowulf class collect LAB FOLDER`.",
            )
        return found

    def submitted(self, slug: str) -> list[str]:
        """The learners whose submission of a lab was collected."""
        return sorted(path.parent.name for path in self.folder.glob(f"submitted/[!.]*/{slug}"))

    def autograde(
        self,
        name: str,
        students: list[str] | None = None,
        again: bool = False,
        progress: Progress = no_progress,
    ) -> Iterator[Graded]:
        """Grade what is new, or all of it `again`, one by one; a bad submission stops no other."""
        slug = self.lab(name)
        notebooks = self._notebooks(slug)
        chosen = self._chosen(slug, students)
        for done, student in enumerate(chosen):
            progress(done, len(chosen), student)
            if problem := self._unreadable(student, slug, notebooks):
                yield Graded(student, problem=problem)
                continue
            with warnings.catch_warnings():
                # nbgrader's own queries; nothing that an instructor could mend.
                warnings.simplefilter("ignore", SAWarning)
                result = self.api.autograde(slug, student, force=again)
            if result["success"]:
                skipped = "Skipping existing" in result.get("log", "")
                yield self.graded(student, slug, skipped)
            else:
                yield Graded(student, problem=_reason(result))

    def graded(self, student: str, slug: str, skipped: bool = False) -> Graded:
        """The points that the gradebook has for a submission, by hand or by rubric."""
        with self.gradebook() as book:
            submission = book.find_submission(slug, student)
            points, of = float(submission.score), float(submission.max_score)
            grades = [grade for each in submission.notebooks for grade in each.grades]
            waiting = [grade for grade in grades if grade.needs_manual_grade]
            questions = {
                grade.name: None if grade in waiting else float(grade.score) for grade in grades
            }
            # A hand-in that is graded again keeps its points by hand until a person looks again.
            by_hand = sum(float(g.max_score) for g in waiting if g.manual_score is None)
        ordered = dict(sorted(questions.items()))
        return Graded(student, points, of, ordered, by_hand, skipped=skipped)

    def _chosen(self, slug: str, students: list[str] | None) -> list[str]:
        there = self.submitted(slug)
        if not there:
            raise LabError(
                f"No submission of {slug} was collected yet.",
                f"`beowulf class collect {slug} FOLDER` does it.",
            )
        for student in students or []:
            if student not in there:
                raise UsageError(f"There is no submission of {slug} by {student!r}.")
        return students or there

    def _notebooks(self, slug: str) -> list[str]:
        with self.gradebook() as book:
            try:
                return [notebook.name for notebook in book.find_assignment(slug).notebooks]
            except MissingEntry:
                raise LabError(
                    f"{slug} was not released yet, so there is nothing to grade it by.",
                    f"`beowulf class release {slug}` does it.",
                ) from None

    def _unreadable(self, student: str, slug: str, notebooks: list[str]) -> str:
        """Why nbgrader could not read a submission at all, in a sentence; "" when it can."""
        folder = self.folder / "submitted" / student / slug
        for name in notebooks:
            path = folder / f"{name}.ipynb"
            if not path.is_file():
                others = ", ".join(sorted(each.name for each in folder.glob("*.ipynb")))
                there = f"; there is {others}" if others else ""
                return f"There is no notebook {path.name} in the submission{there}."
            if path.stat().st_size > LARGEST_NOTEBOOK_BYTES:
                return f"{path.name} has more than {LARGEST_NOTEBOOK_BYTES // 10**6} MB."
            if not _is_a_notebook(path):
                return f"{path.name} is not a notebook that can be read."
        return ""

    def _timestamp(self, student: str, slug: str) -> str:
        path = self.folder / "submitted" / student / slug / hand_ins.TIMESTAMP
        return path.read_text() if path.exists() else ""

    def gradebook(self) -> Any:
        """nbgrader's database of this course, as a context manager; it is made if there is none."""
        return Gradebook(self.api.coursedir.db_url, self.api.coursedir.course_id)

    def _must(self, result: dict[str, Any], what: str) -> None:
        if not result["success"]:
            raise LabError(f"{what}: {_reason(result)}")


def _put_our_programs_on_the_path() -> None:
    # nbgrader calls alembic by its bare name, which is known only in an activated environment.
    ours, known = str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)
    if ours not in known.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([ours, known])


def _is_a_notebook(path: Path) -> bool:
    read: Callable[..., Any] = nbformat.read
    try:
        cells = read(path, as_version=4).cells
    except Exception:  # nbformat raises whatever a strange file leads to
        return False
    return isinstance(cells, list) and all(isinstance(cell, dict) for cell in cells)


def _reason(result: dict[str, Any]) -> str:
    """The last error that nbgrader logged, without its traceback."""
    if "KeyboardInterrupt" in result.get("error", ""):
        raise KeyboardInterrupt  # nbgrader catches it, and would go on with the next learner
    said = re.findall(
        r"^[\w.]*(?:Error|Exception|Entry)\b: .+$", result.get("log", ""), re.MULTILINE
    ) or re.findall(r"^\[ERROR\] (.+)$", result.get("log", ""), re.MULTILINE)
    fallback = result.get("error", "nbgrader gives no reason").strip().splitlines()[-1]
    return str(said[-1] if said else fallback)[:300]
