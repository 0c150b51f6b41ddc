"""Lab 02's curve: how long a load takes on a node, by the size of the memory area."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beowulf.errors import LabError
from beowulf.labs.lab_02.node_rows import RESULT
from beowulf.record import Record

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

QUANTITY = "load_ns"


def table(record: Record, node: str) -> pd.DataFrame:
    """One row per size of the area: KiB, the best and the median of a load (ns), and its plateau.

    LabError if the node was not measured.
    """
    from beowulf.measure.table import table as samples

    every = samples(record, QUANTITY)
    if not (every["node"] == node).any():
        raise LabError(
            f"The Record has no load times for {node}.", "`beowulf study A3` measures them."
        )
    loads = every[every["node"] == node].groupby("size_bytes")[QUANTITY]
    sizes: pd.DataFrame = loads.agg(best_ns="min", median_ns="median").reset_index()
    sizes.insert(0, "size_kib", sizes.pop("size_bytes") // 1024)
    sizes["plateau"] = ""
    for point in record.select(node=node, launch=0, program="memory"):
        if RESULT in point.at:
            begin, end = point.facts["from_bytes"] // 1024, point.facts["to_bytes"] // 1024
            sizes.loc[sizes["size_kib"].between(begin, end), "plateau"] = str(point.at[RESULT])
    return sizes


def picture(record: Record, node: str) -> Figure:
    """The curve: flat as long as an area fits into a cache, then climbing to the next plateau."""
    from beowulf import figures

    return figures.lines(
        table(record, node),
        "size_kib",
        "best_ns",
        title=f"How long {node} waits for a word",
        x_title="size of the area (KiB)",
        y_title="one load, best (ns)",
        x_log=True,
        y_log=True,
    )
