"""The checks of A2: the configuration of each node, the connection of each pair, MPI on all nodes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from beowulf import mpi, paths
from beowulf.cluster import Cluster, Completed
from beowulf.errors import LabError
from beowulf.record import Point

LAB = "01-validation"
TRANSFER_BYTES = 1_000_000
PINGS = 3
HELLO = re.compile(r"^rank (\d+) of (\d+) on (\S+)$")
HOP = re.compile(r"^rank (\d+) on (\S+) got the token from rank \d+, hops (\d+)$")
CONFIGURATION = "hostname; uname -r; nproc; sed -n 's/^MemTotal: *//p' /proc/meminfo; hostname -I; cat /etc/hosts"
PERFORMANCE = "cut -d' ' -f1 /proc/loadavg; sed -n 's/^MemAvailable: *//p' /proc/meminfo; ls -d /proc/[0-9]* | wc -l"


def ask_node(cluster: Cluster, node: str) -> list[Point]:
    """Points of one node: its configuration, its routes and, if it answers, its load."""
    at = {"node": node}
    configuration = _ask(cluster, node, CONFIGURATION)
    routes = _ask(cluster, node, "ip route")
    performance = _ask(cluster, node, PERFORMANCE)
    lines = configuration.stdout.splitlines()
    facts: dict[str, Any] = {"reached": not configuration.returncode, "said": _last(configuration)}
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
    if performance.returncode == 0:
        load, available, *_, processes = performance.stdout.split()
        busy = {
            "load_1min": float(load),
            "memory_available_bytes": int(available) * 1024,
            "processes": int(processes),
        }
        points.append(Point({"check": "performance", **at}, facts=busy))
    return points


def ask_peers(cluster: Cluster, node: str) -> list[Point]:
    """Points of one node with each other node: the address of its name, ping, and a login by ssh."""
    points = []
    for peer in (each for each in cluster.nodes if each != node):
        at = {"node": node, "peer": peer}
        name = _ask(cluster, node, f"getent ahostsv4 {peer} | head -n 1")
        asked = name.returncode == 0
        address = name.stdout.split()[0] if name.stdout.split() else ""
        facts = {"asked": asked, "address": address, "expected": cluster.address(peer)}
        points.append(Point({"check": "resolve", **at}, facts=facts))

        pings = _ask(cluster, node, f"ping -n -c {PINGS} -i 0.2 -W 1 {peer}")
        times = [float(text) for text in re.findall(r" time=([0-9.]+) ms", pings.stdout)]
        facts = {"asked": asked, "reached": bool(times), "said": _last(pings)}
        points.append(Point({"check": "ping", **at}, "round_trip_ms", times, facts))

        # ssh's messages go to stdout, so that a refusal by `peer` differs from one by `node`.
        login = _ask(cluster, node, f"ssh {peer} hostname 2>&1 && echo well")
        reached = login.stdout.split()[-1:] == ["well"]
        answer = [line for line in login.stdout.splitlines() if line not in ("", "well")]
        last = answer[-1] if answer else _last(login)
        # A login may print something before the host name, even on the same line.
        facts = {"asked": asked, "reached": reached, "said": last.split()[-1] if reached else last}
        samples = [login.elapsed_s] if reached else []
        points.append(Point({"check": "ssh", **at}, "login_s", samples, facts))
    return points


def transfer(cluster: Cluster, node: str, peer: str) -> Point:
    """Whether a million bytes arrive intact through ssh, and how many arrive per second."""
    script = (
        f"head -c {TRANSFER_BYTES} /dev/urandom > /dev/shm/payload; sha256sum < /dev/shm/payload;"
        f" began=$EPOCHREALTIME; ssh {peer} sha256sum < /dev/shm/payload 2>&1;"
        " ended=$EPOCHREALTIME; rm /dev/shm/payload; echo $began $ended"
    )
    done = _ask(cluster, node, script)
    lines = done.stdout.splitlines()
    # A login by ssh may print more than the sum.
    intact = len(lines) >= 3 and lines[-2].endswith(lines[0])
    said = "" if intact else (lines[-2] if len(lines) >= 3 else _last(done))
    samples = []
    if intact:
        began, ended = (float(word) for word in lines[-1].split())
        samples = [TRANSFER_BYTES / (ended - began)]
    # The first line comes from the node that sends: without it, that node could not be asked.
    asked = bool(lines)
    facts = {"asked": asked, "intact": intact, "bytes": TRANSFER_BYTES, "said": said}
    at = {"check": "transfer", "node": node, "peer": peer}
    return Point(at, "transfer_bytes_per_s", samples, facts)


def run(cluster: Cluster, name: str, read: Callable[[Cluster, list[str]], dict[str, Any]]) -> Point:
    """Whether one of the lab's programs runs with a rank on every node; `read` judges its output."""
    ranks = len(cluster.nodes)
    at = {"check": f"mpi-{name}", "ranks": ranks}
    source = paths.lab(LAB) / f"{name}.c"
    with TemporaryDirectory(prefix="beowulf-", ignore_cleanup_errors=True) as scratch:
        try:
            library = str(cluster.describe().get("mpi", "classic"))
            program = mpi.build(source, library=library, output=Path(scratch) / name)
            done = mpi.launch(cluster, program, ranks, timeout_s=60, folder=Path(scratch))
        except LabError as trouble:
            return Point(at, facts={"ok": False, "lines": [], "said": trouble.message})
    lines = done.stdout.splitlines()
    facts = {"lines": lines, **read(cluster, lines)}
    if done.returncode:
        facts |= {"ok": False, "said": mpi.failure(mpi.Launch(**vars(done)), name)}
    return Point(at, "launch_s", [done.elapsed_s], facts)


def hello(cluster: Cluster, lines: list[str]) -> dict[str, Any]:
    """The node of each rank, and whether each node had one."""
    by_rank = {int(m[1]): m[3] for m in map(HELLO.match, lines) if m}
    hosts = [by_rank.get(rank, "") for rank in range(len(cluster.nodes))]
    ok = sorted(hosts) == sorted(cluster.nodes)
    said = "" if ok else f"the ranks were on: {', '.join(hosts)}"
    return {"hosts": hosts, "ok": ok, "said": said}


def ring(cluster: Cluster, lines: list[str]) -> dict[str, Any]:
    """The path of the token, and whether it came home."""
    ranks = len(cluster.nodes)
    hops = sorted((int(m[3]), int(m[1]), m[2]) for m in map(HOP.match, lines) if m)
    home = f"the token came home after {ranks} hops"
    ok = [hop for hop, _, _ in hops] == list(range(1, ranks + 1)) and home in lines
    said = "" if ok else f"the token made {len(hops)} of {ranks} hops"
    return {"hops": [[rank, host] for _, rank, host in hops], "ok": ok, "said": said}


def _ask(cluster: Cluster, node: str, command: str) -> Completed:
    try:
        return cluster.run(node, command, timeout_s=60)
    except LabError as trouble:
        return Completed(255, "", trouble.message, 0.0)


def _last(done: Completed) -> str:
    lines = (done.stderr or "").strip().splitlines()
    return lines[-1] if lines else ""
