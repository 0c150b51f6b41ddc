"""Puts hand-ins where nbgrader looks for submissions: each one completely or not at all."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from filecmp import cmp
from pathlib import Path, PurePosixPath

from nbgrader.utils import parse_utc

from autograder.course.roster import Directory
from autograder.intake import archives, inspection
from autograder.intake.archives import Archive, Piece
from autograder.intake.inspection import HandInError
from autograder.rubrics.submission import RECORDS

TIMESTAMP = "timestamp.txt"
MOST_FILES = 2_000
MOST_MEMBERS = 10_000  # files and folders in all zips of a hand-in
ENTRY = b"PK\1\2"  # each of them has this in its zip's table
MOST_FOLDERS = 20  # one in the other
# Kilobytes, as nbgrader counts: Records and captures of a lab are far below.
LARGEST_FILE_KB = 50_000
LARGEST_SUBMISSION_KB = 100_000
_FORMAT = "%Y-%m-%d %H:%M:%S.%f UTC"
# How it is known when something was handed in: by the exchange, by a table of the LMS, or by the learner's own files.
EXCHANGE, TABLE, FILES = "exchange", "table", "files"
LONGEST_STAMP = 100


@dataclass(frozen=True)
class Collected:
    """What became of one hand-in: new, updated, unchanged, refused or unknown; `notes` explain it.

    An unknown one has no `student`: its `sender` is not on the roster. A refused one that cannot be read is in its
    place all the same, unless there is one that can be read. Times are as in a timestamp.txt.
    """

    student: str
    outcome: str
    notes: list[str] = field(default_factory=list)
    sender: str = ""
    handed_in: str = ""
    by: str = ""  # EXCHANGE, TABLE or FILES; "" when what was there before stays
    late: bool = False  # the LMS marked it as late
    arrived: str = ""  # when it was collected; "" when the same was there before


@dataclass(frozen=True)
class Wanted:
    """What a hand-in of a lab is: the lab's NN-slug, its notebooks, and the cells in them by name."""

    slug: str
    notebooks: Collection[str] = ()
    cells: Collection[str] = ()
    course: Path | None = None


def collect(
    place: Path,
    wanted: Wanted,
    submitted: Path,
    learners: Directory,
    *,
    older: bool = False,
    times: Mapping[str, datetime] | None = None,
) -> Iterator[Collected]:
    """Put what is in a folder or a zip to SUBMITTED/STUDENT/SLUG/, one hand-in at a time.

    `times` are those of an LMS' own table, by student. A newer hand-in replaces an older one, if it can be graded. With
    `older`, an older hand-in replaces a newer one, too. One that is refused does not stop the others.
    """
    with archives.opened(place, wanted.slug) as hand_ins:
        of_students: dict[str, list[Archive]] = {}
        for hand_in in hand_ins:
            student, why = learners.find(hand_in.sender, hand_in.number, hand_in.full_name)
            if student:
                of_students.setdefault(student, []).append(hand_in)
            else:
                notes = [f"Not taken in: {why}.", *hand_in.notes]
                yield Collected("", "unknown", notes, hand_in.sender)
        for student, several in sorted(of_students.items()):
            several.sort(key=lambda each: each.changed, reverse=True)
            # A table has the time of the newest.
            known = [(times or {}).get(student), *(None for _ in several[1:])]
            candidates = list(zip(several, known, strict=True))
            yield take_newest(student, candidates, wanted, submitted, older=older)


def take_newest(
    student: str,
    candidates: Sequence[tuple[Archive, datetime | None]],
    wanted: Wanted,
    submitted: Path,
    *,
    older: bool = False,
    by: str = TABLE,
) -> Collected:
    """Put the newest of a learner's hand-ins that can be graded into its place, or the newest where none can.

    The newest is first. With each is when it was handed in, `by` the exchange or a table; without, its files say when.
    """
    newest, *others = [hand_in for hand_in, _ in candidates]
    passed: list[str] = []
    # Where none can be graded, the newest once more.
    tried = [(each, False) for each in candidates] if len(candidates) > 1 else []
    for (hand_in, known), last in [*tried, (candidates[0], True)]:
        sender = hand_in.sender if hand_in.sender != student else ""
        collected = Collected(student, "refused", [*hand_in.notes], sender, late=hand_in.late)
        try:
            collected = _take(hand_in, collected, wanted, submitted, older, known, by, last)
        except HandInError as problem:
            collected.notes.append(problem.message)
        except OSError as problem:
            collected.notes.append(f"It cannot be copied: {problem.strerror or problem}.")
        if collected.outcome != "refused" or last:
            break
        passed.append(f"“{hand_in.sender}” is newer, and left out: {' '.join(collected.notes)}")
    if others and by != EXCHANGE and (last or not passed):
        left_out = ", ".join(f"“{each.sender}”" for each in others)
        about = f"“{newest.sender}” is the newest of {len(candidates)}; left out: {left_out}."
        passed = [about]
    return replace(collected, notes=[*passed, *collected.notes])


