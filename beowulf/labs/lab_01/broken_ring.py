"""Lab 01's exercise: a learner's ring on a cluster in which one node accepts no connections: which rank waits where?

It is a Record of A2 with the variant `broken-d`. It reports what the ranks do. It also records which node accepts
connections from which, for the grader only: the learner has to find that out.
"""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

from beowulf.cluster import Cluster
from beowulf.cluster.common import at_once
from beowulf.engines import Engines
from beowulf.errors import LabError
from beowulf.exercises import engine_function
from beowulf.exercises.exercise import Exercise
from beowulf.labs.lab_01 import own_ring
from beowulf.measure.watched import Watched
from beowulf.record import Point, Record, readable

STUDY, VARIANT = "A2", "broken-d"
EXERCISE = Exercise(STUDY, VARIANT)
LIMIT_S = 5.0  # for the token's round, which takes some milliseconds on a healthy cluster
# As engines report it, such as: node01 (rank 1) waits in line 8 of pass_token: world.send(token, after)
WAITS = re.compile(r"^(\S+) \(rank (\d+)\) (waits|is) in line (\d+)(?: of \w+)?(?:: (.*))?$", re.M)
PORT = 9  # of a service that no node has: an open node refuses the connection at once
LIMIT_OF_A_DOOR_S = 1
DOORS = (
    'for peer in {peers}; do timeout {limit} bash -c ": < /dev/tcp/$peer/{port}" 2>/dev/null;'
    " echo $peer $?; done"
)
TIMED_OUT = 124  # the exit code of `timeout` after it has stopped a command


def measure(cluster: Cluster, *, chance: random.Random | None = None) -> Record:
    """Run the ring of the learner's newest Record `own-ring` on the broken cluster, and report where it waits.

    LabError without such a Record.
    """
    ring = _newest(cluster.records or Path("records"))
    about = next(dict(point.facts) for point in ring.points if "own" in point.at)
    with (
        Watched(cluster, STUDY) as watched,
        engine_function.record(EXERCISE, cluster, about, watched) as made,
    ):
        with Engines(cluster, LIMIT_S) as engines:
            engines.run(str(about["source"]))
            made.points.append(
                own_ring.called(engines, about["name"], 1, chance or random.Random())
            )
        # Each rank that had not ended, with its line.
        made.points += [
            Point({"rank": int(rank), "node": node}, facts={"line": int(line), "text": text})
            for node, rank, _, line, text in WAITS.findall(made.points[-1].facts["why"])
        ]
        made.points += _doors(cluster)
    print(*own_ring.lines(made), sep="\n")
    return made


def waiting(record: Record) -> dict[str, Any]:
    """Which rank waits for the node that does not answer, how many other ranks wait, and which node that is.

    LabError where a Record does not show it.
    """
    nodes = [str(node) for node in record.cluster["nodes"]]
    shut = {
        peer: {point.facts["shut"] for point in record.select(check="door", peer=peer)}
        for peer in nodes
    }
    closed = [node for node, answers in shut.items() if answers == {True}]
    if len(closed) != 1:
        raise LabError(
            f"{len(closed)} nodes are closed to connections, but exactly one was broken on purpose"
        )
    sender = (nodes.index(closed[0]) - 1) % len(nodes)
    ranks = {point.at["rank"] for point in record.points if "rank" in point.at}
    if sender not in ranks:
        raise LabError("the rank before the broken node did not wait for it")
    return {
        "sender_rank": float(sender),
        "receiving_ranks": float(len(ranks) - 1),
        "node_d": closed[0],
    }


def _newest(folder: Path) -> Record:
    """The newest correct Record of the learner's own ring, or the newest of all."""
    records, _ = readable(folder, f"{STUDY}-{own_ring.VARIANT}-*.json")
    mine = [record for record in records if record.variant == own_ring.VARIANT and record.points]
    if not mine:
        raise LabError(
            "There is no ring of your own yet.",
            "Do section 8 first: `lab.own_ring.measure(engines)` saves your ring.",
        )
    return max(mine, key=lambda record: (own_ring.right(record), record.started))


def _doors(cluster: Cluster) -> list[Point]:
    """For each ordered pair of nodes: whether a new connection other than ssh gets no answer."""

    def ask(node: str) -> list[Point]:
        peers = [peer for peer in cluster.nodes if peer != node]
        script = DOORS.format(peers=" ".join(peers), limit=LIMIT_OF_A_DOOR_S, port=PORT)
        codes = dict(line.split() for line in cluster.run(node, script).stdout.splitlines())
        return [
            Point(
                {"check": "door", "node": node, "peer": peer},
                facts={"shut": codes.get(peer) == str(TIMED_OUT)},
            )
            for peer in peers
        ]

    answers, failed = at_once.everywhere(list(cluster.nodes), ask)
    if failed:
        raise next(iter(failed.values()))
    return [point for node in cluster.nodes for point in answers[node]]
