"""What came from a class, sorted by sender: a folder, or a zip from Moodle, from Canvas or of folders.

Nothing is unpacked or copied here. A name in a zip is used as a path only after it was checked.
"""

from __future__ import annotations

import errno
import fnmatch
import os
import re
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import IO

from beowulf.errors import LabError, UsageError

LEFT_OUT = (".ipynb_checkpoints", "__pycache__", "__MACOSX", "Thumbs.db", "*.pyc", ".*")
LONGEST_PATH = 400  # a name of 40 letters has 120 bytes in some scripts
ENCRYPTED, UTF_8 = 0x1, 0x800
# What a learner may take for a zip, and is not unpacked here.
NO_ZIP = (".tar", ".tgz", ".tbz", ".txz", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar")
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
# Drive letters, streams and what else is no plain name somewhere.
_STRANGE = re.compile(r"[\x00-\x1f\x7f\\:]")
# A single file, or a folder, as Moodle names what it gives out: NAME_NUMBER_assignsubmission_file_. The group of those
# who are in no group has no number.
_MOODLE = re.compile(r"(?P<name>.+?)(_(?P<number>\d+))?_assignsubmission_[a-z]+_?(?P<rest>.*)")
# As Canvas names a file: lastfirst_LATE_PERSON_UPLOAD_FILE; and a text or a link: lastfirst_PERSON_text.html.
# In anonymous grading anon_LETTERS is the person, and there is no name.
_CANVAS = re.compile(
    r"((?P<anonymous>(LATE_)?anon_[^_]+)|(?P<name>.+?)(?P<late>_LATE)?_(?P<number>\d+))"
    r"_(\d+_(?P<rest>.+)|(?P<page>(text|link)\.html))"
)
# As `gh classroom clone student-repos` names a folder and the clones in it: TASK-submissions/TASK-LEARNER.
CLASSROOM = "-submissions"
# What a damaged zip, a password or a rare way of packing makes of reading it.
DAMAGED = (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, ValueError)


@dataclass(frozen=True)
class Piece:
    """One file of a hand-in: its place in it, its bytes, when it was changed, how it is read."""

    path: PurePosixPath
    size: int
    changed: datetime
    open: Callable[[], IO[bytes]]


@dataclass
class Archive:
    """What one sender handed in, under the name that the folder or the LMS gives the sender."""

    sender: str
    number: str = ""  # Canvas' number for a person, or Moodle's for a person in an assignment
    full_name: bool = False  # a name that an LMS gives, and no ID
    late: bool = False  # by the LMS' own mark
    pieces: list[Piece] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def changed(self) -> datetime:
        """When the newest of its files was changed."""
        never = datetime.min.replace(tzinfo=UTC)
        return max((each.changed for each in self.pieces), default=never)


@contextmanager
def opened(place: Path, slug: str) -> Iterator[list[Archive]]:
    """The hand-ins in a folder or a zip, one a sender; LabError for anything else."""
    if place.is_dir():
        hand_ins = _sorted(_in_folder(place), slug)
        name = place.resolve().name
        if name.endswith(CLASSROOM):
            for each in hand_ins:
                each.sender = each.sender.removeprefix(f"{name.removesuffix(CLASSROOM)}-")
        yield hand_ins
    elif not place.exists():
        raise UsageError(f"There is no folder or zip {place}.", "Name a folder or a zip.")
    else:
        try:
            archive = zipfile.ZipFile(place)
        except DAMAGED as problem:
            raise LabError(
                f"{place} is not a zip that can be read ({problem}).",
                "Download it again, or unpack it and name the folder.",
            ) from None
        with archive:
            yield _sorted(_below_one_folder(in_zip(archive), slug), slug)


def of_folder(folder: Path, sender: str, owner: int | None = None) -> Archive:
    """What is in the folder of one sender; of an `owner`, only that user's files can be read."""
    hand_in = Archive(sender)
    for path, what in _in_folder(folder, owner):
        if isinstance(what, Piece):
            hand_in.pieces.append(what)
        elif what:
            hand_in.notes.append(f"{path} {what}.")
    return hand_in


Entry = tuple[PurePosixPath, Piece | str]  # a place, and what is there or why it is left out


def _in_folder(folder: Path, owner: int | None = None) -> list[Entry]:
    entries: list[Entry] = []
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not is_left_out(name))
        place = PurePosixPath(Path(here).relative_to(folder).as_posix())
        for name in sorted([*names, *folders]):
            path = Path(here, name)
            if path.is_symlink():
                # It could lead to a file of the instructor's.
                entries.append((place / name, "is a link and is left out"))
            elif name in folders or is_left_out(name):
                continue
            elif not path.is_file():
                entries.append((place / name, "is not a file and is left out"))
            else:
                about = path.stat()
                when = datetime.fromtimestamp(about.st_mtime, UTC)
                piece = Piece(place / name, about.st_size, when, partial(_opened, path, owner))
                entries.append((place / name, piece))
        if not names and not folders and place.parts:
            entries.append((place, ""))  # an empty folder is a hand-in without a file
    return entries


