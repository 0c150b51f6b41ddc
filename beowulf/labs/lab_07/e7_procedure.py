"""E7, paper E's procedure (figure 6, section 5): ask every node, change one thing, measure.

We add: keep or revert, and ask again. The nodes of a local cluster have nothing to remove, so E6's testbed is made
first, on all of them. The procedure does not know of it: it asks, and acts on the answers. At the end everything is as
it was.
"""

from __future__ import annotations

from typing import Any

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.labs.lab_07 import knob_gains
from beowulf.labs.lab_07.e6_knobs import QUICK_LENGTH, absent_points
from beowulf.labs.lab_07.knob_gains import TOGETHER, gain, medians
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import NO_SAMPLES, trouble
from beowulf.measure.roundtrips import HALF, need_nodes
from beowulf.record import Point, Record
from beowulf.studies.states import KNOBS, put_in
from beowulf.studies.study import Claim, Judgement, Plan, Study, undecided
from beowulf.tuning import checklist
from beowulf.tuning.ab_comparison import Comparison, compare
from beowulf.tuning.change import Change, Changes, changed
from beowulf.tuning.knobs import ALL
from beowulf.tuning.paper_e_baseline import absent_knobs, away, parts

FIRST, LAST = "before", "after"  # the times at which the checklist is asked
STEP = "as a step"
KEPT, REVERTED = "kept", "reverted"
NOT_ASKED = undecided("no node was asked")


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """The whole procedure once, on E6's testbed."""
    need_nodes(cluster, 2)
    absent, here = absent_knobs(cluster), parts(cluster)

    def steps(measurement: Measurement) -> None:
        measurement.points.extend(absent_points(absent))
        with changed(cluster, [(ALL[name], value) for name, value in here.items()]) as testbed:
            ask(measurement, FIRST)
            kept = one_by_one(measurement, testbed)
            ask(measurement, LAST)
            if kept:
                testbed(True)
                compare_step(measurement, kept, TOGETHER)

    return Plan(len(here) + 1, {"testbed": here}, steps)


def ask(measurement: Measurement, when: str) -> None:
    """Ask every node the checklist."""
    for each in checklist.ask(measurement.cluster):
        facts: dict[str, Any] = {"asks": each.question.asks, "wanted": each.question.wanted}
        facts |= {"answers": each.by_node, "alike": each.agree, "as_wanted": each.as_wanted}
        at = {"question": each.question.name, "when": when}
        measurement.points.append(Point(at, facts=facts))


def one_by_one(measurement: Measurement, testbed: Changes) -> list[Change]:
    """Turn one knob after the other, in the procedure's order; return the changes that were kept."""
    kept: list[Change] = []
    for part in testbed.each:
        faster = compare_step(measurement, [part], part.knob.name).decision == "faster"
        if faster:
            part(False)
            kept.append(part)
        fate = KEPT if faster else REVERTED
        facts = {"fate": fate, "from": part.value, "to": part.knob.tuned}
        at = {"knob": part.knob.name, "step": len(kept)}
        measurement.points.append(Point(at, facts=facts))
    return kept


def compare_step(measurement: Measurement, parts: list[Change], name: str) -> Comparison:
    """Measure with these parts of the testbed and without."""
    length = QUICK_LENGTH if measurement.quick else None
    at = {"knob": name, "way": STEP, "launch": 0}
    return compare(measurement, away(*parts), at=at, length=length)


def answered(record: Record, when: str) -> dict[str, dict[str, Any]]:
    """What the nodes answered at that time, by question."""
    return {str(p.at["question"]): p.facts for p in record.select(when=when)}


def fates(record: Record) -> dict[str, str]:
    """Whether each change was kept or reverted."""
    return {str(p.at["knob"]): str(p.facts["fate"]) for p in record.points if "fate" in p.facts}


