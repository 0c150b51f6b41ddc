"""A2, validation: is each node configured, reachable and alive, do data arrive, does MPI span all nodes?

Paper A (section III) verifies on every node: configuration, routing table, data transfer, overall performance and
slave reachability; then that an MPI hello runs. Here every ordered pair of nodes is asked, not only master and slave.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from beowulf import host_state, paths
from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.measure.judgement import need_study
from beowulf.record import Point, Record, moment
from beowulf.studies import Progress, no_progress
from beowulf.studies.lab_01 import validation_checks as checks
from beowulf.verdict import Outcome, Verdict

ID = "A2"
TITLE = "Validation: is this a cluster?"

MOST_NAMED = 4  # faults in the evidence of one Verdict
WHAT = {
    "configuration": "nodes",
    "resolve": "names",
    "ssh": "logins",
    "transfer": "transfers",
    "mpi-hello": "runs",
    "mpi-ring": "runs",
}


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong with a cluster, on which node, and which observations say so."""

    fault: str  # none, wrong-hosts, node-down, key-refused or unknown
    node: str
    because: str


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
) -> Record:
    """Ask every node and every ordered pair of nodes; a fault becomes part of the Record, not an error."""
    started, before = moment(), host_state.now()
    described = dict(cluster.describe())
    pairs = list(permutations(cluster.nodes, 2))
    total = len(cluster.nodes) + 2 * len(pairs) + 2
    points: list[Point] = []

    def tell(what: str) -> None:
        done = len(points) - 2 * len(cluster.nodes)
        progress(max(0, min(done, total)), total, what)

    tell("asking every node")
    with ThreadPoolExecutor(len(cluster.nodes)) as pool:
        for found in pool.map(lambda node: checks.ask_node(cluster, node), cluster.nodes):
            points += found
        tell("logging in from every node to every other")
        for found in pool.map(lambda node: checks.ask_peers(cluster, node), cluster.nodes):
            points += found
    for node, peer in pairs:  # one after the other: two transfers at once would share a cable
        tell(f"sending data from {node} to {peer}")
        points.append(checks.transfer(cluster, node, peer))
    for name, read in (("hello", checks.hello), ("ring", checks.ring)):
        tell(f"running {name} on all nodes")
        points.append(checks.run(cluster, name, read))
    source = paths.lab(checks.LAB)
    digest = hashlib.sha256(b"".join((source / f"{n}.c").read_bytes() for n in ("hello", "ring")))
    return Record(
        study=ID,
        program={"name": "hello, ring", "arguments": [], "sha256": digest.hexdigest()},
        sweep={"pairs": len(pairs), "transfer_bytes": checks.TRANSFER_BYTES, "pings": checks.PINGS},
        points=points,
        cluster=described,
        circumstances={"before": before, "after": host_state.now()},
        versions=host_state.versions(),
        started=started,
        ended=moment(),
    )


def claims(record: Record) -> list[Verdict]:
    """What paper A's validation asks of a cluster, each held against this Record."""
    need_study(record, ID)
    nodes = len(record.cluster.get("nodes", ()))
    pairs = nodes * (nodes - 1)
    advised: list[str] = []  # once is enough

    def judge(
        claim: str, says: str, check: str, of: int, fault: Callable[[Point], str | None]
    ) -> Verdict:
        """`fault` gives what is wrong with a point, nothing if all is well, None if it was not asked."""
        found = [fault(point) for point in record.select(check=check)]
        faults = [text for text in found if text]
        well = found.count("")
        outcome: Outcome = "holds"
        what = WHAT[check]
        evidence, advice = f"well on {well} of {of} {what}", ""
        if faults:
            outcome, evidence = "contradicted", _together(faults)
            advice = "" if advised else "Find out why; `beowulf up` heals a local cluster."
            advised.append(claim)
        elif well < of or not of:
            outcome, evidence = (
                "inconclusive",
                f"well on {well} of {of} {what}; the others could not be asked",
            )
            advice = "Bring every node up, on a local cluster by `beowulf up`; then measure again."
        numbers = {"well": well, "faults": len(faults), "of": of}
        return Verdict(ID, claim, says, outcome, evidence, advice, numbers, [record.digest])

    return [
        judge(
            "every-node-answers",
            "Every node can be logged in to and tells its configuration",
            "configuration",
            nodes,
            _login_fault,
        ),
        judge(
            "own-name-first",
            "Each node's /etc/hosts names the node itself on its first line",
            "configuration",
            nodes,
            _own_name_fault,
        ),
        judge(
            "names-resolve",
            "Every node knows the address of every other by name",
            "resolve",
            pairs,
            _name_fault,
        ),
        judge(
            "ssh-without-password",
            "Every node logs in to every other by ssh without a password",
            "ssh",
            pairs,
            lambda p: _peer_fault(p, p.facts["reached"]),
        ),
        judge(
            "data-intact",
            "Data arrive whole from every node at every other",
            "transfer",
            pairs,
            lambda p: _peer_fault(p, p.facts["intact"]),
        ),
        judge(
            "mpi-on-every-node",
            "MPI starts one rank on every node",
            "mpi-hello",
            1,
            lambda p: "" if p.facts["ok"] else p.facts["said"],
        ),
        judge(
            "ring-closes",
            "A token goes round all ranks and comes home",
            "mpi-ring",
            1,
            lambda p: "" if p.facts["ok"] else p.facts["said"],
        ),
    ]


