"""Three laws of parallel programs. Find them yourself: replace each `...`.

    python laws.py

calls each of your functions with new random numbers, and says whether the answer is right, too small or
too large.
"""


def amdahl(serial_share, ranks):
    """A run takes an hour on one rank. One rank does its `serial_share` alone, while the others wait; the
    rest is shared evenly. How many times as fast is it on `ranks` ranks?

    amdahl(0, 8) is 8, amdahl(1, 8) is 1, amdahl(0.5, 2) is 4 / 3.
    """
    return ...


def karp_flatt(speed_up, ranks):
    """The reverse of Amdahl's question: which serial share would make a run `speed_up` times as fast on
    `ranks` ranks?

    karp_flatt(amdahl(0.1, 4), 4) is 0.1. The result may be above 1 or below 0: what does that mean?
    """
    return ...


def gustafson(serial_share, ranks):
    """More ranks compute a larger problem, so that a run still takes an hour on `ranks` ranks. For
    `serial_share` of that hour one rank works alone; for the rest, all ranks work. How many hours would one
    rank need for the same problem?

    gustafson(0, 8) is 8, gustafson(1, 8) is 1, gustafson(0.5, 2) is 1.5.
    """
    return ...


if __name__ == "__main__":
    import sys

    from beowulf.labs.lab_03 import speedup_laws

    speedup_laws.main(sys.argv, globals())
