"""Why a rank waits inside of MPI: who came late, and what it cost, by rules that a reader can check in the picture.

late sender           a receive (or the wait for it) begins before the send of its message does
late receiver         a send does not return before the receive of its message begins
wait at a collective  a rank comes to a collective call before the last one does
late root             a rank comes to a broadcast or scatter before its root does
early root            the root of a reduce or gather comes before the last of the others
never ended           the rank was in this call when the run was stopped
Nagle, delayed ACK    both sides have begun, but the sender's kernel keeps the message until the one before it is
                      acknowledged, and the receiver's kernel takes its time for that; seen in the packets
rendezvous            both sides have begun, but a long message waits until the side that is needed next calls MPI again
                      (a rank that was itself away from MPI waits for itself)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from beowulf.timeline.trace import COMPLETES, PART, SENDS, UNENDED, WAITS, Trace

if TYPE_CHECKING:
    import pandas as pd

LATE_SENDER, LATE_RECEIVER, COLLECTIVE_WAIT = "late sender", "late receiver", "wait at a collective"
LATE_ROOT, EARLY_ROOT, RENDEZVOUS = "late root", "early root", "rendezvous"
NEVER_ENDED, NAGLE = "never ended", "Nagle, delayed ACK"
FROM_ROOT = ("Bcast", "Scatter", "Scatterv")
TO_ROOT = ("Reduce", "Gather", "Gatherv")
# Shorter ones are what a message needs anyway: its way through the network and the kernels.
SHORTEST_NS = 20_000

Integers = NDArray[Any]


@dataclass(frozen=True)
class Inside:
    """When a rank is inside of MPI: its calls, none of which overlap."""

    began_ns: Integers
    ended_ns: Integers

    def next(self, moments: Integers) -> Integers:
        """The first time from each moment on at which the rank is inside of a call; a huge one where there is none."""
        after = np.searchsorted(self.ended_ns, moments, side="right")
        begins = np.append(self.began_ns, np.iinfo(np.int64).max)
        return np.asarray(np.maximum(moments, begins[after]))

    def between(self, began_ns: int, ended_ns: int) -> int:
        """For how long the rank is inside from one moment to another."""
        first = np.searchsorted(self.ended_ns, began_ns)
        last = np.searchsorted(self.began_ns, ended_ns)
        begins, ends = self.began_ns[first:last], self.ended_ns[first:last]
        return int((ends.clip(max=ended_ns) - begins.clip(min=began_ns)).sum())


def inside(table: pd.DataFrame) -> dict[int, Inside]:
    """For each rank when it is inside of MPI."""
    calls = table[(table["flags"] & PART) == 0]
    found = {}
    for rank, rows in calls.groupby("rank"):
        ordered = rows.sort_values("ended_ns")
        found[int(str(rank))] = Inside(
            ordered["began_ns"].to_numpy(), ordered["ended_ns"].to_numpy()
        )
    return found


def waits(
    trace: Trace,
    table: pd.DataFrame,
    messages: pd.DataFrame,
    collectives: pd.DataFrame,
    *,
    eager_bytes: float = float("inf"),
    held: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """One row a wait: `rank`, the call `event`, `kind`, since when, how long, which rank is the cause, which `message`.

    Messages of more than `eager_bytes` need a rendezvous. Those `held` (see run_packets.Wire) were kept by the
    sender's kernel.
    """
    import pandas as pd

    parts = [
        *_of_messages(table, messages, eager_bytes),
        *_of_collectives(trace, table, collectives),
        _never_ended(table),
        *([_of_nagle(table, messages, held)] if held is not None else []),
    ]
    columns = ["rank", "event", "kind", "since_ns", "waited_ns", "cause", "message"]
    found = pd.concat([part[columns] for part in parts], ignore_index=True)
    found = found.astype({name: "int64" for name in columns if name != "kind"})
    # On machines with clocks of their own it is not known how long a call that never ended went on.
    found = found[(found["waited_ns"] >= SHORTEST_NS) | (found["kind"] == NEVER_ENDED)]
    # A wait for several messages lasts as long as the last of them makes it; one for the same rank has one name.
    found = found.sort_values("waited_ns", ascending=False)
    found = found.drop_duplicates(["event", "kind"]).drop_duplicates(["event", "cause"])
    return found.sort_values("waited_ns", ascending=False, ignore_index=True)


def _never_ended(table: pd.DataFrame) -> pd.DataFrame:
    rows = table[(table["flags"] & UNENDED) != 0]
    times = rows["began_ns"], rows["ended_ns"]
    return _frame(NEVER_ENDED, rows["rank"], rows.index, *times, rows["partner"])


def _of_nagle(table: pd.DataFrame, messages: pd.DataFrame, held: pd.DataFrame) -> pd.DataFrame:
    began, ended = table["began_ns"].to_numpy(), table["ended_ns"].to_numpy()
    where = table["where"].to_numpy()
    rows = messages.loc[held["message"]]
    got, send = where[rows["received"]], where[rows["send"]]
    since = np.maximum(np.maximum(began[got], began[send]), held["since_ns"].to_numpy())
    until = np.minimum(ended[got], held["until_ns"].to_numpy())
    waits = _blocking(table)[got] & (until > since)
    to, source = rows["to"].to_numpy(), rows["source"].to_numpy()
    frame: pd.DataFrame = _frame(NAGLE, to, got, since, until, source, rows.index.to_numpy())[waits]
    return frame


def deadlock(waits: pd.DataFrame) -> str:
    """A sentence where ranks wait for each other in calls that never ended; empty where none do."""
    rows = waits[waits["kind"] == NEVER_ENDED]
    ranks = circle(dict(zip(rows["rank"].tolist(), rows["cause"].tolist(), strict=True)))
    if not ranks:
        return ""
    path = " waits for rank ".join(map(str, [*ranks, ranks[0]]))
    return f"A deadlock: rank {path}, and none of their calls can end."


def circle(waits_for: Mapping[int, int]) -> list[int]:
    """Ranks that wait for each other, from the lowest on; none where no circle is among them."""
    for first in sorted(waits_for):
        chain = [first]
        while (after := waits_for.get(chain[-1], -1)) >= 0 and after not in chain:
            chain.append(after)
        if after == first and len(chain) > 1:
            return chain
    return []


def _frame(
    kind: str, rank: Any, event: Any, since: Any, until: Any, cause: Any, message: Any = -1
) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        {
            "rank": rank,
            "event": event,
            "kind": kind,
            "since_ns": since,
            "waited_ns": np.asarray(until) - np.asarray(since),
            "cause": cause,
            "message": message,
        }
    )


def _of_messages(
    table: pd.DataFrame, messages: pd.DataFrame, eager_bytes: float
) -> list[pd.DataFrame]:
    began, ended = table["began_ns"].to_numpy(), table["ended_ns"].to_numpy()
    where = table["where"].to_numpy()
    blocks = _blocking(table)
    number = messages.index.to_numpy()
    source, to = messages["source"].to_numpy(), messages["to"].to_numpy()
    send, receive = where[messages["send"]], where[messages["receive"]]
    got = where[messages["received"]]
    sent = np.where(messages["sent"] >= 0, where[messages["sent"]], -1)
    sender_began, receiver_began = began[send], began[receive]
    frames = []
    # In the call that ends the receive, until the send begins.
    waits = blocks[got] & (sender_began > began[got])
    until = np.minimum(sender_began, ended[got])
    frames.append(_frame(LATE_SENDER, to, got, began[got], until, source, number)[waits])
    # In the call that ends the send, until the receive begins: only if it returned no earlier.
    waits = (
        (sent >= 0) & blocks[sent] & (receiver_began > began[sent]) & (ended[sent] > receiver_began)
    )
    frames.append(
        _frame(LATE_RECEIVER, source, sent, began[sent], receiver_began, to, number)[waits]
    )
    if not np.isfinite(eager_bytes) or not (messages["got_bytes"] > eager_bytes).any():
        return frames
    ready = np.maximum(sender_began, receiver_began)
    # A call that only begins a message is over before the other side's answer can be there.
    sender_back = np.where(blocks[send], ready, np.maximum(ready, ended[send]))
    receiver_back = np.where(blocks[receive], ready, np.maximum(ready, ended[receive]))
    in_mpi = inside(table)
    asked = np.empty_like(ready)  # when the receiver takes the request
    sends = np.empty_like(ready)  # when the sender learns of its answer
    for rank, calls in in_mpi.items():
        asked[to == rank] = calls.next(receiver_back[to == rank])
    sender_back = np.maximum(asked, sender_back)
    for rank, calls in in_mpi.items():
        sends[source == rank] = calls.next(sender_back[source == rank])
    delay = sends - ready
    # The side that was longer away from MPI is the cause.
    cause = np.where(asked - ready >= sends - asked, to, source)
    for side, event in ((to, got), (source, sent)):
        long = messages["got_bytes"].to_numpy() > eager_bytes
        waits = (event >= 0) & blocks[event] & long
        since = np.maximum(began[event], ready)
        until = np.minimum(ended[event], since + delay)
        frames.append(_frame(RENDEZVOUS, side, event, since, until, cause, number)[waits])
    return frames


def _blocking(table: pd.DataFrame) -> NDArray[np.bool_]:
    """Which events are calls that return only when something is done."""
    flags = table["flags"].to_numpy()
    request = table["request"].to_numpy()
    waiting = (flags & WAITS) != 0
    at_once = (request == 0) & ((flags & (SENDS | COMPLETES)) != 0)
    return np.asarray(waiting | at_once)


def _of_collectives(
    trace: Trace, table: pd.DataFrame, collectives: pd.DataFrame
) -> list[pd.DataFrame]:
    frames = []
    names = np.array([name.removeprefix("MPI_") for name in trace.calls])
    blocking = collectives[collectives["request"] == 0]
    if len(blocking):
        name = names[blocking["call"]]
        frames.append(_at_last(blocking[~np.isin(name, FROM_ROOT + TO_ROOT)]))
        frames.append(_for_root(blocking[np.isin(name, FROM_ROOT)]))
        frames.append(_of_root(blocking[np.isin(name, TO_ROOT)]))
    finalize = table[names[table["call"]] == "Finalize"]
    if len(finalize) == len(trace.ranks):
        frames.append(_at_last(finalize.assign(group=0)))
    return frames


def _at_last(rows: pd.DataFrame) -> pd.DataFrame:
    rows = _several(rows)
    latest = rows.groupby("group")["began_ns"].transform("max")
    cause = rows.groupby("group")["began_ns"].transform("idxmax")
    until = np.minimum(latest, rows["ended_ns"])
    last = rows["rank"].loc[cause].to_numpy()
    return _frame(COLLECTIVE_WAIT, rows["rank"], rows.index, rows["began_ns"], until, last)


def _for_root(rows: pd.DataFrame) -> pd.DataFrame:
    rows = _several(rows)
    roots = rows[rows["rank"] == rows["partner"]].set_index("group")["began_ns"]
    roots = roots[~roots.index.duplicated()]
    others = rows[rows["rank"] != rows["partner"]]
    root_began = others["group"].map(roots).fillna(0).astype("int64")
    until = np.minimum(root_began, others["ended_ns"])
    root = others["partner"]
    return _frame(LATE_ROOT, others["rank"], others.index, others["began_ns"], until, root)


def _of_root(rows: pd.DataFrame) -> pd.DataFrame:
    rows = _several(rows)
    others = rows[rows["rank"] != rows["partner"]]
    latest = others.groupby("group")["began_ns"].max()
    cause = others.loc[others.groupby("group")["began_ns"].idxmax()].set_index("group")["rank"]
    roots = rows[(rows["rank"] == rows["partner"]) & rows["group"].isin(latest.index)]
    until = np.minimum(roots["group"].map(latest), roots["ended_ns"])
    last = roots["group"].map(cause)
    return _frame(EARLY_ROOT, roots["rank"], roots.index, roots["began_ns"], until, last)


def _several(rows: pd.DataFrame) -> pd.DataFrame:
    """Those whose call more than one rank takes part in."""
    return rows[rows.groupby("group")["rank"].transform("size") > 1] if len(rows) else rows
