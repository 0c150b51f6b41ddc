"""The second part of A13: collective calls against the same pattern made of single messages.

Paper A leaves them to future work. MPICH does broadcast, scatter and gather along a tree: four ranks take two steps
instead of three, and the rank in the middle passes on the data of another. It adds long vectors in parts, one per rank,
and then gathers the parts. In an allreduce each rank exchanges its data with one partner after the other: two steps,
where reduce and broadcast take four, and more bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from beowulf import paths
from beowulf.course import personal_code
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.statistics import LEAST_PAIRS
from beowulf.record import Point, Record
from beowulf.studies import wire_costs
from beowulf.studies.quantity import TIMES, Quantity, all_hold, exactly
from beowulf.studies.study import Claim
from beowulf.studies.wire_costs import (
    ALIKE,
    Observed,
    cost,
    counting,
    each,
    observed,
    paired,
    size_text,
    unseen,
)

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.measure.judgement import Span

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
WAYS = {"call": "MPI's call", "loop": "loop of single messages"}
RANKS = 4
KB = 1024
SIZES, QUICK_SIZES = (KB, 16 * KB, 256 * KB), (KB, 16 * KB)
LAUNCHES, PASSES, REPETITIONS = LEAST_PAIRS, 8, 2
QUICK_LAUNCHES, QUICK_PASSES = 1, 12


def planned(quick: bool) -> int:
    """How many launches `measure` makes."""
    return QUICK_LAUNCHES if quick else LAUNCHES


def measure(measurement: Measurement) -> None:
    """All operations by call and by loop, alternating within each launch, under a capture."""
    sizes = QUICK_SIZES if measurement.quick else SIZES
    passes = QUICK_PASSES if measurement.quick else PASSES
    launches = planned(measurement.quick)
    measurement.sweep[PART] = {"sizes": list(sizes), "launches": launches, "passes": passes}
    program = paths.lab("06") / "collectives.c"
    measurement.prepare(program)
    for number in range(launches):
        words: list[str | int] = ["--operations", ",".join(OPERATIONS)]
        words += ["--sizes", ",".join(map(str, sizes)), "--passes", passes]
        words += ["--repetitions", REPETITIONS, "--seed", personal_code.seed(number)]
        with observed(measurement) as wire:
            lines = measurement.launch(program, RANKS, words, launch=number, at={"part": PART})
        count = int(next(line for line in lines if line["kind"] == "about")["operations_each"])
        _keep(measurement, wire, sizes, count, number)


def _keep(
    measurement: Measurement, wire: Observed, sizes: Sequence[int], count: int, number: int
) -> None:
    """Keep what each operation cost on the wire, next to its samples."""
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

    Each place has a communicator of its own. The loop's messages have its context, and the place as
    tag; the call's have the next context. Earlier messages there set up the communicator, and are
    left out.
    """
    places: dict[int, dict[str, pd.DataFrame]] = {}
    if messages.empty:  # from a library other than the classic MPICH
        return places
    loops = messages[(messages["context"] > 1) & ~messages["collective"]]
    for context, loop in loops.groupby("context"):
        calls = messages[messages["context"] == int(str(context)) + 1]
        call = calls[calls.index > loop.index[0]]
        places[int(loop["tag"].iloc[0])] = {"call": call, "loop": loop}
    return places


def points(record: Record, operation: str, way: str, size: int) -> list[Point]:
    """The launches with samples of an operation, by call or by loop."""
    at = {"part": PART, "operation": operation, "way": way, "size_bytes": size}
    return wire_costs.measured(record, OPERATION, **at)


def sizes(record: Record) -> list[int]:
    """The sizes that were measured."""
    return sorted({p.at["size_bytes"] for p in wire_costs.measured(record, OPERATION, part=PART)})


def counted(record: Record, operation: str, way: str, size: int, name: str) -> float:
    """A fact of each operation, averaged over the launches; LabError if nothing was captured."""
    return cost(points(record, operation, way, size), name)


def time_of_call(operation: str, size: int) -> Quantity:
    """A multiple of the loop's of the same pass."""
    return Quantity(
        f"the time of MPI's {OPERATIONS[operation]} of {size_text(size)} over the loop's",
        lambda record: paired(record, *(points(record, operation, way, size) for way in WAYS)),
        TIMES,
    )


def bytes_of_call(operation: str, size: int) -> Quantity:
    """The bytes of all its messages, as a multiple of the loop's."""

    def of(record: Record) -> Span:
        call, loop = (counted(record, operation, way, size, "message_bytes") for way in WAYS)
        return exactly(call / loop)

    says = f"the bytes of all messages of MPI's {OPERATIONS[operation]} of {size_text(size)} over the loop's"
    return Quantity(says, of, TIMES)


def table(record: Record) -> pd.DataFrame:
    """One row per operation, size and way: time with its interval, and each operation's cost on the wire."""
    cases = (
        (
            {"operation": OPERATIONS[operation], "size_bytes": size, "way": way},
            points(record, operation, way, size),
        )
        for operation, size, way in product(OPERATIONS, sizes(record), WAYS)
    )
    return wire_costs.table(record, OPERATION, cases)


def claims(record: Record) -> list[Claim]:
    """For each operation: MPI's call is not slower than the loop, and sends no more bytes."""
    shown = sizes(record) or QUICK_SIZES
    found = [SAVES_TIME]
    for operation, name in OPERATIONS.items():
        found += [
            Claim(
                f"{operation}-{size // KB}kb-not-slower",
                f"MPI's {name} of {size_text(size)} is not slower than the loop, within {ALIKE:.0%}",
                time_of_call(operation, size) < 1 + ALIKE,
                troubles=timed,
            )
            for size in shown
        ]
        found.append(
            Claim(
                f"{operation}-no-more-bytes",
                f"MPI's {name} sends no more bytes than the loop, at any size",
                counting(
                    all_hold(*(bytes_of_call(operation, size).within(0, 1) for size in shown))
                ),
                troubles=partial(unseen, part=PART),
            )
        )
    return found


def timed(record: Record) -> list[str]:
    """Why no time of an operation may be judged."""
    return trouble(record, OPERATION)


# In two steps instead of three, with the same three messages.
SAVES_TIME = Claim(
    "broadcast-16kb-saves-time-not-bytes",
    f"A broadcast of 16 KB by MPI's call sends as many bytes as the loop and takes at least {ALIKE:.0%} less time",
    counting(
        all_hold(
            bytes_of_call("broadcast", 16 * KB).within(1, 1),
            time_of_call("broadcast", 16 * KB) < 1 - ALIKE,
        )
    ),
    troubles=lambda record: [*timed(record), *unseen(record, PART)],
)
