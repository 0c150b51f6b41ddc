"""B3, bandwidth difference: do non-blocking calls carry more than blocking ones, for 2, 3 and 4 nodes?

Paper B, figure 5 (a difference by its caption; the text says "bandwidth required"): it falls with more nodes, as we
read it below 100,000 bytes, does not change at 100,000, and above that rises from 3 to 4 nodes. We measure in two ways,
as in B2: ours sums the rate over all ranks of a ring, as in A7, and blocking ranks take turns; mpptest with -bisect
prints one pair's rate times np / 2. The paper's text has no numbers for it, so a rise or a fall must be at least 2 % of
the blocking rate of few nodes; less counts as no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.labs.lab_04 import few_and_many
from beowulf.labs.lab_04.few_and_many import in_both_ways, rates, rises, same_at_the_jump
from beowulf.measure.differences import as_mpptest, rings
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import EXCHANGE
from beowulf.record import Record
from beowulf.studies.roundtrip_sweep import sweep
from beowulf.studies.study import CABLE, Plan, Study

QUICK_SIZES = (10_000, 50_000, 100_000, 150_000, 200_000, 500_000, 1_000_000)
SIZES = (*QUICK_SIZES, 2_000_000, 5_000_000)


def plan(cluster: Cluster, *, quick: bool, sizes: Sequence[int] | None = None) -> Plan:
    """Blocking and non-blocking, alternating: exchanges in rings of 2, 3 and 4 ranks, and mpptest's pairs."""
    if sizes is None:
        sizes = QUICK_SIZES if quick else SIZES
    return sweep(cluster, rings(sizes), quick=quick, mpptest=as_mpptest(sizes, quick=quick))


def picture(record: Record) -> Figure:
    """The difference of the rates over the size, for np = 2, 3 and 4: figure 5."""
    title = "Non-blocking minus blocking: rate in a ring, summed over all ranks"
    return few_and_many.picture(record, rates, STUDY.title, title)


STUDY = Study(
    id="B3",
    title="Bandwidth difference of non-blocking and blocking calls",
    plan=plan,
    simulates=True,
    judged=in_both_ways(
        rates,
        [
            (
                "falls-below-100000",
                "the bandwidth difference falls with more nodes (here from 2 to 4), below 100,000 bytes",
                "figure 5",
                partial(rises, few=2, many=4, above=False, falls=True),
            ),
            (
                "same-at-100000",
                "the bandwidth difference does not change with more nodes (here from 2 to 4), at 100,000 bytes",
                "figure 5",
                partial(same_at_the_jump, few=2, many=4),
            ),
            (
                "rises-from-3-to-4",
                "the bandwidth difference rises from 3 to 4 nodes, above 100,000 bytes",
                "figure 5",
                partial(rises, few=3, many=4, above=True),
            ),
        ],
    ),
    draw=picture,
    troubles=partial(trouble, quantity=EXCHANGE),
    needs=(CABLE,),
    differs={
        "holds": (
            "In mpptest's pairs both calls carry the same at 100,000 bytes, whatever np is; in a ring, a further"
            " node adds a cable that non-blocking ranks load in both directions while blocking ones take turns."
        ),
        "contradicted": (
            "In mpptest's pairs both calls carry the same, so nothing falls or rises, whichever is subtracted; in a"
            " ring each node adds a cable, so the difference also grows below 100,000 bytes."
        ),
        "inconclusive": (
            "Blocking ranks of a ring take three turns with 3 nodes and two with 4, so the difference falls at some"
            " sizes and rises at others; and where four ranks share two cores, it is as uncertain as both rates."
        ),
    },
)
