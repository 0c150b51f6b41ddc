"""D3, message and workload: are a message and work together shorter than the one after the other?

Paper D, figure 6 and tables 7 and 8: T_message and T_workload of rank 0 are measured separately, added, and
compared with T_overlap (MPI_Isend, work, MPI_Wait). 10 KB and 65 KB, 1000 single operations each. The
work lasts 377 us, the minimum of the paper's own; rank 1 works a quarter of it before it receives in
T_overlap, and only receives in T_message. What rank 0 waits for is that its buffer is free, not that
the message has arrived: a message that the kernel's socket buffer takes whole leaves hardly anything
to hide. On a local cluster T_overlap may even be longer than the sum; a likely reason, which is not
measured here, is that the kernel sends the message on the very core that works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.labs.lab_05.d5_improvement import (
    MARGIN_PERCENT,
    not_gained,
)
from beowulf.labs.lab_05.overlap import (
    DEFAULT,
    KB,
    ONE_USER,
    QUIETER,
    TESTED,
    THREADED,
    Amount,
    Way,
    chosen,
    kb,
    launch,
    sweep_arguments,
    swept,
)
from beowulf.measure.improvement import Improvement, improvement, improvement_percent
from beowulf.measure.judgement import within
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.statistics import Ratio, ratio
from beowulf.measure.table import of_rows
from beowulf.record import Record
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study, other_library

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

SIZES = (10 * KB, 65 * KB)
SECONDS = 377e-6
FULL, QUICK = Amount(4, 250), Amount(2, 50)  # in full, together the paper's 1000 samples
WAYS = (ONE_USER, DEFAULT, TESTED, THREADED)
C, PYTHON = {"language": "C"}, {"language": "Python"}
ALIKE = 0.1  # the Python program's T_overlap is at most so much more than the C program's


def plan(cluster: Cluster, *, quick: bool, seconds: float = SECONDS) -> Plan:
    """Message, work and both in turns, at 10 KB and 65 KB; `seconds` is the work."""
    amount = QUICK if quick else FULL

    def steps(measurement: Measurement) -> None:
        for number in range(amount.launches):
            words = sweep_arguments(seconds, SIZES, amount.passes, number)
            for way in WAYS:
                launch(measurement, way, "message_workload.c", words, number=number, at=C)
            launch(measurement, ONE_USER, "overlap.py", words, number=number, at=PYTHON)

    return Plan(amount.launches * (len(WAYS) + 1), swept(amount, seconds, SIZES), steps)


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

    def judge(record: Record) -> Judgement:
        seen = gain(record, ONE_USER, size)
        evidence = (
            f"{seen.says} by equation 1, where {-MARGIN_PERCENT:.2f} % or less would be a gain;"
            f" n = {seen.n}"
        )
        numbers = {"percent": seen.percent, "low": seen.low, "high": seen.high, "n": seen.n}
        return Judgement(
            not_gained(seen), evidence, numbers, **{**QUIETER, **other_library(record)}
        )

    says = f"MPICH2, {kb(size)}: overlap gains rank 0 nothing (tables 7, 8: +3.61 %, +3.29 %)"
    return Claim(f"no-gain-{size // KB}kb", says, judge)


def twin_ratios(record: Record, size: int) -> dict[str, Ratio]:
    """By part, how often the C program's time the Python program takes, launch by launch in turns."""
    programs = operations(record, ONE_USER, size, PYTHON), operations(record, ONE_USER, size, C)
    ours, theirs = (each.sort_index() for each in programs)
    return {
        part: ratio(list(zip(ours[part], theirs[part], strict=False)), busy=record.busy)
        for part in ("message", "work", "both")
    }


def python_alike(size: int) -> Claim:
    """T_overlap of the Python program is about that of the C program at this size."""

    def judge(record: Record) -> Judgement:
        seen = twin_ratios(record, size)
        evidence = "Python's times as shares of C's: " + ", ".join(
            f"{part} {each.median:.2f} ({each.low:.2f} to {each.high:.2f})"
            for part, each in seen.items()
        )
        numbers = {part: each.median for part, each in seen.items()}
        return Judgement(within(seen["both"], 1 - ALIKE, 1 + ALIKE), evidence, numbers, **QUIETER)

    says = (
        f"overlap.py and message_workload.c, {kb(size)}: T_overlap differs by less than {ALIKE:.0%}"
    )
    return Claim(f"python-alike-{size // KB}kb", says, judge)


def paper_table(record: Record, way: Way = ONE_USER) -> pd.DataFrame:
    """The Record in the form of tables 7 and 8, with medians beside the paper's averages.

    As in the paper, the sum of two minima, maxima or standard deviations is in the column of the
    sum. Only for the mean is it what a sum has; the paper adds standard deviations, too.
    """
    import pandas as pd

    rows = []
    for size in SIZES:
        passes = operations(record, way, size)
        for statistic in ("min", "max", "mean", "median", "std"):
            of = {part: float(passes[part].agg(statistic)) for part in ("message", "work", "both")}
            added = of["message"] + of["work"]
            rows.append(
                {
                    "message_kb": size / KB,
                    "statistic": "stdev" if statistic == "std" else statistic,
                    "message_s": of["message"],
                    "workload_s": of["work"],
                    "sum_s": added,
                    "overlap_s": of["both"],
                    "percent": improvement_percent(of["both"], added)
                    if statistic in ("mean", "median")
                    else None,
                }
            )
    return pd.DataFrame(rows)


def picture(record: Record) -> Figure:
    """For each library and size: T_message and T_workload one after the other, and T_overlap."""
    from beowulf.figures import segments
    from beowulf.figures.segments import Part

    bars = {}
    for way in WAYS:
        for size in SIZES:
            try:
                passes = operations(record, way, size)
            except LabError:
                continue
            message, work, both, added = (
                of_rows(passes[part] * 1e6, busy=record.busy)
                for part in ("message", "work", "both", "sum")
            )
            name = f"{kb(size)}, {way.says}"
            bars[f"{name}: separate"] = [
                Part("T_message (t_comm)", message.median),
                Part("T_workload (t_comp)", work.median, added.low, added.high),
            ]
            bars[f"{name}: together"] = [
                Part("T_overlap (t_both)", both.median, both.low, both.high)
            ]
    if not bars:
        raise LabError("The Record of study D3 has no samples.", "Measure again.")
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
    troubles=lambda record: trouble(record, "duration_s"),
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
