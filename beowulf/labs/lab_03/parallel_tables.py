"""A Record of A4 as tables and as a picture: times, speed-ups, Mop/s with those of table 5, and calls."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from beowulf.cluster.description import on_one_machine
from beowulf.errors import LabError
from beowulf.measure import profile, speedup
from beowulf.measure.statistics import summary
from beowulf.record import Point, Record
from beowulf.suites.npb import BENCHMARKS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from beowulf.figures import Figure

DURATION = "duration_s"
RANKS = 4
PAPERS = ("MG", "FT", "LU", "SP", "BT")  # in the order of table 5
ONE, FOUR, PAPER, GRENDEL = "one node", "four nodes", "paper A (class A)", "Grendel (class B)"


def workers(record: Record) -> int:
    """The ranks that can compute at the same time: all, if each has its own machine, else as many as cores."""
    if not on_one_machine(record.cluster):
        return RANKS
    return min(RANKS, int(record.circumstances["before"]["cores"]))


def points(record: Record, name: str, ranks: int, *, profiled: bool = False) -> list[Point]:
    """The launches of a benchmark on so many nodes that have samples."""
    launches = record.select(benchmark=name, ranks=ranks, profiled=profiled)
    return [point for point in launches if point.quantity == DURATION and point.samples]


def durations(record: Record, name: str, ranks: int) -> list[float]:
    """The seconds of all launches without profile.c."""
    return [sample for point in points(record, name, ranks) for sample in point.samples]


def mops(record: Record, name: str, ranks: int) -> list[float]:
    """The nominal Mop/s of all launches without profile.c."""
    return [float(value) for point in points(record, name, ranks) for value in point.facts["mops"]]


def profiles(record: Record, name: str) -> list[profile.Profile]:
    """What profile.c counted in each launch on four nodes."""
    return [
        profile.profile({"kind": "profile", **rank} for rank in ranks)
        for point in points(record, name, RANKS, profiled=True)
        for ranks in point.facts["profile"]
    ]


def shares(record: Record, name: str) -> list[float]:
    """For each of these launches, the share of all ranks' time inside MPI."""
    return [each.share for each in profiles(record, name)]


def in_words(letters: Mapping[str, str]) -> str:
    """The classes of several benchmarks: the most frequent one, and the exceptions."""
    most = max(letters.values(), key=list(letters.values()).count)
    others = [f"{name} {letter}" for name, letter in letters.items() if letter != most]
    return f"class {most}" + (f" ({', '.join(others)})" if others else "")


def published() -> dict[str, tuple[float, float]]:
    """Table 5 by benchmark: Mop/s of paper A's cluster (class A) and of Grendel (class B); NaN where it has none."""
    from beowulf import papers

    rows = papers.table("A-table-5").to_dict("records")
    return {
        str(row["benchmark"]): (float(row["this_cluster_mops"]), float(row["g_cluster_mops"]))
        for row in rows
    }


def table(record: Record) -> pd.DataFrame:
    """One row per benchmark: medians on one node and on four, what follows from them, and table 5.

    Efficiency and the serial share of Karp and Flatt assume four processors, even if the nodes share cores.
    """
    import pandas as pd

    paper, rows = published(), []
    for name in BENCHMARKS:
        launches = points(record, name, 1) + points(record, name, RANKS)
        if not launches:
            continue
        one, four = (_median(durations(record, name, ranks)) for ranks in (1, RANKS))
        times = one / four
        paper_a, grendel = paper.get(name, (math.nan, math.nan))
        rows.append(
            {
                "benchmark": name,
                "class": launches[0].at["class"],
                "seconds_1": one,
                "seconds_4": four,
                "mops_1": _rate(record, name, 1),
                "mops_4": _rate(record, name, RANKS),
                "speed_up": times,
                "efficiency": speedup.efficiency(times, RANKS),
                "karp_flatt": speedup.karp_flatt(times, RANKS),
                "communication_percent": 100 * _median(shares(record, name)),
                "verified": all(all(point.facts["verified"]) for point in launches),
                "paper_mops": paper_a,
                "grendel_mops": grendel,
            }
        )
    if not rows:
        raise LabError("The Record of study A4 has no samples.", "Measure again.")
    return pd.DataFrame(rows)


