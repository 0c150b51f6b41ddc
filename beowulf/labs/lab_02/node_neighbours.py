"""Programs of others that measure a row of the node benchmarks: where they are on a node, and what they print.

`perf bench` comes with Linux itself. LMBench is what paper A used: its licence lets nobody publish results of a
changed copy, so it is neither part of this project nor changed, and is run where it is installed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.labs.lab_02.node_rows import label
from beowulf.measure.measurement import Measurement
from beowulf.record import Point

PERF, LMBENCH = "perf bench", "lmbench"
TOOL, BESIDE = "tool", "beside"  # the coordinates of a Point that has a neighbour's figure

# Says on a node where a tool is: a line that stays empty when it is nowhere.
SEARCH = {
    PERF: "perf --version 2>/dev/null | grep -m 1 version || true",
    LMBENCH: (
        'for f in "$(command -v lat_syscall)" /usr/lib/lmbench/bin/lat_syscall'
        " /usr/lib/lmbench/bin/*/lat_syscall; do"
        ' [ -x "$f" ] && dirname "$f" && break; done; true'
    ),
}
LONGEST_S = 120.0
RATES = {"bytes": 1e-6, "KB": 2**10 / 1e6, "MB": 2**20 / 1e6, "GB": 2**30 / 1e6}


@dataclass(frozen=True)
class Neighbour:
    """How a tool measures a row: the command of a shell, and what to find in what it prints.

    `{mib}` stands for the size of the row's arrays, the other words in braces for how often (LONG, SHORT). Each match
    of `pattern` has a number, and behind it a unit if the tool prints several (RATES); several are averaged.
    """

    tool: str
    command: str
    pattern: str
    mean: bool = False  # the tool gives a mean of all repetitions; else the median of several tries


def _perf(command: str, pattern: str) -> Neighbour:
    return Neighbour(PERF, f"perf bench {command}", pattern, mean=True)


def _micro(command: str, says: str) -> Neighbour:
    return Neighbour(LMBENCH, command, rf"{says}: ([\d.]+) microseconds")


def _rate(command: str, says: str = r"^[\d.]+ ") -> Neighbour:
    return Neighbour(LMBENCH, command, rf"{says}([\d.]+)")


def _served(program: str, says: str, ends: str = "latency using localhost") -> Neighbour:
    """LMBench's own server on the loopback, which its client ends."""
    served = f"{program} -s && {program} localhost; {program} -S localhost"
    return _micro(served, f"{says} {ends}")


BESIDE_A_FILE = 'f=$(mktemp) && head -c {mib}M /dev/zero > "$f" && %s "$f"; rm -f "$f"'
BESIDE_4_MIB = BESIDE_A_FILE.replace("{mib}", "4")  # as large as the file of files.h

# By the label of the row. LMBench's exec and sh rows want a program that its own set-up compiles, its RPC rows a
# portmapper, its row of files takes minutes, and Debian's lat_fifo fails: they are left out. Of a semaphore it prints
# half of the round trip.
NEIGHBOURS: dict[str, Sequence[Neighbour]] = {
    "null call": (
        _perf("syscall basic -l {calls}", r"([\d.]+) usecs/op"),
        _micro("lat_syscall null", "Simple syscall"),
    ),
    "null I/O": (_micro("lat_syscall read; lat_syscall write", "Simple (?:read|write)"),),
    "stat": (_micro("lat_syscall stat /bin/sh", "Simple stat"),),
    "open/close": (_micro("lat_syscall open /bin/sh", "Simple open/close"),),
    "select": (_micro("lat_select -n 100 tcp", r"Select on 100 tcp fd's"),),
    "signal install": (_micro("lat_sig install", "Signal handler installation"),),
    "signal handle/catch": (_micro("lat_sig catch", "Signal handler overhead"),),
    "fork proc": (_micro("lat_proc fork", r"Process fork\+exit"),),
    "context switch (2 processes)": (_rate("lat_ctx -s 0 2", r"^2 "),),
    "context switch (ring of 4)": (_rate("lat_ctx -s 0 4", r"^4 "),),
    "TCP connect": (_served("lat_connect", "TCP/IP connection cost to", ends="localhost"),),
    "mmap": (_rate(BESIDE_4_MIB % "lat_mmap 4m"),),
    "page fault": (_micro(BESIDE_4_MIB % "lat_pagefault", r"Pagefaults on \S+"),),
    "pipe": (
        _perf("sched pipe -l {trips}", r"([\d.]+) usecs/op"),
        _micro("lat_pipe", "Pipe latency"),
    ),
    "AF UNIX": (_micro("lat_unix", "AF_UNIX sock stream latency"),),
    "UDP": (_served("lat_udp", "UDP"),),
    "TCP": (_served("lat_tcp", "TCP"),),
    "pipe bandwidth": (_rate("bw_pipe", "Pipe bandwidth: "),),
    "AF UNIX bandwidth": (_rate("bw_unix", "AF_UNIX sock stream bandwidth: "),),
    "TCP bandwidth": (_rate("bw_tcp -s && bw_tcp -m 65536 localhost; bw_tcp -S localhost"),),
    "file reread": (_rate(BESIDE_A_FILE % "bw_file_rd {mib}m io_only"),),
    "Mmap reread": (_rate(BESIDE_A_FILE % "bw_mmap_rd {mib}m mmap_only"),),
    "Bcopy (libc)": (
        _perf("mem memcpy -f default -s {mib}MB -l {copies}", r"([\d.]+) (bytes|KB|MB|GB)/sec"),
        _rate("bw_mem {mib}m bcopy"),
    ),
    "Bcopy (hand)": (_rate("bw_mem {mib}m fcp"),),
    "mem read": (_rate("bw_mem {mib}m frd"),),
    "mem write": (_rate("bw_mem {mib}m fwr"),),
}
# How often, and how much is copied in all.
LONG = {"calls": 3_000_000, "trips": 60_000, "mib": 4096}
SHORT = {"calls": 500_000, "trips": 30_000, "mib": 512}
SHORT_INTERVAL = (
    "ENOUGH=5000"  # LMBench's own setting; it otherwise finds out how many microseconds are enough
)


