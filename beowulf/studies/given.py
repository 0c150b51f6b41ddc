"""Records of full runs that come with the labs, for studies that a learner's own cluster cannot show.

They say that they are given, and nobody has points for having measured them. `python -m benchmarks.given_records` makes
the files, compressed Records in labs/given/.
"""

from __future__ import annotations

import json
import lzma
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from beowulf import paths, schemas
from beowulf.errors import LabError
from beowulf.record import GIVEN, Point, Record

SAYS = "This Record is given with the labs; it is not a measurement of yours."
ENDING = ".json.xz"
MOST_BYTES = 200_000


def folder() -> Path:
    """Where they are."""
    return paths.root() / "labs" / "given"


def studies() -> list[str]:
    """The studies of which there is one, by number within each letter."""
    names = [file.name.removesuffix(ENDING) for file in folder().glob(f"*{ENDING}")]
    return sorted(names, key=lambda name: (name[0], int(name[1:])))


def record(study: str) -> Record | None:
    """The Record that is given of a study, if there is one."""
    file = folder() / f"{study}{ENDING}"
    if not file.exists():
        return None
    with tempfile.TemporaryDirectory(prefix="beowulf-") as aside:
        plain = Path(aside, f"{study}.json")
        plain.write_bytes(lzma.decompress(file.read_bytes()))
        return Record.load(plain)


def hint(study: str) -> str:
    """What a learner reads who cannot measure a study: how its given Record is shown, or that there is none yet."""
    if study in studies():
        return (
            f"`beowulf show {study} --given` shows a Record of it, of a full run, that is given with the labs;"
            f" `beowulf claims {study} --given` judges that one."
        )
    return "A machine that allows namespaces, or PCs (docs/clusters.md), can show it."


def is_one(record: Record) -> bool:
    """Whether a Record has the very points of the one that is given of its study, whatever else it says."""
    return bool(record.points) and record.points == _points_of(record.study)


def pack(record: Record) -> Path:
    """Mark a Record as given, without its learner and the captures that do not come along, and write its file."""
    marked = replace(
        record, learner="", variant=GIVEN, captures=[], warnings=[SAYS, *record.warnings]
    )
    content = lzma.compress(schemas.canonical(marked.as_plain()), preset=9)
    file = folder() / f"{record.study}{ENDING}"
    if len(content) > MOST_BYTES:
        raise LabError(f"The Record of {record.study} is too large to be given with the labs.")
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    return file


@cache
def _points_of(study: str) -> list[Point]:
    """The points of the Record that is given of a study; it is ours, and need not be compared with its schema."""
    file = folder() / f"{study}{ENDING}"
    content = json.loads(lzma.decompress(file.read_bytes())) if file.is_file() else {"points": []}
    return [Point(**point) for point in content["points"]]
