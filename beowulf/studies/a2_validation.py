"""A2, validation: is each node configured, reachable and alive, do data arrive, does MPI span all nodes?

Paper A (section III) verifies on every node: configuration, routing table, data transfer, overall performance and
slave reachability; then that an MPI hello runs. Here every ordered pair of nodes is asked, not only master and slave.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

from beowulf import circumstances, mpi, places
from beowulf.cluster import Cluster, Completed
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.record import Point, Record, moment
from beowulf.studies import Progress, no_progress
from beowulf.verdict import Outcome, Verdict

ID = "A2"
TITLE = "Validation: is this a cluster?"

LAB = "01-validation"
TRANSFER_BYTES = 1_000_000
PINGS = 3
MOST_NAMED = 4  # faults in the evidence of one Verdict
WHAT = {
    "configuration": "nodes",
    "resolve": "names",
    "ssh": "logins",
    "transfer": "transfers",
    "mpi-hello": "runs",
    "mpi-ring": "runs",
}
HELLO = re.compile(r"^rank (\d+) of (\d+) on (\S+)$")
HOP = re.compile(r"^rank (\d+) on (\S+) got the token from rank \d+, hops (\d+)$")

CONFIGURATION = "hostname; uname -r; nproc; sed -n 's/^MemTotal: *//p' /proc/meminfo; hostname -I; cat /etc/hosts"
PERFORMANCE = "cut -d' ' -f1 /proc/loadavg; sed -n 's/^MemAvailable: *//p' /proc/meminfo; ls -d /proc/[0-9]* | wc -l"


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
    started, before = moment(), circumstances.now()
    described = dict(cluster.describe())
    pairs = list(permutations(cluster.nodes, 2))
    total = len(cluster.nodes) + 2 * len(pairs) + 2
    points: list[Point] = []

    def tell(what: str) -> None:
        done = len(points) - 2 * len(cluster.nodes)
        progress(max(0, min(done, total)), total, what)

    tell("asking every node")
    with ThreadPoolExecutor(len(cluster.nodes)) as pool:
        for found in pool.map(lambda node: _node(cluster, node), cluster.nodes):
            points += found
        tell("logging in from every node to every other")
        for found in pool.map(lambda node: _peers(cluster, node), cluster.nodes):
            points += found
    for (
        node,
        peer,
    ) in pairs:  # one after the other: two transfers at once would share a cable
        tell(f"sending data from {node} to {peer}")
        points.append(_transfer(cluster, node, peer))
    for name, read in (("hello", _hello), ("ring", _ring)):
        tell(f"running {name} on all nodes")
        points.append(_program(cluster, name, read))
    source = places.lab(LAB)
    digest = hashlib.sha256(b"".join((source / f"{n}.c").read_bytes() for n in ("hello", "ring")))
    return Record(
        study=ID,
        program={"name": "hello, ring", "arguments": [], "sha256": digest.hexdigest()},
        sweep={"pairs": len(pairs), "transfer_bytes": TRANSFER_BYTES, "pings": PINGS},
        points=points,
        cluster=described,
        circumstances={"before": before, "after": circumstances.now()},
        versions=circumstances.versions(),
        started=started,
        ended=moment(),
    )


def claims(record: Record) -> list[Verdict]:
    """What paper A's validation asks of a cluster, each held against this Record."""
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


def _node(cluster: Cluster, node: str) -> list[Point]:
    at = {"node": node}
    configuration = _ask(cluster, node, CONFIGURATION)
    routes = _ask(cluster, node, "ip route")
    performance = _ask(cluster, node, PERFORMANCE)
    lines = configuration.stdout.splitlines()
    facts: dict[str, Any] = {
        "reached": configuration.returncode == 0,
        "said": _last(configuration),
    }
    if facts["reached"]:
        facts |= {
            "hostname": lines[0],
            "kernel": lines[1],
            "cores": int(lines[2]),
            "memory_bytes": int(lines[3].split()[0]) * 1024,
            "addresses": lines[4].split(),
            "expected_address": cluster.address(node),
            "hosts": "\n".join(lines[5:]) + "\n",
            "hosts_first_line": lines[5] if len(lines) > 5 else "",
        }
    points = [
        Point({"check": "configuration", **at}, facts=facts),
        Point({"check": "routes", **at}, facts={"routes": routes.stdout.splitlines()}),
    ]
    words = performance.stdout.split()
    if performance.returncode == 0:
        load, available, processes = (
            float(words[0]),
            int(words[1]) * 1024,
            int(words[-1]),
        )
        found = {
            "load_1min": load,
            "memory_available_bytes": available,
            "processes": processes,
        }
        points.append(Point({"check": "performance", **at}, facts=found))
    return points


