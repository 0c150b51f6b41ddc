"""Lab 01's Records as nobody measured them: four nodes, a quiet wire, and three broken clusters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

from beowulf.record import Point, Record
from tests.gold.measured import LABEL, NODES

SLUG = "01-validation"
ADDRESS = {node: f"192.168.0.{8 + place}" for place, node in enumerate(NODES)}
PUZZLES = {
    "a": ("wrong-hosts", "node01"),
    "b": ("node-down", "node02"),
    "c": ("key-refused", "node03"),
}
MEMORY_BYTES, ROUTE = 4 * 2**30, "192.168.0.0/24 dev eth0"
WIRE_BYTES, WIRE_SECONDS = 1380, 60.25

RIGHT: dict[str, Any] = {
    "hosts_first_line": "192.168.0.9 node01",
    "ordered_pairs": 12,
    "ring_messages": 4,
    "idle_mbit_per_s": 8 * WIRE_BYTES / WIRE_SECONDS / 1e6,
    **{f"fault_{name}": fault for name, (fault, _) in PUZZLES.items()},
    **{f"node_{name}": node for name, (_, node) in PUZZLES.items()},
}


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
    return Record(
        study="A1",
        points=points,
        cluster={"kind": "pcs", "nodes": list(nodes), "addresses": ADDRESS},
        learner="a test",
        started="2024-01-05T09:55:00.000Z",
        ended="2024-01-05T09:55:00.000Z",
        warnings=[LABEL],
    )


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
    return Record(
        study="A2",
        points=points,
        cluster={"kind": "namespaces", "nodes": list(NODES), "addresses": ADDRESS},
        learner="a test",
        variant=variant,
        started=started,
        ended=started,
        warnings=[LABEL],
    )


def _node(node: str, fault: str, at: str) -> list[Point]:
    if (fault, at) == ("node-down", node):
        return [
            Point({"check": "configuration", "node": node}, facts={"reached": False, "said": ""})
        ]
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
        Point({"check": "configuration", "node": node}, facts=facts),
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
    pair = {"node": node, "peer": peer}
    return [
        Point(
            {"check": "resolve", **pair},
            facts={"asked": asked, "address": address, "expected": ADDRESS[peer]},
        ),
        Point(
            {"check": "ping", **pair},
            "round_trip_ms",
            [0.1] if pinged else [],
            {"asked": asked, "reached": pinged, "said": said},
        ),
        Point(
            {"check": "ssh", **pair},
            "login_s",
            [0.2] if well else [],
            {"asked": asked, "reached": well, "said": said},
        ),
        Point(
            {"check": "transfer", **pair},
            "transfer_bytes_per_s",
            [1.2e7] if well else [],
            {"asked": asked, "intact": well, "bytes": 1_000_000, "said": said},
        ),
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
    return Record(
        study="A5",
        points=[Point({"where": "switch"}, facts=known | facts)],
        cluster={"kind": "namespaces", "nodes": list(NODES), "rate": "100mbit"},
        learner="a test",
        started="2024-01-05T10:05:00.000Z",
        ended="2024-01-05T10:06:00.000Z",
        captures=[{"file": "A5.pcapng", "sha256": ""}],
        warnings=[LABEL],
    )


def records() -> list[Record]:
    """Every Record that a whole hand-in of lab 01 has."""
    broken = [validation(*puzzle, variant=f"broken-{name}") for name, puzzle in PUZZLES.items()]
    return [building(), validation(), idle(), *broken]
