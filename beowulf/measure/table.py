"""A Record as a table: one row a sample, or one row a place of the sweep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from beowulf.errors import LabError
from beowulf.measure.statistics import WIDER, Summary, summary
from beowulf.record import Point, Record

if TYPE_CHECKING:
    import pandas as pd


def table(record: Record, quantity: str) -> pd.DataFrame:
    """One row a sample of `quantity`: all coordinates, its pass and repetitions if known, its value.

    LabError when the Record has no such samples.
    """
    import pandas as pd

    # One frame in the end: a frame a point, put together, takes ten times as long.
    columns: dict[str, list[object]] = {}
    rows = 0
    for point in record.points:
        count = len(point.samples)
        if point.quantity != quantity or not count:
            continue
        part: dict[str, list[object]] = {name: [value] * count for name, value in point.at.items()}
        for name in ("pass", "repetitions"):
            if len(point.facts.get(name, ())) == count:
                part[name] = list(point.facts[name])
        part |= {"sample": list(range(count)), quantity: list(point.samples)}
        for name in [*columns, *(new for new in part if new not in columns)]:
            column = columns.setdefault(name, [np.nan] * rows)
            column += part.get(name, [np.nan] * count)
        rows += count
    if not rows:
        raise LabError(
            f"The Record of study {record.study} has no samples of {quantity}.",
            f"`beowulf study {record.study}` measures them.",
        )
    return pd.DataFrame(columns)


def shortest(times: pd.DataFrame) -> pd.Series[float]:
    """The lower ends of summarised times, kept above the 0 that those of a busy machine can reach."""
    return times["low"].clip(lower=times["min"] / WIDER)


def summary_of(points: Iterable[Point], *, busy: bool = False) -> Summary:
    """Describe all samples of these Points, which may be of several launches; LabError when there are none."""
    known = list(points)
    launches = [point.at.get("launch", 0) for point in known for _ in point.samples]
    samples = [sample for point in known for sample in point.samples]
    return summary(samples, launches=launches, busy=busy)


def of_rows(values: pd.Series[float], *, busy: bool = False) -> Summary:
    """Describe a column whose rows are named by their launch, among others."""
    launches = values.index.get_level_values("launch").tolist()
    return summary(np.asarray(values, dtype=float), launches=launches, busy=busy)


def summarised(record: Record, quantity: str, by: Sequence[str]) -> pd.DataFrame:
    """One row for each combination of the coordinates `by`: n, min, q1, median, q3, low, high."""
    import pandas as pd

    rows = []
    for values, samples in table(record, quantity).groupby(list(by), sort=True):
        launches = samples["launch"].tolist() if "launch" in samples else ()
        numbers = summary(samples[quantity].to_numpy(), launches=launches, busy=record.busy)
        rows.append({**dict(zip(by, values, strict=True)), **vars(numbers)})
    return pd.DataFrame(rows)
