"""Do the studies of lab 01 measure what they say, keep it, and judge a Record that is not whole with a sentence?"""

from __future__ import annotations

import json
import math
import subprocess
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from running import Beowulf, unfulfilled

import beowulf as package
from beowulf import studies
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.desk import notebook
from beowulf.errors import LabError, UsageError
from beowulf.labs.lab_01 import a2_validation, a5_no_load, validation_checks
from beowulf.record import Point, Record, newest
from beowulf.studies import find
from beowulf.studies.study import Claim, Judgement
from beowulf.verdict import Verdict


@pytest.fixture(scope="module")
def validation(
    cluster: NamespaceCluster, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Record, Path]:
    folder = tmp_path_factory.mktemp("validation")
    return notebook.measure_and_save("A2", cluster, folder)


@pytest.fixture(scope="module")
def idle(
    cluster: NamespaceCluster, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Record, Path]:
    folder = tmp_path_factory.mktemp("idle")
    with pytest.MonkeyPatch.context() as patch:
        # Half a second is enough to see that it is a capture.
        patch.setattr(a5_no_load, "QUICK_ELAPSED_S", 0.5)
        return notebook.measure_and_save("A5", cluster, folder, quick=True)


@pytest.mark.cluster
def test_a_whole_cluster_fulfils_every_claim_and_every_node_and_ordered_pair_is_asked(
    validation: tuple[Record, Path],
) -> None:
    record, path = validation
    verdicts = [each.as_plain() for each in studies.judge(record)]
    assert not unfulfilled(verdicts)
    assert a2_validation.diagnose(record).fault == "none"
    assert Record.load(path) == record
    nodes = record.cluster["nodes"]
    for check in ("configuration", "routes", "performance"):
        assert [point.at["node"] for point in record.select(check=check)] == nodes
    for check in ("resolve", "ping", "ssh", "transfer"):
        asked = [(point.at["node"], point.at["peer"]) for point in record.select(check=check)]
        assert sorted(asked) == sorted(permutations(nodes, 2))


@pytest.mark.cluster
def test_the_record_holds_what_a_learner_would_see(validation: tuple[Record, Path]) -> None:
    record, _ = validation
    facts = record.select(check="configuration", node="node01")[0].facts
    assert facts["hosts_first_line"] == "192.168.0.9 node01"
    assert facts["addresses"] == ["192.168.0.9"]
    assert "192.168.0.0/24 dev eth0" in record.select(check="routes")[0].facts["routes"][0]
    assert len(record.select(check="ping")[0].samples) == validation_checks.PINGS
    hello = record.select(check="mpi-hello")[0]
    assert hello.facts["hosts"] == record.cluster["nodes"]
    ring = record.select(check="mpi-ring")[0]
    assert [hop[0] for hop in ring.facts["hops"]] == [1, 2, 3, 0]
    rates = [sample for point in record.select(check="transfer") for sample in point.samples]
    assert len(rates) == 12
    # 100 Mbit/s, and what the bucket lets through at once.
    assert max(rates) * 8 < 1.2 * 100e6
    assert "ok" in studies.draw(record).table.to_string()


@pytest.mark.cluster
def test_an_idle_wire_is_quiet(idle: tuple[Record, Path]) -> None:
    record, path = idle
    facts = record.points[0].facts
    assert facts["elapsed_s"] >= 0.5
    capture = path.parent / record.captures[0]["file"]
    assert capture.exists()
    # The capture goes on for a moment after the time that is counted.
    assert facts["packets"] <= record.captures[0]["packets"]
    assert studies.draw(record).alt


@pytest.mark.cluster
def test_a_capture_that_is_too_short_is_no_proof_and_a_busy_wire_is_not_idle(
    idle: tuple[Record, Path],
) -> None:
    def judged(**facts: float) -> Verdict:
        (point,) = idle[0].points
        return studies.judge(
            replace(idle[0], points=[replace(point, facts={**point.facts, **facts})])
        )[0]

    short = judged(elapsed_s=1.0)
    assert short.outcome == "inconclusive"
    assert "too short" in short.evidence
    assert "Capture at least 5 s" in short.advice
    assert judged(elapsed_s=60.0, mbit_per_s=50.0).outcome == "contradicted"


