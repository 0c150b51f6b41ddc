"""Do the studies of lab 01 measure what they say, keep it, and judge a Record that is not whole with a sentence?"""

from __future__ import annotations

import json
import math
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from running import Beowulf, unfulfilled

import beowulf as package
from beowulf import notebook, studies
from beowulf.cli.studies import point_lines
from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.errors import LabError, UsageError
from beowulf.labs.lab_01 import a2_validation, a5_no_load, validation_checks
from beowulf.packets.table import read
from beowulf.record import Point, Record, newest
from beowulf.studies import find
from beowulf.studies.study import Claim, Judgement, Study
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
        # A second is enough to see that it is a capture.
        patch.setattr(a5_no_load, "QUICK_ELAPSED_S", 1.0)
        return notebook.measure_and_save("A5", cluster, folder, quick=True)


@pytest.mark.cluster
def test_a_whole_cluster_fulfils_every_claim(validation: tuple[Record, Path]) -> None:
    record, path = validation
    verdicts = [each.as_plain() for each in studies.judge(record)]
    assert not unfulfilled(verdicts)
    assert a2_validation.diagnose(record).fault == "none"
    assert Record.load(path) == record


@pytest.mark.cluster
def test_every_node_and_every_ordered_pair_is_asked(validation: tuple[Record, Path]) -> None:
    record, _ = validation
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
def test_known_traffic_is_counted_once_for_each_packet(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    with cluster.capture(tmp_path / "wire.pcapng", packet_filter="icmp") as wire:
        cluster.run("node00", "ping -q -n -c 10 -i 0.01 node03")
    assert wire.packets == len(read(wire.file)) == 20
    assert wire.summary()["protocols"]["icmp"]["packets"] == 20


@pytest.mark.cluster
def test_an_idle_wire_is_quiet(idle: tuple[Record, Path]) -> None:
    record, path = idle
    facts = record.points[0].facts
    assert facts["elapsed_s"] >= 1.0
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
def test_studies_that_run_at_once_do_not_overwrite_each_other(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(a5_no_load, "QUICK_ELAPSED_S", 0.2)
    with ThreadPoolExecutor(2) as pool:
        both = [
            pool.submit(notebook.measure_and_save, "A5", cluster, tmp_path, quick=True)
            for _ in range(2)
        ]
        paths = {each.result()[1] for each in both}
    assert len(paths) == 2
    captures = {Record.load(path).captures[0]["file"] for path in paths}
    assert len(captures) == 2


@pytest.mark.cluster
def test_a_study_from_the_command_line_is_kept_shown_and_judged(beowulf: Beowulf) -> None:
    beowulf("up", "--nodes", "2")
    words = ("study", "a2", "--variant", "first-try", "--trace", "traces")
    said = beowulf(*words, BEOWULF_LEARNER="grace")
    assert "The Record is in records/A2-first-try-" in said
    assert "Nothing was recorded: A2 starts no MPI program of the labs itself." in said
    assert list(beowulf.temporary.iterdir()) == []
    record = newest(beowulf.here / "records", "A2", "first-try")
    assert record
    assert record.learner == "grace"
    verdicts = json.loads(beowulf("claims", "A2", "--variant", "first-try", "--json"))
    assert not unfulfilled(verdicts)
    said = beowulf("show", "A2", "--variant", "first-try")
    assert "hosts_first_line: 192.168.0.9 node01" in said
    said = beowulf("claims", "A2", "--variant", "second-try", code=1)
    assert "There is no Record of study A2, variant second-try, in records." in said


def shown(*points: Point) -> list[str]:
    return point_lines(Record("A3", points=list(points)))


def sampled(pipe: list[float], repetitions: int, **at: object) -> Point:
    n = len(pipe)
    facts = {"pass": [0] * n, "repetitions": [repetitions] * n}
    return Point({**at, "ranks": 1}, "operation_us", pipe, facts)


def test_what_samples_do_not_have_in_common_stands_on_one_line_a_point() -> None:
    other = sampled([3.0, 4.0], 7, row="fork")
    other.facts["pass"] = [0, 1]
    lines = shown(sampled([1.5, 2.0, 2.5], 5, row="stat"), other)
    assert lines[0] == "the same for all samples: ranks: 1"
    assert lines[2:6] == [
        "row: stat",
        "  operation_us: 1.5, 2, 2.5",
        "  pass: 0",
        "  repetitions: 5",
    ]
    assert lines[9:] == ["  pass: 0, 1", "  repetitions: 7"]


def test_facts_that_are_not_of_samples_are_shown_as_they_are() -> None:
    about = Point({"about": True, "ranks": 1}, facts={"hosts": ["node00", "node01"], "seed": 1})
    lines = shown(about, sampled([1.0], 1, row="stat"))
    assert lines[1:5] == [
        "about: True, ranks: 1",
        "  hosts: node00",
        "  hosts: node01",
        "  seed: 1",
    ]
    assert lines[6] == "row: stat, ranks: 1", "one point alone is shown whole"


@pytest.mark.parametrize("variant", ["../elsewhere", "two words", "-x"])
@pytest.mark.cluster
def test_a_variant_that_cannot_be_part_of_a_files_name_is_refused_before_anything_is_measured(
    cluster: NamespaceCluster, tmp_path: Path, variant: str
) -> None:
    with pytest.raises(UsageError, match="A variant is a word"):
        notebook.measure_and_save("A5", cluster, tmp_path, variant=variant)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.cluster
def test_a_folder_for_records_that_cannot_be_made_is_reported_before_anything_is_measured(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LabError, match=r"file/records for your Records cannot be made"):
        notebook.measure_and_save("A5", cluster, tmp_path / "file" / "records")


def test_every_study_is_found_by_its_name_and_has_a_title() -> None:
    for name in studies.STUDIES:
        found = studies.find(name.lower())
        assert name == found.id
        assert found.title


def test_a_record_without_points_decides_nothing_and_has_no_picture() -> None:
    assert {each.outcome for each in package.claims(Record("A2"))} == {"inconclusive"}
    for look, study in ((package.claims, "A5"), (package.picture, "A2"), (package.picture, "A5")):
        with pytest.raises(LabError, match=rf"The Record of study {study} .* has no points"):
            look(Record(study))


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


def test_an_answer_in_form_is_accepted() -> None:
    given = {"text": "so", "node": "Node02 ", "number": 0.25, "choice:sms,mpich": " MPICH"}
    for kind, value in given.items():
        notebook.form(value, kind)


@pytest.mark.parametrize(
    ("value", "kind", "sentence"),
    [
        (None, "text", "still empty"),
        (..., "number", "still empty"),
        ("  ", "node", "a text in quotes"),
        (3, "text", "a text in quotes"),
        ("3", "number", "a number, such as"),
        (True, "number", "a number, such as"),
        (math.nan, "number", "a number, such as"),
        ("node", "node", "the name of a node"),
        ("d", "choice:a,b,c", "one of a, b, c"),
    ],
)
def test_an_answer_out_of_form_is_reported_to_be(value: object, kind: str, sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        notebook.form(value, kind)


@pytest.mark.nightly
@pytest.mark.cluster
def test_a_picture_is_drawn_in_a_terminal_too(idle: tuple[Record, Path], tmp_path: Path) -> None:
    beowulf, picture = Beowulf(tmp_path / "state", tmp_path), tmp_path / "idle.png"
    words = ("show", "A5", "--records", idle[1].parent, "--picture")
    assert "Bars of packets" in beowulf(*words, picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "name,packets" in picture.with_suffix(".csv").read_text()
    beowulf(*words, tmp_path / "idle.pdf", code=2)


def test_a_record_cut_short_before_there_was_anything_to_compare_is_inconclusive() -> None:
    at = {"pattern": "ring", "protocol": "blocking", "ranks": 2, "size_bytes": 1}
    record = Record(
        study="B2",
        started="2026-01-01T00:00:00.000Z",
        points=[Point(at, quantity="exchange_us", samples=[1.0] * 30)],
        complete=False,
    )
    verdicts = studies.judge(record)
    assert [each.claim for each in verdicts] == ["falls-with-nodes", "jumps-at-100000"]
    assert all(each.outcome == "inconclusive" for each in verdicts)
    assert all("cut short" in each.evidence for each in verdicts)
    record.complete = True
    assert all("to compare" in each.evidence for each in studies.judge(record))


def test_a_mistake_that_a_cut_record_leads_to_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def claims(_study: Study, _record: Record) -> list[Verdict]:
        raise IndexError("single positional indexer is out-of-bounds")

    monkeypatch.setattr(Study, "claims", claims)
    (verdict,) = studies.judge(Record(study="B2", complete=False))
    assert verdict.outcome == "inconclusive"
    assert verdict.evidence == "the measurement was cut short"
