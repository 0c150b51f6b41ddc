"""D3, message and workload: do a message and work take less time together than one after the other?

Paper D, figure 6 and tables 7 and 8: T_message and T_workload of rank 0 are measured separately, added, and compared
with T_overlap (MPI_Isend, work, MPI_Wait). Rank 1 works a quarter of the work before it receives in T_overlap; in
T_message, of which the paper says nothing for rank 1, ours only receives. Rank 0 waits until its buffer is free, not
until the message has arrived.

The paper's 65 KB take rank 0 0.39 ms, and its cable 5.3 ms: its kernel took the whole message, which a
limit of 10 to 20 KB (table 5) rules out. So tables 7 and 8 are compared with the library's defaults, whose buffers take
the message, and a send buffer as small as that limit is measured as well.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from beowulf import papers
from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.labs.lab_05.d5_improvement import GAIN, change, in_the_papers_form
from beowulf.labs.lab_05.overlap import (
    DEFAULT,
    FULL,
    KB,
    ONE_USER,
    ONE_USER_SOCKET,
    PAPER_WORK_S,
    QUICK,
    Run,
    Way,
    chosen,
    first_measured,
    in_way,
    kb,
    of_cases,
    sweep,
    with_printed,
)
from beowulf.measure.improvement import Improvement, improvement
from beowulf.measure.quality import trouble
from beowulf.measure.statistics import Summary
from beowulf.measure.table import of_rows
from beowulf.record import Record
from beowulf.studies.quantity import Quantity, all_hold
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

SMALL, LARGE = SIZES = (10 * KB, 65 * KB)
WAYS = (DEFAULT, ONE_USER_SOCKET, ONE_USER)
C, PYTHON = {"language": "C"}, {"language": "Python"}
TABLES = {SMALL: 7, LARGE: 8}
PARTS = ("message_s", "sum_s", "overlap_s")
PRINTED = {
    size: {
        part: papers.figure("D-send-overlap", part, table=table, statistic="mean")
        for part in (*PARTS, "percent")
    }
    for size, table in TABLES.items()
}
CABLE_BYTES_PER_S = 100e6 / 8  # of the 3c905C, the card that section II.B names
MOST_LIMIT = 20 * KB  # of the one-user cluster, by table 5


def plan(cluster: Cluster, *, quick: bool, seconds: float = PAPER_WORK_S) -> Plan:
    """Message, work and both, alternating, at 10 KB and 65 KB; `seconds` is the work."""
    runs = [Run(way, "message_workload.c", C) for way in WAYS]
    runs.append(Run(DEFAULT, "overlap.py", PYTHON))
    return sweep(runs, QUICK if quick else FULL, seconds, SIZES)


def operations(record: Record, way: Way, size: int, language: dict[str, str] = C) -> pd.DataFrame:
    """One row a pass: message, work, both and sum (message + work) of rank 0, in seconds.

    LabError when the Record has no such samples.
    """
    at = {**way.at, **language, "size_bytes": size, "rank": 0}
    samples = chosen(record, "duration_s", **at)
    wide = samples.pivot(index=["launch", "pass"], columns="part", values="duration_s").dropna()
    if wide.empty:
        raise LabError("There are no samples for this case.", "Measure again.")
    return wide.assign(sum=wide["message"] + wide["work"])


def gain(record: Record, way: Way, size: int) -> Improvement:
    """Equation 1 over the passes: T_overlap against T_message + T_workload of the same pass."""
    passes = operations(record, way, size)
    launches = passes.index.get_level_values("launch")
    return improvement(passes["both"], passes["sum"], launches, busy=record.busy)


def no_gain(size: int) -> Claim:
    """Tables 7 and 8: overlap gains nothing at this size."""
    changed = change(kb(size), lambda record: gain(record, DEFAULT, size))
    percent = PRINTED[size]["percent"]
    return Claim(
        f"no-gain-{size // KB}kb",
        f"MPICH as it comes, {kb(size)}: overlap gains rank 0 nothing (paper D: {percent:+.2f} %)",
        in_way(DEFAULT, changed > GAIN),
        place=f"table {TABLES[size]}",
    )


def added_by_python(size: int) -> Quantity:
    """How much longer the Python program's T_overlap is than the C program's, launch by launch."""

    def of(record: Record) -> Summary:
        ours, theirs = (
            operations(record, DEFAULT, size, language)["both"] for language in (PYTHON, C)
        )
        return of_rows(((ours - theirs) * 1e6).dropna(), busy=record.busy)

    return Quantity(f"{kb(size)}, Python's T_overlap less C's", of, "µs")


def wire_time(_record: Record) -> Judgement:
    """Whether table 8's T_message leaves room for what a limit of 20 KB holds back."""
    needed_ms = 1e3 * (LARGE - MOST_LIMIT) / CABLE_BYTES_PER_S
    printed_ms = 1e3 * PRINTED[LARGE]["message_s"]
    return Judgement(
        "holds" if printed_ms >= needed_ms else "contradicted",
        f"{kb(LARGE - MOST_LIMIT)} take at least {needed_ms:.2f} ms at 100 Mbit/s, and T_message is"
        f" {printed_ms:.2f} ms: the kernel took all of the message",
        {"needed_ms": needed_ms, "printed_ms": printed_ms},
    )