def nodes_alike(record: Record) -> Judgement:
    """What the nodes answered about driver and kernel."""
    first = answered(record, FIRST)
    if not first:
        return NOT_ASKED
    asked = [first[name] for name in ("driver", "kernel") if name in first]
    evidence = "; ".join(
        f"{each['asks']} {', '.join(sorted(set(each['answers'].values())))}" for each in asked
    )
    return Judgement("holds" if all(each["alike"] for each in asked) else "contradicted", evidence)


def checklist_finds(record: Record) -> Judgement:
    """Which parts of the testbed the checklist showed before, and which after."""
    first, last = answered(record, FIRST), answered(record, LAST)
    testbed = record.sweep.get("testbed", {})
    if not first:
        return NOT_ASKED
    if not testbed:
        why = next((p.facts["absent"] for p in record.points if "absent" in p.facts), "")
        advice = "Boot the cluster as the administrator, or measure on virtual machines or PCs."
        return undecided(why, advice)
    if not last:
        return undecided("it was not asked again at the end")
    before = [knob for knob in testbed if not first[knob]["as_wanted"] and first[knob]["alike"]]
    after = [knob for knob in testbed if not last[knob]["as_wanted"]]
    evidence = (
        f"of {', '.join(testbed)} it found {', '.join(before) or 'nothing'} before,"
        f" and {', '.join(after) or 'nothing'} after"
    )
    hint = f"{', '.join(after)} was put back, because it gained nothing." if after else ""
    if before != list(testbed) or any(fates(record).get(knob) != REVERTED for knob in after):
        return Judgement("contradicted", evidence, hint=hint)
    return Judgement("inconclusive" if after else "holds", evidence, advice=hint)


def procedure_gains(record: Record) -> Judgement:
    """The effect of all kept changes together."""
    if not answered(record, FIRST):
        return NOT_ASKED
    became = ", ".join(f"{knob} {fate}" for knob, fate in fates(record).items())
    if seen := gain(record, TOGETHER, STEP):
        evidence = f"{became}: half a round trip {medians(seen)}"
        return Judgement(seen.outcome, evidence, {"percent": seen.percent.median})
    if not became:
        return undecided("nothing was changed")
    if not any(point.samples for point in record.points):
        raise LabError("No change was measured.")
    return Judgement("contradicted", f"nothing was kept: {became}")


def picture(record: Record) -> Figure:
    """Each step's change with its interval, and whether it was kept."""
    became = fates(record)
    return knob_gains.picture(
        record,
        "The procedure, step by step",
        lambda each: f"{each.knob}: {became[each.knob]}" if each.knob in became else each.knob,
    )


CLAIMS = [
    Claim(
        "nodes-alike",
        "The same driver and the same kernel are on every node",
        nodes_alike,
        needs="nothing",
    ),
    Claim(
        "checklist-finds",
        "The checklist finds what has to be changed, on every node, and nothing of it afterwards",
        checklist_finds,
        needs="nothing",
    ),
    Claim(
        "procedure-gains",
        "Changing default settings makes latency lower (here: those that the procedure keeps)",
        procedure_gains,
        place="section 6",
    ),
]
STUDY = Study(
    id="E7",
    title="The procedure: ask, change one thing, measure, keep or revert",
    plan=plan,
    needs=(KNOBS,),
    judged=lambda record: [put_in(record, each) for each in CLAIMS],
    draw=picture,
    # Where nothing could be changed there are none, and the claim says so.
    troubles=lambda record: [each for each in trouble(record, HALF) if each != NO_SAMPLES],
    changes_cables=True,
    differs={
        "holds": {
            "": (
                "Asking, changing one thing, measuring, and keeping what gains works on any nodes, and most is"
                " gained where a card's moderation is removed, as in the paper."
            ),
            "namespaces": (
                "The state before was put into four nodes of one machine with one kernel, so their answers are"
                " equal: this shows that the procedure works, and nothing about the paper's cluster."
            ),
        },
        "contradicted": (
            "A node's answer differed from the others' or from the state that was put in, or no change gained the"
            " five per cent for which it is kept."
        ),
        "inconclusive": (
            "Our procedure puts back a change that gains nothing, such as 100 rules on a fast processor, so the"
            " checklist still finds it at the end."
        ),
    },
)
