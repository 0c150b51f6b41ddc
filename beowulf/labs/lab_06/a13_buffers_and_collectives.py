"""A13, buffers and collectives: what paper A leaves to future work.

The paper closes with two topics for future work: the same measurements with another size of the
communication buffer, and collectives (broadcast, scatter, gather, reduce) against
point-to-point. Both are done here under a capture at the switch, so that each message's cost on the
wire is next to its time: `buffer_sizes.py` and `collectives.py` are the two parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.labs.lab_06 import buffer_sizes, collectives
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import HALF, need_nodes
from beowulf.record import Record
from beowulf.studies.study import PACKETS, Claim, Plan, Study
from beowulf.studies.wire_costs import size_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from beowulf.figures import Figure

LONG_BYTES = 64 * 1024  # the panels show nothing of shorter messages


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """Both parts: collectives first, then messages in every setting of the buffers."""
    need_nodes(cluster, collectives.RANKS)

    def steps(measurement: Measurement) -> None:
        collectives.measure(measurement)
        buffer_sizes.measure(measurement)

    return Plan(buffer_sizes.planned(quick) + collectives.planned(quick), {}, steps)


def judged(record: Record) -> list[Claim]:
    """What buffers, limit and collective calls should do."""
    return [*buffer_sizes.claims(record), *collectives.claims(record)]


# The panels of a row: title, unit, column of the table, and its factor. The first shows times.
OF_MESSAGES = (
    ("How long?", "half round trip (ms)", HALF, 1e-3),
    ("How many segments?", "with data, per message", "segments", 1.0),
    ("Retransmitted", "frames per message", "retransmitted_packets", 1.0),
    ("Asked first?", "control messages, each", "control_packets", 1.0),
)
OF_OPERATIONS = (
    ("How long?", "slowest rank (ms)", collectives.OPERATION, 1e-3),
    ("How many messages?", "an operation", "messages", 1.0),
    ("How many bytes?", "KB of frames per operation", "wire_bytes", 1 / 1024),
)


def picture(record: Record) -> Figure:
    """A row of panels for the buffers, and one for the collectives of the short and of the long size."""
    import pandas as pd

    from beowulf.figures import Figure, look

    rows: list[tuple[str, pd.DataFrame, tuple[Any, ...]]] = []
    tables = []
    if buffer_sizes.sizes(record):
        costs = buffer_sizes.table(record)
        tables.append(costs)
        long = costs[costs["message_bytes"] >= LONG_BYTES]
        shown = (costs if long.empty else long).rename(columns={"setting": "bar"})
        shown["colour"] = shown["message_bytes"].map(size_text)
        rows.append(("Messages between two ranks", shown, OF_MESSAGES))
    if sizes := collectives.sizes(record):
        costs = collectives.table(record)
        tables.append(costs)
        named = costs.rename(columns={"operation": "bar"})
        named["colour"] = named["way"].map(collectives.WAYS)
        for size in (sizes[0], sizes[-1]):
            here = named[named["size_bytes"] == size]
            rows.append((f"Four ranks, {size_text(size)} for each", here, OF_OPERATIONS))
    if not rows:
        raise LabError("The Record of study A13 has no samples.", "Measure again.")
    said = [f"{STUDY.title}."]
    with look.style():
        drawing, only = look.paper(width=11.5, height=3.9 * len(rows))
        only.remove()
        parts = drawing.subfigures(len(rows), 1, squeeze=False)[:, 0]
        for part, (heading, shown, wanted) in zip(parts, rows, strict=True):
            # Without a capture there are only times.
            known = [panel for panel in wanted if panel[2] in shown]
            axes = part.subplots(1, len(known), sharey=True, squeeze=False)[0]
            said.append(f"{heading}:")
            for place, (title, unit, column, scale) in zip(axes, known, strict=True):
                said.append(f"{title} ({unit}) {_bars(place, shown, column, scale)}.")
                look.titles(place, title, unit, "")
            part.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
            part.suptitle(heading, x=0.01, ha="left", fontsize=13)
    return Figure(drawing, STUDY.title, " ".join(said), pd.concat(tables, ignore_index=True))


def _bars(axes: Axes, costs: pd.DataFrame, column: str, scale: float) -> str:
    """A column of costs as bars with their figures, times with their intervals; the same in words."""
    from matplotlib.container import BarContainer

    from beowulf.figures import look

    def values(of: str) -> pd.DataFrame:
        wide = scale * costs.pivot(index="bar", columns="colour", values=of)
        # What was cut short gets no bar.
        return wide.loc[costs["bar"].unique(), costs["colour"].unique()].fillna(0.0)

    seen, words = values(column), []
    how: dict[str, Any] = {"width": 0.8, "edgecolor": "white", "legend": False}
    if column in (HALF, collectives.OPERATION):
        reach = [each.clip(0) for each in (seen - values("low_us"), values("high_us") - seen)]
        how |= {"xerr": [[each[label] for each in reach] for label in seen], "capsize": 2}
    seen.plot.barh(ax=axes, color=[*look.COLOURS], **how)
    drawn = [each for each in axes.containers if isinstance(each, BarContainer)]
    for bars, hatch, label in zip(drawn, look.HATCHES, seen, strict=False):
        texts = [look.number_text(float(f"{value:.3g}")) for value in seen[label]]
        axes.bar_label(bars, texts, padding=4, fontsize=8.5)
        for bar in bars:
            bar.set_hatch(hatch)
        named = (f"{name} {text}" for name, text in zip(seen.index, texts, strict=True))
        words.append(f"{label}: {', '.join(named)}")
    axes.set_xlim(0, 1.3 * seen.to_numpy().max() or 1)
    axes.set_ylim(len(seen) - 0.45, -0.55)
    axes.grid(axis="y", visible=False)
    axes.xaxis.set_major_formatter(look.number_tick)
    return "; ".join(words)


STUDY = Study(
    id="A13",
    title="Buffers and collectives: other sizes of buffers, and collective calls against loops",
    plan=plan,
    judged=judged,
    draw=picture,
    needs=(PACKETS, buffer_sizes.NEED),
    differs={
        "holds": (
            "The paper leaves this to future work; a small buffer makes the sender wait for "
            "acknowledgements, and a collective call takes fewer steps than a loop, whatever the "
            "processor."
        ),
        "contradicted": (
            "The paper leaves this to future work, so only our expectations fail: MPICH's trees pass data on through "
            "other ranks, which can take more bytes than a loop; two more trips hardly count in the milliseconds of "
            "a long message; and buffers of 16 KB still let whole segments through."
        ),
        "inconclusive": (
            "For short messages the two ways differ by microseconds, which four ranks that share cores hide; a core "
            "for each rank can decide it, and counts of bytes and frames stay open only where a capture lost "
            "packets."
        ),
    },
)
