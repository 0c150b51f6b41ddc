"""The second part of A13: collective calls against the same pattern made of single messages.

Paper A leaves broadcast, scatter, gather and reduce to future work. MPICH does them along a tree:
with four ranks the root talks to two, and one of these to the fourth, so that there are two steps
instead of three; in scatter and gather the one in the middle passes on what is another's. It adds
long vectors in parts, each rank a part, and then gathers them. In all-to-all there is nothing to
pass on. In an allreduce all ranks exchange what they have with one partner after the other: that takes
two steps where reduce and broadcast take four, and more bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from beowulf import paths, variant
from beowulf.errors import LabError
from beowulf.measure.judgement import below, together
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.statistics import LEAST_PAIRS, Ratio
from beowulf.measure.table import summary_of
from beowulf.record import Point, Record
from beowulf.studies.study import Claim, Judgement
from beowulf.studies.wire_costs import (
    ALIKE,
    Observed,
    Panel,
    cost,
    counting,
    each,
    not_slower,
    observed,
    paired,
    size_text,
    times,
    unseen,
)
from beowulf.verdict import Outcome

if TYPE_CHECKING:
    import pandas as pd

PART = "collectives"
OPERATION = "operation_us"
OPERATIONS = {
    "broadcast": "broadcast",
    "scatter": "scatter",
    "gather": "gather",
    "reduce": "reduce",
    "alltoall": "all-to-all",
    "allreduce": "allreduce",
}
RANKS = 4
KB = 1024
SIZES, QUICK_SIZES = (KB, 16 * KB, 256 * KB), (KB, 16 * KB)
LAUNCHES, PASSES, REPETITIONS = LEAST_PAIRS, 8, 2
QUICK_LAUNCHES, QUICK_PASSES = 1, 12


def planned(quick: bool) -> int:
    """How many launches `measure` makes."""
    return QUICK_LAUNCHES if quick else LAUNCHES


def measure(measurement: Measurement) -> None:
    """All operations by call and by loop, in turns within each launch, under a capture."""
    sizes = QUICK_SIZES if measurement.quick else SIZES
    passes = QUICK_PASSES if measurement.quick else PASSES
    launches = planned(measurement.quick)
    measurement.sweep[PART] = {"sizes": list(sizes), "launches": launches, "passes": passes}
    program = paths.root() / "labs" / "06-protocol-analysis" / "collectives.c"
    measurement.prepare(program)
    for number in range(launches):
        words: list[str | int] = ["--operations", ",".join(OPERATIONS)]
        words += ["--sizes", ",".join(map(str, sizes)), "--passes", passes]
        words += ["--repetitions", REPETITIONS, "--seed", variant.seed(number)]
        with observed(measurement) as wire:
            lines = measurement.launch(program, RANKS, words, launch=number, at={"part": PART})
        count = int(next(line for line in lines if line["kind"] == "about")["operations_each"])
        _keep(measurement, wire, sizes, count, number)


def _keep(
    measurement: Measurement, wire: Observed, sizes: Sequence[int], count: int, number: int
) -> None:
    """Put what each operation cost on the wire beside its samples."""
    for place, mine in by_place(wire.messages).items():
        operation, size = list(OPERATIONS)[place // len(sizes)], sizes[place % len(sizes)]
        for way, rows in mine.items():
            at = {"operation": operation, "way": way, "size_bytes": size, "part": PART}
            at |= {"ranks": RANKS, "launch": number}
            measurement.add(at, OPERATION, ()).facts.update(
                {"each": each(rows, count), "operations": count, "capture": wire.capture}
            )


def by_place(messages: pd.DataFrame) -> dict[int, dict[str, pd.DataFrame]]:
    """The messages of a capture by place of the sweep and way.

    Each place has a communicator of its own. The loop's messages have its context and the place as
    tag, the call's the next context. What came there before the loop's first message set the
    communicator up and is left out.
    """
    places: dict[int, dict[str, pd.DataFrame]] = {}
    if messages.empty:  # of another library than the classic MPICH
        return places
    loops = messages[(messages["context"] > 1) & ~messages["collective"]]
    for context, loop in loops.groupby("context"):
        calls = messages[messages["context"] == int(str(context)) + 1]
        call = calls[calls.index > loop.index[0]]
        places[int(loop["tag"].iloc[0])] = {"call": call, "loop": loop}
    return places


def points(record: Record, operation: str, way: str, size: int) -> list[Point]:
    """The launches of an operation in one of both ways, those with samples."""
    launches = record.select(part=PART, operation=operation, way=way, size_bytes=size)
    return [point for point in launches if point.samples]


def sizes(record: Record) -> list[int]:
    """The sizes that were measured."""
    launches = [point for point in record.select(part=PART) if point.quantity == OPERATION]
    return sorted({int(point.at["size_bytes"]) for point in launches if point.samples})


def compared(record: Record, operation: str, size: int) -> Ratio:
    """The call's time as a multiple of the loop's of the same pass; LabError without samples."""
    call, loop = (points(record, operation, way, size) for way in ("call", "loop"))
    return paired(call, loop, busy=record.busy)


def counted(record: Record, operation: str, way: str, size: int, name: str) -> float:
    """A fact of each operation, averaged over the launches; LabError where nothing was captured."""
    return cost(points(record, operation, way, size), name)


def sent_bytes(record: Record, operation: str, size: int) -> tuple[float, float]:
    """The bytes of all messages of a call, and of a loop; LabError where nothing was captured."""
    call, loop = (
        counted(record, operation, way, size, "message_bytes") for way in ("call", "loop")
    )
    return call, loop


def table(record: Record) -> pd.DataFrame:
    """One row an operation, size and way: time with its interval, and each operation's cost on the wire."""
    import pandas as pd

    rows = []
    for operation in OPERATIONS:
        for size in sizes(record):
            for way in ("call", "loop"):
                here = points(record, operation, way, size)
                if not here:
                    continue
                seen = summary_of(here, busy=record.busy)
                row = {"operation": OPERATIONS[operation], "size_bytes": size, "way": way}
                row |= {"n": seen.n, OPERATION: seen.median}
                row |= {"low_us": seen.low, "high_us": seen.high}
                facts = [point.facts["each"] for point in here if "each" in point.facts]
                if facts:
                    row |= {k: sum(f[k] for f in facts) / len(facts) for k in facts[0]}
                rows.append(row)
    if not rows:
        raise LabError("The Record has no collective operations.", "Measure again.")
    return pd.DataFrame(rows)


