"""D5, equation 1: what did overlap gain, as a percentage, at each size?

Paper D, equation 1: improvement % = (T_overlap - T_nonoverlap) / T_nonoverlap x 100. It is the change
of the time, so **a negative percentage is the better one**: -20 % means that a fifth of the time is
gone. Two other formulas are in use, and answer another question, namely which share of the message's
time was hidden: OSU's 100 - (T_both - T_work) / T_message x 100, and IMB's, which divides what was
saved by the shorter of the two. All three are in this study's table.

Its conclusions say that the support for overlap is directly related to the size of the message. So
this study runs the exchange of D4 over sizes on both sides of the limit, with a work that lasts about
as long as 70 KB travel at 100 Mbit/s, so that there is something to hide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from beowulf import papers
from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.labs.lab_05 import overlap
from beowulf.labs.lab_05.overlap import (
    KB,
    ONE_USER,
    QUIETER,
    SOLARIS,
    TESTED,
    THREADED,
    Amount,
    Way,
    chosen,
    kb,
)
from beowulf.measure.improvement import Improvement, improvement, improvement_percent
from beowulf.measure.judgement import ENOUGH, below, difference
from beowulf.measure.quality import trouble
from beowulf.record import Record
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study, other_library
from beowulf.verdict import Outcome

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

SIZES = tuple(size * KB for size in (7, 14, 28, 42, 56, 70))
SECONDS = 0.006
FULL, QUICK = Amount(launches=3, passes=20), Amount(launches=2, passes=8)
WAYS = (ONE_USER, SOLARIS, TESTED, THREADED)
# Half of the least that paper D calls a gain: 3.97 % (table 11). It warns that small differences mean little.
MARGIN_PERCENT = -ENOUGH * papers.figure(
    "D-two-way-overlap", "percent", table=11, process=0, statistic="mean"
)
# Two times of three digits, each rounded by up to 1 in 1,000 of it, leave so many points of a percentage open.
ROUNDED_PERCENT = 0.25
PARTS = ("comm", "comp", "before", "during")  # of both_sides.c
BELOW = "messages below the limit ({}) gain by overlap"
ABOVE = "the step over the limit ({}) takes gain away"


def gained(seen: Improvement) -> Outcome:
    """Whether overlap gains by more than the margin."""
    return below(seen, -MARGIN_PERCENT)


def not_gained(seen: Improvement) -> Outcome:
    """Whether overlap gains nothing: the opposite of gained(), by the same margin."""
    return below(-MARGIN_PERCENT, seen)


def gains_more(one: Improvement, other: Improvement) -> Outcome:
    """Whether one gains more than the other, by more than the margin."""
    return below(difference(one, other), -MARGIN_PERCENT)


def osu_percent(message: float, work: float, both: float) -> float:
    """How much of the message's time was hidden behind the work, as OSU's benchmarks count it."""
    return max(0.0, 100 - (both - work) / message * 100)


def imb_percent(message: float, work: float, both: float) -> float:
    """What was saved, of the most that could be (the shorter of both), as Intel's benchmarks count it."""
    return 100 * max(0.0, min(1.0, (message + work - both) / min(message, work)))


def plan(cluster: Cluster, *, quick: bool, seconds: float = SECONDS) -> Plan:
    """Exchange 7 to 70 KB with all the work before and with three quarters of it during."""
    return overlap.sweep(
        "both_sides.c", WAYS, overlap.swept(QUICK if quick else FULL, seconds, SIZES)
    )


def exchanges(record: Record, way: Way, **at: object) -> pd.DataFrame:
    """One row for each size, rank, launch and pass, one column a part (comm, comp, before, during), in s.

    LabError when the Record has no such samples.
    """
    samples = chosen(record, "duration_s", **way.at, **at)
    keys = ["size_bytes", "rank", "launch", "pass"]
    wide = samples.pivot(index=keys, columns="part", values="duration_s").dropna().reset_index()
    if wide.empty or not {*PARTS} <= set(wide.columns):
        raise LabError("There are no samples of this library.", "Measure again.")
    return wide


def gains(record: Record, way: Way, **at: object) -> dict[int, Improvement]:
    """Equation 1 at each size; of all ranks, the slowest one counts in each pass."""
    slower = (
        exchanges(record, way, **at).groupby(["size_bytes", "launch", "pass"]).max().reset_index()
    )
    return {
        int(str(size)): improvement(each.during, each.before, each.launch, busy=record.busy)
        for size, each in slower.groupby("size_bytes")
    }


