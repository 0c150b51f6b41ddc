"""B3, bandwidth difference: do non-blocking calls carry more than blocking ones, for 2, 3 and 4 nodes?

Paper B, figure 5: the difference hardly changes up to 100,000 bytes; above, it rises from 3 to 4
nodes. Rates are summed over all ranks of a ring, as in A7.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.measure.differences import JUMP_BYTES, differences, rings
from beowulf.measure.judgement import need_study, verdict
from beowulf.measure.quality import NO_SAMPLES, trouble
from beowulf.measure.roundtrips import sweep
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.verdict import Outcome, Verdict

ID = "B3"
TITLE = "Bandwidth difference of non-blocking and blocking calls"

QUICK_SIZES = (10_000, 50_000, 100_000, 150_000, 200_000, 500_000, 1_000_000)
SIZES = (*QUICK_SIZES, 2_000_000, 5_000_000)

RISES = "Above 100,000 bytes, the bandwidth difference rises from 3 to 4 nodes"


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    sizes: Sequence[int] | None = None,
) -> Record:
    """Blocking and non-blocking exchanges in turns, in rings of 2, 3 and 4 ranks."""
    if sizes is None:
        sizes = QUICK_SIZES if quick else SIZES
    return sweep(ID, cluster, folder, rings(sizes), quick=quick, progress=progress)


def claims(record: Record) -> list[Verdict]:
    """What paper B says of its figure 5, held against this Record."""
    need_study(record, ID)
    bad = trouble(record)
    name = "rises-from-3-to-4"
    if NO_SAMPLES in bad:
        return [verdict(record, name, RISES, "inconclusive", "", trouble=bad)]
    found = differences(record)
    large = found[found["size_bytes"] > JUMP_BYTES].set_index(["ranks", "size_bytes"])
    at: dict[Any, Any] = dict(large.to_dict("index"))
    sizes = sorted(size for ranks, size in at if ranks == 4 and (3, size) in at)
    rises = [s for s in sizes if at[4, s]["low_mbit_per_s"] > at[3, s]["high_mbit_per_s"]]
    falls = [s for s in sizes if at[4, s]["high_mbit_per_s"] < at[3, s]["low_mbit_per_s"]]
    outcome: Outcome = "inconclusive"
    if len(rises) > len(sizes) / 2:
        outcome = "holds"
    elif len(falls) > len(sizes) / 2:
        outcome = "contradicted"
    said = "; ".join(
        f"{size:,} bytes: {at[3, size]['difference_mbit_per_s']:+.1f} and"
        f" {at[4, size]['difference_mbit_per_s']:+.1f} Mbit/s"
        for size in sizes
    )
    return [
        verdict(
            record,
            name,
            RISES,
            outcome,
            f"non-blocking minus blocking with 3 and 4 nodes: {said}" if said else "no such sizes",
            advice="The two calls hardly differ at most sizes, so their difference cannot rise;"
            " more launches narrow the intervals."
            if outcome == "inconclusive"
            else "",
            numbers={"sizes": len(sizes), "rises": len(rises), "falls": len(falls)},
            trouble=bad,
        )
    ]


def picture(record: Record) -> Figure:
    """The difference of the rates over the size, for np = 2, 3 and 4: figure 5."""
    from beowulf import figures

    need_study(record, ID)
    found = differences(record)
    return figures.over_sizes(
        found.assign(np=[f"np {ranks}" for ranks in found["ranks"]]),
        "difference_mbit_per_s",
        "np",
        low="low_mbit_per_s",
        high="high_mbit_per_s",
        title="Non-blocking minus blocking: rate in a ring, summed over all ranks",
        y_title="difference, median with 95 % interval (Mbit/s)",
    )
