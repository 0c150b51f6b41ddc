"""The claims of the studies of the wire: pairs of captures of one round, compared by differences and ratios.

A launch is one observation of a share or a rate, however many packets it has, so the intervals are over launches. A
change that the paper prints holds if at least half of it is measured, and is contradicted if less is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from beowulf import papers
from beowulf.errors import LabError
from beowulf.measure.quality import cut_short, trouble
from beowulf.measure.roundtrips import HALF
from beowulf.measure.statistics import LEAST_PAIRS, Ratio, Summary, ratio, summary
from beowulf.record import Record
from beowulf.studies.quantity import TIMES, Judge, Quantity, all_hold, exactly
from beowulf.studies.study import Claim, Judgement
from beowulf.studies.wire_costs import counting
from beowulf.studies.wire_shares import rows, uncut

if TYPE_CHECKING:
    import pandas as pd

# Of 100; at 2 bytes, the paper's calls differ by at most 0.43 points (72.87 and 73.30 %).
POINTS_MATTER = 1.0

# Around the paper's share. Its short messages have 97 to 98 % and its long ones 70 %: 5 points distinguish them.
LEVEL_POINTS = 5.0

# One measurement: {"protocol": …, "message_bytes": …, "overlap_bytes": …}
Place = Mapping[str, Any]
# By name in the evidence: a place, and the place that it is compared with.
Places = Mapping[str, tuple[Place, Place]]


def times(column: str, places: Places) -> list[Quantity]:
    """The quotient of a rate at two places; a busy machine widens the interval."""

    def quotient(both: tuple[Place, Place], record: Record) -> Ratio:
        return ratio(_pairs(record, column, *both), busy=record.busy)

    return [Quantity(says, partial(quotient, both), TIMES) for says, both in places.items()]


def points(column: str, places: Places) -> list[Quantity]:
    """The difference of a share at two places, in percentage points: counted, not timed."""

    def above(both: tuple[Place, Place], record: Record) -> Summary:
        return summary([a - b for a, b in _pairs(record, column, *both)])

    return [Quantity(says, partial(above, both), "points") for says, both in places.items()]


def _pairs(record: Record, column: str, one: Place, other: Place) -> list[tuple[float, float]]:
    """A column at both places, a pair for each round; LabError for too few pairs."""
    here, there = (_chosen(record, at).set_index("launch")[column] for at in (one, other))
    rounds = here.to_frame("one").join(there.rename("other"), how="inner")
    if len(rounds) < LEAST_PAIRS:
        raise LabError(f"Rounds with both values: {len(rounds)}; {LEAST_PAIRS} are needed.")
    return list(zip(rounds["one"].tolist(), rounds["other"].tolist(), strict=True))


def _chosen(record: Record, at: Place) -> pd.DataFrame:
    launches = rows(record)
    for name, value in at.items():
        launches = launches[launches[name] == value]
    return launches


def alike(shares: Iterable[Quantity]) -> list[Judge]:
    """Whether shares differ by less than a point, either way."""
    return [each.within(-POINTS_MATTER, POINTS_MATTER) for each in shares]


def reaching(changes: Iterable[Quantity], published: Iterable[float]) -> list[Judge]:
    """Whether each changes as in the paper: at least half as much."""
    return [each.reaches(change) for each, change in zip(changes, published, strict=True)]


def level(says: str, at: Place, percent: float) -> Judge:
    """Whether data and short messages together are within LEVEL_POINTS of the paper's share.

    The paper's dissector separates them by chance: a short message is a data segment that looked like another protocol.
    """

    def share(record: Record) -> Any:
        launches = _chosen(record, at)["data_percent"].tolist()
        if len(launches) < LEAST_PAIRS:
            raise LabError(f"Launches with this share: {len(launches)}; {LEAST_PAIRS} are needed.")
        return summary(launches)

    return Quantity(says, share, "percent of the packets").within(
        percent - LEVEL_POINTS, min(percent + LEVEL_POINTS, 100.0)
    )


def printed(quantity: str, where: str, calls: str, message_bytes: object, overlap: int) -> float:
    """What paper A prints for a conversation; the size is empty where the paper says only 'long'."""
    at = {"where": where, "calls": calls, "message_bytes": message_bytes, "overlap_bytes": overlap}
    return papers.figure("A-wire", quantity, **at)


def of_rates(name: str, says: str, judges: Iterable[Judge]) -> Claim:
    """A claim on times."""
    return Claim(name, says, counting(all_hold(*judges)), troubles=timed)


def of_shares(name: str, says: str, judges: Iterable[Judge]) -> Claim:
    """A claim on counts, which a busy machine does not change."""
    return Claim(name, says, counting(all_hold(*judges)), troubles=counted)


def timed(record: Record) -> list[str]:
    """Why no rate may be judged. The interval is over launches, so they may differ."""
    return [*trouble(record, HALF, similar_within=math.inf), *uncut(record)]


def counted(record: Record) -> list[str]:
    """Why no share may be judged."""
    return [*broken_off(record), *uncut(record)]


def broken_off(record: Record) -> list[str]:
    """Why not even what was counted may be judged."""
    return [] if record.complete else [cut_short(record)]


@counting
def _every_message(record: Record) -> Judgement:
    launches = [point.facts for point in record.points if "matched" in point.facts]
    if not launches:
        raise LabError("No launch was captured to the end.")
    sent = sum(count["messages"] for each in launches for count in each["sent"])
    size = sum(count["bytes"] for each in launches for count in each["sent"])
    captured = sum(count["messages"] for each in launches for count in each["captured"])
    differ = [each for each in launches if not each["matched"]]
    excused = all(each["capture"]["dropped"] or each["segments_not_understood"] for each in differ)
    evidence = f"{captured:,} of {sent:,} messages with {size:,} bytes, in {len(launches)} launches"
    numbers = {"sent": sent, "captured": captured, "launches": len(launches), "differ": len(differ)}
    if not differ:
        return Judgement("holds", evidence, numbers)
    evidence += f"; {len(differ)} launches differ"
    if excused:
        evidence += ", where packets were dropped or could not be read"
    return Judgement("inconclusive" if excused else "contradicted", evidence, numbers)


EVERY_MESSAGE = Claim(
    "every-message-seen",
    "Each message that the program sent is on the wire once, with its length and tag",
    _every_message,
    troubles=broken_off,
)


def only_tcp(says: str, least_percent: float) -> Claim:
    """Whether at least this percentage of the packets is TCP in each capture."""
    least = Quantity(
        "TCP in each capture at least",
        lambda record: exactly(float(rows(record)["tcp_percent"].min())),
        "percent of the packets",
    )
    judge = counting(least.within(least_percent, 100.0))
    return Claim("nearly-all-tcp", says, judge, troubles=broken_off)
