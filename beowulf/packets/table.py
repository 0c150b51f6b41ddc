"""A capture as a table, one packet a row, or in pieces for a capture that is larger than memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf.packets.batches import NO_TIME, Batch, CaptureError
from beowulf.packets.headers import COLUMNS, FLAGS, Addresses, Columns, dissect, flag_names
from beowulf.packets.pcapng import CHUNK_BYTES, Reader

if TYPE_CHECKING:
    import pandas as pd


class Packets:
    """The packets of a capture file, a piece at a time; CaptureError when it is no capture.

    Each piece is a dict of numpy columns (see headers.COLUMNS) with some ten thousand packets.
    `addresses` and `interfaces` are the names to which src, dst and interface point. `at` names the one
    interface whose packets are wanted.
    """

    def __init__(self, path: Path | str, chunk_bytes: int = CHUNK_BYTES, *, at: str = "") -> None:
        self.path = Path(path)
        self.at = at
        self.first_ns = NO_TIME  # of the first packet
        self._used: set[int] = set()
        self._chunk_bytes = chunk_bytes
        self._addresses = Addresses()
        self._reader = Reader(self.path)

    def __iter__(self) -> Iterator[Columns]:
        for _, columns in self.frames():
            yield columns

    def frames(self) -> Iterator[tuple[Batch, Columns]]:
        """Each piece with the memory that its frames lie in, which the next piece overwrites."""
        self._addresses = Addresses()
        self._reader = Reader(self.path, self._chunk_bytes)
        self._used = set()
        self.first_ns = NO_TIME
        for batch in self._reader.batches():
            chosen = self._chosen(batch) if self.at else batch
            self._used.update(np.flatnonzero(np.bincount(chosen.interface)).tolist())
            if self.first_ns == NO_TIME and chosen.time_ns.size:
                self.first_ns = int(chosen.time_ns[0])
            yield chosen, dissect(chosen, self._addresses)
        if self.at and self.at not in self.interfaces:
            names = ", ".join(dict.fromkeys(self.interfaces)) or "none"
            what = f"No packet of {self.path} was taken at {self.at!r}."
            raise CaptureError(what, f"Its interfaces: {names}.")

    @property
    def addresses(self) -> list[str]:
        """The IP addresses seen so far; the first is "", for packets without any."""
        return self._addresses.names

    @property
    def interfaces(self) -> list[str]:
        """The names of the interfaces seen so far."""
        interfaces = self._reader.interfaces
        return [each.name or f"interface {place}" for place, each in enumerate(interfaces)]

    @property
    def several(self) -> list[str]:
        """The names of the interfaces that gave packets so far, if they are more than one."""
        used = list(dict.fromkeys(self.interfaces[place] for place in sorted(self._used)))
        return used if len(used) > 1 else []

    @property
    def truncated(self) -> bool:
        """Whether the last packet is cut off; known after the last piece."""
        return self._reader.truncated

    def _chosen(self, batch: Batch) -> Batch:
        names = np.array([name == self.at for name in self.interfaces], dtype=np.bool_)
        return batch.only(names[batch.interface])


def read(path: Path | str, at: str = "") -> pd.DataFrame:
    """All packets of a capture, one a row: the columns of headers.COLUMNS; src, dst and flags (`SYN, ACK`) as text.

    A row's name is the packet's number in the file, from 1 on as in Wireshark. `at` names the one interface whose
    packets are wanted.

    time_s counts from the first packet, in seconds. `attrs["truncated"]` tells whether the last
    packet was cut off and left out. CaptureError with a sentence for what is no capture.
    """
    import pandas as pd

    packets = Packets(path, at=at)
    pieces: list[Columns] = []
    numbers = [np.zeros(0, dtype=np.int64)]
    for batch, piece in packets.frames():
        pieces.append(piece)
        numbers.append(batch.numbers)
    # One column at a time, and each piece given up at once: never the whole table twice.
    columns: dict[str, Any] = {
        name: np.concatenate([np.zeros(0, kind), *(piece.pop(name) for piece in pieces)])
        for name, kind in COLUMNS.items()
    }
    names = {"src": packets.addresses, "dst": packets.addresses, "interface": packets.interfaces}
    names["flags"] = [flag_names(flags) for flags in range(1 << len(FLAGS))]
    columns |= {name: _named(columns[name], texts) for name, texts in names.items()}
    table = {"time_s": (columns["time_ns"] - packets.first_ns) / 1e9, **columns}
    index = pd.Index(np.concatenate(numbers), name="packet")
    frame = pd.DataFrame(table, index=index, copy=False)
    frame.attrs["truncated"] = packets.truncated
    return frame


def _named(places: Any, texts: list[str]) -> pd.Categorical[str]:
    import pandas as pd

    # Two sections of a file may each describe the same interface.
    position = {name: place for place, name in enumerate(dict.fromkeys(texts))}
    codes = np.array([position[text] for text in texts], dtype=np.int64)
    found = pd.Categorical.from_codes(codes[places], pd.Index(list(position)))
    return found.remove_unused_categories()