def paper_table(record: Record) -> pd.DataFrame:
    """The Record in the form of tables 7 and 8, for the library's defaults if they were measured."""
    import pandas as pd

    names = {"message": "message_s", "work": "workload_s", "sum": "sum_s", "both": "overlap_s"}
    tables = {
        size / KB: in_the_papers_form(
            operations(record, first_measured(record, WAYS), size), "both", ("message", "work")
        )
        for size in SIZES
    }
    rows = pd.concat(tables, names=["message_kb", "statistic"]).reset_index()
    return rows[["message_kb", "statistic", *names, "percent"]].rename(columns=names)


def picture(record: Record) -> Figure:
    """For each library and size: T_message and T_workload one after the other, and T_overlap."""
    from beowulf.figures import segments
    from beowulf.figures.segments import Part

    bars: dict[str, list[Part]] = {}
    marks = []
    cases = {case: partial(operations, record, *case) for case in product(WAYS, SIZES)}
    for (way, size), passes in of_cases("D3", cases).items():
        message, work, both, added = (
            of_rows(passes[part] * 1e6, busy=record.busy)
            for part in ("message", "work", "both", "sum")
        )
        name = f"{kb(size)}, {way.says}"
        if way == DEFAULT:
            marks += [
                (1e6 * PRINTED[size][part], len(bars) + row) for row, part in enumerate(PARTS[1:])
            ]
        bars[f"{name}: separate"] = [
            Part("T_message (t_comm)", message.median),
            Part("T_workload (t_comp)", work.median, added.low, added.high),
        ]
        bars[f"{name}: together"] = [Part("T_overlap (t_both)", both.median, both.low, both.high)]
    figure = segments.timeline(
        bars,
        title="Message and work, separate and together (rank 0)",
        value_title="time, medians (µs)",
    )
    return with_printed(figure, marks, "paper D's averages")


STUDY = Study(
    id="D3",
    title="Message and workload: T_message + T_workload against T_overlap",
    plan=plan,
    judged=[
        *map(no_gain, SIZES),
        Claim(
            "small-buffer-gains",
            "With a send buffer of 24 KB, for table 5's limit of 10 to 20 KB, rank 0 waits for the cable, and"
            f" {kb(LARGE)} gain",
            in_way(
                ONE_USER_SOCKET,
                change(kb(LARGE), lambda record: gain(record, ONE_USER_SOCKET, LARGE)) < GAIN,
            ),
        ),
        Claim(
            "python-adds-little",
            "overlap.py adds less than a quarter of the work, 94 µs, to T_overlap of message_workload.c",
            all_hold(*(added_by_python(size) < 1e6 * PAPER_WORK_S / 4 for size in SIZES)),
        ),
        Claim(
            "wire-time",
            "T_message of 65 KB (table 8) has room for what a limit of 20 KB (table 5) holds back",
            wire_time,
            needs="nothing",
            rests_on="arithmetic",
            place="tables 5 and 8",
        ),
    ],
    draw=picture,
    as_printed=paper_table,
    troubles=partial(trouble, quantity="duration_s"),
    needs=(CABLE,),
    differs={
        "holds": (
            "The kernel takes the message at once, so rank 0 has hardly anything to hide; work in a loop takes longer"
            " while the message is sent, and `--work delay` loses nothing."
        ),
        "contradicted": (
            "Where rank 0 gains, the kernel did not take the whole message; the paper's kernel took it in less time"
            " than the cable needs, so no limit of 10 to 20 KB was in force."
        ),
        "inconclusive": (
            "A gain of two per cent of a few hundred microseconds is less than another program takes from a shared"
            " core: a free core for each rank can decide it."
        ),
    },
)
