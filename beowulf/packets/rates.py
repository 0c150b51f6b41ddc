"""How much crossed the wire in each second, or in each slice of any other length."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from beowulf.errors import UsageError
from beowulf.packets.batches import NO_TIME
from beowulf.packets.flows import Conversations
from beowulf.packets.table import Packets

if TYPE_CHECKING:
    import pandas as pd

COUNTS = ("packets", "wire_bytes", "payload_bytes", "retransmitted_packets")
_MOST_SLICES = 1_000_000


def rates(path: Path | str, slice_s: float = 1.0) -> pd.DataFrame:
    """One row for each slice of time since the first packet, empty ones too.

    Columns: time_s (the slice's begin), packets, wire_bytes, payload_bytes (of TCP and UDP, all of
    it), retransmitted_packets, packets_per_s, bytes_per_s, mbit_per_s. Packets without a time, and
    those before the first one in the file, are left out.
    """
    import pandas as pd

    if slice_s <= 0:
        raise UsageError(f"A slice of {slice_s:g} s has no length.", "Give seconds above 0.")
    slice_ns = max(round(slice_s * 1e9), 1)
    talks = Conversations()
    first_ns = NO_TIME
    sums = {name: np.zeros(0, dtype=np.int64) for name in COUNTS}
    for piece in Packets(path):
        again = talks.follow(piece).again
        timed = piece["time_ns"] != NO_TIME
        if first_ns == NO_TIME and timed.any():
            first_ns = int(piece["time_ns"][timed][0])
        timed &= piece["time_ns"] >= first_ns
        at = (piece["time_ns"][timed] - first_ns) // slice_ns
        if not at.size:
            continue
        if at.max() >= _MOST_SLICES:
            raise UsageError(
                f"{path} has more than {_MOST_SLICES} slices of {slice_s:g} s.",
                "Give a longer slice.",
            )
        parts = {
            "packets": np.ones(at.size),
            "wire_bytes": piece["wire_bytes"][timed],
            "payload_bytes": piece["payload_bytes"][timed],
            "retransmitted_packets": again[timed],
        }
        for name, part in parts.items():
            # Exact: sums of whole numbers below 2^53.
            new = np.bincount(at, weights=part).astype(np.int64)
            longer = max(new.size, sums[name].size)
            sums[name] = np.pad(sums[name], (0, longer - sums[name].size))
            sums[name][: new.size] += new
    whole = pd.DataFrame({"time_s": np.arange(sums["packets"].size) * slice_s, **sums})
    whole["packets_per_s"] = whole["packets"] / slice_s
    whole["bytes_per_s"] = whole["wire_bytes"] / slice_s
    whole["mbit_per_s"] = whole["bytes_per_s"] * 8 / 1e6
    return whole
