"""How the difference of two calls changes from few nodes to many: what paper B says about its figures 3 to 5 (B2, B3).

The paper's text has no numbers for differences. So what falls or rises has to do so by 2 %, at more than half of the
sizes. Less is no change. Once that is shown at half of the sizes, the other half is too few, which contradicts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from beowulf.errors import LabError
from beowulf.figures import Figure, over_sizes
from beowulf.measure.differences import CLEAR, JUMP_BYTES, differences, printed_differences
from beowulf.measure.judgement import below, difference, narrower
from beowulf.record import Record
from beowulf.studies import mpptest_reading
from beowulf.studies.quantity import Quantity, Seen, known
from beowulf.studies.study import Claim, Judgement
from beowulf.verdict import OWN, Outcome

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    # Differences as `times` or `rates` returns them: by ranks and size, with an interval, and what is clear.
    Rows = pd.DataFrame
    Judge = Callable[[Rows, Record], Judgement]

OUTCOMES = get_args(Outcome)
SEEN = ["difference", "low", "high"]


def times(rows: Rows) -> Rows:
    """The differences of times, as percentages of the blocking time."""
    share = {"difference": "share", "low": "low_share", "high": "high_share"}
    found = rows.assign(**{name: 100 * rows[column] for name, column in share.items()})
    return found.assign(clear=100 * CLEAR, unit="%")


def rates(rows: Rows) -> Rows:
    """The differences of rates, in Mbit/s."""
    found = rows.assign(**{name: rows[f"{name}_mbit_per_s"] for name in SEEN})
    return found.assign(clear=CLEAR * rows["blocking_mbit_per_s"], unit="Mbit/s")


def at(says: str, row: Any) -> Quantity:
    """The difference of one row."""
    return known(says, Seen(*row[SEEN]), str(row["unit"]))


def rises(
    rows: Rows, record: Record, *, few: int, many: int, above: bool, falls: bool = False
) -> Judgement:
    """Whether the difference with many nodes is clearly above that with few, or below where it `falls`, at most sizes.

    Those `above` 100,000 bytes, or below. LabError without such sizes.
    """
    rows = rows[rows["size_bytes"] > JUMP_BYTES if above else rows["size_bytes"] < JUMP_BYTES]
    one, other = (rows[rows["ranks"] == n].set_index("size_bytes") for n in (few, many))
    sizes = sorted({*one.index} & {*other.index})
    if not sizes:
        raise LabError(
            f"No size has a difference for both {few} and {many} nodes.", "Measure again."
        )
    outcomes, listed = [], []
    for size in sizes:
        ends = [Seen(*each.loc[size, SEEN]) for each in (one, other)]
        lower, higher = reversed(ends) if falls else ends
        outcomes.append(below(float(one["clear"][size]), difference(higher, lower)))
        listed.append(f"{size:,} bytes: {ends[0].median:+.3g} and {ends[1].median:+.3g}")
    counted = {each: outcomes.count(each) for each in OUTCOMES}
    outcome: Outcome = "inconclusive"
    if 2 * counted["holds"] > len(outcomes):
        outcome = "holds"
    elif 2 * counted["contradicted"] >= len(outcomes):
        outcome = "contradicted"
    return Judgement(
        outcome,
        f"non-blocking minus blocking with {few} and {many} nodes ({rows['unit'].iloc[0]}): {'; '.join(listed)};"
        f" {'less' if falls else 'more'} by {CLEAR:.0%} of blocking with {few} nodes is asked at more than half of the"
        f" sizes; shown at {counted['holds']}, contradicted at {counted['contradicted']}",
        {"sizes": len(outcomes), **counted},
        advice=narrower(record),
    )


def same_at_the_jump(rows: Rows, record: Record, *, few: int, many: int) -> Judgement:
    """Whether the difference at 100,000 bytes does not change clearly from few nodes to many."""
    rows = rows[rows["size_bytes"] == JUMP_BYTES].set_index("ranks")
    if not {few, many} <= {*rows.index}:
        raise LabError(f"{JUMP_BYTES:,} bytes are missing.", "Measure them.")
    clear = float(rows["clear"][few])
    each = [at(f"np {n}, at {JUMP_BYTES:,} bytes", rows.loc[n]) for n in (many, few)]
    return (each[0] - each[1]).within(-clear, clear)(record)


def in_both_ways(
    kind: Callable[[Rows], Rows], claims: Sequence[tuple[str, str, str, Judge]]
) -> list[Claim]:
    """For each name, sentence, place and judge a claim as mpptest prints it, and an own check in rings.

    Paper B ran mpptest, which has no exchange in a ring.
    """

    def judged(of: Callable[[Record], Rows], judge: Judge, record: Record) -> Judgement:
        return judge(kind(of(record)), record)

    ways = (
        ("mpptest-", "In mpptest's way", mpptest_reading.claim, printed_differences),
        ("", "In a ring", Claim, differences),
    )
    return [
        claim(
            f"{way}{name}",
            f"{where}, {says}",
            partial(judged, of, judge),
            place=place if way else OWN,
        )
        for way, where, claim, of in ways
        for name, says, place, judge in claims
    ]


def picture(record: Record, kind: Callable[[Rows], Rows], study: str, title: str) -> Figure:
    """The difference over the size, a line for each np, in rings and as mpptest prints it."""

    def drawn(rows: Rows, title: str, axes: Axes) -> Figure:
        rows = kind(rows)
        rows = rows.assign(np="np " + rows["ranks"].astype(str))
        y_title = f"difference, median with 95 % interval ({rows['unit'].iloc[0]})"
        return over_sizes(rows, "difference", "np", title=title, y_title=y_title, axes=axes)

    def printed(record: Record, axes: Axes) -> Figure:
        return drawn(printed_differences(record), "As mpptest prints it with -bisect", axes)

    ours = {"ring": partial(drawn, differences(record), title)}
    return mpptest_reading.in_both_ways(study, record, ours, printed)
