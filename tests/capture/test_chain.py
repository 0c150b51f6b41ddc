"""Is each packet found where it is, even if packets carry what looks like packets?"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from written import START_S, Packet, pcap, pcapng

from beowulf.packets.batches import CaptureError, Integers
from beowulf.packets.packet_order import STEPS, Chain
from beowulf.packets.reader import Reader

Write = Callable[[list[Packet]], bytes]
both = pytest.mark.parametrize("write", [pcap, pcapng])


def made_up(count: int, carried: bytes, draw: random.Random) -> list[Packet]:
    """Packets of all lengths, many of which carry a piece of `carried`."""
    found = []
    for number in range(count):
        begin = draw.randrange(len(carried))
        frame = bytes(14) + carried[begin : begin + draw.randrange(200)]
        # Some time passes, so that not even the upper bytes of the seconds stay the same.
        found.append(Packet(frame, (START_S + number // 7) * 10**9 + number * 1000))
    return found


def times_and_lengths(path: Path, chunk_bytes: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for batch in Reader(path, chunk_bytes).batches():
        found += zip(batch.time_ns.tolist(), batch.captured_bytes.tolist(), strict=True)
    return found


@both
@pytest.mark.parametrize("chunk_bytes", [30_000, 1 << 21])
def test_packets_that_carry_captures_are_distinguished_from_those_that_they_carry(
    write: Write, chunk_bytes: int, tmp_path: Path
) -> None:
    draw = random.Random(1)
    inner = write(made_up(300, b"\0", draw))
    written = made_up(6 * 7 * 256, inner, draw)
    path = tmp_path / "wire"
    path.write_bytes(write(written))
    found = times_and_lengths(path, chunk_bytes)
    assert found == [(packet.time_ns, len(packet.frame)) for packet in written]


@both
def test_damage_far_behind_the_beginning_is_found_and_reported(
    write: Write, tmp_path: Path
) -> None:
    written = made_up(20 * STEPS, b"\0", random.Random(2))
    before = len(write(written[: 15 * STEPS]))
    content = bytearray(write(written))
    # The length that is kept of the packet, or that of its block.
    place = before + (8 if write is pcap else 4)
    content[place : place + 4] = b"\xf1\xff\xff\xf1"
    path = tmp_path / "wire"
    path.write_bytes(bytes(content))
    with pytest.raises(CaptureError, match=f"damaged after packet {15 * STEPS}"):
        times_and_lengths(path, 1 << 21)


def test_a_guess_never_decides_what_is_found() -> None:
    """Packets of one to nine places each, and guesses of which half are wrong or missing."""
    draw = np.random.default_rng(3)
    sizes = draw.integers(1, 10, 5000)
    ends = np.cumsum(sizes)
    places = ends - sizes
    size_at = dict(zip(places.tolist(), sizes.tolist(), strict=True))

    def step(at: int, most: int) -> tuple[Integers, int]:
        found = []
        while at in size_at and len(found) < most:
            found.append(at)
            at += size_at[at]
        return np.array(found, dtype=np.int64), at

    for share in (0.0, 0.01, 0.5, 1.0):
        wrong = draw.integers(0, int(ends[-1]), int(5000 * share))
        kept = places[draw.random(places.size) >= share / 2]
        guesses = np.unique(np.concatenate([kept, wrong]))
        after = guesses + [size_at.get(int(place), 3) for place in guesses]
        found, end = Chain(guesses, after).follow(0, step)
        assert (found == places).all()
        assert end == ends[-1]
