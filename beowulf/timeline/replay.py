"""What would a recorded run cost on another network? SimGrid replays the calls of its ranks on a platform.

Each rank does what it did, in the same order: between its calls it takes as long as was recorded, and each message and
collective call takes what the platform says. Who received from whom stays as it was, also where a receive would have
taken a message from anybody. Collective calls are made of the messages that MPICH makes them of.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from beowulf.cluster.simulated import cluster as simulated
from beowulf.cluster.simulated.platform import Platform
from beowulf.errors import LabError, UsageError
from beowulf.timeline import matching
from beowulf.timeline.trace import (
    COLLECTIVE,
    COMPLETES,
    FAILED,
    MARK,
    NOBODY,
    PART,
    RECEIVES,
    SENDS,
)

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.timeline.analysis import Analysis

# Between two tests that found nothing, a program that does so little does not compute: it waits.
POLLING_NS = 2_000
POLLS = ("MPI_Test", "MPI_Testany", "MPI_Testsome", "MPI_Testall", "MPI_Iprobe", "MPI_Improbe")
BUFFERED, SYNCHRONOUS = ("MPI_Bsend", "MPI_Ibsend"), ("MPI_Ssend", "MPI_Issend")
WITHOUT_MESSAGES = "MPI_Comm_free"
# Above these sizes MPICH 3.4 goes another way: MPIR_CVAR_BCAST_SHORT_MSG_SIZE and _MIN_PROCS, REDUCE_SHORT_MSG_SIZE,
# ALLREDUCE_SHORT_MSG_SIZE in its src/mpi/coll.
LONG_BYTES = {"MPI_Bcast": 12_287, "MPI_Reduce": 2_048, "MPI_Allreduce": 2_048}
LONG_BCAST_RANKS = 8
LONG = {
    "MPI_Bcast": "scatter {part} {part} {root}, allgather {part} {part}",
    "MPI_Reduce": "reducescatter {parts} 0, gather {part} {part} {root}",
    "MPI_Allreduce": "reducescatter {parts} 0, allgather {part} {part}",
}
# SimGrid's words for collective calls. No size is 0: it takes that for one that is not known.
SHORT = {
    "MPI_Bcast": "bcast {most} {root}",
    "MPI_Reduce": "reduce {most} 0 {root}",
    "MPI_Allreduce": "allreduce {most} 0",
    "MPI_Scan": "scan {most} 0",
    "MPI_Exscan": "exscan {most} 0",
    "MPI_Gather": "gather {most} {most} {root}",
    "MPI_Gatherv": "gatherv {own} {sizes} {root}",
    "MPI_Scatter": "scatter {most} {most} {root}",
    "MPI_Scatterv": "scatterv {sizes} {own} {root}",
    "MPI_Allgather": "allgather {most} {most}",
    "MPI_Allgatherv": "allgatherv {own} {sizes}",
    "MPI_Alltoall": "alltoall {part} {part}",
    "MPI_Alltoallv": "alltoallv {given} {got}",
    "MPI_Alltoallw": "alltoallv {given} {got}",
    "MPI_Reduce_scatter": "reducescatter {parts} 0",
    "MPI_Reduce_scatter_block": "reducescatter {parts} 0",
    # MPICH agrees on the number of a new communicator: all ranks wait for each other.
    **dict.fromkeys(
        "MPI_Barrier MPI_Comm_dup MPI_Comm_dup_with_info MPI_Comm_split MPI_Comm_split_type MPI_Comm_create"
        " MPI_Cart_create MPI_Cart_sub".split(),
        "barrier",
    ),
}
# SimGrid 3.32 knows MPICH's choices, but those for these three end a replay by a crash.
ALGORITHMS = (
    "--cfg=smpi/coll-selector:mpich",
    "--cfg=smpi/bcast:binomial_tree",
    "--cfg=smpi/reduce:binomial",
    "--cfg=smpi/allreduce:rdb",
)
COMPUTING = "--cfg=smpi/simulate-computation:yes"
TO_NOBODY = re.compile(r"\d+ i?(send|recv) -")
HOSTS, LIST = "places", "traces"
TIME = re.compile(r"Simulation time ([0-9.]+)")


@dataclass(frozen=True)
class Replayed:
    """From the first call that moves data to the end of the last one, in ms: as recorded, and as replayed."""

    recorded_ms: float
    ms: float

    @property
    def ratio(self) -> float:
        """How many times as long the run is in the replay."""
        return self.ms / self.recorded_ms


class _Message(NamedTuple):
    number: int
    source: int
    to: int
    size: int
    kind: str  # the call that sent it

    @property
    def tag(self) -> int:
        """Its own: what SimGrid waits for is never another message between the same ranks."""
        return 2 * self.number

    def sent(self, *, blocking: bool) -> Iterator[str]:
        """What its sender does; a synchronous send is over when the receiver has said that it takes the message."""
        blocking = blocking and self.kind not in BUFFERED
        yield f"{'send' if blocking else 'isend'} {self.to} {self.tag} {self.size}"
        if self.kind in SYNCHRONOUS:
            yield f"{'recv' if blocking else 'irecv'} {self.to} {self.tag + 1} 1"

    def sender_waits(self) -> Iterator[str]:
        """How its sender waits for what it began."""
        if self.kind not in BUFFERED:
            yield f"wait {self.source} {self.to} {self.tag}"
        if self.kind in SYNCHRONOUS:
            yield f"wait {self.to} {self.source} {self.tag + 1}"

    def taken(self, first: str) -> Iterator[str]:
        """What its receiver does, `recv` or `wait`, until it has it."""
        yield first
        if self.kind in SYNCHRONOUS:
            yield f"send {self.source} {self.tag + 1} 1"


@dataclass(frozen=True)
class _Run:
    """What belongs to the events of a run, by their places."""

    calls: tuple[str, ...]
    began: dict[int, _Message]  # where its send or its receive began
    sent: dict[int, list[_Message]]  # those for whose end a later call waited
    received: dict[int, list[_Message]]
    collectives: dict[int, tuple[list[int], int]]  # bytes of each rank, the root
    since_ns: int
    until_ns: int


def replay(found: Analysis, platform: Platform) -> Replayed:
    """A recorded run on a platform, whose cores have a rank each; LabError where it cannot be replayed."""
    ranks = len(found.trace.ranks)
    if ranks > platform.nodes * platform.cores:
        raise UsageError(
            f"The run has {ranks} ranks, more than the platform has cores ({platform.nodes * platform.cores}).",
            "Give the platform more `nodes` or `cores`.",
        )
    run = read(found)
    with tempfile.TemporaryDirectory(prefix="beowulf-") as scratch:
        folder = Path(scratch)
        for rank, lines in enumerate(actions(found, run)):
            content = (f"{rank} {line}\n" for line in ["init", *lines, "finalize"])
            (folder / f"rank-{rank}").write_text("".join(content))
        (folder / LIST).write_text("".join(f"rank-{rank}\n" for rank in range(ranks)))
        ms = _simulated_ms(platform, ranks, folder)
    return Replayed((run.until_ns - run.since_ns) / 1e6, ms)


def simgrids_own(
    trace: Path, platforms: Sequence[Platform], options: Sequence[str] = ()
) -> list[float]:
    """The ms of a simulated run, kept by SimGrid itself as `written_to` asks, on each of several platforms."""
    _leave_out_nobody(trace)
    ranks = len(trace.read_text().splitlines())

    def ms(platform: Platform) -> float:
        with tempfile.TemporaryDirectory(prefix="beowulf-") as scratch:
            return _simulated_ms(platform, ranks, Path(scratch), trace, [COMPUTING, *options])

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(ms, platforms))


def written_to(trace: Path, platform: Platform) -> list[str]:
    """The options by which SimGrid keeps what each rank of a run does, in the words of its replay.

    Computing takes as long as on this machine's core, on which one rank after the other has its turn.
    """
    return [
        *("-trace-ti", "-trace-file", str(trace), "--cfg=tracing/smpi/sleeping:yes"),
        *(COMPUTING, f"--cfg=smpi/host-speed:{platform.gflops!r}Gf", *ALGORITHMS),
    ]


def _leave_out_nobody(trace: Path) -> None:
    """Take out messages to and from MPI_PROC_NULL, by which a replay crashes."""
    sent = received = 0
    for file in map(Path, trace.read_text().splitlines()):
        lines = file.read_text().splitlines(keepends=True)
        kept = [line for line in lines if not TO_NOBODY.match(line)]
        words = [line.split(maxsplit=2)[1] for line in kept]
        sent += words.count("send") + words.count("isend")
        received += words.count("recv") + words.count("irecv")
        if len(kept) < len(lines):
            file.write_text("".join(kept))
    if sent != received:
        raise LabError(
            f"Sends and receives that name their partner differ in number ({sent}, {received}): the run"
            f" cannot be replayed.",
            "Does it receive from MPI_ANY_SOURCE?",
        )


def actions(found: Analysis, run: _Run) -> list[list[str]]:
    """What each rank does, in the words of SimGrid's replay."""
    rows, ranks = found.events, range(len(found.trace.ranks))
    return [list(_of_rank(rank, rows[rows["rank"] == rank], run)) for rank in ranks]


