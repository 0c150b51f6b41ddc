"""A submission sent to a node, and its result sent back: plain bytes both ways.

On a node, a folder represents the course, with as much of it as grading reads; the gradebook stays with the
course.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import shutil
import socket
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from autograder.evidence import invented, shared_records, variants
from autograder.grading import one_submission, scoring
from autograder.grading.one_submission import Assignment, Outcome
from autograder.sandbox import box, kernel
from beowulf import paths as places
from beowulf.engines.pool import FOLDER, KEY
from beowulf.errors import LabError

# The files of the checkout that decide about points: they have to be the same on both sides.
PROGRAMS = ("autograder/**/*.py", "beowulf/**/*.py", "labs/*/lab.toml")


@dataclass(frozen=True)
class LabBundle:
    """What is the same for all submissions of a lab: its assignment, and files of the course by their names."""

    assignment: Assignment
    files: dict[str, bytes]


@dataclass(frozen=True)
class Job:
    """What a learner handed in, by the names of the files."""

    student: str
    files: dict[str, bytes]


@dataclass(frozen=True)
class Return:
    """What came of it, and what was autograded."""

    outcome: Outcome
    files: dict[str, bytes] = field(default_factory=dict)


@cache
def programs() -> str:
    """A digest of the programs by which submissions are graded here."""
    digest = hashlib.sha256()
    for pattern in PROGRAMS:
        for path in sorted(places.root().glob(pattern)):
            digest.update(path.relative_to(places.root()).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


# ---------------------------------------------------------------- on the course's machine


def pack_lab(assignment: Assignment) -> bytes:
    """The lab for a node; LabError when the course's own settings cannot be sent."""
    course, source = assignment.course, f"source/{assignment.slug}"
    paths = [course / variants.KEY, course / variants.WORDS, course / invented.FILE]
    paths += sorted((course / shared_records.FOLDER).glob("*/*.json"))
    paths += [path for path in sorted((course / source).rglob("*")) if path.suffix != ".ipynb"]
    files = {scoring.CONFIGURATION: b"", **_read(course, paths)}
    try:
        return pickle.dumps(LabBundle(replace(assignment, course=Path(), db_url=""), files))
    except Exception as problem:  # pickle raises whatever a strange object leads to
        raise LabError(
            f"The settings in this course's nbgrader_config.py cannot be sent to other machines ({problem}).",
            "Grade here: `--jobs`.",
        ) from None


def pack(assignment: Assignment, student: str) -> bytes:
    """What a learner handed in, for a node."""
    folder = assignment.submitted(student)
    return pickle.dumps(Job(student, _read(folder, sorted(folder.rglob("*")))))


def receive(assignment: Assignment, packed: bytes) -> Outcome:
    """What came of a submission, with its files where grading here would have put them."""
    result: Return = pickle.loads(packed)
    outcome = result.outcome
    if outcome.problem:
        return outcome
    folder = assignment.new(outcome.student)
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _write(folder, result.files)
        one_submission.set_permissions(folder, assignment.permissions)
    except OSError as problem:
        return one_submission.not_written(outcome.student, problem)
    return outcome


# ---------------------------------------------------------------- on a node


class Workspace:
    """The lab that an engine grades at present."""

    def __init__(self) -> None:
        self.assignment: Assignment | None = None

    def set_up(self, packed: bytes) -> None:
        """Make the folder that represents the course; LabError when no learner's code can be run here."""
        bundle: LabBundle = pickle.loads(packed)
        folder = Path(tempfile.mkdtemp(prefix="course-", dir=os.environ[FOLDER]))
        box.refuse_if_shown(folder)
        _write(folder, bundle.files)
        kernel.shared().await_ready()
        self.assignment = replace(bundle.assignment, course=folder)


_workspace = Workspace()


def prepare(home_programs: str, packed: bytes) -> dict[str, str]:
    """Make an engine ready for a lab: its start's key, its node, and the problem if it cannot grade."""
    logging.disable(logging.WARNING)
    about = {"key": os.environ.get(KEY, ""), "node": socket.gethostname(), "problem": ""}
    try:
        if home_programs != programs():
            raise LabError(
                f"The programs in {places.root()} are not those of this machine.",
                "Bring this checkout there, so that the same rules grade every learner.",
            )
        _workspace.set_up(packed)
    except LabError as problem:
        about["problem"] = str(problem)
    except OSError as problem:
        about["problem"] = f"Nothing can be graded there: {problem.strerror or problem}."
    return about


def work(packed: bytes) -> bytes:
    """Grade one submission on a node."""
    job: Job = pickle.loads(packed)
    assignment = _workspace.assignment
    assert assignment, "it was not prepared"
    folder = assignment.submitted(job.student)
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _write(folder, job.files)
        outcome = one_submission.grade(assignment, job.student)
        made = assignment.new(job.student)
        files = {} if outcome.problem else _read(made, sorted(made.rglob("*")))
    except OSError as problem:
        outcome, files = one_submission.not_written(job.student, problem), {}
    finally:
        one_submission.discard(assignment, job.student)
        shutil.rmtree(folder.parent, ignore_errors=True)
    return pickle.dumps(Return(outcome, files))


def _read(folder: Path, paths: Iterable[Path]) -> dict[str, bytes]:
    """The plain files among these; links could lead anywhere, and grading passes over them too."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in paths
        if path.is_file() and not path.is_symlink()
    }


def _write(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
