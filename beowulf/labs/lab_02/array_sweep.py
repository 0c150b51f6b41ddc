"""Lab 02's sweep: a learner's own function times copies of arrays of many sizes.

A Record of A3 with the variant `sweep`. Each pass goes over all sizes in shuffled order, and numpy times our copy
alongside each call of the learner's function.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf import figures
from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises import own_plot
from beowulf.exercises.exercise import Exercise
from beowulf.labs.lab_02 import on_node
from beowulf.labs.lab_02.on_first_node import about, tried
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.engines import Engines

STUDY, VARIANT = "A3", "sweep"
EXERCISE = Exercise(STUDY, VARIANT)
NAME = "copy_us"
QUANTITY = "copy_us"
OWN, OURS = "own", "numpy"
# The smallest array of a sweep fits into the first cache, the largest into none.
SMALL, LARGE, LARGEST = 8 * 1024, 64 * 1024**2, 256 * 1024**2
FEWEST_SIZES, MOST_SIZES = 12, 60
WIDEST_STEP = 4
FEWEST_SAMPLES = 11
# How far the learner's best may be from ours, and the share of sizes at which it has to be near.
TIMES_OURS, NEAR = 2.0, 0.75
LONGEST_S = 300.0
PLOT = "bandwidth"
WANTS = own_plot.Wants(
    x="size of the array in bytes", y="bandwidth in MB/s", log_x=True, points=FEWEST_SIZES
)
FEWEST_CACHES = 2  # that the plot names: the first one hardly shows


def size_fault(sizes: Any) -> str:
    """What is wrong with a list of sizes, in a sentence; "" if it shows every cache."""
    if sizes is None or sizes is Ellipsis:
        return "the list of sizes is not written yet"
    try:
        numbers = [int(size) for size in sizes]
    except (TypeError, ValueError):
        return f"sizes is a list of whole numbers of bytes, not {type(sizes).__name__}"
    if min(numbers, default=0) < 1:
        return "each size must be at least 1 byte"
    if len(set(numbers)) < FEWEST_SIZES:
        return f"{len(set(numbers))} sizes are too few for a curve; take {FEWEST_SIZES} or more"
    if len(set(numbers)) > MOST_SIZES:
        return f"{len(set(numbers))} sizes take too long; take {MOST_SIZES} or fewer"
    if min(numbers) > SMALL:
        return f"the smallest size is {min(numbers):,} bytes; take {SMALL:,} or less, which fits into every first cache"
    if max(numbers) < LARGE:
        return f"the largest size is {max(numbers):,} bytes; take {LARGE:,} or more, because caches are large today"
    if max(numbers) > LARGEST:
        return f"the largest size is {max(numbers):,} bytes; {LARGEST:,} are enough, and there are two arrays"
    if max(large / small for small, large in pairwise(sorted(set(numbers)))) > WIDEST_STEP:
        return f"neighbouring sizes differ by more than a factor of {WIDEST_STEP}: a cache may end between them"
    return ""


def measure(engines: Engines, sizes: Any, name: str = NAME) -> Record:
    """Call the function `name` on the first node's engine with each of these sizes, and save the Record.

    The Record reports in sentences what is wrong with the sizes or the function.
    """
    cluster = engines.cluster
    folder, node = cluster.records or Path("records"), cluster.nodes[0]
    sweep: dict[str, Any] = {"exercise": name, "nodes": [node], "why": size_fault(sizes)}
    program: dict[str, Any] = {}
    with Measurement(STUDY, cluster, folder, sweep=sweep) as session:
        if not sweep["why"]:
            ordered, seed = sorted({int(size) for size in sizes}), random.randrange(2**31)
            task = on_node.compared.__name__
            found = tried(engines, task, name, ordered, seed, timeout_s=LONGEST_S)
            program = about(name, found)
            session.sweep |= {"sizes": ordered, "seed": seed, "why": found["why"]}
            for one in found["passes"]:
                at = {"node": node, "size_bytes": one["size_bytes"]}
                for loop in (OWN, OURS):
                    session.add({**at, "loop": loop}, QUANTITY, one[loop])
    record = session.record()
    record.program = program
    print(*lines(record), sep="\n")
    return EXERCISE.keep(record, folder, half=True)


def copies(record: Record) -> list[Point]:
    """The learner's own samples, one Point per size, the smallest first."""
    own = [p for p in record.select(loop=OWN) if p.quantity == QUANTITY and p.samples]
    return sorted(own, key=lambda point: int(point.at["size_bytes"]))