def _simulated_ms(
    platform: Platform,
    ranks: int,
    folder: Path,
    trace: Path = Path(LIST),
    options: Sequence[str] = (),
) -> float:
    simulated.beside(platform, folder)
    places = (platform.names[rank % platform.nodes] for rank in range(ranks))
    (folder / HOSTS).write_text("".join(f"{name}\n" for name in places))
    words = [simulated.SMPIRUN, "-np", str(ranks), "-no-privatize"]
    words += ["-platform", simulated.PLATFORM_XML, "-hostfile", HOSTS, "-replay", str(trace)]
    words += [*simulated.OPTIONS, "--log=smpi_replay.thresh:info", *platform.factors(), *ALGORITHMS]
    if ranks & (ranks - 1):  # one of MPICH's ways is for powers of two alone in SimGrid
        words.append("--cfg=smpi/alltoall:ring")
    for name in ("send-is-detached-thresh", "async-small-thresh"):
        words.append(f"--cfg=smpi/{name}:{platform.eager_bytes}")
    words += options
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if "Deadlock detected" in done.stdout:
        raise LabError(
            f"On this platform the run never ends. {simulated.DEADLOCK}",
            f"A message of {platform.eager_bytes:,} bytes or more (`eager_bytes`) leaves when its receiver asks for it."
            " Does the program expect MPI_Send to return before that?",
        )
    time = TIME.search(done.stdout)
    if done.returncode or not time:
        said = " ".join(done.stdout.split())[:300]
        raise LabError(f"SimGrid could not replay the run (exit code {done.returncode}): {said}")
    return float(time[1]) * 1e3


