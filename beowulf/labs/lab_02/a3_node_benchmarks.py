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

from beowulf import mpi, paths, variant
from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.labs.lab_02 import node_neighbours
from beowulf.labs.lab_02.node_comparison import (
    OFF,
    SEVERAL,
    WAKING,
    Off,
    doubtful_nodes,
    odd_nodes,
    off_rows,
    shared_rows,
)
from beowulf.labs.lab_02.node_rows import (
    PROGRAMS,
    RESULT,
    Row,
    beside_paper_a,
    printed_rows,
    rows,
    times_faster,
)
from beowulf.measure.judgement import below, rising, together
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record
from beowulf.studies.study import Claim, Judgement, Plan, Study, undecided

LAB = "02-node-benchmarks"

LAUNCHES = 3
SHORT = ("--passes", 3, "--chunks", 4, "--chunk-us", 500)
# To join the lines of an area takes longer than to measure it, and has to be done once in each pass.
QUICK_MEMORY = ("--passes", 1, "--chunks", 12, "--times-cache", 4)
QUICK = dict.fromkeys(PROGRAMS, SHORT) | {"memory": QUICK_MEMORY}
# Three launches on four nodes of one machine take turns: with all passes of these two, a study took 1304 s.
FULL: dict[str, tuple[str | int, ...]] = {
    "bandwidths": ("--passes", 2, "--chunks", 6),
    "memory": ("--passes", 1, "--chunks", 12),
}
MOST_NAMED = 5
# The programs wait in calls of the kernel that are measured: nothing may take their place.
NO_PATIENCE = {"BEOWULF_PATIENT": "never"}
STEPS = ("null call", "stat", "fork proc", "exec proc", "shell proc")


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """All programs of lab 02 on each node, in several rounds, alternating with the tools of others.

    Nodes that are one machine share its cores, and would measure how they disturb each other: they take turns. Nodes
    that are machines of their own run at the same time.
    """
    nodes = list(cluster.nodes)
    refuse_what_cannot_run(cluster)
    waves = turns(cluster, nodes)
    launches = 1 if quick else LAUNCHES

    def steps(measurement: Measurement) -> None:
        measurement.prepare_all([source(name) for name in PROGRAMS])
        alone = len(waves[0]) == 1
        tools = {node: node_neighbours.installed(cluster, node) if alone else {} for node in nodes}
        measurement.sweep["beside"] = tools
        for launch in range(launches):
            for name in PROGRAMS:
                for wave in waves:
                    at = {"program": name, "launch": launch}
                    for node, lines in run(measurement, wave, at, quick).items():
                        keep(measurement, lines, {**at, "node": node}, tools[node], quick)

    sweep = {"nodes": nodes, "launches": launches, "turns": waves}
    return Plan(launches * len(nodes) * len(PROGRAMS), sweep, steps)


def refuse_what_cannot_run(cluster: Cluster) -> None:
    """Before anything is measured, which takes minutes."""
    if dead := cluster.dead_nodes():
        verb, it = ("is", "it") if len(dead) == 1 else ("are", "them")
        hint = f"`beowulf up` starts {it} again."
        raise LabError(f"{', '.join(dead)} {verb} down.", hint, dead[0])
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
        boot_id = cluster.run(node, "cat /proc/sys/kernel/random/boot_id").stdout.strip()
        machines.setdefault(boot_id, []).append(node)
    each = zip_longest(*machines.values())
    return [[node for node in turn if node is not None] for turn in each]


def source(name: str) -> Path:
    """The C program of this name."""
    return paths.root() / "labs" / LAB / f"{name}.c"


def run(
    measurement: Measurement, wave: Sequence[str], at: Mapping[str, Any], quick: bool
) -> dict[str, list[dict[str, Any]]]:
    """Run one program on the nodes of a turn; what it printed on each."""
    name, launch = at["program"], at["launch"]
    words = [*(QUICK[name] if quick else FULL.get(name, ())), "--seed", variant.seed(launch)]
    if len(wave) > 1:
        return measurement.launch_separately(
            source(name),
            wave,
            words,
            environment=NO_PATIENCE,
            launch=launch,
            at={"program": name},
        )
    [node] = wave
    lines = measurement.launch(
        source(name),
        1,
        words,
        environment=NO_PATIENCE,
        launch=launch,
        at={"node": node, "program": name},
        hosts=(node,),
    )
    return {node: lines}


def keep(
    measurement: Measurement,
    lines: Sequence[Mapping[str, Any]],
    at: Mapping[str, Any],
    tools: Mapping[str, str],
    quick: bool,
) -> None:
    """Keep the results that a program printed, and what the tools of the same node find at once after it."""
    for line in lines:
        if line["kind"] == "result":
            facts = {key: value for key, value in line.items() if key not in ("kind", "row")}
            measurement.points.append(Point({RESULT: line["row"], **at}, facts=facts))
    points, wrong = node_neighbours.beside(measurement.cluster, lines, at, tools, quick=quick)
    measurement.points += points
    measurement.warnings += [each for each in wrong if each not in measurement.warnings]


def first_node(record: Record) -> dict[str, Row]:
    """The rows of the first node that was measured."""
    return rows(record, record.sweep["nodes"][0])


def climb(steps: Sequence[Row]) -> Judgement:
    """Whether each row takes longer than the one before."""
    evidence = ", ".join(f"{row.name} {row.median:.3g} {row.unit}" for row in steps)
    outcome = rising([(row.low, row.high) for row in steps])
    return Judgement(outcome, evidence, {row.name: row.median for row in steps})