def ratios(record: Record) -> dict[int, float]:
    """By size, the learner's best time divided by our copy's best."""
    ours = {p.at["size_bytes"]: min(p.samples) for p in record.select(loop=OURS) if p.samples}
    own = {point.at["size_bytes"]: min(point.samples) for point in copies(record)}
    return {size: own[size] / ours[size] for size in sorted(own) if ours.get(size)}


def sample_fault(record: Record) -> str:
    """Why there are no samples, or too few, in a sentence; "" where there are enough."""
    if record.sweep.get("why"):
        return str(record.sweep["why"])
    counts = [len(point.samples) for point in copies(record)]
    if min(counts, default=0) < FEWEST_SAMPLES:
        return f"a size has {min(counts, default=0)} samples; at least {FEWEST_SAMPLES} are needed"
    return ""


def copy_fault(record: Record) -> str:
    """What is wrong with the times, in a sentence; "" if they fit copies of these sizes."""
    if fault := sample_fault(record):
        return fault
    times = ratios(record)
    if not times:
        return "there is nothing to compare the copies with"
    near = [size for size, each in times.items() if 1 / TIMES_OURS <= each <= TIMES_OURS]
    if len(near) >= NEAR * len(times):
        return ""
    smallest, largest = min(times), max(times)
    at_large = float(np.median([each for size, each in times.items() if size >= LARGE // 4]))
    if times[largest] < 0.1:
        return f"{largest:,} bytes take hardly longer than {smallest:,}: is anything copied?"
    if at_large > 4:
        return (
            f"large copies take {at_large:.2g} times as long as ours: does the array hold"
            " numbers of 8 bytes instead of bytes?"
        )
    if at_large > TIMES_OURS:
        return (
            f"large copies take {at_large:.2g} times as long as ours: do you create an array"
            " in the timed function?"
        )
    if at_large < 1 / TIMES_OURS:
        return f"large copies take {at_large:.2g} times as long as ours: how large are the arrays?"
    return f"small copies take {times[smallest]:.2g} times as long as ours: what else do you time?"


def lines(record: Record) -> list[str]:
    """Whether these are times of copies, in a sentence."""
    fault = copy_fault(record)
    if fault:
        return [f"copies: {fault}"]
    times = ratios(record).values()
    return [
        f"copies of {len(times)} sizes: right; they take {min(times):.2g} to {max(times):.2g} times"
        " as long as ours"
    ]


def table(record: Record) -> pd.DataFrame:
    """A row per size: its bytes, the learner's samples, their median and best (µs); empty if there are none."""
    import pandas as pd

    rows = [
        {"size_bytes": point.at["size_bytes"], "samples": len(point.samples)}
        | {"median_us": float(np.median(point.samples)), "best_us": min(point.samples)}
        for point in copies(record)
    ]
    return pd.DataFrame(rows, columns=["size_bytes", "samples", "median_us", "best_us"])


@figures.draggable(EXERCISE.own, "lab.array_sweep.measure", kib=[2**n for n in range(2, 19)])
def working_set(record: Record, kib: float = 4) -> figures.Figure:
    """Your rates against the size, and the memory that two arrays of `kib` KiB use: drag the size."""
    copied = table(record)
    if copied.empty:
        raise LabError(f"The Record has no copies: {sample_fault(record)}.")
    size_bytes = copied["size_bytes"]
    rates = dict(zip(size_bytes / 1024, size_bytes / copied["median_us"], strict=True))
    size = min(rates, key=lambda each: abs(each - kib))
    here = f"two arrays of {size:,.4g} KiB"
    return figures.plot(
        {"your copies": rates, here: {size: rates[size]}},
        *("size_kib", "copied_mb_per_s"),
        title=f"{2 * size:,.4g} KiB in use: {rates[size] / max(rates.values()):.0%} of your best",
        x_log=True,
        marks=(here,),
    )


def keep_plot(cluster: Cluster, axes: Any) -> None:
    """Save the learner's plot of the sweep, and report what it lacks, caches included."""

    def unnamed(points: Sequence[Point]) -> list[str]:
        named = len(caches_named(points))
        said = f"It names {named} caches: mark where L2 and L3 end, and name them."
        return [said] if named < FEWEST_CACHES else []

    own_plot.keep(cluster, axes, PLOT, WANTS, also=unnamed)


def caches_named(points: Sequence[Point]) -> set[str]:
    """The caches that a plot names, such as L2, in its legend or next to its lines."""
    texts = [text for p in points for text in (*p.facts["legend"], *p.facts.get("texts", ()))]
    return set(re.findall(r"L[1-4]", " ".join(map(str, texts))))