def _take(
    hand_in: Archive,
    collected: Collected,
    wanted: Wanted,
    submitted: Path,
    older: bool,
    known: datetime | None,
    by: str,
    last: bool,
) -> Collected:
    """Put a hand-in into its place, and add notes on it; returns what became of it.

    One that cannot be graded gets there only where it is the `last` that there is.
    """
    student, notes = collected.student, collected.notes
    place = submitted / student / wanted.slug
    fresh, old = (place.with_name(f".{place.name}.{what}") for what in ("new", "old"))
    if old.is_dir() and not place.exists():
        old.rename(place)  # it was stopped between two steps
    for left in (fresh, old):
        shutil.rmtree(left, ignore_errors=True)
    try:
        fresh.mkdir(parents=True)
        _Writing(fresh, notes).write(hand_in.pieces)
        if not any(path.is_file() for path in fresh.rglob("*")):
            raise HandInError("There is no file in it.")
        notes += tidy(fresh, wanted)
        outcome, about = looked_at(fresh, student, wanted)
        is_good = place.is_dir() and not faults_of(place, wanted)
        if outcome == "refused" and is_good:
            raise HandInError(f"{about[0]} The hand-in that was there before stays.")
        if outcome == "refused" and not last:
            raise HandInError(about[0])
        now, before = datetime.now(UTC), timestamp(place)
        when = min(known or hand_in.changed, now)
        if by != EXCHANGE:
            if any(each.path.name == TIMESTAMP for each in hand_in.pieces):
                notes.append(
                    f"There is a {TIMESTAMP} in it, which anybody can write: its time does not count."
                )
        collected = replace(collected, handed_in=as_stamp(when), by=by if known else FILES)
        if place.is_dir() and _same(fresh, place):
            notes += about
            return replace(collected, outcome=outcome)
        if before and when < before and not older and (is_good or outcome == "refused"):
            notes[:] = [older_note(when, before), *looked_at(place, student, wanted)[1]]
            return Collected(student, "unchanged", notes, collected.sender)
        notes += about
        # nbgrader grades again only what is newer than what it graded.
        newer = when if before is None or when > before else before + timedelta(seconds=1)
        (fresh / TIMESTAMP).write_text(as_stamp(newer))
        if outcome == "unchanged":
            outcome = "updated" if place.exists() else "new"
        if place.exists():
            place.rename(old)
        fresh.rename(place)
        return replace(collected, outcome=outcome, arrived=as_stamp(now))
    finally:
        for left in (fresh, *([old] if place.exists() else [])):
            shutil.rmtree(left, ignore_errors=True)
        if place.parent.is_dir() and not any(place.parent.iterdir()):
            place.parent.rmdir()


