"""The heat program on a cluster: are right functions measured, and wrong ones named while the others go on?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from running import _with, first, wait_until

from autograder import evidence
from autograder.evidence import variants
from autograder.evidence.variants import Own
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.course import personal_code
from beowulf.errors import LabError
from beowulf.exercises import calls, heat, timelines
from beowulf.exercises.heat import knob_worth, measurements, program, reading
from beowulf.exercises.heat import timelines as plate_runs
from beowulf.record import Record, newest
from beowulf.timeline.timeline_page import Page
from beowulf.timeline.trace import WORLD
from tests import heat_solutions
from tests.heat_solutions import BORDER_ROWS, INNER_ROWS, POSTED, RIGHT, WAITED, WRONG, overlapped

pytestmark = pytest.mark.cluster
CODE = personal_code.of("a course's key", "ada")


@pytest.fixture
def plate(tmp_path: Path, records: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A learner's heat program, all of it right, under a personal code; short measurements, kept beside it."""
    monkeypatch.setenv(personal_code.VARIABLE, CODE)
    for name in ("STEP_LAUNCHES", "RUN_LAUNCHES", "EXCHANGE_LAUNCHES", "OVERLAP_LAUNCHES"):
        monkeypatch.setattr(measurements, name, 1)
    for name in ("STEP_PASSES", "RUN_PASSES", "OVERLAP_PASSES"):
        monkeypatch.setattr(measurements, name, 4)
    monkeypatch.setattr(knob_worth, "PASSES", 3)
    heat_solutions.write(tmp_path)
    yield tmp_path
    wait_until(lambda: not _running(tmp_path), "nothing of the heat program runs any more")


def _running(plate: Path) -> list[str]:
    return [words for _, words in _with(str(plate / "heat.py")) if "run_heat.py" in words]


def sound(record: Record, plate: Path) -> None:
    """The Record is whole, is kept, and contradicts neither itself nor the personal code."""
    assert record.complete
    kept = newest(plate / "records", record.study, record.variant)
    assert kept
    assert kept.digest == record.digest
    assert str(plate) not in str(record.program)
    found = evidence.findings(kept, plate / "records")
    found += variants.findings(kept, Own("ada", CODE, {}))
    assert not [each.says for each in found]


def rights(record: Record) -> dict[str, bool]:
    return {name: facts["right"] for name, facts in reading.functions(record).items()}


def soon_ended(plate: Path) -> None:
    """What never ends is given up after two seconds."""
    header = plate / "run_heat.h"
    header.write_text(header.read_text().replace("LIMIT_S = 20", "LIMIT_S = 2"))


@pytest.mark.nightly
def test_the_steps_of_a_learner_are_measured_by_loops_numpy_and_in_c(
    plate: Path, cluster: NamespaceCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    record = heat.steps(cluster, rows=(20, 300), folder=plate)
    sound(record, plate)
    assert rights(record) == dict.fromkeys(("step_loops", "step_numpy", "heat_step"), True)
    table = heat.table(record)
    places = {(row["way"], row["rows"]) for row in table.to_dict("records")}
    assert places == {("loops", 20), *((w, n) for w in ("numpy", "C") for n in (20, 300))}
    assert (table["n"] == measurements.STEP_PASSES).all()
    assert capsys.readouterr().out.count("right") == 3


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("(void)old; for (volatile int i = rows; i > 0;) new[columns] = 0;", "it does not finish"),
        ("no C", "does not compile"),
        ("for (int i = 0; i < rows * columns; i++) new[i] = old[i] > 2;", "of `new`"),
    ],
    ids=["endless", "no C", "edges"],
)  # fmt: skip
def test_wrong_steps_are_named_and_the_others_are_measured(
    plate: Path, cluster: NamespaceCluster, body: str, said: str
) -> None:
    if said == "it does not finish":
        soon_ended(plate)
    wrong = WRONG["in place"]
    heat_solutions.write(plate, 9, step_loops=wrong.function)
    head = "static void heat_step(int rows, int columns, const double *old, double *new)"
    (plate / "heat_step.c").write_text(heat_solutions.heat_step(f"{head} {{ {body} }}"))
    record = heat.steps(cluster, rows=(20,), folder=plate)
    sound(record, plate)
    facts = reading.functions(record)
    assert said in facts["heat_step"]["why"]
    assert wrong.said in facts["step_loops"]["why"]
    assert set(heat.table(record)["way"]) == {"numpy"}


