"""A capture file of either kind, from beginning to end, as batches of packets.

It is read in chunks, so that memory stays small however long it is. Within a chunk one short loop
goes from packet to packet; all else is done for many packets at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from beowulf.packets import pcap, pcapng
from beowulf.packets.batches import CHUNK_BYTES, Batch, CaptureError, Interface, Window


class Reader:
    """A capture that is being read; `interfaces` and `truncated` are whole after the last batch."""

    def __init__(self, path: Path | str, chunk_bytes: int = CHUNK_BYTES) -> None:
        self.path = Path(path)
        self.chunk_bytes = chunk_bytes
        self.interfaces: list[Interface] = []
        self.truncated = False  # the last packet is cut off, as after a crash or on a full disk

    def batches(self) -> Iterator[Batch]:
        """The packets in the order of the file; CaptureError when it is no capture or damaged."""
        try:
            with self.path.open("rb", buffering=0) as file:
                yield from self._batches(file)
        except FileNotFoundError:
            raise CaptureError(f"There is no capture {self.path}.", "Look at the name.") from None

    def _batches(self, file: BinaryIO) -> Iterator[Batch]:
        window = Window(self.path, file, self.chunk_bytes)
        self.interfaces = window.interfaces
        while window.end < 24 and window.refill():
            pass
        magic = window.memory[:4].tobytes() if window.end >= 4 else b""
        if magic in pcap.MAGIC:
            yield from pcap.batches(window)
        elif magic == pcapng.MAGIC:
            yield from pcapng.batches(window)
        else:
            raise self._not_a_capture(window)
        self.truncated = window.at < window.end

    def _not_a_capture(self, window: Window) -> CaptureError:
        if not window.end:
            return CaptureError(
                f"{self.path} is empty: not even the header of a capture is in it.",
                "The capture was ended before it began, or the disk was full; take it again.",
            )
        if window.memory[:2].tobytes() == b"\x1f\x8b":
            return CaptureError(f"{self.path} is compressed.", f"`gunzip {self.path.name}` first.")
        return CaptureError(
            f"{self.path} is not a capture.",
            "A capture is what dumpcap, tshark or tcpdump write, pcap or pcapng.",
        )