def _opened(path: Path, owner: int | None) -> IO[bytes]:
    # What has become a link since it was looked at is not followed, or leads to nobody else's.
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb")
    if owner is not None and os.fstat(file.fileno()).st_uid != owner:
        file.close()
        raise PermissionError(errno.EPERM, f"{path.name} belongs to another user")
    return file


def in_zip(archive: zipfile.ZipFile) -> list[Entry]:
    """Every file in a zip, or why it is left out."""
    entries: list[Entry] = []
    for member in archive.infolist():
        name = _name(member)
        path = PurePosixPath(name)
        if name.endswith("/") and not _wrong_name(path):
            entries.append((path, ""))
        elif any(map(is_left_out, path.parts)) and ".." not in path.parts:
            continue
        elif wrong := _wrong_name(path):
            entries.append((PurePosixPath(*_shown_parts(path)), wrong))
        elif stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
            entries.append((path, "is a link and is left out"))
        elif member.compress_type not in PACKED:
            # Others may ask for gigabytes of memory before the first byte.
            entries.append((path, "is packed in a rare way and is left out"))
        elif member.flag_bits & ENCRYPTED:
            entries.append((path, "needs a password and is left out"))
        else:
            read = partial(archive.open, member)
            entries.append((path, Piece(path, member.file_size, _changed(member), read)))
    return entries


def _name(member: zipfile.ZipInfo) -> str:
    name = member.filename
    if not member.flag_bits & UTF_8:
        # A Mac writes UTF-8 without saying so.
        with suppress(UnicodeError):
            name = name.encode("cp437").decode()
    return name.replace("\\", "/") if member.create_system == 0 else name


def _wrong_name(path: PurePosixPath) -> str:
    if path.is_absolute() or ".." in path.parts or not path.parts:
        return "points out of the hand-in and is left out"
    if _STRANGE.search(str(path)) or len(str(path).encode()) > LONGEST_PATH:
        return "has a name that cannot be used and is left out"
    return ""


def _shown_parts(path: PurePosixPath) -> Iterable[str]:
    """The parts of a bad name that a message may show, without the steps that make it bad."""
    parts = [part for part in path.parts if part not in ("/", "..", ".")]
    return [_STRANGE.sub("?", part)[:40] for part in [*parts[:1], *parts[-1:]]] or ["?"]


def _changed(entry: zipfile.ZipInfo) -> datetime:
    try:
        return datetime(*entry.date_time).astimezone(UTC)  # zips have local time
    except ValueError:
        return datetime(1980, 1, 1, tzinfo=UTC)  # the first day that a zip can name


def is_left_out(name: str) -> bool:
    """Whether a file or a folder of that name is made by a program and not by a learner."""
    return any(fnmatch.fnmatch(name, pattern) for pattern in LEFT_OUT)


def is_no_zip(name: str) -> bool:
    """Whether a file of that name is an archive that is not unpacked, such as a .tar.gz."""
    return PurePosixPath(name).suffix.lower() in NO_ZIP


