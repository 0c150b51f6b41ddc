"""C7, synchronisation: what does a barrier cost as nodes are added?

Paper C calls the overhead of global synchronisation high, and its effect on the scaling of its codes modest (abstract);
it prints no time of a barrier. Of its gas code's overhead on 16 processors most appears to be synchronisation at the
end of a step, not communication; its other code's load balancing is limited by the bandwidth of the network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from beowulf.labs.lab_08.tokens import PROGRAM
from beowulf.measure.quality import trouble
from beowulf.studies.one_program import OneProgram, Times
from beowulf.studies.quantity import Quantity
from beowulf.studies.study import CABLE, Claim, Judgement, Study

QUANTITY = "barrier_s"
BARRIER = OneProgram(
    program=PROGRAM,
    quantity=QUANTITY,
    says="a barrier",
    nodes=(2, 4, 8, 16),
    words=("--barrier", "--ms", 100, "--passes", 12),
    quick=("--barrier", "--ms", 30, "--passes", 6),
)
times, table = BARRIER.times, BARRIER.table  # for the notebook


def barrier(of: Callable[[Iterable[int]], int], says: str) -> Quantity:
    """The time of a barrier of so many nodes as there are at one end of the sweep."""
    return Quantity(f"a barrier of the {says} nodes", lambda facts: facts[of(facts)], "µs")


FEWEST, MOST = barrier(min, "fewest"), barrier(max, "most")


def less_than_in_proportion(facts: Times) -> Judgement:
    """Four times as many nodes may take less than four times as long."""
    grown = max(facts) / min(facts)
    return (grown > MOST / FEWEST)(facts)


STUDY = Study(
    id="C7",
    title="Synchronisation: a barrier by number of nodes",
    plan=BARRIER.plan,
    facts=times,
    judged=[
        Claim("grows", "a barrier takes longer as nodes are added", MOST > FEWEST),
        Claim(
            "less-than-proportional",
            "but less than in proportion to the nodes",
            less_than_in_proportion,
        ),
    ],
    draw=BARRIER.picture,
    troubles=partial(trouble, quantity=QUANTITY),
    simulates=True,
    needs=(CABLE,),
    differs={
        "holds": "A barrier is a few rounds of empty messages, one round more for twice as many nodes, each a latency.",
        "contradicted": "Nodes that share a machine's cores wait for a core as well, one after the other.",
        "inconclusive": "Nodes that share cores with other programs wait for a core for longer than for a message.",
    },
)
