"""The claims of the studies of the wire: pairs of captures of one round, compared by differences and ratios.

A launch is one observation of a share or a rate, however many packets it has. So the intervals are over
launches. A change that the paper prints holds where at least half of it is there, and is contradicted where less is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from beowulf import papers
from beowulf.errors import LabError
from beowulf.measure.judgement import narrower, reaches, together, within
from beowulf.measure.quality import cut_short, trouble
from beowulf.measure.roundtrips import HALF
from beowulf.measure.statistics import LEAST_PAIRS, Ratio, Summary, ratio, summary
from beowulf.record import Record
from beowulf.studies.study import Claim, Judgement
from beowulf.studies.wire_shares import rows, uncut
from beowulf.verdict import Outcome

if TYPE_CHECKING:
    import pandas as pd

POINTS_MATTER = 1.0  # of 100; the paper calls shares alike that are 0.6 points apart

# Around a share of the paper's: its short messages have 98 % and its long ones 70, so that 5 points confuse neither.
LEVEL_POINTS = 5.0

# What one measurement looks like: {"protocol": …, "message_bytes": …, "overlap_bytes": …}
Place = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """One of the comparisons of a claim: a quantity at `one` place, at another, and what has to come out."""

    one: Place
    other: Place
    has_to_be: Callable[[Any], Outcome]  # of a Ratio or of a Summary of differences


def _pairs(record: Record, part: Part, quantity: str) -> list[tuple[float, float]]:
    """The quantity at both places, a pair for each round; LabError for too few of them."""
    launches = rows(record)
    both = [_chosen(launches, place) for place in (part.one, part.other)]
    rounds = both[0].merge(both[1], on="launch", suffixes=("_one", "_other"))
    if len(rounds) < LEAST_PAIRS:
        raise LabError(f"{len(rounds)} rounds have both, and {LEAST_PAIRS} are needed.")
    columns = (rounds[f"{quantity}_one"], rounds[f"{quantity}_other"])
    return [(float(a), float(b)) for a, b in zip(*columns, strict=True)]


def _chosen(launches: pd.DataFrame, at: Place) -> pd.DataFrame:
    for name, value in at.items():
        launches = launches[launches[name] == value]
    return launches


def changes_as(published: float) -> Callable[[Ratio], Outcome]:
    """Whether a rate changes as in the paper, where it became so many times itself: at least half as much."""
    return partial(reaches, published=published, none=1.0)


def moves_as(published: float) -> Callable[[Summary], Outcome]:
    """Whether a share moves as in the paper, by so many points: at least half as many."""
    return partial(reaches, published=published, none=0.0)


def printed(quantity: str, where: str, calls: str, message_bytes: object, overlap: int) -> float:
    """What paper A has for a conversation; an empty size where it only says 'long'."""
    at = {"where": where, "calls": calls, "message_bytes": message_bytes, "overlap_bytes": overlap}
    return papers.figure("A-wire", quantity, **at)


def alike(points: Summary) -> Outcome:
    """Whether a difference is smaller than a point, either way."""
    return within(points, -POINTS_MATTER, POINTS_MATTER)


def on_rates(name: str, says: str, parts: Mapping[str, Part], quantity: str) -> Claim:
    """How often a rate at one place is that at another; a busy machine leaves it open."""

    def judge(record: Record) -> Judgement:
        try:
            seen = {
                part: ratio(_pairs(record, each, quantity), busy=record.busy)
                for part, each in parts.items()
            }
        except LabError as problem:
            return _unmeasured(record, problem.message)
        return _compared(record, parts, seen, "{:.2f} times ({:.2f} to {:.2f})")

    return Claim(name, says, judge, troubles=timed)


def on_shares(name: str, says: str, parts: Mapping[str, Part], quantity: str) -> Claim:
    """How many points a share at one place is above that at another: counted, not timed."""

    def judge(record: Record) -> Judgement:
        try:
            seen = {
                part: summary([a - b for a, b in _pairs(record, each, quantity)])
                for part, each in parts.items()
            }
        except LabError as problem:
            return _unmeasured(record, problem.message)
        return _compared(record, parts, seen, "{:+.2f} points ({:+.2f} to {:+.2f})")

    return Claim(name, says, judge, troubles=counted)


def share_is(name: str, says: str, levels: Mapping[str, tuple[Place, float]]) -> Claim:
    """Whether data and short messages together are LEVEL_POINTS from the paper's share or less, at each place.

    The paper's dissector splits them by chance: a short message is a data segment that looked like another protocol.
    """

    def judge(record: Record) -> Judgement:
        try:
            seen = {part: _level(record, at) for part, (at, _) in levels.items()}
        except LabError as problem:
            return _unmeasured(record, problem.message)
        outcomes = [
            within(seen[part], percent - LEVEL_POINTS, percent + LEVEL_POINTS)
            for part, (_, percent) in levels.items()
        ]
        return _summed_up(record, outcomes, seen, "{:.2f} % ({:.2f} to {:.2f})")

    return Claim(name, says, judge, troubles=counted)


def _level(record: Record, at: Place) -> Summary:
    launches = _chosen(rows(record), at)["data_percent"].tolist()
    if len(launches) < LEAST_PAIRS:
        raise LabError(f"{len(launches)} launches have it, and {LEAST_PAIRS} are needed.")
    return summary(launches)


def _compared(
    record: Record, parts: Mapping[str, Part], seen: Mapping[str, Ratio | Summary], words: str
) -> Judgement:
    outcomes = [parts[part].has_to_be(each) for part, each in seen.items()]
    return _summed_up(record, outcomes, seen, words)


def _summed_up(
    record: Record, outcomes: Sequence[Outcome], seen: Mapping[str, Ratio | Summary], words: str
) -> Judgement:
    return Judgement(
        together(outcomes),
        "; ".join(
            f"{part}: {words.format(each.median, each.low, each.high)}"
            for part, each in seen.items()
        ),
        {
            f"{part}, {name}": getattr(each, name)
            for part, each in seen.items()
            for name in ("median", "low", "high")
        },
        advice=narrower(record),
    )


def timed(record: Record) -> list[str]:
    """Why no rate may be judged. The interval is over launches, so they may differ."""
    return [*trouble(record, HALF, similar_within=math.inf), *uncut(record)]


def counted(record: Record) -> list[str]:
    """Why no share may be judged."""
    return [*broken_off(record), *uncut(record)]


def broken_off(record: Record) -> list[str]:
    """Why not even what was counted may be judged."""
    return [] if record.complete else [cut_short(record)]


def _unmeasured(record: Record, why: str) -> Judgement:
    """The Judgement where the Record has too little, as after Ctrl-C."""
    advice = f"`beowulf study {record.study}` measures it; let it run to its end."
    return Judgement(
        "inconclusive", why.rstrip("."), {}, **{"advice": advice, **_other_library(record)}
    )


def _other_library(record: Record) -> dict[str, str]:
    """Why no message can be seen in the captures of this cluster, as a Judgement says it; empty where they can."""
    if record.cluster.get("mpi", "classic") == "classic":
        return {}
    return {
        "but": "only the messages of classic MPICH can be read off a capture",
        "advice": "`beowulf up --mpi classic` boots a cluster with it.",
    }


def _every_message(record: Record) -> Judgement:
    points = [p.facts for p in record.points if "matched" in p.facts]
    if not points:
        return _unmeasured(record, "No launch was captured to its end.")
    sent = sum(count["messages"] for each in points for count in each["sent"])
    size = sum(count["bytes"] for each in points for count in each["sent"])
    captured = sum(count["messages"] for each in points for count in each["captured"])
    differ = [each for each in points if not each["matched"]]
    excused = all(each["capture"]["dropped"] or each["segments_not_understood"] for each in differ)
    outcome: Outcome = "holds"
    evidence = f"{captured:,} of {sent:,} messages with {size:,} bytes, in {len(points)} launches"
    if differ:
        outcome = "inconclusive" if excused else "contradicted"
        evidence += f"; {len(differ)} launches differ"
        evidence += ", where packets were dropped or could not be read" if excused else ""
    return Judgement(
        outcome,
        evidence,
        {"sent": sent, "captured": captured, "launches": len(points), "differ": len(differ)},
        **{
            "advice": "Measure again on a machine that is left alone.",
            **(_other_library(record) if differ else {}),
        },
    )


EVERY_MESSAGE = Claim(
    "every-message-seen",
    "Each message that the program sent is on the wire once, with its length and tag",
    _every_message,
    troubles=broken_off,
)


def only_tcp(says: str, least_percent: float) -> Claim:
    """Whether at least so many percent of the packets are TCP in each capture."""

    def judge(record: Record) -> Judgement:
        try:
            least = float(rows(record)["tcp_percent"].min())
        except LabError as problem:
            return _unmeasured(record, problem.message)
        return Judgement(
            "holds" if least >= least_percent else "contradicted",
            f"TCP has {least:.2f} % of the packets or more",
            {"tcp_percent": least},
        )

    return Claim("nearly-all-tcp", says, judge, troubles=broken_off)
