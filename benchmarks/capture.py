"""How fast is our reader of captures, how much memory does it take, and does capturing slow what is captured?"""

from __future__ import annotations

import importlib.util
import json
import shutil
import statistics
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import captures, commands, pingpong
from benchmarks.failures import Failures
from benchmarks.pingpong import Launcher
from benchmarks.result import Findings
from benchmarks.rows import Bar, Question
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import Side, interleave
from beowulf import paths
from beowulf.cluster import Cluster, namespaces
from beowulf.cluster.config import ClusterConfig
from beowulf.errors import LabError
from beowulf.progress import Progress

TITLE = "Our reader of captures against tshark and pyshark, and a capture of a busy link"
ROUNDS = 6
FILLS_THE_CORES = True

PACKETS = 500_000
PACKETS_PER_S = 1_000_000  # the bar
PYSHARK_PACKETS = 1_000
LARGE_BYTES = 1_000_000_000
MOST_MEMORY_BYTES = 1e9
LONGEST_S = 600.0
# What our columns hold, as tshark calls it.
FIELDS = (
    "frame.time_epoch frame.len frame.cap_len eth.type ip.proto ip.src ip.dst tcp.srcport tcp.dstport tcp.flags "
    "tcp.seq_raw tcp.ack_raw tcp.window_size_value tcp.len ip.hdr_len tcp.hdr_len"
).split()

READER, READER_COMMAND = "our reader", "our reader with Python's start"
TSHARK, PYSHARK = "tshark -T fields", "pyshark"
LARGE, LARGE_MEMORY = "1 GB read", "most memory for 1 GB"
SMALL_MEMORY = f"most memory for {PACKETS * captures.RECORD_BYTES / 1e6:.0f} MB"

RATE = "1gbit"
# A latency, on a link that is nearly idle; messages between which it is idle for a moment; a link that is full.
SIZES = (1, 1 << 14, 1 << 20)
WITH, WITHOUT = "captured", "not captured"


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """In turns: our reader, tshark and pyshark on one file; our reader on 1 GB; a busy link, captured and not."""
    missing, failed = missing_here(), Failures()
    facts: dict[str, Any] = {"fields": " ".join(FIELDS), "packets": PACKETS}
    dropped: list[int] = []
    with scratch_folder() as folder:
        file, large = folder / "capture.pcap", folder / "large.pcap"
        progress(0, 1, "writing captures")
        facts["capture_bytes"] = captures.write(file, PACKETS)
        sides: dict[str, Side] = {"reader": lambda: our_reader(file)}
        if not missing[TSHARK]:
            sides[TSHARK] = failed.spare(TSHARK, lambda: tshark(file))
        if not missing[PYSHARK]:
            sides[PYSHARK] = failed.spare(PYSHARK, lambda: pyshark(file))
        if not missing[LARGE]:
            facts["large_capture_bytes"] = captures.write(large, large_packets())
            sides["large"] = lambda: our_reader_of_much(large)
        if not missing[WITH]:
            cluster = namespaces.up(ClusterConfig(nodes=2, rate=RATE), folder=folder / STATE)
            launch, program = pingpong.on_nodes(cluster, folder), pingpong.build(folder)
            sides[WITHOUT] = lambda: busy_link(launch, program, WITHOUT)
            sides[WITH] = failed.spare(
                WITH, lambda: captured_link(cluster, launch, program, folder, dropped)
            )
        taken = interleave(sides, rounds, seed, progress)
    facts["packets_dropped"] = dropped
    return Findings(
        questions(missing | failed, dropped),
        taken.samples,
        taken.busy_percent,
        taken.order,
        facts=facts,
        notes=notes(dropped),
    )


def missing_here() -> dict[str, str]:
    """Why something cannot be measured on this machine, by name; "" where it can."""
    free = shutil.disk_usage(tempfile.gettempdir()).free
    return {
        TSHARK: "" if shutil.which("tshark") else "tshark is not installed",
        PYSHARK: "" if importlib.util.find_spec("pyshark") else "pyshark is not installed",
        LARGE: "" if free > 3 * LARGE_BYTES else "less than 3 GB are free for temporary files",
        WITH: "" if shutil.which("dumpcap") else "dumpcap is not installed",
    }


def large_packets() -> int:
    """How many packets make the large capture."""
    return LARGE_BYTES // captures.RECORD_BYTES + 1


def reading(how: str, file: Path, *more: str) -> tuple[float, dict[str, Any]]:
    """One process that reads; its seconds as a whole, and its report."""
    python = str(paths.python_bin() / "python")
    command = [python, "-m", "benchmarks.read_capture", how, str(file), *more]
    took_s, printed = commands.timed(
        command, commands.environment(), folder=paths.root(), timeout_s=LONGEST_S
    )
    report: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return took_s, report


def our_reader(file: Path) -> Mapping[str, float]:
    """The file into columns."""
    took_s, report = reading("ours", file)
    expect(report["packets"], PACKETS, "our reader")
    return {
        READER: report["seconds"],
        READER_COMMAND: took_s,
        SMALL_MEMORY: report["memory_bytes"],
    }


