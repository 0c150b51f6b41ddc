"""What each knob gained, from a Record of before and after: in per cent, in microseconds, mean and deviation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from beowulf import papers
from beowulf.errors import LabError
from beowulf.measure.roundtrips import HALF
from beowulf.measure.statistics import Pairs, Ratio
from beowulf.record import Point, Record
from beowulf.tuning.ab_comparison import (
    AFTER,
    BEFORE,
    Decision,
    Described,
    decide,
    described,
    pairs,
    sentence,
)
from beowulf.verdict import Outcome

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

TOGETHER = "all together"
# In which way it was removed; the last is a firewall that tracks connections instead of comparing addresses.
ALONE, LATER, CONNTRACK = "alone", "after the others", "as conntrack"
PAPERS_PERCENT = papers.figure("E-knobs", "value", what=TOGETHER, finding="mean latency")


@dataclass(frozen=True)
class Gain:
    """One knob, turned one way: how much shorter half a round trip is then, over all launches."""

    knob: str
    way: str
    ratio: Ratio  # after over before
    before: Described
    after: Described
    deviations: Ratio  # of the samples of each launch: after over before
    decision: Decision

    @property
    def percent(self) -> Ratio:
        """The change; less than 0 is faster."""
        return self.ratio.change_percent

    @property
    def outcome(self) -> Outcome:
        """What the decision makes of the claim that the change gains."""
        decided: dict[Decision, Outcome] = {"faster": "holds", "inconclusive": "inconclusive"}
        return decided.get(self.decision, "contradicted")


def cycles(record: Record) -> dict[tuple[str, str], dict[int, tuple[Point, Point]]]:
    """By knob and way the Points of before and after of each launch that has both."""
    found: dict[tuple[str, str], dict[int, dict[str, Point]]] = {}
    for point in record.points:
        if point.quantity == HALF and point.at.get("state") in (BEFORE, AFTER):
            place = str(point.at.get("knob", "")), str(point.at.get("way", ALONE))
            states = found.setdefault(place, {}).setdefault(int(point.at.get("launch", 0)), {})
            states[point.at["state"]] = point
    return {
        place: {n: (each[BEFORE], each[AFTER]) for n, each in launches.items() if len(each) == 2}
        for place, launches in found.items()
    }


def gains(record: Record) -> list[Gain]:
    """All comparisons of the Record, in its order; LabError when there is none."""
    compared = [
        _gain(*place, launches, busy=record.busy) for place, launches in cycles(record).items()
    ]
    if not any(compared):
        raise LabError(
            "The Record compares no knob: none can be turned here, or the measurement was cut short.",
            "`beowulf tune` lists the knobs of this cluster.",
        )
    return [each for each in compared if each]


def gain(record: Record, knob: str, way: str = ALONE) -> Gain | None:
    """What one knob gained, or None when that was not measured."""
    try:
        known = gains(record)
    except LabError:
        return None
    return next((each for each in known if (each.knob, each.way) == (knob, way)), None)


def absent(record: Record, knob: str) -> str:
    """Why a knob was not measured; empty when no reason is noted."""
    return next((p.facts["absent"] for p in record.select(knob=knob) if "absent" in p.facts), "")


def says(seen: Gain) -> str:
    """The name of a comparison for a reader."""
    return seen.knob if seen.way == ALONE else f"{seen.knob} {seen.way}"


def medians(seen: Gain) -> str:
    """The change of the pairs, and next to it the medians of all samples."""
    return sentence(seen.ratio, seen.before.median, seen.after.median)


def table(known: Sequence[Gain]) -> pd.DataFrame:
    """Paper E's table 3: mean and deviation before and after, and next to them the percentiles."""
    import pandas as pd

    rows = []
    for each in known:
        row: dict[str, object] = {"knob": says(each)}
        for state, seen in ((BEFORE, each.before), (AFTER, each.after)):
            row |= {f"mean_{state}_us": seen.mean, f"deviation_{state}_us": seen.deviation}
            row |= {f"p{p}_{state}_us": value for p, value in seen.percentiles.items()}
        change = each.percent
        row |= {"change_percent": change.median, "low": change.low, "high": change.high}
        row |= {"pairs": each.ratio.n, "n": each.before.n + each.after.n}
        means = 100 * (each.after.mean / each.before.mean - 1)
        rows.append({**row, "decision": each.decision, "means_percent": means})
    return pd.DataFrame(rows)


def picture(record: Record, title: str, name: Callable[[Gain], str] = says) -> Figure:
    """The change of each comparison with its interval, and paper E's; the table has mean and deviation."""
    from beowulf.figures.segments import Value, intervals

    known = gains(record)
    measured = [
        Value(name(each), each.percent.median, each.percent.low, each.percent.high, "measured")
        for each in known
    ]
    papers_ = [
        Value.published(each, PAPERS_PERCENT) for each in map(name, known) if each == TOGETHER
    ]
    drawn = intervals(
        measured + papers_,
        title=title,
        value_title="half round trip, change (%): median of the pairs",
    )
    return replace(drawn, table=table(known))


def _gain(
    knob: str, way: str, launches: Mapping[int, tuple[Point, Point]], *, busy: bool
) -> Gain | None:
    both, deviations = Pairs(busy=busy), Pairs(busy=busy)
    for launch, (before, after) in launches.items():
        if here := pairs(before, after):
            both.add(launch, *zip(*here, strict=True))
            deviations.add(launch, [described(after).deviation], [described(before).deviation])
    if not both.values:
        return None
    before_all, after_all = zip(*launches.values(), strict=True)
    return Gain(
        knob,
        way,
        both.ratio(),
        described(*before_all),
        described(*after_all),
        deviations.ratio(),
        decide(both.values, launches=both.launches, busy=busy),
    )
