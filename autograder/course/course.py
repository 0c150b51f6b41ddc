"""A course: nbgrader's folder layout, database and exchange, with this project's labs in it."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, InvalidEntry, MissingEntry
from nbgrader.apps import NbGraderAPI
from nbgrader.utils import capture_log, temp_attrs
from sqlalchemy.exc import SAWarning, SQLAlchemyError
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder.cells import known
from autograder.course import limits
from autograder.evidence import invented
from autograder.files import cannot_write, locked, write_text
from autograder.rubrics import questions
from beowulf.errors import LabError, UsageError

CONFIGURATION = "nbgrader_config.py"
SECRET = "submission_secret.txt"  # nbgrader's, of a hand-in that came by the exchange


def folder_of(start: Path) -> Path | None:
    """The folder of the course that `start` is in, or is; None when it is in none."""
    place = start.absolute()
    return next((p for p in (place, *place.parents) if (p / CONFIGURATION).is_file()), None)


@dataclass(frozen=True)
class Graded:
    """The result of one submission: its points, or the `problem` why it was not graded."""

    student: str
    points: float = 0.0
    of: float = 0.0
    questions: dict[str, float | None] = field(default_factory=dict)  # None: awaits a person
    by_hand: float = 0.0  # how much of `of` only a person can give, and has not given
    problem: str = ""
    skipped: bool = False  # it was graded before, and nothing newer was handed in
    late: str = ""  # a sentence, where it came late or may have
    taken_off: float = 0.0  # for that; `points` are without it
    doubted: str = ""  # which Records count for nothing or in part, and why; of what was graded now
    errors: str = ""  # a sentence, where a question could not be scored: where the tracebacks are

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
        if folder := folder_of(start):
            return cls(folder)
        raise LabError(
            f"There is no course in {start.absolute()}: it has no {CONFIGURATION}.",
            "`beowulf class init DIR` makes a course; go into its folder.",
        )

    @cached_property
    def api(self) -> Any:
        """The nbgrader API, set up as nbgrader's own commands are by the course's configuration."""
        try:
            config: Config = PyFileConfigLoader(CONFIGURATION, str(self.folder)).load_config()
        except Exception as problem:
            message = f"{type(problem).__name__}: {problem}"
            raise LabError(f"{self.folder / CONFIGURATION} cannot be read: {message}.") from None
        config.CourseDirectory.root = str(self.folder)
        _put_our_programs_on_the_path()
        return NbGraderAPI(config=config)

    @property
    def labs(self) -> list[str]:
        """The labs of this course, without those that it leaves out; LabError when its course.toml is wrong."""
        return [slug for slug in self._sources() if not self._leaves_out(slug)]

    def _sources(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "source").glob("[!.]*") if path.is_dir())

    def _leaves_out(self, slug: str) -> bool:
        return limits.of_course(slug, self.folder).left_out

    def lab(self, name: str) -> str:
        """The NN-slug of a lab of this course, from its number (`1`, `01`) or its slug."""
        wanted = f"{int(name):02}" if name.isdecimal() else name
        for slug in self._sources():
            if wanted in (slug, slug.partition("-")[0]):
                if self._leaves_out(slug):
                    what = f"{self.folder / limits.FILE} leaves {slug} out."
                    raise UsageError(
                        what,
                        "Without `leave_out` there, the lab counts again, with all that it has.",
                    )
                return slug
        labs = ", ".join(self.labs) or "none"
        raise UsageError(f"This course has no lab {name!r}.", f"Its labs are: {labs}.")

    def release(self, name: str, tell: Callable[[str], object] = lambda _: None) -> Path:
        """Generate a lab's released version and put it into the exchange, with the course's limits; the folder there.

        Points, sums and questions of the course's own are written into its source before; `tell` gets sentences on it.
        LabError when its lab.toml or course.toml contradicts it.
        """
        from autograder.course import changes  # which takes as long to load as most commands

        slug = self.lab(name)
        with locked(self.folder):
            for each in changes.write(self.folder, slug, begun=bool(self.graded_students(slug))):
                tell(each)
            return self._release(slug)

    def _release(self, slug: str) -> Path:
        self._must(self.api.generate_assignment(slug), f"{slug} could not be generated")
        with self.gradebook() as book:
            notebooks = [known(each) for each in self.released(slug, book)]
        marks = [cell.marks() for each in notebooks for cell in each.cells.values()]
        questions.check(slug, marks, self.folder)
        if (self.folder / limits.FILE).is_file():
            text = limits.text_of(self.folder)
            write_text(self.folder / "release" / slug / limits.FILE, text)
        with temp_attrs(self.api.coursedir, assignment_id=slug):
            app = self.api.exchange.ReleaseAssignment(
                coursedir=self.api.coursedir, authenticator=self.api.authenticator, parent=self.api
            )
            app.force = True
            result = capture_log(app)
        self._must(result, f"{slug} could not be put into the exchange")
        invented.remember(self.folder)
        return Path(app.dest_path)

    def submitted(self, slug: str) -> list[str]:
        """The learners whose submission of a lab was collected."""
        return sorted(path.parent.name for path in self.folder.glob(f"submitted/[!.]*/{slug}"))

    def graded_students(self, slug: str) -> list[str]:
        """The learners whose submission of a lab was graded."""
        notebooks = self.folder.glob(f"autograded/[!.]*/{slug}/*.ipynb")
        return sorted({path.parent.parent.name for path in notebooks})

    def nbgrader_feedback(self, slug: str, student: str) -> str:
        """Let nbgrader write the page of one learner; why it could not, or ""."""
        with _quietly():
            result = self.api.generate_feedback(slug, student, force=True)
        return "" if result["success"] else _reason(result)

    def release_feedback(self, slug: str, student: str) -> bool:
        """Let nbgrader put a learner's page into the exchange; False if the hand-in did not come by it."""
        if not (self.folder / "feedback" / student / slug / SECRET).is_file():
            return False  # nbgrader shows a page only to a learner with the secret that the exchange gave
        with _quietly():
            result = self.api.release_feedback(slug, student)
        self._must(result, f"The page of {student} could not be put into the exchange")
        return True

    def released(self, slug: str, book: Any) -> list[Any]:
        """The notebooks of a lab in the open gradebook; LabError when it was not released."""
        try:
            return list(book.find_assignment(slug).notebooks)
        except MissingEntry:
            raise LabError(
                f"{slug} has not been released yet, so there is nothing to grade it by.",
                f"`beowulf class release {slug}` releases it.",
            ) from None

    def gradebook(self) -> Any:
        """nbgrader's database of this course, as a context manager; it is created if it does not exist."""
        return Gradebook(self.api.coursedir.db_url, self.api.coursedir.course_id)

    def _must(self, result: dict[str, Any], what: str) -> None:
        if not result["success"]:
            raise LabError(f"{what}: {_reason(result)}")


