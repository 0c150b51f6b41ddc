"""Hand-ins of a class that hold the same measurement: found and laid side by side. The instructor decides.

Nobody measures the same nanoseconds twice. What is compared are therefore not answers, which may well be
alike, but values with many digits: of each Record a few, chosen by a digest, so that Records of which a
part was copied still show it. No points are taken.
"""

from __future__ import annotations

import hashlib
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from autograder import given, variants
from autograder.submission import LARGEST_RECORD_BYTES, MOST_RECORDS, RECORDS
from beowulf.cluster.recorded import ANSWERS
from beowulf.errors import LabError
from beowulf.record import Record

# The kinds, the surest first.
KINDS = ("record", "capture", "mark", "samples")
# A value with so many digits is not met twice by chance.
UNIQUE_DIGITS = 7
# So many of a Record's values are compared; by their digests the same ones are chosen of equal Records.
KEPT = 64
FEWEST_SHARED, LEAST_SHARE = 4, 0.1
LARGEST_CAPTURE_BYTES = 100_000_000
LEAST_CAPTURE_BYTES = 1_000  # an idle wire leaves captures that hold nothing but their header
CAPTURES = {".pcap", ".pcapng"}
_UNREADABLE = (LabError, OSError, ValueError, RecursionError, MemoryError)


@dataclass(frozen=True)
class Suspicion:
    """What the hand-ins of several students have in common: `what` in a sentence, `files` as "student: file"."""

    students: tuple[str, ...]
    kind: str
    what: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class _Seen:
    """One file of one student, and what it is known by."""

    student: str
    file: str
    record: Record | None = None
    values: frozenset[int] = frozenset()
    digest: str = ""


def suspected(hand_ins: Mapping[str, Path], course: Path | None = None) -> list[Suspicion]:
    """What students of one lab have in common; `hand_ins` has the folder of each student's hand-in.

    Records that the course gave are left out. Files that cannot be read are passed over.
    """
    gifts = given.known(course)
    records: list[_Seen] = []
    captures: list[_Seen] = []
    for student, folder in sorted(hand_ins.items()):
        records += _records(student, folder / RECORDS, gifts)
        captures += _captures(student, folder / RECORDS, course)
    found = [
        *_same(records, "record", "The Records hold the same points"),
        *_same(captures, "capture", "The captures are the same, byte for byte"),
        *_marked(records, course),
    ]
    known = {each.files for each in found}
    found += [each for each in _alike(records) if each.files not in known]
    return sorted(found, key=lambda each: (KINDS.index(each.kind), each.students, each.files))


def _records(student: str, folder: Path, gifts: frozenset[str]) -> Iterator[_Seen]:
    paths = [path for path in sorted(folder.glob("*.json")) if path.name != ANSWERS]
    for path in paths[:MOST_RECORDS]:
        try:
            if path.is_symlink() or path.stat().st_size > LARGEST_RECORD_BYTES:
                continue
            record = Record.load(path)
            if given.is_given(record, gifts):
                continue
            samples = {s for point in record.points for s in point.samples if _is_unique(s)}
            # The headers of a short message are the same on every wire; only what time writes is not.
            written = samples.union(*(_numbers(point.facts) for point in record.points))
            digest = given.fingerprint(record) if len(written) >= FEWEST_SHARED else ""
            yield _Seen(student, path.name, record, _chosen(samples), digest)
        except _UNREADABLE:
            continue


def _captures(student: str, folder: Path, course: Path | None) -> Iterator[_Seen]:
    gifts = {path.name for path in (course / given.FOLDER).glob("*/*")} if course else set()
    for path in sorted(folder.glob("*.pcap*")):
        try:
            if path.suffix not in CAPTURES or path.is_symlink() or path.name in gifts:
                continue
            if not LEAST_CAPTURE_BYTES <= path.stat().st_size <= LARGEST_CAPTURE_BYTES:
                continue
            with path.open("rb") as file:
                yield _Seen(
                    student, path.name, digest=hashlib.file_digest(file, "sha256").hexdigest()
                )
        except OSError:
            continue


def _same(seen: Iterable[_Seen], kind: str, says: str) -> Iterator[Suspicion]:
    """Files of several students with the same digest."""
    by_digest: dict[str, dict[str, str]] = defaultdict(dict)
    for each in seen:
        if each.digest:
            by_digest[each.digest].setdefault(each.student, each.file)
    for files in by_digest.values():
        if len(files) > 1:
            yield _suspicion(kind, f"{says} in the hand-ins of {_names(files)}.", files)


def _marked(seen: Iterable[_Seen], course: Path | None) -> Iterator[Suspicion]:
    """Records that were made under another student's word."""
    for each in seen:
        own = variants.of(course, each.student)
        if own is None or each.record is None:
            continue
        if whose := own.whose(str(each.record.cluster.get(variants.MARK, ""))):
            files = {each.student: each.file, whose: ""}
            what = f"{each.student} handed in {each.file}, made under the word of {whose}."
            yield _suspicion("mark", what, files)


def _alike(seen: Iterable[_Seen]) -> Iterator[Suspicion]:
    """Records of two students that share values, though they are not the same throughout."""
    known = [each for each in seen if each.values]
    places: dict[int, list[int]] = defaultdict(list)
    for place, each in enumerate(known):
        for value in each.values:
            places[value].append(place)
    shared: dict[tuple[int, int], int] = defaultdict(int)
    for where in places.values():
        for pair in combinations(where[:MOST_RECORDS], 2):
            shared[pair] += 1
    for (one, other), count in shared.items():
        first, second = known[one], known[other]
        fewer = min(len(first.values), len(second.values))
        if first.student == second.student or count < max(FEWEST_SHARED, LEAST_SHARE * fewer):
            continue
        files = {first.student: first.file, second.student: second.file}
        what = (
            f"{count} of {fewer} values that were compared in {first.file} of {first.student} and"
            f" {second.file} of {second.student} are the same to the last digit."
        )
        yield _suspicion("samples", what, files)


def _suspicion(kind: str, what: str, files: Mapping[str, str]) -> Suspicion:
    students = tuple(sorted(files))
    named = tuple(f"{student}: {files[student]}" for student in students if files[student])
    return Suspicion(students, kind, what, named)


def _names(students: Iterable[str]) -> str:
    *first, last = sorted(students)
    return f"{', '.join(first)} and {last}"


def _numbers(value: Any) -> Iterator[float]:
    """The numbers with many digits among a Point's facts."""
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _numbers(each)
    elif isinstance(value, list):
        for each in value:
            yield from _numbers(each)
    elif isinstance(value, float) and _is_unique(value):
        yield value


def _is_unique(value: float) -> bool:
    return float(f"{value:.{UNIQUE_DIGITS - 1}g}") != value


def _chosen(values: Iterable[float]) -> frozenset[int]:
    """The few values with the smallest digests: of equal Records the same, of a copied part the same share."""
    digests = sorted(
        int.from_bytes(hashlib.blake2b(struct.pack("<d", value), digest_size=8).digest())
        for value in set(values)
    )
    return frozenset(digests[:KEPT])
