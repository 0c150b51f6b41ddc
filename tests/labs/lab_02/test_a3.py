"""A3: do the claims follow from the samples, is the odd node found, and does a real cluster bring all rows?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from made import decided, named

from beowulf import mpi
from beowulf.cluster import Cluster, Completed
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError, UsageError
from beowulf.labs.lab_02 import a3_node_benchmarks as a3
from beowulf.labs.lab_02 import node_rows
from beowulf.labs.lab_02.node_comparison import OF_FILES, OVER_IP, compared
from beowulf.labs.lab_02.node_rows import RESULT, Row, printed_rows, rows
from beowulf.record import Record
from beowulf.studies import judge
from beowulf.verdict import Verdict
from tests.gold.lab_02 import LEVELS, nodes, printed, row_points
from tests.studies.null_records import Noise, assert_told_apart

made = partial(
    nodes, usual={}
)  # nodes that have paper A's own figures, but for what a test changes


def test_on_figures_like_the_papers_all_holds_but_that_each_row_beats_grendel() -> None:
    """The paper's own tables 1 and 2 have rows in which Grendel is the better one."""
    found = decided(made("node00", "node01", "node02"))
    worse = [claim for claim, outcome in found.items() if outcome != "holds"]
    assert worse == ["processes-better-than-grendel", "latencies-better-than-grendel"]
    assert {found[claim] for claim in worse} == {"contradicted"}
    shown = {each.claim for each in judge(made("node00")) if each.rests_on == "demonstration"}
    assert shown == {f"{program}-better-than-grendel" for program in printed()}


def test_better_than_grendel_is_judged_row_by_row() -> None:
    def verdict(factor: float, spread: float) -> Verdict:
        slower = {("node00", "TCP"): factor}
        times = {("node00", name): 0.5 for name in printed()["latencies"]} | slower
        record = made("node00", times=times)
        for point in record.points:
            point.samples[:] = [s * (1 + spread * n / 33) for n, s in enumerate(point.samples)]
        return named(record, "latencies-better-than-grendel")

    assert (verdict(0.5, 0.01).outcome, verdict(2.0, 0.01).outcome) == ("holds", "contradicted")
    assert verdict(16.4 / 14.1 / 1.15, 0.3).outcome == "inconclusive"
    evidence = verdict(2.0, 0.01).evidence
    assert (
        "in 5 of 6 rows; not in these, ours and Grendel's: TCP 28.34 (28.29 to 28.4) and 16.4 µs"
        in evidence
    )


@pytest.mark.nightly
def test_as_fast_as_grendel_is_rarely_better_and_twice_as_fast_mostly_is() -> None:
    record = made("node00")
    record.points = [p for p in record.points if "TCP" in p.at.values()]
    record.points = [p for p in record.points if p.at["program"] == "latencies"]

    def of(times: float, noise: Noise) -> Record:
        for point in record.points:
            if point.quantity:
                grendel = printed_rows()[point.at["row"]][1]
                point.samples[:] = list(grendel / times * noise(len(point.samples)))
        return record

    assert_told_apart(a3.STUDY, "latencies-better-than-grendel", of, 1.0, 2.0)


@pytest.mark.parametrize(
    ("row", "factor", "claim"),
    [
        ("stat", 0.01, "more-takes-longer"),
        ("L2 cache", 100.0, "deeper-takes-longer"),
        ("RPC/UDP", 0.1, "calls-cost-more"),
    ],
)
def test_a_row_that_is_out_of_order_contradicts_its_claim_alone(
    row: str, factor: float, claim: str
) -> None:
    found = decided(made("node00", times={("node00", row): factor}))
    assert found[claim] == "contradicted"
    contradicted = [name for name, outcome in found.items() if outcome == "contradicted"]
    assert [name for name in contradicted if "grendel" not in name] == [claim]


def test_a_cache_that_only_a_later_launch_found_comes_before_main_memory() -> None:
    record = made("node00")
    later = [p for p in record.points if p.at.get(RESULT) == "L2 cache"]
    record.points = [p for p in record.points if p not in later] + later
    assert [*rows(record, "node00")][-3:] == [*LEVELS]
    assert decided(record)["deeper-takes-longer"] == "holds"


FOUR = ("node00", "node01", "node02", "node03")
COPIED = ("file reread", "Mmap reread", "Bcopy (libc)", "Bcopy (hand)", "mem read", "mem write")
MEMORY = (*COPIED, "Main memory")
LARGEST = 1024 * LEVELS["Main memory"][2]


def alike(record: Record) -> Verdict:
    return named(record, "nodes-alike")


