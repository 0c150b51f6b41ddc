"""Which Records of a hand-in the school's signing service signed, for the report of a class and for feedback."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from autograder.evidence import record_files, signed
from autograder.results.sections import Section, listed, table_of
from autograder.text import counted
from beowulf.errors import LabError
from beowulf.signature import BROKEN, SIGNED, UNSIGNED

COLUMNS = ["learner", SIGNED, UNSIGNED, BROKEN, "which, and why"]
EXPLANATION = (
    "The school's signing service measured the signed ones itself. An unsigned one proves nothing, and most are"
    " honest. A broken one was altered after it was signed, or signed for someone else; it counts for nothing."
)


def section(folders: Mapping[str, Path], course: Path) -> Section:
    """How many Records of each learner, of those that the service can measure, are signed, unsigned or broken."""
    title = "Signed Records"
    if not signed.keys(course):
        text = f"The course knows no signing service: it has no file `{signed.FILE}`."
        return Section("signed", title, text, table_of([], COLUMNS))
    rows, broken = [], []
    for student, folder in sorted(folders.items()):
        found = _by_state(folder, course, student)
        rows.append(
            {
                "learner": student,
                **{state: len(found[state]) for state in (SIGNED, UNSIGNED, BROKEN)},
                "which, and why": "\n".join(found[BROKEN]),
            }
        )
        broken += [student] * bool(found[BROKEN])
    urgent = f"{counted(len(broken), 'learner')} with a broken signature: {listed(broken)}"
    table = table_of(rows, COLUMNS)
    return Section("signed", title, EXPLANATION, table, urgent=urgent if broken else "")


def sentence(folder: Path, course: Path, student: str) -> str:
    """For the learner: how many Records are signed, and which signature is broken; "" without a signing service."""
    if not signed.keys(course):
        return ""
    try:
        found = _by_state(folder, course, student)
    except LabError as problem:
        return f"Signatures of Records cannot be checked: {problem}"
    first = ", ".join(f"{len(found[state])} {state}" for state in (SIGNED, UNSIGNED, BROKEN))
    return " ".join(
        [f"Your Records that the signing service can measure: {first}.", *found[BROKEN]]
    )


def _by_state(folder: Path, course: Path, student: str) -> dict[str, list[str]]:
    """The names of the Records in each state, with a sentence where a signature is broken."""
    found: dict[str, list[str]] = {SIGNED: [], UNSIGNED: [], BROKEN: []}
    known = signed.keys(course)
    for path, record, _ in record_files.records(folder / record_files.RECORDS):
        if record is None:
            continue
        checked = signed.check(record, known, student)
        if checked.state == BROKEN:
            found[BROKEN].append(f"{path.name}: {checked.why}")
        elif signed.can_be(record):
            found[checked.state].append(path.name)
    return found
