"""mpptest's own ways, in which papers A and B probably measured: launches, what it prints, and what that shows.

Paper B names mpptest, paper A 'mptest' and the arguments of its time_function, and neither prints a command line: that
they measured in this way is an inference. It rests on the program of MPICH 1.2.0. A plain pair is ranks 0 and 1. With
-bisect all ranks talk in pairs, and the printed rate is one pair's times np / 2: with 3 ranks the third looks on and
counts for half a pair. With -overlap ranks 0 and the last one play ping-pong, and both work while a message is on its
way; the message has one size (0 bytes by default), and the swept length is that of the work. -bisect ignores -overlap.
The time is half of a round trip; the best of all runs is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from beowulf.measure.judgement import Span
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import NO_SAMPLES, trouble
from beowulf.measure.roundtrips import pairs, ratios, run
from beowulf.measure.statistics import Ratio
from beowulf.measure.table import shortest, summarised
from beowulf.record import Record

if TYPE_CHECKING:
    import pandas as pd

MODE = "mpptest"
QUANTITY = "half_round_trip_mpptest_us"
MESSAGES, WORK = "size_bytes", "overlap_bytes"  # the length that a sweep changes
MESSAGE_BYTES = 0  # beside work, unless -overlapmsgsize says otherwise
PROTOCOLS = ("blocking", "async")
NAMES = {"blocking": "blocking", "async": "non-blocking"}
OLDER = "the Record is from before this way of measuring"
OLDER_WORK = "its program was not yet mpptest's beside work: both ranks sent first, and then worked"
LONGEST_US = 50_000  # 50 round trips of long messages take longer: a run has as many of them as fit


@dataclass(frozen=True)
class Mpptest:
    """A sweep in mpptest's way for each number of ranks: of message sizes, or of the bytes of work beside one size."""

    ranks: Sequence[int]
    sizes: Sequence[int] = (MESSAGE_BYTES,)
    overlap_bytes: Sequence[int] = ()
    bisect: bool = False

    def about(self) -> dict[str, Any]:
        """The sweep as the Record describes it."""
        lists = {"ranks": self.ranks, "sizes": self.sizes, "overlap_bytes": self.overlap_bytes}
        return {name: list(each) for name, each in lists.items()} | {"bisect": self.bisect}

    def launch(self, measurement: Measurement, passes: int, launch: int) -> None:
        """Measure the whole sweep once, with `passes` samples of each length."""
        for ranks in self.ranks:
            run(
                measurement,
                ranks,
                self.sizes,
                pattern="pairs" if self.bisect else "pingpong",
                protocols=PROTOCOLS,
                passes=passes,
                launch=launch,
                overlap_bytes=self.overlap_bytes,
                mode=MODE,
                bisect=self.bisect,
                chunk_us=LONGEST_US if not self.overlap_bytes else None,
            )


def troubles(record: Record) -> list[str]:
    """Why no claim on mpptest's way may be decided."""
    reasons = trouble(record, QUANTITY)
    if NO_SAMPLES in reasons and record.complete:
        reasons.append(OLDER)
    beside_work = any(p.quantity == QUANTITY and WORK in p.at for p in record.points)
    programs = [p.facts for p in record.select(about=True) if p.facts.get("mode") == MODE]
    if beside_work and any("work" not in facts for facts in programs if not facts.get("bisect")):
        reasons.append(OLDER_WORK)
    return reasons


def measured(record: Record, *lengths: str) -> bool:
    """Whether the Record has samples in mpptest's way, of a sweep of one of these lengths."""
    swept = lengths or (MESSAGES, WORK)
    return any(point.samples for length in swept for point in sweep_of(record, length).points)


def printed(record: Record, length: str = MESSAGES) -> pd.DataFrame:
    """What mpptest prints, by ranks, protocol and length: time and rate, the best and the median with its interval.

    The length is that of the MESSAGES or of the WORK. LabError when the Record has no such samples.
    """
    rows = summarised(sweep_of(record, length), QUANTITY, ["ranks", "bisect", "protocol", length])
    times = (rows["ranks"] / 2).where(rows["bisect"], 1)  # a rank that looks on is half a pair
    bits = 8 * rows[length] * times  # a microsecond: Mbit/s
    return (
        rows[["ranks", "protocol", "n"]]
        .assign(
            length_bytes=rows[length],
            calls=rows["protocol"].map(NAMES),
            best_us=rows["min"],
            half_round_trip_us=rows["median"],
            low_us=rows["low"],
            high_us=rows["high"],
            best_mbit_per_s=bits / rows["min"],
            rate_mbit_per_s=bits / rows["median"],
            low=bits / rows["high"],
            high=bits / shortest(rows),
        )
        .sort_values(["ranks", "calls", "length_bytes"], ignore_index=True)
    )


def similar_calls(record: Record, swept: str = MESSAGES) -> dict[tuple[int, int], Ratio]:
    """By number of ranks and length, how many times the blocking time the non-blocking calls take."""
    by = dict[tuple[int, int], Ratio]()
    record = sweep_of(record, swept)
    for ranks, length in sorted({(int(p.at["ranks"]), int(p.at[swept])) for p in record.points}):
        at = {"ranks": ranks, swept: length}
        compared = pairs(record, QUANTITY, "protocol", "async", "blocking", **at)
        (by[ranks, length],) = ratios(compared).values()  # beside work the message has one size
    return by


def at_the_longest(rows: pd.DataFrame, protocol: str) -> dict[int, dict[str, float]]:
    """Of what is printed, by number of ranks, the row of the largest length."""
    chosen = rows[
        (rows["protocol"] == protocol) & (rows["length_bytes"] == rows["length_bytes"].max())
    ]
    return {int(row["ranks"]): row for row in chosen.sort_values("ranks").to_dict("records")}


def rate_of(row: dict[str, float]) -> Span:
    """The interval of a row's rate."""
    return Span(row["low"], row["high"])


def sweep_of(record: Record, length: str) -> Record:
    """The Record with the samples of one sweep alone: of messages, or of work."""
    points = [p for p in record.points if p.quantity == QUANTITY]
    return replace(record, points=[p for p in points if (WORK in p.at) == (length == WORK)])
