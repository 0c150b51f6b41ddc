"""E7, paper E's procedure (figure 6, section 5): ask every node, change one thing, measure, keep or revert.

The nodes of a local cluster have nothing to be taken away, so E6's testbed is made first, on all of them. The
procedure does not know of it: it asks, and works on what the answers show. At the end everything is as it was.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.measure.judgement import need_study, unjudged, verdict
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import HALF, need_nodes
from beowulf.record import Point, Record
from beowulf.studies import Progress, no_progress
from beowulf.studies.lab_07.e6_knobs import QUICK_LENGTH
from beowulf.studies.lab_07.knob_gains import TOGETHER, gain, gains, medians, table
from beowulf.tuning import checklist
from beowulf.tuning.ab_comparison import compare
from beowulf.tuning.change import Changes, changing
from beowulf.tuning.checklist import Answers
from beowulf.tuning.knobs import ALL
from beowulf.tuning.paper_e_baseline import absent_knobs, away, parts
from beowulf.verdict import Outcome, Verdict

ID = "E7"
TITLE = "The procedure: ask, change one thing, measure, keep or revert"

FIRST, LAST = "before", "after"  # the times at which the checklist is asked
STEP = "as a step"
KEPT, REVERTED = "kept", "reverted"

ALIKE = "The same driver and the same kernel are on every node"
FINDS = "The checklist finds what has to be changed, on every node, and nothing of it afterwards"
GAINS = "What the procedure keeps makes latency lower"
CLAIMS = {"nodes-alike": ALIKE, "checklist-finds": FINDS, "procedure-gains": GAINS}


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
) -> Record:
    """The whole procedure once, on a testbed like the paper's."""
    need_nodes(cluster, 2)
    absent, here = absent_knobs(cluster), parts(cluster)
    with Measurement(
        ID,
        cluster,
        folder,
        quick=quick,
        progress=progress,
        launches=len(here) + 1,
        sweep={"testbed": here},
    ) as session:
        session.points.extend(
            Point({"knob": name}, facts={"absent": why}) for name, why in absent.items()
        )
        with changing(cluster, [(ALL[name], value) for name, value in here.items()]) as testbed:
            testbed(True)
            _ask(session, FIRST)
            kept = _steps(session, testbed)
            _ask(session, LAST)
            if kept:
                testbed(True)
                _compare(session, Changes(kept), TOGETHER)
    return session.record()


def _ask(session: Measurement, when: str) -> None:
    for each in checklist.ask(session.cluster):
        session.points.append(
            Point({"question": each.question.name, "when": when}, facts=_plain(each))
        )


def _plain(each: Answers) -> dict[str, Any]:
    return {
        "asks": each.question.asks,
        "wanted": each.question.wanted,
        "answers": each.by_node,
        "alike": each.alike,
        "as_wanted": each.as_wanted,
    }


def _steps(session: Measurement, testbed: Changes) -> list[Any]:
    """One knob after the other, in the order of the procedure; those of which the change was kept."""
    kept = []
    for part in testbed.each:
        found = _compare(session, Changes([part]), part.knob.name)
        fate = KEPT if found.decision == "faster" else REVERTED
        if fate == KEPT:
            part(False)
            kept.append(part)
        what = {"fate": fate, "from": part.value, "to": part.knob.tuned}
        session.points.append(Point({"knob": part.knob.name, "step": len(kept)}, facts=what))
    return kept


def _compare(session: Measurement, turned: Changes, name: str) -> Any:
    length = QUICK_LENGTH if session.quick else None
    at = {"knob": name, "way": STEP, "launch": 0}
    return compare(session, away(*turned.each), at=at, length=length)


def answered(record: Record, when: str) -> dict[str, dict[str, Any]]:
    """What the nodes answered at that time, by question."""
    return {
        str(point.at["question"]): point.facts
        for point in record.points
        if point.at.get("when") == when
    }


def fates(record: Record) -> dict[str, str]:
    """What became of each change: kept or reverted."""
    return {
        str(point.at["knob"]): str(point.facts["fate"])
        for point in record.points
        if "fate" in point.facts
    }


def claims(record: Record) -> list[Verdict]:
    """What the procedure promises, held against this Record."""
    need_study(record, ID)
    first, last = answered(record, FIRST), answered(record, LAST)
    if not first:
        return unjudged(record, CLAIMS, ["no node was asked"])
    return [_alike(record, first), _finds(record, first, last), _gains(record)]


def _alike(record: Record, first: dict[str, dict[str, Any]]) -> Verdict:
    asked = [first[name] for name in ("driver", "kernel") if name in first]
    unlike = [each for each in asked if not each["alike"]]
    seen = "; ".join(
        f"{each['asks']} {', '.join(sorted(set(each['answers'].values())))}" for each in asked
    )
    outcome: Outcome = "contradicted" if unlike else "holds"
    return verdict(record, "nodes-alike", ALIKE, outcome, seen)


def _finds(
    record: Record, first: dict[str, dict[str, Any]], last: dict[str, dict[str, Any]]
) -> Verdict:
    name, testbed = "checklist-finds", record.sweep.get("testbed", {})
    if not testbed:
        why = next((p.facts["absent"] for p in record.points if "absent" in p.facts), "")
        advice = "Boot the cluster as the administrator, or measure on virtual machines or PCs."
        return verdict(record, name, FINDS, "inconclusive", why, advice=advice)
    if not last:
        return verdict(record, name, FINDS, "inconclusive", "it was not asked again at the end")
    found = [knob for knob in testbed if not first[knob]["as_wanted"] and first[knob]["alike"]]
    reverted = [knob for knob, fate in fates(record).items() if fate == REVERTED]
    left = [knob for knob in testbed if not last[knob]["as_wanted"]]
    outcome: Outcome = "contradicted"
    if set(found) == set(testbed) and set(left) <= set(reverted):
        outcome = "inconclusive" if left else "holds"
    return verdict(
        record,
        name,
        FINDS,
        outcome,
        f"of {', '.join(testbed)} it found {', '.join(found) or 'nothing'} before,"
        f" and {', '.join(left) or 'nothing'} after",
        advice=f"{', '.join(left)} was put back, because no gain was seen." if left else "",
    )


def _gains(record: Record) -> Verdict:
    found, bad = gain(record, TOGETHER, STEP), trouble(record, HALF)
    said = ", ".join(f"{knob} {fate}" for knob, fate in fates(record).items())
    if not found:
        outcome: Outcome = "contradicted" if said and not bad else "inconclusive"
        seen = f"nothing was kept: {said}" if said else "nothing was changed"
        return verdict(record, "procedure-gains", GAINS, outcome, seen, trouble=bad)
    decided: dict[str, Outcome] = {"faster": "holds", "inconclusive": "inconclusive"}
    return verdict(
        record,
        "procedure-gains",
        GAINS,
        decided.get(found.decision, "contradicted"),
        f"{said}: half a round trip {medians(found)}",
        numbers={"percent": found.percent.median},
        trouble=bad,
    )


def picture(record: Record) -> Figure:
    """Each step's change with its interval and what became of it; the table has mean and deviation."""
    from beowulf.figures.segments import Value, intervals

    need_study(record, ID)
    found, became = gains(record), fates(record)
    drawn = intervals(
        [
            Value(
                f"{each.knob}: {became[each.knob]}" if each.knob in became else each.knob,
                each.percent.median,
                each.percent.low,
                each.percent.high,
            )
            for each in found
        ],
        title="The procedure, step by step",
        value_title="half round trip, change (%): median of the pairs",
    )
    return replace(drawn, table=table(found))
