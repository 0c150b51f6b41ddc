"""From packet to packet: each of them tells only where the next one begins.

A loop over them takes longer than all else that a reader does. So where packets may begin is guessed for
a whole chunk at once, and as many guesses in a row are taken as end where the next one begins. Where they
do not, the loop goes on for a while. A guess decides how fast it goes and never what is found.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from beowulf.packets.batches import Integers

# Goes on from a place over at most so many packets: their places, fewer when no more are whole in
# memory, and where the last of them ends.
Step = Callable[[int, int], tuple[Integers, int]]

# After a wrong guess so many packets are gone over by the loop: no file is much slower than that.
STEPS = 64


class Chain:
    """The places in memory where packets may begin (sorted), and where each would end."""

    def __init__(self, guesses: Integers, ends: Integers) -> None:
        self._guesses, self._ends = guesses, ends
        last = np.arange(max(guesses.size - 1, 0), guesses.size)
        self._breaks = np.concatenate([np.flatnonzero(ends[:-1] != guesses[1:]), last])

    def follow(self, at: int, step: Step) -> tuple[Integers, int]:
        """The places of all packets from the one at `at` on, and where the last of them ends."""
        pieces: list[Integers] = []
        while True:
            here = int(np.searchsorted(self._guesses, at))
            if here < self._guesses.size and self._guesses[here] == at:
                last = int(self._breaks[np.searchsorted(self._breaks, here)])
                pieces.append(self._guesses[here : last + 1])
                at = int(self._ends[last])
            places, at = step(at, STEPS)
            pieces.append(places)
            if places.size < STEPS:
                return np.concatenate(pieces), at


NO_GUESS = Chain(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