def claims(record: Record) -> list[Claim]:
    """For each operation: MPI's call is not slower than the loop, and sends no more bytes."""
    shown = sizes(record) or list(QUICK_SIZES)
    by_operation = [
        [*(not_slower_at(operation, size) for size in shown), no_more_bytes(operation)]
        for operation in OPERATIONS
    ]
    return [SAVES_TIME, *(claim for each in by_operation for claim in each)]


def timed(record: Record) -> list[str]:
    """Why no time of an operation may be judged."""
    return trouble(record, OPERATION)


@counting
def saves_time(record: Record) -> Judgement:
    """A broadcast in two steps instead of three, with the same three messages."""
    seen = compared(record, "broadcast", 16 * KB)
    call, loop = sent_bytes(record, "broadcast", 16 * KB)
    same_bytes: Outcome = "holds" if call == loop else "contradicted"
    return Judgement(
        together([same_bytes, below(seen, 1 - ALIKE)]),
        f"{call:,.0f} bytes against {loop:,.0f}, and {times(seen)} as long",
        {"times": seen.median, "low": seen.low, "high": seen.high},
    )


SAVES_TIME = Claim(
    "broadcast-16kb-saves-time-not-bytes",
    "A broadcast of 16 KB by MPI's call sends as many bytes as the loop and takes less time",
    saves_time,
    troubles=lambda record: [*timed(record), *unseen(record, PART)],
)


def not_slower_at(operation: str, size: int) -> Claim:
    """The call's time against the loop's."""

    def judge(record: Record) -> Judgement:
        seen = compared(record, operation, size)
        return Judgement(
            not_slower(seen),
            f"{times(seen)} as long as the loop",
            {"times": seen.median, "low": seen.low, "high": seen.high, "n": seen.n},
        )

    says = (
        f"MPI's {OPERATIONS[operation]} of {size_text(size)} is not slower than the loop,"
        f" within {ALIKE:.0%}"
    )
    return Claim(f"{operation}-{size // KB}kb-not-slower", says, judge, troubles=timed)


def no_more_bytes(operation: str) -> Claim:
    """The bytes of the call's messages against those of the loop's, at every size."""

    @counting
    def judge(record: Record) -> Judgement:
        parts, numbers, more = [], {}, False
        for size in sizes(record):
            try:
                call, loop = sent_bytes(record, operation, size)
            except LabError:
                continue
            more |= call > loop
            parts.append(f"{size_text(size)}: {call:,.0f} against {loop:,.0f}")
            numbers[f"times_at_{size}"] = call / loop
        if not parts:
            raise LabError("There is no capture of this operation.", "Measure again.")
        evidence = "bytes of all messages, " + "; ".join(parts)
        return Judgement("contradicted" if more else "holds", evidence, numbers)

    says = f"MPI's {OPERATIONS[operation]} sends no more bytes than the loop, at any size"
    name = f"{operation}-no-more-bytes"
    return Claim(name, says, judge, troubles=lambda record: unseen(record, PART))


def panels(record: Record, size: int) -> list[Panel]:
    """Time, messages and bytes of each operation by call and by loop, at one size."""
    results = table(record)
    here = {
        way: results[(results.size_bytes == size) & (results.way == way)]
        for way in ("call", "loop")
    }
    labels = {"call": "MPI's call", "loop": "loop of single messages"}

    def values(column: str, scale: float = 1.0) -> dict[str, dict[str, float]]:
        return {
            labels[way]: {
                str(o): float(v) * scale for o, v in zip(rows.operation, rows[column], strict=True)
            }
            for way, rows in here.items()
            if column in rows
        }

    spans = {
        (labels[way], str(row.operation)): (
            float(str(row.low_us)) / 1e3,
            float(str(row.high_us)) / 1e3,
        )
        for way, rows in here.items()
        for row in rows.itertuples()
    }
    return [
        Panel("How long?", "slowest rank (ms)", values(OPERATION, 1e-3), spans),
        Panel("How many messages?", "an operation", values("messages"), {}),
        Panel("How many bytes?", "KB of frames an operation", values("wire_bytes", 1 / KB), {}),
    ]
