"""Before and after, side by side: what paper E's changes give to a ping-pong, and what to programs that compute too.

E3, E4, E5 and L2 are each measured in two states of the cluster in turns: before, with moderation and a firewall as
the paper's nodes came with (beowulf/tuning/paper_e_baseline.py), and after, without. A row has one time in both states.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf import papers
from beowulf.cluster import Cluster
from beowulf.errors import LabError, UsageError
from beowulf.labs.lab_03 import e3_hpl, e4_hpcc
from beowulf.labs.lab_07 import e5_application, l2_applications
from beowulf.measure.quality import trouble
from beowulf.measure.statistics import LEAST_PAIRS, Ratio
from beowulf.record import Record
from beowulf.studies.states import AFTER, BEFORE, PING, gain, samples
from beowulf.this_machine.progress import Progress, no_progress
from beowulf.this_machine.user import learner
from beowulf.tuning import paper_e_baseline
from beowulf.tuning.ab_comparison import otherwise

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

VARIANT = "before-after"
KERNELS, SEARCH, HPL, HPCC = "kernels", "search", "hpl", "hpcc"
PROGRAMS: dict[str, Any] = {
    KERNELS: l2_applications,
    SEARCH: e5_application,
    HPL: e3_hpl,
    HPCC: e4_hpcc,
}
QUICK = (KERNELS, SEARCH)  # less than a minute
QUICK_EQUATIONS = 320  # the least work in which HPL still waits for messages


@dataclass(frozen=True)
class Row:
    """A time, or a rate, in both states: medians in a `unit`, and the time after as a share of the time before."""

    what: str
    before: float
    after: float
    unit: str
    times: Ratio
    synthetic: bool = False  # a message and nothing else
    paper_percent: float | None = None
    rate: bool = False  # of before and after, which the time goes against

    @property
    def figures_say_otherwise(self) -> bool:
        """Whether the medians of both states contradict the pairs, of which `times` is the median."""
        both = (self.after, self.before) if self.rate else (self.before, self.after)
        return otherwise(*both, self.times)

    @property
    def percent(self) -> tuple[float, float, float]:
        """The change of the time, and its 95 % interval."""
        three = (self.times.median, self.times.low, self.times.high)
        median, low, high = (100 * (value - 1) for value in three)
        return median, low, high


def chosen(names: Sequence[str], *, quick: bool = False) -> list[str]:
    """The programs of these names, or all of them; UsageError for a name that is none."""
    for name in names:
        if name not in PROGRAMS:
            raise UsageError(
                f"There is no program {name!r}.", f"The programs are: {', '.join(PROGRAMS)}."
            )
    return list(dict.fromkeys(names)) or list(QUICK if quick else PROGRAMS)


def measure(
    name: str,
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
) -> tuple[Record, Path]:
    """Measure one of the programs before and after; its Record and the file. At the end all is as it was."""
    study = PROGRAMS[name].STUDY
    usual = {"quick": quick, "progress": progress}
    if name == KERNELS:  # it makes both states itself
        record = study.measure(cluster, folder, **usual)
    else:
        size = {"size": QUICK_EQUATIONS if quick else 0}
        more = {"most_alone": quick} if name == SEARCH else size
        here = paper_e_baseline.parts(cluster)
        with paper_e_baseline.states(cluster) as states:
            record = study.measure(cluster, folder, states=states, **usual, **more)
        record.sweep["testbed"], record.variant = here, VARIANT
    record.learner = learner()
    return record, record.save_in(folder)


def rows(record: Record) -> list[Row]:
    """What the Record has in both states, often enough; nothing for a Record of one state."""
    program = next((each for each in PROGRAMS.values() if record.study == each.STUDY.id), None)
    if program is None:
        raise UsageError(f"Study {record.study} has no before and after.")
    gains = []
    for each in program.compared(record):
        times = gain(record, each.quantity, rate=each.rate, **each.at)
        if times is None or times.n < LEAST_PAIRS:
            continue
        before, after = (
            float(np.median(samples(record, each.quantity, state=state, **each.at)))
            for state in (BEFORE, AFTER)
        )
        paper = _published(each.workload)
        how = (each.synthetic, paper, each.rate)
        gains.append(Row(each.what, before, after, each.unit, times, *how))
    return gains


def _published(workload: str) -> float | None:
    if not workload:
        return None
    known = papers.table("E-applications")
    return float(known[known.workload == workload].change_percent.iloc[0])


def conclusion(rows_: Sequence[Row]) -> str:
    """Whether a message gains more than any program (paper E: virtually); empty without one of the two."""
    pings = [row for row in rows_ if row.what.startswith(PING)]
    programs = [row for row in rows_ if not row.synthetic]
    if not pings or not programs:
        return ""
    ping = max(pings, key=lambda row: row.times.median)
    most = min(programs, key=lambda row: row.times.median)
    both = f"the ping-pong {ping.percent[0]:+.0f} %, {most.what} {most.percent[0]:+.0f} %"
    if most.times.low > ping.times.high:
        return (
            f"A message gains more than any program: {both}. Only the part of a program's time"
            " in which it waits for messages can get shorter."
        )
    if most.times.high < ping.times.low:
        return f"One program gains more than a message: {both}. More than messages differed: measure again."
    return f"Whether a message gains more than any program cannot be decided here: {both}."


def doubts(records: Iterable[Record]) -> list[str]:
    """Why these Records should not be relied on, a sentence each."""
    reasons = [why for record in records for why in trouble(record, enough=1)]
    return list(dict.fromkeys(reasons))


def table(rows_: Sequence[Row]) -> pd.DataFrame:
    """The rows, with the change of the time in per cent, its interval, and the paper's."""
    import pandas as pd

    lines = []
    for row in rows_:
        median, low, high = row.percent
        change = {"change_percent": median, "low": low, "high": high, "n": row.times.n}
        known = {"what": row.what, "before": row.before, "after": row.after, "unit": row.unit}
        lines.append({**known, **change, "paper_percent": row.paper_percent})
    return pd.DataFrame(lines)


def picture(rows_: Sequence[Row]) -> Figure:
    """The change of each time with its interval: messages alone, and programs."""
    from dataclasses import replace

    from beowulf.figures.segments import Value, intervals

    if not rows_:
        raise LabError("Nothing here was measured both before and after.")
    values = [
        Value(row.what, *row.percent, "messages alone" if row.synthetic else "programs")
        for row in rows_
    ]
    values += [
        Value.published(row.what, row.paper_percent)
        for row in rows_
        if row.paper_percent is not None
    ]
    drawn = intervals(
        values,
        title="From a state like paper E's to the tuned one",
        value_title="time, change (%): median of the pairs",
    )
    return replace(drawn, table=table(rows_))
