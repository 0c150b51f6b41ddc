"""Hand-ins in a folder, one folder a learner, put where nbgrader looks for submissions."""

from __future__ import annotations

import fnmatch
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from filecmp import cmp
from pathlib import Path

from autograder.settings import LARGEST_FILE_KB, LARGEST_SUBMISSION_KB

TIMESTAMP = "timestamp.txt"
LEFT_OUT = (".ipynb_checkpoints", "__pycache__", "*.pyc", ".*")
_FORMAT = "%Y-%m-%d %H:%M:%S.%f UTC"


@dataclass(frozen=True)
class Collected:
    """What became of one learner's hand-in: new, updated, unchanged or refused; `notes` say why."""

    student: str
    outcome: str
    notes: list[str] = field(default_factory=list)


def collect(folder: Path, slug: str, submitted: Path) -> Iterator[Collected]:
    """Copy FOLDER/STUDENT/ or FOLDER/STUDENT/SLUG/ to SUBMITTED/STUDENT/SLUG/, one at a time.

    A newer hand-in takes the place of an older one. One that is refused does not stop the others.
    """
    for place in sorted(folder.iterdir()):
        if not place.is_dir() or place.is_symlink() or place.name.startswith("."):
            continue
        inner = place / slug
        hand_in = inner if inner.is_dir() and not inner.is_symlink() else place
        try:
            outcome, notes = _collect(hand_in, submitted / place.name / slug)
        except OSError as problem:
            outcome, notes = "refused", [f"It cannot be copied: {problem.strerror or problem}."]
        yield Collected(place.name, outcome, notes)


def _collect(hand_in: Path, place: Path) -> tuple[str, list[str]]:
    files, notes = _files(hand_in)
    if not files:
        return "refused", [*notes, "There is no file in it."]
    size = sum((hand_in / file).stat().st_size for file in files)
    if size > LARGEST_SUBMISSION_KB * 1000:
        return "refused", [
            f"It has {size // 10**6} MB; {LARGEST_SUBMISSION_KB // 1000} are allowed."
        ]
    if place.is_dir() and _same(hand_in, place, files):
        return "unchanged", notes
    # A whole copy first: a full disk must not cost the hand-in that was there.
    fresh = place.with_name(f".{place.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        for file in files:
            (fresh / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(hand_in / file, fresh / file)
        when = _handed_in(hand_in, files, place)
        (fresh / TIMESTAMP).write_text(when.strftime(_FORMAT))
        outcome = "updated" if place.exists() else "new"
        if place.exists():
            shutil.rmtree(place)
        fresh.rename(place)
    except OSError:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    return outcome, notes


def _files(hand_in: Path) -> tuple[list[Path], list[str]]:
    """The files to copy, relative to the hand-in, and a note for each that is left out."""
    files, notes = [], []
    for folder, folders, names in os.walk(hand_in):
        folders[:] = sorted(name for name in folders if not _left_out(name))
        for name in sorted([*names, *folders]):
            path = Path(folder, name)
            file = path.relative_to(hand_in)
            if path.is_symlink():
                # It could lead to a file of the instructor's.
                notes.append(f"{file} is a link and is left out.")
            elif name in folders or _left_out(name) or file == Path(TIMESTAMP):
                continue
            elif not path.is_file():
                notes.append(f"{file} is not a file and is left out.")
            elif path.stat().st_size > LARGEST_FILE_KB * 1000:
                notes.append(f"{file} has more than {LARGEST_FILE_KB // 1000} MB and is left out.")
            else:
                files.append(file)
    return files, notes


def _left_out(name: str) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in LEFT_OUT)


def _same(hand_in: Path, place: Path, files: list[Path]) -> bool:
    there = [p.relative_to(place) for p in place.rglob("*") if p.is_file() and p.name != TIMESTAMP]
    return sorted(there) == sorted(files) and all(
        cmp(hand_in / file, place / file, shallow=False) for file in files
    )


def _handed_in(hand_in: Path, files: list[Path], place: Path) -> datetime:
    """When it was handed in: what a timestamp says, or else when its newest file was changed."""
    when = _timestamp(hand_in / TIMESTAMP)
    if when is None:
        newest = max((hand_in / file).stat().st_mtime for file in files)
        when = datetime.fromtimestamp(newest, UTC)
    before = _timestamp(place / TIMESTAMP)
    # nbgrader grades again only what is newer than what it graded.
    return when if before is None or when > before else before + timedelta(seconds=1)


def _timestamp(path: Path) -> datetime | None:
    try:
        return datetime.strptime(path.read_text().strip(), _FORMAT).replace(tzinfo=UTC)
    except (OSError, ValueError):
        return None
