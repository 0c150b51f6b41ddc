"""`beowulf node-bench`: does it measure the nodes that are named, keep A3's Record, and say what is wrong?"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from node_records import made, printed
from running import Beowulf, first

from beowulf.cli import node_bench
from beowulf.record import newest
from beowulf.studies import judge
from beowulf.studies.lab_02 import a3_node_benchmarks as a3
from beowulf.studies.lab_02.node_neighbours import ABSENT, PERF
from beowulf.studies.lab_02.node_rows import rows

OF_PERF = ("null call", "pipe", "Bcopy (libc)")
LONGEST_S = 600.0  # on a machine that does much else; some ten seconds otherwise


@pytest.mark.nightly
@pytest.mark.cluster
def test_a_node_brings_all_rows_and_keeps_the_record_of_the_study(at_cluster: Beowulf) -> None:
    nodes = ["node01"]
    done = subprocess.run(
        at_cluster.words("node-bench", *nodes, "--quick", "--json"),
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        cwd=at_cluster.here,
        env=at_cluster.environment,
    )
    assert done.returncode == 0
    said = json.loads(done.stdout)
    record = newest(at_cluster.here / "records", "A3", "")
    assert record
    assert record.complete
    assert said["record"].endswith(record.file_name)
    assert said["nodes"] == nodes
    assert said["turns"] == [["node01"]]
    assert [verdict["claim"] for verdict in said["verdicts"]] == [claim.name for claim in a3.CLAIMS]
    by_name = {line["row"]: line for line in said["rows"]}
    wanted = {*printed()["processes"], "pipe", "pipe bandwidth", "RPC/TCP", "Main memory"}
    assert wanted <= set(by_name)
    for node in nodes:
        assert all(by_name[name][node] > 0 for name in wanted)
        assert {name: row.median for name, row in rows(record, node).items() if name in wanted} == {
            name: by_name[name][node] for name in wanted
        }
    assert by_name["spawn proc"]["paper A"] is None
    assert by_name["null call"]["Grendel"] == 0.27
    if shutil.which("perf"):
        beside = {(line["node"], line["row"]) for line in said["beside"] if line["tool"] == PERF}
        assert beside == {(node, row) for node in nodes for row in OF_PERF}
    assert "null call" in a3.STUDY.picture(record).alt


# ---- What is printed ----------------------------------------------------------------------------


def shown(capsys: pytest.CaptureFixture[str], *nodes: str, **how: Any) -> str:
    node_bench.show(made(*nodes, **how))
    return capsys.readouterr().out


def line_of(text: str, row: str) -> list[str]:
    """The cells of the first line of a row."""
    [first, *_] = [line for line in text.splitlines() if line.startswith(f"│ {row} ")]
    return [cell.strip() for cell in first.strip("│").split("│")]


def test_one_node_stands_beside_both_columns_of_the_paper(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = shown(capsys, "node00", spread=1e-6)
    assert line_of(text, "stat") == [
        "stat",
        "µs",
        "1.78 (1.78 to 1.78)",
        "1.78",
        "1.78",
        "3.72",
        "1",
    ]
    assert line_of(text, "pipe bandwidth")[4:] == ["1181", "791", "1"]
    assert "turn" not in text


def test_several_nodes_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "node00", "node01", spread=1e-6, factors={("node01", "stat"): 2.0})
    assert line_of(text, "stat") == ["stat", "µs", "1.78", "3.56", "1.78", "3.72", "1"]
    assert "One node at a time: nodes that share the cores of one machine" in text


def test_that_nodes_disturbed_each_other_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "node00", "node01", disturbed=True)
    assert "All nodes ran at the same time." in text
    assert "disturb each other" in text


def test_what_a_tool_found_stands_beside_ours(capsys: pytest.CaptureFixture[str]) -> None:
    beside = {("node00", "stat", "lmbench"): [(1.0, 2.0), (3.0, 2.0), (4.0, 2.0)]}
    text = shown(capsys, "node00", beside=beside)
    assert (
        "│ node00 │ stat │ lmbench │ µs   │    3 │      2 │ 1.500 (0.500 to 2.000) │     3 │"
        in text
    )


def test_a_tool_that_is_missing_is_reported_once_for_all_nodes() -> None:
    record = made("node00", "node01")
    tools = {PERF: f"{ABSENT}: get it", "lmbench": "/usr/lib/lmbench"}
    record.sweep["beside"] = {"node00": tools, "node01": tools}
    assert node_bench.missing_tools(record) == ["perf bench is not on node00, node01: get it."]


def test_plain_data_are_json_where_there_is_no_figure() -> None:
    record = made("node00", "node01", "node02", factors={("node01", "stat"): 2.0})
    text = json.dumps(node_bench.plain(record, Path("here"), judge(record)), allow_nan=False)
    plain = json.loads(text)
    assert [(off["node"], off["row"]) for off in plain["off"]] == [("node01", "stat")]
    assert plain["odd"] == []


# ---- What cannot be measured --------------------------------------------------------------------


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, namespaces_work: None) -> Iterator[Beowulf]:
    """A learner whose cluster of two nodes has lost the second."""
    folder = tmp_path_factory.mktemp("lost")
    learner = Beowulf(folder / "state", folder)
    learner("up", "--nodes", "2")
    learner.cluster.kill("node01")
    yield learner
    learner.end()


@pytest.mark.cluster
@pytest.mark.parametrize(
    "words", first(1, [["--all"], ["node01"], ["node00", "node01", "--together"]])
)
def test_a_dead_node_is_named_and_nothing_is_kept(own: Beowulf, words: list[str]) -> None:
    said = own("node-bench", *words, "--quick", code=1)
    assert said.strip().startswith("beowulf: node01 is down. `beowulf up` starts it again;")
    assert not list(own.here.glob("records/*.json"))


@pytest.mark.cluster
def test_an_unknown_node_is_refused_with_those_that_there_are(own: Beowulf) -> None:
    said = own("node-bench", "node07", code=2)
    assert said.strip() == "beowulf: There is no node node07. There are: node00, node01."


@pytest.mark.cluster
def test_a_machine_without_a_compiler_says_so(own: Beowulf) -> None:
    said = own("node-bench", "--quick", code=1, MPICH_CC="/nowhere/gcc")
    assert "There is no C compiler to run" in said
    assert not list(own.here.glob("records/*.json"))


def test_nodes_and_all_of_them_contradict_each_other(tmp_path: Path) -> None:
    said = Beowulf(tmp_path / "state", tmp_path)("node-bench", "node01", "--all", code=2)
    assert said == "beowulf: Either name the nodes or say `--all`, not both.\n"


def test_without_a_cluster_a_message_says_how_to_get_one(tmp_path: Path) -> None:
    said = Beowulf(tmp_path / "state", tmp_path)("node-bench", "--all", code=1)
    assert "`beowulf up`" in said
