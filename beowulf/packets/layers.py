"""Single packets, layer by layer, as pyshark shows them: for a person at a notebook.

pyshark takes some hundred packets a second; what counts and measures is `packets` and `analysis`.
Its own FileCapture talks with tshark through asyncio, and refuses where an event loop runs already, as
in Jupyter, unless that loop was prepared for it (beowulf/notebook.py). Here tshark is a plain child of
ours, and only its packets are made by pyshark.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from beowulf.errors import LabError, UsageError
from beowulf.packets.dissector import tshark_words
from beowulf.packets.reader import Reader

# The start of a file is enough to see whether it is a capture.
_GLANCE_BYTES = 4096
_CUT_SHORT = "cut short"  # of a capture that ended early; its packets are whole up to there


def packets(file: Path | str, display_filter: str = "", limit: int = 20) -> list[Any]:
    """The first packets of a capture that pass Wireshark's display filter, as pyshark's; at most `limit`.

    A packet has its layers by name (`packet.tcp.flags`, `packet.mpich.tag`); where messages share a
    segment, `packet.get_multiple_layers("mpich")` has them all. `print(packet)` shows everything.
    LabError when tshark fails, UsageError for an invalid filter.
    """
    if limit < 1:
        raise UsageError(f"{limit} packets are none to look at.", "Give a limit of 1 or more.")
    return _read(file, ["-Y", display_filter] if display_filter else [], limit)


def packet(file: Path | str, number: int) -> Any:
    """The packet of that number, counted from 1 as Wireshark and `messages` do; see `packets`."""
    if number < 1:
        raise UsageError(f"There is no packet {number}.", "The first packet has the number 1.")
    packets = _read(file, ["-c", str(number), "-Y", f"frame.number == {number}"], 1)
    if not packets:
        raise UsageError(
            f"There is no packet {number} in {file}.", f"`beowulf packets {file}` counts them."
        )
    return packets[0]


def _read(file: Path | str, options: list[str], limit: int) -> list[Any]:
    try:
        from pyshark.tshark.output_parser.tshark_xml import packet_from_xml_packet
    except ImportError:
        raise LabError("pyshark is not installed.", "`make lab` installs it.") from None
    next(Reader(file, _GLANCE_BYTES).batches(), None)  # CaptureError if it is none
    packets: list[Any] = []
    with tempfile.TemporaryFile() as errors:
        try:
            tshark = subprocess.Popen(
                [*tshark_words(file), *options, "-T", "pdml"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        except FileNotFoundError:
            raise LabError(
                "There is no tshark to look at packets with.",
                "`beowulf doctor --fix` installs it.",
            ) from None
        with tshark:
            try:
                assert tshark.stdout
                for text in _texts(tshark.stdout):
                    packets.append(packet_from_xml_packet(text))
                    if len(packets) == limit:
                        return packets
                tshark.wait()
            finally:
                tshark.kill()  # in the middle of a large capture, when there are enough
        if tshark.returncode:
            errors.seek(0)
            _judge(errors.read().decode(errors="replace"), file, options)
    return packets


def _texts(lines: IO[bytes]) -> Iterator[bytes]:
    # One packet after the other, in tshark's XML.
    parts: list[bytes] = []
    for line in lines:
        if line.startswith(b"<packet>"):
            parts = []
        parts.append(line)
        if line.startswith(b"</packet>"):
            yield b"".join(parts)


def _judge(errors: str, file: Path | str, options: list[str]) -> None:
    # tshark warns root each time.
    lines = [
        line for line in errors.splitlines() if line and not line.startswith("Running as user")
    ]
    if any(_CUT_SHORT in line for line in lines):
        return
    complaint = (lines[0] if lines else "it printed nothing").removeprefix("tshark: ").rstrip(".")
    if "-Y" in options and not complaint.startswith("The file"):
        # Behind its sentence tshark marks the place.
        place = "".join(f"\n{line}" for line in lines[1:3])
        raise UsageError(
            f"{options[-1]!r} is no display filter: {complaint}.{place}",
            "`tcp.port == 22`, `mpich` and `mpich.tag == 7` are some; `man wireshark-filter` explains them.",
        )
    raise LabError(f"tshark could not read {file}: {complaint}.", "`capinfos` says what it is.")
