"""D1, synchronisation overlap: can a message leave while its sender works?

Paper D, figure 1 and tables 2-4 and 6. Rank 0 posts a message and works; rank 1 works a share of
that and receives. Overlap is supported if and only if rank 1 is done when its own share is done.
The paper's work lasts 4 s (rank 0) and 2 s (rank 1). Here it lasts 0.1 s, in the same proportion,
which is still long against the 4 ms that the message takes; `seconds=4.0`, or the program's own
`--seconds 4`, is the paper's. The text says that rank 1 works a quarter; where the work is a delay,
the tables have half, and so has this study; where it is a computation, it is the quarter of figure 7.

The paper's clusters are made in two ways: by the library's eager limit, and by the connection's send buffer with the
eager limit as the library comes. The library wholly as it comes is a third one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.labs.lab_05.overlap import (
    DEFAULT,
    KB,
    NOT_FIXED,
    ONE_USER,
    ONE_USER_SOCKET,
    SHARE_OF_WORK,
    SOLARIS,
    SOLARIS_SOCKET,
    TESTED,
    THREADED,
    Way,
    absent,
    chosen,
    kb,
    launch,
    not_so,
)
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.statistics import Summary
from beowulf.measure.table import of_rows, table
from beowulf.record import Record
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study, undecided
from beowulf.verdict import Outcome

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

PAPER_SECONDS = 4.0
SECONDS, QUICK_SECONDS = 0.1, 0.05
LAUNCHES, PASSES = 4, 25  # together the paper's 100 samples
QUICK_LAUNCHES, QUICK_PASSES = 2, 6
SHARES = {"delay": 0.5, "loop": 0.25}
LARGE, SMALL = 40_000, 10 * KB
CASES = (
    (ONE_USER, LARGE),
    (ONE_USER, SMALL),
    (SOLARIS, LARGE),
    (ONE_USER_SOCKET, LARGE),
    (ONE_USER_SOCKET, SMALL),
    (SOLARIS_SOCKET, LARGE),
    (DEFAULT, LARGE),
    (TESTED, LARGE),
    (THREADED, LARGE),
)
# Between the end of rank 1's own share (0) and the end of rank 0's work (1).
MIDDLE = 0.5
LONGER = {"advice": "Let the work last longer against the message, and leave the machine alone."}

Support = Literal["supported", "not supported", "unclear"]

EXPECTED: tuple[tuple[Way, int, Support, str], ...] = (
    (ONE_USER, LARGE, "not supported", "MPICH2 at 39.06 KB: not supported (tables 2, 3)"),
    (ONE_USER, SMALL, "supported", "MPICH2 at 10 KB: supported (table 6)"),
    (SOLARIS, LARGE, "supported", "MPICH1 at 39.06 KB: supported (table 4)"),
    (
        ONE_USER_SOCKET,
        LARGE,
        "not supported",
        "MPICH2 at 39.06 KB, by a small socket buffer: not supported (tables 2, 3)",
    ),
    (
        ONE_USER_SOCKET,
        SMALL,
        "supported",
        "MPICH2 at 10 KB, by a small socket buffer: supported (table 6)",
    ),
    (
        SOLARIS_SOCKET,
        LARGE,
        "supported",
        "MPICH1 at 39.06 KB, by a larger socket buffer: supported (table 4)",
    ),
    (DEFAULT, LARGE, "supported", "MPICH as it comes at 39.06 KB: supported"),
    (TESTED, LARGE, "supported", "MPICH2 at 39.06 KB with MPI_Test: supported"),
    (THREADED, LARGE, "supported", "MPICH2 at 39.06 KB with a thread: supported"),
)


def plan(cluster: Cluster, *, quick: bool, seconds: float | None = None) -> Plan:
    """All cases with delays and with loops; `seconds` is the work of rank 0."""
    work_s = seconds or (QUICK_SECONDS if quick else SECONDS)
    launches = QUICK_LAUNCHES if quick else LAUNCHES
    passes = QUICK_PASSES if quick else PASSES

    def steps(measurement: Measurement) -> None:
        for number in range(launches):
            for work, share in SHARES.items():
                for way, size in CASES:
                    words = ["--work", work, "--seconds", work_s, "--share", share]
                    launch(
                        measurement,
                        way,
                        "synchronisation.c",
                        [*map(str, words), "--size", size, "--passes", passes],
                        number=number,
                        at={"work": work},
                    )

    sweep = {
        "seconds": work_s,
        "paper_seconds": PAPER_SECONDS,
        "scale": work_s / PAPER_SECONDS,
        "shares": SHARES,
        "launches": launches,
        "passes": passes,
    }
    return Plan(launches * len(CASES) * len(SHARES), sweep, steps)


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


def overlaps(work: str, way: Way, size: int, expected: Support, case: str) -> Claim:
    """Tables 2-4 and 6, and what brings progress: whether overlap is supported in this case."""

    def judge(record: Record) -> Judgement:
        if why := absent(record, way):
            return undecided(why, NOT_FIXED)
        place = places(record, way, size, work)
        seen = support(place)
        outcome: Outcome = "holds" if seen == expected else "contradicted"
        evidence = (
            f"{seen}: rank 1 ends at {place.median:.2f} ({place.low:.2f} to {place.high:.2f}) of the way"
            f" from its own share (0) to rank 0's work (1); n = {place.n}"
        )
        numbers = {"place": place.median, "low": place.low, "high": place.high, "n": place.n}
        return Judgement(
            "inconclusive" if seen == "unclear" else outcome,
            evidence,
            numbers,
            **{**LONGER, **not_so(record, way)},
        )

    name = f"{way.mpich}-{way.progress}-{size}-{work}"
    return Claim(name, f"Synchronisation overlap, {work} as work; {case}", judge)


def troubles(record: Record) -> list[str]:
    """Launches that differ by a small share of the work count as equal."""
    return trouble(record, "since_barrier_s", SHARE_OF_WORK * record.sweep.get("seconds", 0.0))


def paper_table(record: Record) -> pd.DataFrame:
    """The Record in the form of the paper's tables 2-4 and 6, with the median beside the average."""
    times = table(record, "since_barrier_s")
    ended = times[times.event == "ended"]
    by = ["mpich", "progress", "work", "size_bytes", "rank"]
    grouped = ended.groupby(by)["since_barrier_s"].agg(["count", "min", "max", "mean", "median"])
    names = {
        "count": "samples",
        "min": "min_s",
        "max": "max_s",
        "mean": "average_s",
        "median": "median_s",
        "rank": "process",
    }
    shown = grouped.reset_index().rename(columns=names)
    shown.insert(3, "message_kb", (shown.pop("size_bytes") / KB).round(2))
    return shown


