"""Sweeps of message sizes with roundtrip.c, in labs 04 and 05: their plan, and what their claims ask alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.measure.judgement import MOSTLY, SIMILAR, Agreement, narrower
from beowulf.measure.link_capacity import frame, mtu_of, payload_mbit_per_s
from beowulf.measure.measurement import Measurement
from beowulf.measure.mpptest import Mpptest
from beowulf.measure.roundtrips import (
    HALF,
    LAUNCHES,
    PASSES,
    QUANTITY,
    QUICK_LAUNCHES,
    QUICK_PASSES,
    SweepConfig,
    need_nodes,
    run,
)
from beowulf.measure.statistics import Ratio
from beowulf.measure.sweep import Curves, adaptive
from beowulf.record import Record
from beowulf.studies.quantity import Quantity, Seen
from beowulf.studies.study import Judgement, Plan

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from beowulf.figures import Figure

# Launches and passes of sweeps of short messages, which take seconds: ten times as many samples.
OFTEN, QUICK_OFTEN = (10, 30), (4, 30)
ROUNDS, QUICK_ROUNDS = 4, 2  # of refinement, in an adaptive sweep
MOST_SIZES, QUICK_MOST_SIZES = 64, 24
NEAR_THE_LINK = 0.05


def sweep(
    cluster: Cluster,
    config: SweepConfig,
    *,
    quick: bool = False,
    refined: bool = False,
    mpptest: Sequence[Mpptest] = (),
    often: bool = False,
) -> Plan:
    """Several launches, in each of which every run comes once, and then the sweeps in the way of `mpptest`.

    `refined`, the first launch finds the sizes: from those of `config` on, mpptest's adaptive way. `often` takes ten
    times as many samples.
    """
    compared = {ranks for _, ranks in config.runs} | {n for each in mpptest for n in each.ranks}
    in_a_launch = len(config.runs) + sum(len(each.ranks) for each in mpptest)
    need_nodes(cluster, max(compared))
    sizes = list(config.sizes)
    launches, passes = (QUICK_LAUNCHES, QUICK_PASSES) if quick else (LAUNCHES, PASSES)
    if often:
        launches, passes = QUICK_OFTEN if quick else OFTEN
    rounds = (QUICK_ROUNDS if quick else ROUNDS) if refined else 0

    def steps(measurement: Measurement) -> None:
        chosen = sizes
        measurement.compared_ranks = max(compared)
        for launch in range(launches):
            if refined and launch == 0:
                measurement.sweep["coarse"] = sizes
                chosen = _refined(measurement, config, sizes, passes, rounds)
                measurement.planned = measurement.done + launches * in_a_launch - len(config.runs)
            else:
                _launch(measurement, config, chosen, passes, launch)
            for each in mpptest:
                each.launch(measurement, passes, launch)

    about: dict[str, Any] = {"sizes": sizes, "launches": launches, "passes": passes}
    if config.overlap_bytes:
        about["overlap_bytes"] = list(config.overlap_bytes)
    if mpptest:
        about["mpptest"] = [each.about() for each in mpptest]
    return Plan(launches * in_a_launch + rounds * len(config.runs), about, steps)


# How the claims on equal calls say what `alike` asks.
ALIKE = "(we ask: within 10 % at over half of the places)"


def alike(times: Mapping[str, Ratio], record: Record) -> Judgement:
    """Whether non-blocking calls take as long as blocking ones at most places; an undecided one is no similar one."""
    agree = Agreement.of(times.values(), SIMILAR)
    place, most = max(times.items(), key=lambda each: abs(each[1].median - 1))
    return Judgement(
        agree.outcome(MOSTLY),
        f"{agree}; similar at more than half, and differing at no more than one of ten, is asked; the largest median:"
        f" non-blocking takes {most.median:.2f} times ({most.low:.2f} to {most.high:.2f}) at {place}",
        {
            "alike": agree.similar,
            "differ": agree.differ,
            "undecided": agree.undecided,
            "places": agree.places,
        },
        advice=narrower(record),
    )


def in_a_ring(of: Callable[[Any], pd.DataFrame], ranks: int, protocol: str) -> Quantity:
    """The rate of the longest message in a ring; `of` gives a table of rates of a study's facts."""

    def rate(facts: Any) -> Seen:
        rows = of(facts)
        longest = (rows["pattern"] == "ring") & (rows["size_bytes"] == rows["size_bytes"].max())
        rows = rows[longest & (rows["ranks"] == ranks) & (rows["protocol"] == protocol)]
        if rows.empty:
            raise LabError(
                "The Record has no times for the longest message in a ring.", "Measure again."
            )
        return Seen(*rows[["rate_mbit_per_s", "low", "high"]].to_numpy()[0])

    return Quantity(f"the longest message in a ring of {ranks}", rate, "Mbit/s")


def at_the_link(what: str, mbit_per_s: float, record: Record) -> Judgement:
    """Whether a rate of data is near what Ethernet, IP and TCP leave of the link."""
    left = payload_mbit_per_s(record.cluster)
    if left is None:
        return Judgement(
            "inconclusive",
            f"{what} {mbit_per_s:.1f} Mbit/s, and the links have no known rate",
            advice="Measure on a cluster with a rate, such as `beowulf up --rate 100mbit`.",
        )
    data, whole = frame(mtu_of(record.cluster))
    return Judgement(
        "holds" if abs(mbit_per_s - left) <= NEAR_THE_LINK * left else "contradicted",
        f"{what} {mbit_per_s:.1f} Mbit/s; headers leave {data} of every {whole} bytes, {left:.1f} Mbit/s,"
        f" and within {NEAR_THE_LINK:.0%} of that is asked",
        {"mbit_per_s": mbit_per_s, "left_mbit_per_s": left},
    )


def times_over_sizes(
    rows: pd.DataFrame,
    by: str,
    title: str,
    axes: Axes | None = None,
    *,
    of: str = "half round trip",
    **look: Any,
) -> Figure:
    """Half round trips over what is swept, a line for each value of `by`."""
    from beowulf import figures

    y_title = f"{of}, median with 95 % interval (µs)"
    return figures.over_sizes(rows, HALF, by, title=title, y_title=y_title, axes=axes, **look)


def rates_over_sizes(
    rows: pd.DataFrame,
    calls: pd.Series[str],
    title: str,
    axes: Axes,
    *,
    x: str = "size_bytes",
    **look: Any,
) -> Figure:
    """Rates over the size of the message, a line for each np and kind of call."""
    from beowulf import figures

    return figures.over_sizes(
        rows.assign(line="np " + rows["ranks"].astype(str) + ", " + calls),
        "rate_mbit_per_s",
        "line",
        x=x,
        title=title,
        y_title="rate, median with 95 % interval (Mbit/s)",
        y_log=figures.spans_decades(rows["rate_mbit_per_s"]),
        axes=axes,
        **look,
    )


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