def at_the_limit(
    way: Way, name: str, says: str, decide: Callable[[Improvement, Improvement], Outcome]
) -> Claim:
    """What the last size below the limit of this way gains, and the first one above it."""

    def judge(record: Record) -> Judgement:
        by_size = gains(record, way)
        small, large = (
            [size for size in by_size if (size <= way.limit_bytes) == under]
            for under in (True, False)
        )
        if not small or not large:
            raise LabError(f"There are no sizes on both sides of {kb(way.limit_bytes)}.")
        low, high = by_size[max(small)], by_size[min(large)]
        return Judgement(
            decide(low, high),
            f"{kb(max(small))}: {low.says}; {kb(min(large))}: {high.says}",
            {"below_percent": low.percent, "above_percent": high.percent},
            **{**QUIETER, **other_library(record)},
        )

    says = f"{way.says}: {says.format(kb(way.limit_bytes))}"
    return Claim(f"{way.mpich}-{name}", says, judge)


def restored(way: Way, how: str) -> Claim:
    """What makes progress gives the long messages their gain back."""

    def judge(record: Record) -> Judgement:
        plain, helped = gains(record, ONE_USER), gains(record, way)
        both = set(plain) & set(helped)
        if not both:
            raise LabError("There is no size that was measured with and without.")
        size = max(both)
        return Judgement(
            gains_more(helped[size], plain[size]),
            f"{kb(size)}: {helped[size].says} against {plain[size].says}",
            {"percent": helped[size].percent, "without_percent": plain[size].percent},
            **{**QUIETER, **other_library(record)},
        )

    says = f"With {how}, messages above the limit gain more than without"
    return Claim(f"{way.progress}-gains-above", says, judge)


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
        f"the {len(differences)} printed ones differ by at most {worst:.2f} from ours, and the times"
        " are printed with three digits",
        {"largest_difference": worst},
    )


def formulas(record: Record) -> pd.DataFrame:
    """By library and size: medians of the parts (s), equation 1, and OSU's and IMB's percentages.

    The slower rank counts. T_overlap and T_nonoverlap are `during` and `before`; the message is
    `comm` and the work `comp`, and only three quarters of the work can hide a message.
    """
    import pandas as pd

    rows = []
    for way in WAYS:
        try:
            by_size, wide = gains(record, way), exchanges(record, way)
        except LabError:
            continue
        slower = wide.groupby(["size_bytes", "launch", "pass"]).max()
        medians = slower.groupby("size_bytes")[[*PARTS]].median()
        for size, each in medians.iterrows():
            message, work, both = each["comm"], each["comp"], each["during"]
            gain = by_size[int(str(size))]
            rows.append(
                {
                    "library": way.says,
                    "size_kb": int(str(size)) / KB,
                    "t_comm_s": message,
                    "t_comp_s": work,
                    "t_nonoverlap_s": each["before"],
                    "t_both_s": both,
                    "equation_1_percent": gain.percent,
                    "low_percent": gain.low,
                    "high_percent": gain.high,
                    "osu_percent": osu_percent(message, work, both),
                    "imb_percent": imb_percent(message, work, both),
                }
            )
    if not rows:
        raise LabError("The Record of study D5 has no samples.", "Measure again.")
    return pd.DataFrame(rows)


def picture(record: Record) -> Figure:
    """Equation 1 by size for each library, with its interval."""
    from beowulf import figures

    return figures.lines(
        formulas(record),
        "size_kb",
        "equation_1_percent",
        "library",
        title="What does overlap gain? (negative is better)",
        x_title="message (KB of 1024 bytes)",
        y_title="improvement by equation 1 (%)",
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
        ),
        *(
            at_the_limit(way, *claim)
            for way in (ONE_USER, SOLARIS)
            for claim in (
                ("gains-below", BELOW, lambda small, _: gained(small)),
                ("gains-less-above", ABOVE, gains_more),
            )
        ),
        restored(TESTED, "MPI_Test"),
        restored(THREADED, "a progress thread"),
    ],
    draw=picture,
    troubles=lambda record: trouble(record, "duration_s"),
    needs=(CABLE,),
    differs={
        "holds": (
            "Below the limit the kernel sends while the ranks work, above it the library has to "
            "and does not, and MPI_Test or a progress thread lets it: the paper's rule at the "
            "paper's limits, and its printed percentages follow from its averages."
        ),
        "contradicted": (
            "The gain did not change at the limit, so the limit was not in force, as with another "
            "MPI library, or kernel, ranks and a progress thread took the cores from each other "
            "while they should have overlapped."
        ),
        "inconclusive": (
            "Two gains have to be two points of a per cent apart, and ranks that share cores with "
            "the kernel and a progress thread scatter by more."
        ),
    },
)
