"""A10, short messages on the wire: shares and rates of 2-byte messages, with and without overlap.

Paper A, section V.A and figures 19 to 22: four nodes, messages of two bytes, with an overlap of 0 or 2 bytes (here: of
its own bytes, on which a rank works meanwhile). Data segments are 73 % of the TCP frames either way; with overlap the
paper finds a quarter of the packets per second (non-blocking; blocking: a little more than half). Work on two bytes
takes a few nanoseconds.
"""

from __future__ import annotations

from operator import sub

from beowulf.cluster import Cluster
from beowulf.labs.lab_06 import wire_picture
from beowulf.labs.lab_06.wire_claims import (
    EVERY_MESSAGE,
    LEVEL_POINTS,
    alike,
    level,
    of_rates,
    of_shares,
    only_tcp,
    points,
    printed,
    reaching,
    times,
)
from beowulf.studies.study import PACKETS, Plan, Study
from beowulf.studies.wire_shares import Talk, converse, place

PROTOCOLS = ("blocking", "nonblocking")
MESSAGE_BYTES = 2
OVERLAPS = (0, 2)
EXCHANGES = 1800  # so many that their packets far outnumber those of the launch
TALKS = [
    Talk(protocol, MESSAGE_BYTES, overlap, EXCHANGES)
    for protocol in PROTOCOLS
    for overlap in OVERLAPS
]
# Of the TCP share: the paper prints 100 and 99.97 %; our captures are short, so a little ARP weighs more.
NEARLY_ALL_PERCENT = 99.0
# Where paper A prints the two conversations of each kind of call.
WHERE = {"blocking": "figures 19-22", "nonblocking": "section V.A"}


def plan(cluster: Cluster, *, quick: bool, launches: int | None = None) -> Plan:
    """Conversations of 2-byte messages, blocking and not, with work on none and on 2 bytes."""
    return converse(TALKS, quick=quick, launches=launches)


def papers(quantity: str, protocol: str) -> tuple[float, float]:
    """The paper's figure without overlap, and with."""
    without, with_work = (
        printed(quantity, WHERE[protocol], protocol, MESSAGE_BYTES, work) for work in OVERLAPS
    )
    return without, with_work


# For each protocol, with overlap against without.
OVERLAP = {
    each: (place(each, MESSAGE_BYTES, 2), place(each, MESSAGE_BYTES, 0)) for each in PROTOCOLS
}
# Packets per second: 2,650.53 to 658.81, and 2,309.16 to 1,309.29 with blocking calls.
SLOWER = [b / a for a, b in (papers("packets_per_s", each) for each in PROTOCOLS)]
# The share of data segments: 73.41 to 72.87 %. Blocking calls have 73.48 and 73.30 %, but 0.18 points are less than the
# difference between the shares of two launches, and most of that comes from the rest of the capture.
FEWER = -sub(*papers("data_percent", "nonblocking"))
NONBLOCKING = {"nonblocking": OVERLAP["nonblocking"]}
# Both shares of the non-blocking conversations; of the blocking ones only the first is printed.
LEVELS = [
    level(f"overlap {work} B", place("nonblocking", MESSAGE_BYTES, work), data + short)
    for work, data, short in zip(
        OVERLAPS,
        papers("data_percent", "nonblocking"),
        papers("short_message_percent", "nonblocking"),
        strict=True,
    )
]


STUDY = Study(
    id="A10",
    title="Short messages on the wire: what work beside them changes",
    plan=plan,
    judged=[
        EVERY_MESSAGE,
        only_tcp(
            f"Nearly all frames are TCP, at least {NEARLY_ALL_PERCENT:g} % (section V.A: 100 and 99.97 %)",
            NEARLY_ALL_PERCENT,
        ).at("section V.A"),
        of_shares(
            "data-share-level",
            "Data and short messages are as many of the frames as in section V.A (97.62 and 96.92 %),"
            f" within {LEVEL_POINTS:g} points",
            LEVELS,
        ).at("section V.A"),
        of_shares(
            "data-share-alike",
            "Overlap of 2 bytes leaves the share of data segments as it is, within a point"
            " (figure 19: 73.48 and 73.30 %)",
            alike(points("data_percent", OVERLAP)),
        ),
        of_shares(
            "data-share-alike-talking",
            "Overlap of 2 bytes leaves the share of data segments as it is, within a point, while messages travel",
            alike(points("talking_data_percent", OVERLAP)),
        ),
        of_shares(
            "overlap-lowers-data-share",
            "While messages travel, overlap of 2 bytes lowers the share of data segments by at least half as much as"
            " in section V.A (non-blocking, 0.54 points)",
            reaching(points("talking_data_percent", NONBLOCKING), [FEWER]),
        ).at("section V.A"),
        of_rates(
            "overlap-lowers-packet-rate",
            "Overlap of 2 bytes lowers the packets a second of the whole capture by at least half as much as in the"
            " paper (section V.A: 2,650.53 to 658.81 and 2,309.16 to 1,309.29)",
            reaching(times("packets_per_s", OVERLAP), SLOWER),
        ).at("section V.A"),
        of_rates(
            "overlap-lowers-packet-rate-talking",
            "Overlap of 2 bytes lowers the packets a second while messages travel by half of the paper's fall at least",
            reaching(times("talking_packets_per_s", OVERLAP), SLOWER),
        ),
    ],
    # Shares and packets per second of the four conversations: figures 19 and 20.
    draw=wire_picture.drawn(
        "Messages of 2 bytes on the wire", "packets_per_s", "section V.A", "figures 19-22"
    ),
    needs=(PACKETS,),
    differs={
        "holds": (
            "A short message is still one segment with one header of MPICH, and work during it "
            "puts no bytes on the wire, so the shares of frames stay as in the paper."
        ),
        "contradicted": (
            "Work on two bytes takes nanoseconds and a packet microseconds, so it cannot change a "
            "rate or a share; the paper's fall from 2,651 to 659 packets a second must "
            "have another cause, such as how long the rest of its capture lasted."
        ),
        "inconclusive": (
            "The rate of a whole capture includes the start of ssh and MPI, whose length differs "
            "in each launch, so a change between two launches may come from their start."
        ),
    },
)
