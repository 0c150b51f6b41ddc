"""Several things measured in turns in one run, and whether the machine was quiet."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psutil  # type: ignore[import-untyped]

from benchmarks.result import Findings
from beowulf.this_machine import host_state
from beowulf.this_machine.progress import Progress

# What the last run leaves to the kernel, such as the end of its namespaces, is over by then.
SETTLE_S = 0.2
LISTEN_S = 0.1
BUSY_PERCENT = 25.0
MOST_BUSY_PAUSES = 0.25

# Runs something once; returns the seconds of each thing that it timed, by name.
Side = Callable[[], Mapping[str, float]]


def interleave(
    sides: Mapping[str, Side], rounds: int, seed: int, progress: Progress, *, warm_up: int = 1
) -> Findings:
    """Run every side once a round, in an order drawn for each round (`seed`); the warm-up rounds do not count."""
    draw = random.Random(seed)
    taken = Findings()
    runs = (warm_up + rounds) * len(sides)
    done = 0
    for number in range(warm_up + rounds):
        for name in draw.sample(list(sides), len(sides)):
            progress(done, runs, name)
            busy = busy_percent()
            seconds_by_quantity = sides[name]()
            done += 1
            if number < warm_up:
                continue
            taken.busy_percent.append(busy)
            for quantity, seconds in seconds_by_quantity.items():
                taken.samples.setdefault(quantity, []).append(seconds)
    return taken


def busy_percent() -> float:
    """The share of all cores' time that other processes took, in one of our pauses; stolen time counts."""
    time.sleep(SETTLE_S)
    shares = psutil.cpu_times_percent(LISTEN_S)
    return 100.0 - float(shares.idle) - float(shares.iowait)


def noise(before: Mapping[str, Any], busy: Sequence[float]) -> str:
    """Why the machine was too noisy to rely on figures, before the start or in the pauses; empty when it was quiet."""
    reasons = host_state.busy(dict(before))
    loud = sum(percent > BUSY_PERCENT for percent in busy)
    if busy and loud / len(busy) > MOST_BUSY_PAUSES:
        reasons.append(
            f"in {loud} of {len(busy)} pauses others took more than {BUSY_PERCENT:.0f} % of the cores"
        )
    return "; ".join(reasons)
