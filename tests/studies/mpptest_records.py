"""Places and Points of what roundtrip.c measures in mpptest's way, made with the times that a test wants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import made

from beowulf.measure import mpptest
from beowulf.record import Point

At = dict[str, Any]


def places(
    ranks: Sequence[int], sizes: Sequence[int] = (0,), work: Sequence[int] = (), *, bisect: bool
) -> list[At]:
    """Both kinds of calls at each number of ranks, size of the message and length of the work."""
    return [
        {
            "protocol": protocol,
            "size_bytes": size,
            **({"overlap_bytes": length} if length is not None else {}),
            "bisect": bisect,
            "pattern": "pairs" if bisect else "pingpong",
            "ranks": each,
        }
        for each in ranks
        for protocol in mpptest.PROTOCOLS
        for size in sizes
        for length in (work or [None])
    ]


def points(time_us: Callable[[At], float], at: Sequence[At], **how: Any) -> list[Point]:
    """The Points of a Record with these half round trips."""
    return made.record("A7", mpptest.QUANTITY, at, time_us, **how).points
