"""A9, overlap sizes: the rate when each rank works on 1 to 1,000,000 bytes during its message.

Paper A, figure 18, shows the rate for np = 2, 3 and 4 with an overlap of 1,000,000 bytes, blocking and non-blocking,
and does not state how three ranks are paired. Ours sweeps the message in a ring with work. mpptest makes
two sweeps: of the message (-bisect, which ignores -overlap), and of the work during an empty message (-overlap, where
only rank 0 and the last one talk). The paper's lines differ by np, and stay under 10 MB per second below 100,000
bytes; work during an empty message has one line, of thousands of MB per second. So the paper's 1,000,000 bytes of
overlap are more likely its longest message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.measure import mpptest
from beowulf.measure.judgement import Span, below, narrower, together
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import EXCHANGE, SweepConfig, pairs, rates
from beowulf.measure.statistics import LEAST_PAIRS, Summary, summary
from beowulf.record import Record
from beowulf.studies import mpptest_reading
from beowulf.studies.quantity import all_hold, known
from beowulf.studies.roundtrip_sweep import in_a_ring, rates_over_sizes, sweep
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study, undecided

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from beowulf.figures import Figure

PROTOCOLS = ("blocking", "overlap")
RANKS = (2, 3, 4)
SIZES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
OVERLAPS = (1, 100, 10_000, 100_000, 1_000_000)
QUICK_SIZES = (1, 100, 10_000, 100_000, 1_000_000)
QUICK_OVERLAPS = (1, 1_000_000)
BELOW_BYTES = 100_000  # below, the paper calls the differences insignificant
FROM_BYTES = 1_000_000  # there, it calls them significant
# On the axis of a figure that reaches the highest rate, the eye sees this share as a difference.
VISIBLE = 0.1
BELOW_MBIT = 80.0  # 10 MB per second, below BELOW_BYTES
HIDDEN = 0.05  # of the blocking time: less does not count as hiding, as a smaller difference of rates does not count


def plan(
    cluster: Cluster, *, quick: bool, sizes: Sequence[int] = (), overlap_bytes: Sequence[int] = ()
) -> Plan:
    """A ring of 2, 3 and 4 nodes at each message size and overlap, blocking and non-blocking; and mpptest's method."""
    config = SweepConfig(
        [("ring", ranks) for ranks in RANKS],
        PROTOCOLS,
        sizes or (QUICK_SIZES if quick else SIZES),
        overlap_bytes or (QUICK_OVERLAPS if quick else OVERLAPS),
    )
    of_messages = mpptest.Mpptest(RANKS, config.sizes, bisect=True)
    of_work = mpptest.Mpptest(RANKS, overlap_bytes=config.sizes)
    return sweep(cluster, config, quick=quick, mpptest=[of_messages, of_work])


def beside_the_longest(record: Record) -> pd.DataFrame:
    """The rates with the longest work."""
    rows = rates(record, ["overlap_bytes"])
    longest: pd.DataFrame = rows[rows["overlap_bytes"] == rows["overlap_bytes"].max()]
    return longest


def gaps(rows: pd.DataFrame, length: str) -> dict[int, Span]:
    """By length: the distance between the highest and the lowest line, as a share of the highest rate."""
    top = float(rows["rate_mbit_per_s"].max())
    return {
        int(str(size)): Span(
            max(0.0, float(each["low"].max() - each["high"].min())) / top,
            float(each["high"].max() - each["low"].min()) / top,
        )
        for size, each in rows.groupby(length)
    }


def differ_from(gaps_of: Callable[[Record], dict[int, Span]], record: Record) -> Judgement:
    """Figure 18: the lines hardly differ below messages of 100,000 bytes, and significantly at 1,000,000."""
    gap = gaps_of(record)
    outcomes = [
        below(each, VISIBLE) if size < BELOW_BYTES else below(VISIBLE, each)
        for size, each in gap.items()
        if not BELOW_BYTES <= size < FROM_BYTES
    ]
    shares = ", ".join(
        f"{each.low:.0%} to {each.high:.0%} at {size:,}"
        for size, each in gap.items()
        if size >= 100
    )
    return Judgement(
        together(outcomes),
        f"the lines differ by these shares of the highest rate: {shares} bytes; less than {VISIBLE:.0%} below"
        f" {BELOW_BYTES:,} bytes, and more from {FROM_BYTES:,} on, is asked",
        {str(size): [each.low, each.high] for size, each in gap.items()},
        advice=narrower(record),
    )


