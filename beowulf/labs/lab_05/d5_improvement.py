"""D5, equation 1: what did overlap gain, as a percentage, at each size?

Paper D, equation 1: improvement % = (T_overlap - T_nonoverlap) / T_nonoverlap x 100. It is the change
in time, so **a negative percentage is good**: -20 % means a fifth less time.

Its conclusions say that the support for overlap is directly related to the size of the message, and is
impaired where that is larger than the socket buffer. So this study runs the exchange of D4 over sizes on
both sides of what a send buffer takes, and also with the library's defaults. Its work lasts about as
long as 70 KB travel at 100 Mbit/s, so that there is something to hide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from beowulf import papers
from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.labs.lab_05 import overlap
from beowulf.labs.lab_05.overlap import (
    DEFAULT,
    KB,
    ONE_USER,
    ONE_USER_SOCKET,
    TESTED,
    THREADED,
    Amount,
    Run,
    Way,
    chosen,
    in_way,
    kb,
)
from beowulf.measure.improvement import Improvement, improvement, improvement_percent
from beowulf.measure.judgement import ENOUGH
from beowulf.measure.quality import trouble
from beowulf.record import Record
from beowulf.studies.quantity import PERCENT, Judge, Quantity, all_hold
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

# Those that a send buffer of 24 KB takes (and an eager limit of 16 KB lets leave), and those that it does not.
BELOW, ABOVE = (7 * KB, 14 * KB), (28 * KB, 42 * KB, 56 * KB, 70 * KB)
SIZES = BELOW + ABOVE
SECONDS = 0.006
FULL, QUICK = Amount(launches=3, passes=20), Amount(launches=2, passes=8)
WAYS = (ONE_USER_SOCKET, DEFAULT, ONE_USER, TESTED, THREADED)
# Half of the least that paper D calls a gain: -3.97 % (table 11). It warns that small differences mean little.
GAIN = ENOUGH * papers.figure("D-two-way-overlap", "percent", table=11, process=0, statistic="mean")
# Times of three digits, each rounded by up to 1 in 200, leave the percentages uncertain by 0.1 to 0.5 points.
ROUNDED_PERCENT = 0.25
# The parts of both_sides.c, and what a table of their medians calls them.
TIMES = {
    "comm": "t_comm_s",
    "comp": "t_comp_s",
    "before": "t_nonoverlap_s",
    "during": "t_both_s",
}
OF_EQUATION_1 = {"percent": "equation_1_percent", "low": "low_percent", "high": "high_percent"}


def plan(cluster: Cluster, *, quick: bool, seconds: float = SECONDS) -> Plan:
    """Exchange 7 to 70 KB with all the work before and with three quarters of it during."""
    runs = [Run(way, "both_sides.c") for way in WAYS]
    return overlap.sweep(runs, QUICK if quick else FULL, seconds, SIZES)


def exchanges(record: Record, **at: object) -> pd.DataFrame:
    """One row for each size, rank, launch and pass, one column a part (comm, comp, before, during), in s.

    LabError when the Record has no such samples.
    """
    samples = chosen(record, "duration_s", **at)
    keys = ["size_bytes", "rank", "launch", "pass"]
    wide = samples.pivot(index=keys, columns="part", values="duration_s").dropna().reset_index()
    if wide.empty or not {*TIMES} <= set(wide.columns):
        raise LabError("No pass has samples of every part.", "Measure again.")
    return wide


def slower(record: Record, **at: object) -> pd.DataFrame:
    """The parts by size, launch and pass; of all ranks, the slowest one counts."""
    return exchanges(record, **at).groupby(["size_bytes", "launch", "pass"])[[*TIMES]].max()


def gains(record: Record, way: Way, **at: object) -> dict[int, Improvement]:
    """Equation 1 at each size, of the slowest rank."""
    return {
        int(str(size)): equation_1(passes, busy=record.busy)
        for size, passes in slower(record, **way.at, **at).groupby("size_bytes")
    }


def equation_1(passes: pd.DataFrame, *, busy: bool = False) -> Improvement:
    """`during` against `before` of the same pass."""
    launches = passes.index.get_level_values("launch")
    return improvement(passes["during"], passes["before"], launches, busy=busy)


def change(what: str, of: Callable[[Record], Improvement]) -> Quantity:
    """Equation 1 as a quantity for claims."""
    return Quantity(what, of, f"{PERCENT} by equation 1")


def at(way: Way, size: int) -> Quantity:
    """Equation 1 at one size in this way, of the slower rank."""
    says = f"{kb(size)}, {way.says}"
    return change(says, lambda record: gains(record, way, size_bytes=size)[size])


def at_each(way: Way, name: str, says: str, judges: Iterable[Judge], **more: Any) -> Claim:
    """A claim on several sizes, which has to hold at each."""
    return Claim(name, says, in_way(way, all_hold(*judges)), **more)


def restored(way: Way, how: str) -> Claim:
    """Whether something that makes progress restores the gain of long messages."""
    judges = (at(way, size) - at(ONE_USER, size) < GAIN for size in ABOVE)
    says = f"With {how}, messages above the eager limit gain more than without, at each size"
    return at_each(way, f"{way.progress}-gains-above", says, judges)


def printed(_record: Record) -> Judgement:
    """Whether the paper's printed percentages follow from its printed averages."""
    differences = []
    for name, during, without in (
        ("D-send-overlap", "overlap_s", "sum_s"),
        ("D-two-way-overlap", "during_s", "before_s"),
    ):
        for row in papers.table(name).dropna(subset=["percent"]).to_dict("records"):
            computed = improvement_percent(row[during], row[without])
            differences.append(abs(computed - row["percent"]))
    worst = max(differences)
    return Judgement(
        "holds" if worst < ROUNDED_PERCENT else "contradicted",
        f"the {len(differences)} printed percentages differ by at most {worst:.2f} from ours, and"
        f" {ROUNDED_PERCENT} is allowed, because the times are printed with three digits",
        {"largest_difference": worst},
    )


