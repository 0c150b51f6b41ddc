"""E8: is a replay held against the run that it predicts, and are rings turned only where a card has them?"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from made import decided, named

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError
from beowulf.labs.lab_09 import e8_other_network as e8
from beowulf.measure.roundtrips import HALF
from beowulf.measure.statistics import LEAST_PAIRS
from beowulf.record import Point, Record
from beowulf.studies import draw
from beowulf.studies.states import AFTER, BEFORE
from beowulf.tuning import knob_places, paper_e_baseline
from beowulf.tuning.knobs import ALL
from tests.gold.lab_07 import launches
from tests.labs.lab_03.lab_03_records import noisy
from tests.labs.lab_07.lab_07_records import record
from tests.studies.null_records import assert_told_apart

ABSENT = Point({"knob": e8.RINGS}, facts={"absent": "a cable between namespaces has no rings."})


def made(
    own: float = 1.0,
    other: float = 1.0,
    rings: list[Point] | None = None,
    runs: int = LEAST_PAIRS,
) -> Record:
    """Runs of 100 ms before and 40 ms after; a replay takes so many times as long on the own and the other network."""
    points = []
    for name in e8.PROGRAMS:
        for launch in range(runs):
            at: dict[str, Any] = {"program": name, "launch": launch}
            for state, ms, times in ((BEFORE, 100.0, own), (AFTER, 40.0, other)):
                points.append(Point({**at, "state": state}, e8.RECORDED, [ms]))
                points.append(Point({**at, "on": state}, e8.REPLAYED, [ms * times]))
    sweep = {"states": [BEFORE, AFTER], "launches": runs}
    return record("E8", points + ([ABSENT] if rings is None else rings), **sweep)


def turned(times: float) -> list[Point]:
    """A cycle of other rings, with which half a round trip takes so many times as long."""
    cycle = launches(e8.RINGS, times)[:2]
    for point in cycle:
        point.at["value"] = e8.FEW
    return cycle


@pytest.mark.parametrize(
    ("own", "other", "outcomes"),
    [
        (0.9, 1.1, ("holds", "holds")),
        (1.0, 1.6, ("holds", "contradicted")),
        (0.5, 1.0, ("contradicted", "holds")),
        (1.25, 0.75, ("holds", "holds")),
    ],
)
def test_a_replay_is_held_against_its_run(
    own: float, other: float, outcomes: tuple[str, str]
) -> None:
    found = decided(made(own, other))
    assert len(found) == 2 * len(e8.PROGRAMS) + 1
    for name in e8.PROGRAMS:
        each = name.lower()
        assert (found[f"{each}-{BEFORE}"], found[f"{each}-{AFTER}"]) == outcomes


def test_without_enough_replays_nothing_is_decided() -> None:
    few = made()
    few.points = [p for p in few.points if p.at.get("launch", 0) < 2]
    assert set(decided(few).values()) == {"inconclusive"}
    few.points = []
    with pytest.raises(LabError, match="was replayed fewer than"):
        draw(few)


@pytest.mark.parametrize(
    ("times", "outcome"), [(1.0, "holds"), (1.2, "contradicted"), (0.8, "contradicted")]
)
def test_rings_are_judged_where_a_card_has_them(times: float, outcome: str) -> None:
    assert decided(made(rings=turned(times)))["rings"] == outcome


def test_rings_that_are_not_there_are_named() -> None:
    said = named(made(), "rings")
    assert said.outcome == "inconclusive"
    assert "has no rings" in said.evidence
    assert "PCs" in said.advice


def test_the_picture_has_what_was_predicted() -> None:
    figure = draw(made(0.9, 1.1))
    assert "CG as recorded -10" in figure.alt
    assert "CG on the other network 10" in figure.alt
    assert len(figure.table) == 2 * len(e8.PROGRAMS)


@pytest.mark.nightly
@pytest.mark.parametrize("claim", [f"mg-{BEFORE}", f"mg-{AFTER}"])
def test_noise_alone_rarely_holds(claim: str) -> None:
    runs = e8.LAUNCHES
    assert_told_apart(e8.STUDY, claim, noisy, made(1.3, 0.7, runs=runs), made(runs=runs))


@pytest.mark.nightly
@pytest.mark.cluster
@pytest.mark.skipif(not shutil.which("smpirun"), reason="a replay needs SimGrid")
def test_runs_are_recorded_in_both_states_and_replayed_and_all_is_as_it_was(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(e8, "PROGRAMS", {"IS": e8.PROGRAMS["IS"]})
    monkeypatch.setattr(e8, "QUICK_LAUNCHES", 1)
    monkeypatch.setattr(e8, "PASSES", 1)
    knobs = [ALL[name] for name in paper_e_baseline.TESTBED]
    before = knob_places.read(cluster, knobs)
    measured = e8.STUDY.measure(cluster, tmp_path, quick=True)
    assert knob_places.read(cluster, knobs) == before
    assert "rate 100Mbit" in cluster.describe()["queue"]
    assert measured.complete, measured.warnings
    kept = [(p.at.get("state"), p.at.get("on"), p.quantity) for p in measured.points if p.samples]
    assert {(BEFORE, None, HALF), (AFTER, None, HALF)} <= set(kept)
    assert [each for each in kept if each[2] in (e8.RECORDED, e8.REPLAYED)] == [
        (BEFORE, None, e8.RECORDED),
        (AFTER, None, e8.RECORDED),
        (None, BEFORE, e8.REPLAYED),
        (None, AFTER, e8.REPLAYED),
    ]
    assert "has no rings" in measured.points[-1].facts["absent"]
