"""Each receive with its send, each wait with what it waits for, each collective call with those of the other ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from beowulf.timeline.trace import (
    COLLECTIVE,
    COMPLETES,
    FAILED,
    NO_COMM,
    PART,
    RECEIVES,
    SENDS,
    Trace,
)

if TYPE_CHECKING:
    import pandas as pd


def events(trace: Trace) -> pd.DataFrame:
    """All events of all ranks, a row each, rank by rank in the order in which they ended.

    `comm` is a number that all ranks share, `where` the place of the call that an event is a part of.
    """
    import pandas as pd

    frames = []
    comms: dict[tuple[int, int, int], int] = {}
    for each in trace.ranks:
        frame = pd.DataFrame({name: each.events[name] for name in each.events.dtype.names or ()})
        frame.insert(0, "rank", each.rank)
        numbers = [comms.setdefault(comm, len(comms)) for comm in each.comms]
        shared = np.full(NO_COMM + 1, -1)
        shared[: len(numbers)] = numbers
        frame["comm"] = shared[each.events["comm"]]
        frames.append(frame)
    table = pd.concat(frames, ignore_index=True)
    whole = np.flatnonzero((table["flags"] & PART) == 0)
    places = np.searchsorted(whole, np.arange(len(table)), side="right") - 1
    table["where"] = whole[np.maximum(places, 0)] if whole.size else np.arange(len(table))
    return table


def messages(table: pd.DataFrame) -> pd.DataFrame:
    """One row a message that was sent and received: both ranks, tag, communicator, bytes, and the events of its life.

    `send` and `receive` are the events that began it, `sent` and `received` those in which each side was done with it
    (the same for blocking calls, else the wait). Sends and receives of a communicator, with the same ranks and tag,
    match in the order in which they began, as MPI has it.
    """
    done = _completions(table)
    flags = table["flags"].to_numpy()
    good = (flags & FAILED) == 0
    sends = table[good & ((flags & SENDS) != 0) & (table["partner"].to_numpy() >= 0)]
    receives = table[good & ((flags & RECEIVES) != 0)]
    # What a receive got is known when it is done.
    ended = _ended(receives, done)
    known = ended >= 0
    receives, ended = receives[known], ended[known]
    of_end = table.loc[ended]
    left = sends[["comm", "rank", "partner", "tag", "bytes"]].set_axis(
        ["comm", "source", "to", "tag", "bytes"], axis=1
    )
    left["send"] = sends.index
    left["sent"] = _ended(sends, done)
    right = receives[["comm", "rank"]].set_axis(["comm", "to"], axis=1)
    right["source"] = of_end["partner"].to_numpy()
    right["tag"] = of_end["tag"].to_numpy()
    right["got_bytes"] = of_end["bytes"].to_numpy()
    right["receive"] = receives.index
    right["received"] = ended
    right = right[right["source"] >= 0]
    key = ["comm", "source", "to", "tag"]
    for side in (left, right):
        side["turn"] = side.groupby(key, sort=False).cumcount()
    both: pd.DataFrame = left.merge(right, on=[*key, "turn"], how="inner")
    return both.drop(columns="turn")


def unmatched(table: pd.DataFrame, found: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Sends that nobody received, and receives that got nothing, among those that are to or from someone."""
    flags = table["flags"].to_numpy()
    partner = table["partner"].to_numpy()
    sends = table[((flags & SENDS) != 0) & (partner >= 0)]
    receives = table[((flags & RECEIVES) != 0) & (partner != -1)]
    return sends.drop(found["send"]), receives.drop(found["receive"])


def _completions(table: pd.DataFrame) -> pd.Series:
    """The event in which each request of each rank was done: index (rank, request)."""
    import pandas as pd

    rows = table[((table["flags"] & COMPLETES) != 0) & (table["request"] > 0)]
    rows = rows.drop_duplicates(["rank", "request"], keep="last")
    return pd.Series(rows.index, index=pd.MultiIndex.from_frame(rows[["rank", "request"]]))


def _ended(rows: pd.DataFrame, done: pd.Series) -> np.ndarray:
    """For each row the event in which it was done: itself where it completes, -1 where it never was."""
    import pandas as pd

    index = pd.MultiIndex.from_frame(rows[["rank", "request"]])
    later = done.reindex(index, fill_value=-1).to_numpy()
    itself = ((rows["flags"] & COMPLETES) != 0) | (rows["request"] == 0)
    return np.where(itself, rows.index, later).astype(np.int64)


def collectives(table: pd.DataFrame) -> pd.DataFrame:
    """The events of collective calls, each with `group`: a number that the ranks of one call share."""
    rows = table[((table["flags"] & COLLECTIVE) != 0) & ((table["flags"] & FAILED) == 0)].copy()
    rows["turn"] = rows.groupby(["comm", "rank"], sort=False).cumcount()
    rows["group"] = rows.groupby(["comm", "turn"], sort=False).ngroup()
    return rows.drop(columns="turn")
