"""Reading what the recorder (recorder.c) has written: one file a rank, see trace_file.h."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beowulf.errors import LabError

MAGIC = b"BEOTRACE"
VERSION = 1
FILE = re.compile(r"rank-(\d+)\.trace")
MOST_NAMED = 20  # ranks in a warning
NOBODY, UNKNOWN = -1, -3  # in place of a partner
MOST_RANKS, LATEST_NS = 1 << 16, 1 << 61  # of a run; a trace may come from elsewhere
SENDS, RECEIVES, COMPLETES, COLLECTIVE, PART, MARK, FAILED, WAITS, MATCHES = (
    1 << bit for bit in range(9)
)
UNENDED = 1 << 9  # no rank writes it: the call in which a rank was when it was killed
WORLD, NO_COMM = 0, 0xFFFF  # in place of a communicator

Events = NDArray[Any]
Integers = NDArray[Any]

EVENT = np.dtype(
    [
        ("began_ns", "<i8"),
        ("ended_ns", "<i8"),
        ("bytes", "<i8"),
        ("partner", "<i4"),
        ("tag", "<i4"),
        ("request", "<u4"),
        ("call", "<u2"),
        ("flags", "<u2"),
        ("comm", "<u2"),
        ("thread", "<u2"),
        ("left_out", "<u4"),
    ]
)
_MOST_CALLS, _MOST_COMMS, _MOST_CLOCKS, _MOST_NAMES = 128, 1024, 4096, 256
HEAD = np.dtype(
    [
        ("magic", "S8"),
        ("version", "<u4"),
        ("head_bytes", "<u4"),
        ("event_bytes", "<u4"),
        ("rank", "<i4"),
        ("ranks", "<i4"),
        ("pid", "<i4"),
        ("finished", "<i4"),
        ("comms_left_out", "<u4"),
        ("began_ns", "<i8"),
        ("ended_ns", "<i8"),
        ("events", "<u8"),
        ("left_out", "<u8"),
        ("left_out_since_ns", "<i8"),
        ("full", "<i4"),
        ("most_events", "<u4"),
        ("comm_count", "<u4"),
        ("clock_count", "<u4"),
        ("name_count", "<u4"),
        ("call_count", "<u4"),
        ("ties", [("at_ns", "<i8"), ("behind_ns", "<i8"), ("error_ns", "<i8")], 2),
        (
            "now",
            [("began_ns", "<i8"), *((name, "<i4") for name in ("partner", "tag", "call", "pad"))],
        ),
        ("host", "S64"),
        ("program", "S256"),
        ("calls", "S32", _MOST_CALLS),
        ("unused", "<u8", (_MOST_CALLS, 3)),
        ("comms", [("members", "<u8"), ("number", "<u4"), ("size", "<i4")], _MOST_COMMS),
        ("clocks", [("monotonic_ns", "<i8"), ("real_ns", "<i8")], _MOST_CLOCKS),
        ("names", "S48", _MOST_NAMES),
    ]
)


@dataclass(frozen=True)
class RankTrace:
    """What one rank did, by its own monotonic clock."""

    rank: int
    ranks: int
    host: str
    program: str
    began_ns: int
    ended_ns: int
    events: Events
    calls: tuple[str, ...]
    comms: tuple[tuple[int, int, int], ...]  # digest of the members, number, size
    clocks: NDArray[Any]  # moments on the monotonic clock and since 1970
    names: tuple[str, ...]  # of marks
    # When, how far behind rank 0's clock, and how wrong that may be.
    ties: tuple[tuple[int, int, int], ...] = ()
    left_out: int = 0
    left_out_since_ns: int = 0
    warnings: tuple[str, ...] = ()
    unended: Events | None = None  # the call in which it was killed

    def to_real_ns(self) -> int:
        """What is added to a time of this rank's to have nanoseconds since 1970."""
        steps = self.clocks["real_ns"] - self.clocks["monotonic_ns"]
        return int(np.median(steps)) if steps.size else 0


@dataclass(frozen=True)
class Trace:
    """One run of a program: its ranks in order, and what to know of it."""

    ranks: tuple[RankTrace, ...]
    folder: Path | None = None
    warnings: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def began_ns(self) -> int:
        """When the first rank began."""
        return min(each.began_ns for each in self.ranks)

    @property
    def ended_ns(self) -> int:
        """When the last rank ended."""
        return max(each.ended_ns for each in self.ranks)

    @property
    def since(self) -> str:
        """What the axis of time begins with."""
        return str(self.details.get("since", "MPI_Init"))

    @property
    def calls(self) -> tuple[str, ...]:
        """The names of MPI's functions, by the number that events have."""
        return self.ranks[0].calls


def cut(trace: Trace, since_ns: int, until_ns: int) -> Trace:
    """The same run from one moment to another: the calls that begin in between."""

    def of(rank: RankTrace) -> RankTrace:
        began = rank.events["began_ns"]
        inside = rank.events[(began >= since_ns) & (began <= until_ns)]
        return replace(rank, events=inside, began_ns=since_ns, ended_ns=until_ns)

    details = {**trace.details, "since": "the first message"}
    return replace(trace, ranks=tuple(map(of, trace.ranks)), details=details)


