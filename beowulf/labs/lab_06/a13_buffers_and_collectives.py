"""A13, buffers and collectives: what paper A leaves to future work.

The paper closes with two things to be looked at: the same measurements with the size of the
communication buffer changed, and collectives (broadcast, scatter, gather, reduce) against
point-to-point. Both are done here under a capture at the switch, so that each message's cost on the
wire is beside its time: `buffer_sizes.py` and `collectives.py` are the two parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.labs.lab_06 import buffer_sizes, collectives
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import need_nodes
from beowulf.record import Record
from beowulf.studies.study import PACKETS, Claim, Plan, Study
from beowulf.studies.wire_costs import Panel, draw, legend, size_text

if TYPE_CHECKING:
    from beowulf.figures import Figure


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


def picture(record: Record) -> Figure:
    """A row of panels for the buffers, and one for the collectives of the short and of the long size."""
    import pandas as pd

    from beowulf.figures import Figure, look

    rows: dict[str, list[Panel]] = {}
    tables: list[pd.DataFrame] = []
    if buffer_sizes.sizes(record):
        rows["Messages between two ranks"] = buffer_sizes.panels(record)
        tables.append(buffer_sizes.table(record))
    if shown := collectives.sizes(record):
        for size in (shown[0], shown[-1]):
            rows[f"Four ranks, {size_text(size)} for each"] = collectives.panels(record, size)
        tables.append(collectives.table(record))
    if not rows:
        raise LabError("The Record of study A13 has no samples.", "Measure again.")
    with look.style():
        drawing, only = look.paper(width=11.5, height=3.9 * len(rows))
        only.remove()
        parts = drawing.subfigures(len(rows), 1, squeeze=False)[:, 0]
        for part, (heading, row) in zip(parts, rows.items(), strict=True):
            row = [panel for panel in row if panel.values]  # without a capture, only the times
            axes = part.subplots(1, len(row), squeeze=False)[0]
            for each, panel in zip(axes, row, strict=True):
                draw(each, panel, named=each is axes[0])
            legend(axes[0], list(row[0].values))
            part.suptitle(heading, x=0.01, ha="left", fontsize=13)
    said = (f"{heading}: {' '.join(map(_in_words, row))}" for heading, row in rows.items())
    alt = f"{STUDY.title}. {' '.join(said)}"
    return Figure(drawing, STUDY.title, alt, pd.concat(tables, ignore_index=True))


def _in_words(panel: Panel) -> str:
    from beowulf.figures.look import number_text

    parts = []
    for label, series in panel.values.items():
        bars = (f"{name} {number_text(float(f'{v:.3g}'))}" for name, v in series.items())
        parts.append(f"{label}: {', '.join(bars)}")
    return f"{panel.title} ({panel.unit}) {'; '.join(parts)}."


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
            "The paper leaves this to future work, so expectations of ours fail: MPICH's trees "
            "pass data on through other ranks, which can be more bytes than a loop sends, two "
            "more trips are lost in the milliseconds of a long message, and buffers of 16 KB "
            "still let whole segments through."
        ),
        "inconclusive": (
            "Of short messages two ways differ by microseconds, which four ranks that share cores "
            "hide; bytes and frames are counted, and stay open only where a capture lost packets."
        ),
    },
)
