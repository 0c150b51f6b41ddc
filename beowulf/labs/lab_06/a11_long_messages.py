"""A11, long messages on the wire: what do 2, 1024 or 8192 bytes of work during a message change?

Paper A, section V.B: long messages (it does not state their length; its figures show 2, 1024 and 8192 bytes, blocking),
with an overlap of 0 or 8192 bytes; here a rank works on so many of its own bytes, or on 2 or 1024. The share of data
segments stays (64.70 and 65.08 %), and from no overlap to 8192 bytes the rate rises from 8.85 to 40.54 Mbit/s. The
paper concludes that overlap lowers TCP's overhead, and that long non-blocking messages with overlap are more efficient
than blocking ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from beowulf.cluster import Cluster
from beowulf.labs.lab_06 import wire_picture
from beowulf.labs.lab_06.wire_claims import (
    EVERY_MESSAGE,
    LEVEL_POINTS,
    alike,
    level,
    of_rates,
    of_shares,
    points,
    printed,
    times,
)
from beowulf.studies.study import PACKETS, Plan, Study
from beowulf.studies.wire_shares import Talk, converse, place

PROTOCOLS = ("blocking", "nonblocking")
EXCHANGES = {1024: 900, 8192: 300}  # so many that their packets outnumber those of the launch
OVERLAPS = (0, 2, 1024, 8192)
QUICK_OVERLAPS = (0, 8192)
MOST = 8192
# Blocking calls are compared at 8192 bytes alone, without work.
UNCOMPARED = [place("blocking", 1024, 0), *(place("blocking", size, 8192) for size in EXCHANGES)]


def papers(quantity: str, work: int) -> float:
    """What section V.B prints for its long non-blocking messages with so much work."""
    return printed(quantity, "section V.B", "nonblocking", "", work)


FASTER = papers("mbit_per_s", MOST) / papers("mbit_per_s", 0)  # 8.85 to 40.54 Mbit/s
# 1.11 to 5.07 MB/s; its blocking messages of 8192 bytes, without work, reach 1.13.
BEATS = papers("bytes_per_s", MOST) / printed("bytes_per_s", "figures 23-24", "blocking", MOST, 0)
# From 64.70 to 65.08 %. The overhead, for which its text has no number, is judged by as many points.
RISE_POINTS = papers("data_percent", MOST) - papers("data_percent", 0)
# The paper does not state their length. Their 1.11 MB/s are near the 1.13 of 8192 bytes, blocking.
LEVELS = [
    level(
        f"overlap {work:,} B",
        place("nonblocking", 8192, work),
        papers("data_percent", work) + papers("short_message_percent", work),
    )
    for work in (0, MOST)
]
# Non-blocking, as in the paper's section V.B: the most work against none.
OVERLAP = {
    f"{size:,} B": (place("nonblocking", size, MOST), place("nonblocking", size, 0))
    for size in EXCHANGES
}
# Most likely the length of the paper's long messages. With 1024 bytes too, such a small rise takes twice the rounds.
LONGEST = {says: both for says, both in OVERLAP.items() if both[0]["message_bytes"] == MOST}
# Non-blocking with the most work against blocking without, of the same length: what the paper prints of both.
CALLS = {f"{MOST:,} B": (place("nonblocking", MOST, MOST), place("blocking", MOST, 0))}


def talks(overlaps: Sequence[int]) -> list[Talk]:
    """Both sizes by both protocols with each of these overlaps."""
    return [
        Talk(protocol, size, overlap, EXCHANGES[size])
        for size in EXCHANGES
        for protocol in PROTOCOLS
        for overlap in overlaps
    ]


def plan(cluster: Cluster, *, quick: bool, launches: int | None = None) -> Plan:
    """Conversations of 1024 and 8192 bytes, blocking and not, with work on up to 8192 bytes."""
    chosen = talks(QUICK_OVERLAPS if quick else OVERLAPS)
    if quick:  # leaves out what no claim compares
        chosen = [talk for talk in chosen if talk.at not in UNCOMPARED]
    return converse(chosen, quick=quick, launches=launches)


STUDY = Study(
    id="A11",
    title="Long messages on the wire: what work beside them changes",
    plan=plan,
    judged=[
        EVERY_MESSAGE,
        of_shares(
            "data-share-level",
            "Data and short messages are as many of the frames of long messages (we take 8192 bytes) as in section V.B"
            f" (70.02 and 70.40 %), within {LEVEL_POINTS:g} points",
            LEVELS,
        ).at("section V.B"),
        of_shares(
            "data-share-alike",
            "Overlap of 8192 bytes leaves the share of data segments as it is, within a point"
            " (section V.B: 64.70, 65.08 %)",
            alike(points("data_percent", OVERLAP)),
        ),
        of_rates(
            "overlap-raises-rate",
            "Overlap of 8192 bytes raises the Mbit/s of the whole capture by at least half of the paper's gain"
            " (section V.B: 8.85 to 40.54)",
            [each.reaches(FASTER) for each in times("mbit_per_s", OVERLAP)],
        ).at("section V.B"),
        of_rates(
            "overlap-raises-rate-talking",
            "Overlap of 8192 bytes raises the Mbit/s while messages travel by at least half of the paper's gain",
            [each.reaches(FASTER) for each in times("talking_mbit_per_s", OVERLAP)],
        ),
        of_rates(
            "nonblocking-beats-blocking",
            "Non-blocking messages with overlap have more Mbit/s of the whole capture than blocking ones (section VI;"
            " ours: 8192 bytes of work, none for blocking), by at least half of the paper's gain"
            " (section V.B: 1.13, printed as packets, to 5.07 MB/s)",
            [each.reaches(BEATS) for each in times("mbit_per_s", CALLS)],
        ).at("section VI"),
        of_shares(
            "overlap-lowers-overhead",
            "While messages travel, overlap of 8192 bytes lowers the TCP overhead as these labs define it"
            f" (section VI, figure 28), by at least {RISE_POINTS / 2:.2g} points, since its text has no number",
            [each < -RISE_POINTS / 2 for each in points("talking_tcp_overhead_percent", OVERLAP)],
        ).at("section VI, figure 28"),
        of_shares(
            "overlap-raises-data-share",
            "While messages of 8192 bytes travel, as much work raises the share of data segments by at least half"
            " as much as section V.B prints (0.38 points; its text says that overlap lowers the share)",
            [each.reaches(RISE_POINTS) for each in points("talking_data_percent", LONGEST)],
        ).at("section V.B"),
    ],
    # Shares and Mbit/s of each conversation, next to section V.B.
    draw=wire_picture.drawn(
        "Messages of 1024 and 8192 bytes on the wire", "mbit_per_s", "section V.B"
    ),
    needs=(PACKETS,),
    differs={
        "holds": (
            "TCP still divides a message into segments and acknowledges them, in the same way "
            "whether its rank works or not, so the shares are near those of section V.B and stay "
            "there."
        ),
        "contradicted": (
            "Work on 8192 bytes takes a fraction of a message's time and adds no frames, and both "
            "kinds of calls send the same ones, so rates and shares move by less than half of the "
            "paper's; its rise from 8.85 to 40.54 Mbit/s must come from something else that differed "
            "between its runs."
        ),
        "inconclusive": (
            "Each launch takes a different time for ssh and the start of MPI, so the rate of its "
            "capture differs by as much as the change in question."
        ),
    },
)
