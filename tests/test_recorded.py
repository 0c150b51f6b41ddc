"""Does a recorded cluster give what was recorded, and say in a sentence what was not?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from running import Beowulf

import beowulf as package
from beowulf import mpi, notebook
from beowulf.cluster import Completed, connect
from beowulf.cluster.recorded import RecordedCluster, remember
from beowulf.errors import LabError
from beowulf.record import Point, Record, RecordError

NODES = ["node00", "node01"]
ADDRESSES = {"node00": "192.168.0.8", "node01": "192.168.0.9"}


def keep(folder: Path, study: str, started: str, **more: Any) -> Record:
    folder.mkdir(parents=True, exist_ok=True)
    record = Record(study, started=started, ended=started, **more)
    record.save_in(folder)
    return record


@pytest.fixture
def records(tmp_path: Path) -> Path:
    folder = tmp_path / "records"
    described = {"kind": "namespaces", "nodes": NODES, "addresses": ADDRESSES}
    keep(folder, "A2", "2026-01-01T00:00:00Z", cluster={**described, "rate": "10mbit"})
    keep(folder, "A2", "2026-01-03T00:00:00Z", cluster={**described, "rate": "100mbit"})
    keep(folder, "A2", "2026-01-02T00:00:00Z", variant="broken-a", cluster=described)
    keep(folder, "A5", "2026-01-02T12:00:00Z", points=[Point({"where": "switch"})])
    remember(folder, "node01", "hostname", Completed(0, "node01\n", "", 0.1))
    return folder


@pytest.fixture
def recorded(records: Path) -> RecordedCluster:
    return RecordedCluster(records)


def test_connect_gives_the_recorded_cluster_where_one_is_named(
    records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEOWULF_RECORDED", str(records))
    for found in (connect(), package.connect("elsewhere")):
        assert isinstance(found, RecordedCluster)
        assert found.records == records
        assert found.nodes == tuple(NODES)


def test_the_newest_record_of_a_study_and_variant_is_given(recorded: RecordedCluster) -> None:
    assert package.study("A2", recorded).started == "2026-01-03T00:00:00Z"
    assert package.study("a2", recorded, variant="broken-a").started == "2026-01-02T00:00:00Z"
    assert package.study("A5", recorded).points == [Point({"where": "switch"})]


@pytest.mark.parametrize(
    ("study", "variant", "sentence"),
    [
        ("A2", "broken-b", "There is no Record of study A2, variant broken-b"),
        ("A5", "x", "There is no Record of study A5, variant x"),
    ],
)
def test_a_record_that_nobody_measured_is_reported_to_be_missing(
    recorded: RecordedCluster, study: str, variant: str, sentence: str
) -> None:
    with pytest.raises(LabError, match=sentence):
        package.study(study, recorded, variant=variant)


def test_an_answer_is_replayed(recorded: RecordedCluster) -> None:
    assert recorded.ask("node01", "hostname") == "node01\n"
    assert recorded.run("node01", "hostname").returncode == 0


def test_a_question_that_nobody_asked_is_reported_to_be_one(recorded: RecordedCluster) -> None:
    for node, command in (("node00", "hostname"), ("node01", "uptime")):
        with pytest.raises(LabError, match=f"`{command}` was not run on {node}"):
            recorded.ask(node, command)


def test_a_later_answer_takes_the_place_of_an_earlier_one(records: Path) -> None:
    remember(records, "node01", "hostname", Completed(0, "another\n", "", 0.1))
    assert RecordedCluster(records).ask("node01", "hostname") == "another\n"


def test_a_complaint_is_an_answer_too(records: Path) -> None:
    remember(records, "node00", "cat /none", Completed(1, "", "cat: no such file\n", 0.1))
    cluster = RecordedCluster(records)
    assert cluster.ask("node00", "cat /none") == "cat: no such file\n"
    assert cluster.run("node00", "cat /none").returncode == 1


def test_the_newest_description_counts(recorded: RecordedCluster) -> None:
    # The newest of all Records has none; the one before does.
    assert recorded.describe()["rate"] == "100mbit"
    assert recorded.address("node01") == "192.168.0.9"
    assert recorded.address("node77") == ""


def test_breaking_and_healing_are_nothing_to_a_recorded_cluster(recorded: RecordedCluster) -> None:
    recorded.break_it("a")
    recorded.heal()
    assert recorded.dead_nodes() == []


def test_what_only_a_running_cluster_has_is_refused(
    recorded: RecordedCluster, tmp_path: Path
) -> None:
    with pytest.raises(LabError, match=r"cannot give a shell\. `beowulf up`"):
        recorded.shell("node00", "hostname")
    with pytest.raises(LabError, match=r"cannot give a capture\. `beowulf up`"):
        recorded.capture(tmp_path / "wire.pcapng")


@pytest.mark.parametrize("text", ["", "{", '{"kind": "record"}', "\0"])
def test_a_spoiled_record_is_named_and_the_one_before_it_is_given(
    records: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spoiled = records / "A2-20260104T000000Z.json"
    spoiled.write_text(text)
    assert package.study("A2", RecordedCluster(records)).started == "2026-01-03T00:00:00Z"
    assert spoiled.name in capsys.readouterr().err
    (records / "A7-20260104T000000Z.json").write_text(text)
    with pytest.raises(RecordError, match=r"A7-2026.*\.json"):
        package.study("A7", RecordedCluster(records))


def test_spoiled_answers_are_refused_with_their_name(records: Path) -> None:
    (records / "answers.json").write_text("{")
    with pytest.raises(RecordError, match=r"answers\.json"):
        RecordedCluster(records).ask("node01", "hostname")


def test_a_folder_without_records_has_no_nodes_and_says_what_is_missing(tmp_path: Path) -> None:
    empty = RecordedCluster(tmp_path / "none")
    assert empty.nodes == ()
    with pytest.raises(LabError, match="There is no Record of study A2"):
        package.study("A2", empty)
    with pytest.raises(LabError, match="was not run on node00"):
        empty.ask("node00", "hostname")


@pytest.mark.parametrize(
    "words",
    [("ssh", "node00"), ("validate",), ("study", "A5"), ("run", "/bin/true"), ("break", "a")],
)
def test_commands_mean_the_running_cluster_and_not_a_recorded_one(
    records: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    learner = Beowulf(tmp_path / "state", tmp_path)
    said = learner(*words, code=1, BEOWULF_RECORDED=str(records))
    assert said == "beowulf: No cluster runs. `beowulf up` boots one.\n"


def test_a_program_cannot_be_run_on_records(recorded: RecordedCluster, tmp_path: Path) -> None:
    for cluster, sentence in (
        (recorded, "cannot give a shell"),
        (RecordedCluster(tmp_path / "none"), "has no node to run on"),
    ):
        with pytest.raises(LabError, match=sentence):
            mpi.launch(cluster, ["true"], 2)


@pytest.mark.cluster
def test_what_a_running_cluster_is_asked_is_remembered_beside_the_records(
    at_cluster: Beowulf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(at_cluster.here)
    monkeypatch.setenv("BEOWULF_STATE", str(at_cluster.state))
    live = package.connect("records")
    assert live.ask("node02", "hostname") == "node02\n"
    assert "No such file" in live.ask("node02", "cat /none")
    replayed = RecordedCluster(at_cluster.here / "records")
    assert replayed.ask("node02", "hostname") == "node02\n"
    assert replayed.run("node02", "cat /none").returncode == 1


@pytest.mark.cluster
def test_a_study_on_a_running_cluster_is_given_back_by_a_recorded_one(
    at_cluster: Beowulf, monkeypatch: pytest.MonkeyPatch
) -> None:
    from beowulf.studies.lab_01 import a5_no_load

    monkeypatch.setattr(a5_no_load, "QUICK_ELAPSED_S", 0.2)
    monkeypatch.setenv("BEOWULF_STATE", str(at_cluster.state))
    live = package.connect(at_cluster.here / "records")
    measured = notebook.study("A5", live, quick=True, progress=False, variant="again")
    replayed = RecordedCluster(at_cluster.here / "records")
    assert package.study("A5", replayed, variant="again") == measured
    assert replayed.nodes == live.nodes


def test_a_strange_file_among_the_records_is_named_and_passed_over(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (records / "export.json").write_text('[{"a": 1}]')
    (records / "A5-judged.json").write_text('{"kind": "verdict", "schema": 1}')
    (records / "A7-torn.json").write_text('{"kind": "record", "schema": 1, "study": "A7"')
    recorded = RecordedCluster(records)
    assert recorded.nodes == tuple(NODES)
    assert package.study("A5", recorded).study == "A5"
    said = capsys.readouterr().err
    assert all(name in said for name in ("export.json", "A5-judged.json", "A7-torn.json"))
    with pytest.raises(RecordError, match=r"A7-torn\.json"):
        package.study("A7", recorded)
