"""B3, bandwidth difference: do non-blocking calls carry more than blocking ones, for 2, 3 and 4 nodes?

Paper B, figure 5: the difference hardly changes up to 100,000 bytes; above, it rises from 3 to 4
nodes. Rates are summed over all ranks of a ring, as in A7, and blocking ranks take turns, as in B2. The paper prints no
figures: what rises has to do so by 2 % of the blocking rate of 3 nodes; less is no difference, which contradicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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


def plan(cluster: Cluster, *, quick: bool, sizes: Sequence[int] | None = None) -> Plan:
    """Blocking and non-blocking exchanges in turns, in rings of 2, 3 and 4 ranks."""
    if sizes is None:
        sizes = QUICK_SIZES if quick else SIZES
    return sweep(cluster, rings(sizes), quick=quick)


def rises(rows: pd.DataFrame) -> Judgement:
    """Figure 5: at most sizes above 100,000 bytes, the difference with 4 nodes is clearly above that with 3."""
    large = rows[rows["size_bytes"] > JUMP_BYTES]
    at: dict[int, dict[Any, Any]] = {
        n: large[large["ranks"] == n].set_index("size_bytes").to_dict("index") for n in (3, 4)
    }
    outcomes: dict[Any, Outcome] = {}
    for size in sorted({*at[3]} & {*at[4]}):
        three, four = (
            Span(each[size]["low_mbit_per_s"], each[size]["high_mbit_per_s"])
            for each in (at[3], at[4])
        )
        least = CLEAR * at[3][size]["blocking_mbit_per_s"]
        outcomes[size] = below(least, difference(four, three))
    rising, not_rising = (
        list(outcomes.values()).count(outcome) for outcome in ("holds", "contradicted")
    )
    decided: Outcome = "inconclusive"
    if 2 * rising > len(outcomes):
        decided = "holds"
    elif 2 * not_rising > len(outcomes):
        decided = "contradicted"
    listed = "; ".join(
        f"{size:,} bytes: {at[3][size]['difference_mbit_per_s']:+.1f} and"
        f" {at[4][size]['difference_mbit_per_s']:+.1f} Mbit/s"
        for size in outcomes
    )
    return Judgement(
        decided,
        f"non-blocking minus blocking with 3 and 4 nodes: {listed}" if listed else "no such sizes",
        {"sizes": len(outcomes), "rises": rising, "not_rising": not_rising},
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
