"""Records of captured conversations, made of numbers: for the claims on the wire, of every outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from made import CLUSTER, QUIET
from null_records import Noise, quieter

from beowulf.measure.roundtrips import HALF
from beowulf.record import Point, Record
from beowulf.studies.wire_shares import Talk

# Of a launch, as shares of 1 and as rates: what a study may change for some of its talks.
USUAL = {
    "data": 0.95,
    "short": 0.01,
    "ssh": 0.01,
    "connection": 0.01,
    "overhead": 0.45,
    "packets_per_s": 5000.0,
    "talking_packets_per_s": 25_000.0,
    "packet_bytes": 110.0,
    "tcp": 1.0,
}

SHARES = ("data", "short", "ssh", "connection", "overhead", "packet_bytes")
COUNTED = 0.01  # what is counted varies by so much of what disturbs a time


def record(
    study: str,
    talks: Iterable[Talk],
    of: Callable[[Talk], Mapping[str, float]] = lambda talk: {},
    *,
    launches: int = 7,
    noise: float | Noise = 0.001,
    before: Mapping[str, Any] | None = None,
    complete: bool = True,
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
            values["tcp"] = middles["tcp"]
            at = {**talk.at, "ranks": 4, "launch": launch}
            points.append(Point(at, HALF, [20.0] * 30, facts(talk, values)))
    return Record(
        study=study,
        points=points,
        cluster=CLUSTER,
        circumstances={"before": dict(before or QUIET), "after": QUIET},
        complete=complete,
    )


def facts(talk: Talk, values: Mapping[str, float]) -> dict[str, Any]:
    """What a launch with these values keeps of its capture."""
    packets = 4000
    counts = [
        {
            "rank": rank,
            "tag": 600,
            "messages": talk.exchanges,
            "bytes": talk.exchanges * talk.message_bytes,
        }
        for rank in range(4)
    ]

    def rates(per_s: float) -> dict[str, float]:
        size = values["packet_bytes"]
        seconds = packets / per_s
        return {
            "packets": packets,
            "elapsed_s": seconds,
            "packets_per_s": per_s,
            "bytes_per_s": per_s * size,
            "mbit_per_s": 8e-6 * per_s * size,
        }

    rest = 1 - values["data"] - values["ssh"] - values["connection"]
    return {
        **rates(values["packets_per_s"]),
        "shares": {
            "data_segments": values["data"],
            "remote_shell": values["ssh"],
            "ack_only": rest,
            "connection": values["connection"],
            "other": 1 - values["tcp"],
        },
        "short_messages": {"packets": 40, "share": values["short"]},
        "overhead": {"tcp": values["overhead"], "mpi": None, "paper_a_data_share": values["data"]},
        "tcp": {"packets": packets * values["tcp"], "retransmitted_packets": 0},
        "mpi": {"segments_per_message": 1.0},
        "talking": {
            **rates(values["talking_packets_per_s"]),
            "data_share": values["data"],
            "tcp_overhead": values["overhead"],
        },
        "sent": counts,
        "captured": counts,
        "matched": True,
        "segments_not_understood": 0,
        "capture": {"sha256": "0" * 64, "packets": packets, "dropped": 0},
    }


def busy(made: Record) -> Record:
    """The same, measured while other programs wanted the cores."""
    made.circumstances["before"] = {**QUIET, "load_1min": 9.0}
    return made