def more_takes_longer(record: Record) -> Judgement:
    """The calls, each of which does more than the one before."""
    known = first_node(record)
    return climb([known[name] for name in STEPS])


def deeper_takes_longer(record: Record) -> Judgement:
    """The caches and the main memory."""
    return climb([row for row in first_node(record).values() if row.program == "memory"])


def calls_cost_more(record: Record) -> Judgement:
    """Each remote procedure call beside its protocol."""
    known = first_node(record)
    pairs = [(known[name], known[f"RPC/{name}"]) for name in ("UDP", "TCP")]
    outcome = together([rising([(a.low, a.high), (b.low, b.high)]) for a, b in pairs])
    evidence = ", ".join(
        f"{b.name} takes {b.median / a.median:.2f} times {a.name}" for a, b in pairs
    )
    return Judgement(outcome, evidence, {b.name: b.median / a.median for a, b in pairs})


def better_than_grendel(program: str, says: str) -> Claim:
    """Whether the first node is better than Grendel in each row of the table that a program measures."""

    def judge(record: Record) -> Judgement:
        printed = printed_rows()
        known = [row for row in first_node(record).values() if row.program == program]
        table = [(row, printed[row.name][1]) for row in known if row.name in printed]
        if not table:
            raise LabError(f"The Record has no rows of {program}.c.", "Measure again.")
        rates = program == "bandwidths"
        outcomes = [below(other, row) if rates else below(row, other) for row, other in table]
        others = [
            f"{row.name} {row.median:.3g} and {other:.3g} {row.unit}"
            for (row, other), outcome in zip(table, outcomes, strict=True)
            if outcome != "holds"
        ]
        return Judgement(
            together(outcomes),
            f"better than Grendel in {len(table) - len(others)} of {len(table)} rows"
            + (f"; not in these, ours and Grendel's: {_some(others)}" if others else ""),
            {row.name: times_faster(row, other) for row, other in table},
        )

    return Claim(f"{program}-better-than-grendel", says, judge)


def nodes_alike(record: Record) -> Judgement:
    """Whether no node is odd; of single rows it only says so."""
    nodes = len(record.sweep["nodes"])
    if nodes < 2:
        advice = "Measure all nodes (`beowulf study A3`), and look for the odd one out."
        return undecided("one node was measured", advice)
    odd, doubtful, off = odd_nodes(record), doubtful_nodes(record), off_rows(record)
    numbers = {"odd": len(odd), "off": len(off)}
    if odd:
        return Judgement("contradicted", _odd(odd, nodes), numbers)
    if doubtful:
        return Judgement("inconclusive", _doubtful(doubtful), numbers)
    return Judgement("holds", _single(record, off), numbers)


def _odd(odd: Mapping[str, Sequence[Off]], nodes: int) -> str:
    each = [f"{node} in {len(off)} rows: {_some(list(map(str, off)))}" for node, off in odd.items()]
    if len(odd) == 1:
        return f"the odd one out is {each[0]}"
    nobody = "; of two nobody can say which is the odd one" if nodes == 2 else ""
    return f"these differ from the others: {'; '.join(each)}{nobody}"


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


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def picture(record: Record) -> Figure:
    """How many times as fast as in paper A each row is, on each node."""
    from beowulf import figures

    values: dict[str, dict[str, float]] = {}
    for node in record.sweep["nodes"]:
        printed = beside_paper_a(record, node).set_index("row")["paper A"]
        known = rows(record, node)
        values[node] = {
            name: times_faster(row, float(printed[name]))
            for name, row in known.items()
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


CLAIMS = [
    Claim(
        "more-takes-longer",
        "A call that does more takes longer: null call, stat, fork, exec, shell",
        more_takes_longer,
    ),
    Claim(
        "deeper-takes-longer",
        "Each cache takes longer than the one before, and main memory longest",
        deeper_takes_longer,
    ),
    Claim(
        "calls-cost-more",
        "A remote procedure call takes longer than the protocol that carries it",
        calls_cost_more,
    ),
    better_than_grendel(
        "processes",
        "The node is better than Grendel in each row of table 1 ('significantly better')",
    ),
    better_than_grendel("latencies", "The node is better than Grendel in each row of table 2"),
    better_than_grendel(
        "bandwidths",
        "The node is better than Grendel in each row of table 3 ('the whole category')",
    ),
    better_than_grendel(
        "memory", "The node is better than Grendel in each row of table 4 ('better latencies')"
    ),
    Claim("nodes-alike", "All nodes reach the same figures", nodes_alike, needs="quiet samples"),
]

STUDY = Study(
    id="A3",
    title="One node: system calls, local messages, bandwidths and memory",
    plan=plan,
    judged=CLAIMS,
    draw=picture,
    differs={
        "holds": (
            "A processor of today is faster than Grendel's of 2001 where rows are rates and "
            "caches, a call that does more still takes longer, and nodes that are one machine "
            "reach the same figures."
        ),
        "contradicted": (
            "To start a process, to wake one or to wait for a single load is a chain of steps, "
            "which has become little shorter since 2001, and a virtual machine adds translations "
            "of addresses to it, so single rows fall behind Grendel's; an odd node differs as "
            "well."
        ),
        "inconclusive": (
            "A row of microseconds moves with whatever else runs on its core, so its interval can "
            "hold Grendel's figure, and one disturbed run can make a node look odd."
        ),
    },
)
