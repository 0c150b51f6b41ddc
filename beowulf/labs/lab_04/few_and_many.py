"""How the difference of two calls changes from few nodes to many: what paper B says of its figures 3 to 5 (B2, B3).

The paper prints no numbers. So what falls or rises has to do so by 2 %, at more than half of the sizes; less is no
change, which contradicts. `of` gives the differences of a Record: in rings, or as mpptest prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.measure.differences import CLEAR, JUMP_BYTES, differences, printed_differences
from beowulf.measure.judgement import below, difference, narrower
from beowulf.record import Record
from beowulf.studies import mpptest_reading
from beowulf.studies.quantity import Quantity, Seen, known
from beowulf.studies.study import Claim, Judgement
from beowulf.verdict import Outcome

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Of = Callable[[Record], "pd.DataFrame"]
OUTCOMES = get_args(Outcome)
MPPTEST = "As mpptest prints it with -bisect"


@dataclass(frozen=True)
class Kind:
    """A difference as a column of the table with the ends of its interval, its unit, and what counts as clear."""

    columns: tuple[str, str, str]
    unit: str
    clear: Callable[[Any], float]  # of the row of few nodes

    def seen(self, row: Any) -> Seen:
        """Its value and interval in a row."""
        scale = 100 if self.unit == "%" else 1
        return Seen(*(scale * float(row[name]) for name in self.columns))

    def known(self, says: str, row: Any) -> Quantity:
        """The same as a quantity."""
        return known(says, self.seen(row), self.unit)


TIME = Kind(("share", "low_share", "high_share"), "%", lambda row: 100 * CLEAR)
RATE = Kind(
    ("difference_mbit_per_s", "low_mbit_per_s", "high_mbit_per_s"),
    "Mbit/s",
    lambda row: CLEAR * float(row["blocking_mbit_per_s"]),
)


def rises(
    of: Of, record: Record, *, kind: Kind, few: int, many: int, above: bool, falls: bool = False
) -> Judgement:
    """Whether the difference with many nodes is clearly above that with few, or below where it `falls`, at most sizes.

    Those `above` 100,000 bytes, or below. LabError without such sizes.
    """
    rows = of(record)
    rows = rows[rows["size_bytes"] > JUMP_BYTES if above else rows["size_bytes"] < JUMP_BYTES]
    one, other = (rows[rows["ranks"] == n].set_index("size_bytes") for n in (few, many))
    sizes = sorted({*one.index} & {*other.index})
    if not sizes:
        raise LabError(f"No size has differences of {few} and {many} nodes.", "Measure again.")
    outcomes, listed = [], []
    for size in sizes:
        ends = [kind.seen(rows.loc[size]) for rows in (one, other)]
        lower, higher = reversed(ends) if falls else ends
        outcomes.append(below(kind.clear(one.loc[size]), difference(higher, lower)))
        listed.append(f"{size:,} bytes: {ends[0].median:+.3g} and {ends[1].median:+.3g}")
    most = [each for each in OUTCOMES if 2 * outcomes.count(each) > len(outcomes)]
    return Judgement(
        most[0] if most else "inconclusive",
        f"non-blocking minus blocking with {few} and {many} nodes ({kind.unit}): {'; '.join(listed)};"
        f" {'less' if falls else 'more'} by {CLEAR:.0%} of blocking with {few} nodes is asked, and at most sizes:"
        f" it holds at {outcomes.count('holds')} and is contradicted at {outcomes.count('contradicted')}",
        {"sizes": len(outcomes), **{each: outcomes.count(each) for each in OUTCOMES}},
        advice=narrower(record),
    )


def same_at_the_jump(of: Of, record: Record, *, kind: Kind, few: int, many: int) -> Judgement:
    """Whether the difference at 100,000 bytes does not change from few nodes to many, by what counts as clear."""
    rows = of(record)
    rows = rows[rows["size_bytes"] == JUMP_BYTES].set_index("ranks")
    if not {few, many} <= {*rows.index}:
        raise LabError(f"{JUMP_BYTES:,} bytes are missing.", "Measure them.")
    clear = kind.clear(rows.loc[few])
    each = [kind.known(f"np {n}, at {JUMP_BYTES:,} bytes", rows.loc[n]) for n in (many, few)]
    return (each[0] - each[1]).within(-clear, clear)(record)


def in_both_ways(
    claims: Sequence[tuple[str, str, str, Callable[[Of, Record], Judgement]]],
) -> list[Claim]:
    """Each claim of a name, a sentence, a place and a judge, in rings and then as mpptest prints it."""
    ways = (
        ("", "In a ring", Claim, differences),
        ("mpptest-", "In mpptest's way", mpptest_reading.claim, printed_differences),
    )
    return [
        make(f"{way}{name}", f"{where}, {says}", partial(judge, of), place=place)
        for way, where, make, of in ways
        for name, says, place, judge in claims
    ]


def picture(record: Record, kind: Kind, study: str, title: str, unit: str) -> Figure:
    """The difference over the size, for np = 2, 3 and 4, in rings and as mpptest prints it."""
    ours = {"ring": partial(drawn, differences(record), kind, title, unit)}

    def printed(record: Record, axes: Axes) -> Figure:
        return drawn(printed_differences(record), kind, MPPTEST, unit, axes)

    return mpptest_reading.in_both_ways(study, record, ours, printed)


def drawn(
    rows: pd.DataFrame, kind: Kind, title: str, unit: str, axes: Axes | None = None
) -> Figure:
    """The difference over the size, a line for each np."""
    from beowulf import figures

    names = ("difference", "low", "high")
    seen = [kind.seen(row) for row in rows.to_dict("records")]
    named = dict(zip(names, map(list, zip(*seen, strict=True)), strict=True))
    return figures.over_sizes(
        rows.assign(np=[f"np {ranks}" for ranks in rows["ranks"]], **named),
        "difference",
        "np",
        title=title,
        y_title=f"difference, median with 95 % interval ({unit})",
        axes=axes,
    )
