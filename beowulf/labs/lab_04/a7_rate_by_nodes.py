"""A7, rate by nodes: how many bits a second, over the size of the message, for 2, 3 and 4 nodes.

Paper A, figures 13 to 15: the rate rises with the size and saturates, more nodes reach a higher rate,
blocking and non-blocking calls are nearly equal. Its text names neither its sizes nor how three ranks are
paired. So we measure in two ways. Ours: `ring` (each rank sends to the next) means the same for 2, 3
and 4 ranks, and `pairs` (two halves, for 2 and 4) has one message on a cable at a time; rates are summed
over all. The paper's, probably: mpptest with -bisect, which multiplies the rate of one pair by np / 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise, product
from typing import NamedTuple

import pandas as pd

from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.measure import mpptest
from beowulf.measure.roundtrips import QUANTITY, SweepConfig, pairs, rates, ratios
from beowulf.measure.statistics import Ratio
from beowulf.measure.sweep import powers_of_two
from beowulf.record import Record
from beowulf.studies import mpptest_reading
from beowulf.studies.mpptest_reading import HIGHER
from beowulf.studies.quantity import all_hold
from beowulf.studies.roundtrip_sweep import (
    ALIKE,
    alike,
    at_the_link,
    in_a_ring,
    rates_over_sizes,
    sweep,
)
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study, quiet_claim
from beowulf.verdict import Outcome

LAST_BYTES = 4 * 1024 * 1024
QUICK_LAST_BYTES = 1024 * 1024
MPPTEST_SIZES = powers_of_two(1, 256 * 1024)[::2]  # the last of them is on the plateau
MPPTEST_RANKS = (2, 3, 4)
PROTOCOLS = ("blocking", "nonblocking")
RUNS = (("pairs", 2), ("pairs", 4), ("ring", 2), ("ring", 3), ("ring", 4))

FLAT = 0.1  # a saturated rate stays within this share of the rate of the largest message
RISEN = 0.5  # of the largest message's rate: more than the smallest message reaches


def plan(
    cluster: Cluster, *, quick: bool, sizes: Sequence[int] | None = None, adaptive: bool = False
) -> Plan:
    """Blocking and non-blocking, alternating, for each pattern and number of ranks, and with mpptest's method.

    `adaptive`: sizes are added where a time leaves the line between its neighbours.
    """
    as_mpptest = mpptest.Mpptest(MPPTEST_RANKS, sizes or MPPTEST_SIZES, bisect=True)
    if sizes is None:
        sizes = powers_of_two(1, QUICK_LAST_BYTES)[::2] if quick else powers_of_two(1, LAST_BYTES)
    config = SweepConfig(RUNS, PROTOCOLS, sizes)
    return sweep(cluster, config, quick=quick, refined=adaptive, mpptest=[as_mpptest])


class Facts(NamedTuple):
    """A Record, and the rates of all patterns, ranks, protocols and sizes in it."""

    record: Record
    rates: pd.DataFrame

    @classmethod
    def of(cls, record: Record) -> Facts:
        """Those of this Record; LabError when it has no times."""
        return cls(record, rates(record))

    def line(self, pattern: str, ranks: int, protocol: str) -> pd.DataFrame:
        """The rates of one line of the figure, by size."""
        rows = self.rates
        rows = rows[(rows["pattern"] == pattern) & (rows["ranks"] == ranks)]
        return rows[rows["protocol"] == protocol].set_index("size_bytes").sort_index()


def saturation_bytes(rate: pd.Series[float]) -> int:
    """The smallest size at and above which the rate (by size) stays within 10 % of that of the largest."""
    away = (rate / rate.iloc[-1] - 1).abs() > FLAT
    outside = [place for place, far in enumerate(away) if far]
    return int(rate.index[outside[-1] + 1 if outside else 0])


def rises(facts: Facts) -> Judgement:
    """Figures 13 and 14, in pairs: the last doubling of the size no longer raises the rate."""
    falls, still, sizes, humps = [], [], {}, []
    for ranks, protocol in product((2, 4), PROTOCOLS):
        rate = facts.line("pairs", ranks, protocol)["rate_mbit_per_s"]
        name = f"np {ranks}, {protocol}"
        sizes[name] = saturation_bytes(rate)
        first, before, last = (float(rate.iloc[place]) for place in (0, -2, -1))
        if first > RISEN * last or last < (1 - FLAT) * before:
            falls.append(name)
        elif last > (1 + FLAT) * before:
            still.append(name)
        if rate.max() > (1 + FLAT) * last:
            humps.append(f"{rate.max():.0f} Mbit/s at {rate.idxmax():,} bytes ({name})")
    outcome: Outcome = "contradicted" if falls else "inconclusive" if still else "holds"
    asked = f"; the first rate may be at most {RISEN:.0%} of the last, and the last step at most {FLAT:.0%}"
    evidence = "saturates at " + "; ".join(f"{n:,} bytes ({name})" for name, n in sizes.items())
    if falls:
        evidence = f"no rise to a plateau: {', '.join(falls)}"
    elif still:
        evidence = f"still rising at the largest message: {', '.join(still)}"
    elif humps:
        # A shaped link lets a short burst pass at once: a message within it is not slowed.
        evidence += f"; before that, faster: {humps[0]}"
    advice = "Measure larger messages: pass `sizes` to the study's `measure()`."
    if facts.record.sweep.get("quick"):
        advice = "Measure larger messages: without --quick the sweep is longer."
    return Judgement(outcome, evidence + asked, {"saturation_bytes": sizes}, advice=advice)


def same_rate(facts: Facts, *, pattern: str, nodes: Sequence[int]) -> Judgement:
    """Figure 15, for these numbers of ranks: both kinds of calls have nearly the same rate at most sizes."""
    times: dict[str, Ratio] = {}
    for ranks in nodes:
        quantity, at = QUANTITY[pattern], {"pattern": pattern, "ranks": ranks}
        compared = pairs(facts.record, quantity, "protocol", "nonblocking", "blocking", **at)
        times |= {f"{n:,} bytes, np {ranks}": ratio for n, ratio in ratios(compared).items()}
    return alike(times, facts.record)


RINGS = [in_a_ring(lambda facts: facts.rates, ranks, "nonblocking") for ranks in (2, 3, 4)]


def pair_at_the_link(facts: Facts) -> Judgement:
    """The rate of the longest message between two nodes, and what headers leave of the link's rate."""
    rate = float(facts.line("pairs", 2, "blocking")["rate_mbit_per_s"].iloc[-1])
    return at_the_link("the longest message:", rate, facts.record)


