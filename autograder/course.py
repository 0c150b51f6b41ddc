"""A course: nbgrader's folder layout, database and exchange, with this project's labs in it."""

from __future__ import annotations

import json
import re
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

from autograder import hand_ins, release, settings
from autograder.hand_ins import Collected
from beowulf.errors import LabError, UsageError

CONFIGURATION = "nbgrader_config.py"
LARGEST_NOTEBOOK_BYTES = 20_000_000

_TEMPLATE = '''"""nbgrader's configuration of this course. Its own commands work in this folder."""

from pathlib import Path

from autograder import settings

c = get_config()  # noqa: F821, nbgrader defines it
settings.apply(c)

c.CourseDirectory.course_id = {course_id!r}
c.Exchange.root = {exchange}
'''


@dataclass(frozen=True)
class Graded:
    """What came of one submission: its points, or the `problem` that kept it from being graded."""

    student: str
    points: float = 0.0
    of: float = 0.0
    questions: dict[str, float | None] = field(default_factory=dict)  # None: awaits a person
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
        return NbGraderAPI(config=config)

    @property
    def labs(self) -> list[str]:
        """The labs of this course."""
        return sorted(path.name for path in (self.folder / "source").glob("*") if path.is_dir())

    def lab(self, name: str) -> str:
        """The NN-slug of a lab of this course, asked for by number (`1`, `01`) or by slug."""
        wanted = f"{int(name):02}" if name.isdecimal() else name
        for slug in self.labs:
            if wanted in (slug, slug.partition("-")[0]):
                return slug
        known = ", ".join(self.labs) or "none"
        raise UsageError(f"This course has no lab {name!r}.", f"Its labs are: {known}.")

    def add_labs(self) -> list[str]:
        """Put every lab that is not there yet into the course's source folder; their slugs."""
        added = []
        for slug, source in release.sources().items():
            folder = self.folder / "source" / slug
            if folder.exists():
                continue
            folder.mkdir(parents=True)
            text = release.as_text(release.instructor_version(source))
            (folder / source.with_suffix(".ipynb").name).write_text(text, encoding="utf-8")
            for file in settings.companions(slug):
                (folder / file.name).write_bytes(file.read_bytes())
            added.append(slug)
        return added

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
        self, name: str, students: list[str] | None = None, again: bool = False
    ) -> Iterator[Graded]:
        """Grade what is new, or all of it `again`, one by one; a bad submission stops no other."""
        slug = self.lab(name)
        notebooks = self._notebooks(slug)
        for student in self._chosen(slug, students):
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
        with self._gradebook() as book:
            submission = book.find_submission(slug, student)
            points, of = float(submission.score), float(submission.max_score)
            grades = [grade for each in submission.notebooks for grade in each.grades]
            questions = {
                grade.name: None if grade.needs_manual_grade else float(grade.score)
                for grade in grades
            }
        return Graded(student, points, of, dict(sorted(questions.items())), skipped=skipped)

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
        with self._gradebook() as book:
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
            if problem := _not_a_notebook(path):
                return f"{path.name} is not a notebook that can be read ({problem})."
        return ""

    def _timestamp(self, student: str, slug: str) -> str:
        path = self.folder / "submitted" / student / slug / hand_ins.TIMESTAMP
        return path.read_text() if path.exists() else ""

    def _gradebook(self) -> Any:
        return Gradebook(self.api.coursedir.db_url, self.api.coursedir.course_id)

    def _must(self, result: dict[str, Any], what: str) -> None:
        if not result["success"]:
            raise LabError(f"{what}: {_reason(result)}")


def make_course(folder: Path, course_id: str = "beowulf", exchange: Path | None = None) -> Course:
    """Make a course with every lab in `folder`, or add the labs that one there lacks."""
    course = Course(folder)
    if not re.fullmatch(r"[A-Za-z0-9._-]+", course_id):
        raise UsageError(
            f"{course_id!r} cannot be the name of a course.", "Use letters and digits."
        )
    if not (course.folder / CONFIGURATION).exists():
        if course.folder.exists() and (not course.folder.is_dir() or any(course.folder.iterdir())):
            raise LabError(f"{folder} exists and is no course.", "Choose a new or an empty folder.")
        # Answers and points are in it, so nobody else on this machine may look in.
        course.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        where = 'str(Path(__file__).parent / "exchange")'
        if exchange is not None:
            where = repr(str(exchange.absolute()))
        text = _TEMPLATE.format(course_id=course_id, exchange=where)
        (course.folder / CONFIGURATION).write_text(text, encoding="utf-8")
    root = Path(course.api.exchange_root)
    if not root.exists():
        root.mkdir(parents=True)
        root.chmod(0o777)  # nbgrader insists that everybody may write there
    course.add_labs()
    with course._gradebook():
        pass  # opening it makes it
    return course


def _not_a_notebook(path: Path) -> str:
    read: Callable[..., Any] = nbformat.read
    try:
        cells = read(path, as_version=4).cells
        if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
            return "its cells are not a list of cells"
    except (json.JSONDecodeError, UnicodeDecodeError):
        return "it is not JSON in UTF-8"
    except Exception as problem:  # nbformat raises whatever a strange file leads to
        said = (str(problem).splitlines() or [""])[0][:200]
        return f"{type(problem).__name__}: {said}"
    return ""


def _reason(result: dict[str, Any]) -> str:
    """The last error that nbgrader logged, without its traceback."""
    if "KeyboardInterrupt" in result.get("error", ""):
        raise KeyboardInterrupt  # nbgrader catches it, and would go on with the next learner
    said = re.findall(
        r"^[\w.]*(?:Error|Exception|Entry)\b: .+$", result.get("log", ""), re.MULTILINE
    ) or re.findall(r"^\[ERROR\] (.+)$", result.get("log", ""), re.MULTILINE)
    fallback = result.get("error", "nbgrader gives no reason").strip().splitlines()[-1]
    return str(said[-1] if said else fallback)[:300]
