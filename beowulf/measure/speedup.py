"""How much faster several processors are, and which part of a program keeps them from being as many times as fast.

G. M. Amdahl, Validity of the single processor approach to achieving large scale computing capabilities (AFIPS 1967):
the part that only one processor can do stays, however many there are. A. H. Karp and H. P. Flatt, Measuring parallel
processor performance (Communications of the ACM 33(5), 1990): the same law, solved for that part. J. L. Gustafson,
Reevaluating Amdahl's law (Communications of the ACM 31(5), 1988): the problem grows with the processors, its time not.
"""

from __future__ import annotations

import math

from beowulf.errors import UsageError


def speedup(one_s: float, many_s: float) -> float:
    """How many times as fast: the time on one processor over that on many."""
    for seconds in (one_s, many_s):
        if not (math.isfinite(seconds) and seconds > 0):
            raise UsageError(f"A time is more than 0 s, not {seconds}.")
    return one_s / many_s


def efficiency(times: float, processors: int) -> float:
    """The part of the processors' time that is used: 1 when so many are so many times as fast."""
    return _positive(times) / _at_least(processors, 1)


def amdahl(serial: float, processors: int) -> float:
    """The speed-up that is left when the part `serial` of the work, from 0 to 1, is done by one alone."""
    return 1 / (_part(serial) + (1 - serial) / _at_least(processors, 1))


def gustafson(serial: float, processors: int) -> float:
    """How many times as long one would take for what so many do; in the part `serial` of their time one works alone."""
    return _part(serial) + (1 - serial) * _at_least(processors, 1)


def most(serial: float) -> float:
    """The speed-up that no number of processors exceeds; infinite where nothing is serial."""
    return 1 / serial if _part(serial) else math.inf


def karp_flatt(times: float, processors: int) -> float:
    """The serial part that a measured speed-up on 2 processors or more speaks of.

    Waiting and sending count as serial. More than 1: many are slower than one. Less than 0: they are faster than
    their number, as when a part of the data fits a cache and the whole does not.
    """
    _at_least(processors, 2)
    return (1 / _positive(times) - 1 / processors) / (1 - 1 / processors)


def _part(serial: float) -> float:
    if not 0 <= serial <= 1:
        raise UsageError(f"The serial part is from 0 to 1, not {serial}.")
    return serial


def _positive(times: float) -> float:
    if not (math.isfinite(times) and times > 0):
        raise UsageError(f"A speed-up is more than 0, not {times}.")
    return times


def _at_least(processors: int, least: int) -> int:
    if processors < least:
        raise UsageError(f"It takes {least} or more processors, not {processors}.")
    return processors
