"""A Record that no measurement of this learner left: made up by its own words, without program or capture.

Nothing proves that a Record was measured. These are the facts that a Record made up in an editor or by a script lacks
first; a careful one has them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice, product
from pathlib import Path

from autograder.evidence.finding import IMPOSSIBLE, OF_SIMULATIONS, Finding
from beowulf import paths, predictions, studies
from beowulf.cluster.common.config import SIMULATED
from beowulf.exercises import own_plot
from beowulf.record import Record
from beowulf.studies import find, given
from beowulf.suites import hpcc

# The digests of programs by name; several where files or versions share a name.
Digests = Mapping[str, frozenset[str]]
# In a course's folder: digest and name of each program of the versions that it was released with, one a line.
FILE = "programs.txt"
SAYS_SO = re.compile(
    r"\b(fabricated|made[ -]up|invented|nobody measured|not a measurement)\b", re.I
)
# A learner's own copies of these are compiled and run, so their digests are the learner's own.
EDITED = {
    *("own_rows.c", "exchange.c", "letters.c", "sizes.c", "laws.py", "knob.py", "postcard.c"),
    *("gas.c", "galaxy.c"),
    *("heat.py", "heat_step.c", "heat_overlap.c"),
}
# A2 names its two programs without an ending.
WITHOUT_ENDING = {"hello": "hello.c", "ring": "ring.c"}
LONGEST_SOURCE = 20_000  # characters of a function that a Record keeps
MOST_MISSING, MOST_NAMED = 3, 100  # captures that a message names, and of one Record
MOST_TOGETHER = 64  # ways to choose one file for each name
DIGEST = re.compile(r"[0-9a-f]{64}")
LINE = re.compile(r"^([0-9a-f]{64}) (\S+)$", re.MULTILINE)


def findings(record: Record, records: Path | None, accepted: Digests) -> list[Finding]:
    """What shows that a Record was made up; `records` is its folder, `accepted` are those of the course."""
    missing = islice(_captures(record, records), MOST_MISSING)
    sentences = (_says_so(record), _program(record, accepted), _sources(record), *missing)
    return [Finding(IMPOSSIBLE, each) for each in sentences if each]


def is_timed(record: Record) -> bool:
    """Whether it is a measurement, and not a prediction or a plot."""
    return record.study[:1] not in (predictions.LETTER, own_plot.LETTER)


def accepted(course: Path | None) -> Digests:
    """The digests by name that a course accepts beside those of this checkout."""
    if course is None or not (course / FILE).is_file():
        return {}
    return _by_name(LINE.findall((course / FILE).read_text(encoding="utf-8")))


def _by_name(pairs: Iterable[tuple[str, str]]) -> Digests:
    digests: dict[str, set[str]] = {}
    for digest, name in pairs:
        digests.setdefault(name, set()).add(digest)
    return {name: frozenset(each) for name, each in digests.items()}


def remember(course: Path) -> None:
    """Write the digests of this checkout's programs into a course's file, beside those of versions before it."""
    before = accepted(course)
    fresh = sorted(
        f"{digest} {name}"
        for name, digests in known().items()
        for digest in digests - before.get(name, frozenset())
    )
    if fresh:
        with (course / FILE).open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in fresh)


def known() -> Digests:
    """The digests of the labs' programs."""
    ours, *others = (package.folder for package in paths.packages())
    return _known((ours / "labs", ours / "beowulf" / "native", *others))


@lru_cache(maxsize=2)
def _known(folders: tuple[Path, ...]) -> Digests:
    return _by_name(
        (hashlib.sha256(file.read_bytes()).hexdigest(), file.name)
        for folder in folders
        for file in (*folder.rglob("*.c"), *folder.rglob("*.py"))
    )


def _says_so(record: Record) -> str:
    if record.cluster.get("kind") == SIMULATED and record.study[:1] != OF_SIMULATIONS:
        return "It was simulated, and this question asks for what was measured."
    if given.is_one(record):
        return "It is the Record that is given with the labs, and this question asks for what was measured."
    for warning in map(str, record.warnings):
        if SAYS_SO.search(warning):
            return f"It says itself that it was not measured: “{warning[:100]}”."
    return ""


def _program(record: Record, more: Digests) -> str:
    """Whether the program that a Record names is one of ours; "" where it is, or is the learner's own."""
    if not is_timed(record):
        return ""
    name, digest = str(record.program.get("name", "")), str(record.program.get("sha256", ""))
    names = [WITHOUT_ENDING.get(each.strip(), each.strip()) for each in name.split(",")]
    names = [each for each in names if each]
    of_study = record.study in studies.known() and not record.variant
    if not names:
        asks = of_study and find(record.study).timed
        return "It names no program, and a measurement does." if asks else ""
    # What Debian's package has, differs from one release to the next.
    if hpcc.HPCC in names and of_study:
        return ""
    ours = [each for each in names if each in known() and each not in EDITED]
    # What a learner wrote is a function, or in a file of ours.
    of_labs = ours if of_study else [each for each in names if each in known() or "." not in each]
    if strange := [each for each in names if each not in of_labs]:
        return f"It names {strange[0][:80]}, which is none of the labs' programs."
    if not DIGEST.fullmatch(digest):
        return f"It has no digest of {names[0][:80]}, which a measurement leaves."
    # A function has no ending; beside one of ours, the digest is that of ours alone.
    files = [each for each in names if "." in each]
    if not ours or len(files) > len(ours) or digest in _together(ours, more):
        return ""
    return (
        f"The digest of {', '.join(ours)[:120]} is not that of this version's program."
        " Measure it again with the version that your course uses."
    )


def _together(names: list[str], more: Digests) -> Iterator[str]:
    """The digests that a Record of these programs may have, in this order."""
    choices = [sorted(known()[each] | more.get(each, frozenset())) for each in names]
    for number, chosen in enumerate(product(*choices)):
        if number >= MOST_TOGETHER:
            return
        yield (
            chosen[0] if len(chosen) == 1 else hashlib.sha256("".join(chosen).encode()).hexdigest()
        )


def _sources(record: Record) -> str:
    """Whether each function's digest is that of the text that the Record has of it."""
    for facts in (record.program, *(point.facts for point in record.points)):
        if not (isinstance(facts, Mapping) and {"source", "sha256"} <= set(facts)):
            continue
        source, digest = str(facts["source"]), str(facts["sha256"])
        if len(source) >= LONGEST_SOURCE or not source:
            continue
        if hashlib.sha256(source.encode()).hexdigest() != digest:
            name = str(facts.get("name", "")) or "a function"
            return f"The digest of {name[:80]} is not that of its text in the Record."
    return ""


def _captures(record: Record, records: Path | None) -> Iterator[str]:
    """The captures that a Record names by a digest, and that are not beside it."""
    for facts in record.captures[:MOST_NAMED] if records else ():
        name = Path(str(facts.get("file", ""))).name
        if name and facts.get("sha256") and records and not (records / name).is_file():
            yield f"It names the capture {name[:120]}, which is not in records/: hand it in, too."