def picture(facts: Facts) -> Figure:
    """Figure 15: the rate over the size for np = 2, 3 and 4, in a ring and as mpptest prints it."""
    rows = facts.rates
    rows = rows[rows["pattern"] == "ring"].sort_values(["ranks", "protocol", "size_bytes"])
    title = "Rate by message size in a ring, summed over all ranks"
    ours = {"ring": partial(rates_over_sizes, rows, rows["protocol"], title)}
    return mpptest_reading.in_both_ways(STUDY.title, facts.record, ours, mpptest_reading.rates)


STUDY = Study(
    id="A7",
    title="Rate over message size for 2, 3 and 4 nodes",
    plan=plan,
    simulates=True,
    facts=Facts.of,
    judged=[
        quiet_claim(
            "rises-then-saturates",
            "The rate (here of pairs) rises with the size of the message, then saturates",
            rises,
            place="figures 13 and 14",
        ),
        Claim(
            "blocking-alike",
            f"In pairs (np 2 and 4), blocking and non-blocking calls have nearly the same rate {ALIKE}",
            partial(same_rate, pattern="pairs", nodes=(2, 4)),
            place="figure 15",
        ),
        Claim(
            "blocking-alike-np-3",
            f"In a ring of three, blocking and non-blocking calls have nearly the same rate {ALIKE}",
            partial(same_rate, pattern="ring", nodes=(3,)),
        ),
        Claim(
            "more-nodes-higher-rate",
            "More nodes have a higher rate, summed over a ring",
            all_hold(*(more / few > 1 + HIGHER for few, more in pairwise(RINGS))),
        ),
        quiet_claim(
            "saturates-at-the-link",
            "The rate saturates at what Ethernet, IP and TCP leave of the link",
            pair_at_the_link,
        ),
        mpptest_reading.claim(
            "mpptest-more-nodes",
            "More nodes have a higher rate as mpptest prints it with -bisect: one pair's, times np / 2",
            lambda facts: mpptest_reading.more_nodes(facts.record),
            place="figures 13 to 15",
            rests_on="demonstration",  # of its own factor
        ),
        mpptest_reading.claim(
            "mpptest-same-pair",
            "Without that factor, one pair's rate is the same for np 2, 3 and 4",
            lambda facts: mpptest_reading.same_pair(facts.record),
        ),
        mpptest_reading.claim(
            "mpptest-similar-calls",
            f"In mpptest's way, blocking and non-blocking calls have nearly the same rate {ALIKE}",
            lambda facts: mpptest_reading.same_time(facts.record),
            place="figure 15",
        ),
    ],
    draw=picture,
    adaptive=True,
    needs=(CABLE,),
    differs={
        "holds": (
            "The cable limits a long message, whatever call and library send it, and mpptest's -bisect multiplies"
            " one pair's rate by np / 2, so the paper's curves reappear, with an idle third node that counts as half"
            " a pair."
        ),
        "contradicted": (
            "The calls differ only in a ring, where all ranks send at once: MPI_Send has to take turns there,"
            " three with three nodes, and MPI_Isend uses both directions of a cable; the paper does not print how"
            " its three nodes were paired."
        ),
        "inconclusive": (
            "Ranks that share cores sometimes wait for a core, so times of short messages scatter by more than the"
            " tenth in question; a core for each rank, or the simulated cluster, can decide it."
        ),
    },
)