def test_what_is_not_written_yet_is_said_and_no_record_would_make_a_prediction_late(
    plate: Path, cluster: NamespaceCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    (plate / "heat.py").write_text(program.composed(2))
    (plate / "heat_step.c").write_bytes((program.ORIGINALS / "heat_step.c").read_bytes())
    with pytest.raises(LabError, match="step_numpy: it is not written yet"):
        heat.steps(cluster, folder=plate)
    (plate / "heat.py").write_text(program.composed(2) + program.sections(_stubs())[3])
    with pytest.raises(LabError, match="this measurement needs it"):
        heat.speed_up(cluster, folder=plate)
    (plate / "heat.py").write_text(program.composed(3))
    record = heat.speed_up(cluster, folder=plate)
    assert rights(record) == {"step_numpy": True, "my_rows": False, "run": False}
    assert "run                  it is not written yet" in capsys.readouterr().out
    assert not list((plate / "records").glob("*.json"))


def _stubs() -> str:
    return (program.ORIGINALS / "heat.py").read_text()


@pytest.mark.nightly
def test_a_whole_run_is_measured_on_one_to_four_ranks(
    plate: Path, cluster: NamespaceCluster
) -> None:
    record = heat.speed_up(cluster, rows=(100, 300), folder=plate)
    sound(record, plate)
    table = heat.table(record)
    assert set(table["ranks"]) == {1, 2, 3, 4}
    assert (table[table["ranks"] == 1]["speed_up"] == 1.0).all()
    assert heat.picture(record).alt


@pytest.mark.nightly  # the deadlock is searched for in several launches
def test_three_exchanges_are_measured_and_the_deadlock_is_found(
    plate: Path, cluster: NamespaceCluster
) -> None:
    record = heat.exchanges(cluster, columns=(100, 1000), folder=plate)
    sound(record, plate)
    assert all(rights(record).values())
    assert not any(reading.not_asked(record, name) for name in reading.SENT_BY)
    seen = reading.functions(record)["exchange_nonblocking"]["mpi_calls"]
    assert {"MPI_Irecv", "MPI_Isend", "MPI_Waitall"} <= set(seen)
    found = heat.deadlock(record)
    if cluster.mpi == "classic":  # its limit counts 32 bytes of header
        assert (found["ends_columns"], found["hangs_columns"]) == (16_380, 16_381)
        for rank in (0, 1):
            assert f"node0{rank} (rank {rank}) is in line" in found["waits"]
        assert "a deadlock" in found["waits"]
    table = heat.table(record)
    assert set(table["way"]) == {"send_first", "in_turns", "nonblocking"}
    assert set(table["what"]) == {"an exchange", "a step"}
    assert {p.at["ranks"] for p in record.points if p.quantity == "exchange_s"} == {4}


@pytest.mark.nightly
def test_an_exchange_that_hangs_is_named_by_rank_and_line_and_the_others_are_measured(
    plate: Path, cluster: NamespaceCluster
) -> None:
    wrong = WRONG["all send"]
    file = heat_solutions.write(plate, 9, exchange_nonblocking=wrong.function)
    file.write_text(file.read_text().replace(RIGHT["exchange_send_first"].strip(), ""))
    record = heat.exchanges(cluster, columns=(100,), folder=plate)
    facts = reading.functions(record)
    assert facts["exchange_send_first"]["why"] == "there is no function exchange_send_first"
    for rank in range(4):
        assert f"node0{rank} (rank {rank}) is in line" in facts["exchange_nonblocking"]["why"]
    assert set(heat.table(record)["way"]) == {"in_turns"}


@pytest.mark.nightly
@pytest.mark.parametrize("language", first(1, ["Python", "C"]))
def test_an_overlapped_step_is_measured_beside_its_parts(
    plate: Path, cluster: NamespaceCluster, language: measurements.Language
) -> None:
    record = heat.overlap(cluster, language, columns=(1000, 20_000), rows=42, folder=plate)
    sound(record, plate)
    assert all(rights(record).values())
    for columns in (1000, 20_000):
        assert set(heat.part_medians(record, columns)) == set(reading.PARTS)
        assert heat.gain(record, columns).n == measurements.OVERLAP_PASSES
        assert heat.bound_percent(record, columns) < 0
    assert record.variant == language.lower()
    facts = reading.functions(record)["overlapped" if language == "C" else "overlapped_step"]
    assert calls.TESTS.intersection(facts["mpi_calls"])
    assert facts["meanwhile_share"] > 0.5
    assert heat.picture(record).alt


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ((POSTED, INNER_ROWS, BORDER_ROWS, WAITED), "a border row, is computed without the neighbour's row"),
        ((POSTED, INNER_ROWS, WAITED), "a border row, is not filled"),
        ((POSTED.replace("TAG", "TAG + my_rank()"), INNER_ROWS, WAITED, BORDER_ROWS), "MPI_Waitall"),
        ((POSTED.replace("row_of(plate, 1)", "row_of(plate, 2)"), INNER_ROWS, WAITED, BORDER_ROWS), "row "),
    ],
    ids=["borders too early", "borders forgotten", "wrong tag", "off by one"],
)  # fmt: skip
def test_a_wrong_overlap_in_c_is_named_by_rank_and_row(
    plate: Path, cluster: NamespaceCluster, parts: tuple[str, ...], said: str
) -> None:
    if said == "MPI_Waitall":
        soon_ended(plate)
    (plate / "heat_overlap.c").write_text(overlapped(*parts))
    record = heat.overlap(cluster, "C", columns=(1000,), rows=42, folder=plate)
    why = reading.functions(record)["overlapped"]["why"]
    assert said in why
    assert "(rank " in why