def read(found: Analysis) -> _Run:
    """Refuse what cannot be replayed, and look up what belongs to each event."""
    if found.trace.warnings:
        raise LabError(
            f"Only a whole run can be replayed. {found.trace.warnings[0]}", "Record it again."
        )
    events, calls = found.events, found.trace.calls
    flags = events["flags"]
    _refuse(events[(flags & FAILED) != 0], calls, "it failed")
    in_background = ((flags & COLLECTIVE) != 0) & (events["request"] > 0)
    _refuse(events[in_background], calls, "it goes on in the background")
    if (events.groupby("rank")["thread"].nunique() > 1).any():
        raise LabError(
            "Several threads of a rank call MPI. What they do at the same time has no order."
        )
    done = events[((flags & COMPLETES) != 0) & (events["partner"] >= 0)]
    sends, receives = matching.unmatched(events, found.messages)
    at_once = receives.index.isin(done.index)
    later = receives.set_index(["rank", "request"]).index.isin(
        done[done["request"] > 0].set_index(["rank", "request"]).index
    )
    _refuse(sends, calls, "its receive is not known")
    _refuse(receives[at_once | later], calls, "its send is not known")
    moving = ((flags & (SENDS | RECEIVES | COMPLETES)) != 0) & (events["partner"] != NOBODY)
    moving |= ((flags & COLLECTIVE) != 0) & (events["bytes"] > 0)
    if not moving.any():
        raise LabError("No rank sends anything to another: there is nothing to replay.")
    since, until = int(events["began_ns"][moving].min()), int(events["ended_ns"][moving].max())
    began: dict[int, _Message] = {}
    sent: dict[int, list[_Message]] = defaultdict(list)
    received: dict[int, list[_Message]] = defaultdict(list)
    kinds = events["call"].to_numpy()
    for number, row in enumerate(found.messages.to_dict("records")):
        if row["source"] == row["to"]:
            continue  # it crosses no network
        kind = calls[kinds[row["send"]]]
        message = _Message(number, row["source"], row["to"], max(row["bytes"], 1), kind)
        began[row["send"]] = began[row["receive"]] = message
        if row["sent"] not in (row["send"], -1):
            sent[row["sent"]].append(message)
        if row["received"] != row["receive"]:
            received[row["received"]].append(message)
    together = _collectives(found, since, until)
    return _Run(calls, began, sent, received, together, since, until)


