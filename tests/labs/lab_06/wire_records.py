"""Records of captured conversations, made of numbers: for the claims on the wire, of every outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from made import CLUSTER, QUIET

from beowulf.measure.roundtrips import HALF
from beowulf.record import Point, Record
from beowulf.studies.wire_shares import Talk
from tests.gold.lab_06 import USUAL, captured
from tests.studies.null_records import Noise, quieter

SHARES = ("data", "short", "ssh", "connection", "overhead", "packet_bytes")
COUNTED = 0.01  # what is counted varies by so much of what disturbs a time


def record(
    study: str,
    talks: Iterable[Talk],
    of: Callable[[Talk], Mapping[str, float]] = lambda talk: {},
    *,
    launches: int = 7,
    noise: float | Noise = 0.001,
) -> Record:
    """A Record in which each launch of a talk has the USUAL values, but for those that `of` says, and some noise."""
    draw = np.random.default_rng(5)
    points = []
    for talk in talks:
        middles = USUAL | dict(of(talk))
        factors = {
            name: noise(launches) if callable(noise) else 1 + noise * draw.standard_normal(launches)
            for name in middles
        }
        for name in SHARES if callable(noise) else ():
            factors[name] = quieter(factors[name], COUNTED)
        for launch in range(launches):
            values = {name: value * factors[name][launch] for name, value in middles.items()}
            facts = captured(talk, **values | {"tcp": middles["tcp"]})
            facts["capture"] = {"sha256": "0" * 64, "packets": 4000, "dropped": 0}
            at = {**talk.at, "ranks": 4, "launch": launch}
            points.append(Point(at, HALF, [20.0] * 30, facts))
    return Record(
        study=study,
        points=points,
        cluster=dict(CLUSTER),
        circumstances={"before": QUIET, "after": QUIET},
    )
