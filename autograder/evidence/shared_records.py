"""Records that the course gives to learners whose machine cannot run a cluster: labelled, and recognised later.

They are in COURSE/given/SLUG/. Answers that are read from them get their full points; the points for
measuring are not given. A label in the Record says that the course gave it. The course recognises its
Records by their values, so that removing the label changes nothing.
"""

from __future__ import annotations

import hashlib
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

from autograder.evidence.finding import IMPOSSIBLE, Finding
from autograder.evidence.record_files import ANSWERS
from beowulf import schemas
from beowulf.errors import LabError
from beowulf.record import Record

FOLDER, LABEL = "given", "given_by"
SENTENCE = "The course {} gave this Record: the learner who hands it in did not measure it."


def label(record: Record, course: str) -> Record:
    """The Record with a label that the course of this name gave it."""
    sentence = SENTENCE.format(course)
    warnings = [*record.warnings, *([] if sentence in record.warnings else [sentence])]
    cluster = {**deepcopy(record.cluster), LABEL: course}
    return replace(record, cluster=cluster, warnings=warnings)


def prepare(course: Path, slug: str, records: Path, name: str) -> list[Path]:
    """Put the Records of a folder, labelled, and their captures into COURSE/given/SLUG; the files to give out."""
    place = course / FOLDER / slug
    made = []
    for path in sorted(records.glob("*.json")):
        if path.name == ANSWERS:
            continue
        record = label(Record.load(path), name)
        made.append(record.save_in(place))
        for each in record.captures:
            capture = records / Path(each["file"]).name
            if capture.is_file():
                (place / capture.name).write_bytes(capture.read_bytes())
                made.append(place / capture.name)
    if not made:
        raise LabError(
            f"There is no Record in {records}.", "Measure the lab's studies there first."
        )
    return made


def fingerprint(record: Record) -> str:
    """The same for Records with the same points, whatever else was changed in them."""
    points = [point.as_plain() for point in record.points]
    return hashlib.sha256(schemas.canonical({"points": points})).hexdigest()


def fingerprints_of(course: Path | None) -> frozenset[str]:
    """The fingerprints of all Records that a course gives."""
    given = set()
    for path in sorted((course / FOLDER).glob("*/*.json")) if course else []:
        try:
            given.add(fingerprint(Record.load(path)))
        except LabError:
            continue  # not a Record, so it cannot be handed in as one
    return frozenset(given)


def is_given(record: Record, given: frozenset[str]) -> bool:
    """Whether a Record is one that the course gave, by its label or by its values."""
    return LABEL in record.cluster or (bool(given) and fingerprint(record) in given)


def findings(record: Record, given: frozenset[str], *, in_course: bool = False) -> list[Finding]:
    """Whether a Record says that the course gave it, and has values that the course did not give.

    Outside of a course nobody knows what it gave.
    """
    if LABEL not in record.cluster or not (given or in_course) or fingerprint(record) in given:
        return []
    message = "It says that the course gave it, and its values are not those that the course gave."
    return [Finding(IMPOSSIBLE, message)]
