"""Are the published figures here as the papers print them, and where a paper errs, is it said?"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from beowulf import papers
from beowulf.errors import UsageError


@pytest.mark.parametrize(
    ("letter", "who"),
    [("A", "Yahya"), ("B", "Ramli"), ("C", "Becker"), ("D", "Colmenares"), ("E", "Garabato")],
)
def test_each_paper_has_a_citation(letter: str, who: str) -> None:
    said = papers.cite(letter)
    assert who in said
    assert said.endswith(".")
    assert ".." not in said


def test_a_paper_or_table_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="There is no paper 'F'"):
        papers.cite("F")
    with pytest.raises(UsageError, match="There is no table 'A1'"):
        papers.table("A1")


def test_each_table_has_a_file_and_each_file_a_table() -> None:
    files = {path.stem for path in Path(papers.__file__).parent.glob("*.csv")}
    assert files == set(papers.tables())


@pytest.mark.parametrize("name", papers.tables())
def test_each_table_is_whole_and_says_where_it_comes_from(name: str) -> None:
    table = papers.table(name)
    assert len(table)
    assert table.attrs["source"].startswith(papers.cite(name[0]))
    assert not table.columns.str.contains("Unnamed").any(), "as many names as columns"
    assert not table.duplicated().any()


def test_paper_as_tables_have_the_rows_that_it_lists() -> None:
    lengths = {f"A-table-{n}": len(papers.table(f"A-table-{n}")) for n in range(1, 6)}
    assert list(lengths.values()) == [10, 6, 8, 3, 5]


def test_bytes_per_second_and_megabits_per_second_agree_as_printed() -> None:
    wire = papers.table("A-wire").dropna(subset=["mbit_per_s"])
    # Two digits behind the point are printed.
    assert (wire.bytes_per_s * 8 / 1e6 - wire.mbit_per_s).abs().max() < 0.0051


def test_the_swapped_figures_of_paper_a_are_kept_and_noted() -> None:
    wire = papers.table("A-wire")
    bytes_a_packet = wire.bytes_per_s / wire.packets_per_s
    swapped = wire[(wire.calls == "blocking") & wire.packets_per_s.notna()]
    assert list(bytes_a_packet[swapped.index].round()) == [63, 195]
    turned = swapped.bytes_per_s.to_numpy()[::-1] / swapped.packets_per_s.to_numpy()
    assert list(turned.round()) == [111, 111], "with the columns turned both have the same size"
    assert "swapped" in wire.attrs["note"]


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


def test_paper_ds_sweep_jumps_where_its_text_says() -> None:
    sweep = papers.table("D-table-5").set_index("message_kb")
    late = sweep[["solaris_p1_s", "one_user_p1_s"]] > 1
    assert list(late.idxmax()) == [70, 20]


def test_paper_ds_sweep_has_no_size_at_which_its_text_puts_the_end() -> None:
    sweep = papers.table("D-table-5")
    assert sweep.message_kb.max() == 80
    assert "85 KB" in sweep.attrs["note"]


def test_paper_d_adds_standard_deviations_and_the_note_says_so() -> None:
    table = papers.table("D-send-overlap")
    for _, each in table.groupby("table"):
        row = each.set_index("statistic").loc["stdev"]
        assert row["sum_s"] == pytest.approx(row["message_s"] + row["workload_s"], rel=0.01)
    assert "sum of two standard deviations" in table.attrs["note"]


def test_the_workload_of_tables_7_and_8_is_one_measurement_with_a_burst_in_it() -> None:
    table = papers.table("D-send-overlap")
    seven, eight = (each.set_index("statistic") for _, each in table.groupby("table"))
    assert (seven.workload_s == eight.workload_s).all()
    assert (table[table.statistic == "max"].overlap_s < seven.workload_s["max"]).all()


def test_the_gain_of_table_9_is_that_of_its_averages_not_of_its_minima() -> None:
    table = papers.table("D-two-way-overlap")
    least = table[(table.table == 9) & (table.statistic == "min")]
    assert improvement(least, "during_s", "before_s").round(2).tolist() == [-0.95]
    assert "-0.95 %" in table.attrs["note"]


def test_paper_as_difference_of_packets_is_not_the_one_it_prints() -> None:
    wire = papers.table("A-wire")
    packets = wire[(wire.calls == "blocking") & wire.packets_per_s.notna()].packets_per_s
    assert round(packets.max() - packets.min(), 2) == 999.87
    assert "999.87, not 999.18" in wire.attrs["note"]


def test_what_is_wrong_in_no_table_is_noted_with_the_paper() -> None:
    assert "MPI_Send has none" in papers.note("A")
    assert "1000 runs" in papers.note("D")
    assert "4.14" in papers.note("E")
    assert papers.note("B") == ""
