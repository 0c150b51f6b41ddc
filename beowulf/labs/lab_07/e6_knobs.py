"""E6, paper E's table 3 and figure 4: each knob alone, and all together, mean and deviation.

The state before is made first, on the two nodes that measure (beowulf/tuning/paper_e_baseline.py). What each part of it
costs follows from how much of it is put in. What does not follow, and is the question here, is which of it can
be felt beside the rest, and whether the gains add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from beowulf import papers
from beowulf.cluster import Cluster
from beowulf.cluster.description import on_one_machine
from beowulf.figures import Figure
from beowulf.labs.lab_07 import knob_gains
from beowulf.labs.lab_07.knob_gains import (
    ALONE,
    CONNTRACK,
    LATER,
    TOGETHER,
    Gain,
    absent,
    gain,
    medians,
    says,
)
from beowulf.measure.judgement import narrower, within
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import HALF, need_nodes
from beowulf.measure.statistics import LEAST_PAIRS, Summary
from beowulf.record import Point, Record
from beowulf.studies.states import KNOBS, emulated
from beowulf.studies.study import Claim, Judgement, Plan, Study, undecided
from beowulf.tuning.ab_comparison import Length, compare
from beowulf.tuning.change import Changes, changing
from beowulf.tuning.knobs import ALL
from beowulf.tuning.paper_e_baseline import (
    FIREWALL,
    IRQBALANCE,
    LOW_LATENCY,
    MODERATION,
    absent_knobs,
    away,
    machines_parts,
    parts,
)
from beowulf.verdict import Outcome

LAUNCHES, QUICK_LAUNCHES = LEAST_PAIRS, 2
QUICK_LENGTH = Length(blocks=6, most_blocks=6, samples=20)
ABOUT_PERCENT = 10.0  # around the paper's 54
HALVED = (0.35, 0.65)  # of the deviation is left, where it is nearly halved
ADDS_UP_PERCENT = 3.0  # a smaller difference between the sum and the whole is none
CONNECTIONS = (
    "conntrack"  # a firewall that remembers every connection, as the systems of today have it
)
ON_PCS = "Measure on virtual machines or on real PCs."


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """Take away one part of the testbed's state, then all of it, each alternating with the whole of it.

    The paper's knobs of whole machines are turned too, each alone, where the nodes are machines of their own.
    """
    need_nodes(cluster, 2)
    launches = QUICK_LAUNCHES if quick else LAUNCHES
    missing, here = absent_knobs(cluster), parts(cluster)
    own = machines_parts(missing)

    def steps(measurement: Measurement) -> None:
        measurement.points.extend(absent_points(missing))
        if here:
            for launch in range(launches):
                one_launch(measurement, here, own, launch, QUICK_LENGTH if quick else None)

    more = (2 if len(here) > 1 else 0) + (1 if FIREWALL in here else 0)
    planned = launches * (len(here) + len(own) + more)
    return Plan(planned, {"testbed": here, "machine": own, "launches": launches}, steps)


def absent_points(missing: Mapping[str, str]) -> Iterable[Point]:
    """The knobs that cannot be turned, and why."""
    return (Point({"knob": name}, facts={"absent": why}) for name, why in missing.items())


def one_launch(
    measurement: Measurement,
    testbed: dict[str, str],
    own: dict[str, str],
    launch: int,
    length: Length | None,
) -> None:
    """Each part alone; all together; the firewall when nothing else is left; and another firewall, alone as well."""
    nodes = measurement.cluster.nodes[:2]
    turns = [(ALL[name], value) for name, value in (testbed | own).items()]

    def at(knob: str, way: str) -> dict[str, object]:
        return {"knob": knob, "way": way, "launch": launch}

    with changing(measurement.cluster, turns, nodes=nodes) as changes:
        turned = {each.knob.name: each for each in changes.each}
        made = {name: turned[name] for name in testbed}
        Changes(list(made.values()))(True)
        for name, part in made.items():
            compare(measurement, away(part), at=at(name, ALONE), length=length)
        for name in own:
            compare(measurement, turned[name], at=at(name, ALONE), length=length)
        if len(made) > 1:
            everything = away(*made.values())
            compare(measurement, everything, at=at(TOGETHER, ALONE), length=length)
            made[MODERATION](False)
            compare(measurement, away(made[FIREWALL]), at=at(FIREWALL, LATER), length=length)
    if FIREWALL in testbed:
        turn = (ALL[FIREWALL], CONNECTIONS)
        with changing(measurement.cluster, [turn], nodes=nodes) as changes:
            changes(True)
            compare(measurement, away(*changes.each), at=at(FIREWALL, CONNTRACK), length=length)


def not_here(record: Record, knob: str) -> Judgement:
    """That a knob was not measured, and why."""
    return undecided(absent(record, knob) or f"{knob} was not measured", ON_PCS)


def without(record: Record, knob: str, seen: Gain) -> str:
    """What a knob was set to before, and what it changes to take it away."""
    value = record.sweep.get("testbed", {}).get(knob, "")
    unit = {MODERATION: "µs", FIREWALL: "rules"}[knob]
    made = "a stand-in of " if knob == MODERATION and on_one_machine(record.cluster) else ""
    return f"without {knob} ({made}{value} {unit}): {change(seen.percent)}"


def change(percent: Summary) -> str:
    """A change in per cent, with its interval."""
    return f"{percent.median:+.1f} % ({percent.low:+.1f} to {percent.high:+.1f})"


def moderation_most(record: Record) -> Judgement:
    """The gain of moderation beside that of the firewall."""
    first, second = gain(record, MODERATION), gain(record, FIREWALL)
    if not first or not second:
        return not_here(record, FIREWALL if first else MODERATION)
    outcome: Outcome = "inconclusive"
    if first.decision in ("no effect", "slower") or first.ratio.low > second.ratio.high:
        outcome = "contradicted"
    elif first.decision == "faster" and first.ratio.high < second.ratio.low:
        outcome = "holds"
    evidence = f"{without(record, MODERATION, first)}; {without(record, FIREWALL, second)}"
    numbers = {"moderation": first.ratio.median, "firewall": second.ratio.median}
    return Judgement(outcome, evidence, numbers)


def firewall_contributes(record: Record) -> Judgement:
    """The gain of the firewall, alone; when moderation is gone already, and of one of another kind, beside it."""
    alone, later = gain(record, FIREWALL), gain(record, FIREWALL, LATER)
    if not alone:
        return not_here(record, FIREWALL)
    evidence = f"{without(record, FIREWALL, alone)}, {alone.decision}"
    numbers = {ALONE: alone.ratio.median}
    if later:
        evidence += f"; when moderation is gone already: {change(later.percent)}, {later.decision}"
        numbers[LATER] = later.ratio.median
    if other := gain(record, FIREWALL, CONNTRACK):
        evidence += (
            f"; one that follows connections instead, with nothing else put in:"
            f" {change(other.percent)}, {other.decision}"
        )
        numbers[CONNTRACK] = other.ratio.median
    return Judgement(alone.outcome, evidence, numbers)


def matters_little(knob: str, *allowed: str) -> Callable[[Record], Judgement]:
    """Whether the decision on a knob is one of those allowed."""

    def judge(record: Record) -> Judgement:
        seen = gain(record, knob)
        if not seen:
            return not_here(record, knob)
        outcome: Outcome = "holds" if seen.decision in allowed else "contradicted"
        if seen.decision == "inconclusive":
            outcome = "inconclusive"
        evidence = f"{says(seen)}: {change(seen.percent)}, {seen.decision}"
        return Judgement(outcome, evidence, {"ratio": seen.ratio.median})

    return judge


def together_54_percent(record: Record) -> Judgement:
    """What all parts gain together, beside the paper's."""
    seen = gain(record, TOGETHER)
    if not seen:
        return not_here(record, MODERATION)
    known = papers.table("E-knobs")
    row = known[(known.what == TOGETHER) & (known.finding == "mean latency")]
    paper = float(row.value.iloc[0])
    but = (
        "the share follows from how much moderation is put in, and from the 20 µs of card, cable"
        " and switch below it, which this kind of cluster does not have"
    )
    return Judgement(
        within(seen.percent, paper - ABOUT_PERCENT, paper + ABOUT_PERCENT),
        f"{medians(seen)}; paper E: {paper:+.0f} %",
        {"percent": seen.percent.median, "paper_percent": paper},
        **on_pcs(record, but),
    )


