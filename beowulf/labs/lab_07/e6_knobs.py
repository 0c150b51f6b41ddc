"""E6, paper E's table 3 and figure 4: each knob alone, and all together, mean and deviation.

The state before is made first, on the two nodes that measure (beowulf/tuning/paper_e_baseline.py). With a network card
that is the card's own moderation. On nodes that share one machine it is a stand-in, whose cost follows from its size:
such a result is a demonstration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from beowulf.cluster import Cluster
from beowulf.cluster.description import on_one_machine
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.labs.lab_07 import knob_gains
from beowulf.labs.lab_07.knob_gains import (
    ALONE,
    CONNTRACK,
    LATER,
    PAPERS_PERCENT,
    TOGETHER,
    Gain,
    absent,
    gain,
    gains,
    says,
)
from beowulf.measure.judgement import Interval, Span, difference, within
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import HALF, need_nodes
from beowulf.measure.statistics import LEAST_PAIRS, Ratio
from beowulf.record import Point, Record
from beowulf.studies.quantity import TIMES, Judge, Quantity, all_hold
from beowulf.studies.states import KNOBS, emulated, put_in
from beowulf.studies.study import Claim, Judgement, Plan, Study, undecided
from beowulf.tuning.ab_comparison import MARGIN, Decision, Length, compare
from beowulf.tuning.change import Changes, changed, changing
from beowulf.tuning.knobs import ALL
from beowulf.tuning.paper_e_baseline import (
    FIREWALL,
    IRQBALANCE,
    LOW_LATENCY,
    MACHINES,
    MODERATION,
    absent_knobs,
    away,
    machines_parts,
    parts,
)
from beowulf.verdict import Outcome

LAUNCHES, QUICK_LAUNCHES = LEAST_PAIRS, 2
QUICK_LENGTH = Length(blocks=6, most_blocks=6, samples=20)
ABOUT_PERCENT = 10.0
HALVED = (0.35, 0.65)  # of the deviation is left, where it is nearly halved
ADDS_UP_PERCENT = 3.0  # a smaller difference between the sum and the whole is none
CONNECTIONS = (
    "conntrack"  # a firewall that remembers every connection, as the systems of today have it
)
ON_PCS = "Measure on virtual machines or on real PCs."
ON_NODES = "Set up on every node what this knob needs, and measure again."


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """Remove one part of the testbed's state, then all of it, each alternating with the whole state.

    The paper's knobs of whole machines are turned too, each alone, where each node is a machine of its own.
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
        with changed(measurement.cluster, [turn], nodes=nodes) as changes:
            compare(measurement, away(*changes.each), at=at(FIREWALL, CONNTRACK), length=length)


def not_here(record: Record, knob: str) -> Judgement:
    """The Judgement of a knob that was not measured, with the reason."""
    why = absent(record, knob) or f"{knob} was not measured"
    return undecided(why, ON_PCS if on_one_machine(record.cluster) else ON_NODES)


def of(knob: str, says: str, part: Callable[[Gain], Interval], unit: str) -> Quantity:
    """A part of what a knob gained that was taken away alone."""

    def seen(record: Record) -> Interval:
        if found := gain(record, knob):
            return part(found)
        raise LabError(f"{knob} was not measured.")

    return Quantity(says, seen, unit)


def time_without(knob: str) -> Quantity:
    """Half a round trip, as a share of that before."""
    return of(knob, f"half a round trip without {knob}", lambda seen: seen.ratio, TIMES)


def decided(knob: str, *wanted: Decision) -> Judge:
    """Whether the decision on a knob alone is one of those wanted; the evidence has its other comparisons, too."""

    def judge(record: Record) -> Judgement:
        alone = gain(record, knob)
        if not alone:
            return not_here(record, knob)
        outcome: Outcome = "holds" if alone.decision in wanted else "contradicted"
        if alone.decision == "inconclusive":
            outcome = "inconclusive"
        known = [each for each in gains(record) if each.knob == knob]
        seen = "; ".join(f"{says(each)}: {change(each.percent)}, {each.decision}" for each in known)
        numbers = {each.way: each.ratio.median for each in known}
        return Judgement(outcome, f"{seen}; a change of more than {MARGIN:.0%} is one", numbers)

    return judge


def change(percent: Ratio) -> str:
    """A change in per cent, with its interval."""
    return f"{percent.median:+.1f} % ({percent.low:+.1f} to {percent.high:+.1f})"


def moderation_most(record: Record) -> Judgement:
    """That it gains, and more than the firewall."""
    for knob in (MODERATION, FIREWALL):
        if not gain(record, knob):
            return not_here(record, knob)
    less = time_without(MODERATION) < time_without(FIREWALL)
    return all_hold(decided(MODERATION, "faster"), less)(record)


def together(judge: Judge, undecidable: str) -> Judge:
    """A judge of all parts together; `undecidable` says why nodes that share one machine cannot decide it."""

    def judged(record: Record) -> Judgement:
        if not gain(record, TOGETHER):
            return not_here(record, MODERATION)
        seen = judge(record)
        return (
            replace(seen, undecidable=undecidable, advice=ON_PCS)
            if on_one_machine(record.cluster)
            else seen
        )

    return judged


