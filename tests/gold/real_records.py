"""Real Records of many studies: measured on namespaces of one machine, and shortened to their samples."""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any

from beowulf.record import Point, Record

KEPT = Path(__file__).with_name("real_records.json.xz")


@cache
def real() -> list[tuple[str, Record]]:
    """The real Records, each with the cluster, the load, and whether it was quick or full."""
    kept = json.loads(lzma.decompress(KEPT.read_bytes()))
    return [(each.pop("where"), _record(each)) for each in kept]


def of_study(study: str) -> list[Record]:
    """The real Records of one study."""
    return [record for _, record in real() if record.study == study]


def _record(plain: dict[str, Any]) -> Record:
    points = [Point(**point) for point in plain.pop("points")]
    return Record(**plain, points=points)
