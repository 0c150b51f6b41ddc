"""Out to others' tools: Chrome's trace format, which Perfetto opens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from beowulf.timeline import BEGIN_MARK, END_MARK
from beowulf.timeline.analysis import Analysis
from beowulf.timeline.trace import MARK, PART


def chrome(found: Analysis, file: Path) -> None:
    """Write what Perfetto and Chrome's tracing page open: a process a rank, its calls, marks, messages and waits."""
    with file.open("w") as out:
        out.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
        for number, event in enumerate(_chrome_events(found)):
            out.write((",\n" if number else "") + json.dumps(event))
        out.write("\n]}\n")


def _chrome_events(found: Analysis) -> Iterator[dict[str, Any]]:
    start = found.trace.began_ns

    def us(ns: int) -> float:
        return (int(ns) - start) / 1000

    for each in found.trace.ranks:
        name = f"rank {each.rank} on {each.host}"
        yield {"ph": "M", "name": "process_name", "pid": each.rank, "args": {"name": name}}
        order = {"sort_index": each.rank}
        yield {"ph": "M", "name": "process_sort_index", "pid": each.rank, "args": order}
    for row in found.events.itertuples():
        flags: Any = row.flags
        if flags & PART:
            continue
        place = {"pid": row.rank, "tid": row.thread}
        if flags & MARK:
            level, tag = int(row.bytes), int(row.tag)  # type: ignore[arg-type]
            if level in (BEGIN_MARK, END_MARK):
                mark = found.trace.ranks[0].names[tag - 1] if tag else "mark"
                phase = "B" if level == BEGIN_MARK else "E"
                yield {"ph": phase, "name": mark, "cat": "mark", "ts": us(row.began_ns), **place}  # type: ignore[arg-type]
            continue
        yield {
            "ph": "X",
            "name": found.trace.calls[int(row.call)],  # type: ignore[arg-type]
            "cat": "MPI",
            "ts": us(row.began_ns),  # type: ignore[arg-type]
            "dur": (int(row.ended_ns) - int(row.began_ns)) / 1000,  # type: ignore[arg-type]
            "args": {
                "partner": row.partner,
                "tag": row.tag,
                "bytes": row.bytes,
                "request": row.request,
            },
            **place,
        }
    began, ended = (found.events[name].to_numpy() for name in ("began_ns", "ended_ns"))
    threads = found.events["thread"].to_numpy()
    for message in found.messages.itertuples():
        common = {
            "cat": "message",
            "name": f"tag {message.tag}, {message.bytes} B",
            "id": message.Index,
        }
        send, received = int(message.send), int(message.received)  # type: ignore[arg-type]
        yield {
            "ph": "s",
            "pid": message.source,
            "tid": int(threads[send]),
            "ts": us(began[send]),
            **common,
        }
        end = {"ph": "f", "bp": "e", "pid": message.to, "tid": int(threads[received])}
        # Within the call, so that the arrow ends at it.
        yield {**end, "ts": us(ended[received]) - 0.001, **common}
