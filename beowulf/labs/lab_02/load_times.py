"""Lab 02's curve: how long a node waits for a word, by the size of the area that the word is taken from."""

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
    """One line a size of the area: KiB, the best and the median of a load (ns), and the plateau it was put on.

    LabError when the node was not measured.
    """
    import pandas as pd

    from beowulf.measure.table import table as samples

    every = samples(record, QUANTITY)
    if not (every["node"] == node).any():
        raise LabError(
            f"The Record has no load times of {node}.", "`beowulf study A3` measures some."
        )
    lines = [
        {"size_kib": each["size_bytes"].iloc[0] // 1024}
        | {"best_ns": each[QUANTITY].min(), "median_ns": each[QUANTITY].median()}
        for _, each in every[every["node"] == node].groupby("size_bytes")
    ]
    sizes = pd.DataFrame(lines)
    first = [p for p in record.points if p.at.get("node") == node and p.at.get("launch") == 0]
    plateaus = [p for p in first if RESULT in p.at and p.at.get("program") == "memory"]
    sizes["plateau"] = ""
    for point in plateaus:
        begin, end = point.facts["from_bytes"] // 1024, point.facts["to_bytes"] // 1024
        sizes.loc[sizes["size_kib"].between(begin, end), "plateau"] = str(point.at[RESULT])
    return sizes


def picture(record: Record, node: str) -> Figure:
    """The curve: flat as long as an area fits into a cache, and climbing to the next plateau behind it."""
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
