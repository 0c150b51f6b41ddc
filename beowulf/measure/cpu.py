"""How much of a core each rank uses, read on its node while it runs, instead of off `top` by hand."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise

from beowulf.cluster import Cluster
from beowulf.errors import LabError

EVERY_S = 0.1
SETTLING_S = 0.4  # MPI_Init and calibration are left out
LONGEST_S = 120.0

# On a node: print that we look, wait for the program, then print in intervals the time and how long the program has
# computed, in ns.
WATCHER = """
import os, sys, time
name, every, longest = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
def used(pid):
    return int(open(f"/proc/{pid}/schedstat").read().split()[0])
def here(pid):
    # Where nodes are names of one machine, each sees the ranks of all: a rank's environment says whose it is.
    mine = os.environ.get("BEOWULF_NODE")
    if not mine:
        return True
    words = open(f"/proc/{pid}/environ").read().split(chr(0))
    given = dict(word.partition("=")[::2] for word in words)
    names = ("PMI_HOSTNAME", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME", "BEOWULF_NODE")
    node = next((given[each] for each in names if given.get(each, "").startswith("node")), "")
    return node == mine and given.get("BEOWULF_STATE") == os.environ.get("BEOWULF_STATE")
def process():
    for entry in os.listdir("/proc"):
        try:
            named = entry.isdigit() and open(f"/proc/{entry}/comm").read().strip() == name[:15]
            if named and here(entry):
                return entry
        except OSError:
            pass
print("looking", flush=True)
ends, pid, patience = time.monotonic() + longest, None, time.monotonic() + 20
while pid is None and time.monotonic() < patience:
    pid = process()
    time.sleep(0.01)
try:
    while pid and time.monotonic() < ends:
        print(time.monotonic_ns(), used(pid), flush=True)
        time.sleep(every)
except (OSError, IndexError):
    pass
"""


# CPU use of the rank on each node, in percent of one core: a sample for each tenth of a second.
Percents = dict[str, list[float]]


@contextmanager
def watched(cluster: Cluster, nodes: Sequence[str], program: str) -> Iterator[Percents]:
    """Within this context `program` is run; afterwards, its samples on each of `nodes` are there.

    LabError when the program was not seen on a node long enough.
    """
    use: Percents = {}
    line = shlex.join(["python", "-c", WATCHER, program, str(EVERY_S), str(LONGEST_S)])
    with ExitStack() as watching:
        watchers = {
            node: watching.enter_context(_started(cluster.shell(node, line))) for node in nodes
        }
        for watcher in watchers.values():
            assert watcher.stdout
            # The watcher looks now, so it sees a program from its beginning. A login may have printed something before.
            while watcher.stdout.readline() not in ("looking\n", ""):
                pass
        yield use
        for node, watcher in watchers.items():
            use[node] = percents(watcher.communicate()[0])
    for node, samples in use.items():
        if not samples:
            raise LabError(
                f"{program} was not seen long enough on {node} to measure its CPU use.",
                "Measure again; let it run for a second or more.",
                node,
            )


@contextmanager
def _started(words: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """A watcher; however the context ends, it is gone afterwards."""
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def percents(lines: str) -> list[float]:
    """From lines of "time used" in ns: the share of each interval, without how the program starts and ends."""
    readings = [
        (int(time), int(used)) for time, used in (line.split() for line in lines.splitlines())
    ]
    if not readings:
        return []
    settled = [pair for pair in readings if pair[0] - readings[0][0] >= SETTLING_S * 1e9][:-1]
    return [
        100.0 * (used - used_before) / (time - time_before)
        for (time_before, used_before), (time, used) in pairwise(settled)
        if time > time_before
    ]
