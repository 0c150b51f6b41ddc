"""Out to others' tools: Chrome's trace format, which Perfetto opens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from beowulf.timeline import BEGIN_MARK, END_MARK
from beowulf.timeline.analysis import Analysis
from beowulf.timeline.trace import MARK, PART

PHASES = {BEGIN_MARK: "B", END_MARK: "E"}


def chrome(found: Analysis, file: Path) -> None:
    """Write what Perfetto and Chrome's tracing page open: a process a rank, its calls, marks, messages and waits."""
    with file.open("w") as out:
        out.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
        for number, event in enumerate(_chrome_events(found)):
            out.write((",\n" if number else "") + json.dumps(event))
        out.write("\n]}\n")


def _chrome_events(found: Analysis) -> Iterator[dict[str, Any]]:
    start = found.trace.began_ns
    events = found.events.to_dict("records")

    def us(ns: int) -> float:
        return (ns - start) / 1000

    for each in found.trace.ranks:
        about = {"name": f"rank {each.rank} on {each.host}"}
        yield {"ph": "M", "name": "process_name", "pid": each.rank, "args": about}
    for row in events:
        place = {"pid": row["rank"], "tid": row["thread"], "ts": us(row["began_ns"])}
        if row["flags"] & PART:
            continue
        if row["flags"] & MARK:
            if row["bytes"] in PHASES:
                name = found.trace.ranks[0].names[row["tag"] - 1] if row["tag"] else "mark"
                yield {"ph": PHASES[row["bytes"]], "name": name, "cat": "mark", **place}
            continue
        yield {
            "ph": "X",
            "name": found.trace.calls[row["call"]],
            "cat": "MPI",
            "dur": (row["ended_ns"] - row["began_ns"]) / 1000,
            "args": {name: row[name] for name in ("partner", "tag", "bytes", "request")},
            **place,
        }
    for number, row in found.messages.to_dict("index").items():
        send, received = events[row["send"]], events[row["received"]]
        name = f"tag {row['tag']}, {row['bytes']} B"
        arrow = {"cat": "message", "name": name, "id": number}
        begin = {"pid": row["source"], "tid": send["thread"], "ts": us(send["began_ns"])}
        yield {"ph": "s", **begin, **arrow}
        # Within the call, so that the arrow ends at it.
        end = {"pid": row["to"], "tid": received["thread"], "ts": us(received["ended_ns"]) - 0.001}
        yield {"ph": "f", "bp": "e", **end, **arrow}