def picture(record: Record) -> Figure:
    """Who reaches whom: a node-by-node matrix of ssh logins, names and data."""
    from beowulf import figures

    need_study(record, ID)
    nodes = record.cluster["nodes"]
    cells = {}
    for node, peer in permutations(nodes, 2):
        cells[node, peer] = _pair_word(record, node, peer)
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
            at, facts = point.at, point.facts
            return Diagnosis(
                "wrong-hosts",
                at["node"],
                f"on {at['node']} the name {at['peer']} means {facts['address'] or 'nothing'}, not {facts['expected']}",
            )
    for node in nodes:
        others = [p for p in record.select(check="ping", peer=node) if p.facts["asked"]]
        logins = [p for p in record.select(check="ssh", peer=node) if p.facts["asked"]]
        if not others or not logins:
            continue
        pinged = sum(p.facts["reached"] for p in others)
        if pinged == 0:
            return Diagnosis(
                "node-down",
                node,
                f"no node gets an answer from {node}, not even to ping",
            )
        if not any(p.facts["reached"] for p in logins):
            said = logins[0].facts["said"]
            if "Permission denied" in said:
                return Diagnosis("key-refused", node, f"{node} answers ping but says: {said}")
    if all(verdict.outcome == "holds" for verdict in claims(record)):
        return Diagnosis("none", "", "every check is well")
    return Diagnosis("unknown", "", "the checks that failed do not fit one single fault")


def _own_name_fault(point: Point) -> str | None:
    facts, node = point.facts, point.at["node"]
    if not facts["reached"]:
        return None
    right = facts["hosts_first_line"].split() == [facts["expected_address"], node]
    if right and facts["hostname"] == node:
        return ""
    return f"{node}, called {facts['hostname']}, has `{facts['hosts_first_line']}`"


def _login_fault(point: Point) -> str:
    facts, node = point.facts, point.at["node"]
    if facts["reached"]:
        return ""
    verb = "lets nobody in" if "denied" in facts["said"] else "does not answer"
    return f"{node} {verb} ({facts['said']})" if facts["said"] else f"{node} {verb}"


def _peer_fault(point: Point, well: bool) -> str | None:
    """What is wrong between two nodes, the reason first, so that equal reasons can be put together."""
    if well:
        return ""
    return (
        _pair(point, point.facts["said"] or "the data differ")
        if point.facts.get("asked", True)
        else None
    )


def _name_fault(point: Point) -> str | None:
    facts = point.facts
    if not facts["asked"]:
        return None
    if facts["address"] == facts["expected"]:
        return ""
    return _pair(point, f"{facts['address'] or 'nothing'}, not {facts['expected']}")


def _pair(point: Point, said: str) -> str:
    return f"{said}\t{point.at['node']} to {point.at['peer']}"


def _together(faults: list[str]) -> str:
    """Faults with the same reason said once, with the places behind it."""
    paths: dict[str, list[str]] = {}
    for fault in faults:
        reason, _, place = fault.partition("\t")
        paths.setdefault(reason, []).append(place)
    said = [f"{reason} ({', '.join(w)})" if w[0] else reason for reason, w in paths.items()]
    more = f"; and {len(said) - MOST_NAMED} more" if len(said) > MOST_NAMED else ""
    return "; ".join(said[:MOST_NAMED]) + more


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