def slower(node: str, rows: Iterable[str], times: float = 1.5) -> dict[tuple[str, str], float]:
    return {(node, row): times for row in rows}


WAKING = {("node00", "pipe"): 1.88, ("node01", "pipe"): 0.2, ("node02", "pipe"): 0.19} | slower(
    "node03", ("pipe", "AF UNIX", "UDP", "TCP", "RPC/UDP"), 3.0
)
SINGLE = {("node00", "stat"): 1.27, ("node03", "stat"): 0.5, ("node03", "mem read"): 1.5}


@pytest.mark.parametrize(
    ("nodes", "factors", "outcome", "says"),
    [
        (
            *(FOUR, slower("node02", MEMORY), "contradicted"),
            "the odd one out is node02 in 7 rows: file reread (0.67 times the median)",
        ),
        (FOUR, SINGLE, "holds", "none is odd; single rows differ: node00 in stat (1.27 times"),
        (FOUR, WAKING, "holds", "rows in which one process wakes another do not count"),
        (
            *(FOUR, slower("node01", OVER_IP, 5.0), "contradicted"),
            "the odd one out is node01 in 4 rows: UDP (5.00 times the median)",
        ),
        (
            FOUR[:2],
            slower("node01", MEMORY),
            "contradicted",
            "with two nodes, nobody can say which",
        ),
        (FOUR[:1], {}, "inconclusive", ""),
    ],
    ids=["several rows", "single rows", "rows that wake", "through IP", "of two", "one alone"],
)
def test_a_node_that_is_off_in_several_rows_is_the_odd_one_and_named_with_them(
    nodes: tuple[str, ...], factors: dict[tuple[str, str], float], outcome: str, says: str
) -> None:
    found = alike(made(*nodes, times=factors))
    assert found.outcome == outcome
    assert says in found.evidence
    assert ("odd one out" in found.evidence) == ("odd one out" in says)


def test_rows_of_files_are_no_sign_where_nodes_share_a_machine_and_its_file_systems() -> None:
    record = made(*FOUR)
    for node in FOUR:
        for name in OF_FILES:
            times = 2.0 if node == "node03" else 1.0
            record.points += row_points(node, "processes", name, 5.0, times)
    record.points += [replace(p, at={**p.at, "launch": 1}) for p in record.points]
    apart, together = ({**record.cluster, "kind": kind} for kind in ("ssh", "namespaces"))
    assert alike(replace(record, cluster=apart)).outcome == "contradicted"
    assert alike(replace(record, cluster=together)).outcome == "holds"


def test_a_node_that_waited_for_a_core_has_a_good_best_and_is_not_odd() -> None:
    record = made(*FOUR, times=slower("node02", MEMORY))
    for point in record.select(node="node02"):
        if point.at.get("row") in COPIED or point.at.get("size_bytes") == LARGEST:
            point.samples[0] /= 1.5
    assert alike(record).outcome == "holds"


def test_a_single_run_of_one_program_does_not_tell_an_odd_node() -> None:
    record = made(*FOUR[:3], times=slower("node02", COPIED))
    found = alike(record)
    assert found.outcome == "inconclusive"
    assert "node02 is off in 6 rows, all from one run of bandwidths.c" in found.evidence
    # When later runs say the same, it is the node.
    later = [replace(p, at={**p.at, "launch": 1}) for p in record.points]
    record.points += later
    found = alike(record)
    assert found.outcome == "contradicted"
    assert "the odd one out is node02 in 6 rows" in found.evidence


def test_the_picture_of_four_nodes_has_room_for_every_row() -> None:
    nodes = [f"node0{number}" for number in range(4)]
    shown = a3.STUDY.picture(made(*nodes, times={("node02", "stat"): 0.25}))
    assert "node02: null call 1" in shown.alt
    assert shown.drawing.axes[0].get_xscale() == "log"
    grendel = shown.table[shown.table["series"].str.startswith("Grendel")].set_index("name")
    assert grendel["times as fast as in paper A"]["TCP"] == pytest.approx(14.1 / 16.4)
    assert grendel["times as fast as in paper A"]["mem read"] == pytest.approx(481.7 / 1522)
    names = shown.drawing.axes[0].get_yticklabels()
    assert len(names) == shown.table["name"].nunique() > 25
    points = 72 * shown.drawing.get_size_inches()[1] / len(names)
    assert points > 1.2 * names[0].get_fontsize()


