"""D3: does the study see a gain where there is one, and none where there is none?"""

from __future__ import annotations

from pathlib import Path

import pytest
from made import decided, named

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.labs.lab_05 import d3_message_and_workload as d3
from beowulf.labs.lab_05.overlap import DEFAULT, KB, ONE_USER_SOCKET, Amount, Way
from beowulf.record import Point, Record
from tests.studies.null_records import Noise
from tests.studies.overlap_records import connected, record, timed

MESSAGE, WORK = 1e-4, 4e-4


def parts(
    size: int,
    percent: float,
    language: dict[str, str],
    more: float = 1.0,
    noise: Noise | None = None,
    way: Way = DEFAULT,
) -> list[Point]:
    times = {"message": MESSAGE, "work": WORK, "both": (MESSAGE + WORK) * (1 + percent / 100)}
    at = {"size_bytes": size, **language}
    return [
        point
        for part, seconds in times.items()
        for point in timed(way, "duration_s", seconds * more, noise, **at, rank=0, part=part)
    ]


def measured(
    small: float,
    large: float,
    python: float = 1.02,
    gained: float = -8.0,
    buffer_bytes: int | None = None,
) -> Record:
    """A Record with these improvements in %, Python so many times as slow, and what a small send buffer gains."""
    points = []
    for size, percent in zip(d3.SIZES, (small, large), strict=True):
        points += parts(size, percent, d3.C) + parts(size, percent, d3.PYTHON, python)
        points += parts(size, gained, d3.C, way=ONE_USER_SOCKET)
    return record("D3", [*points, connected(ONE_USER_SOCKET, buffer_bytes)])


def test_the_papers_percentages_hold_and_a_gain_contradicts() -> None:
    found = decided(measured(3.61, 3.29))
    assert found.pop("wire-time") == "contradicted"
    assert list(found.values()) == ["holds"] * 4
    assert list(decided(measured(3.61, -20)).values())[:2] == ["holds", "contradicted"]


def test_with_the_papers_small_buffer_there_is_something_to_hide_or_not() -> None:
    assert decided(measured(3.61, 3.29, gained=3.0))["small-buffer-gains"] == "contradicted"
    other = named(measured(3.61, 3.29, buffer_bytes=87_040), "small-buffer-gains")
    assert other.outcome == "inconclusive"
    assert (
        "the sender's buffer has 87,040 bytes by getsockopt, where the nodes set 24,576"
        in other.evidence
    )


def test_table_8_contradicts_the_limit_of_table_5_whatever_was_measured() -> None:
    verdict = named(record("D3", []), "wire-time")
    assert (verdict.outcome, verdict.rests_on) == ("contradicted", "arithmetic")
    assert "45 KB take at least 3.69 ms at 100 Mbit/s, and T_message is 0.39 ms" in verdict.evidence


def test_a_gain_about_as_large_as_what_counts_as_none_is_not_reported() -> None:
    made = measured(3.61, -5)
    for point in made.points:  # so few and so scattered that the interval is wide
        if point.at.get("part") == "both" and point.at["size_bytes"] == 65 * KB:
            point.samples[:] = [each * (0.8 + 0.01 * i) for i, each in enumerate(point.samples)]
    verdict = d3.STUDY.claims(made)[1]
    assert verdict.outcome == "inconclusive"
    assert verdict.advice


@pytest.mark.parametrize(("times", "outcome"), [(1.05, "holds"), (1.5, "contradicted")])
def test_python_adds_little_or_much(times: float, outcome: str) -> None:
    verdict = named(measured(3, 3, times), "python-adds-little")
    assert verdict.outcome == outcome
    assert "and less than 94.25 is asked" in verdict.evidence


@pytest.mark.cluster
def test_it_runs_to_its_picture_and_the_program_in_python_writes_what_the_one_in_c_writes(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(d3, "QUICK", Amount(launches=1, passes=3))
    monkeypatch.setattr(d3, "WAYS", (DEFAULT,))
    made = d3.STUDY.measure(cluster, tmp_path, quick=True)
    assert made.complete, made.warnings
    in_c, in_python = (
        sorted(
            (point.at["size_bytes"], point.at["rank"], point.at["part"], len(point.samples))
            for point in made.select(**language)
            if point.quantity == "duration_s"
        )
        for language in (d3.C, d3.PYTHON)
    )
    assert in_c == in_python
    assert len(in_c) == 2 * 5
    assert {samples for *_, samples in in_c} == {3}
    assert (
        "Marks of paper D's averages, across and up: 496 and 0, 514 and 1"
        in d3.STUDY.picture(made).alt
    )


def test_the_table_is_made_as_the_papers() -> None:
    table = d3.paper_table(measured(3.61, 3.29))
    rows = table.set_index(["message_kb", "statistic"])
    assert rows.index.get_level_values("message_kb").unique().tolist() == [10, 65]
    added = rows.message_s + rows.workload_s
    assert rows.sum_s.tolist() == pytest.approx(added.tolist())
    # Samples lie within 1 % of what they were made from.
    assert rows.loc[(10, "mean"), "percent"] == pytest.approx(3.61, abs=2.1)
    assert rows.percent.notna().sum() == 4, "a percentage for the mean and the median only"
