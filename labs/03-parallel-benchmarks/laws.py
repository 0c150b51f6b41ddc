"""Three laws of parallel programs. They are yours to write: replace each `...`.

    python laws.py

calls each of your functions with numbers that are drawn again each time, and says whether the answer
is right, too small or too large.
"""


def amdahl(serial_share, ranks):
    """How many times as fast a program gets on that many ranks, if `serial_share` of its time on one
    rank cannot be shared out, and all the rest is shared out evenly. (A share of 0.25 is a quarter.)
    """
    return ...


def karp_flatt(speed_up, ranks):
    """Amdahl's law, turned round: the serial share with which a program would be as many times as
    fast as was measured.
    """
    return ...


def predicted_s(seconds_1, workers, bytes_sent, bytes_per_s, messages, latency_s):
    """The seconds that a parallel run should take: its seconds on one rank, shared out among so many
    workers; what one rank sends, at the rate of its cable; and a latency for each message.
    """
    return ...


if __name__ == "__main__":
    import sys

    from beowulf.exercises.lab_03 import speedup_laws

    speedup_laws.main(sys.argv, globals())
