"""A1, building: what is this cluster made of, and is it what paper A built?

Paper A (section III) builds four PCs: node00, the master, and node01 to node03, each with one cable to one switch, with
MPICH, and an /etc/hosts that names all nodes; they are on a private LAN (abstract). Here every node reports what it is,
and each claim but the last is one property of the paper's cluster. A node cannot see how the nodes are wired: a packet
reaches every other node without a router in a star, in a bus and in a chain of switches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from ipaddress import ip_address
from typing import Any

from beowulf.cluster import Cluster
from beowulf.cluster.description import on_one_machine
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record
from beowulf.studies.study import SEPARATE, Claim, Judgement, Plan, Study, undecided

PAPER_NODES = 4
# These properties are not findings: building or booting the cluster creates them.
built_in = partial(Claim, rests_on="demonstration")
ASKED = {
    "system": "sed -n 's/^PRETTY_NAME=//p' /etc/os-release | tr -d '\"'",
    "kernel": "uname -r",
    "processor": "sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1",
    "cores": "nproc",
    "memory": "sed -n 's/^MemTotal: *//p' /proc/meminfo",
    "mtu": "cat /sys/class/net/CARD/mtu",
    "mac": "cat /sys/class/net/CARD/address",
    "mpi": "mpichversion 2>/dev/null | sed -n 's/^MPICH Version:[[:space:]]*/MPICH /p' | head -n 1",
    "compiler": "cc --version 2>/dev/null | head -n 1",
    "hosts": "cat /etc/hosts",
}
SOFTWARE = ("system", "kernel", "mpi", "compiler")
Built = Mapping[str, Mapping[str, Any]]  # by node, what it answers


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """Ask every node what it is, and how it reaches every other node."""

    def steps(measurement: Measurement) -> None:
        with ThreadPoolExecutor(len(cluster.nodes)) as pool:
            answers = pool.map(partial(_ask, cluster), cluster.nodes)
            for node, facts in zip(cluster.nodes, answers, strict=True):
                measurement.points.append(Point({"node": node}, facts=facts))
                measurement.progress(len(measurement.points), len(cluster.nodes), f"asked {node}")

    return Plan(len(cluster.nodes), {"nodes": len(cluster.nodes)}, steps)


def _ask(cluster: Cluster, node: str) -> dict[str, Any]:
    """What one node answers, or why it does not."""
    peers = [each for each in cluster.nodes if each != node]
    try:
        card = cluster.interface(node)
        lines = [line.replace("CARD", card) for line in ASKED.values()]
        lines += [f"/sbin/ip -o route get {cluster.address(peer)}" for peer in peers]
        done = cluster.run(node, "; echo ---; ".join(lines), timeout_s=60)
    except LabError as trouble:
        return {"reached": False, "said": trouble.message}
    said = [text.strip() for text in done.stdout.split("---\n")]
    if len(said) != len(lines):
        return {"reached": False, "said": f"{node} does not answer"}
    facts: dict[str, Any] = dict(zip(ASKED, said, strict=False))
    facts["ways"] = dict(zip(peers, said[len(ASKED) :], strict=True))
    return {"reached": True, "card": card, "address": cluster.address(node), **facts}


def built(record: Record) -> Built:
    """The facts of each node that was reached."""
    return {p.at["node"]: p.facts for p in record.points if p.facts.get("reached")}


def four_nodes(record: Record) -> Judgement:
    """A master and three slaves."""
    nodes = record.cluster["nodes"]
    master, *slaves = nodes
    evidence = f"{master} is the master; its slaves: {', '.join(slaves) or 'none'}"
    return Judgement(
        "holds" if len(nodes) == PAPER_NODES else "contradicted",
        evidence,
        {"nodes": len(nodes)},
        hint=f"`beowulf up --nodes {PAPER_NODES}` boots as many as the paper has.",
    )


def every_node(fault: Callable[[Built, str], str], well: str) -> Callable[[Record], Judgement]:
    """The judge of a property of every node; `fault` says what is wrong with a node, "" if nothing is."""

    def judge(record: Record) -> Judgement:
        nodes = built(record)
        faults = [text for node in nodes if (text := fault(nodes, node))]
        numbers = {"well": len(nodes) - len(faults), "of": len(record.cluster["nodes"])}
        if faults:
            return Judgement("contradicted", "; ".join(faults), numbers)
        silent = [node for node in record.cluster["nodes"] if node not in nodes]
        if silent:
            return undecided(
                f"{', '.join(silent)} could not be asked", "`beowulf up` heals a local cluster."
            )
        here = "; all nodes are one machine" if on_one_machine(record.cluster) else ""
        return Judgement("holds", f"{well} on {len(nodes)} of {len(nodes)} nodes{here}", numbers)

    return judge


def _router(nodes: Built, node: str) -> str:
    behind = [peer for peer, way in nodes[node]["ways"].items() if " via " in way or not way]
    return f"{node} reaches {', '.join(behind)} through a router, or not at all" if behind else ""


def _public(nodes: Built, node: str) -> str:
    address = nodes[node]["address"]
    return "" if ip_address(address).is_private else f"{node} has the public address {address}"


def _unnamed(nodes: Built, node: str) -> str:
    """Which nodes a node's /etc/hosts lacks, and whether its own line is the first."""
    lines = [line.partition("#")[0].split() for line in nodes[node]["hosts"].splitlines()]
    lines = [line for line in lines if line]
    missing = [
        name
        for name, facts in nodes.items()
        if not any(line[0] == facts["address"] and name in line[1:] for line in lines)
    ]
    if missing:
        return f"{node}'s /etc/hosts has no line for {', '.join(missing)}"
    address, *names = lines[0]
    if address == nodes[node]["address"] and node in names:
        return ""
    return f"{node}'s /etc/hosts begins with {address} {' '.join(names)}"


