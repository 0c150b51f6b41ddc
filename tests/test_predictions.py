"""Predictions: does the first one that was sealed stay, is a late one late, and is it held against a measurement?"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nodeless_cluster import Nodeless

from beowulf import paths, predict, prediction, predictions
from beowulf.errors import UsageError
from beowulf.record import Record

SLUG, OTHER = "98-tiny", "99-other"
LAB = """\
title = "Tiny"
question = "How small?"
objectives = ["count to two"]
minutes = 10
prerequisites = ["none"]
studies = ["A7"]

[questions]

[predictions.knee]
study = "A7"
unit = "bytes"
asks = "Where does it bend?"

[predictions.own]
study = "E2-own"
unit = "µs"
asks = "How long does yours take?"
"""
GUESS = {"value": 8000, "low": 4000, "high": 20_000}


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the notebook of a tiny lab keeps its Records."""
    folders = {slug: tmp_path / "labs" / slug for slug in (SLUG, OTHER)}
    for slug, folder in folders.items():
        folder.mkdir(parents=True)
        text = LAB if slug == SLUG else LAB.partition("[predictions.knee]")[0]
        (folder / "lab.toml").write_text(text)
    ours = replace(paths.ours(), folder=tmp_path)
    monkeypatch.setattr(paths, "packages", lambda: iter([ours]))
    return tmp_path / "work" / SLUG / "records"


@pytest.fixture
def cluster(records: Path) -> Nodeless:
    return Nodeless(records)


def measured(records: Path, study: str, variant: str = "", **cluster: str) -> None:
    Record(study, variant=variant, cluster=dict(cluster)).save_in(records)


def sealed(records: Path) -> list[Path]:
    return sorted(records.glob("P*.json"))


def test_a_prediction_is_a_record_beside_the_notebook(
    cluster: Nodeless, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    predict(cluster, "knee", **GUESS)
    assert capsys.readouterr().out == "Sealed: knee is 8,000 (4,000 to 20,000) bytes.\n"
    [file] = sealed(records)
    record = Record.load(file)
    assert (record.study, record.variant) == ("P98", "knee")
    found = prediction(cluster, "knee")
    assert found is not None
    assert (found.value, found.low, found.high, found.late) == (8000, 4000, 20_000, False)
    assert prediction(cluster, "own") is None
    # A Record that was edited into nonsense is no prediction.
    file.write_text(file.read_text().replace("20000.0", '"many"'))
    assert prediction(cluster, "knee") is None


def test_what_is_not_filled_in_is_not_sealed_and_stops_nothing(
    cluster: Nodeless, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    predict(cluster, "knee", value=3, low=...)
    said = capsys.readouterr().out
    assert said.startswith("knee is not sealed yet: Where does it bend?")
    assert "before you measure A7" in said
    assert not sealed(records)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"value": 3000}, "does not contain 3,000"),
        ({"low": 9000}, "A range from 9,000 to 20,000"),
        ({"value": "8 KB"}, "value is a number in bytes, such as 8000 or 0.25, not '8 KB'"),
        ({"low": math.nan}, "low is a number"),
    ],
)
def test_what_is_no_number_or_no_range_is_refused(
    wrong: dict[str, Any], says: str, cluster: Nodeless, records: Path
) -> None:
    with pytest.raises(UsageError) as refused:
        predict(cluster, "knee", **{**GUESS, **wrong})
    assert says in str(refused.value)
    assert not sealed(records)


def test_the_first_prediction_stays(
    cluster: Nodeless, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    predict(cluster, "knee", **GUESS)
    predict(cluster, "knee", **GUESS)
    predict(cluster, "knee", value=None)
    assert "stays" not in capsys.readouterr().out
    predict(cluster, "knee", value=1, low=0, high=2)
    assert "Your first prediction of knee stays: 8,000 (4,000 to 20,000)" in capsys.readouterr().out
    assert len(sealed(records)) == 1


def test_a_prediction_after_the_first_record_of_its_study_is_late(
    cluster: Nodeless, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured(records, "E2")  # `own` belongs to a variant of it
    measured(records, "E2", "own", given_by="a course")
    predict(cluster, "own", value=3, low=2, high=4)
    measured(records, "A7")
    predict(cluster, "knee", **GUESS)
    assert "It is late: you have a Record of A7 already" in capsys.readouterr().out
    late = {each.name: each.late for each in predictions.sealed_in(records)}
    assert late == {"own": False, "knee": True}
    assert "It was sealed after the first Record of A7" in predictions.outcome(cluster, "knee", 9e3)
    assert predictions.calibration([records]) == (0, 0), "a late one is not counted"


def test_which_lab_it_is_follows_from_the_folder_the_argument_or_the_name(
    records: Path, tmp_path: Path
) -> None:
    elsewhere = Nodeless(tmp_path / "somewhere" / "records")
    predict(elsewhere, "knee", **GUESS)
    predict(elsewhere, "own", lab="98", value=3, low=2, high=4)
    assert {Record.load(file).study for file in sealed(elsewhere.records)} == {"P98"}
    with pytest.raises(UsageError, match=r"Which lab is 'nothing' a prediction of.*lab=\"04\""):
        predict(elsewhere, "nothing", **GUESS)
    with pytest.raises(
        UsageError, match=r"no table \[predictions.kneee\]. Perhaps you mean 'knee'"
    ):
        predict(Nodeless(records), "kneee", **GUESS)


def test_a_prediction_is_held_against_what_was_measured(cluster: Nodeless) -> None:
    said = predictions.outcome(cluster, "knee", 16_384)
    assert said == "You sealed no prediction of knee; measured: 16,384 bytes."
    predict(cluster, "knee", **GUESS)
    for value, where in ((16_384, "inside"), (100, "below"), (1_000_000, "above")):
        said = predictions.outcome(cluster, "knee", value)
        what = f"{value:,}, {where} your range."
        assert said == f"You predicted 8,000 (4,000 to 20,000) bytes; measured: {what}"
    with pytest.raises(UsageError, match="measured is a number in bytes"):
        predictions.outcome(cluster, "knee", math.nan)


def test_calibration_counts_what_was_in_time_and_measured_by_the_latest_measurement(
    cluster: Nodeless, records: Path
) -> None:
    assert predictions.calibration([records]) == (0, 0)
    predict(cluster, "knee", **GUESS)
    predict(cluster, "own", value=3, low=2, high=4)
    assert predictions.calibration([records]) == (0, 0)
    predictions.outcome(cluster, "knee", 100)
    predictions.outcome(cluster, "own", 3.5)
    assert predictions.calibration([records]) == (1, 2)
    predictions.outcome(cluster, "knee", 5000)
    assert predictions.calibration([records, records]) == (4, 4)
    assert len(predictions.sealed_in(records)) == 2, "what was measured is no prediction"
