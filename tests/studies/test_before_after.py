"""Before and after side by side: is each program's gain shown with the ping-pong's, and is all as it was?"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import typer
from overlap_records import busy, record
from running import Beowulf

from benchmarks import full_studies
from beowulf.cli import tune_paper, tune_tables
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError, UsageError
from beowulf.labs.lab_03 import e4_hpcc
from beowulf.measure.roundtrips import HALF
from beowulf.measure.statistics import LEAST_PAIRS, Ratio
from beowulf.record import Point, Record
from beowulf.report import before_after as both
from beowulf.studies.states import AFTER, BEFORE, PING
from beowulf.studies.study import Study
from beowulf.suites.hpcc_results import RESULTS
from beowulf.tuning import knob_places, paper_e_baseline
from beowulf.tuning.knobs import ALL
from tests.gold.lab_07 import applications
from tests.labs.lab_07 import test_e5


def search() -> Record:
    """E5 with the gains of the paper: a ping-pong that is 42 % shorter, and a search that is 10."""
    return test_e5.made((BEFORE, 16.0, 50.0), (AFTER, 14.4, 29.0))


def suite() -> Record:
    """E4, whose rates double where its times halve."""
    rates = {each.key for each in RESULTS if not each.smaller_is_better}
    points = []
    for quantity in (HALF, e4_hpcc.WHOLE, *(each.key for each in RESULTS)):
        for launch, (state, better) in product(range(LEAST_PAIRS), ((BEFORE, 1.0), (AFTER, 2.0))):
            at = {"result": quantity, "state": state, "launch": launch}
            at |= {"size_bytes": e4_hpcc.PING_BYTES} if quantity == HALF else {}
            points.append(Point(at, quantity, [better if quantity in rates else 1 / better]))
    return record(e4_hpcc.STUDY.id, points, sweep={"n": 320, "states": [BEFORE, AFTER]})


def test_a_row_has_both_states_and_the_papers_change() -> None:
    ping, whole = both.rows(search())
    assert ping.what == "ping-pong beside the search"
    assert (ping.synthetic, ping.paper_percent) == (True, -42)
    assert (whole.what, whole.unit, whole.paper_percent) == ("search, 4 parts", "s", -11)
    assert whole.percent[0] == pytest.approx(-10, abs=1)
    assert whole.before == pytest.approx(4.0, rel=0.01)


def test_a_rate_that_doubles_is_half_of_the_time() -> None:
    rows = both.rows(suite())
    assert [row.what for row in rows][-2:] == ["HPL, 320 equations", "hpcc, all of it"]
    assert len(rows) == 6
    assert all(row.percent[0] == pytest.approx(-50, abs=1) for row in rows)
    assert [row.paper_percent for row in rows[-2:]] == [None, -29]


@pytest.mark.parametrize(
    ("made", "begins"),
    [
        (applications(), "A message gains more than any program: the ping-pong -80 %"),
        (applications(IS=0.1), "One program gains more than a message:"),
        (
            applications(**{PING: 0.5}),
            "Whether a message gains more than any program cannot be decided",
        ),
    ],
)
def test_the_conclusion_is_what_the_records_show(made: Record, begins: str) -> None:
    assert both.conclusion(both.rows(made)).startswith(begins)


def test_a_record_of_one_state_or_of_another_study_has_no_rows_and_load_is_named() -> None:
    assert both.rows(test_e5.made((BEFORE, 16.0, 50.0))) == []
    assert both.conclusion([]) == ""
    with pytest.raises(UsageError, match="A5 has no before and after"):
        both.rows(record("A5", []))
    assert both.doubts([applications()]) == []
    assert "the load before the start was 9.0" in both.doubts([busy(applications())])[0]


def test_the_printed_table_and_the_picture_have_every_row() -> None:
    rows = {both.KERNELS: both.rows(applications()), both.SEARCH: both.rows(search())}
    printed = "\n".join(tune_tables.compared(rows))
    assert "search, 4 parts" in printed
    assert "-11 %" in printed
    every = [row for each in rows.values() for row in each]
    figure = both.picture(every)
    assert len(figure.table) == len(every)
    assert all(row.what in figure.alt for row in every)


def test_figures_that_say_otherwise_than_the_pairs_are_named() -> None:
    assert not any(row.figures_say_otherwise for row in both.rows(suite()))
    times = Ratio(0.8, 0.7, 0.9, LEAST_PAIRS)
    slower = both.Row("a program", 1.0, 1.1, "s", times)
    rate = both.Row("PTRANS", 1.0, 1.1, "GB/s", times, rate=True)
    printed = tune_tables.compared({both.HPCC: [slower, rate]})
    (named,) = [line for line in printed if "the two figures" in line]
    assert named.startswith("a program: ")


def test_a_full_run_of_paper_es_programs_is_of_both_states(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran: list[list[str]] = []

    def timed(command: list[str], *_: object, **__: object) -> tuple[float, str]:
        ran.append(command[1:])
        return float(len(ran)), "[\n]"

    monkeypatch.setattr(full_studies.commands, "timed", timed)
    assert full_studies.timed("E3", tmp_path) == (1.0, [])
    assert [words[:3] for words in ran] == [
        ["tune", "compare", "hpl"],
        ["claims", "E3", "--variant"],
    ]
    assert ran[1][3] == both.VARIANT
    assert full_studies.BEFORE_AND_AFTER == {"E3": both.HPL, "E4": both.HPCC, "E5": both.SEARCH}
    ran.clear()
    full_studies.timed("L2", tmp_path)
    assert [words[:2] for words in ran] == [["study", "L2"]]


# The command


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, cluster: NamespaceCluster) -> dict[str, Record]:
    """Records that stand for the measurements of the command."""
    monkeypatch.setenv("BEOWULF_STATE", str(cluster.folder))
    given: dict[str, Record] = {both.KERNELS: applications(IS=0.8, CG=0.8), both.SEARCH: search()}

    def measure(name: str, *_: object, **__: object) -> tuple[Record, Path]:
        if name not in given:
            raise LabError(f"{name} is not installed on node00.")
        return given[name], Path()

    monkeypatch.setattr(both, "measure", measure)
    return given


@pytest.mark.cluster
def test_what_is_not_installed_is_left_out_unless_it_was_asked_for(
    made: dict[str, Record], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tune_paper.compare([], picture=tmp_path / "gain.svg", records=tmp_path)
    said = capsys.readouterr().out
    assert "A message gains more than any program" in said
    assert "Left out: hpcc: hpcc is not installed on node00." in said
    assert (tmp_path / "gain.svg").exists()
    with pytest.raises(LabError, match="hpcc is not installed"):
        tune_paper.compare([both.HPCC], records=tmp_path)
    made.clear()
    with pytest.raises(LabError, match=r"Nothing could be measured.*kernels is not installed"):
        tune_paper.compare([], records=tmp_path)


@pytest.mark.cluster
def test_who_stops_it_stops_all_of_it(
    made: dict[str, Record], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made[both.KERNELS].complete = False
    with pytest.raises(typer.Exit, match="1"):
        tune_paper.compare([], records=tmp_path)
    said = capsys.readouterr().out
    assert "Do not rely on it: the measurement was cut short" in said
    assert "search" not in said


@pytest.mark.cluster
def test_what_cannot_be_compared_is_a_sentence_and_changes_nothing(at_cluster: Beowulf) -> None:
    said = at_cluster("tune", "compare", "linpack", code=2)
    assert "There is no program 'linpack'. The programs are: kernels, search, hpl, hpcc." in said
    at_cluster("tune", "apply", "firewall", "10", "--unmeasured")
    try:
        said = " ".join(at_cluster("tune", "compare", "kernels", code=1).split())
        assert "firewall is 10, and this measurement must start from none" in said
        assert "`beowulf tune revert` puts back what was there." in said
    finally:
        at_cluster("tune", "revert")
    assert not list(at_cluster.here.glob("records/*"))


@pytest.mark.cluster
def test_hpl_is_given_both_states(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its measurement is replaced: that hpcc runs in any state, tests/suites shows."""
    seen: dict[str, set[str]] = {}

    def measure(*_: object, quick: bool, states: Any, size: int, **__: object) -> Record:
        assert quick
        assert size == both.QUICK_EQUATIONS
        for state, become in states.items():
            become()
            (readings,) = knob_places.read(cluster, [ALL[paper_e_baseline.FIREWALL]]).values()
            assert set(readings) == set(cluster.nodes)
            seen[state] = {each.value for each in readings.values()}
        return suite()

    monkeypatch.setattr(Study, "measure", measure)
    both.measure(both.HPL, cluster, tmp_path, quick=True)
    assert seen == {BEFORE: {"100"}, AFTER: {"none"}}
