"""Is a measured Record believed, and what no measurement leaves said in words?"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_notebook

from autograder import evidence, rubrics
from autograder.evidence import IMPOSSIBLE, INCONCLUSIVE, captured, invented, variants
from autograder.rubrics import Question
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission
from beowulf import paths
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.course import personal_code
from beowulf.labs.lab_06 import postcard
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import HALF, run
from beowulf.record import Point, Record
from tests.capture.written import Packet, pcapng
from tests.gold import lab_01, lab_03, lab_04, lab_05, lab_06
from tests.gold.labs import LABS
from tests.gold.measured import as_handed_in

LAB_06 = paths.root() / "labs" / "06-protocol-analysis"
NOW = datetime(2026, 2, 1, tzinfo=UTC)
PYTHON = "roundtrip.py"  # one of our programs that is not in C
IN_PYTHON = {"name": PYTHON, "arguments": [], "sha256": min(invented.known()[PYTHON])}


def kinds(record: Record) -> set[str]:
    return {each.kind for each in evidence.findings(record, now=NOW)}


def says(record: Record, records: Path | None = None) -> str:
    return " ".join(each.says for each in evidence.findings(record, records, NOW))


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
def test_nothing_is_found_in_records_as_they_are_measured(lab: Any) -> None:
    assert [says(as_handed_in(record)) for record in lab.records()] == [""] * len(lab.records())


def test_a_clock_that_is_a_day_off_is_no_matter_and_one_that_is_years_off_is() -> None:
    record = as_handed_in(lab_04.e1())
    late = datetime.fromisoformat(record.started).replace(tzinfo=UTC)
    assert evidence.findings(record, now=late.replace(day=late.day - 1)) == []
    found = evidence.findings(record, now=late.replace(year=late.year - 3))
    assert [each.kind for each in found] == [INCONCLUSIVE]


def test_times_of_ranks_that_run_side_by_side_are_not_added_up() -> None:
    """In D4 both ranks take their samples at the same time: together they last longer than the launch."""
    record = as_handed_in(lab_05.own())
    seconds = sum(sum(point.samples) for point in record.points if point.at["rank"] == 0)
    began = datetime.fromisoformat(record.started).timestamp()
    ended = datetime.fromtimestamp(began + seconds + 1, UTC)
    fits = replace(record, ended=ended.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
    assert kinds(fits) == set()


def test_python_may_print_more_digits_than_our_programs_in_c() -> None:
    record = as_handed_in(lab_04.e1())
    points = [replace(p, samples=[1.001 * s for s in p.samples]) for p in record.points]
    in_c = replace(record, points=points)
    in_python = replace(in_c, program=IN_PYTHON)
    assert kinds(in_c) == {INCONCLUSIVE}
    assert kinds(in_python) == set()


def test_a_coarse_clock_gives_few_digits_and_is_believed() -> None:
    coarse = Point({"about": True}, facts={"clock_resolution_s": 1e-6})
    point = Point({"size_bytes": 1}, "duration_s", [0.001, 0.0011, 0.0012] * 4)
    record = as_handed_in(lab_04.e1())
    record = replace(record, program=IN_PYTHON)
    assert kinds(replace(record, points=[point])) == {INCONCLUSIVE}
    assert kinds(replace(record, points=[point, coarse])) == set()


def test_a_section_of_less_than_a_second_is_believed_and_one_of_less_than_none_is_not() -> None:
    measured = as_handed_in(lab_03.suite())
    sections = [point for point in measured.points if point.quantity == "section_s"]
    assert 0 in [point.samples[0] for point in sections]
    assert says(measured) == ""
    sections[0].samples[0] = -1.0
    assert "section_s is not a time that passed" in says(measured)


def test_a_capture_is_counted_again(tmp_path: Path) -> None:
    """An empty capture, as dumpcap writes it on a wire where nothing happens."""
    content = pcapng([])
    (tmp_path / "A5.pcapng").write_bytes(content)
    facts = {"file": "A5.pcapng", "sha256": hashlib.sha256(content).hexdigest()}
    times = {"began": 1.0, "ended": 61.0}
    silent = {"packets": 0, "bytes": 0, "bytes_per_s": 0.0, "mbit_per_s": 0.0, "packets_per_s": 0.0}
    quiet = replace(as_handed_in(lab_01.idle(**silent)), captures=[facts | times])
    loud = replace(as_handed_in(lab_01.idle()), captures=[facts | times])
    assert says(quiet, tmp_path) == ""
    assert "counted again gives another packets" in says(loud, tmp_path)


TALK = {"packets": 2, "bytes": 120, "elapsed_s": 1.5}


@pytest.mark.parametrize(
    ("facts", "began", "half_us", "says_so"),
    [
        ({}, 30.0, 1000.0, ""),
        ({"packets": 3}, 30.0, 1000.0, "another packets"),
        ({"bytes": 121}, 30.0, 1000.0, "another bytes"),
        ({"elapsed_s": 1.4}, 30.0, 1000.0, "another elapsed_s"),
        # Its packets are of another hour, and its samples would need a longer one.
        ({}, 3600.0, 1000.0, "another packets"),
        ({}, 30.0, 10_000.0, "another time for its samples"),
    ],
)
def test_each_capture_of_several_is_held_against_its_conversation(
    facts: dict[str, Any], began: float, half_us: float, says_so: str, tmp_path: Path
) -> None:
    record = as_handed_in(lab_04.e1())
    start = datetime.fromisoformat(record.started).timestamp() + began
    times = (start, start + 1.5)
    content = pcapng([Packet(bytes(60), round(when * 1e6) * 1000) for when in times])
    digest = hashlib.sha256(content).hexdigest()
    (tmp_path / "talk.pcapng").write_bytes(content)
    (tmp_path / "other.pcapng").write_bytes(b"")
    empty = hashlib.sha256(b"").hexdigest()
    talk = {**TALK, **facts, "capture": {"sha256": digest}, "repetitions": [7] * 100}
    samples = [half_us * (1 + n / 1000) for n in range(100)]
    captures = [
        {"file": "talk.pcapng", "sha256": digest},
        {"file": "other.pcapng", "sha256": empty},
    ]
    record = replace(
        record, study="A11", points=[Point({"launch": 0}, HALF, samples, talk)], captures=captures
    )
    found = " ".join(each.says for each in captured.findings(record, tmp_path))
    assert (says_so in found) if says_so else not found


@pytest.mark.cluster
def test_what_was_really_measured_is_believed(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Round trips, and captured postcards, of which every byte is counted again."""
    monkeypatch.setattr(cluster, "records", tmp_path)
    word = personal_code.of("a key", "ada")
    monkeypatch.setenv(personal_code.VARIABLE, word)
    own = variants.Own("ada", word, {personal_code.mark(word): "ada"})
    with Measurement("A7", cluster, tmp_path) as session:
        run(session, 2, (0, 65_536), pattern="pairs", passes=5)
    postcard.send(cluster, "hello", 21, program=LAB_06 / "postcard.c")
    (card,) = [Record.load(path) for path in tmp_path.glob("A10-*.json")]
    for record in (session.record(), card):
        assert evidence.findings(record, tmp_path) == []
        assert variants.findings(record, own) == []
    card.points[0].facts["wire_bytes"] += 1
    (found,) = evidence.findings(card, tmp_path)
    assert found.kind == IMPOSSIBLE
    assert "counted again gives another wire_bytes" in found.says


