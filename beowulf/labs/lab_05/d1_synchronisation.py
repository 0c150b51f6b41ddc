"""D1, synchronisation overlap: can a message leave while its sender works?

Paper D, figure 1 and tables 2-4 and 6. Rank 0 posts a message and works; rank 1 works a share of that and receives.
Overlap is supported if and only if rank 1 is done when its own share is done. The paper's work lasts 4 s and 2 s; here
it is shorter in proportion. Section III.A says that rank 1 works a quarter, as figure 7 does; where the work is a
delay, section IV.A and the tables have half. docs/measuring.md explains how the paper's clusters are imitated.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from beowulf import papers
from beowulf.cluster import Cluster
from beowulf.labs.lab_05 import overlap
from beowulf.labs.lab_05.overlap import (
    DEFAULT,
    KB,
    LONGER,
    ONE_USER,
    ONE_USER_SOCKET,
    SOLARIS,
    SOLARIS_SOCKET,
    TESTED,
    THREADED,
    Amount,
    Way,
    chosen,
    kb,
)
from beowulf.measure.measurement import Measurement
from beowulf.measure.statistics import Summary
from beowulf.measure.table import of_rows, table
from beowulf.record import Record
from beowulf.studies.quantity import Quantity
from beowulf.studies.study import CABLE, Claim, Plan, Study
from beowulf.verdict import OWN

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

PAPER_SECONDS = 4.0
SECONDS, QUICK_SECONDS = 0.1, 0.05
# In full, together the paper's 100 samples, of launches enough for their differences to be in the interval.
FULL, QUICK = Amount(6, 17), Amount(2, 6)
SHARES = {"delay": 0.5, "loop": 0.25}
LARGE, SMALL = 40_000, 10 * KB
# Between the end of rank 1's own share (0) and the end of rank 0's work (1).
MIDDLE = 0.5
Support = Literal["supported", "not supported", "unclear"]

# Way, size, name, whether overlap is supported, and where the paper prints that. It prints only delays.
EXPECTED: tuple[tuple[Way, int, str, bool, str], ...] = (
    (ONE_USER, LARGE, "MPICH2 at 39.06 KB", False, "tables 2, 3"),
    (ONE_USER, SMALL, "MPICH2 at 10 KB", True, "table 6"),
    (SOLARIS, LARGE, "LAM and MPICH1 at 39.06 KB", True, "table 4"),
    (ONE_USER_SOCKET, LARGE, "MPICH2 at 39.06 KB, by a small socket buffer", False, "tables 2, 3"),
    (ONE_USER_SOCKET, SMALL, "MPICH2 at 10 KB, by a small socket buffer", True, "table 6"),
    (
        SOLARIS_SOCKET,
        LARGE,
        "LAM and MPICH1 at 39.06 KB, by a larger socket buffer",
        True,
        "table 4",
    ),
    (DEFAULT, LARGE, "MPICH as it comes at 39.06 KB", True, ""),
    (TESTED, LARGE, "MPICH2 at 39.06 KB with MPI_Test", True, ""),
    (THREADED, LARGE, "MPICH2 at 39.06 KB with a thread", True, ""),
)
CASES = tuple((way, size) for way, size, *_ in EXPECTED)


def plan(cluster: Cluster, *, quick: bool, seconds: float | None = None) -> Plan:
    """All cases with delays and with loops; `seconds` is the work of rank 0."""
    work_s = seconds or (QUICK_SECONDS if quick else SECONDS)
    amount = QUICK if quick else FULL

    def steps(measurement: Measurement) -> None:
        for number in range(amount.launches):
            for work, share in SHARES.items():
                words = ["--work", work, "--seconds", str(work_s), "--share", str(share)]
                for way, size in CASES:
                    overlap.launch(
                        measurement,
                        way,
                        "synchronisation.c",
                        [*words, "--size", size, "--passes", amount.passes],
                        number=number,
                        at={"work": work},
                    )

    sweep = {
        "seconds": work_s,
        "paper_seconds": PAPER_SECONDS,
        "scale": work_s / PAPER_SECONDS,
        "shares": SHARES,
        "launches": amount.launches,
        "passes": amount.passes,
    }
    return Plan(amount.launches * len(CASES) * len(SHARES), sweep, steps)


def places(record: Record, way: Way, size: int, work: str) -> Summary:
    """Where rank 1 ends, pass by pass: 0 is with its own share, 1 is with rank 0's work.

    LabError when the Record has no such samples.
    """
    times = _times(record, way, size, work)
    own, others = times["1 worked"], times["0 worked"]
    return of_rows((times["1 ended"] - own) / (others - own), busy=record.busy)


def support(place: Summary) -> Support:
    """Whether a message leaves while its sender works."""
    if place.high < MIDDLE:
        return "supported"
    return "not supported" if place.low > MIDDLE else "unclear"


def overlaps(work: str, way: Way, size: int, case: str, expected: bool, table: str) -> Claim:
    """Tables 2-4 and 6, and two ways to make progress: whether overlap is supported in this case."""
    says = "rank 1's end, from its own share (0) to rank 0's work (1)"
    place = Quantity(says, lambda record: places(record, way, size, work), "of the way")
    judge = place < MIDDLE if expected else place > MIDDLE
    printed = table if work == "delay" else ""  # the paper prints nothing about loops
    found = f"{'' if expected else 'not '}supported" + (f" ({printed})" if printed else "")
    return Claim(
        f"{way.mpich}-{way.progress}-{size}-{work}",
        f"Synchronisation overlap, {work} as work; {case}: {found}",
        overlap.in_way(way, judge, LONGER),
        place=printed or OWN,
        rests_on="demonstration" if table else "measurement",  # a limit of ours places the step
    )


def paper_table(record: Record) -> pd.DataFrame:
    """The Record in the form of the paper's tables 2-4 and 6, with the median next to the average."""
    times = table(record, "since_barrier_s")
    by = ["mpich", "progress", "work", "size_bytes", "rank"]
    ended = times[times.event == "ended"].groupby(by)["since_barrier_s"]
    statistics = ended.agg(
        samples="count", min_s="min", max_s="max", average_s="mean", median_s="median"
    )
    shown = statistics.reset_index().rename(columns={"rank": "process"})
    shown.insert(3, "message_kb", (shown.pop("size_bytes") / KB).round(2))
    return shown


