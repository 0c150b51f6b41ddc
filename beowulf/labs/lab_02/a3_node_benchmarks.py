"""A3, one node: how long do system calls, local messages, moving bytes and loads from memory take?

Paper A, tables 1 to 4: LMBench 2.0 of "this cluster" (it names no node), next to the published figures of the Grendel
cluster. Here the programs of lab 02 measure the same rows, with other code and the same definitions, except that the
two rereads add words of 8 bytes, LMBench's of 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from beowulf import mpi, paths
from beowulf.cluster import Cluster
from beowulf.course import personal_code
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.labs.lab_02.node_comparison import OFF, SEVERAL, nodes_alike, some
from beowulf.labs.lab_02.node_rows import PROGRAMS, RESULT, Nodes, printed_rows, times_faster
from beowulf.measure.judgement import below, together
from beowulf.measure.measurement import Measurement
from beowulf.record import Point
from beowulf.studies.quantity import Quantity, all_hold, in_order, known
from beowulf.studies.study import Claim, Judgement, Plan, Study

LAB = "02-node-benchmarks"

LAUNCHES = 6
SHORT = ("--passes", 3, "--chunks", 4, "--chunk-us", 500)
# Linking the lines of an area takes longer than measuring it, and is done once in each pass.
QUICK_MEMORY = ("--passes", 1, "--chunks", 12, "--times-cache", 4)
QUICK = dict.fromkeys(PROGRAMS, SHORT) | {"memory": QUICK_MEMORY}
# Launches on four nodes of one machine take turns. These two touch arrays of twice the last cache, here 960 MiB: with
# two passes of the first, six launches took 1046 s.
FULL: dict[str, tuple[str | int, ...]] = {
    "bandwidths": ("--passes", 1, "--chunks", 6),
    "memory": ("--passes", 1, "--chunks", 12),
}
# The programs wait in system calls, which are measured: no polling may replace them.
NO_PATIENCE = {"BEOWULF_PATIENT": "never"}
STEPS = ("null call", "stat", "fork proc", "exec proc", "shell proc")


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """All programs of lab 02 on each node, in several rounds.

    Nodes on one machine share its cores and would disturb each other, so they take turns. Nodes on separate machines
    run at the same time.
    """
    nodes = list(cluster.nodes)
    refuse_what_cannot_run(cluster)
    waves = turns(cluster, nodes)
    launches = 1 if quick else LAUNCHES

    def steps(measurement: Measurement) -> None:
        measurement.prepare_all([source(name) for name in PROGRAMS])
        for launch in range(launches):
            for name in PROGRAMS:
                passes = QUICK[name] if quick else FULL.get(name, ())
                words = [*passes, "--seed", personal_code.seed(launch)]
                for wave in waves:
                    run(measurement, wave, {"program": name, "launch": launch}, words)

    sweep = {"nodes": nodes, "launches": launches, "turns": waves}
    return Plan(launches * len(nodes) * len(PROGRAMS), sweep, steps)


def refuse_what_cannot_run(cluster: Cluster) -> None:
    """Refuse before a measurement that takes minutes begins."""
    if dead := cluster.dead_nodes():
        verb, it = ("is", "it") if len(dead) == 1 else ("are", "them")
        hint = f"`beowulf up` starts {it} again."
        raise LabError(f"{', '.join(dead)} {verb} down.", hint, dead[0])
    if not mpi.RPC.is_dir():
        raise LabError(
            "The rows RPC/UDP and RPC/TCP need libtirpc, and its headers are missing.",
            "`sudo apt-get install libtirpc-dev`, or `beowulf doctor --fix`.",
        )


def turns(cluster: Cluster, nodes: Sequence[str]) -> list[list[str]]:
    """Which nodes run at the same time, turn by turn: one of each machine."""
    machines: dict[str, list[str]] = {}
    for node in nodes:
        # The kernel picks this number at random when it boots: nodes with the same one share a kernel and its cores.
        boot_id = cluster.run(node, "cat /proc/sys/kernel/random/boot_id").stdout.strip()
        machines.setdefault(boot_id, []).append(node)
    each = zip_longest(*machines.values())
    return [[node for node in turn if node is not None] for turn in each]


def source(name: str) -> Path:
    """The C program of this name."""
    return paths.lab(LAB) / f"{name}.c"


def run(
    measurement: Measurement, wave: Sequence[str], at: Mapping[str, Any], words: Sequence[str | int]
) -> None:
    """Run one program on the nodes of a turn, and keep its results."""
    file = source(at["program"])
    how: dict[str, Any] = {"environment": NO_PATIENCE, "launch": at["launch"]}
    if len(wave) > 1:
        about = {"program": at["program"]}
        of_nodes = measurement.launch_separately(file, wave, words, at=about, **how)
    else:
        [node] = wave
        about = {"node": node, "program": at["program"]}
        of_nodes = {node: measurement.launch(file, 1, words, at=about, hosts=wave, **how)}
    for node, lines in of_nodes.items():
        for line in lines:
            if line["kind"] == "result":
                facts = {key: value for key, value in line.items() if key not in ("kind", "row")}
                place = {RESULT: line["row"], **at, "node": node}
                measurement.points.append(Point(place, facts=facts))


def row(program: str, name: str) -> Quantity:
    """A row of the first node."""
    return Quantity(name, lambda nodes: nodes.first[name], PROGRAMS[program][1])


def deeper_takes_longer(nodes: Nodes) -> Judgement:
    """The caches that were found, and the main memory."""
    levels = [each for each in nodes.first.values() if each.program == "memory"]
    return in_order(*([known(each.name, each, each.unit)] for each in levels))(nodes)


def better_than_grendel(program: str, says: str, place: str) -> Claim:
    """Whether the first node is better than Grendel in each row of the table that a program measures.

    A demonstration: the paper compares its own cluster, and ours is newer than both.
    """

    def judge(nodes: Nodes) -> Judgement:
        printed = printed_rows()
        table = [
            (row, printed[name][1])
            for name, row in nodes.first.items()
            if row.program == program and name in printed
        ]
        if not table:
            raise LabError(f"The Record has no rows from {program}.c.", "Measure again.")
        rates = program == "bandwidths"
        outcomes = [below(other, row) if rates else below(row, other) for row, other in table]
        others = [
            f"{row.name} {row.median:,.4g} ({row.low:,.4g} to {row.high:,.4g}) and {other:.3g} {row.unit}"
            for (row, other), outcome in zip(table, outcomes, strict=True)
            if outcome != "holds"
        ]
        return Judgement(
            together(outcomes),
            f"better than Grendel, with the whole interval, in {len(table) - len(others)} of {len(table)} rows"
            + (f"; not in these, ours and Grendel's: {some(others)}" if others else ""),
            {row.name: times_faster(row, other) for row, other in table},
        )

    return Claim(
        f"{program}-better-than-grendel", says, judge, place=place, rests_on="demonstration"
    )


def picture(nodes: Nodes) -> Figure:
    """How many times as fast as in paper A each row is, on each node and on Grendel."""
    from beowulf import figures

    printed = printed_rows()
    values = {
        node: {
            name: times_faster(row, printed[name][0])
            for name, row in nodes[node].items()
            if name in printed
        }
        for node in nodes.names
    }
    values["Grendel (tables 1-4)"] = {
        name: times_faster(replace(row, median=printed[name][1]), printed[name][0])
        for name, row in nodes.first.items()
        if name in printed
    }
    title = "times as fast as in paper A"
    return figures.dots(
        values, title="Each node compared with paper A's", value_title=title, factors=True
    )


STUDY = Study(
    id="A3",
    title="One node: system calls, local messages, bandwidths and memory",
    plan=plan,
    facts=Nodes,
    judged=[
        Claim(
            "more-takes-longer",
            "A call that does more takes longer: null call, stat, fork, exec, shell",
            in_order(*([row("processes", name)] for name in STEPS)),
        ),
        Claim(
            "deeper-takes-longer",
            "Each cache takes longer than the one before, and main memory longest",
            deeper_takes_longer,
        ),
        Claim(
            "calls-cost-more",
            "A remote procedure call takes longer than the protocol that carries it",
            all_hold(
                *(
                    row("latencies", f"RPC/{name}") > row("latencies", name)
                    for name in ("UDP", "TCP")
                )
            ),
        ),
        better_than_grendel(
            "processes",
            "The node is better than Grendel in each row of table 1 (the paper: 'generally', 'significantly better')",
            "table 1",
        ),
        better_than_grendel(
            "latencies",
            "The node is better than Grendel's figures in each row of table 2",
            "table 2",
        ),
        better_than_grendel(
            "bandwidths",
            "The node is better than Grendel in each row of table 3 ('in the whole' category)",
            "table 3",
        ),
        better_than_grendel(
            "memory",
            "The node is better than Grendel in each row of table 4 ('better latencies')",
            "table 4",
        ),
        Claim(
            "nodes-alike",
            f"All nodes reach the same figures: none is more than {OFF:.0%} off the middle in {SEVERAL} rows or more",
            nodes_alike,
            needs="quiet samples",
        ),
    ],
    draw=picture,
    differs={
        "holds": (
            "A call that does more, or memory that is farther away, still takes longer; a modern processor beats "
            "Grendel's, in a report of 2001, in most rows, which shows nothing about the paper's cluster."
        ),
        "contradicted": {
            "": (
                "Starting a process, or waiting for a single load, is a chain of steps hardly "
                "shorter than in 2001, so some rows are slower than Grendel's; an odd node has other "
                "hardware or settings."
            ),
            "namespaces": (
                "Starting a process, or waiting for a single load, is a chain of steps, longer in a "
                "virtual machine, so some rows are slower than Grendel's; nodes of one machine "
                "differ if something disturbed one."
            ),
        },
        "inconclusive": (
            "Other programs on a core change a row that takes microseconds, so its interval can contain "
            "Grendel's figure, or a node can look odd; more launches on a quiet machine decide both."
        ),
    },
)