def halved(record: Record) -> Judgement:
    """The deviation without all parts, as a share of that with them."""
    seen = gain(record, TOGETHER)
    if seen and seen.deviations.n < LEAST_PAIRS:
        return undecided(f"{seen.deviations.n} launches compare it, and {LEAST_PAIRS} are needed")
    says = "the deviation of the samples of a launch, after over before"
    left = of(TOGETHER, says, lambda seen: seen.deviations, TIMES)
    return left.within(*HALVED)(record)


def not_additive(record: Record) -> Judgement:
    """The sum of what the parts gain alone, beside what they gain together, in per cent of the same state before."""
    # A knob that was not removed together with the others is no part of that whole.
    alone = [each for knob in record.sweep.get("testbed", {}) if (each := gain(record, knob))]
    whole = gain(record, TOGETHER)
    if not whole or len(alone) < 2:
        return not_here(record, MODERATION)
    total = Span(sum(each.percent.low for each in alone), sum(each.percent.high for each in alone))
    apart = difference(whole.percent, total)
    outcome: Outcome = "holds" if apart.low > 0 or apart.high < 0 else "inconclusive"
    if within(apart, -ADDS_UP_PERCENT, ADDS_UP_PERCENT) == "holds":
        outcome = "contradicted"
    return Judgement(
        outcome,
        f"sum of the single changes: {total.low:+.1f} to {total.high:+.1f} %; all together: {change(whole.percent)};"
        f" difference: {apart.low:+.1f} to {apart.high:+.1f} % (the claim holds if this excludes 0, and is contradicted"
        f" if all of it lies within ±{ADDS_UP_PERCENT:g} %)",
        {"sum_percent": [total.low, total.high], "together_percent": whole.percent.median},
    )


def claims(record: Record) -> list[Claim]:
    """The claims; one on a knob that is absent is judged even where nothing was measured, and says why."""
    found = []
    for each in CLAIMS:
        knob = KNOB_OF.get(each.name, "")
        needs = "nothing" if absent(record, knob) else each.needs
        claim = replace(each, needs=needs, caveat=emulated, place="section 4.1")
        found.append(claim if knob in MACHINES else put_in(record, claim))
    return found


def picture(record: Record) -> Figure:
    """By how much each knob shortens half a round trip, with intervals."""
    testbed = ", ".join(f"{name} {value}" for name, value in record.sweep["testbed"].items())
    return knob_gains.picture(record, f"Removed from the state that was put in ({testbed})")


CHANGE = of(TOGETHER, "the change of half a round trip", lambda seen: seen.percent, "%")
CLAIMS = [
    Claim("moderation-most", "Of all knobs, interrupt moderation costs the most", moderation_most),
    Claim(
        "firewall-contributes",
        "The firewall is another important contributor",
        decided(FIREWALL, "faster"),
    ),
    Claim("irqbalance-hardly", "irqbalance matters little", decided(IRQBALANCE, "no effect")),
    # Linux 4.14 (2017) took the prequeue away that this switch passes by: that nothing follows is known before.
    Claim(
        "tcp-low-latency-not-better",
        "tcp_low_latency makes latency no better (in the paper, slightly worse)",
        decided(LOW_LATENCY, "no effect", "slower"),
        rests_on="demonstration",
    ),
    Claim(
        "together-54-percent",
        "Removing all of them shortens half a round trip by about 54 %",
        together(
            CHANGE.within(PAPERS_PERCENT - ABOUT_PERCENT, PAPERS_PERCENT + ABOUT_PERCENT),
            "the share follows from how much moderation is put in, and real nodes also spend time in card, cable and"
            " switch",
        ),
    ),
    Claim(
        "deviation-halved",
        "The deviation is nearly halved",
        together(
            halved, "on a local cluster, other programs of the machine cause most of the deviation"
        ),
    ),
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
        "holds": {
            "": (
                "On a card as in the paper's nodes each packet waits for moderation and then for the firewall's"
                " rules, so moderation is the larger part, and hides some of the other."
            ),
            "namespaces": (
                "The stand-in for moderation holds a packet back for 50 µs because we set it so, and a modern"
                " processor needs far less for 100 rules: the larger part was larger by design."
            ),
        },
        "contradicted": {
            "": (
                "Modern cards moderate less or adapt to the traffic, and a modern processor passes a hundred rules"
                " in a microsecond or two, so there is less to gain than on the paper's nodes."
            ),
            "namespaces": (
                "We put in 50 µs and 100 rules, and their gains follow from that: a modern processor checks 100"
                " rules in a microsecond, which is little, beside 50 µs or without them."
            ),
        },
        "inconclusive": {
            "": (
                "A knob that is already as the paper turned it is not changed, and a change of about five per cent"
                " needs a quieter machine."
            ),
            "namespaces": (
                "No packet between namespaces meets a card or an interrupt, so irqbalance has nothing to move and"
                " the paper's 50 µs are not there; PCs, or VMs with an e1000e card, measure both."
            ),
        },
    },
)
