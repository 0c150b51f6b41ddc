"""B3, bandwidth difference: do non-blocking calls carry more than blocking ones, for 2, 3 and 4 nodes?

Paper B, figure 5: the difference hardly changes up to 100,000 bytes; above, it rises from 3 to 4
nodes. Rates are summed over all ranks of a ring, as in A7, and blocking ranks take turns, as in B2. The paper prints no
figures: what rises has to do so by 2 % of the blocking rate of 3 nodes; less is no difference, which contradicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.measure.differences import CLEAR, JUMP_BYTES, differences, rings
from beowulf.measure.judgement import Span, below, difference
from beowulf.studies.roundtrip_sweep import sweep
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study
from beowulf.verdict import Outcome

if TYPE_CHECKING:
    import pandas as pd

QUICK_SIZES = (10_000, 50_000, 100_000, 150_000, 200_000, 500_000, 1_000_000)
SIZES = (*QUICK_SIZES, 2_000_000, 5_000_000)
OUTCOMES = get_args(Outcome)


def plan(cluster: Cluster, *, quick: bool, sizes: Sequence[int] | None = None) -> Plan:
    """Blocking and non-blocking exchanges in turns, in rings of 2, 3 and 4 ranks."""
    if sizes is None:
        sizes = QUICK_SIZES if quick else SIZES
    return sweep(cluster, rings(sizes), quick=quick)


def rises(rows: pd.DataFrame) -> Judgement:
    """Figure 5: at most sizes above 100,000 bytes, the difference with 4 nodes is clearly above that with 3."""
    large = rows[rows["size_bytes"] > JUMP_BYTES]
    three, four = (large[large["ranks"] == n] for n in (3, 4))
    both = three.merge(four, on="size_bytes", suffixes=("_3", "_4")).sort_values("size_bytes")
    outcomes, listed = [], []
    for row in both.to_dict("records"):
        of_three, of_four = (
            Span(row[f"low_mbit_per_s_{n}"], row[f"high_mbit_per_s_{n}"]) for n in (3, 4)
        )
        least = CLEAR * row["blocking_mbit_per_s_3"]
        outcomes.append(below(least, difference(of_four, of_three)))
        seen = [row[f"difference_mbit_per_s_{n}"] for n in (3, 4)]
        listed.append(f"{row['size_bytes']:,} bytes: {seen[0]:+.1f} and {seen[1]:+.1f} Mbit/s")
    most = [each for each in OUTCOMES if 2 * outcomes.count(each) > len(outcomes)]
    return Judgement(
        most[0] if most else "inconclusive",
        f"non-blocking minus blocking with 3 and 4 nodes: {'; '.join(listed) or 'no such sizes'}",
        {"sizes": len(outcomes), **{each: outcomes.count(each) for each in OUTCOMES}},
        advice="More launches narrow the intervals.",
    )


def picture(rows: pd.DataFrame) -> Figure:
    """The difference of the rates over the size, for np = 2, 3 and 4: figure 5."""
    from beowulf import figures

    return figures.over_sizes(
        rows.assign(np=[f"np {ranks}" for ranks in rows["ranks"]]),
        "difference_mbit_per_s",
        "np",
        low="low_mbit_per_s",
        high="high_mbit_per_s",
        title="Non-blocking minus blocking: rate in a ring, summed over all ranks",
        y_title="difference, median with 95 % interval (Mbit/s)",
    )


STUDY = Study(
    id="B3",
    title="Bandwidth difference of non-blocking and blocking calls",
    plan=plan,
    facts=differences,
    judged=[
        Claim(
            "rises-from-3-to-4",
            "Above 100,000 bytes, the bandwidth difference rises from 3 to 4 nodes",
            rises,
            place="figure 5",
        )
    ],
    draw=picture,
    needs=(CABLE,),
    differs={
        "holds": (
            "A fourth node adds a cable that non-blocking ranks load in both directions while "
            "blocking ranks take turns, and above 100,000 bytes the cable takes nearly all of the "
            "time."
        ),
        "contradicted": (
            "Just above 131,072 bytes a message asks first, and a ring of three takes three turns "
            "where one of four takes two, so the fourth node can give blocking calls as much as "
            "non-blocking ones; the paper does not say how its three nodes were paired."
        ),
        "inconclusive": (
            "A message above 100,000 bytes takes 8 ms and more, so a launch has few, and a "
            "difference of two rates is as uncertain as both together, so at most sizes a rise is "
            "neither shown nor excluded."
        ),
    },
)