@contextmanager
def saving(what: str) -> Iterator[None]:
    """LabError where `what` cannot be written into the gradebook."""
    try:
        yield
    except (SQLAlchemyError, InvalidEntry) as fault:  # as which nbgrader passes some of them on
        reason = str(getattr(fault, "orig", None) or fault).splitlines()[0]
        raise LabError(
            f"{what} could not be written into the gradebook ({reason}).",
            "Free some space, or wait until others are done with the gradebook, and try again.",
        ) from None


@contextmanager
def _quietly() -> Iterator[None]:
    with warnings.catch_warnings():
        # nbgrader's own queries and calls; an instructor cannot fix them.
        warnings.simplefilter("ignore", SAWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def _put_our_programs_on_the_path() -> None:
    # nbgrader calls alembic by its bare name, which only an activated environment finds.
    ours, path = str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)
    if ours not in path.split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([ours, path])


def _reason(result: dict[str, Any]) -> str:
    """The last error that nbgrader logged, without its traceback."""
    if "KeyboardInterrupt" in result.get("error", ""):
        raise KeyboardInterrupt  # nbgrader catches it, and would go on with the next learner
    errors = re.findall(
        r"^ *([\w.]*(?:Error|Exception|Entry)\b: .+)$", result.get("log", ""), re.MULTILINE
    ) or re.findall(r"^\[ERROR\] (.+)$", result.get("log", ""), re.MULTILINE)
    fallback = result.get("error", "nbgrader gives no reason").strip().splitlines()[-1]
    last = str(errors[-1] if errors else fallback)
    if system := re.match(r"\w+: \[Errno (\d+)\][^']*'?([^']*)", last):
        number = int(system[1])
        return str(cannot_write(Path(system[2]), OSError(number, os.strerror(number))))
    return last[:300]
