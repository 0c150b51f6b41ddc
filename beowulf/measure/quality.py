"""Whether a Record can carry a verdict: a noisy machine makes a claim inconclusive, not false."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import combinations

import numpy as np

from beowulf.record import Point, Record

FEWEST_SAMPLES = 30
FEWEST_QUICK = 10
# Medians of launches may differ by this share, whatever the spread within a launch.
LAUNCHES_DIFFER = 0.05
# With fewer samples a launch has no spread that another launch could be held against.
FEWEST_OF_A_LAUNCH = 5
# An interval that draws among so many launches is as wide as they differ; with fewer it can be too narrow.
ENOUGH_LAUNCHES = 6
# So large a share of the sweep's places may have launches that disagree: a burst of noise hits some.
PLACES_DIFFER = 0.2

# How a warning begins that makes a Record incomplete though it was measured to its end (beowulf/measure/watched.py).
CHANGED = "The cluster was "
NO_SAMPLES = "there are no samples"


def trouble(
    record: Record, quantity: str = "", similar_within: float = 0.0, enough: int = 0
) -> list[str]:
    """Why no verdict may rest on this Record, a sentence each; empty when one may.

    With a `quantity`, only points of that one are looked at; launches whose medians differ by at most
    `similar_within` of its unit count as similar, because no claim of the study could come out otherwise. `enough`
    is how many samples a point needs where one takes minutes; 0 for as many as usual.
    """
    reasons = []
    if not record.complete:
        reasons.append(cut_short(record))
    points = [p for p in record.points if p.samples and quantity in ("", p.quantity)]
    points = [p for p in points if p.quantity != "first_message_s"]
    if not points:
        return [*reasons, NO_SAMPLES]
    reasons += record.load_before
    fewest = enough or (FEWEST_QUICK if record.sweep.get("quick") else FEWEST_SAMPLES)
    places = _places(points)
    least = min(sum(len(p.samples) for p in each) for each in places.values())
    if least < fewest:
        reasons.append(f"a point has {least} samples, and {fewest} are needed")
    differ = [each for each in places.values() if _launches_differ(each, similar_within)]
    if len(differ) > PLACES_DIFFER * len(places):
        reasons.append(
            f"launches of the same program differ at {len(differ)} of {len(places)} points"
            " by more than their own spread"
        )
    return reasons


def cut_short(record: Record) -> str:
    """Why a Record is not complete, in a few words."""
    for warning in record.warnings:
        if warning.startswith(CHANGED):
            return warning[0].lower() + warning[1:].rstrip(".")
    return "the measurement was cut short"


def _places(points: list[Point]) -> dict[str, list[Point]]:
    places = defaultdict(list)
    for point in points:
        at = {name: value for name, value in point.at.items() if name != "launch"}
        places[json.dumps([at, point.quantity], sort_keys=True)].append(point)
    return places


def _launches_differ(points: list[Point], similar_within: float) -> bool:
    """Whether some two launches differ by more than matters, and by more than the spread of both.

    The interval of a median is too narrow where a few launches differ, and right enough where there are more of them,
    or where their middle halves overlap. The quartiles of 5 samples or more make two launches
    of the same kind differ at one place of twenty by chance, those of 10 at one of two hundred.
    """
    if len(points) >= ENOUGH_LAUNCHES:
        return False
    quartiles = [
        np.percentile(point.samples, (25, 50, 75))
        for point in points
        if len(point.samples) >= FEWEST_OF_A_LAUNCH
    ]
    for (low, median, high), (other_low, other, other_high) in combinations(quartiles, 2):
        matters = max(LAUNCHES_DIFFER * min(median, other), similar_within)
        if abs(median - other) > max(matters, (high - low) + (other_high - other_low)):
            return True
    return False