def installed(cluster: Cluster, node: str) -> dict[str, str]:
    """The tools that a node has, each with its version or folder."""
    found = {
        tool: cluster.run(node, search, timeout_s=LONGEST_S).stdout.strip()
        for tool, search in SEARCH.items()
    }
    return {tool: where for tool, where in found.items() if where}


def command(neighbour: Neighbour, where: str, size: int, *, quick: bool = False) -> str:
    """The command of a shell, for arrays of `size` bytes; `where` is what installed() gives for the tool."""
    often, mib = SHORT if quick else LONG, max(size >> 20, 1)
    numbers = {**often, "mib": mib, "copies": max(often["mib"] // mib, 1)}
    line = neighbour.command.format(**numbers)
    if neighbour.tool != LMBENCH:
        return line
    interval = f"export {SHORT_INTERVAL}; " if quick else ""
    return f"{interval}PATH={shlex.quote(where)}:$PATH; {line}"


def read(neighbour: Neighbour, printed: str) -> float:
    """The figure in what a neighbour printed, in the row's unit; LabError when there is none."""
    matches = list(re.finditer(neighbour.pattern, printed, re.MULTILINE))
    values = [
        float(match[1]) * (RATES[match[2]] if match.re.groups > 1 else 1) for match in matches
    ]
    if not values or min(values) <= 0:
        last = " / ".join(printed.strip().splitlines()[-2:]) or "nothing"
        raise LabError(f"{neighbour.tool} printed no figure but: {last}")
    return fmean(values)


def beside(
    measurement: Measurement,
    lines: Sequence[Mapping[str, Any]],
    at: Mapping[str, Any],
    tools: Mapping[str, str],
    *,
    quick: bool,
) -> None:
    """Keep what the tools of a node find for the rows that a program just measured, beside ours.

    `lines` are all that the program printed, `at` says which program on which node in which launch, `tools` is
    what installed() gives for this node.
    """
    for result in [line for line in lines if line["kind"] == "result"]:
        name = label(at["program"], result["row"])
        samples = [x for x in lines if x["kind"] == "sample" and x.get("row") == result["row"]]
        for neighbour in [each for each in NEIGHBOURS.get(name, ()) if each.tool in tools]:
            where, size = tools[neighbour.tool], samples[0].get("size_bytes", 0)
            line = command(neighbour, where, size, quick=quick)
            done = measurement.cluster.run(at["node"], line, timeout_s=LONGEST_S)
            try:
                # LMBench prints its results on stderr.
                theirs = read(neighbour, done.stdout + done.stderr)
            except LabError as trouble:
                if (said := f"{at['node']}, {name}: {trouble}") not in measurement.warnings:
                    measurement.warnings.append(said)
                continue
            ours = mean_figure(samples) if neighbour.mean else float(result["median"])
            place = {TOOL: neighbour.tool, BESIDE: name, "node": at["node"], "launch": at["launch"]}
            measurement.points.append(Point(place, facts={"theirs": theirs, "ours": ours}))


def mean_figure(samples: Sequence[Mapping[str, Any]]) -> float:
    """The mean of all repetitions in microseconds, or MB/s where they moved bytes."""
    repetitions = sum(line["repetitions"] for line in samples)
    us = 1e6 * float(sum(line["seconds"] for line in samples)) / repetitions
    size = samples[0].get("size_bytes")
    return float(size / us if size else us)