def picture(record: Record) -> Figure:
    """The timeline of both ranks, starting at the barrier: medians, with the interval of each end."""
    from beowulf.figures import segments
    from beowulf.figures.segments import Part

    work = "delay" if record.select(work="delay") else "loop"
    bars: dict[str, list[Part]] = {}
    marks = []
    cases = {case: partial(_times, record, *case, work) for case in CASES}
    tables = {(way, size): where for way, size, *_, where in EXPECTED if where}
    for (way, size), times in overlap.of_cases("D1", cases).items():
        at = {name: of_rows(times[name], busy=record.busy) for name in times}
        for rank, doing in ((0, "waits in MPI_Wait"), (1, "waits in MPI_Recv")):
            worked, ended = at[f"{rank} worked"], at[f"{rank} ended"]
            if work == "delay" and (way, size) in tables:  # with a loop, the paper prints nothing
                ended_s = papers.figure(
                    "D-synchronisation", "average_s", table=tables[way, size][-1], process=rank
                )
                scaled = 1e3 * at["0 worked"].median * ended_s / PAPER_SECONDS
                marks.append((scaled, float(len(bars))))
            bars[f"{kb(size)}, {way.says}: rank {rank}"] = [
                Part("works", 1e3 * worked.median),
                Part(
                    doing,
                    1e3 * max(ended.median - worked.median, 0.0),
                    1e3 * ended.low,
                    1e3 * ended.high,
                ),
            ]
    figure = segments.timeline(
        bars, title="When are both ranks done?", value_title="time since the barrier (ms)"
    )
    return overlap.with_printed(figure, marks, "paper D's averages, its 4 s scaled to ours")


def _times(record: Record, way: Way, size: int, work: str) -> pd.DataFrame:
    """One row a pass, one column a rank and event, such as `1 ended`; in seconds."""
    at = {**way.at, "work": work, "size_bytes": size}
    samples = chosen(record, "since_barrier_s", **at)
    samples = samples.assign(what=samples["rank"].astype(str) + " " + samples["event"])
    wide = samples.pivot(index=["launch", "pass"], columns="what", values="since_barrier_s")
    return wide.dropna()


STUDY = Study(
    id="D1",
    title="Synchronisation overlap: does a message wait for its sender's work?",
    plan=plan,
    judged=[overlaps(work, *case) for work in SHARES for case in EXPECTED],
    draw=picture,
    as_printed=paper_table,
    troubles=overlap.late_by("since_barrier_s"),
    needs=(CABLE,),
    differs={
        "holds": (
            "MPI moves bytes only inside its calls, as in the paper's time: what exceeds a send buffer or an eager"
            " limit waits until the sender's work is over, and the rest leaves at once."
        ),
        "contradicted": (
            "What leaves at once depends on the library and the kernel, so a limit may hold back more, or less, than"
            " the same limit did on the paper's clusters."
        ),
        "inconclusive": (
            "Rank 1 ended between its own share and rank 0's work, or the nodes could not be given the paper's"
            " limits: longer work, or a cluster of this machine with MPICH's CH3, can decide it."
        ),
    },
)