def read(folder: Path, *, stopped_ns: int = 0) -> Trace:
    """The run whose files are in a folder; LabError where there is none.

    `stopped_ns` is when the run was stopped, by the clock of all ranks, if that is known.
    """
    files = sorted(
        (int(found[1]), path)
        for path in folder.glob("*.trace")
        if (found := FILE.fullmatch(path.name))
    )
    if not files:
        raise LabError(
            f"There is no trace in {folder}.",
            "`beowulf run --trace PROGRAM` records one. Is it an MPI program?",
        )
    ranks = tuple(read_rank(path) for _, path in files)
    if any(
        (each.rank, each.ranks) != (n, ranks[0].ranks)
        for (n, _), each in zip(files, ranks, strict=True)
    ):
        raise LabError(f"The files in {folder} are not from the ranks of one run.", "Record again.")
    last_ns = max(stopped_ns, *(each.ended_ns for each in ranks))
    ranks = tuple(_with_unended(each, last_ns) for each in ranks)
    warnings = [warning for each in ranks for warning in each.warnings]
    missing = sorted(set(range(ranks[0].ranks)) - {each.rank for each in ranks})
    if missing:
        more = f" and {len(missing) - MOST_NAMED:,} more" if len(missing) > MOST_NAMED else ""
        names = ", ".join(map(str, missing[:MOST_NAMED])) + more
        warnings.insert(0, f"Nothing was recorded of rank {names}: it ended before MPI_Init did.")
    return Trace(ranks, folder, tuple(warnings))


def _with_unended(rank: RankTrace, stopped_ns: int) -> RankTrace:
    """The call in which a rank was killed, as an event that lasts until the run was over."""
    if rank.unended is None:
        return rank
    event = rank.unended.copy()
    event["ended_ns"] = max(stopped_ns, int(event["began_ns"][0]))
    events = np.concatenate([rank.events, event])
    return replace(rank, events=events, ended_ns=int(event["ended_ns"][0]))


def read_rank(path: Path) -> RankTrace:
    """One rank's file; LabError when it is none. What a killed rank or a full disk left is read up to its end."""
    content = path.read_bytes()
    if len(content) < HEAD.itemsize or not content.startswith(MAGIC):
        raise LabError(
            f"{path} is not a trace from this recorder, or is cut off within its header."
        )
    head = np.frombuffer(content, HEAD, 1)[0]
    layout = (int(head["version"]), int(head["head_bytes"]), int(head["event_bytes"]))
    if layout != (VERSION, HEAD.itemsize, EVENT.itemsize):
        raise LabError(f"{path} was written by another version of the recorder.", "Record again.")
    rank, warnings = int(head["rank"]), []
    there = (len(content) - HEAD.itemsize) // EVENT.itemsize
    wanted = int(head["events"])
    count = min(there, wanted)
    if count < wanted:
        warnings.append(
            f"The trace of rank {rank} is cut short: {count:,} of its {wanted:,} events are there."
        )
    events = np.frombuffer(content, EVENT, count, HEAD.itemsize)
    began, ended = int(head["began_ns"]), int(head["ended_ns"])
    if count < wanted or not head["finished"]:
        latest = int(events["ended_ns"].max()) if count else began
        if not head["finished"]:
            warnings.append(
                f"Rank {rank} did not reach the end of MPI_Finalize. What it did is known up to its last call,"
                f" {(latest - began) / 1e9:.3f} s after MPI_Init."
            )
        ended = latest
    names = [_text(name) for name in head["calls"][: int(head["call_count"])]]
    unended = _unended(head["now"]) if head["now"]["call"] and not head["finished"] else None
    if not _can_be(head, events, len(names)) or not _can_be(head, unended, len(names)):
        raise LabError(
            f"{path} contains what no run writes: it is damaged, or has been edited.",
            "Record again.",
        )
    left_out = int(head["left_out"])
    if left_out:
        since = (int(head["left_out_since_ns"]) - began) / 1e9
        why = (
            f"more than {int(head['most_events']):,} events"
            if int(head["full"]) == 1
            else "there was no room on the disk"
        )
        warnings.append(
            f"Rank {rank}: {why}, so {left_out:,} events from {since:.3f} s on are counted and not shown."
        )
    return RankTrace(
        rank,
        int(head["ranks"]),
        _text(head["host"]),
        _text(head["program"]),
        began,
        ended,
        events,
        tuple(names),
        tuple(head["comms"][: int(head["comm_count"])].tolist()),
        head["clocks"][: int(head["clock_count"])].copy(),
        tuple(_text(name) for name in head["names"][: int(head["name_count"])]),
        tuple(tie for tie in head["ties"].tolist() if tie[0]),
        left_out,
        int(head["left_out_since_ns"]),
        tuple(warnings),
        unended,
    )


def _can_be(head: Any, events: Events | None, calls: int) -> bool:
    """Whether a rank can have done this: ranks, calls and times that there are."""
    ranks = int(head["ranks"])
    moments = [int(head[name]) for name in ("began_ns", "ended_ns", "left_out_since_ns")]
    if not 0 <= head["rank"] < ranks <= MOST_RANKS or not all(0 <= t < LATEST_NS for t in moments):
        return False
    if events is None:
        return True
    began, ended = events["began_ns"], events["ended_ns"]
    unended = (events["flags"] & UNENDED) != 0
    fits = (events["call"] < calls) & (events["partner"] >= UNKNOWN) & (events["partner"] < ranks)
    in_time = (began >= 0) & (unended | (began <= ended)) & (ended < LATEST_NS)
    return bool((fits & in_time).all())


def _unended(now: Any) -> Events:
    event = np.zeros(1, EVENT)
    event["call"], event["flags"] = now["call"] - 1, UNENDED
    event["thread"] = 1
    for name in ("began_ns", "partner", "tag"):
        event[name] = now[name]
    return event


def _text(raw: bytes) -> str:
    text = raw.decode(errors="replace")
    return "".join(mark if mark.isprintable() else " " for mark in text).strip()
