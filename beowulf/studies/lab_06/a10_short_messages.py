"""A10, short messages on the wire: shares and rates of 2-byte messages, with and without overlap.

Paper A, section V.A and figures 19 to 22: four nodes, messages of two bytes, a rank works on no or on
two bytes of its own meanwhile. Data segments are 73 % of the TCP frames either way; the paper finds
a fourth of the packets a second with overlap (non-blocking; blocking: a little more than half). Work
on two bytes takes a few nanoseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf.cluster import Cluster
from beowulf.measure.judgement import need_study
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.studies.lab_06 import wire_picture
from beowulf.studies.lab_06.wire_shares import Talk, converse, place
from beowulf.studies.lab_06.wire_verdicts import (
    Part,
    alike,
    every_message,
    lower,
    lowered,
    on_rates,
    on_shares,
    only_tcp,
)
from beowulf.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from beowulf.figures import Figure

ID = "A10"
TITLE = "Short messages on the wire: what work beside them changes"

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

ONLY_TCP = "Nearly all frames are TCP (section V.A: 100 and 99.97 %)"
ALIKE = "Overlap of 2 bytes leaves the share of data segments as it is, within a point (figure 19: 73.48 and 73.30 %)"
ALIKE_TALKING = (
    "Overlap of 2 bytes leaves the share of data segments as it is while messages travel"
)
LOWER = (
    "Overlap of 2 bytes lowers the share of data segments (section V.A: by 0.18 points and more)"
)
WHOLE = "Overlap of 2 bytes lowers the packets a second of the whole capture (section V.A: 2,650.53 to 658.81)"
TALKING = "Overlap of 2 bytes lowers the packets a second while messages travel"


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    launches: int | None = None,
) -> Record:
    """Capture conversations of 2-byte messages, blocking and not, with work on no and on 2 bytes."""
    return converse(ID, cluster, folder, TALKS, quick=quick, progress=progress, launches=launches)


def claims(record: Record) -> list[Verdict]:
    """What section V.A says of short messages, and whether the captures have every message."""
    need_study(record, ID)
    drop = partial(lowered, papers=PAPERS_LEAST_DROP_POINTS)
    slower = _parts(partial(lower, papers=PAPERS_LEAST_DROP))
    talking = "talking_packets_per_s"
    return [
        every_message(record),
        only_tcp(record, ONLY_TCP, NEARLY_ALL_PERCENT),
        on_shares(record, "data-share-alike", ALIKE, _parts(alike), "data_percent"),
        on_shares(
            record,
            "data-share-alike-talking",
            ALIKE_TALKING,
            _parts(alike),
            "talking_data_percent",
        ),
        on_shares(record, "overlap-lowers-data-share", LOWER, _parts(drop), "data_percent"),
        on_rates(record, "overlap-lowers-packet-rate", WHOLE, slower, "packets_per_s"),
        on_rates(record, "overlap-lowers-packet-rate-talking", TALKING, slower, talking),
    ]


def _parts(has_to_be: Callable[[Any], Outcome]) -> dict[str, Part]:
    """For each protocol, with overlap against without."""
    return {
        protocol: Part(
            place(protocol, MESSAGE_BYTES, 2), place(protocol, MESSAGE_BYTES, 0), has_to_be
        )
        for protocol in PROTOCOLS
    }


def picture(record: Record) -> Figure:
    """Shares and packets a second of the four conversations: figures 19 and 20."""
    need_study(record, ID)
    title = "Messages of 2 bytes on the wire"
    return wire_picture.picture(record, "packets_per_s", title, "section V.A", "figures 19-22")
