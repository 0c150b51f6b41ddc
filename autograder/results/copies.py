"""Finds hand-ins of a class that hold the same measurement, and shows them side by side. The instructor decides.

The same nanoseconds are never measured twice. So not the answers are compared, which may well be equal, but
whole Records with the moment of their start, and values with many digits: of each Record a few, chosen by
a digest, so that a Record of which a part was copied still shows it. A copy whose values were scaled, rounded or
sorted keeps the ups and downs of its launches. No points are taken.
"""

from __future__ import annotations

import hashlib
import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from autograder.evidence import invented, near_copies, record_files, shared_records, variants
from autograder.evidence.near_copies import Resemblance, Steps
from autograder.evidence.record_files import RECORDS
from autograder.text import counted, shortened
from beowulf import schemas
from beowulf.record import Record

# The kinds, the surest first, and what is the same in each.
KINDS = {
    "whole": "whole Record",
    "record": "all points",
    "capture": "capture",
    "mark": "another's code",
    "samples": "some samples",
    "near": "ups and downs",
}
_WHAT = {"whole": "Record", "record": "Record", "capture": "capture"}
_SAYS = {
    "whole": "the same from end to end, including the millisecond of the start and the machine's load",
    "record": "the same in every point",
    "capture": "the same, byte for byte",
}
# A value with so many digits does not occur twice by chance.
UNIQUE_DIGITS = 7
# So many of a Record's values are compared; by their digests the same ones are chosen of equal Records.
VALUES_COMPARED = 64
FEWEST_SHARED, LEAST_SHARE = 4, 0.1
MOST_WITH_ONE_VALUE = 300  # students
MOST_RECORDS = 50  # of a student, whose ups and downs are compared
LARGEST_CAPTURE_BYTES = 100_000_000
LEAST_CAPTURE_BYTES = 1_000  # an idle wire leaves captures that hold nothing but their header
MOST_SENTENCES = 6  # sentences of one suspicion; its files are all named


@dataclass(frozen=True)
class Shared:
    """One kind of thing that hand-ins have in common: `what` in a sentence, `files` as "student: file"."""

    students: tuple[str, ...]
    kind: str
    what: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class Suspicion:
    """All that the hand-ins of some students have in common, the surest first."""

    students: tuple[str, ...]
    shared: tuple[Shared, ...]

    @property
    def kind(self) -> str:
        """The surest of its kinds."""
        return self.shared[0].kind

    @property
    def what(self) -> str:
        """Every sentence, or the first of very many."""
        return " ".join(shortened([each.what for each in self.shared], MOST_SENTENCES))

    @property
    def files(self) -> tuple[str, ...]:
        """Every file, once."""
        return tuple(dict.fromkeys(file for each in self.shared for file in each.files))


@dataclass(frozen=True)
class _File:
    """One file of one student, and what identifies it."""

    student: str
    file: str
    mark: str = ""
    values: frozenset[int] = frozenset()
    digest: str = ""  # of its points, or of the capture
    whole: str = ""  # of everything but the student's name
    study: str = ""  # and its variant
    steps: Steps | None = None  # of a complete measurement


def suspected(hand_ins: Mapping[str, Path], course: Path | None = None) -> list[Suspicion]:
    """What students of one lab have in common; `hand_ins` has the folder of each student's hand-in.

    Records that the course gave are left out. Files that cannot be read are skipped. No two
    suspicions are of the same students.
    """
    gifts = shared_records.fingerprints_of(course)
    records: list[_File] = []
    captures: list[_File] = []
    for student, folder in sorted(hand_ins.items()):
        records += _records(student, folder / RECORDS, gifts)
        captures += _captures(student, folder / RECORDS, course)
    whole = _groups(records, lambda each: each.whole)
    # Where everything is the same, the points need not be named again.
    points = [
        group
        for group in _groups(records, lambda each: each.digest)
        if len({each.whole for each in group}) > 1
    ]
    shared = [
        *_same(whole, "whole"),
        *_same(points, "record"),
        *_same(_groups(captures, lambda each: each.digest), "capture"),
        *_marked(records, course),
        *_equal_values(records),
        *_near_copies(records),
    ]
    return _merged(shared)


def _merged(all_shared: Iterable[Shared]) -> list[Suspicion]:
    """What the same students share, together; what only a part of a group shares is listed with the group's."""
    groups: dict[frozenset[str], list[Shared]] = {}
    for each in sorted(all_shared, key=lambda each: -len(each.students)):
        who = frozenset(each.students)
        group = next((larger for larger in groups if who <= larger), who)
        groups.setdefault(group, []).append(each)
    merged = [
        Suspicion(tuple(sorted(students)), tuple(sorted(shared, key=_surest)))
        for students, shared in groups.items()
    ]
    return sorted(merged, key=lambda each: (_surest(each.shared[0]), each.students))


def _surest(shared: Shared) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    return list(KINDS).index(shared.kind), shared.students, shared.files


def _records(student: str, folder: Path, gifts: frozenset[str]) -> Iterator[_File]:
    for number, (path, record, _) in enumerate(record_files.records(folder)):
        if record is None:
            continue
        try:
            if shared_records.is_given(record, gifts):
                continue
            samples = {s for point in record.points for s in point.samples if _is_unique(s)}
            # The headers of a short message are the same on every wire; only what time writes is not.
            written = samples.union(*(_numbers(point.facts) for point in record.points))
            points = shared_records.fingerprint(record)
            digest = points if len(written) >= FEWEST_SHARED else ""
            mark = str(record.cluster.get(variants.MARK, ""))
            whole = _whole(record, points)
            study = f"{record.study} {record.variant}"
            steps = _steps(record) if number < MOST_RECORDS else None
            yield _File(student, path.name, mark, _chosen(samples), digest, whole, study, steps)
        except Exception:  # values that no measurement leaves
            continue


