"""How much faster several processors are, and which part of a program keeps them from being as many times as fast.

G. M. Amdahl, Validity of the single processor approach to achieving large scale computing capabilities (AFIPS 1967):
the part that only one processor can do stays, however many there are. A. H. Karp and H. P. Flatt, Measuring parallel
processor performance (Communications of the ACM 33(5), 1990): the same law, solved for that part. J. L. Gustafson,
Reevaluating Amdahl's law (Communications of the ACM 31(5), 1988): the problem grows with the processors, its time not.
"""

from __future__ import annotations


def efficiency(times: float, processors: int) -> float:
    """The part of the processors' time that is used: 1 when so many are so many times as fast."""
    return times / processors


def amdahl(serial: float, processors: int) -> float:
    """The speed-up that is left when the part `serial` of the work, from 0 to 1, is done by one alone."""
    return 1 / (serial + (1 - serial) / processors)


def gustafson(serial: float, processors: int) -> float:
    """How many times as long one would take for what so many do; in the part `serial` of their time one works alone."""
    return serial + (1 - serial) * processors


def karp_flatt(times: float, processors: int) -> float:
    """The serial part that a measured speed-up on 2 processors or more speaks of.

    Waiting and sending count as serial. More than 1: many are slower than one. Less than 0: they are faster than
    their number, as when a part of the data fits a cache and the whole does not.
    """
    return (1 / times - 1 / processors) / (1 - 1 / processors)
