"""Lab 05's claims on Records full of noise: does each hold rarely without its effect, and mostly with it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from beowulf import papers
from beowulf.labs.lab_05.overlap import (
    DEFAULT,
    KB,
    ONE_USER,
    ONE_USER_SOCKET,
    SOLARIS_SOCKET,
    Way,
)
from beowulf.measure.sweep import PAPER_D
from beowulf.record import Record
from beowulf.studies import find
from tests.labs.lab_05 import test_a8 as a8
from tests.labs.lab_05 import test_a9 as a9
from tests.labs.lab_05 import test_d2 as d2
from tests.labs.lab_05 import test_d3 as d3
from tests.labs.lab_05 import test_d4 as d4
from tests.labs.lab_05 import test_d5 as d5
from tests.labs.lab_05 import test_d6 as d6
from tests.studies.null_records import Noise, assert_told_apart, quieter
from tests.studies.overlap_records import connected, record, timed

LEAST_GAIN = papers.figure("D-two-way-overlap", "percent", table=11, process=0, statistic="mean")
LOSS = papers.figure("D-send-overlap", "percent", table=7, statistic="mean")


def short(effect: dict[str, float], noise: Noise) -> Record:
    """An A8 of three sizes."""
    return a8.measured(**effect, noise=noise, sizes=(1, 512, 1024))


def rings(exchange_us: Callable[[int, str, int, float], float], noise: Noise) -> Record:
    """An A9 of two sizes."""
    return a9.measured(exchange_us, noise, sizes=(10_000, 1_000_000))


def printed(alone_us: Callable[..., float], noise: Noise) -> Record:
    """An A9 with two sizes in mpptest's way."""
    few: dict[str, Any] = {"sizes": (1,), "overlaps": (1,), "alone": (1_000, 1_000_000)}
    return a9.measured(a9.link, noise, **few, alone_us=alone_us)


def worked(work_us: Callable[..., float], noise: Noise) -> Record:
    """An A9 with two lengths of work in mpptest's way. Three lines within 10 % need a quieter machine."""
    few: dict[str, Any] = {"sizes": (1,), "overlaps": (1,), "alone": (10_000, 1_000_000)}
    return a9.measured(a9.link, lambda n: quieter(noise(n)), **few, work_us=work_us)


