"""How the studies of the wire judge: pairs of captures of one round, compared by differences and ratios.

A launch is one observation of a share or a rate, however many packets it has. So the intervals are over
launches, and a claim is inconclusive when its interval holds the value that it should keep apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from beowulf.errors import LabError
from beowulf.measure import quality
from beowulf.measure.judgement import narrower, together, verdict
from beowulf.measure.roundtrips import HALF
from beowulf.measure.statistics import Ratio, Summary, ratio, summary
from beowulf.record import Record
from beowulf.studies.lab_06.wire_shares import rows, uncut
from beowulf.verdict import Outcome, Verdict

if TYPE_CHECKING:
    import pandas as pd

FEWEST_LAUNCHES = 5  # the range of 5 holds the median with 94 %
RATE_MATTERS = 0.05  # a rate that changes by less is not called another one
POINTS_MATTER = 1.0  # of 100; the paper calls shares alike that are 0.6 points apart

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
    found = rows(record)
    both = [_chosen(found, place) for place in (part.one, part.other)]
    rounds = both[0].merge(both[1], on="launch", suffixes=("_one", "_other"))
    if len(rounds) < FEWEST_LAUNCHES:
        raise LabError(f"{len(rounds)} rounds have both, and {FEWEST_LAUNCHES} are needed.")
    columns = (rounds[f"{quantity}_one"], rounds[f"{quantity}_other"])
    return [(float(a), float(b)) for a, b in zip(*columns, strict=True)]


def _chosen(found: pd.DataFrame, at: Place) -> pd.DataFrame:
    for name, value in at.items():
        found = found[found[name] == value]
    return found


def lower(found: Ratio, papers: float = 1.0) -> Outcome:
    """Whether a rate is lower by an amount that matters.

    Contradicted by what excludes even half the drop of the paper, whose ratio is `papers`.
    """
    matters = 1 - RATE_MATTERS
    if found.high < matters:
        return "holds"
    return "contradicted" if found.low >= min((1 + papers) / 2, matters) else "inconclusive"


def higher(found: Ratio) -> Outcome:
    """Whether a rate is higher by an amount that matters."""
    return _beyond(found.low, found.high, 1 + RATE_MATTERS)


def above(found: Summary, points: float) -> Outcome:
    """Whether a difference is above so many points."""
    return _beyond(found.low, found.high, points)


def below(found: Summary, points: float) -> Outcome:
    """Whether a difference is below so many points."""
    return _beyond(-found.high, -found.low, -points)


def lowered(found: Summary, papers: float) -> Outcome:
    """Whether a share is lower at all; contradicted by what excludes a drop as small as the paper's `papers` points."""
    if below(found, 0.0) == "holds":
        return "holds"
    return "contradicted" if found.low > -papers else "inconclusive"


def raised(found: Summary, papers: float) -> Outcome:
    """Whether a share is higher at all; contradicted by what excludes a rise as small as the paper's."""
    if above(found, 0.0) == "holds":
        return "holds"
    return "contradicted" if found.high < papers else "inconclusive"


def risen(found: Summary) -> Outcome:
    """Whether a share is higher; contradicted when it is lower."""
    return _beyond(found.low, found.high, 0.0)


def alike(found: Summary, points: float = POINTS_MATTER) -> Outcome:
    """Whether a difference is smaller than so many points, either way."""
    if -points < found.low and found.high < points:
        return "holds"
    return "contradicted" if found.low > points or found.high < -points else "inconclusive"


def _beyond(low: float, high: float, threshold: float) -> Outcome:
    if low > threshold:
        return "holds"
    return "contradicted" if high <= threshold else "inconclusive"


def in_points(found: Summary) -> str:
    """A difference of shares with its interval, as a reader wants it."""
    return f"{found.median:+.2f} points ({found.low:+.2f} to {found.high:+.2f})"


def times(found: Ratio) -> str:
    """A ratio with its interval."""
    return f"{found.median:.2f} times ({found.low:.2f} to {found.high:.2f})"


def on_rates(
    record: Record, claim: str, says: str, parts: Mapping[str, Part], quantity: str
) -> Verdict:
    """The Verdict on how often a rate at one place is that at another; a busy machine leaves it open."""
    # The interval is over launches.
    bad = [*quality.trouble(record, HALF, alike=math.inf), *uncut(record)]
    try:
        found = {name: ratio(_pairs(record, part, quantity)) for name, part in parts.items()}
    except LabError as problem:
        return _unmeasured(record, claim, says, problem)
    outcomes = {name: parts[name].has_to_be(each) for name, each in found.items()}
    said = [f"{name}: {times(each)}" for name, each in found.items()]
    return _judged(record, claim, says, outcomes, said, found, bad)