def picture(record: Record) -> Figure:
    """The timeline of both ranks, from the barrier on: medians, with the interval of each end."""
    from beowulf.figures import segments
    from beowulf.figures.segments import Part

    work = "delay" if record.select(work="delay") else "loop"
    bars = {}
    for way, size in CASES:
        try:
            times = _times(record, way, size, work)
        except LabError:
            continue
        at = {name: of_rows(times[name], busy=record.busy) for name in times}
        for rank, doing in ((0, "waits in MPI_Wait"), (1, "waits in MPI_Recv")):
            worked, ended = at[f"{rank} worked"], at[f"{rank} ended"]
            bars[f"{kb(size)}, {way.says}: rank {rank}"] = [
                Part("works", 1e3 * worked.median),
                Part(
                    doing,
                    1e3 * max(ended.median - worked.median, 0.0),
                    1e3 * ended.low,
                    1e3 * ended.high,
                ),
            ]
    if not bars:
        raise LabError("The Record of study D1 has no samples.", "Measure again.")
    return segments.timeline(
        bars, title="When are both ranks done?", value_title="time since the barrier (ms)"
    )


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
    troubles=troubles,
    needs=(CABLE,),
    differs={
        "holds": (
            "MPI moves bytes only inside of its calls, as then, so whatever exceeds the send "
            "buffer or the eager limit waits until the sender's work is over, and what fits "
            "leaves at once."
        ),
        "contradicted": (
            "How much leaves at once is up to the library and the kernel: MPICH's eager limit is "
            "131,072 bytes and send buffers grow today, so a message waits, or leaves, otherwise "
            "than on the paper's clusters where their limits are not in force."
        ),
        "inconclusive": (
            "Rank 1 ended between its own share and rank 0's work, or the nodes could not be "
            "given the paper's limits, so neither answer can be read off."
        ),
    },
)