def our_reader_of_much(file: Path) -> Mapping[str, float]:
    """The large file into columns, a piece at a time."""
    _, report = reading("ours", file)
    expect(report["packets"], large_packets(), "our reader")
    return {LARGE: report["seconds"], LARGE_MEMORY: report["memory_bytes"]}


def tshark(file: Path) -> Mapping[str, float]:
    """The same columns by tshark, as text that goes into a file."""
    command = ["tshark", "-n", "-r", str(file), "-T", "fields"]
    command += [word for field in FIELDS for word in ("-e", field)]
    took_s, printed = commands.timed(command, commands.environment(), timeout_s=LONGEST_S)
    expect(printed.count(f"\t{captures.WIRE_BYTES}\t"), PACKETS, "tshark")
    return {TSHARK: took_s}


def pyshark(file: Path) -> Mapping[str, float]:
    """The first packets by pyshark, extrapolated to all."""
    _, report = reading("pyshark", file, str(PYSHARK_PACKETS))
    expect(report["packets"], PYSHARK_PACKETS, "pyshark")
    return {PYSHARK: report["seconds"] * PACKETS / PYSHARK_PACKETS}


def expect(actual: int, expected: int, who: str) -> None:
    """LabError when not all packets were read, so that the time counts for nothing."""
    if actual != expected:
        raise LabError(f"Of {expected:,} packets, {who} has read {actual:,}.")


def busy_link(launch: Launcher, program: str, word: str) -> Mapping[str, float]:
    """Half a round trip of short messages between large ones: the median of a launch, by size."""
    command = [program, *pingpong.arguments(SIZES, "--passes", 20, "--chunks", 3)]
    trips = pingpong.half_round_trips(launch(command, {}))
    return {sample(size, word): statistics.median(chunks) for size, chunks in trips.items()}


def captured_link(
    cluster: Cluster, launch: Launcher, program: str, folder: Path, dropped: list[int]
) -> Mapping[str, float]:
    """The same while dumpcap takes every packet at the switch."""
    file = folder / "busy.pcapng"
    try:
        with cluster.capture(file) as wire:
            trips = busy_link(launch, program, WITH)
        dropped.append(wire.dropped)
    finally:
        file.unlink(missing_ok=True)
    return trips


def sample(size: int, word: str) -> str:
    """The name of a ping-pong's samples."""
    return f"half round trip of {size} B, {word}"


def questions(missing: Mapping[str, str], dropped: list[int]) -> list[Question]:
    """The rows, with the reason for those that cannot be measured here."""
    lost = f", {sum(dropped)} packets dropped" if dropped else ""
    return [
        Question(
            f"{PACKETS:,} packets into columns, one core", READER, bar=Bar(PACKETS / PACKETS_PER_S)
        ),
        Question(
            "the same against tshark",
            READER,
            TSHARK,
            Bar(1 / 100, "ratio", "at least 100 times as fast"),
            missing[TSHARK],
        ),
        Question(
            "the same, Python's start and imports too",
            READER_COMMAND,
            TSHARK,
            missing=missing[TSHARK],
        ),
        Question(
            "the same against pyshark",
            READER,
            PYSHARK,
            Bar(1 / 2000, "ratio", "at least 2000 times as fast"),
            missing[PYSHARK],
        ),
        Question(
            "most memory while 1 GB is read",
            LARGE_MEMORY,
            SMALL_MEMORY,
            Bar(MOST_MEMORY_BYTES, says="at most 1000 MB"),
            missing[LARGE],
            unit="bytes",
        ),
        *(
            Question(
                f"1 Gbit/s, {size} B captured at the switch{lost}",
                sample(size, WITH),
                sample(size, WITHOUT),
                Bar(1.1, "ratio", "changed by less than 10 %", least=0.9),
                missing[WITH],
            )
            for size in SIZES
        ),
    ]


def notes(dropped: list[int]) -> list[str]:
    """What the figures rest on."""
    return [
        f"The capture is written by the benchmark: {PACKETS:,} TCP segments between four nodes, {captures.SNAP_BYTES} "
        "bytes of each, as pcap with nanoseconds. It is in the page cache when it is read.",
        "Our reader turns it into the columns of beowulf/packets/headers.py on one core; its time is that of the "
        "reading, without Python's start. tshark writes the same things as text into a file; its time is that of the "
        "whole command, of which the start is a small part at this many packets.",
        f"pyshark reads the first {PYSHARK_PACKETS:,} packets of the same file, with the start of its tshark, and is "
        f"extrapolated to {PACKETS:,}.",
        "Memory is the most that the reading process had in RAM (ru_maxrss), Python and its packages with it.",
        f"The busy link: two nodes at {RATE}, a ping-pong of messages of {', '.join(map(str, SIZES))} bytes in turns, "
        f"with dumpcap at the switch (128 bytes of each packet) and without. Dropped, launch by launch: {dropped}.",
        "Only the longest messages fill the link. What capturing adds was measured here as a microsecond a frame, in "
        "the kernel, on the frame's way through the switch: a tenth and more of a message that is one frame, and next "
        "to nothing of a long one, whose frames wait for the link anyway. No priority of dumpcap's changes that.",
    ]