def medians(record: Record) -> pd.DataFrame:
    """By library and size: medians of the parts (s) and equation 1, of the slower rank.

    T_overlap and T_nonoverlap are `during` and `before`; the message is `comm` and the work `comp`, and only three
    quarters of the work can hide a message.
    """
    import pandas as pd

    tables = []
    cases = {way: partial(gains, record, way) for way in WAYS}
    for way, by_size in overlap.of_cases("D5", cases).items():
        gained = pd.DataFrame(list(by_size.values())).rename(columns=OF_EQUATION_1)
        times = slower(record, **way.at).groupby("size_bytes").median().rename(columns=TIMES)
        sizes = [size / KB for size in times.index]
        named = times.reset_index(drop=True).assign(library=way.says, size_kb=sizes)
        tables.append(named.join(gained))
    columns = ["library", "size_kb", *TIMES.values(), *OF_EQUATION_1.values()]
    return pd.concat(tables, ignore_index=True)[columns]


def intervals(
    study: str, title: str, cases: Mapping[tuple[str, str], Callable[[], Improvement]]
) -> Figure:
    """Equation 1 with its interval, for each case in the Record; a case has a name and a kind."""
    from beowulf.figures import segments
    from beowulf.figures.segments import Value

    values = [
        Value(name, seen.percent, seen.low, seen.high, kind)
        for (name, kind), seen in overlap.of_cases(study, cases).items()
    ]
    return segments.intervals(
        values, title=title, value_title="equation 1, median of the passes: negative is better (%)"
    )


def in_the_papers_form(passes: pd.DataFrame, during: str, without: Sequence[str]) -> pd.DataFrame:
    """A row per statistic, as in tables 7 to 12, with medians next to the paper's averages.

    As in tables 7 and 8, the time without overlap of D3 is a sum of two minima, maxima or standard deviations, too.
    That is right for means only; only means and medians get a percentage.
    """
    rows = passes.agg(["min", "max", "mean", "median", "std"]).rename(index={"std": "stdev"})
    added = rows[[*without]].sum(axis=1)
    percent = 100 * (rows[during] - added) / added
    return rows.assign(sum=added, percent=percent.where(rows.index.isin(["mean", "median"])))


def picture(record: Record) -> Figure:
    """Equation 1 by size for each library, with its interval."""
    from beowulf import figures

    return figures.lines(
        medians(record),
        "size_kb",
        "equation_1_percent",
        "library",
        title="What does overlap gain? (negative is better)",
        x_title="message (KB of 1024 bytes)",
        y_title="equation 1, median of the passes (%)",
        low="low_percent",
        high="high_percent",
    )


STUDY = Study(
    id="D5",
    title="Improvement by equation 1: what overlap gains at each size",
    plan=plan,
    judged=[
        Claim(
            "printed-percentages",
            "Paper D's percentages follow from its averages by equation 1, negative being better",
            printed,
            needs="nothing",
            rests_on="arithmetic",
            place="tables 7 to 12",
        ),
        at_each(
            ONE_USER_SOCKET,
            "gains-below",
            "Messages that the send buffer takes (we send 7 and 14 KB) gain by overlap",
            (at(ONE_USER_SOCKET, size) < GAIN for size in BELOW),
            place="conclusions",
        ),
        at_each(
            ONE_USER_SOCKET,
            "gains-less-above",
            "Larger messages gain less (we compare 28 to 70 KB with buffers that grow, at each size)",
            (at(DEFAULT, size) - at(ONE_USER_SOCKET, size) < GAIN for size in ABOVE),
            place="conclusions",
        ),
        at_each(
            ONE_USER,
            "limit-gains-nothing-above",
            "With an eager limit of 16 KB in the buffer's place, larger ones gain nothing",
            (at(ONE_USER, size) > GAIN for size in ABOVE),
            rests_on="demonstration",
        ),
        restored(TESTED, "MPI_Test"),
        restored(THREADED, "a progress thread"),
    ],
    draw=picture,
    troubles=partial(trouble, quantity="duration_s"),
    needs=(CABLE,),
    differs={
        "holds": (
            "The kernel sends what the send buffer took while the ranks work, and the rest waits for the next MPI"
            " call: a message larger than the buffer gains less, as the paper concludes."
        ),
        "contradicted": (
            "If larger messages gain as much as with buffers that grow, the kernel took more than the buffer's"
            " size; if smaller ones gain nothing, ranks and kernel competed for the cores."
        ),
        "inconclusive": (
            "Gains count as different from about two percentage points on, and ranks that share cores with the kernel"
            " and a progress thread scatter by more: more cores can decide it."
        ),
    },
)
