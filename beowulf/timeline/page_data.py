"""A trace as the page gets it: columns of whole numbers, deflated."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beowulf.timeline.analysis import Analysis
from beowulf.timeline.trace import COLLECTIVE, MARK, PART, RECEIVES, SENDS, UNENDED, WAITS

if TYPE_CHECKING:
    import pandas as pd

CATEGORIES = ("computing", "sending", "receiving", "waiting for requests", "collective", "other")
SENDING, RECEIVING, REQUESTS, COLLECTIVES, OTHER = range(1, 6)
# How the names of calls begin in which a rank can be stuck.
BY_NAME = {
    **dict.fromkeys(("Send", "Ssend", "Rsend", "Bsend"), SENDING),
    **dict.fromkeys(("Recv", "Mrecv", "Probe", "Mprobe"), RECEIVING),
    "Wait": REQUESTS,
    **dict.fromkeys(
        ("Barrier", "Bcast", "Gather", "Scatter", "All", "Reduce", "Scan"), COLLECTIVES
    ),
}


def packed(columns: dict[str, ArrayLike]) -> dict[str, Any]:
    """Columns of equal length as text: each as its bytes, the lowest of all rows first, which deflate well."""
    rows, names, planes = 0, [], []
    for name, values in columns.items():
        wide = np.ascontiguousarray(values, dtype="<i8")
        rows = wide.size
        width = 8 if wide.size and (wide.min() < -(2**31) or wide.max() >= 2**31) else 4
        narrow = wide.astype(f"<i{width}")
        names.append([name, width])
        planes.append(narrow.view(np.uint8).reshape(rows, width).T.tobytes())
    text = base64.b64encode(zlib.compress(b"".join(planes), 6)).decode("ascii")
    return {"rows": rows, "columns": names, "data": text}


def category(table: pd.DataFrame, names: Sequence[str]) -> NDArray[np.int64]:
    """Which of CATEGORIES each event is; of a call in which its rank was killed only its name is known."""
    flags = table["flags"].to_numpy()
    kinds = [(flags & bit) != 0 for bit in (WAITS, COLLECTIVE, RECEIVES, SENDS)]
    found = np.select(kinds, [REQUESTS, COLLECTIVES, RECEIVING, SENDING], OTHER)
    for row in np.flatnonzero(flags & UNENDED):
        name = names[table["call"].to_numpy()[row]].removeprefix("MPI_")
        found[row] = next(
            (kind for begins, kind in BY_NAME.items() if name.startswith(begins)), OTHER
        )
    return found


def bars(found: Analysis) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """The calls, rank by rank as they began; and for each event of the trace the bar that it is a part of."""
    events = found.events
    flags = events["flags"].to_numpy()
    calls = events[(flags & (PART | MARK)) == 0].sort_values(["rank", "began_ns"], kind="stable")
    place = np.full(len(events), -1)
    place[calls.index.to_numpy()] = np.arange(len(calls))
    return calls, place[events["where"].to_numpy()]


def trace_columns(found: Analysis, packets: pd.DataFrame | None) -> dict[str, Any]:
    """Bars, waits, messages, marks, path and packets of a run; times in ns since it began."""
    calls, bar = bars(found)
    began = found.trace.began_ns
    since = calls["began_ns"].to_numpy() - began
    waits, messages, events = found.waits, found.messages, found.events
    kinds = sorted(set(waits["kind"]))
    sent = messages.sort_values("send", kind="stable")
    # By the number of a message its row here; the last one is for no message.
    number = np.full(len(messages) + 1, -1)
    number[sent.index.to_numpy()] = np.arange(len(sent))
    marks = events[(events["flags"].to_numpy() & MARK) != 0]
    steps = found.critical_path.steps
    result: dict[str, Any] = {
        "bars": packed(
            {
                "began": np.diff(since, prepend=0),
                "length": calls["ended_ns"].to_numpy() - calls["began_ns"].to_numpy(),
                "rank": np.diff(calls["rank"].to_numpy(), prepend=0),
                "category": category(calls, found.trace.calls),
                **{
                    name: calls[name].to_numpy()
                    for name in ("call", "partner", "tag", "bytes", "request")
                },
            }
        ),
        "waits": packed(
            {
                "rank": waits["rank"].to_numpy(),
                "bar": bar[waits["event"].to_numpy()],
                "since": waits["since_ns"].to_numpy() - began,
                "length": waits["waited_ns"].to_numpy(),
                "kind": [kinds.index(kind) for kind in waits["kind"]],
                "cause": waits["cause"].to_numpy(),
                "message": number[waits["message"].to_numpy()],
            }
        ),
        "messages": packed(
            {
                "send": np.diff(bar[sent["send"].to_numpy()], prepend=0),
                "received": bar[sent["received"].to_numpy()],
                "bytes": sent["got_bytes"].to_numpy(),
                "tag": sent["tag"].to_numpy(),
            }
        ),
        "marks": packed(
            {
                "rank": marks["rank"].to_numpy(),
                "at": marks["began_ns"].to_numpy() - began,
                "level": marks["bytes"].to_numpy(),
                "name": marks["tag"].to_numpy(),
            }
        ),
        "path": packed(
            {
                "rank": [step.rank for step in steps],
                "began": [step.began_ns - began for step in steps],
                "ended": [step.ended_ns - began for step in steps],
                "source": [step.source for step in steps],
            }
        ),
        "kinds": kinds,
    }
    if packets is not None and len(packets):
        rows = packets.sort_values("time_ns", kind="stable")
        carried = rows["message"].to_numpy()
        names = sorted(set(rows["kind"].astype(str)))
        ours = (carried >= 0) & (carried < len(messages))
        result["packet_kinds"] = names
        result["packets"] = packed(
            {
                "at": np.diff(rows["time_ns"].to_numpy() - began, prepend=0),
                "source": rows["src"].to_numpy(),
                "to": rows["dst"].to_numpy(),
                "kind": rows["kind"].astype(str).map(names.index),
                "bytes": rows["payload_bytes"].to_numpy(),
                "message": number[np.where(ours, carried, -1)],
                "number": rows["number"].to_numpy(),
            }
        )
    return result