def question(*study: str) -> dict[str, Question]:
    """2 points for Records of each of these studies."""

    def score(submission: Submission) -> Score:
        missing = [name for name in study if not submission.measured(name)]
        return Score(0 if missing else 2, 2, submission.missing(missing[0]) if missing else "well")

    return {"q": Question(2, "there", score)}


def doubted(*findings: evidence.Finding) -> Submission:
    records = [as_handed_in(lab_04.e1()), as_handed_in(lab_04.a7())]
    doubts = {0: list(findings)} if findings else {}
    return Submission(records, [], {}, {}, new_notebook(), doubts=doubts)


@pytest.mark.parametrize(
    ("found", "points", "outcome"),
    [
        ([], 2, ""),
        ([evidence.Finding(INCONCLUSIVE, "It is odd.")], 1, "inconclusive"),
        ([evidence.Finding(IMPOSSIBLE, "It cannot be.")], 0, ""),
        ([evidence.Finding(k, "It is bad.") for k in (INCONCLUSIVE, IMPOSSIBLE)], 0, ""),
    ],
)
def test_a_question_that_rests_on_a_doubtful_record_says_so(
    found: list[evidence.Finding], points: float, outcome: str
) -> None:
    score = rubrics.ask(question("E1"), doubted(*found))["q"]
    assert (score.points, score.outcome) == (points, outcome)
    assert all(each.says in score.found for each in found)
    assert ("Measure it again." in score.expected) == bool(outcome)


def test_a_capture_is_read_once_and_counted_only_so_often(tmp_path: Path) -> None:
    """One of 49 MB that a Record named 30,000 times held a worker for twenty minutes."""
    record = as_handed_in(next(r for r in lab_06.records() if r.variant == "postcard"))
    file = tmp_path / "x.pcapng"
    file.write_bytes(b"x" * (captured.MOST_BYTES // 20))
    one = {"file": file.name, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    named = replace(record, captures=[one])
    room = captured.Room()
    found = [captured.findings(named, tmp_path, room) for _ in range(25)]
    assert {each.kind for (each,) in found} == {IMPOSSIBLE}
    counted = ["not a capture that can be read" in each.says for (each,) in found]
    assert counted == [True] * 20 + [False] * 5
    assert "is not counted again" in found[-1][0].says
    many = replace(record, captures=[one] * (invented.MOST_NAMED + 1))
    assert "more than 100 captures" in captured.findings(many, tmp_path)[0].says
    missing = replace(record, captures=[{"file": f"{n}.pcapng", "sha256": "0"} for n in range(50)])
    assert len(evidence.made_up(missing, tmp_path)) == invented.MOST_MISSING
