"""Whether a Record can carry a verdict: a noisy machine makes a claim inconclusive, not false."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from beowulf.measure.statistics import summary
from beowulf.record import Point, Record

FEWEST_SAMPLES = 30
FEWEST_QUICK = 10
# More programs wanted a core than there are cores, before ours began.
BUSY_SHARE = 1.0
WAITING_PERCENT = 20.0
# Medians of launches may differ by this share, or by the spread within a launch if that is more.
LAUNCHES_DIFFER = 0.05
# So large a share of the sweep's places may have launches that disagree: a burst of noise hits some.
PLACES_DIFFER = 0.2

NO_SAMPLES = "there are no samples"
MEND = "Close what else runs on this machine and measure again, without --quick if it was given."


def trouble(record: Record, quantity: str = "") -> list[str]:
    """Why no verdict may rest on this Record, a sentence each; empty when one may.

    With a `quantity`, only points of that one are looked at.
    """
    found = []
    if not record.complete:
        found.append("the measurement was cut short")
    points = [p for p in record.points if p.samples and quantity in ("", p.quantity)]
    points = [p for p in points if p.quantity != "first_message_s"]
    if not points:
        return [*found, NO_SAMPLES]
    found += _busy(record.circumstances.get("before", {}), "before the start")
    fewest = FEWEST_QUICK if record.sweep.get("quick") else FEWEST_SAMPLES
    places = _places(points)
    least = min(sum(len(p.samples) for p in each) for each in places.values())
    if least < fewest:
        found.append(f"a point has {least} samples, and {fewest} are needed")
    differ = [each for each in places.values() if _launches_differ(each)]
    if len(differ) > PLACES_DIFFER * len(places):
        found.append(
            f"launches of the same program differ at {len(differ)} of {len(places)} points"
            " by more than their own spread"
        )
    return found


def _busy(circumstances: dict[str, Any], when: str) -> list[str]:
    found = []
    load, cores = circumstances.get("load_1min"), circumstances.get("cores")
    if load is not None and cores and load > BUSY_SHARE * cores:
        found.append(f"the load {when} was {load:.1f} on {cores} cores")
    waiting = circumstances.get("waiting_for_a_core_percent_10s")
    if waiting is not None and waiting > WAITING_PERCENT:
        found.append(f"{when}, programs waited for a core {waiting:.0f} % of the time")
    return found


def _places(points: list[Point]) -> dict[str, list[Point]]:
    places = defaultdict(list)
    for point in points:
        at = {name: value for name, value in point.at.items() if name != "launch"}
        places[json.dumps([at, point.quantity], sort_keys=True)].append(point)
    return places


def _launches_differ(points: list[Point]) -> bool:
    if len(points) < 2:
        return False
    found = [summary(point.samples) for point in points]
    medians = [each.median for each in found]
    spread = max(each.q3 - each.q1 for each in found)
    return max(medians) - min(medians) > max(LAUNCHES_DIFFER * min(medians), 2 * spread)
