"""D6, cumulative size and more processes: what do several messages at once, and more than two ranks, do to overlap?

Paper D measures two processes, with at most one message each way. It concludes that the support for overlap is
'directly related to the size of the message and/or the cumulative size of all messages to be sent', and that it 'might
have poor scalability'. Both are measured here with the exchange of D4 and D5. No message is longer than any limit.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.labs.lab_05.d5_improvement import (
    FULL,
    GAIN,
    QUICK,
    SECONDS,
    change,
    gains,
    intervals,
)
from beowulf.labs.lab_05.overlap import (
    DEFAULT,
    KB,
    ONE_USER,
    ONE_USER_SOCKET,
    Way,
    in_way,
    kb,
    launch,
    sweep_arguments,
    swept,
)
from beowulf.measure.improvement import Improvement
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.record import Record
from beowulf.studies.quantity import Quantity
from beowulf.studies.study import CABLE, Claim, Plan, Study

if TYPE_CHECKING:
    from beowulf.figures import Figure

PIECE, COUNTS = 10 * KB, (1, 2, 4, 8)
WAYS = (ONE_USER_SOCKET, ONE_USER, DEFAULT)
TOTAL, RANKS = 42 * KB, (2, 3, 4)


def plan(cluster: Cluster, *, quick: bool, seconds: float = SECONDS) -> Plan:
    """Exchanges of 1 to 8 messages of two ranks in three ways, and of 42 KB among 2 to 4 ranks."""
    amount = QUICK if quick else FULL
    ranks = [count for count in RANKS if count <= len(cluster.nodes)]
    # Way, ranks, messages to each other rank, and their size.
    cases = [(way, 2, messages, PIECE) for messages in COUNTS for way in WAYS]
    cases += [(DEFAULT, count, 1, TOTAL // (count - 1)) for count in ranks]

    def steps(measurement: Measurement) -> None:
        for number in range(amount.launches):
            for way, count, messages, size in cases:
                words = sweep_arguments(seconds, [size], amount.passes, number)
                words += ["--work", "delay", "--messages", messages]
                measurement.compared_ranks = max(ranks) if size != PIECE else 0
                at = {"messages": messages, "total_bytes": size * messages * (count - 1)}
                launch(measurement, way, "both_sides.c", words, number=number, at=at, ranks=count)

    about = swept(amount, seconds, [PIECE], counts=COUNTS, ranks=ranks)
    return Plan(amount.launches * len(cases), about, steps)


def of_messages(record: Record, way: Way, messages: int) -> Improvement:
    """Equation 1 for two ranks with this many messages to each other; LabError without samples."""
    return gains(record, way, messages=messages, total_bytes=messages * PIECE)[PIECE]


def of_ranks(record: Record, ranks: int) -> Improvement:
    """Equation 1 for this many ranks that exchange 42 KB in all; LabError without samples."""
    size = TOTAL // (ranks - 1)
    return gains(record, DEFAULT, ranks=ranks, total_bytes=TOTAL)[size]


def of_most_ranks(record: Record) -> Improvement:
    """The same for the largest number of ranks measured; LabError if only two were."""
    most = max((point.at["ranks"] for point in record.points if "ranks" in point.at), default=0)
    if most <= min(RANKS):
        raise LabError("No more than two ranks were measured.", "Boot more nodes.")
    return of_ranks(record, most)


def less_gained(way: Way, messages: int) -> Quantity:
    """How much less these messages gain in this way than with the library's defaults; negative if less."""
    usual, here = (
        change(
            f"{messages} of {kb(PIECE)} with {each.says}",
            partial(of_messages, way=each, messages=messages),
        )
        for each in (DEFAULT, way)
    )
    return usual - here


def of_way(way: Way, messages: int, says: str, *, equally: bool) -> Claim:
    """Whether these messages gain as much in this way as with the library's defaults, or less."""
    less = less_gained(way, messages)
    judge = in_way(way, less.within(GAIN, -GAIN) if equally else less < GAIN)
    return Claim(f"{way.mpich}-{messages}-messages", says, judge)


TWO = change("2 ranks", lambda record: of_ranks(record, 2))
MOST = change("as many ranks as there are nodes", of_most_ranks)


def picture(record: Record) -> Figure:
    """Equation 1 with its interval, by the number of messages in each way, and by the number of ranks."""
    cases = {
        (f"{count} of {kb(PIECE)}, 2 ranks", way.says): partial(of_messages, record, way, count)
        for count in COUNTS
        for way in WAYS
    }
    cases |= {
        (f"{kb(TOTAL)} in all, {count} ranks", DEFAULT.says): partial(of_ranks, record, count)
        for count in RANKS
    }
    return intervals("D6", "What do more messages and more ranks gain by overlap?", cases)


MANY = max(COUNTS)
STUDY = Study(
    id="D6",
    title="More messages and more processes: does their sum decide what overlap gains?",
    plan=plan,
    judged=[
        of_way(
            ONE_USER_SOCKET,
            1,
            f"A message of {kb(PIECE)} gains as much with a small send buffer as without",
            equally=True,
        ),
        of_way(
            ONE_USER_SOCKET,
            MANY,
            "The cumulative size of all messages counts"
            f" (here {MANY} of {kb(PIECE)} gain less with a small send buffer, by 2 points or more)",
            equally=False,
        ).at("conclusions"),
        of_way(
            ONE_USER,
            MANY,
            f"{MANY} messages of {kb(PIECE)} gain as much with a small eager limit: each is below it",
            equally=True,
        ),
        Claim(
            "more-processes-gain-less",
            "More than two processes gain less by overlap, with as much to send",
            TWO - MOST < GAIN,
        ),
    ],
    draw=picture,
    troubles=partial(trouble, quantity="duration_s"),
    needs=(CABLE,),
    differs={
        "holds": (
            "A send buffer fills with all messages of a connection together, and the rest waits for the next MPI"
            " call; an eager limit looks at each message alone."
        ),
        "contradicted": (
            "That more processes gain less, the paper, which ran two, only calls possible; here a switch forwards all"
            " ranks' messages at once, and each rank has its own cable, so more ranks do not wait longer."
        ),
        "inconclusive": (
            "Gains count as equal within two points, and more ranks than cores scatter by more, although their work"
            " is a sleep that needs no core: as many cores as ranks can decide it."
        ),
    },
)