def _steps(record: Record) -> Steps | None:
    """What to find a near copy by; None where it is no complete measurement, or holds values that none leaves."""
    if not record.complete or not invented.is_timed(record):
        return None
    try:
        return near_copies.steps(record)
    except Exception:  # as above; its other values can still be compared
        return None


def _captures(student: str, folder: Path, course: Path | None) -> Iterator[_File]:
    given = (course / shared_records.FOLDER).glob("*/*") if course else ()
    gifts = {path.name for path in given}
    for path in sorted(folder.glob("*.pcap*")):
        if path.is_symlink() or not path.is_file() or path.name in gifts:
            continue
        if not LEAST_CAPTURE_BYTES <= path.stat().st_size <= LARGEST_CAPTURE_BYTES:
            continue
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        yield _File(student, path.name, digest=digest)


def _whole(record: Record, points: str) -> str:
    """A digest of all of a Record except its learner; `points` is that of its points."""
    plain = replace(record, points=[], learner="").as_plain()
    return hashlib.sha256(points.encode() + schemas.canonical(plain)).hexdigest()


def _groups(files: Iterable[_File], key: Callable[[_File], str]) -> list[list[_File]]:
    """Files of several students with the same key, one of each student."""
    groups: dict[str, dict[str, _File]] = defaultdict(dict)
    for each in files:
        if key(each):
            groups[key(each)].setdefault(each.student, each)
    return [list(group.values()) for group in groups.values() if len(group) > 1]


def _same(groups: Iterable[list[_File]], kind: str) -> Iterator[Shared]:
    """One Shared for all files that the same students have in common."""
    of_students: dict[tuple[str, ...], list[list[_File]]] = defaultdict(list)
    for group in groups:
        of_students[tuple(each.student for each in group)].append(group)
    for students, several in of_students.items():
        files = tuple(f"{each.student}: {each.file}" for group in several for each in group)
        number = len(several)
        are = "is" if number == 1 else "are"
        what = f"{counted(number, _WHAT[kind])} of {_names(students)} {are} {_SAYS[kind]}."
        yield Shared(students, kind, what, files)


def _marked(files: Iterable[_File], course: Path | None) -> Iterator[Shared]:
    """Records that were made under another student's code."""
    for each in files:
        own = variants.of(course, each.student)
        if whose := own.whose(each.mark) if own else "":
            what = f"{each.student} handed in {each.file}, made with the personal code of {whose}."
            students = tuple(sorted((each.student, whose)))
            yield Shared(students, "mark", what, (f"{each.student}: {each.file}",))


def _equal_values(records: Iterable[_File]) -> Iterator[Shared]:
    """Records of two students that share values, though their points are not the same throughout."""
    with_values = [each for each in records if each.values]
    # Of a student the first Record with a value, so that equal ones of their own are not compared with each other.
    places: dict[int, dict[str, int]] = defaultdict(dict)
    for place, each in enumerate(with_values):
        for value in each.values:
            places[value].setdefault(each.student, place)
    shared: dict[tuple[int, int], int] = defaultdict(int)
    for where in places.values():
        for pair in combinations(list(where.values())[:MOST_WITH_ONE_VALUE], 2):
            shared[pair] += 1
    for (one, other), count in shared.items():
        first, second = with_values[one], with_values[other]
        fewer = min(len(first.values), len(second.values))
        if count < max(FEWEST_SHARED, LEAST_SHARE * fewer):
            continue
        if first.digest and first.digest == second.digest:
            continue
        what = (
            f"{count} of {fewer} values that were compared in {first.file} of {first.student} and"
            f" {second.file} of {second.student} are the same to the last digit."
        )
        yield _of_two(first, second, "samples", what)


def _near_copies(records: Iterable[_File]) -> Iterator[Shared]:
    """Of each two students and each study the Records that resemble each other most, though their points differ."""
    of_study: dict[str, list[_File]] = defaultdict(list)
    for each in records:
        if each.steps:
            of_study[each.study].append(each)
    for same in of_study.values():
        surest: dict[tuple[str, str], Resemblance] = {}
        steps = [each.steps for each in same if each.steps]
        pairs = near_copies.resembling(steps, [each.student for each in same])
        for pair in sorted(pairs, key=lambda pair: pair.score):
            surest[same[pair.one].student, same[pair.other].student] = pair
        for pair in surest.values():
            first, second = same[pair.one], same[pair.other]
            if first.digest and first.digest == second.digest:
                continue
            what = (
                f"The values of {first.file} of {first.student} and {second.file} of {second.student} rise and fall"
                f" at the same places in the same launches ({pair.like:.2f} of 1 at {counted(pair.places, 'place')}):"
                " one may be the other, scaled, rounded or sorted."
            )
            yield _of_two(first, second, "near", what)


def _of_two(first: _File, second: _File, kind: str, what: str) -> Shared:
    files = tuple(f"{each.student}: {each.file}" for each in (first, second))
    return Shared((first.student, second.student), kind, what, files)


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
    return frozenset(digests[:VALUES_COMPARED])