def late(way: Way) -> Callable[[set[int], Noise], Record]:
    """A D2 in which rank 1 is late at some sizes. Noise may be large: what is judged lies at 0 or at 1."""

    def of(sizes: set[int], noise: Noise) -> Record:
        points = [connected(way)]
        for size in PAPER_D:
            ended = 2e-4 + size * 8 / 1e8 + (d2.WORK if size // KB in sizes else 0.0)
            points += timed(way, "duration_s", d2.WORK, noise, size_bytes=size, rank=0)
            points += timed(way, "duration_s", ended, noise, size_bytes=size, rank=1)
        return record("D2", points)

    return of


def by_buffer(sizes: set[int], noise: Noise) -> Record:
    """A D2 in which rank 1 is late at some sizes with the small buffer, and at the paper's with the larger one."""
    made = late(ONE_USER_SOCKET)(sizes, noise)
    made.points += late(SOLARIS_SOCKET)(d2.LARGE, noise).points
    return made


def left(way: Way) -> Callable[[int, Noise], Record]:
    """A D2 in which about so many bytes leave at once."""

    def of(size: int, noise: Noise) -> Record:
        sizes = [int(size * each) for each in quieter(noise(10))]
        return record("D2", [d2.on_the_wire(way, sizes, way in d2.EAGER), connected(way)])

    return of


def one_sided(percent: float, noise: Noise) -> Record:
    """A D3 with this improvement at 10 KB."""
    return record("D3", d3.parts(10 * KB, percent, d3.d3.C, noise=lambda n: quieter(noise(n))))


def small_buffer(percent: float, noise: Noise) -> Record:
    """A D3 with this improvement at 65 KB with a small send buffer."""
    points = d3.parts(
        65 * KB, percent, d3.d3.C, noise=lambda n: quieter(noise(n)), way=ONE_USER_SOCKET
    )
    return record("D3", [*points, connected(ONE_USER_SOCKET)])


def small_limit(percent: float, noise: Noise) -> Record:
    """A D4 with this improvement at 70 KB with a small eager limit."""
    places = dict.fromkeys(d4.d4.PAPER_PERCENT, percent)
    return d4.measured({}, lambda n: quieter(noise(n)), {ONE_USER: places})


def two_sided(percent: dict[tuple[int, int], float], noise: Noise) -> Record:
    """A D4 with these improvements."""
    return d4.measured(percent, lambda n: quieter(noise(n)))


def hidden(held: int, noise: Noise) -> Record:
    """A D5 of two ways, in which so much of a message is hidden with a small buffer."""
    return d5.measured({ONE_USER_SOCKET: held}, noise, [ONE_USER_SOCKET, DEFAULT])


def several(shown: dict[Any, float], noise: Noise) -> Record:
    """A D6 in which so much of each exchange is not hidden."""
    return d6.measured(shown, lambda n: quieter(noise(n)))


NO_GAIN = dict.fromkeys(d4.d4.PAPER_PERCENT, 0.0)
SHOWN = d6.USUAL
# By study and claims: what makes a Record, what it is given without the effect, and with it.
CASES: dict[str, tuple[Callable[[Any, Noise], Record], Any, Any]] = {
    "A8 alike mpptest-similar-calls": (short, {"times": 1.15}, {}),
    "A8 rate-rises mpptest-rate-rises": (short, {"us_a_byte": 1000}, {}),
    "A8 rate-saturates mpptest-rate-saturates": (short, {"us_a_byte": 0.05}, {"us_a_byte": 10}),
    "A9 differences-from-100000": (rings, lambda ranks, _, size, __: ranks * size, a9.link),
    "A9 more-nodes": (rings, a9.shared, a9.link),
    "A9 hides": (rings, a9.in_the_open, a9.link),
    "A9 mpptest-differences-from-100000": (printed, a9.one_line, a9.from_100000),
    # At 1,000 bytes 100 us are 80 Mbit/s, of np 4 times 2.
    "A9 mpptest-below-10-mb": (printed, lambda at: 190.0 + at["size_bytes"] / 1e6, a9.from_100000),
    "A9 work-above-10-mb": (worked, lambda at: at["overlap_bytes"] / 9.5, a9.beside_work),
    "A9 work-one-line": (
        worked,
        lambda at: a9.beside_work(at) * (1.12 if at["ranks"] > 2 else 1),
        a9.beside_work,
    ),
    **{
        f"D2 {way.mpich}-step": (late(way), set[int](), d2.PAPER[way])
        for way in (ONE_USER, ONE_USER_SOCKET)
    },
    "D2 one-user-on-the-wire": (left(ONE_USER), 65_160, 80),
    "D2 one-user-socket-on-the-wire": (left(ONE_USER_SOCKET), 80, 15_928),
    "D3 no-gain-10kb": (one_sided, LEAST_GAIN, LOSS),
    "D3 small-buffer-gains": (small_buffer, 0.0, -8.0),
    "D4 limit-hides-nothing": (small_limit, LEAST_GAIN, 0.0),
    "D4 gain-7kb-p0 gain-70kb-p0 gain-70kb-p1 less-at-70kb-p0": (
        two_sided,
        NO_GAIN,
        d4.d4.PAPER_PERCENT,
    ),
    "D5 gains-below": (hidden, 0, 15_928),
    "D5 gains-less-above": (hidden, 1 << 20, 15_928),
    "D2 larger-than-the-buffer": (by_buffer, set[int](), d2.SMALL),
    "D6 one-user-socket-8-messages more-processes-gain-less": (several, {}, SHOWN),
    "D6 one-user-8-messages": (several, {(ONE_USER, 8): 0.8}, SHOWN),
    "D6 one-user-socket-1-messages": (several, {(ONE_USER_SOCKET, 1): 0.8}, SHOWN),
}


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES)
def test_noise_alone_rarely_holds_and_the_effect_mostly(case: str) -> None:
    study, *claims = case.split()
    of, without, effect = CASES[case]
    for claim in claims:
        assert_told_apart(find(study), claim, of, without, effect)
