"""What else goes on while something is measured: it decides how far a figure may be trusted."""

from __future__ import annotations

import os
import platform
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

# More programs wanted a core than there are cores, before ours began.
BUSY_SHARE = 1.0
WAITING_PERCENT = 20.0
LISTEN_S, MOST_PROGRAMS, LEAST_CORES = 0.5, 3, 0.1  # of the programs that are named


def now() -> dict[str, Any]:
    """Load, processes that want a core, the share of time in which some had to wait for one, and free memory."""
    load = os.getloadavg()
    running = Path("/proc/loadavg").read_text().split()[3].partition("/")[0]
    return {
        "load_1min": load[0],
        "load_5min": load[1],
        "cores": len(os.sched_getaffinity(0)),
        "running_processes": int(running),
        "waiting_for_a_core_percent_10s": _pressure(),
        "memory_available_bytes": memory_available_bytes(),
        "involuntary_switches": _involuntary_switches(),
    }


def busy(before: dict[str, Any]) -> list[str]:
    """What these circumstances before a measurement say against it; a Record's warnings say the same, as sentences."""
    reasons = []
    load, cores = before.get("load_1min"), before.get("cores")
    if load is not None and cores and load > BUSY_SHARE * cores:
        reasons.append(f"the load before the start was {load:.1f} on {cores} cores")
    waiting = before.get("waiting_for_a_core_percent_10s")
    if waiting is not None and waiting > WAITING_PERCENT:
        reasons.append(f"programs had waited for a core {waiting:.0f} % of the time")
    return reasons


def running() -> dict[str, float]:
    """How many cores each of the busiest programs takes, by its name, watched for half a second."""
    before = _ticks()
    time.sleep(LISTEN_S)
    taken, a_core = _ticks() - before, LISTEN_S * os.sysconf("SC_CLK_TCK")
    busiest = {name: ticks / a_core for name, ticks in taken.most_common(MOST_PROGRAMS)}
    return {name: cores for name, cores in busiest.items() if cores >= LEAST_CORES}


def _ticks() -> Counter[str]:
    """The processor time of all processes, by their programs' names, in ticks of the kernel's clock."""
    found: Counter[str] = Counter()
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has just ended
            name, _, numbers = file.read_text(errors="replace").partition("(")[2].rpartition(")")
            # A thread of the kernel is called kworker/1:2-events.
            found[name.partition("/")[0]] += sum(map(int, numbers.split()[11:13]))
    return found


def versions() -> dict[str, str]:
    """The versions that a Record carries."""
    import importlib.metadata  # which takes as long to load as all the rest of a short command

    return {
        "beowulf-labs": importlib.metadata.version("beowulf-labs"),
        "python": platform.python_version(),
        "kernel": platform.release(),
        "machine": platform.machine(),
    }


def _pressure() -> float | None:
    try:
        line = Path("/proc/pressure/cpu").read_text().splitlines()[0]
    except OSError:
        return None  # not every kernel keeps it
    return float(line.split()[1].partition("=")[2])


def memory_available_bytes() -> int:
    """How much memory programs can still have, without swapping; 0 where the kernel does not say."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def _involuntary_switches() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("nonvoluntary_ctxt_switches:")[2].split()[0])
