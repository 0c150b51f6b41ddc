"""X1: what does a sum over all nodes cost as nodes are added?"""

from __future__ import annotations

from pathlib import Path

from beowulf.studies.one_program import OneProgram
from beowulf.studies.study import CABLE, Claim, Study

SUM = OneProgram(
    program=Path(__file__).with_name("sum.c"),
    quantity="sum_s",
    says="a sum",
    nodes=(2, 4),
    words=("--passes", 20),
)
times, table = SUM.times, SUM.table  # for the notebook and the rubric
GROWTH = SUM.on(4) / SUM.on(2)

STUDY = Study(
    id="X1",
    title="A sum over all nodes, by number of nodes",
    plan=SUM.plan,
    facts=times,
    # A claim in your own words, the comparison that judges it, and its place in the paper, such as "table 2".
    judged=[Claim("grows", "a sum over four nodes takes longer than over two", GROWTH > 1)],
    draw=SUM.picture,
    needs=(CABLE,),
    differs={
        "holds": "A sum takes a round of messages more for twice as many nodes, and each round a latency.",
        "contradicted": "The messages of two nodes were as slow as those of four: something else used the machine.",
        "inconclusive": "The times of two nodes and of four overlap, so that neither is surely longer.",
    },
)
