"""E6, paper E's table 3 and figure 4: each knob alone, and all together, mean and deviation.

The state before is made first, on the two nodes that measure (beowulf/tuning/paper_e_baseline.py). What each part of it
costs follows from how much of it is put in. What does not follow, and is the question here, is which of it can
be felt beside the rest, and whether the gains add up.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.measure.judgement import need_study
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import need_nodes
from beowulf.record import Point, Record
from beowulf.studies import Progress, no_progress
from beowulf.studies.lab_07 import knob_verdicts
from beowulf.studies.lab_07.knob_gains import ALONE, LATER, TOGETHER, gains, says, table
from beowulf.tuning.ab_comparison import Length, compare
from beowulf.tuning.change import Changes, changing
from beowulf.tuning.knobs import ALL
from beowulf.tuning.paper_e_baseline import (
    FIREWALL,
    MODERATION,
    absent_knobs,
    away,
    machines_parts,
    parts,
)
from beowulf.verdict import Verdict

ID = "E6"
TITLE = "The knobs: each alone and all together"

LAUNCHES, QUICK_LAUNCHES = 5, 2
QUICK_LENGTH = Length(blocks=6, most_blocks=6, samples=20)


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    host: bool = False,
) -> Record:
    """Take away one part of the testbed's state, then all of it, each in turns with the whole of it.

    With `host`, this machine's own knobs that the paper has are turned too, each alone; PCs and VMs have their own.
    """
    need_nodes(cluster, 2)
    launches = QUICK_LAUNCHES if quick else LAUNCHES
    absent, here = absent_knobs(cluster, host=host), parts(cluster)
    own = machines_parts(absent)
    planned = launches * (len(here) + len(own) + (2 if len(here) > 1 else 0))
    told = {"testbed": here, "machine": own, "launches": launches}
    with Measurement(
        ID, cluster, folder, quick=quick, progress=progress, launches=planned, sweep=told
    ) as session:
        session.points.extend(
            Point({"knob": name}, facts={"absent": why}) for name, why in absent.items()
        )
        if here:
            for launch in range(launches):
                _one_launch(session, here, own, launch, QUICK_LENGTH if quick else None)
    return session.record()


def _one_launch(
    session: Measurement,
    testbed: dict[str, str],
    own: dict[str, str],
    launch: int,
    length: Length | None,
) -> None:
    """Each part alone; all together; and the firewall once more, when nothing else is left."""
    nodes = session.cluster.nodes[:2]
    turns = [(ALL[name], value) for name, value in (testbed | own).items()]
    with changing(session.cluster, turns, nodes=nodes) as changes:
        turned = {each.knob.name: each for each in changes.each}
        made = {name: turned[name] for name in testbed}
        Changes(list(made.values()))(True)
        for name, part in made.items():
            compare(session, away(part), at=_at(name, ALONE, launch), length=length)
        for name in own:
            compare(session, turned[name], at=_at(name, ALONE, launch), length=length)
        if len(made) > 1:
            compare(session, away(*made.values()), at=_at(TOGETHER, ALONE, launch), length=length)
            made[MODERATION](False)
            later = _at(FIREWALL, LATER, launch)
            compare(session, away(made[FIREWALL]), at=later, length=length)


def _at(knob: str, way: str, launch: int) -> dict[str, object]:
    return {"knob": knob, "way": way, "launch": launch}


def claims(record: Record) -> list[Verdict]:
    """What paper E says of its knobs, each held against this Record."""
    need_study(record, ID)
    return knob_verdicts.claims(record)


def picture(record: Record) -> Figure:
    """By how much each knob shortens half a round trip, with intervals; the table has mean and deviation."""
    from beowulf.figures.segments import Value, intervals

    need_study(record, ID)
    found = gains(record)
    testbed = ", ".join(f"{name} {value}" for name, value in record.sweep["testbed"].items())
    drawn = intervals(
        [
            Value(says(each), each.percent.median, each.percent.low, each.percent.high)
            for each in found
        ],
        title=f"Taken away from the testbed ({testbed})",
        value_title="half round trip, change (%): median of the pairs",
    )
    return replace(drawn, table=table(found))