@pytest.mark.cluster
def test_a_study_from_the_command_line_is_kept_shown_and_judged(at_cluster: Beowulf) -> None:
    words = ("study", "a1", "--variant", "first-try", "--trace", "traces")
    said = at_cluster(*words, BEOWULF_LEARNER="grace")
    assert "The Record is in records/A1-first-try-" in said
    assert "Nothing was recorded: A1 starts no MPI program of the labs itself." in said
    assert list(at_cluster.temporary.iterdir()) == []
    record = newest(at_cluster.here / "records", "A1", "first-try")
    assert record
    assert record.learner == "grace"
    verdicts = json.loads(at_cluster("claims", "A1", "--variant", "first-try", "--json"))
    assert [each["claim"] for each in verdicts] == [each.claim for each in studies.judge(record)]
    assert "mtu: 1500" in at_cluster("show", "A1", "--variant", "first-try")


@pytest.mark.cluster
def test_a_record_that_could_not_be_kept_is_refused_before_anything_is_measured(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    for variant in ("../elsewhere", "two words", "-x"):
        with pytest.raises(UsageError, match="A variant is a word"):
            notebook.measure_and_save("A5", cluster, tmp_path, variant=variant)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(LabError, match=r"file/records for your Records cannot be made"):
        notebook.measure_and_save("A5", cluster, tmp_path / "file" / "records")


@pytest.mark.parametrize(
    "mark",
    [{"sweep": {"exercise": "mine"}}, {"points": [Point({"own": True}, facts={"calls": 1})]}],
)
def test_no_claim_judges_the_record_of_an_exercise(mark: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="E2, variant own, is of an exercise") as refused:
        package.claims(Record("E2", variant="own", **mark))
    assert "`beowulf show E2 --variant own`" in refused.value.hint
    assert package.claims(Record("A2", variant="own", points=[Point({"check": "doctor"})]))


def test_what_was_simulated_of_ones_own_programs_is_shown(tmp_path: Path) -> None:
    beowulf, study = Beowulf(tmp_path / "state", tmp_path), "S8"
    said = beowulf("show", study, code=1)
    assert f"no Record of study {study} in records. A cell of its lab" in said
    Record(study, variant="plate", points=[Point({"ranks": 4}, "step_s", [0.25])]).save_in(
        tmp_path / "records"
    )
    assert "step_s: 0.25" in beowulf("show", study.lower())
    assert "no claim judges it" in beowulf("claims", study, code=2)


def test_an_error_in_a_judge_is_shown_in_a_terminal_with_its_file_and_line(tmp_path: Path) -> None:
    Record("A5", points=[Point({"where": "node00"})]).save_in(tmp_path)
    beowulf = Beowulf(tmp_path / "state", tmp_path)
    done = subprocess.run(
        beowulf.words("claims", "A5", "--records", tmp_path), capture_output=True, text=True
    )
    assert 'a5_no_load.py", line ' in done.stderr
    assert "KeyError: " in done.stderr
    assert done.stderr.splitlines()[-1].startswith("The Record of study A5 ")


@pytest.mark.parametrize(
    ("numbers", "outcome"),
    [
        ({"share": 0.5}, "holds"),
        ({"share": math.nan}, "inconclusive"),
        ({"shares": {"node00": [0.5, math.nan]}}, "inconclusive"),
    ],
)
def test_a_claim_is_decided_by_its_numbers_and_not_by_a_word(
    numbers: dict[str, Any], outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = Claim("bread", "A nan is flat.", lambda _: Judgement("holds", "a nan is", numbers))
    study = replace(find("A5"), judged=[claim], facts=lambda record: record)
    monkeypatch.setattr(studies, "find", lambda _: study)
    record = Record("A5", points=[Point({"where": "node00"}, "packets", [1.0])])
    (verdict,) = package.claims(record)
    assert verdict.outcome == outcome
    assert all(map(math.isfinite, verdict.numbers.values()))


@pytest.mark.nightly
@pytest.mark.cluster
def test_a_picture_is_drawn_in_a_terminal_too(idle: tuple[Record, Path], tmp_path: Path) -> None:
    beowulf, picture = Beowulf(tmp_path / "state", tmp_path), tmp_path / "idle.png"
    words = ("show", "A5", "--records", idle[1].parent, "--picture")
    assert "Bars of packets" in beowulf(*words, picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "name,packets" in picture.with_suffix(".csv").read_text()
    beowulf(*words, tmp_path / "idle.pdf", code=2)
