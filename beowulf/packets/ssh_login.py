"""What a login by ssh costs before it is of any use: all packets up to the client's new keys.

Until then ssh speaks in the open (RFC 4253): versions, offers, key exchange, and then one packet of
16 bytes that says 'new keys'. All that follows is encrypted; that the login itself comes next can be
seen only as a few more packets.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from beowulf.packets.batches import NO_TIME, Batch, rows
from beowulf.packets.flows import Conversations, Trail
from beowulf.packets.headers import Columns
from beowulf.packets.protocols import SSH_PORT

# Length 12, padding 10, kind 21: RFC 4253, sections 6 and 7.3.
_NEW_KEYS = np.array([0, 0, 0, 12, 10, 21], dtype=np.uint8)
_NEW_KEYS_BYTES = 16


@dataclass
class Keys:
    """When a conversation's client had its keys, and how much it took in both directions."""

    time_ns: int = NO_TIME
    packets: int = 0
    wire_bytes: int = 0


class Logins:
    """Watches for new keys while a capture is read piece by piece."""

    def __init__(self, talks: Conversations) -> None:
        self._talks = talks
        self._all: dict[int, Keys] = {}

    def take(self, batch: Batch, piece: Columns, trail: Trail) -> None:
        """The next piece, its memory, and the trail of its conversations."""
        ssh = (piece["src_port"] == SSH_PORT) | (piece["dst_port"] == SSH_PORT)
        ssh &= trail.conversation >= 0
        # A newer client has more behind them in the same segment, encrypted already.
        says = ssh & trail.from_a & (piece["payload_bytes"] >= _NEW_KEYS_BYTES)
        says &= batch.captured_bytes >= piece["header_bytes"].astype(np.int64) + _NEW_KEYS.size
        places = np.flatnonzero(says)
        begin = batch.start[places] + piece["header_bytes"][places]
        new_keys = places[(rows(batch.memory, begin, _NEW_KEYS.size) == _NEW_KEYS).all(axis=1)]
        for number in np.unique(trail.conversation[ssh]).tolist():
            keys = self._all.setdefault(number, Keys())
            if keys.time_ns != NO_TIME:
                continue
            mine = np.flatnonzero(ssh & (trail.conversation == number))
            new = new_keys[trail.conversation[new_keys] == number]
            if new.size:
                keys.time_ns = int(piece["time_ns"][new[0]])
                mine = mine[mine <= new[0]]
            keys.packets += mine.size
            keys.wire_bytes += int(piece["wire_bytes"][mine].sum(dtype=np.int64))

    def setup(self) -> dict[str, Any]:
        """How many logins were seen from their SYN to their keys; medians of what they took."""
        whole = [
            (keys, self._talks.all[number])
            for number, keys in self._all.items()
            if NO_TIME not in (keys.time_ns, self._talks.all[number].syn_ns)
        ]
        return {
            "logins": len(whole),
            "packets": median(keys.packets for keys, _ in whole) if whole else None,
            "bytes": median(keys.wire_bytes for keys, _ in whole) if whole else None,
            "syn_to_keys_s": (
                median((keys.time_ns - talk.syn_ns) / 1e9 for keys, talk in whole)
                if whole
                else None
            ),
        }
