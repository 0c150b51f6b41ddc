"""Out to others' tools: Chrome's trace format, which Perfetto opens, and OTF2, where its library is installed."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from beowulf.errors import LabError
from beowulf.timeline import BEGIN_MARK, END_MARK
from beowulf.timeline.analysis import Analysis
from beowulf.timeline.trace import MARK, PART

DEBIAN_PACKAGES = "/usr/lib/python3/dist-packages"


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


def otf2(found: Analysis, folder: Path) -> None:
    """Write an OTF2 archive, which Vampir and Scalasca's tools open; LabError where its library is missing."""
    library = _otf2()
    if folder.exists():
        raise LabError(f"{folder} is there already.", "Name a folder that does not exist.")
    start = found.trace.began_ns
    began, ended = (found.events[name].to_numpy() for name in ("began_ns", "ended_ns"))
    enums = library.enums
    messages = found.messages
    where = found.events["where"].to_numpy()
    sends, receives = defaultdict(list), defaultdict(list)
    for message in messages.itertuples():
        sends[int(where[int(message.send)])].append(message)  # type: ignore[arg-type]
        receives[int(where[int(message.received)])].append(message)  # type: ignore[arg-type]
    with library.writer.open(str(folder), timer_resolution=1_000_000_000) as archive:
        definitions = archive.definitions
        machine = definitions.system_tree_node("the cluster")
        regions = [
            definitions.region(name, paradigm=enums.Paradigm.MPI) for name in found.trace.calls
        ]
        locations = []
        for each in found.trace.ranks:
            node = definitions.system_tree_node(each.host, parent=machine)
            group = definitions.location_group(f"rank {each.rank}", system_tree_parent=node)
            locations.append(definitions.location(f"rank {each.rank}", group=group))
        writers = [archive.event_writer_from_location(location) for location in locations]
        _, members = (
            definitions.group(name, group_type=kind, paradigm=enums.Paradigm.MPI, members=locations)
            for name, kind in (
                ("ranks", enums.GroupType.COMM_LOCATIONS),
                ("world", enums.GroupType.COMM_GROUP),
            )
        )
        world = definitions.comm("MPI_COMM_WORLD", group=members)
        for each, writer in zip(found.trace.ranks, writers, strict=True):
            mine = found.events[
                (found.events["rank"] == each.rank) & (found.events["flags"] & PART == 0)
            ]
            for event, call in zip(mine.index.tolist(), mine["call"].tolist(), strict=True):
                writer.enter(int(began[event]) - start, regions[call])
                # The receive in a sendrecv is a part of it, and so are those that a Waitall ends.
                for message in sends.get(event, ()):
                    writer.mpi_send(
                        int(began[event]) - start, message.to, world, message.tag, message.bytes
                    )
                for message in receives.get(event, ()):
                    writer.mpi_recv(
                        int(ended[event]) - start,
                        message.source,
                        world,
                        message.tag,
                        message.got_bytes,
                    )
                writer.leave(int(ended[event]) - start, regions[call])


def _otf2() -> Any:
    """OTF2's library for Python: Debian gives it to its own Python alone, but any Python can use it."""
    try:
        with _found_in(DEBIAN_PACKAGES):
            import otf2.enums  # type: ignore[import-not-found]
            import otf2.writer  # type: ignore[import-not-found]
    except ImportError:
        raise LabError(
            "OTF2's library for Python is not installed.", "`apt install python3-otf2` brings it."
        ) from None
    return otf2


@contextmanager
def _found_in(folder: str) -> Iterator[None]:
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