@pytest.mark.nightly
def test_a_capture_has_each_ghost_row_of_each_step(plate: Path, cluster: NamespaceCluster) -> None:
    record = heat.capture(cluster, steps=5, columns=500, folder=plate)
    sound(record, plate)
    facts = record.select(capture="steps")[0].facts
    assert facts["ghost_rows"] == 5 * 2 * 3
    assert facts["ghost_wire_bytes"] > facts["ghost_rows"] * facts["ghost_row_bytes"]
    assert (plate / "records" / record.captures[0]["file"]).exists()
    assert sum(count for _, count in facts["lengths"]) == record.captures[0]["packets"]
    # A count that was edited does not fit the capture.
    facts["ghost_ack_packets"] += 1
    (found,) = evidence.findings(record, plate / "records")
    assert "counted again gives another ghost_ack_packets" in found.says


@pytest.mark.nightly
def test_an_overlapped_step_is_on_a_timeline_from_its_first_message_on(
    plate: Path, cluster: NamespaceCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plate_runs, "OVERLAP_COLUMNS", {"short": 100, plate_runs.LONG: 20_000})
    record = heat.traced_overlap(cluster, folder=plate)
    sound(record, plate)
    for run in ("short", plate_runs.LONG):
        page = timelines.timeline(cluster, record, run)
        assert isinstance(page, Page)
        found = page.found
        # Five steps, in each a row there and one back. What the program sends before and after is another
        # communicator's, and shown as far as one rank is there already while another one still exchanges rows.
        rows = found.messages[found.messages["comm"] == WORLD]
        assert len(rows) == 2 * plate_runs.STEPS
        assert set(rows["got_bytes"]) == {8 * (100 if run == "short" else 20_000)}
        assert found.trace.since == "the first message"
        parts = [p.facts for p in record.select(timeline=run) if "rank" in p.at]
        assert [sum(each.values()) for each in parts] == pytest.approx([found.length_ns / 1e6] * 2)
        seen = [*found.waits["waited_ns"] / 1e6][: timelines.MOST_WAITS]
        kept = timelines.waits(record, run)
        assert seen == ([*kept["wait_ms"]] if len(kept) else [])
    assert newest(plate / "records", "T5") == record
    heat.traced_overlap(cluster, folder=plate)  # its traces take the place of those before
    assert not isinstance(timelines.timeline(cluster, record, "short"), Page)


@pytest.mark.nightly  # the deadlock lasts until it is stopped
def test_three_exchanges_are_on_a_timeline_and_the_deadlock_is_a_circle(
    plate: Path, cluster: NamespaceCluster
) -> None:
    record = heat.traced_exchanges(cluster, folder=plate)
    sound(record, plate)
    assert heat.stuck(record) == {0: 1, 1: 0, 2: 1, 3: 2}
    assert heat.circle(record) == [0, 1]
    assert {p.facts["call"] for p in record.points if "stuck" in p.at} == {"MPI_Send"}
    for run in (plate_runs.TURNS, plate_runs.NONBLOCKING):
        page = timelines.timeline(cluster, record, run)
        assert isinstance(page, Page)
        messages = page.found.messages
        assert sum(messages["comm"] == WORLD) == 6 * plate_runs.STEPS
    turns = timelines.longest(record, plate_runs.TURNS)
    assert turns["reason"] in ("late sender", "late receiver", "rendezvous")
    other = heat_solutions.given("exchange_in_turns").replace("in_turns", "send_first")
    heat_solutions.write(plate, 9, exchange_send_first=other)
    ends = heat.traced_exchanges(cluster, folder=plate)
    assert not heat.stuck(ends)


def test_a_wrong_program_leaves_no_capture(plate: Path, cluster: NamespaceCluster) -> None:
    heat_solutions.write(plate, 9, exchange_nonblocking=WRONG["off by one"].function)
    with pytest.raises(LabError, match="exchange_nonblocking"):
        heat.capture(cluster, steps=5, folder=plate)
    assert not list((plate / "records").glob("*"))


@pytest.mark.nightly
def test_what_a_knob_is_worth_is_measured_in_pairs_and_it_is_as_before(
    plate: Path, cluster: NamespaceCluster
) -> None:
    record = heat.tuned(cluster, "delayed-ack", folder=plate)
    sound(record, plate)
    found, _ = heat.worth(record)
    assert found.n == 2 * knob_worth.BLOCKS
    assert record.variant == "delayed-ack"
    assert heat.picture(record).alt