def below_100000(record: Record, length: str) -> pd.DataFrame:
    """What mpptest prints for lengths below 100,000 bytes; LabError without."""
    rows = mpptest.printed(record, length)
    rows = rows[(rows["length_bytes"] > 0) & (rows["length_bytes"] < BELOW_BYTES)]
    if rows.empty:
        raise LabError(f"There are no lengths below {BELOW_BYTES:,} bytes.", "Measure some.")
    return rows


def below_10_mb(record: Record) -> Judgement:
    """Figure 18: no line of the sweep of messages reaches 10 MB per second below 100,000 bytes."""
    rows = below_100000(record, mpptest.MESSAGES)
    top = rows.sort_values("rate_mbit_per_s").to_dict("records")[-1]
    says = f"the highest rate, np {top['ranks']}, {top['calls']}, at {top['length_bytes']:,} bytes"
    fastest = Span(rows["low"].max(), rows["high"].max())
    return (known(says, fastest, "Mbit/s") < BELOW_MBIT)(record)


def work_is_faster(record: Record) -> Judgement:
    """Whether each line of the sweep of work is above 10 MB per second below 100,000 bytes already."""
    rows = below_100000(record, mpptest.WORK)
    length = rows["length_bytes"].max()
    rows = rows[rows["length_bytes"] == length]
    slowest = Span(rows["low"].min(), rows["high"].min())
    return (known(f"the lowest rate, work on {length:,} bytes", slowest, "Mbit/s") > BELOW_MBIT)(
        record
    )


def more_nodes(record: Record) -> Judgement:
    """Figure 18: whether the rate of the longest message, non-blocking, grows visibly with the nodes."""
    rows = beside_the_longest(record)
    rings = [in_a_ring(lambda _: rows, ranks, "overlap") for ranks in RANKS]
    return all_hold(*(more / few > 1 + VISIBLE for few, more in pairwise(rings)))(record)


def hides(record: Record) -> Judgement:
    """Whether overlap saves time: even launches find the size where it saves most, odd ones judge that size."""
    works = {
        int(point.at["overlap_bytes"])
        for point in record.points
        if point.samples and point.quantity == EXCHANGE and "overlap_bytes" in point.at
    }
    short, long = min(works), max(works)
    halves = ([p for p in record.points if p.at.get("launch", 0) % 2 == n] for n in (0, 1))
    even, odd = (saved(replace(record, points=each), short, long) for each in halves)
    if not even or not odd:
        return undecided("one launch cannot both find a size and judge it", narrower(record))
    best = max(even, key=lambda size: even[size].median)
    if best not in odd or odd[best].n < LEAST_PAIRS:
        return undecided(f"fewer than {LEAST_PAIRS} pairs judge the size", narrower(record))
    share = odd[best]
    return Judgement(
        below(HIDDEN, share),
        f"of the blocking time with work on {long:,} bytes, non-blocking hides {share.median:.0%}"
        f" ({share.low:.0%} to {share.high:.0%}) at {best:,} bytes, where it hid most in other launches, and more than"
        f" {HIDDEN:.0%} is asked",
        {"hidden": share.median, "low": share.low, "high": share.high, "size_bytes": best},
        advice=narrower(record),
    )


def saved(record: Record, short: int, long: int) -> dict[int, Summary]:
    """By size, how much less long work adds where calls do not block, as a share of the blocking time, in a ring of 2.

    Blocking ranks take turns, so they are slower even without work: only the time that work adds is compared.
    """
    beside_short, beside_long = (
        pairs(record, EXCHANGE, "protocol", "overlap", "blocking", overlap_bytes=work, ranks=2)
        for work in (short, long)
    )
    shares = {}
    for size, both in beside_long.items():
        other = beside_short.get(size)
        if other and other.launches == both.launches:
            each = [
                ((blocking - blocking_before) - (new - new_before)) / blocking
                for (new, blocking), (new_before, blocking_before) in zip(
                    both.values, other.values, strict=True
                )
            ]
            shares[size] = summary(each, launches=both.launches, busy=record.busy, compared=1.0)
    return shares


