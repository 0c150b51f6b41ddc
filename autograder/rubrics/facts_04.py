"""What lab 04's rubric reads from Records: rates by nodes, a learner's own times and their fits, patience."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import numpy as np

from autograder.rubrics.own_plots import Curves
from autograder.rubrics.record_facts import Facts, each_read
from autograder.rubrics.submission import Submission
from beowulf.errors import LabError
from beowulf.labs.lab_04 import a7_rate_by_nodes, own_roundtrip
from beowulf.measure.roundtrips import EXCHANGE, HALF
from beowulf.record import Record

PATIENCE = "patience"  # the variant of A7 that the notebook's cell measures
OWN = own_roundtrip.VARIANTS["blocking"]
FEWEST_SIZES = 3
RING, RATE = (2, 3, 4), "rate_mbit_per_s"


def by_nodes(record: Record) -> Facts:
    """Of a whole A7: where a pair saturates, with the steps of the sweep beside it, and four nodes' rate over two's."""
    facts = a7_rate_by_nodes.Facts.of(record)
    for pattern, ranks in a7_rate_by_nodes.RUNS:
        for protocol in a7_rate_by_nodes.PROTOCOLS:
            if len(facts.line(pattern, ranks, protocol)) < FEWEST_SIZES:
                raise LabError(
                    f"the pattern {pattern} with np {ranks}, {protocol}, has fewer than {FEWEST_SIZES} sizes"
                )
    pair = facts.line("pairs", 2, "blocking")[RATE]
    sizes = [int(size) for size in pair.index]
    saturates = a7_rate_by_nodes.saturation_bytes(pair)
    place = sizes.index(saturates)
    two, four = (
        {p: facts.line("ring", n, p)[RATE].iloc[-1] for p in a7_rate_by_nodes.PROTOCOLS}
        for n in (2, 4)
    )
    return {
        "saturation_bytes": saturates,
        "low_bytes": sizes[max(place - 1, 0)],
        "high_bytes": sizes[min(place + 1, len(sizes) - 1)],
        **{protocol: float(four[protocol] / two[protocol]) for protocol in four},
    }


def ring_rates(submission: Submission) -> Iterator[tuple[str, Curves]]:
    """Of each A7 the rates of the rings by size, blocking or non-blocking: what a plot may show."""
    for record, facts in each_read(a7_rate_by_nodes.Facts.of, submission.measured("A7")):
        for protocol in a7_rate_by_nodes.PROTOCOLS:
            lines = [facts.line("ring", ranks, protocol)[RATE] for ranks in RING]
            if all(len(line) >= FEWEST_SIZES for line in lines):
                yield (
                    record.file_name,
                    [dict(zip(line.index.astype(float), line, strict=True)) for line in lines],
                )


def own_times(record: Record) -> Curves:
    """The medians by size (µs) of a learner's own round trips, and those of C beside them."""
    found = []
    for language in (own_roundtrip.OWN, own_roundtrip.C):
        samples: dict[float, list[float]] = {}
        for point in record.select(language=language):
            if point.quantity == HALF:
                samples.setdefault(float(point.at["size_bytes"]), []).extend(point.samples)
        found.append({size: median(samples[size]) for size in sorted(samples) if samples[size]})
    if min(map(len, found)) < FEWEST_SIZES:
        raise LabError(f"it has fewer than {FEWEST_SIZES} sizes for your function or for C")
    return found


def fits(record: Record) -> Facts:
    """alpha and 1 / beta of a learner's own medians, fitted as np.polyfit does it without weights and with 1 / y."""
    own, _ = own_times(record)
    size, time_us = np.array(list(own)), np.array(list(own.values()))
    _, plain_alpha = np.polyfit(size, time_us, 1)
    slope, alpha = np.polyfit(size, time_us, 1, w=1 / time_us)
    if slope <= 0:
        raise LabError("its times do not rise with the size")
    return {
        "plain_alpha_us": float(plain_alpha),
        "weighted_alpha_us": float(alpha),
        "weighted_bandwidth_bytes_per_us": float(1 / slope),
        "half_rate_bytes": float(alpha / slope),
    }


def impatience(record: Record) -> Facts:
    """How often an exchange without patient polling takes as long as one with it."""
    both = []
    for wish in ("never", "auto"):
        points = [p for p in record.select(patience=wish) if p.quantity == EXCHANGE]
        if not any(point.samples for point in points):
            raise LabError("it does not hold exchanges both with and without patience")
        both.append(median([sample for point in points for sample in point.samples]))
    return {"impatience_times": float(both[0] / both[1])}
