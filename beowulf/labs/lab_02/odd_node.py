"""Lab 02's puzzle: one of four nodes, picked at random, is set up differently. Which one, and in which rows?

It is a Record of A3 with the variant `odd`. The odd node's kernel checks every incoming packet against a long list of
addresses, one rule after another, like a packet filter with a rule for each unwanted sender.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.course import personal_code
from beowulf.errors import LabError
from beowulf.exercises.exercise import Exercise
from beowulf.labs.lab_02 import a3_node_benchmarks as a3
from beowulf.labs.lab_02.node_comparison import slow_over_ip
from beowulf.labs.lab_02.node_rows import Nodes
from beowulf.measure.measurement import Measurement
from beowulf.record import Record
from beowulf.tuning.change import changing
from beowulf.tuning.knobs.unwanted_senders import UnwantedSenders

if TYPE_CHECKING:
    import pandas as pd

STUDY, VARIANT = "A3", "odd"
EXERCISE = Exercise(STUDY, VARIANT, "Four nodes, one of them odd")
# About 14 ns per rule: a round trip over the loopback, of two packets, takes several times as long.
RULES = 5000
# The programs, and their rows to measure. Few are enough: the difference is large.
CHOSEN = {
    "processes": "null call,stat,open/close,signal install",
    "latencies": "pipe,AF UNIX,UDP,RPC/UDP,TCP,RPC/TCP",
    "bandwidths": "pipe,AF UNIX,mem read",
}
ROUNDS = 3  # at most: on a busy machine the best of one round may not be good enough


def measure(cluster: Cluster, chance: random.Random | None = None) -> Record:
    """Measure all nodes while one, picked by `chance`, is odd, and save the Record.

    Without `chance`, a learner with a personal code always gets the same node. LabError if the nodes cannot be
    changed.
    """
    node = (chance or personal_code.chance(f"{STUDY} {VARIANT}")).choice(
        cluster.nodes[1:] or cluster.nodes
    )
    planned = ROUNDS * len(CHOSEN) * len(cluster.nodes)
    sweep = {"exercise": VARIANT, "nodes": list(cluster.nodes)}
    sweep["unlike"] = "one node, picked at random"

    def steps(session: Measurement) -> None:
        for number in range(ROUNDS):
            for program, chosen in CHOSEN.items():
                for each in cluster.nodes:
                    at = {"program": program, "launch": number}
                    a3.run(session, [each], at, [*a3.SHORT, "--rows", chosen])
            with suppress(LabError):
                odd(session.record())
                break
        else:
            session.warnings.append(
                "The machine was too busy to distinguish one node from the others."
            )

    with cluster.holding("lab 02's odd node"), made_odd(cluster, node):
        return EXERCISE.measure(
            cluster,
            steps,
            of="One of the nodes",
            hint="Run this cell again.",
            quick=True,
            launches=planned,
            sweep=sweep,
        )


@contextmanager
def made_odd(cluster: Cluster, node: str) -> Iterator[None]:
    """Within this context, the node checks every incoming packet against a long list; afterwards it is restored."""
    turn = (UnwantedSenders(), str(RULES), (node,))
    # The change is not announced, or the puzzle would be solved.
    with changing(cluster, [turn], agree=lambda _: None) as change:
        change(True)
        yield


def table(record: Record) -> pd.DataFrame:
    """A line for each row, with its unit and the best of each node, which other nodes disturb least."""
    import pandas as pd

    nodes = Nodes(record)
    return pd.DataFrame(
        {"row": row.name, "unit": row.unit}
        | {node: nodes[node][row.name].best for node in nodes.names}
        for row in nodes.first.values()
    )


def odd(record: Record) -> str:
    """The one node that is slower than the median of all in every row over IP; LabError if there is not exactly one."""
    slow = slow_over_ip(Nodes(record))
    if len(slow) != 1:
        raise LabError("The Record does not show exactly one odd node.", "Measure again.")
    [node] = slow
    return node
