"""A13, buffers and collectives: what paper A leaves to future work.

The paper closes with two things to be looked at: the same measurements with the size of the
communication buffer changed, and collectives (broadcast, scatter, gather, reduce) against
point-to-point. Both are done here under a capture at the switch, so that each message's cost on the
wire stands beside its time: `buffer_sizes.py` and `collectives.py` are the two parts.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.measure.judgement import need_study
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import need_nodes
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.studies.lab_06 import buffer_sizes, buffer_verdicts, collectives
from beowulf.studies.lab_06.wire_costs import Panel, draw, legend, size_text
from beowulf.verdict import Verdict

if TYPE_CHECKING:
    from beowulf.figures import Figure

ID = "A13"
TITLE = "Buffers and collectives: other sizes of buffers, and collective calls against loops"


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
) -> Record:
    """Both parts: collectives first, then messages in every setting of the buffers."""
    need_nodes(cluster, collectives.RANKS)
    launches = buffer_sizes.planned(quick) + collectives.planned(quick)
    with Measurement(
        ID, cluster, folder, quick=quick, progress=progress, launches=launches
    ) as session:
        collectives.measure(session)
        buffer_sizes.measure(session)
    return session.record()


def claims(record: Record) -> list[Verdict]:
    """What buffers, limit and collective calls should do, each held against the Record."""
    need_study(record, ID)
    return [*buffer_verdicts.claims(record), *collectives.claims(record)]


def picture(record: Record) -> Figure:
    """A row of panels for the buffers, and one for the collectives of the short and of the long size."""
    import pandas as pd

    need_study(record, ID)

    from beowulf.figures import Figure, look

    rows: dict[str, list[Panel]] = {}
    tables: list[pd.DataFrame] = []
    if buffer_sizes.sizes(record):
        rows["Messages between two ranks"] = buffer_sizes.panels(record)
        tables.append(buffer_sizes.table(record))
    if shown := collectives.sizes(record):
        for size in (shown[0], shown[-1]):
            heading = f"Four ranks, {size_text(size)} for each"
            rows[heading] = collectives.panels(record, size)
        tables.append(collectives.table(record))
    if not rows:
        raise LabError(f"The Record of study {ID} has no samples.", "Measure again.")
    with look.style():
        drawing, only = look.paper(width=11.5, height=3.9 * len(rows))
        only.remove()
        parts = drawing.subfigures(len(rows), 1, squeeze=False)[:, 0]
        for part, (heading, row) in zip(parts, rows.items(), strict=True):
            row = [panel for panel in row if panel.values]  # without a capture, only the times
            axes = part.subplots(1, len(row), squeeze=False)[0]
            for number, (each, panel) in enumerate(zip(axes, row, strict=True)):
                draw(each, panel, named=number == 0)
            legend(axes[0], list(row[0].values))
            part.suptitle(heading, x=0.01, ha="left", fontsize=13)
    said = " ".join(
        f"{heading}: {' '.join(_said(panel) for panel in row)}" for heading, row in rows.items()
    )
    table = pd.concat(tables, ignore_index=True)
    return Figure(drawing, TITLE, f"{TITLE}. {said}", table)


def _said(panel: Panel) -> str:
    from beowulf.figures.look import number_text

    parts: list[Any] = []
    for label, series in panel.values.items():
        told = ", ".join(f"{name} {number_text(float(f'{v:.3g}'))}" for name, v in series.items())
        parts.append(f"{label}: {told}")
    return f"{panel.title} ({panel.unit}) {'; '.join(parts)}."