def on_shares(
    record: Record, claim: str, says: str, parts: Mapping[str, Part], quantity: str
) -> Verdict:
    """The Verdict on how many points a share at one place is above that at another: counted, not timed."""
    bad = _cut_short(record) + uncut(record)
    try:
        found = {
            name: summary([a - b for a, b in _pairs(record, part, quantity)])
            for name, part in parts.items()
        }
    except LabError as problem:
        return _unmeasured(record, claim, says, problem)
    outcomes = {name: parts[name].has_to_be(each) for name, each in found.items()}
    said = [f"{name}: {in_points(each)}" for name, each in found.items()]
    return _judged(record, claim, says, outcomes, said, found, bad)


def _judged(
    record: Record,
    claim: str,
    says: str,
    outcomes: Mapping[str, Outcome],
    said: Sequence[str],
    found: Mapping[str, Ratio | Summary],
    bad: Sequence[str],
) -> Verdict:
    outcome = together(list(outcomes.values()))
    advice = narrower(record) if outcome == "inconclusive" else ""
    numbers = {
        f"{name}, {part}": getattr(each, part)
        for name, each in found.items()
        for part in ("median", "low", "high")
    }
    evidence = "; ".join(said)
    return verdict(
        record, claim, says, outcome, evidence, advice=advice, numbers=numbers, trouble=bad
    )


def _cut_short(record: Record) -> list[str]:
    return [] if record.complete else ["the measurement was cut short"]


def _unmeasured(record: Record, claim: str, says: str, problem: LabError) -> Verdict:
    """The Verdict on a claim for which the Record has too little, as after Ctrl-C."""
    advice = f"`beowulf study {record.study}` measures it; let it run to its end."
    advice = _other_library(record) or advice
    return verdict(record, claim, says, "inconclusive", problem.what, advice=advice)


def _other_library(record: Record) -> str:
    """Why no message can be found in the captures of this cluster; empty where they can."""
    if record.cluster.get("mpi", "classic") == "classic":
        return ""
    return (
        "Only the messages of classic MPICH can be read off a capture."
        " `beowulf up --mpi classic` boots a cluster with it."
    )


EVERY_MESSAGE = "every-message-seen"
EVERY_MESSAGE_SAYS = (
    "Each message that the program sent is on the wire once, with its length and tag"
)


def every_message(record: Record) -> Verdict:
    """Whether the messages in the captures are those that the program says it sent: count and bytes."""
    claim, says = EVERY_MESSAGE, EVERY_MESSAGE_SAYS
    points = [p.facts for p in record.points if "matched" in p.facts]
    if not points:
        return _unmeasured(record, claim, says, LabError("No launch was captured to its end."))
    sent = sum(count["messages"] for each in points for count in each["sent"])
    size = sum(count["bytes"] for each in points for count in each["sent"])
    captured = sum(count["messages"] for each in points for count in each["captured"])
    differ = [each for each in points if not each["matched"]]
    excused = [
        each for each in differ if each["capture"]["dropped"] or each["segments_not_understood"]
    ]
    outcome: Outcome = "holds"
    evidence = f"{captured:,} of {sent:,} messages with {size:,} bytes, in {len(points)} launches"
    advice = ""
    if differ:
        excuse = len(excused) == len(differ) or _other_library(record)
        outcome = "inconclusive" if excuse else "contradicted"
        evidence += f"; {len(differ)} launches differ"
    if outcome == "inconclusive":
        evidence += ", where packets were dropped or could not be read"
        advice = _other_library(record) or "Measure again on a machine that is left alone."
    numbers = {"sent": sent, "captured": captured, "launches": len(points), "differ": len(differ)}
    bad = _cut_short(record)
    return verdict(
        record, claim, says, outcome, evidence, advice=advice, numbers=numbers, trouble=bad
    )


def only_tcp(record: Record, says: str, least_percent: float) -> Verdict:
    """Whether at least so many percent of the packets are TCP in each capture."""
    claim = "nearly-all-tcp"
    try:
        least = float(rows(record)["tcp_percent"].min())
    except LabError as problem:
        return _unmeasured(record, claim, says, problem)
    outcome: Outcome = "holds" if least >= least_percent else "contradicted"
    evidence = f"TCP has {least:.2f} % of the packets or more"
    bad = _cut_short(record)
    numbers = {"tcp_percent": least}
    return verdict(record, claim, says, outcome, evidence, numbers=numbers, trouble=bad)
