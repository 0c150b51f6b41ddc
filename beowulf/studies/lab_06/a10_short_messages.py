"""A10, short messages on the wire: shares and rates of 2-byte messages, with and without overlap.

Paper A, section V.A and figures 19 to 22: four nodes, messages of two bytes, a rank works on no or on
two bytes of its own meanwhile. Data segments are 73 % of the TCP frames either way; the paper finds
a fourth of the packets a second with overlap (non-blocking; blocking: a little more than half). Work
on two bytes takes a few nanoseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from beowulf.cluster import Cluster
from beowulf.record import Record
from beowulf.studies.lab_06 import wire_picture
from beowulf.studies.lab_06.wire_claims import (
    EVERY_MESSAGE,
    Part,
    alike,
    lower,
    lowered,
    on_rates,
    on_shares,
    only_tcp,
)
from beowulf.studies.lab_06.wire_shares import Talk, converse, place
from beowulf.studies.study import Plan, Study
from beowulf.verdict import Outcome

if TYPE_CHECKING:
    from beowulf.figures import Figure

PROTOCOLS = ("blocking", "nonblocking")
MESSAGE_BYTES = 2
OVERLAPS = (0, 2)
EXCHANGES = 1800  # so that their packets outnumber those of the launch by far
TALKS = [
    Talk(protocol, MESSAGE_BYTES, overlap, EXCHANGES)
    for protocol in PROTOCOLS
    for overlap in OVERLAPS
]
# Of the TCP share: the paper has 100 and 99.97 %; ours has fewer packets, and as much ARP.
NEARLY_ALL_PERCENT = 99.0
# Paper A, section V.A: 73.41 to 72.87 % and 73.48 to 73.30 %.
PAPERS_LEAST_DROP_POINTS = 0.18
# And 2,309.16 to 1,309.29 packets/s (figure 20); 2,650.53 to 658.81 is the larger drop.
PAPERS_LEAST_DROP = 1309.29 / 2309.16


def plan(cluster: Cluster, *, quick: bool, launches: int | None = None) -> Plan:
    """Conversations of 2-byte messages, blocking and not, with work on no and on 2 bytes."""
    return converse(TALKS, quick=quick, launches=launches)


def overlap(has_to_be: Callable[[Any], Outcome]) -> dict[str, Part]:
    """For each protocol, with overlap against without."""
    return {
        protocol: Part(
            place(protocol, MESSAGE_BYTES, 2), place(protocol, MESSAGE_BYTES, 0), has_to_be
        )
        for protocol in PROTOCOLS
    }


def picture(record: Record) -> Figure:
    """Shares and packets a second of the four conversations: figures 19 and 20."""
    title = "Messages of 2 bytes on the wire"
    return wire_picture.picture(record, "packets_per_s", title, "section V.A", "figures 19-22")


SLOWER = overlap(partial(lower, papers=PAPERS_LEAST_DROP))

STUDY = Study(
    id="A10",
    title="Short messages on the wire: what work beside them changes",
    plan=plan,
    judged=[
        EVERY_MESSAGE,
        only_tcp(
            "Nearly all frames are TCP (section V.A: 100 and 99.97 %)",
            NEARLY_ALL_PERCENT,
        ),
        on_shares(
            "data-share-alike",
            "Overlap of 2 bytes leaves the share of data segments as it is, within a point"
            " (figure 19: 73.48 and 73.30 %)",
            overlap(alike),
            "data_percent",
        ),
        on_shares(
            "data-share-alike-talking",
            "Overlap of 2 bytes leaves the share of data segments as it is while messages travel",
            overlap(alike),
            "talking_data_percent",
        ),
        on_shares(
            "overlap-lowers-data-share",
            "Overlap of 2 bytes lowers the share of data segments (section V.A: by 0.18 points and more)",
            overlap(partial(lowered, papers=PAPERS_LEAST_DROP_POINTS)),
            "data_percent",
        ),
        on_rates(
            "overlap-lowers-packet-rate",
            "Overlap of 2 bytes lowers the packets a second of the whole capture"
            " (section V.A: 2,650.53 to 658.81)",
            SLOWER,
            "packets_per_s",
        ),
        on_rates(
            "overlap-lowers-packet-rate-talking",
            "Overlap of 2 bytes lowers the packets a second while messages travel",
            SLOWER,
            "talking_packets_per_s",
        ),
    ],
    draw=picture,
)