def _refuse(events: pd.DataFrame, calls: Sequence[str], why: str) -> None:
    """LabError that names the first of these events, where there is one."""
    for rank, call in zip(events["rank"], events["call"], strict=True):
        raise LabError(f"{calls[call]} on rank {rank} cannot be replayed: {why}.")


def _collectives(found: Analysis, since_ns: int, until_ns: int) -> dict[int, tuple[list[int], int]]:
    """For each event of a collective call that is replayed, the bytes of each rank and the root.

    Where ranks meet before the first data move, or after all of them have, the call is left out.
    """
    made: dict[int, tuple[list[int], int]] = {}
    calls, ranks = found.trace.calls, len(found.trace.ranks)
    table = found.collectives.sort_values(["group", "rank"])
    if table.empty:
        return made
    groups = table.groupby("group", sort=False)
    first, latest = groups["began_ns"].transform("min"), groups["ended_ns"].transform("min")
    table = table[(first >= since_ns) & (latest <= until_ns)]
    table = table[table["call"].map(calls.__getitem__) != WITHOUT_MESSAGES]
    groups = table.groupby("group", sort=False)
    _refuse(table[groups["rank"].transform("size") < ranks], calls, "not all ranks make this call")
    _refuse(table[groups["call"].transform("nunique") > 1], calls, "other ranks make another call")
    sizes = table["bytes"].tolist()
    # In order of their groups, and within them of their ranks.
    for place, (event, root) in enumerate(zip(table.index, table["partner"], strict=True)):
        begin = place - place % ranks
        made[int(event)] = (sizes[begin : begin + ranks], int(root))
    return made


def _of_rank(rank: int, rows: pd.DataFrame, run: _Run) -> Iterator[str]:
    """What a rank does from the first data of the run to its last."""
    clock, polled, both = run.since_ns, False, None
    received_at_once = PART | RECEIVES | COMPLETES
    followers = [*rows["flags"].tolist()[1:], 0]
    events = zip(rows.index.tolist(), rows.to_dict("records"), followers, strict=True)
    for place, row, after in events:
        flags, began, call = row["flags"], row["began_ns"], run.calls[row["call"]]
        left_out = flags & COLLECTIVE and place not in run.collectives
        if left_out or flags & MARK or began < run.since_ns or began > run.until_ns:
            continue
        if not flags & PART:
            gap, clock = began - clock, row["ended_ns"]
            if gap > (POLLING_NS if polled else 0):
                yield f"sleep {gap * 1e-9:.9f}"
        polled = call in POLLS and not flags & COMPLETES
        if flags & COLLECTIVE:
            yield from _collective(call, rank, *run.collectives[place])
        message = run.began.get(place)
        if message and flags & SENDS:
            twofold = after & received_at_once == received_at_once
            both = message if twofold else None
            yield from message.sent(blocking=not row["request"] and not twofold)
        elif message and flags & COMPLETES:
            yield from message.taken(f"recv {message.source} {message.tag} {message.size}")
        elif message:
            yield f"irecv {message.source} {message.tag} {message.size}"
        if both and flags & PART:  # MPI_Sendrecv has received, and ends when it has sent
            yield from both.sender_waits()
            both = None
        for message in run.received.get(place, ()):
            yield from message.taken(f"wait {message.source} {message.to} {message.tag}")
        for message in run.sent.get(place, ()):
            yield from message.sender_waits()


def _collective(name: str, rank: int, sizes: Sequence[int], root: int) -> list[str]:
    """A collective call, by the bytes that each rank gives to it."""
    ranks, most = len(sizes), max(*sizes, 1)
    shares = [max(size // ranks, 1) for size in sizes]
    long = most > LONG_BYTES.get(name, most)
    if name == "MPI_Bcast" and ranks < LONG_BCAST_RANKS:
        long = False
    words = {
        "root": root,
        "most": most,
        "part": max(most // ranks, 1),
        "parts": _row([max(most // ranks, 1)] * ranks),
        "own": max(sizes[rank], 1),
        "sizes": _row([max(size, 1) for size in sizes]),
        # To whom how much of a rank's bytes goes is not recorded.
        "given": f"{shares[rank] * ranks} {_row([shares[rank]] * ranks)}",
        "got": f"{sum(shares)} {_row(shares)}",
    }
    return [each.format(**words) for each in (LONG if long else SHORT)[name].split(", ")]


def _row(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers))
