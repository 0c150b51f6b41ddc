"""A2, validation: is each node configured, reachable and alive, do data arrive, does MPI span all nodes?

Paper A (section III) verifies on every node: configuration, routing table, data transfer, overall performance and
the slaves ('slave validation'); then that an MPI hello runs. It names no pairs: here every ordered pair is checked.
The paper prints no figure for the performance: here a tenth of a node's memory must be free.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from itertools import chain, permutations
from typing import Any

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.labs.lab_01 import validation_checks as checks
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record
from beowulf.studies.study import SEPARATE, Claim, Judgement, Plan, Study
from beowulf.verdict import OWN

MOST_NAMED = 4  # faults in the evidence of one Verdict
LEAST_FREE = 0.1  # of a node's memory
# A line of `ip route`: a type that leads nowhere, and the destination.
ROUTE = re.compile(r"(unreachable |blackhole |prohibit )?(\S+)")


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong with a cluster, on which node, and which observations show it."""

    fault: str  # none, wrong-hosts, node-down, key-refused or unknown
    node: str
    because: str


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """Ask every node and every ordered pair of nodes; a fault becomes part of the Record, not an error."""
    nodes = cluster.nodes
    pairs = list(permutations(nodes, 2))
    total = len(nodes) + 2 * len(pairs) + 2

    def steps(measurement: Measurement) -> None:
        points = measurement.points

        def tell(what: str) -> None:
            measurement.progress(max(0, min(len(points) - 2 * len(nodes), total)), total, what)

        with ThreadPoolExecutor(len(nodes)) as pool:
            tell("asking every node")
            points += chain(*pool.map(lambda node: checks.ask_node(cluster, node), nodes))
            tell("logging in from every node to every other")
            points += chain(*pool.map(lambda node: checks.ask_peers(cluster, node), nodes))
        for node, peer in pairs:  # one after the other: two transfers at once would share a cable
            tell(f"sending data from {node} to {peer}")
            points.append(checks.transfer(cluster, node, peer))
        for name, read in (("hello", checks.hello), ("ring", checks.ring)):
            tell(f"running {name} on all nodes")
            points.append(checks.run(cluster, name, read))
            program = paths.lab(checks.LAB) / f"{name}.c"
            measurement.programs[name] = hashlib.sha256(program.read_bytes()).hexdigest()

    asked = {"transfer_bytes": checks.TRANSFER_BYTES, "pings": checks.PINGS}
    return Plan(total, {"pairs": len(pairs), **asked}, steps)


@dataclass(frozen=True)
class Check:
    """A check of every node, every ordered pair of nodes or every run, and what it claims.

    `fault` returns what is wrong with a point of a Record, "" if nothing is, None if it was not asked.
    """

    name: str
    says: str
    check: str
    what: str  # what is counted
    fault: Callable[[Record, Point], str | None]
    place: str = "section III"  # of paper A

    def of(self, record: Record) -> int:
        """How many points there should be."""
        nodes = len(record.cluster.get("nodes", ()))
        return {"nodes": nodes, "runs": 1}.get(self.what, nodes * (nodes - 1))

    def seen(self, record: Record) -> list[str | None]:
        """The fault of each point."""
        return [self.fault(record, point) for point in record.select(check=self.check)]

    def judge(self, record: Record) -> Judgement:
        """What was seen; only the first check that fails gives a hint."""
        seen, of = self.seen(record), self.of(record)
        faults, well = [fault for fault in seen if fault], seen.count("")
        numbers = {"well": well, "faults": len(faults), "of": of}
        if faults:
            first = next(each for each in CHECKS if any(each.seen(record)))
            hint = "Find out why; `beowulf up` heals a local cluster." if first is self else ""
            return Judgement("contradicted", _together(faults), numbers, hint=hint)
        evidence = f"well on {well} of {of} {self.what}"
        if well == of > 0:
            return Judgement("holds", evidence, numbers)
        advice = "Bring every node up (`beowulf up` on a local cluster), then measure again."
        evidence += "; the others could not be asked"
        return Judgement("inconclusive", evidence, numbers, advice)