def _no_mpich(nodes: Built, node: str) -> str:
    return "" if nodes[node]["mpi"] else f"a login to {node} finds no MPICH"


def _unlike(nodes: Built, node: str) -> str:
    first = next(iter(nodes.values()))
    other = [name for name in SOFTWARE if nodes[node][name] != first[name]]
    return "; ".join(f"{node}'s {name} is {nodes[node][name] or 'missing'}" for name in other)


def picture(record: Record) -> Figure:
    """What each node is made of: a row per node."""
    import pandas as pd

    from beowulf import figures

    nodes = built(record)
    faults = {"one network": _router, "private": _public, "names all": _unnamed}
    faults |= {"MPICH": _no_mpich, "same software": _unlike}
    cells = {
        (node, title): "ok" if not fault(nodes, node) else "no"
        for node in nodes
        for title, fault in faults.items()
    }
    drawn = figures.matrix(
        record.cluster["nodes"],
        list(faults),
        cells,
        title="What the cluster is made of",
        row_title="node",
        column_title="as in paper A",
    )
    columns = ("address", "card", "mac", "mtu", "processor", "cores", "memory", *SOFTWARE)
    rows = [{"node": node, **{c: facts[c] for c in columns}} for node, facts in nodes.items()]
    return Figure(drawn.drawing, drawn.title, drawn.alt, pd.DataFrame(rows))


STUDY = Study(
    id="A1",
    title="Building: what is this cluster made of?",
    plan=plan,
    judged=[
        built_in(
            "four-nodes",
            "The cluster has four nodes: a master and three slaves",
            four_nodes,
            place="section III, figure 8",
        ),
        built_in(
            "one-network",
            "Each node reaches each other one without a router, as through one switch",
            every_node(_router, "no router in between"),
            place="section III",
        ),
        built_in(
            "private-lan",
            "The nodes are on a private LAN",
            every_node(_public, "private"),
            place="abstract",
        ),
        built_in(
            "hosts-name-all",
            "Each node's /etc/hosts names all nodes, its own name first",
            every_node(_unnamed, "all names"),
            place="section III",
        ),
        built_in(
            "mpich",
            "MPI is MPICH, on each node",
            every_node(_no_mpich, "MPICH"),
            place="section III",
        ),
        Claim(
            "same-software",
            "All nodes have the same system, kernel, MPI and compiler",
            every_node(_unlike, "the same software"),
        ),
    ],
    draw=picture,
    timed=False,
    needs=(SEPARATE,),
    differs={
        "holds": {
            "": (
                "Today's nodes consist of the same parts as the paper's, a private network, an "
                "/etc/hosts with all names and one MPI, so the paper's cluster can be rebuilt with "
                "newer software."
            ),
            "namespaces": (
                "`beowulf up` built these nodes like the paper's, with one switch, private "
                "addresses, an /etc/hosts with all names, and MPICH, so this shows only that booting "
                "them worked."
            ),
        },
        "contradicted": (
            "The nodes differ from the paper's in a property that the builders chose, such as their "
            "number, their MPI or their software, so newer hardware is not the reason."
        ),
        "inconclusive": (
            "A node that does not answer does not report its parts, so the cluster may or may not be "
            "like the paper's."
        ),
    },
)
