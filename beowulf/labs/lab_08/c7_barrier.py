"""C7, synchronisation: what does a barrier cost as nodes are added?

Paper C calls the overhead of global synchronisation high, and its effect on the scaling of its codes modest (abstract).
It prints no time of a barrier. On 16 processors, at fixed size, most of its gas code's overhead appears to be
synchronisation at the end of a step, not communication. The bandwidth of the network limits the load balancing of its
other code.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from beowulf.labs.lab_08.tokens import PROGRAM
from beowulf.labs.lab_08.tokens import troubles as troubles_of
from beowulf.measure.statistics import WIDER
from beowulf.studies.one_program import OneProgram, Times
from beowulf.studies.quantity import Quantity, Seen
from beowulf.studies.study import CABLE, Claim, Study

QUANTITY = "barrier_s"
BARRIER = OneProgram(
    program=PROGRAM,
    quantity=QUANTITY,
    says="a barrier",
    nodes=(2, 4, 8, 16),
    words=("--lines", "--barrier", "--ms", 100, "--passes", 12),
    quick=("--lines", "--barrier", "--ms", 30, "--passes", 6),
)
times, table = BARRIER.times, BARRIER.table  # for the notebook


def growth(times: Times) -> Seen:
    """The power of the nodes with which a barrier grows: a slope on logarithmic scales, with its interval."""
    nodes = np.log([float(each) for each in times])
    weights = (nodes - nodes.mean()) / np.sum((nodes - nodes.mean()) ** 2)
    power = float(np.sum(weights * np.log([each.median for each in times.values()])))
    # Each number of nodes is measured separately, so their errors add up as squares.
    off = []
    for weight, each in zip(weights, times.values(), strict=True):
        ends = (max(each.low, each.min / WIDER), each.high)
        moved = sorted(weight * math.log(end / each.median) for end in ends)
        off.append(moved)
    below, above = (math.hypot(*ends) for ends in zip(*off, strict=True))
    return Seen(power, power - below, power + above)


GROWTH = Quantity("growth of a barrier with the nodes", growth, "as exponent")

STUDY = Study(
    id="C7",
    title="Synchronisation: a barrier by number of nodes",
    plan=BARRIER.plan,
    facts=times,
    judged=[
        Claim("grows", "a barrier takes longer as nodes are added", GROWTH > 0),
        Claim("less-than-proportional", "but less than in proportion to the nodes (1)", GROWTH < 1),
    ],
    draw=BARRIER.picture,
    troubles=partial(troubles_of, quantity=QUANTITY),
    simulates=True,
    needs=(CABLE,),
    differs={
        "holds": "A barrier is a few rounds of empty messages, one round more for twice as many nodes, each a latency.",
        "contradicted": "Nodes that share a machine's cores wait for a core as well, one after the other.",
        "inconclusive": (
            "Nodes that share cores wait longer for one than for a message, in some launches more than in others;"
            " the simulated machine of 1995 has a processor for each."
        ),
    },
)
