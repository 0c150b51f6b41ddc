"""Lab 05's overlapped step: are its two versions found among the Records, and shown with their times?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from nodeless_cluster import Nodeless

from beowulf.labs.lab_05 import own_step
from beowulf.labs.lab_05.own_step import WITH, WITHOUT
from tests.gold.lab_05 import step

LATER = {"started": "2024-01-06T10:00:00.000Z", "ended": "2024-01-06T10:01:00.000Z"}


def test_the_newest_record_of_each_version_counts() -> None:
    plain, tested, again = step(tests=False), step(), step(**LATER)
    assert own_step.versions([plain, again, tested]) == {WITHOUT: plain, WITH: again}
    assert list(own_step.versions([again, plain])) == [WITHOUT, WITH]


def test_what_was_wrong_is_another_language_or_study_is_no_version() -> None:
    others = [step(why="row 5 is wrong", **LATER), step(language="c"), replace(step(), study="H4")]
    assert own_step.versions(others) == {}


def test_versions_are_read_from_the_folder_and_missing_ones_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = Nodeless(tmp_path)
    assert own_step.kept(cluster) == {}
    assert capsys.readouterr().out.count("There is no Record of your overlapped_step") == 2
    step(tests=False).save_in(tmp_path)
    assert list(own_step.kept(cluster)) == [WITHOUT]
    assert "overlapped_step with MPI_Test yet" in capsys.readouterr().out


def test_the_table_has_a_row_for_each_version_and_length_of_row() -> None:
    found = own_step.medians(step(tests=False), step(why="it is not written yet"), step())
    assert list(found["version"]) == [WITHOUT] * 4 + [WITH] * 4
    assert list(found["row_bytes"]) == [32_000, 64_000, 112_000, 160_000] * 2
    longest = found[found["row_bytes"] == 160_000].set_index("version")
    assert longest["exchange_ms"][WITH] == pytest.approx(12.8, rel=0.01)
    assert longest["overlapped_ms"][WITHOUT] == longest["before_ms"][WITHOUT]
    assert own_step.medians().empty