def deviation_halved(record: Record) -> Judgement:
    """The deviation without all parts, as a share of that with them."""
    seen = gain(record, TOGETHER)
    if not seen:
        return not_here(record, MODERATION)
    left = seen.deviations
    if left.n < LEAST_PAIRS:
        return undecided(
            f"{left.n} launches compare it, and {LEAST_PAIRS} are needed", narrower(record)
        )
    return Judgement(
        within(left, *HALVED),
        f"from {seen.before.deviation:.2f} to {seen.after.deviation:.2f} µs; in one launch"
        f" {left.median:.2f} times ({left.low:.2f} to {left.high:.2f})",
        {"times": left.median},
        **on_pcs(record, "what disturbs a local cluster is the rest of its machine"),
    )


def on_pcs(record: Record, but: str) -> dict[str, str]:
    """Why nodes that share one machine cannot decide it; empty where each has its own."""
    return {"advice": ON_PCS, "but": but} if on_one_machine(record.cluster) else {}


def not_additive(record: Record) -> Judgement:
    """The sum of what the parts gain alone, beside what they gain together, in per cent of the same state before."""
    # A knob that was not taken away together with the others is no part of that whole.
    alone = [each for knob in record.sweep.get("testbed", {}) if (each := gain(record, knob))]
    whole = gain(record, TOGETHER)
    if not whole or len(alone) < 2:
        return not_here(record, MODERATION)
    total = sum(each.percent.median for each in alone)
    low = whole.percent.low - sum(each.percent.high for each in alone)
    high = whole.percent.high - sum(each.percent.low for each in alone)
    us = sum(each.saved_us.median for each in alone)
    outcome: Outcome = "holds" if low > 0 or high < 0 else "inconclusive"
    if low >= -ADDS_UP_PERCENT and high <= ADDS_UP_PERCENT:
        outcome = "contradicted"
    return Judgement(
        outcome,
        f"alone they come to {total:+.1f} % and {us:.1f} µs, together to {change(whole.percent)} and"
        f" {whole.saved_us.median:.1f} µs; the difference lies between {low:+.1f} and {high:+.1f} %",
        {"sum_percent": total, "together_percent": whole.percent.median},
    )


