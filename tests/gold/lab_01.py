"""Lab 01's Records as nobody measured them: a quiet wire, a ring, round trips, and four broken clusters."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import permutations
from typing import Any

from beowulf.labs.lab_01 import broken_ring, own_ring, own_trips
from beowulf.record import Point, Record
from tests.gold import measured
from tests.gold.case import worth
from tests.gold.hand_in import plain_answers
from tests.gold.measured import NODES, record

SLUG = "01-validation"
ADDRESS = {node: f"192.168.0.{8 + place}" for place, node in enumerate(NODES)}
PUZZLES = {
    "a": ("wrong-hosts", "node01"),
    "b": ("node-down", "node02"),
    "c": ("key-refused", "node03"),
}
CLOSED = "node02"  # of cluster d
MEMORY_BYTES, ROUTE = 4 * 2**30, "192.168.0.0/24 dev eth0"
WIRE_BYTES, WIRE_SECONDS = 1380, 60.25

CLUSTER = {"kind": "namespaces", "nodes": list(NODES), "rate": "100mbit", "mpi": "classic"}
sealed = partial(measured.sealed, 1, cluster=CLUSTER)

# What a recording shows of mpi4py's send and recv of objects.
CALLS = ("MPI_Mprobe", "MPI_Mrecv", "MPI_Send")
RING = """def pass_token(token):
    before, after = (rank - 1) % ranks, (rank + 1) % ranks
    if rank == 0:
        token.append(node)
        world.send(token, dest=after)
        return world.recv(source=before)
    token = world.recv(source=before)
    token.append(node)
    world.send(token, dest=after)
    return token
"""
PING_PONG = """def round_trip_us(buffer, one, other):
    began = MPI.Wtime()
    for _ in range(20):
        if rank == one:
            world.Send(buffer, dest=other)
            world.Recv(buffer, source=other)
        elif rank == other:
            world.Recv(buffer, source=one)
            world.Send(buffer, dest=one)
    return (MPI.Wtime() - began) / 20 * 1e6 if rank == one else None
"""

RIGHT: dict[str, Any] = plain_answers(SLUG) | {
    "hosts_first_line": "192.168.0.9 node01",
    "ordered_pairs": 12,
    "ring_messages": 4,
    "idle_mbit_per_s": 8 * WIRE_BYTES / WIRE_SECONDS / 1e6,
    **{f"fault_{name}": fault for name, (fault, _) in PUZZLES.items()},
    **{f"node_{name}": node for name, (_, node) in PUZZLES.items()},
    **{"sender_rank": 1, "receiving_ranks": 3, "node_d": CLOSED},
}

WORTH = worth(SLUG)
# What needs no answer.
MEASURED = worth(
    SLUG,
    *("predict-trip", "predict-idle", "own-ring", "own-trips", "trips-plot"),
    *("a2-record", "a5-record"),
)


def building(nodes: Sequence[str] = NODES) -> Record:
    """An A1 Record of four PCs like the paper's."""
    points = []
    for node in nodes:
        first = [node, *(each for each in nodes if each != node)]
        facts: dict[str, Any] = {
            "reached": True,
            "card": "eth0",
            "address": ADDRESS[node],
            "kernel": "6.1.0",
            "mtu": "1500",
            "system": "Debian GNU/Linux 12 (bookworm)",
            "processor": "a processor",
            "cores": "2",
            "memory": "1000000 kB",
            "mac": "02:00:00:00:00:01",
            "mpi": "MPICH 3.4.3",
            "compiler": "cc 12.2.0",
            "hosts": "".join(f"{ADDRESS[each]} {each}\n" for each in first),
            "ways": {each: f"{ADDRESS[each]} dev eth0" for each in nodes if each != node},
        }
        points.append(Point({"node": node}, facts=facts))
    when = "2024-01-05T09:55:00.000Z"
    cluster = {"kind": "pcs", "nodes": list(nodes), "addresses": ADDRESS}
    return record("A1", points, cluster=cluster, started=when, ended=when)