class _Writing:
    """The files of one hand-in on their way into a folder, none of them larger than is allowed."""

    def __init__(self, folder: Path, notes: list[str]) -> None:
        self.folder = folder
        self.notes = notes
        self.left = LARGEST_SUBMISSION_KB * 1000
        self.files = self.members = 0

    def write(self, pieces: list[Piece]) -> None:
        """Write the pieces, and what is in the zips among them; a note for each that is left out."""
        self._all(pieces)
        for path in sorted(self.folder.rglob("*.zip")):
            self._unpack(path)

    def _all(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            if piece.path == PurePosixPath(TIMESTAMP):
                continue
            fault = ""
            if piece.size > LARGEST_FILE_KB * 1000:
                fault = f"{piece.path} has more than {LARGEST_FILE_KB // 1000} MB"
            elif len(piece.path.parts) > MOST_FOLDERS:
                fault = f"{str(piece.path)[:60]}… is in more than {MOST_FOLDERS} folders"
            if fault:
                self.notes.append(f"{fault} and is left out.")
                continue
            self.files += 1
            if self.files > MOST_FILES:
                raise HandInError(f"It has more than {MOST_FILES:,} files.")
            if piece.size > self.left:
                raise HandInError(
                    f"It has more than the {LARGEST_SUBMISSION_KB // 1000} MB that are allowed."
                )
            self.left -= piece.size
            self._one(piece)

    def _one(self, piece: Piece) -> None:
        target = self.folder / piece.path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with piece.open() as source, target.open("wb") as copy:
                shutil.copyfileobj(source, copy)
        except archives.DAMAGED as bad:
            target.unlink(missing_ok=True)
            self.notes.append(f"{piece.path} cannot be unpacked ({bad}) and is left out.")

    def _unpack(self, path: Path) -> None:
        """A zip in a hand-in, as an LMS that takes single files makes learners send; no zip in that."""
        name = path.relative_to(self.folder)
        # Before any of them is looked at, which takes seconds for hundreds of thousands.
        self.members += path.read_bytes().count(ENTRY)
        if self.members > MOST_MEMBERS:
            raise HandInError(
                f"There are more than {MOST_MEMBERS:,} files and folders in its zips."
            )
        try:
            with zipfile.ZipFile(path) as archive:
                entries = archives.in_zip(archive)
                wrong = [(inner, why) for inner, why in entries if isinstance(why, str) and why]
                self.notes += [f"{inner} in {name} {why}." for inner, why in wrong]
                pieces = [piece for _, piece in entries if isinstance(piece, Piece)]
                self._all([each for each in pieces if each.path.suffix.lower() != ".zip"])
        except archives.DAMAGED as bad:
            self.notes.append(f"{name} is not a zip that can be read ({bad}) and is left out.")
        path.unlink()


def tidy(folder: Path, wanted: Wanted) -> list[str]:
    """Bring a hand-in into the form that grading expects, as far as there is no doubt; what was done."""
    notes = _move_up(folder, wanted)
    notes += rename(folder, wanted)
    loose = [path for path in sorted(folder.iterdir()) if path.is_file()]
    if loose := [path for path in loose if inspection.belongs_to_records(path.name)]:
        (folder / RECORDS).mkdir(exist_ok=True)
        moved = [path for path in loose if not (folder / RECORDS / path.name).exists()]
        for path in moved:
            path.rename(folder / RECORDS / path.name)
        notes.append(f"{len(moved)} files beside the notebook are taken as those of {RECORDS}/.")
    return notes


def _move_up(folder: Path, wanted: Wanted) -> list[str]:
    """Make the folder with the notebook the hand-in, when it is deeper."""
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    named = [file for file in files if file.name in wanted.notebooks]
    others = [file for file in files if file.suffix == ".ipynb"]
    records = [file.parent for file in files if file.parent.name == RECORDS]
    chosen = min(named or others or records, key=lambda file: (len(file.parts), file), default=None)
    if chosen is None or chosen.parent == Path():
        return []
    inner = chosen.parent
    outside = [str(file) for file in files if not file.is_relative_to(inner)]
    risen = folder.with_name(f"{folder.name}.inner")
    shutil.rmtree(risen, ignore_errors=True)
    (folder / inner).rename(risen)
    shutil.rmtree(folder)
    risen.rename(folder)
    if not outside:
        return []
    return [f"Only what is in its folder {inner} is taken in; left out: {', '.join(outside[:5])}."]


def rename(folder: Path, wanted: Wanted) -> list[str]:
    """Give the only notebook of a hand-in the name that grading looks for, if it is of this lab; what was done."""
    there = sorted(path.name for path in folder.glob("*.ipynb"))
    missing = [name for name in wanted.notebooks if name not in there]
    extra = [name for name in there if name not in wanted.notebooks]
    if len(wanted.notebooks) == 1 and missing and len(extra) == 1:
        if not inspection.notebook_fault(folder / extra[0], wanted.cells):
            (folder / extra[0]).rename(folder / missing[0])
            return [f"{extra[0]} is taken as {missing[0]}."]
    if extra and not missing and wanted.notebooks:
        return [
            f"Beside {', '.join(wanted.notebooks)} there is {', '.join(extra)}; it is not graded."
        ]
    return []


def looked_at(folder: Path, student: str, wanted: Wanted) -> tuple[str, list[str]]:
    """What becomes of a hand-in that is in its place already: unchanged or refused, and the notes on it."""
    faults = faults_of(folder, wanted)
    notes = inspection.record_notes(folder, wanted.slug, student, wanted.course)
    return "refused" if faults else "unchanged", [*faults, *notes]


def faults_of(folder: Path, wanted: Wanted) -> list[str]:
    """Why the notebooks of a hand-in cannot be graded, in sentences."""
    faults = (inspection.notebook_fault(folder / name, wanted.cells) for name in wanted.notebooks)
    return list(filter(None, faults))


def _same(fresh: Path, place: Path) -> bool:
    one, other = (
        {p.relative_to(folder) for p in folder.rglob("*") if p.is_file() and p.name != TIMESTAMP}
        for folder in (fresh, place)
    )
    return one == other and all(cmp(fresh / file, place / file, shallow=False) for file in one)


def older_note(when: datetime, before: datetime) -> str:
    """That a hand-in is older than the one that is here, and stays out."""
    return (
        f"This one is of {when:%Y-%m-%d %H:%M} UTC; the one that is here, of {before:%Y-%m-%d %H:%M} UTC, is newer"
        " and stays. `--older` accepts the older one, too."
    )


def as_stamp(when: datetime) -> str:
    """A time as nbgrader writes it into a timestamp.txt."""
    return when.astimezone(UTC).strftime(_FORMAT)


def timestamp(folder: Path) -> datetime | None:
    """When a collected submission was handed in, by its timestamp.txt; None without one that can be read.

    A learner may have put a link, a pipe or megabytes there.
    """
    path = folder / TIMESTAMP
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with path.open(encoding="utf-8") as file:
            return as_time(file.read(LONGEST_STAMP).strip())
    except (OSError, ValueError):
        return None


def as_time(text: str) -> datetime | None:
    """A time as nbgrader writes it, in whatever time zone the course has; None where there is none."""
    try:
        when: datetime = parse_utc(text).replace(tzinfo=UTC)
    except (ValueError, OverflowError, TypeError, AttributeError):
        return None
    # Those at the ends of all times cannot be written as another time zone's and compared.
    return when if datetime.min.year < when.year < datetime.max.year else None
