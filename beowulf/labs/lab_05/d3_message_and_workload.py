"""D3, message and workload: are a message and work together shorter than the one after the other?

Paper D, figure 6 and tables 7 and 8: T_message and T_workload of rank 0 are measured separately, added, and compared
with T_overlap (MPI_Isend, work, MPI_Wait). Rank 1 works a quarter of the work before it receives in T_overlap, and only
receives in T_message. What rank 0 waits for is that its buffer is free, not that the message has arrived.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.labs.lab_05.d5_improvement import GAIN, change, in_the_papers_form
from beowulf.labs.lab_05.overlap import (
    DEFAULT,
    FULL,
    KB,
    ONE_USER,
    PAPER_WORK_S,
    QUICK,
    TESTED,
    THREADED,
    Run,
    Way,
    chosen,
    in_way,
    kb,
    of_cases,
    sweep,
)
from beowulf.measure.improvement import Improvement, improvement
from beowulf.measure.quality import trouble
from beowulf.measure.statistics import Ratio, ratio
from beowulf.measure.table import of_rows
from beowulf.record import Record
from beowulf.studies.quantity import TIMES, Quantity
from beowulf.studies.study import CABLE, Claim, Plan, Study

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

SIZES = (10 * KB, 65 * KB)
WAYS = (ONE_USER, DEFAULT, TESTED, THREADED)
C, PYTHON = {"language": "C"}, {"language": "Python"}
ALIKE = 0.1  # the Python program's T_overlap is at most so much more than the C program's


def plan(cluster: Cluster, *, quick: bool, seconds: float = PAPER_WORK_S) -> Plan:
    """Message, work and both in turns, at 10 KB and 65 KB; `seconds` is the work."""
    runs = [Run(way, "message_workload.c", C) for way in WAYS]
    runs.append(Run(ONE_USER, "overlap.py", PYTHON))
    return sweep(runs, QUICK if quick else FULL, seconds, SIZES)


def operations(record: Record, way: Way, size: int, language: dict[str, str] = C) -> pd.DataFrame:
    """One row a pass: message, work, both and sum (message + work) of rank 0, in seconds.

    LabError when the Record has no such samples.
    """
    at = {**way.at, **language, "size_bytes": size, "rank": 0}
    samples = chosen(record, "duration_s", **at)
    wide = samples.pivot(index=["launch", "pass"], columns="part", values="duration_s").dropna()
    if wide.empty:
        raise LabError("There are no samples of this case.", "Measure again.")
    return wide.assign(sum=wide["message"] + wide["work"])


def gain(record: Record, way: Way, size: int) -> Improvement:
    """Equation 1 over the passes: T_overlap against T_message + T_workload of the same pass."""
    passes = operations(record, way, size)
    launches = passes.index.get_level_values("launch")
    return improvement(passes["both"], passes["sum"], launches, busy=record.busy)


def no_gain(size: int) -> Claim:
    """Tables 7 and 8: overlap gains nothing at this size."""
    changed = change(kb(size), lambda record: gain(record, ONE_USER, size))
    says = f"MPICH2, {kb(size)}: overlap gains rank 0 nothing (tables 7, 8: +3.61 %, +3.29 %)"
    return Claim(
        f"no-gain-{size // KB}kb", says, in_way(ONE_USER, changed > GAIN), place="tables 7, 8"
    )


def twins(record: Record, size: int) -> Ratio:
    """How often the C program's T_overlap the Python program's is, launch by launch in turns."""
    ours, theirs = (
        operations(record, ONE_USER, size, language).sort_index() for language in (PYTHON, C)
    )
    return ratio(list(zip(ours["both"], theirs["both"], strict=False)), busy=record.busy)


def python_alike(size: int) -> Claim:
    """T_overlap of the Python program is about that of the C program at this size."""
    times = Quantity("Python's T_overlap over C's", lambda record: twins(record, size), TIMES)
    says = (
        f"overlap.py and message_workload.c, {kb(size)}: T_overlap differs by less than {ALIKE:.0%}"
    )
    return Claim(f"python-alike-{size // KB}kb", says, times.within(1 - ALIKE, 1 + ALIKE))


def paper_table(record: Record) -> pd.DataFrame:
    """The Record in the form of tables 7 and 8."""
    import pandas as pd

    names = {"message": "message_s", "work": "workload_s", "sum": "sum_s", "both": "overlap_s"}
    tables = {
        size / KB: in_the_papers_form(
            operations(record, ONE_USER, size), "both", ("message", "work")
        )
        for size in SIZES
    }
    rows = pd.concat(tables, names=["message_kb", "statistic"]).reset_index()
    return rows[["message_kb", "statistic", *names, "percent"]].rename(columns=names)


def picture(record: Record) -> Figure:
    """For each library and size: T_message and T_workload one after the other, and T_overlap."""
    from beowulf.figures import segments
    from beowulf.figures.segments import Part

    bars = {}
    cases = {case: partial(operations, record, *case) for case in product(WAYS, SIZES)}
    for (way, size), passes in of_cases("D3", cases).items():
        message, work, both, added = (
            of_rows(passes[part] * 1e6, busy=record.busy)
            for part in ("message", "work", "both", "sum")
        )
        name = f"{kb(size)}, {way.says}"
        bars[f"{name}: separate"] = [
            Part("T_message (t_comm)", message.median),
            Part("T_workload (t_comp)", work.median, added.low, added.high),
        ]
        bars[f"{name}: together"] = [Part("T_overlap (t_both)", both.median, both.low, both.high)]
    return segments.timeline(
        bars,
        title="Message and work, separate and together (rank 0)",
        value_title="time, medians (µs)",
    )


STUDY = Study(
    id="D3",
    title="Message and workload: T_message + T_workload against T_overlap",
    plan=plan,
    judged=[*map(no_gain, SIZES), *map(python_alike, SIZES)],
    draw=picture,
    as_printed=paper_table,
    troubles=partial(trouble, quantity="duration_s"),
    needs=(CABLE,),
    differs={
        "holds": (
            "Rank 0 waits only until its buffer is free, which is the case as soon as the kernel "
            "has the message, so there is hardly anything to hide, as in the paper; both together "
            "may even take longer, probably because the kernel sends on the core that works."
        ),
        "contradicted": (
            "What rank 0 times is so short that Python's own part is more than a tenth of it; "
            "where overlap gains, work and messages are in another proportion than on the paper's "
            "processors and network, which gained nothing."
        ),
        "inconclusive": (
            "A gain of two per cent of some hundred microseconds is less than what another "
            "program takes from a shared core, so gain and no gain are both within the interval."
        ),
    },
)