def picture(record: Record) -> Figure:
    """Who reaches whom: a node-by-node matrix of ssh logins, names and data."""
    from beowulf import figures

    nodes = record.cluster["nodes"]
    cells = {pair: _pair_word(record, *pair) for pair in permutations(nodes, 2)}
    return figures.matrix(
        nodes,
        nodes,
        cells,
        good="ok",
        title="Who reaches whom",
        row_title="from",
        column_title="to",
    )


def diagnose(record: Record) -> Diagnosis:
    """The one fault that explains what this Record observed, if one does."""
    nodes = record.cluster["nodes"]
    for point in record.select(check="resolve"):
        if point.facts["asked"] and point.facts["address"] != point.facts["expected"]:
            node, facts = point.at["node"], point.facts
            means = f"{facts['address'] or 'nothing'}, not {facts['expected']}"
            because = f"on {node} the name {point.at['peer']} means {means}"
            return Diagnosis("wrong-hosts", node, because)
    for node in nodes:
        pings, logins = (
            [p.facts for p in record.select(check=check, peer=node) if p.facts["asked"]]
            for check in ("ping", "ssh")
        )
        if not pings or not logins:
            continue
        if not any(facts["reached"] for facts in pings):
            because = f"no node gets an answer from {node}, not even to ping"
            return Diagnosis("node-down", node, because)
        message = logins[0]["said"]
        if not any(facts["reached"] for facts in logins) and "Permission denied" in message:
            return Diagnosis("key-refused", node, f"{node} answers ping but reports: {message}")
    # A node whose memory is used up is slow, but the cluster works.
    verdicts = [each for each in STUDY.claims(record) if each.claim != FREE_MEMORY]
    if all(verdict.outcome == "holds" for verdict in verdicts):
        return Diagnosis("none", "", "every check passes")
    return Diagnosis("unknown", "", "the failed checks do not fit a single fault")


def _own_name_fault(_record: Record, point: Point) -> str | None:
    facts, node = point.facts, point.at["node"]
    if not facts["reached"]:
        return None
    right = facts["hosts_first_line"].split() == [facts["expected_address"], node]
    if right and facts["hostname"] == node:
        return ""
    return f"{node}, called {facts['hostname']}, has the first line `{facts['hosts_first_line']}`"


def _login_fault(_record: Record, point: Point) -> str:
    facts, node = point.facts, point.at["node"]
    if facts["reached"]:
        return ""
    verb = "lets nobody in" if "denied" in facts["said"] else "does not answer"
    return f"{node} {verb} ({facts['said']})" if facts["said"] else f"{node} {verb}"


def _route_fault(record: Record, point: Point) -> str | None:
    """The nodes to which a node's routing table has no route."""
    node, routes = point.at["node"], point.facts["routes"]
    if not _configuration(record, node).get("reached"):
        return None
    to = {p.at["peer"]: p.facts["expected"] for p in record.select(check="resolve", node=node)}
    lost = [peer for peer, address in to.items() if not _leads_to(routes, address)]
    return f"{node} has no route to {', '.join(lost)}" if lost else ""


def _leads_to(routes: Sequence[str], address: str) -> bool:
    """Whether the most specific of these lines of `ip route` that contain an address leads anywhere."""
    matching = []
    for no_way, destination in (match.groups() for match in map(ROUTE.match, routes) if match):
        with suppress(ValueError):  # a line that has no address, such as a multipath's next hop
            network = ip_network("0.0.0.0/0" if destination == "default" else destination)
            if ip_address(address) in network:
                matching.append((network.prefixlen, no_way is None))
    return max(matching, default=(0, False))[1]


def _memory_fault(record: Record, point: Point) -> str | None:
    """How little of a node's memory is free."""
    node, free = point.at["node"], point.facts["memory_available_bytes"]
    memory = _configuration(record, node).get("memory_bytes")
    if not memory:
        return None
    return (
        "" if free >= LEAST_FREE * memory else f"{node} has {free / memory:.0%} of its memory free"
    )


def _configuration(record: Record, node: str) -> Mapping[str, Any]:
    points = record.select(check="configuration", node=node)
    return points[0].facts if points else {}


