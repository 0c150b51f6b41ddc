"""Are the published figures here as the papers print them?"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from beowulf import papers
from beowulf.errors import UsageError
from beowulf.studies import known


def test_each_paper_has_a_citation() -> None:
    people = ("Yahya", "Ramli", "Becker", "Colmenares", "Garabato")
    for letter, who in zip("ABCDE", people, strict=True):
        said = papers.cite(letter)
        assert who in said
        assert said.endswith(".")
        assert ".." not in said


def test_a_paper_or_table_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="There is no paper 'F'"):
        papers.cite("F")
    with pytest.raises(UsageError, match="There is no table 'A1'"):
        papers.table("A1")


def test_each_table_is_whole_and_says_where_it_comes_from() -> None:
    names = {path.stem for path in Path(papers.__file__).parent.glob("*.csv")}
    again = {(name, study) for study in known() for name in papers.measured_again_by(study)}
    assert names == {name for name, _ in again}
    assert all(name[0] == study[0] for name, study in again), "by a study of the same paper"
    for name in names:
        table = papers.table(name)
        assert len(table), name
        assert table.attrs["source"].startswith(papers.cite(name[0]))
        assert not table.columns.str.contains("Unnamed").any(), "as many names as columns"
        assert not table.duplicated().any(), name
    assert [len(papers.table(f"A-table-{n}")) for n in range(1, 6)] == [10, 6, 8, 3, 5]


def test_bytes_per_second_and_megabits_per_second_agree_as_printed() -> None:
    wire = papers.table("A-wire").dropna(subset=["mbit_per_s"])
    # Two digits behind the point are printed.
    assert (wire.bytes_per_s * 8 / 1e6 - wire.mbit_per_s).abs().max() < 0.0051


def improvement(table: pd.DataFrame, overlap: str, without: str) -> pd.Series:
    """Paper D's equation 1."""
    return (table[overlap] - table[without]) / table[without] * 100


def test_paper_ds_percentages_follow_from_its_equation() -> None:
    for name, overlap, without in (
        ("D-send-overlap", "overlap_s", "sum_s"),
        ("D-two-way-overlap", "during_s", "before_s"),
    ):
        table = papers.table(name).dropna(subset=["percent"])
        # The times are printed with three digits, so a percentage may be off by about 0.2.
        assert (improvement(table, overlap, without) - table.percent).abs().max() < 0.25
