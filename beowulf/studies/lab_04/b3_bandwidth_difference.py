"""B3, bandwidth difference: do non-blocking calls carry more than blocking ones, for 2, 3 and 4 nodes?

Paper B, figure 5: the difference hardly changes up to 100,000 bytes; above, it rises from 3 to 4
nodes. Rates are summed over all ranks of a ring, as in A7.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.measure.differences import JUMP_BYTES, differences, rings
from beowulf.studies.roundtrip_sweep import sweep
from beowulf.studies.study import Claim, Judgement, Plan, Study
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
    large = rows[rows["size_bytes"] > JUMP_BYTES].set_index(["ranks", "size_bytes"])
    at: dict[Any, Any] = dict(large.to_dict("index"))
    sizes = sorted(size for ranks, size in at if ranks == 4 and (3, size) in at)
    rising = [s for s in sizes if at[4, s]["low_mbit_per_s"] > at[3, s]["high_mbit_per_s"]]
    falling = [s for s in sizes if at[4, s]["high_mbit_per_s"] < at[3, s]["low_mbit_per_s"]]
    outcome: Outcome = "inconclusive"
    if len(rising) > len(sizes) / 2:
        outcome = "holds"
    elif len(falling) > len(sizes) / 2:
        outcome = "contradicted"
    listed = "; ".join(
        f"{size:,} bytes: {at[3, size]['difference_mbit_per_s']:+.1f} and"
        f" {at[4, size]['difference_mbit_per_s']:+.1f} Mbit/s"
        for size in sizes
    )
    return Judgement(
        outcome,
        f"non-blocking minus blocking with 3 and 4 nodes: {listed}" if listed else "no such sizes",
        {"sizes": len(sizes), "rises": len(rising), "falls": len(falling)},
        advice="The two calls hardly differ at most sizes, so their difference cannot rise;"
        " more launches narrow the intervals.",
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
)