def _peer_fault(point: Point, well: bool, otherwise: str = "no answer") -> str | None:
    """What is wrong between two nodes, the reason first, so that equal reasons can be combined."""
    if well or not point.facts.get("asked", True):
        return "" if well else None
    return f"{point.facts.get('said') or otherwise}\t{point.at['node']} to {point.at['peer']}"


def _name_fault(_record: Record, point: Point) -> str | None:
    address, expected = point.facts["address"], point.facts["expected"]
    well = point.facts["asked"] and address == expected
    return _peer_fault(point, well, f"{address or 'nothing'}, not {expected}")


def _together(faults: list[str]) -> str:
    """Each reason once, followed by its places."""
    places: dict[str, list[str]] = {}
    for fault in faults:
        reason, _, place = fault.partition("\t")
        places.setdefault(reason, []).append(place)
    each = [f"{reason} ({', '.join(w)})" if w[0] else reason for reason, w in places.items()]
    more = f"; and {len(each) - MOST_NAMED} more" if len(each) > MOST_NAMED else ""
    return "; ".join(each[:MOST_NAMED]) + more


def _pair_word(record: Record, node: str, peer: str) -> str:
    facts = {p.at["check"]: p.facts for p in record.select(node=node, peer=peer)}
    if not facts["resolve"]["asked"]:
        return "not asked"
    if facts["resolve"]["address"] != facts["resolve"]["expected"]:
        return "wrong address"
    if not facts["ping"]["reached"]:
        return "silent"
    if not facts["ssh"]["reached"]:
        return "refused"
    return "ok" if facts["transfer"]["intact"] else "damaged"


def _program_fault(_record: Record, point: Point) -> str:
    return "" if point.facts["ok"] else str(point.facts["said"])


FREE_MEMORY = "memory-free"
CHECKS = (
    Check(
        "every-node-answers",
        "Every node's configuration can be read (by a login, our choice)",
        "configuration",
        "nodes",
        _login_fault,
    ),
    Check(
        "own-name-first",
        "Each node's /etc/hosts names the node itself on its first line",
        "configuration",
        "nodes",
        _own_name_fault,
    ),
    Check(
        "routes-to-every-node",
        "Each node's routing table leads to every other node",
        "routes",
        "nodes",
        _route_fault,
    ),
    Check(
        FREE_MEMORY,
        "Every node's performance can be seen: it reports its load, and has"
        f" {LEAST_FREE:.0%} of its memory free (our choice and limit)",
        "performance",
        "nodes",
        _memory_fault,
    ),
    Check(
        "names-resolve",
        "Every node knows the address of every other by name",
        "resolve",
        "names",
        _name_fault,
    ),
    Check(
        "every-node-reachable",
        "The slaves are validated (ours: every node reaches every other by ping)",
        "ping",
        "pairs",
        lambda _, point: _peer_fault(point, point.facts["reached"]),
    ),
    Check(
        "ssh-without-password",
        "Every node logs in to every other by ssh without a password",
        "ssh",
        "logins",
        lambda _, point: _peer_fault(point, point.facts["reached"]),
        OWN,
    ),
    Check(
        "data-intact",
        "Data arrive whole from every node at every other",
        "transfer",
        "transfers",
        lambda _, point: _peer_fault(point, point.facts["intact"], "the data differ"),
    ),
    Check(
        "mpi-on-every-node",
        "An MPI hello validates MPI (ours: one rank on every node)",
        "mpi-hello",
        "runs",
        _program_fault,
    ),
    Check(
        "ring-closes",
        "A token goes round all ranks and comes home",
        "mpi-ring",
        "runs",
        _program_fault,
        OWN,
    ),
)

STUDY = Study(
    id="A2",
    title="Validation: is this a cluster?",
    plan=plan,
    judged=[Claim(each.name, each.says, each.judge, place=each.place) for each in CHECKS],
    draw=picture,
    timed=False,
    needs=(SEPARATE,),
    differs={
        "holds": (
            "Configuration, routes, data, slaves and MPI are verified as in the paper, which names no "
            "commands: ping and ssh are our choice."
        ),
        "contradicted": (
            "A healthy modern cluster passes all of the paper's checks, so this cluster has a "
            "fault, and the evidence names it."
        ),
        "inconclusive": (
            "A check without an answer cannot distinguish a healthy node from a faulty one."
        ),
    },
)
