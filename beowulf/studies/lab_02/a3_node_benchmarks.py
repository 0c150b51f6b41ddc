"""A3, one node: what do system calls, messages within a node, moving bytes and waiting for memory cost?

Paper A, tables 1 to 4: LMBench 2.0 on one node, beside the published figures of the Grendel cluster. Here the
programs of lab 02 measure the same rows, by the same definitions and not with the same code.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from beowulf import mpi, paths
from beowulf.cluster import Cluster
from beowulf.errors import LabError, UsageError
from beowulf.figures import Figure
from beowulf.measure.judgement import need_study, rising, together, unjudged, verdict
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import NO_SAMPLES, trouble
from beowulf.record import Point, Record
from beowulf.studies import Progress, no_progress
from beowulf.studies.lab_02.node_comparison import (
    OFF,
    SEVERAL,
    WAKING,
    Off,
    doubtful_nodes,
    odd_nodes,
    off_rows,
    shared_rows,
)
from beowulf.studies.lab_02.node_neighbours import beside, found
from beowulf.studies.lab_02.node_rows import (
    PROGRAMS,
    RESULT,
    Row,
    beside_paper_a,
    rows,
    times_faster,
)
from beowulf.verdict import Outcome, Verdict

ID = "A3"
TITLE = "One node: system calls, local messages, bandwidths and memory"
LAB = "02-node-benchmarks"

LAUNCHES = 3
SHORT = ("--passes", 3, "--chunks", 4, "--chunk-us", 500)
# To join the lines of an area takes longer than to measure it, and has to be done once in each pass.
QUICK_MEMORY = ("--passes", 1, "--chunks", 12, "--times-cache", 4)
QUICK = dict.fromkeys(PROGRAMS, SHORT) | {"memory": QUICK_MEMORY}
MOST_TOLD = 5
# The programs wait in calls of the kernel that are measured: nothing may take their place.
NO_PATIENCE = {"BEOWULF_PATIENT": "never"}

MORE = "A call that does more takes longer: null call, stat, fork, exec, shell"
DEEPER = "Each cache takes longer than the one before, and main memory longest"
CARRIED = "A remote procedure call takes longer than the protocol that carries it"
ALIKE = "All nodes reach the same figures"
CLAIMS = {
    "more-takes-longer": MORE,
    "deeper-takes-longer": DEEPER,
    "calls-cost-more": CARRIED,
    "nodes-alike": ALIKE,
}
STEPS = ("null call", "stat", "fork proc", "exec proc", "shell proc")


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    nodes: Sequence[str] = (),
    together: bool = False,
) -> Record:
    """All programs of lab 02 on each of `nodes` (all of them), in several rounds, with the tools of others by turns.

    Nodes that are one machine share its cores, and would measure how they disturb each other: they take turns, unless
    they are to run `together`. Nodes that are machines of their own run at the same time.
    """
    chosen = list(dict.fromkeys(nodes)) or list(cluster.nodes)
    _refuse_what_cannot_run(cluster, chosen)
    fair = turns(cluster, chosen)
    waves = [chosen] if together else fair
    launches = 1 if quick else LAUNCHES
    session = Measurement(
        ID,
        cluster,
        folder,
        quick=quick,
        progress=progress,
        launches=launches * len(chosen) * len(PROGRAMS),
        sweep={
            "nodes": chosen,
            "launches": launches,
            "turns": waves,
            "disturbed": len(waves) < len(fair),
        },
    )
    with session:
        session.prepare_all([_source(name) for name in PROGRAMS])
        tools = {node: {} if len(waves[0]) > 1 else found(cluster, node) for node in chosen}
        session.sweep["beside"] = tools
        for launch in range(launches):
            for name in PROGRAMS:
                for wave in waves:
                    at = {"program": name, "launch": launch}
                    for node, lines in _launch(session, wave, at, quick).items():
                        _keep(session, lines, {**at, "node": node}, tools[node], quick)
    return session.record()


def _refuse_what_cannot_run(cluster: Cluster, chosen: Sequence[str]) -> None:
    """Before anything is measured, which takes minutes."""
    for node in chosen:
        if node not in cluster.nodes:
            raise UsageError(f"There is no node {node}.", f"There are: {', '.join(cluster.nodes)}.")
    if dead := [node for node in cluster.dead_nodes() if node in chosen]:
        verb = "is" if len(dead) == 1 else "are"
        mend = "`beowulf up` starts it again; `beowulf node-bench NODE` measures others."
        raise LabError(f"{', '.join(dead)} {verb} down.", mend, dead[0])
    if not mpi.RPC.is_dir():
        raise LabError(
            "The rows RPC/UDP and RPC/TCP need libtirpc, and its headers are not here.",
            "`sudo apt-get install libtirpc-dev`, or `beowulf doctor --fix`.",
        )


def turns(cluster: Cluster, nodes: Sequence[str]) -> list[list[str]]:
    """Which nodes run at the same time, turn by turn: one of each machine."""
    machines: dict[str, list[str]] = {}
    for node in nodes:
        # A number that the kernel draws when it starts: nodes with the same one share a kernel and its cores.
        said = cluster.run(node, "cat /proc/sys/kernel/random/boot_id").stdout.strip()
        machines.setdefault(said, []).append(node)
    each = zip_longest(*machines.values())
    return [[node for node in turn if node is not None] for turn in each]


def _source(name: str) -> Path:
    return paths.root() / "labs" / LAB / f"{name}.c"


def _launch(
    session: Measurement, wave: Sequence[str], at: Mapping[str, Any], quick: bool
) -> dict[str, list[dict[str, Any]]]:
    """One program on the nodes of a turn; what it printed on each."""
    name, launch = at["program"], at["launch"]
    words = QUICK[name] if quick else ()
    if len(wave) > 1:
        return session.launch_apart(
            _source(name),
            wave,
            words,
            environment=NO_PATIENCE,
            launch=launch,
            at={"program": name},
        )
    [node] = wave
    lines = session.launch(
        _source(name),
        1,
        words,
        environment=NO_PATIENCE,
        launch=launch,
        at={"node": node, "program": name},
        hosts=(node,),
    )
    return {node: lines}


def _keep(
    session: Measurement,
    lines: Sequence[Mapping[str, Any]],
    at: Mapping[str, Any],
    tools: Mapping[str, str],
    quick: bool,
) -> None:
    """The results that a program printed, and what the tools of the same node find at once after it."""
    for line in lines:
        if line["kind"] == "result":
            facts = {key: value for key, value in line.items() if key not in ("kind", "row")}
            session.points.append(Point({RESULT: line["row"], **at}, facts=facts))
    points, wrong = beside(session.cluster, lines, at, tools, quick=quick)
    session.points += points
    session.warnings += [each for each in wrong if each not in session.warnings]


def claims(record: Record) -> list[Verdict]:
    """What the order of the printed figures says, and whether the nodes are alike."""
    need_study(record, ID)
    bad = trouble(record)
    if NO_SAMPLES in bad:
        return unjudged(record, CLAIMS, bad)
    if record.sweep.get("disturbed"):
        why = "nodes that share the cores of one machine ran at the same time"
        return unjudged(record, CLAIMS, bad, but=why, advice="Measure again without `--together`.")
    first = rows(record, record.sweep["nodes"][0])
    levels = [row.name for row in first.values() if row.program == "memory"]
    return [
        _climbs(record, "more-takes-longer", [first[name] for name in STEPS], bad),
        _climbs(record, "deeper-takes-longer", [first[name] for name in levels], bad),
        _carried(record, first, bad),
        _alike(record, bad),
    ]


def _said(steps: Sequence[Row]) -> str:
    return ", ".join(f"{row.name} {row.median:.3g} {row.unit}" for row in steps)


def _climbs(record: Record, claim: str, steps: Sequence[Row], bad: list[str]) -> Verdict:
    outcome = rising([(row.low, row.high) for row in steps])
    numbers = {row.name: row.median for row in steps}
    return verdict(
        record, claim, CLAIMS[claim], outcome, _said(steps), numbers=numbers, trouble=bad
    )


def _carried(record: Record, found: dict[str, Row], bad: list[str]) -> Verdict:
    pairs = [(found[name], found[f"RPC/{name}"]) for name in ("UDP", "TCP")]
    outcome = together([rising([(a.low, a.high), (b.low, b.high)]) for a, b in pairs])
    said = ", ".join(f"{b.name} takes {b.median / a.median:.2f} times {a.name}" for a, b in pairs)
    numbers = {b.name: b.median / a.median for a, b in pairs}
    return verdict(record, "calls-cost-more", CARRIED, outcome, said, numbers=numbers, trouble=bad)


def _alike(record: Record, bad: list[str]) -> Verdict:
    """Whether no node is odd; of single rows it only says so."""
    if len(record.sweep["nodes"]) < 2:
        return verdict(
            record,
            "nodes-alike",
            ALIKE,
            "inconclusive",
            "one node was measured",
            advice="Measure all nodes (`beowulf node-bench --all`), and look for the odd one out.",
        )
    odd, doubtful, off = odd_nodes(record), doubtful_nodes(record), off_rows(record)
    numbers = {"odd": len(odd), "off": len(off)}
    outcome: Outcome = "holds"
    if odd:
        outcome, evidence = "contradicted", _odd(odd, len(record.sweep["nodes"]))
    elif doubtful:
        outcome, evidence = "inconclusive", _doubtful(doubtful)
    else:
        evidence = _single(record, off)
    return verdict(record, "nodes-alike", ALIKE, outcome, evidence, numbers=numbers, trouble=bad)


def _odd(odd: Mapping[str, Sequence[Off]], nodes: int) -> str:
    each = [f"{node} in {len(off)} rows: {_some(list(map(str, off)))}" for node, off in odd.items()]
    if len(odd) == 1:
        return f"the odd one out is {each[0]}"
    nobody = "; of two nobody can say which is the odd one" if nodes == 2 else ""
    return f"unlike the others are {'; '.join(each)}{nobody}"


def _doubtful(doubtful: Mapping[str, Sequence[Off]]) -> str:
    each = [
        f"{node} is off in {len(off)} rows, all from one run of {off[0].program}.c:"
        f" {_some(list(map(str, off)))}"
        for node, off in doubtful.items()
    ]
    return f"{'; '.join(each)}; something may have disturbed that run"


def _single(record: Record, off: Sequence[Off]) -> str:
    if off:
        single = _some([f"{each.node} in {each}" for each in off])
        return f"no node is off in {SEVERAL} rows, so none is odd; single rows differ: {single}"
    compared = [name for name in shared_rows(record) if name not in WAKING]
    return (
        f"no node is odd: in none of {len(compared)} rows is one more than {OFF:.0%} off the middle;"
        " rows in which one process wakes another are no sign"
    )


def _some(said: Sequence[str]) -> str:
    more = len(said) - MOST_TOLD
    return ", ".join(said[:MOST_TOLD]) + (f" and {more} more" if more > 0 else "")


def picture(record: Record) -> Figure:
    """How many times as fast as in paper A each row is, on each node."""
    from beowulf import figures

    need_study(record, ID)
    values: dict[str, dict[str, float]] = {}
    for node in record.sweep["nodes"]:
        printed = beside_paper_a(record, node).set_index("row")["paper A"]
        found = rows(record, node)
        values[node] = {
            name: times_faster(row, float(printed[name]))
            for name, row in found.items()
            if not math.isnan(printed[name])
        }
    value_title = "times as fast as in paper A"
    if len(values) > 1:
        return figures.dots(
            values, title="Each node beside paper A's", value_title=value_title, factors=True
        )
    [alone] = values.values()
    return figures.bars(
        alone, title="One node beside paper A's", value_title=value_title, factors=True
    )