def claims(record: Record) -> list[Claim]:
    """The claims; one on a knob that is absent is judged even where nothing was measured, and says why."""
    return [
        replace(
            each,
            needs="nothing" if absent(record, KNOB_OF.get(each.name, "")) else each.needs,
            caveat=emulated,
        )
        for each in CLAIMS
    ]


def picture(record: Record) -> Figure:
    """By how much each knob shortens half a round trip, with intervals."""
    testbed = ", ".join(f"{name} {value}" for name, value in record.sweep["testbed"].items())
    return knob_gains.picture(record, f"Taken away from the testbed ({testbed})")


CLAIMS = [
    Claim("moderation-most", "Of all knobs, interrupt moderation costs the most", moderation_most),
    Claim(
        "firewall-contributes",
        "The firewall is another important contributor",
        firewall_contributes,
    ),
    Claim(
        "irqbalance-hardly",
        "irqbalance matters little",
        matters_little(IRQBALANCE, "no effect"),
    ),
    Claim(
        "tcp-low-latency-not-better",
        "tcp_low_latency makes latency no better",
        matters_little(LOW_LATENCY, "no effect", "slower"),
    ),
    Claim(
        "together-54-percent",
        "Taken away together, they leave about 54 % less",
        together_54_percent,
    ),
    Claim("deviation-halved", "The deviation is nearly halved", deviation_halved),
    Claim("not-additive", "What they gain does not add up", not_additive),
]
KNOB_OF = {
    "moderation-most": MODERATION,
    "firewall-contributes": FIREWALL,
    "irqbalance-hardly": IRQBALANCE,
    "tcp-low-latency-not-better": LOW_LATENCY,
}

STUDY = Study(
    id="E6",
    title="The knobs: each alone and all together",
    plan=plan,
    needs=(KNOBS,),
    judged=claims,
    draw=picture,
    troubles=lambda record: trouble(record, HALF),
    changes_cables=True,
    differs={
        "holds": (
            "Moderation makes each packet wait and rules cost time for each packet, on a stand-in "
            "as on a card, and what hides behind another delay cannot be gained twice, so the "
            "gains do not add up."
        ),
        "contradicted": (
            "A processor of today passes 100 firewall rules in next to no time, with moderation "
            "and without it, so the firewall gains nothing, and where one part alone gains there "
            "is nothing that could fail to add up; the paper does not say how many rules it had."
        ),
        "inconclusive": (
            "Namespaces have no network card, no knobs of the machine of their own and the noise "
            "of one machine, so how much is gained follows from how much was put in, and "
            "irqbalance and tcp_low_latency are not turned at all."
        ),
    },
)