def calls(record: Record) -> pd.DataFrame:
    """What profile.c counted in the last launch on four nodes: a row per benchmark and call, all ranks together."""
    import pandas as pd

    rows = [
        {"benchmark": name, "call": call, "calls": each.count}
        | {"bytes": each.bytes, "seconds": each.seconds}
        for name in BENCHMARKS
        for last in profiles(record, name)[-1:]
        for call, each in last.calls.items()
    ]
    if not rows:
        raise LabError(
            "The Record of study A4 has no profile.", "Measure again, and let it finish."
        )
    return pd.DataFrame(rows)


def _rate(record: Record, name: str, ranks: int) -> float:
    """The Mop/s that belong to the median time in the table."""
    seconds = durations(record, name, ranks)
    work = [rate * each for rate, each in zip(mops(record, name, ranks), seconds, strict=True)]
    return _median(work) / _median(seconds)


def _median(values: list[float]) -> float:
    return summary(values).median if values else math.nan


def picture(record: Record, title: str) -> Figure:
    """Bars that divide each benchmark's time into computing and communicating, and Mop/s on a logarithmic scale."""
    from beowulf.figures import Figure, look

    rows = table(record)
    with look.style():
        drawing, only = look.paper(width=11.5, height=2.2 + 0.52 * len(rows))
        only.remove()
        left, right = drawing.subplots(1, 2, sharey=True)
        _divide(left, rows)
        _compare(right, rows)
        left.set_yticks(range(len(rows)), list(rows.benchmark))
        left.invert_yaxis()
        letters = in_words(dict(zip(rows["benchmark"], rows["class"], strict=True)))
        look.titles(left, "Where does the time go, on four nodes?", "% of the ranks' time", "")
        look.titles(
            right,
            f"C{letters[1:]} beside table 5's A and B: compare only the order",
            "Mop/s, nominal",
            "",
        )
        for axes in (left, right):
            axes.grid(axis="y", visible=False)
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
    values = "; ".join(_in_words(row) for _, row in rows.iterrows())
    return Figure(drawing, title, f"{title} {values}.", rows)


def _divide(axes: Axes, rows: pd.DataFrame) -> None:
    from beowulf.figures.look import COLOURS, HATCHES

    inside = rows.communication_percent
    axes.barh(range(len(rows)), 100 - inside, color=COLOURS[0], label="computing")
    axes.barh(
        range(len(rows)),
        inside,
        left=100 - inside,
        color=COLOURS[1],
        hatch=HATCHES[1],
        edgecolor="white",
        label="inside of MPI",
    )
    # To the right of the bars, not on them, where the small blue part would be covered.
    for place, (share, times) in enumerate(zip(inside, rows.speed_up, strict=True)):
        words = [] if math.isnan(share) else [f"{share:.0f} % inside of MPI"]
        words += [] if math.isnan(times) else [f"{times:.2g} × one node's speed"]
        axes.text(102, place, "\n".join(words), va="center", fontsize=9)
    axes.set_xlim(0, 100)


def _compare(axes: Axes, rows: pd.DataFrame) -> None:
    from beowulf.figures.look import COLOURS, MARKERS, number_tick

    columns = {ONE: "mops_1", FOUR: "mops_4", PAPER: "paper_mops", GRENDEL: "grendel_mops"}
    for number, (label, column) in enumerate(columns.items()):
        axes.plot(
            rows[column],
            range(len(rows)),
            linestyle="none",
            marker=MARKERS[number],
            markersize=8,
            color=COLOURS[number],
            markerfacecolor=COLOURS[number] if number < 2 else "none",
            label=label,
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(number_tick)


def _in_words(row: pd.Series[Any]) -> str:
    from beowulf.figures.look import number_text

    def number(column: str) -> str:
        value = float(str(row[column]))
        return "not measured" if math.isnan(value) else number_text(float(f"{value:.3g}"))

    words = (
        f"{row['benchmark']}: {number('communication_percent')} % inside of MPI,"
        f" {number('mops_1')} Mop/s on one node and {number('mops_4')} on four"
    )
    if not math.isnan(float(str(row["paper_mops"]))):
        words += f", {number('paper_mops')} in paper A"
    return words
