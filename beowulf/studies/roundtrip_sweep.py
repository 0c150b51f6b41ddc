"""A sweep of message sizes with roundtrip.c: the plan that several studies of labs 04 and 05 share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beowulf.cluster import Cluster
from beowulf.measure.measurement import Measurement
from beowulf.measure.mpptest import Mpptest
from beowulf.measure.roundtrips import (
    LAUNCHES,
    PASSES,
    QUANTITY,
    QUICK_LAUNCHES,
    QUICK_PASSES,
    SweepConfig,
    need_nodes,
    run,
)
from beowulf.measure.sweep import Curves, adaptive
from beowulf.studies.study import Plan

ROUNDS, QUICK_ROUNDS = 4, 2  # of refinement, in an adaptive sweep
MOST_SIZES, QUICK_MOST_SIZES = 64, 24


def sweep(
    cluster: Cluster,
    config: SweepConfig,
    *,
    quick: bool = False,
    refined: bool = False,
    mpptest: Mpptest | None = None,
) -> Plan:
    """Several launches, in each of which every run comes once, and then the sweep in the way of `mpptest`.

    `refined`, the first launch finds the sizes: from those of `config` on, mpptest's adaptive way.
    """
    ranks = max(ranks for _, ranks in config.runs)
    in_a_launch = len(config.runs) + (len(mpptest.ranks) if mpptest else 0)
    need_nodes(cluster, ranks)
    sizes = list(config.sizes)
    launches, passes = (QUICK_LAUNCHES, QUICK_PASSES) if quick else (LAUNCHES, PASSES)
    rounds = (QUICK_ROUNDS if quick else ROUNDS) if refined else 0

    def steps(measurement: Measurement) -> None:
        chosen = sizes
        for launch in range(launches):
            if refined and launch == 0:
                measurement.sweep["coarse"] = sizes
                chosen = _refined(measurement, config, sizes, passes, rounds)
                measurement.planned = measurement.done + launches * in_a_launch - len(config.runs)
            else:
                _launch(measurement, config, chosen, passes, launch)
            if mpptest:
                mpptest.launch(measurement, passes, launch)

    about: dict[str, Any] = {"sizes": sizes, "launches": launches, "passes": passes}
    if config.overlap_bytes:
        about["overlap_bytes"] = list(config.overlap_bytes)
    if mpptest:
        about["mpptest"] = mpptest.about()
    return Plan(launches * in_a_launch + rounds * len(config.runs), about, steps)


def _refined(
    measurement: Measurement, config: SweepConfig, sizes: Sequence[int], passes: int, rounds: int
) -> list[int]:
    """Do the first launch in rounds, each of which measures the sizes that the last one asks for."""

    def measured(wanted: list[int]) -> Curves:
        _launch(measurement, config, wanted, passes, 0)
        measurement.sweep["sizes"] = sorted({*measurement.sweep["sizes"], *wanted})
        return _least(measurement, set(wanted))

    most = QUICK_MOST_SIZES if measurement.quick else MOST_SIZES
    adaptive(sizes, measured, rounds=rounds, most=max(most, len(sizes)))
    return list(measurement.sweep["sizes"])


def _least(measurement: Measurement, sizes: set[int]) -> Curves:
    """The smallest time of each of these sizes, for everything that was measured at it."""
    curves: Curves = {}
    for point in measurement.points:
        if point.quantity not in QUANTITY.values() or point.at["size_bytes"] not in sizes:
            continue
        at = {name: value for name, value in point.at.items() if name != "size_bytes"}
        curves.setdefault(tuple(at.items()), {})[point.at["size_bytes"]] = min(point.samples)
    return curves


def _launch(
    measurement: Measurement, config: SweepConfig, sizes: Sequence[int], passes: int, launch: int
) -> None:
    for pattern, ranks in config.runs:
        run(
            measurement,
            ranks,
            sizes,
            pattern=pattern,
            protocols=config.protocols,
            passes=passes,
            launch=launch,
            overlap_bytes=config.overlap_bytes,
        )
