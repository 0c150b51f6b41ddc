"""In from SimGrid: the trace of a simulated run (`smpirun -trace`), in Paje's format, as a Trace like any other."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from beowulf.errors import LabError
from beowulf.timeline.trace import (
    COLLECTIVE,
    COMPLETES,
    EVENT,
    NOBODY,
    PART,
    RECEIVES,
    SENDS,
    UNENDED,
    WAITS,
    RankTrace,
    Trace,
)

MARK_OF_SIMGRID = "#This file was generated using SimGrid"
MARKS = ("PajePushState", "PajePopState", "PajeStartLink", "PajeEndLink")
COLLECTIVES = (
    "MPI_Barrier MPI_Bcast MPI_Reduce MPI_Allreduce MPI_Scan MPI_Exscan MPI_Gather MPI_Gatherv MPI_Scatter MPI_Scatterv"
    " MPI_Allgather MPI_Allgatherv MPI_Alltoall MPI_Alltoallv MPI_Reduce_scatter MPI_Reduce_scatter_block"
).split()
SEEN_NS = (
    1_000_000  # simulated time stands still in a deadlock, and a call that never ends is to be seen
)
# What smpirun is given, with the name of a file after it: a trace with the bytes of each message.
OPTIONS = (
    *("-trace", "--cfg=tracing/smpi:yes", "--cfg=tracing/smpi/display-sizes:yes"),
    "--cfg=tracing/filename:",
)
NOT_SHOWN = ("MPI_Init", "computing", "sleeping")  # a rank's run begins when MPI_Init is over


@dataclass
class _Call:
    name: str
    began_ns: int
    ended_ns: int = -1
    sends: list[tuple[int, int, int]] = field(default_factory=list)  # to which rank, tag, bytes
    receives: list[tuple[int, int, int]] = field(default_factory=list)
    flags: int = 0


def read(file: Path) -> Trace:
    """A simulated run; LabError when the file is no trace of SimGrid's, or has no rank in it."""
    lines = file.read_text(errors="replace").splitlines()
    if not lines or not lines[0].startswith(MARK_OF_SIMGRID):
        raise LabError(
            f"{file} is not a SimGrid trace.",
            f"`smpirun {' '.join(OPTIONS)}FILE …` writes one.",
        )
    numbers = _numbers(lines)
    calls: dict[str, list[_Call]] = {}
    ranks = _ranks(lines, numbers)
    begins = _filled(lines, numbers, ranks, calls)
    if not ranks:
        raise LabError(
            f"{file} has no rank in it.", "Was it written with `--cfg=tracing/smpi:yes`?"
        )
    names = tuple(dict.fromkeys(call.name for each in calls.values() for call in each))
    stuck = [str(ranks[name]) for name, each in calls.items() if any(c.flags for c in each)]
    return Trace(
        tuple(
            _rank(number, len(ranks), calls[name], begins[name], names)
            for name, number in ranks.items()
        ),
        None,
        (f"Ranks in a call that never ends: {', '.join(stuck)}.",) if stuck else (),
        details={"simulated": True},
    )


def _numbers(lines: Sequence[str]) -> dict[str, str]:
    """The number by which each kind of line begins, as the head of the file defines it."""
    defined = [line.split() for line in lines if line.startswith("%EventDef")]
    return {words[1]: words[2] for words in defined if len(words) == 3}


def _rows(lines: Sequence[str], kind: str) -> Iterator[list[str]]:
    for line in lines:
        if line.startswith(f"{kind} "):
            yield shlex.split(line)


def _ranks(lines: Sequence[str], numbers: dict[str, str]) -> dict[str, int]:
    """The alias of each rank's container, and the rank."""
    return {
        row[2]: int(row[5].removeprefix("rank-"))
        for row in _rows(lines, numbers["PajeCreateContainer"])
        if row[5].startswith("rank-")
    }


def _ns(seconds: str) -> int:
    return round(float(seconds) * 1e9)


def _filled(
    lines: Sequence[str],
    numbers: dict[str, str],
    ranks: dict[str, int],
    calls: dict[str, list[_Call]],
) -> dict[str, int]:
    """Put the calls of each rank into `calls`, and give when its run began."""
    values = {row[1]: row[3] for row in _rows(lines, numbers["PajeDefineEntityValue"])}
    push, pop, start, end = (numbers[name] for name in MARKS)
    begins, last_ns = dict.fromkeys(ranks, 0), 0
    calls |= {name: [] for name in ranks}
    stacks: dict[str, list[_Call]] = {name: [] for name in ranks}
    sizes: dict[str, int] = {}  # of a message, by its name
    for line in lines:
        row = line.split()
        if not row or row[0] not in (push, pop, start, end):
            continue
        last_ns = _ns(row[1])
        if row[0] in (push, pop):
            rank = row[3]
            if rank not in ranks:
                continue
            if row[0] == push:
                stacks[rank].append(_Call(values[row[4]].replace("PMPI_", "MPI_"), _ns(row[1])))
                continue
            call = stacks[rank].pop()
            call.ended_ns = _ns(row[1])
            if call.name == "MPI_Init":
                begins[rank] = call.ended_ns
            # A call within another one is how SimGrid does it, and not the program's.
            if call.name not in NOT_SHOWN and not any(
                c.name not in NOT_SHOWN for c in stacks[rank]
            ):
                calls[rank].append(call)
            continue
        rank, (_, to, tag, *_) = row[5], row[6].split("_")
        source = row[6].split("_")[0]
        if rank not in ranks or not stacks[rank]:
            continue
        here = stacks[rank][0]
        if row[0] == start:
            sizes[row[6]] = int(row[7]) if len(row) > 7 else 0
            here.sends.append((int(to) - 1, int(tag), sizes[row[6]]))
        else:
            here.receives.append((int(source) - 1, int(tag), sizes.get(row[6], 0)))
    for rank, stack in stacks.items():  # of a run that was stopped
        for call in [each for each in stack if each.name not in NOT_SHOWN][:1]:
            call.ended_ns, call.flags = last_ns + SEEN_NS, UNENDED
            calls[rank].append(call)
    return begins


def _rank(
    number: int, ranks: int, calls: Sequence[_Call], began_ns: int, names: tuple[str, ...]
) -> RankTrace:
    rows = []
    for call in calls:
        place = names.index(call.name)
        flags = COLLECTIVE if call.name in COLLECTIVES else 0
        flags |= (WAITS if "Wait" in call.name else 0) | call.flags
        parts = (
            []
            if flags & COLLECTIVE
            else [
                *((SENDS, *each) for each in call.sends),
                *((RECEIVES | COMPLETES, *each) for each in call.receives),
            ]
        )
        first = parts.pop(0) if len(parts) == 1 else (0, NOBODY, 0, 0)
        for extra, partner, tag, size in (first, *((kind | PART, *rest) for kind, *rest in parts)):
            rows.append(
                (
                    call.began_ns,
                    call.ended_ns,
                    size,
                    partner,
                    tag,
                    0,
                    place,
                    extra | (0 if extra & PART else flags),
                    0,
                    1,
                    0,
                )
            )
    events = np.array(rows, dtype=EVENT)
    ended = int(events["ended_ns"].max()) if rows else began_ns
    return RankTrace(
        number,
        ranks,
        f"node{number:02}",
        "simulated",
        began_ns,
        ended,
        events,
        names,
        ((0, 0, ranks),),
        np.zeros(0, dtype=[("monotonic_ns", "<i8"), ("real_ns", "<i8")]),
        (),
    )