def _peers(cluster: Cluster, node: str) -> list[Point]:
    points = []
    for peer in (name for name in cluster.nodes if name != node):
        at = {"node": node, "peer": peer}
        found = _ask(cluster, node, f"getent ahostsv4 {peer} | head -n 1")
        asked = found.returncode == 0
        address = found.stdout.split()[0] if found.stdout.split() else ""
        facts = {"asked": asked, "address": address, "expected": cluster.address(peer)}
        points.append(Point({"check": "resolve", **at}, facts=facts))

        pings = _ask(cluster, node, f"ping -n -c {PINGS} -i 0.2 -W 1 {peer}")
        times = [float(text) for text in re.findall(r" time=([0-9.]+) ms", pings.stdout)]
        facts = {"asked": asked, "reached": bool(times), "said": _last(pings)}
        points.append(Point({"check": "ping", **at}, "round_trip_ms", times, facts))

        # What ssh says goes to stdout, so that a refusal by `peer` is told from a refusal by `node`.
        login = _ask(cluster, node, f"ssh {peer} hostname 2>&1 && echo well")
        reached = login.stdout.split()[-1:] == ["well"]
        answer = [line for line in login.stdout.splitlines() if line not in ("", "well")]
        facts = {
            "asked": asked,
            "reached": reached,
            "said": answer[-1] if answer else _last(login),
        }
        samples = [login.elapsed_s] if reached else []
        points.append(Point({"check": "ssh", **at}, "login_s", samples, facts))
    return points


def _transfer(cluster: Cluster, node: str, peer: str) -> Point:
    script = (
        f"head -c {TRANSFER_BYTES} /dev/urandom > /dev/shm/payload; sha256sum < /dev/shm/payload;"
        f" began=$EPOCHREALTIME; ssh {peer} sha256sum < /dev/shm/payload 2>&1;"
        " ended=$EPOCHREALTIME; rm /dev/shm/payload; echo $began $ended"
    )
    done = _ask(cluster, node, script)
    lines = done.stdout.splitlines()
    intact = len(lines) == 3 and lines[0] == lines[1]
    said = "" if intact else (lines[1] if len(lines) == 3 else _last(done))
    samples = []
    if intact:
        began, ended = (float(word) for word in lines[2].split())
        samples = [TRANSFER_BYTES / (ended - began)]
    # The first line comes from the node that sends: without it, nobody there could be asked.
    asked = bool(lines)
    facts = {"asked": asked, "intact": intact, "bytes": TRANSFER_BYTES, "said": said}
    at = {"check": "transfer", "node": node, "peer": peer}
    return Point(at, "transfer_bytes_per_s", samples, facts)


def _program(
    cluster: Cluster, name: str, read: Callable[[Cluster, list[str]], dict[str, Any]]
) -> Point:
    ranks = len(cluster.nodes)
    at = {"check": f"mpi-{name}", "ranks": ranks}
    scratch = Path(tempfile.mkdtemp(prefix="beowulf-"))
    try:
        library = str(cluster.describe().get("mpi", "classic"))
        source = places.lab(LAB) / f"{name}.c"
        program = mpi.build(source, library=library, output=scratch / name)
        done = mpi.launch(cluster, program, ranks, timeout_s=60, folder=scratch)
    except LabError as trouble:
        return Point(at, facts={"ok": False, "lines": [], "said": trouble.what})
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    lines = done.stdout.splitlines()
    facts = {"lines": lines, **read(cluster, lines)}
    if done.returncode:
        facts |= {"ok": False, "said": mpi.failure(mpi.Launch(**vars(done)), name)}
    return Point(at, "launch_s", [done.elapsed_s], facts)


def _hello(cluster: Cluster, lines: list[str]) -> dict[str, Any]:
    found = {int(m[1]): m[3] for m in map(HELLO.match, lines) if m}
    hosts = [found.get(rank, "") for rank in range(len(cluster.nodes))]
    ok = sorted(hosts) == sorted(cluster.nodes)
    return {
        "hosts": hosts,
        "ok": ok,
        "said": "" if ok else f"the ranks were on: {', '.join(hosts)}",
    }


def _ring(cluster: Cluster, lines: list[str]) -> dict[str, Any]:
    ranks = len(cluster.nodes)
    hops = sorted((int(m[3]), int(m[1]), m[2]) for m in map(HOP.match, lines) if m)
    home = f"the token came home after {ranks} hops"
    ok = [hop for hop, _, _ in hops] == list(range(1, ranks + 1)) and home in lines
    said = "" if ok else f"the token made {len(hops)} of {ranks} hops"
    return {"hops": [[rank, host] for _, rank, host in hops], "ok": ok, "said": said}


def _ask(cluster: Cluster, node: str, command: str) -> Completed:
    try:
        return cluster.run(node, command, timeout_s=30)
    except LabError as trouble:
        return Completed(255, "", trouble.what, 0.0)


def _last(done: Completed) -> str:
    lines = (done.stderr or "").strip().splitlines()
    return lines[-1] if lines else ""


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
    places: dict[str, list[str]] = {}
    for fault in faults:
        reason, _, place = fault.partition("\t")
        places.setdefault(reason, []).append(place)
    said = [f"{reason} ({', '.join(w)})" if w[0] else reason for reason, w in places.items()]
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