def validation(
    fault: str = "none", at: str = "", variant: str = "", started: str = "2024-01-05T10:00:00.000Z"
) -> Record:
    """An A2 Record of four nodes, with one fault on one node if that is asked for."""
    points = [point for node in NODES for point in _node(node, fault, at)]
    points += [point for pair in permutations(NODES, 2) for point in _pair(*pair, fault, at)]
    well = fault == "none"
    hello = [f"rank {rank} of 4 on {node}" for rank, node in enumerate(NODES)] if well else []
    said = "" if well else "a rank did not start"
    for check in ("mpi-hello", "mpi-ring"):
        facts: dict[str, Any] = {"lines": hello, "ok": well, "said": said}
        points.append(Point({"check": check, "ranks": 4}, "launch_s", [0.7], facts))
    cluster = {"kind": "namespaces", "nodes": list(NODES), "addresses": ADDRESS}
    return record("A2", points, cluster=cluster, variant=variant, started=started, ended=started)


def _node(node: str, fault: str, at: str) -> list[Point]:
    configuration = {"check": "configuration", "node": node}
    if (fault, at) == ("node-down", node):
        return [Point(configuration, facts={"reached": False, "said": ""})]
    order = sorted(NODES, key=lambda name: name != node)
    hosts = "".join(f"{ADDRESS[name]} {name}\n" for name in order) + "127.0.0.1 localhost\n"
    facts = {
        "reached": True,
        "hostname": node,
        "expected_address": ADDRESS[node],
        "hosts": hosts,
        "hosts_first_line": hosts.splitlines()[0],
        "memory_bytes": MEMORY_BYTES,
    }
    busy = {"load_1min": 0.1, "memory_available_bytes": MEMORY_BYTES // 2, "processes": 20}
    return [
        Point(configuration, facts=facts),
        Point({"check": "routes", "node": node}, facts={"routes": [ROUTE]}),
        Point({"check": "performance", "node": node}, facts=busy),
    ]


def _pair(node: str, peer: str, fault: str, at: str) -> list[Point]:
    asked = (fault, at) != ("node-down", node)
    other = next(name for name in reversed(NODES) if name != at)
    lost = (fault, at, other) == ("wrong-hosts", node, peer)
    down = (fault, at) == ("node-down", peer)
    refused = (fault, at) == ("key-refused", peer)
    address = "" if not asked else "192.168.0.99" if lost else ADDRESS[peer]
    pinged = asked and not lost and not down
    well = pinged and not refused
    said = "Permission denied (publickey)." if refused else "" if well else "No route to host"
    ask: dict[str, Any] = {"asked": asked, "said": said}
    found: list[tuple[str, str, float, bool, dict[str, Any]]] = [
        ("resolve", "", 0, False, {"asked": asked, "address": address, "expected": ADDRESS[peer]}),
        ("ping", "round_trip_ms", 0.1, pinged, {**ask, "reached": pinged}),
        ("ssh", "login_s", 0.2, well, {**ask, "reached": well}),
        ("transfer", "transfer_bytes_per_s", 1.2e7, well, {**ask, "intact": well, "bytes": 10**6}),
    ]
    return [
        Point({"check": check, "node": node, "peer": peer}, quantity, [sample] * there, facts)
        for check, quantity, sample, there, facts in found
    ]


def idle(**facts: Any) -> Record:
    """An A5 Record; `facts` take the place of those that fit one another."""
    known = {
        "elapsed_s": WIRE_SECONDS,
        "first_to_last_s": 48.0,
        "packets": 20,
        "packets_per_s": 20 / WIRE_SECONDS,
        "bytes": WIRE_BYTES,
        "bytes_per_s": WIRE_BYTES / WIRE_SECONDS,
        "mbit_per_s": 8 * WIRE_BYTES / WIRE_SECONDS / 1e6,
        "protocols": {"eth": {"packets": 20, "bytes": WIRE_BYTES}},
    }
    return record(
        "A5",
        [Point({"where": "switch"}, facts=known | facts)],
        cluster={"kind": "namespaces", "nodes": list(NODES), "rate": "100mbit"},
        started="2024-01-05T10:05:00.000Z",
        ended="2024-01-05T10:06:00.000Z",
        captures=[{"file": "A5.pcapng", "sha256": ""}],
    )


def _of_own(variant: str, source: str, points: list[Point], **facts: Any) -> Record:
    """A Record of a learner's own function."""
    name = source.partition("(")[0].removeprefix("def ")
    digest = hashlib.sha256(source.encode()).hexdigest()
    about = Point({"own": True}, facts={"name": name, "source": source, "sha256": digest, **facts})
    program = {"name": name, "arguments": [], "sha256": digest}
    return record("A2", [about, *points], variant=variant, cluster=CLUSTER, program=program)


def ring(
    source: str = RING,
    returned: Sequence[Any] | None = None,
    why: str = "",
    calls: Sequence[str] = CALLS,
) -> Record:
    """A learner's own ring: what each rank returned, in each of three calls; `why` where a call gave nothing."""
    points = []
    for call in range(1, own_ring.CALLS + 1):
        token = [f"token 0000000{call}"]
        right = [[*token, *NODES[: rank + 1]] if rank else [*token, *NODES] for rank in range(4)]
        gave = right if returned is None else [_with(token, each) for each in returned]
        fault = why or own_ring.wrong(token, NODES, gave)
        facts = {"given": token, "returned": [] if why else gave, "nodes": list(NODES)}
        points.append(Point({"call": call}, facts={**facts, "why": fault, "right": not fault}))
    return _of_own(own_ring.VARIANT, source, points, mpi_calls=list(calls))


def _with(token: list[str], returned: Any) -> Any:
    return [*token, *returned] if isinstance(returned, list) else returned


def trip_us(rank: int, other: int) -> float:
    """A round trip between two ranks, in microseconds."""
    return 50.0 + 2 * rank + other


def trips(
    source: str = PING_PONG,
    faults: Sequence[str] = (),
    left_out: Sequence[int] = (),
    calls: Sequence[str] = ("MPI_Recv", "MPI_Send"),
) -> Record:
    """A learner's own round trips between all ordered pairs of ranks but those that begin at one that is `left_out`."""
    points = []
    for rank, other in permutations(range(len(NODES)), 2):
        at = {"rank": rank, "other": other, "node": NODES[rank], "peer": NODES[other]}
        times = [] if rank in left_out else [trip_us(rank, other)] * own_trips.PASSES
        points.append(Point({**at, "size_bytes": own_trips.BYTES}, own_trips.TRIP, times))
    return _of_own(own_trips.VARIANT, source, points, faults=list(faults), mpi_calls=list(calls))


def trips_plot(**other: Any) -> Record:
    """A plot of those, with a line for each rank that begins."""
    ranks = range(len(NODES))
    lines = {
        f"from {NODES[rank]}": {float(each): trip_us(rank, each) for each in ranks if each != rank}
        for rank in ranks
    }
    labels = {"x_label": "number of the other node", "y_label": "round trip (µs)"}
    return measured.plot("F1", "trips", lines, cluster=CLUSTER, **{**labels, **other})


def stuck(closed: str = CLOSED) -> Record:
    """The ring on cluster d, in which one node takes no connections."""
    sender = NODES.index(closed) - 1
    waits = [rank for rank in range(len(NODES)) if rank >= sender or rank == 0]
    texts = dict.fromkeys(waits, "token = world.recv(source=before)")
    texts[0], texts[sender] = "return world.recv(source=before)", "world.send(token, dest=after)"
    report = [f"{NODES[r]} (rank {r}) waits in line 9 of pass_token: {texts[r]}" for r in waits]
    why = "\n".join(["It did not end within 5 s: a deadlock, or a loop without end.", *report])
    facts: Mapping[str, Any] = {"given": ["token 1"], "returned": [], "nodes": list(NODES)}
    points = [Point({"call": 1}, facts={**facts, "why": why, "right": False})]
    for rank in waits:
        at = {"rank": rank, "node": NODES[rank]}
        points.append(Point(at, facts={"line": 9, "text": texts[rank]}))
    for node, peer in permutations(NODES, 2):
        at = {"check": "door", "node": node, "peer": peer}
        points.append(Point(at, facts={"shut": peer == closed}))
    return _of_own(broken_ring.VARIANT, RING, points)


def broken(name: str, fault: str, node: str) -> Record:
    """The Record of one of the four broken clusters."""
    return stuck(node) if name == "d" else validation(fault, node, variant=f"broken-{name}")


def records() -> list[Record]:
    """Every Record that a whole hand-in of lab 01 has."""
    return [
        sealed("trip", 200, 20, 2000, "A2-own-trips"),
        sealed("idle", 20, 0, 200, "A5"),
        building(),
        validation(),
        ring(),
        trips(),
        trips_plot(),
        idle(),
        *(broken(name, *puzzle) for name, puzzle in PUZZLES.items()),
        stuck(),
    ]
