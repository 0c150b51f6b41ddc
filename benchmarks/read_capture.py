"""Read a capture once, on one core, and print as JSON the packets, the seconds, and the most memory that it took.

    python -m benchmarks.read_capture ours FILE
    python -m benchmarks.read_capture pyshark FILE PACKETS

Seconds are those of the reading: Python's start and its imports are left out.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path

from benchmarks.captures import WIRE_BYTES


def main() -> None:
    """Read, then print what it took."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    packets, seconds = (ours if sys.argv[1] == "ours" else pyshark)(sys.argv[2])
    most_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"packets": packets, "seconds": seconds, "memory_bytes": most_kib * 1024}))


def ours(name: str) -> tuple[int, float]:
    """All packets into columns, a piece at a time; their lengths are added up, to see that all were read."""
    from beowulf.packets.table import Packets

    began = time.perf_counter()
    count = wire_bytes = 0
    for columns in Packets(Path(name)):
        count += len(columns["wire_bytes"])
        wire_bytes += int(columns["wire_bytes"].sum())
    seconds = time.perf_counter() - began
    assert wire_bytes == count * WIRE_BYTES
    return count, seconds


def pyshark(name: str) -> tuple[int, float]:
    """The first packets, one after the other, with the start of the tshark that pyshark runs."""
    library = importlib.import_module("pyshark")
    began = time.perf_counter()
    capture = library.FileCapture(name, keep_packets=False)
    wanted, count = int(sys.argv[3]), 0
    for packet in capture:
        count += int(packet.length) == WIRE_BYTES
        if count == wanted:
            break
    seconds = time.perf_counter() - began
    capture.close()
    return count, seconds


if __name__ == "__main__":
    main()
