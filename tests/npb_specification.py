"""What the NAS Parallel Benchmarks must have between start and end, computed from their specification a second time.

Nothing here is shared with the C programs of lab 03: the same random numbers, another language and other ways.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

A, MASK = 5**13, 2**46 - 1
SEED = 314159265
BLOCK = 1 << 22
DIGEST = 2**48
KEYS = {"S": (16, 11), "W": (20, 16), "A": (23, 19), "B": (25, 21), "C": (27, 23)}
LOG_SIDE = {"S": 5, "W": 7, "A": 8, "B": 8, "C": 9}
ROWS = {"S": (1400, 7), "W": (7000, 8), "A": (14000, 11), "B": (75000, 13), "C": (150000, 15)}


def blocks(count: int) -> Iterator[NDArray[np.float64]]:
    """So many random numbers between 0 and 1, block by block: x' = 5^13 x mod 2^46."""
    block = np.array([SEED * A & MASK], dtype=np.uint64)
    while len(block) < min(count, BLOCK):
        times = np.uint64(pow(A, len(block), MASK + 1))
        block = np.concatenate([block, block * times & np.uint64(MASK)])
    for _ in range(0, count, BLOCK):
        yield block[:count] * 2.0**-46
        block = block * np.uint64(pow(A, len(block), MASK + 1)) & np.uint64(MASK)


def digests_of_keys_and_ranks(letter: str) -> list[int]:
    """IS: the sums, mod 2^48, of each key times its place and of each key times its rank, after ten iterations."""
    log_keys, log_highest = KEYS[letter]
    highest = 2**log_highest
    keys = np.concatenate(
        [
            ((each[0::4] + each[1::4] + each[2::4] + each[3::4]) * (highest // 4)).astype(np.uint64)
            for each in blocks(4 * 2**log_keys)
        ]
    )
    for iteration in range(1, 11):
        keys[iteration] = iteration
        keys[iteration + 10] = highest - iteration
    places = np.arange(1, len(keys) + 1, dtype=np.uint64)
    counts = np.bincount(keys.astype(np.int64), minlength=highest).astype(np.uint64)
    smaller = np.cumsum(counts, dtype=np.uint64) - counts
    of_ranks = counts * np.arange(highest, dtype=np.uint64) * smaller
    return [int((keys * places).sum()) % DIGEST, int(of_ranks.sum()) % DIGEST]


def digest_of_charges(letter: str) -> int:
    """MG: the places, from 1, of the ten largest numbers a hundred times, and of the ten smallest once."""
    count, first = 8 ** LOG_SIDE[letter], 0
    kept: list[tuple[float, int]] = []
    for block in blocks(count):
        order = np.argpartition(block, [10, len(block) - 10])
        for place in (*order[:10], *order[-10:]):
            kept.append((float(block[place]), first + int(place) + 1))
        first += len(block)
    kept.sort()
    return sum(p for _, p in kept[:10]) + 100 * sum(p for _, p in kept[-10:])


def elements(letter: str) -> int:
    """CG: how many elements of the matrix are not zero."""
    n, nonzer = ROWS[letter]
    power = 1 << (n - 1).bit_length()
    state, pairs = SEED * A & MASK, []
    for row in range(n):
        places: list[int] = []
        while len(places) < nonzer:
            state = state * A & MASK
            state = state * A & MASK
            place = power * state >> 46
            if place < n and place not in places:
                places.append(place)
        both = np.array(sorted({*places, row}), dtype=np.int64)
        pairs.append((both[:, None] * n + both[None, :]).ravel())
    return len(np.unique(np.concatenate(pairs)))