def picture(record: Record) -> Figure:
    """Figure 18: the rate for np = 2, 3 and 4, over the message at the longest work, and as mpptest prints it."""
    rows = beside_the_longest(record).sort_values(["ranks", "protocol", "size_bytes"])
    longest = int(rows["overlap_bytes"].max())
    calls = rows["protocol"].map({"blocking": "blocking", "overlap": "non-blocking"})
    beside = f"Rate in a ring with work on {longest:,} bytes"
    ours = {"message": partial(rates_over_sizes, rows, calls, beside)}
    if mpptest.measured(record, mpptest.WORK):
        ours["work"] = partial(mpptest_reading.rates, record, length=mpptest.WORK)
    title = f"Rates of 2, 3 and 4 nodes, with work on up to {longest:,} bytes"
    return mpptest_reading.in_both_ways(title, record, ours, _with_the_papers_mark)


def _with_the_papers_mark(record: Record, axes: Axes) -> Figure:
    """What mpptest prints for messages, and the only rate that the paper's text names for figure 18."""
    figure = mpptest_reading.rates(record, axes)
    says = "paper A: less than this (10 MB/s) below 100,000 bytes"
    axes.plot([BELOW_BYTES], [BELOW_MBIT], "v", color="#404040", markersize=9, label=says)
    axes.legend(loc="best")
    return replace(figure, alt=f"{figure.alt} A mark at 100,000 bytes: {says}.")


STUDY = Study(
    id="A9",
    title="Overlap sizes: the rate beside work on 1 to 1,000,000 bytes",
    plan=plan,
    judged=[
        Claim(
            "differences-from-100000",
            "The rates of 2, 3 and 4 nodes differ visibly (we ask 10 % of the highest) at 1,000,000 bytes, and not"
            " below 100,000",
            partial(differ_from, lambda record: gaps(beside_the_longest(record), "size_bytes")),
            place="figure 18",
        ),
        Claim(
            "more-nodes",
            "With overlap, more nodes have a higher rate (here summed over a ring)",
            more_nodes,
            place="figure 18",
        ),
        Claim(
            "hides",
            "Where the work is long, non-blocking calls hide some of it and blocking ones do not",
            hides,
        ),
        mpptest_reading.claim(
            "mpptest-differences-from-100000",
            "In mpptest's way, the rates differ visibly (we ask 10 % of the highest) at 1,000,000 bytes, and not below"
            " 100,000",
            partial(differ_from, lambda record: gaps(mpptest.printed(record), "length_bytes")),
            place="figure 18",
        ),
        mpptest_reading.claim(
            "mpptest-below-10-mb",
            "In mpptest's way, messages of less than 100,000 bytes have less than 10 MB per second (80 Mbit/s),"
            " as we read the paper",
            below_10_mb,
            place="figure 18",
        ),
        mpptest_reading.claim(
            "mpptest-more-nodes",
            "In mpptest's way, with -bisect, more nodes have a higher rate: one pair's, times np / 2",
            mpptest_reading.more_nodes,
            place="figure 18",
            rests_on="demonstration",  # of its own factor
        ),
        mpptest_reading.claim(
            "work-above-10-mb",
            "With -overlap, work on less than 100,000 bytes has more than 10 MB per second (80 Mbit/s) of it done",
            work_is_faster,
        ),
        mpptest_reading.claim(
            "work-one-line",
            "With -overlap, 2, 3 and 4 nodes have one line: only two ranks talk, and no factor counts the others",
            partial(mpptest_reading.same_pair, length=mpptest.WORK),
        ),
    ],
    draw=picture,
    troubles=partial(trouble, quantity=EXCHANGE),
    needs=(CABLE,),
    differs={
        "holds": (
            "Long messages fill the cables, so np matters there; with -bisect the rate is one pair's times np / 2,"
            " and a sweep of work has one line far above the paper's rates."
        ),
        "contradicted": {
            "": (
                "With the factor np / 2, and in a ring whose every rank adds a cable, the lines separate as soon as a"
                " rate is visible, and at 100 Mbit/s messages of 10,000 bytes exceed 10 MB per second; the paper"
                " prints no link rate."
            ),
        },
        "inconclusive": (
            "Four ranks that share two cores take turns, so the rate with long work shows the cores and not the"
            " network; four cores or four PCs can decide it."
        ),
    },
)
