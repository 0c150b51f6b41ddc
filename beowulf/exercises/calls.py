"""What a learner's function calls of MPI, as a recording of the call shows: by whatever helper, class or name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from beowulf.timeline import trace
from beowulf.timeline.trace import COLLECTIVE, COMPLETES, NO_COMM, PART, WORLD, RankTrace, Trace

BOTH_WAYS = {"MPI_Sendrecv", "MPI_Sendrecv_replace"}
BLOCKING = {*(f"MPI_{each}" for each in ("Send", "Bsend", "Ssend", "Rsend", "Recv", "Mrecv"))}
POSTS = {*(f"MPI_{each}" for each in ("Isend", "Ibsend", "Issend", "Irsend", "Irecv", "Imrecv"))}
POSTS |= {"MPI_Start", "MPI_Startall"}
TESTS = {"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Iprobe"}
WAITS = {*(f"MPI_{each}" for each in ("Wait", "Waitall", "Waitany", "Waitsome", "Probe", "Mprobe"))}
WAITS |= BLOCKING | BOTH_WAYS
# What some way to send does without.
WITHOUT = {"blocking": POSTS | BOTH_WAYS, "nonblocking": BLOCKING | BOTH_WAYS}
# Between two looks of a loop that only tests less time passes than in a row of 20,000 columns.
PYTHON_NS, C_NS = 25_000, 5_000


def names(folder: Path) -> list[str]:
    """The MPI functions that the recorded ranks called: among all of them, or to wait for a message."""
    run = trace.read(folder)
    return sorted({name for rank in run.ranks for name in _names(run, rank)})


def not_asked(called: Iterable[str], way: str) -> str:
    """Which of these calls a way to send does without, in words; empty where there is none."""
    return " and ".join(sorted(WITHOUT[way].intersection(called)))


def computed_meanwhile(folder: Path, shortest_ns: int = PYTHON_NS) -> float | None:
    """Which share of the ranks' own work is done while their last exchange is under way; None where it posts none.

    What is done between the first call that posts a message and the first one that waits for one (or the test that
    finds the last one done), of all that is done from there to the next call that belongs to no exchange. What takes
    less than `shortest_ns` is no work.
    """
    run = trace.read(folder)
    parts = [each for each in (_work(run, rank, shortest_ns) for rank in run.ranks) if each]
    both = sum(sum(each) for each in parts)
    return sum(meanwhile for meanwhile, _ in parts) / both if both else None


def _names(run: Trace, rank: RankTrace) -> list[str]:
    events = rank.events
    mine = ((events["flags"] & PART) == 0) & np.isin(events["comm"], (WORLD, NO_COMM))
    return [run.calls[number] for number in np.unique(events["call"][mine])]


def _work(run: Trace, rank: RankTrace, shortest_ns: int) -> tuple[int, int] | None:
    """The nanoseconds of work that a rank does while its last exchange is under way, and after that."""
    whole = (rank.events["flags"] & PART) == 0
    # A test of several requests ends some of them in its parts, which come after it.
    completes = np.zeros(int(whole.sum()), bool)
    completes[np.cumsum(whole)[(rank.events["flags"] & COMPLETES) != 0] - 1] = True
    events = rank.events[whole]
    ends = (events["flags"] & COLLECTIVE) != 0
    ends |= ~np.isin(events["comm"], (WORLD, NO_COMM))  # of what measures it
    called = np.array(run.calls)[events["call"]]
    posts = np.flatnonzero(np.isin(called, [*POSTS]) & ~ends)
    if not posts.size:
        return None
    before = np.flatnonzero(ends[: posts[-1]])
    first = posts[posts > before[-1]][0] if before.size else posts[0]
    # Another thread may wait meanwhile.
    alone = events["thread"] == events["thread"][first]
    alone[:first] = False
    events, called, ends, completes = events[alone], called[alone], ends[alone], completes[alone]
    last = int(np.argmax(ends)) if ends.any() else len(events) - 1
    work = events["began_ns"][1 : last + 1] - events["ended_ns"][:last]
    work = np.where(work >= shortest_ns, work, 0)
    waits = np.flatnonzero(np.isin(called[: last + 1], [*WAITS]))
    done = np.flatnonzero(completes[:last] & np.isin(called[:last], [*TESTS]))
    until = int(waits[0]) if waits.size else last
    until = min(until, int(done[-1])) if done.size else until
    return int(work[:until].sum()), int(work[until:].sum())