def _below_one_folder(entries: list[Entry], slug: str) -> list[Entry]:
    """Without the one folder round everything that a zip of a folder has."""
    tops = {path.parts[0] for path, _ in entries if path.parts}
    if len(tops) != 1 or _MOODLE.fullmatch(next(iter(tops))):
        return entries
    inner = [(path, what) for path, what in entries if len(path.parts) > 1]
    if {path.parts[1] for path, _ in inner} == {slug}:
        return entries
    # With files directly in it, it is a sender's own folder.
    files = [path for path, what in inner if isinstance(what, Piece)]
    if not inner or any(len(path.parts) == 2 for path in files):
        if not (files and all(map(_of_an_lms, files))):
            return entries
    return [(PurePosixPath(*path.parts[1:]), what) for path, what in inner]


def _of_an_lms(path: PurePosixPath) -> bool:
    return bool(_MOODLE.fullmatch(path.parts[1]) or _CANVAS.fullmatch(path.name))


def _sorted(entries: list[Entry], slug: str) -> list[Archive]:
    hand_ins: dict[tuple[str, str], Archive] = {}
    for path, what in entries:
        if not path.parts:
            continue
        hand_in, rest = _sender(path, what)
        if hand_in is None:
            continue
        late = hand_in.late
        hand_in = hand_ins.setdefault((hand_in.sender, hand_in.number), hand_in)
        hand_in.late = hand_in.late or late
        if isinstance(what, Piece):
            hand_in.pieces.append(Piece(rest, what.size, what.changed, what.open))
        elif what:
            hand_in.notes.append(f"{rest} {what}.")
    _number_namesakes(hand_ins.values())
    for hand_in in hand_ins.values():
        _keep_only_lab(slug, hand_in)
    return sorted(hand_ins.values(), key=lambda hand_in: hand_in.sender)


def _number_namesakes(hand_ins: Iterable[Archive]) -> None:
    """Add Moodle's number to a name that several people have, so that it fits no learner; it identifies nobody else."""
    of_moodle = [each for each in hand_ins if each.full_name]
    people = Counter(each.sender for each in of_moodle)
    for each in of_moodle:
        if people[each.sender] > 1:
            each.notes.append(f"{people[each.sender]} people here have the name {each.sender}.")
            each.sender = f"{each.sender} {each.number}"
        each.number = ""


def _sender(path: PurePosixPath, what: Piece | str) -> tuple[Archive | None, PurePosixPath]:
    """Whose file this is, and its place in the hand-in."""
    top, rest = path.parts[0], PurePosixPath(*path.parts[1:])
    if match := _MOODLE.fullmatch(top):
        inside = PurePosixPath(match["rest"]) / rest if match["rest"] else rest
        return Archive(match["name"], match["number"] or "", full_name=True), inside
    if rest.parts or not isinstance(what, Piece):
        return Archive(top), rest if rest.parts else PurePosixPath(top)
    if match := _CANVAS.fullmatch(top):
        inside = PurePosixPath(match["rest"] or match["page"])
        if match["anonymous"]:
            return Archive(match["anonymous"], full_name=True), inside
        return Archive(match["name"], match["number"], late=bool(match["late"])), inside
    # One file a learner, named as the learner.
    named = PurePosixPath(top)
    if is_no_zip(top):
        while is_no_zip(named.name):
            named = named.with_suffix("")
        return Archive(named.name), PurePosixPath(top)
    return (Archive(named.stem) if named.suffix.lower() in (".zip", ".ipynb") else None), named


def _keep_only_lab(slug: str, hand_in: Archive) -> None:
    """Of a sender with a folder for each lab, or of a clone of a kit, only what is in this lab's folder."""
    places = [(piece, piece.path.parts) for piece in hand_in.pieces]
    inner = [each for each, at in places if at[0] == slug or ("work", slug) in pairwise(at)]
    # A kit's own notebook is nobody's hand-in.
    if not inner and any(("notebooks", "release") in pairwise(at) for _, at in places):
        hand_in.notes.append(f"This clone of a kit has no folder work/{slug}.")
        hand_in.pieces = []
    hand_in.pieces = inner or hand_in.pieces