def test_nodes_stand_beside_each_other_and_the_first_beside_paper_a() -> None:
    record = made("node00", "node01", times={("node00", "stat"): 0.5, ("node01", "pipe"): 2.0})
    found = compared(record).set_index("row")
    columns = ["unit", "node00", "node01", "paper A", "Grendel", "times as fast"]
    assert list(found.columns) == columns
    assert len(found) == sum(len(each) for each in printed().values())
    same = found.drop(index=[*LEVELS, "stat"])
    assert list(same["node00"]) == pytest.approx(list(same["paper A"]))
    assert found.loc["stat", "times as fast"] == pytest.approx(2)
    assert found.loc["pipe", "times as fast"] == pytest.approx(1)
    assert found.loc["pipe", "node01"] == pytest.approx(2 * found.loc["pipe", "node00"])
    assert found.loc["pipe", "Grendel"] == 4.021


def test_the_rows_of_each_node_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(record: Record, node: str) -> dict[str, Row]:
        asked.append(node)
        return rows(record, node)

    monkeypatch.setattr(node_rows, "rows", counted)
    decided(made(*FOUR))
    assert sorted(asked) == sorted(FOUR)


# ---- Where it runs ------------------------------------------------------------------------------


class Machines:
    """Nodes on machines with these names: what the study asks before it launches anything."""

    def __init__(self, **machines: str) -> None:
        self.machines, self.nodes = machines, tuple(machines)
        self.dead: list[str] = []

    def dead_nodes(self) -> list[str]:
        return self.dead

    def run(self, node: str, command: str) -> Completed:
        assert "boot_id" in command
        return Completed(0, self.machines[node] + "\n", "", 0.0)


@pytest.mark.parametrize(
    ("machines", "turns"),
    [
        ({"a": "x", "b": "y", "c": "z"}, [["a", "b", "c"]]),
        ({"a": "x", "b": "y", "c": "x"}, [["a", "b"], ["c"]]),
    ],
)
def test_nodes_of_one_machine_take_turns(machines: dict[str, str], turns: list[list[str]]) -> None:
    assert a3.turns(cast("Cluster", Machines(**machines)), list(machines)) == turns


def test_a_dead_node_is_reported_before_anything_is_measured(tmp_path: Path) -> None:
    machines = Machines(node00="x", node01="x")
    machines.dead = ["node01"]
    with pytest.raises(LabError, match=r"node01 is down\. `beowulf up` starts it again"):
        a3.STUDY.measure(cast("Cluster", machines), tmp_path)


def test_missing_headers_of_rpc_are_reported_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mpi, "RPC", tmp_path / "tirpc")
    with pytest.raises(LabError, match=r"RPC/UDP and RPC/TCP need libtirpc.*libtirpc-dev"):
        a3.STUDY.measure(cast("Cluster", Machines(node00="x")), tmp_path)


@pytest.mark.nightly
@pytest.mark.cluster
def test_a_cluster_brings_all_rows(cluster: NamespaceCluster, tmp_path: Path) -> None:
    record = a3.STUDY.measure(cluster, tmp_path, quick=True)
    assert record.complete
    assert record.sweep["turns"] == [[node] for node in cluster.nodes]
    wanted = {*printed()["processes"], "pipe", "pipe bandwidth", "RPC/TCP", "Main memory"}
    for node in cluster.nodes:
        known = rows(record, node)
        assert wanted <= set(known)
        assert all(known[name].median > 0 for name in wanted)
    assert "null call" in a3.STUDY.picture(record).alt


@pytest.mark.cluster
def test_nodes_that_run_together_keep_their_samples_separate(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(a3, "PROGRAMS", {"latencies": a3.PROGRAMS["latencies"]})
    monkeypatch.setattr(a3, "turns", lambda _, nodes: [nodes])
    record = a3.STUDY.measure(cluster, tmp_path, quick=True)
    assert (record.complete, record.sweep["turns"]) == (True, [list(cluster.nodes)])
    for node in cluster.nodes:
        assert set(rows(record, node)) == {*printed()["latencies"], "fifo", "semaphore"}
        [about] = record.select(about=True, node=node)
        assert about.facts["hosts"] == [node]


@pytest.mark.cluster
def test_a_program_that_fails_on_a_node_is_reported_with_that_node(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(a3, "PROGRAMS", {"latencies": a3.PROGRAMS["latencies"]})
    monkeypatch.setattr(a3, "QUICK", {"latencies": ("--rows", "pip")})
    monkeypatch.setattr(a3, "turns", lambda _, nodes: [nodes])
    with pytest.raises(UsageError, match=r"--rows is one of pipe, .* node00 reports this"):
        a3.STUDY.measure(cluster, tmp_path, quick=True)
