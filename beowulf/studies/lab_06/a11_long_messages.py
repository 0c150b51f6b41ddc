"""A11, long messages on the wire: what do 2, 1024 or 8192 bytes of work beside a message change?

Paper A, section V.B: long messages (its figures have 1024 and 8192 bytes), a rank works on 0, 2, 1024
or 8192 bytes of its own meanwhile. The share of data segments stays (64.70 and 65.08 %), and from no
overlap to 8192 bytes the rate rises from 8.85 to 40.54 Mbit/s. From that, and from the short messages,
the paper concludes that overlap lowers TCP's overhead and makes communication more efficient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    higher,
    lowered,
    on_rates,
    on_shares,
    raised,
)
from beowulf.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from beowulf.figures import Figure

ID = "A11"
TITLE = "Long messages on the wire: what work beside them changes"

PROTOCOLS = ("blocking", "nonblocking")
EXCHANGES = {1024: 900, 8192: 300}  # so that their packets outnumber those of the launch
OVERLAPS = (0, 2, 1024, 8192)
QUICK_OVERLAPS = (0, 8192)
MOST = 8192
UNCOMPARED = [place("blocking", size, 0) for size in EXCHANGES]
# Paper A, section V.B: from 64.70 to 65.08 %. The same serves for the overhead, of which it has no figure.
PAPERS_RISE_POINTS = 0.38

ALIKE = (
    "Overlap of 8192 bytes leaves the share of data segments as it is (section V.B: 64.70, 65.08 %)"
)
WHOLE = "Overlap of 8192 bytes raises the Mbit/s of the whole capture (section V.B: 8.85 to 40.54)"
TALKING = "Overlap of 8192 bytes raises the Mbit/s while messages travel"
BLOCKING = "With 8192 bytes of work, non-blocking messages have more Mbit/s than blocking ones (section VI)"
OVERHEAD = "While messages travel, overlap of 8192 bytes lowers the TCP overhead as these labs define it (section VI)"
PAPERS_OVERHEAD = "While messages travel, overlap of 8192 bytes lowers it by paper A's measure: more frames are data"


def talks(overlaps: Sequence[int]) -> list[Talk]:
    """Both sizes by both protocols with each of these overlaps."""
    return [
        Talk(protocol, size, overlap, EXCHANGES[size])
        for size in EXCHANGES
        for protocol in PROTOCOLS
        for overlap in overlaps
    ]


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    launches: int | None = None,
) -> Record:
    """Capture conversations of 1024 and 8192 bytes, blocking and not, with work on up to 8192 bytes."""
    chosen = talks(QUICK_OVERLAPS if quick else OVERLAPS)
    if quick:  # what no claim compares is left out
        chosen = [talk for talk in chosen if talk.at not in UNCOMPARED]
    return converse(ID, cluster, folder, chosen, quick=quick, progress=progress, launches=launches)


def claims(record: Record) -> list[Verdict]:
    """What section V.B and the conclusion say of long messages, and whether all were captured."""
    need_study(record, ID)
    fewer = _overlap(partial(lowered, papers=PAPERS_RISE_POINTS))
    more = _overlap(partial(raised, papers=PAPERS_RISE_POINTS))
    faster = _overlap(higher)
    talking, data = "talking_mbit_per_s", "talking_data_percent"
    overhead = "talking_tcp_overhead_percent"
    return [
        every_message(record),
        on_shares(record, "data-share-alike", ALIKE, _overlap(alike), "data_percent"),
        on_rates(record, "overlap-raises-rate", WHOLE, faster, "mbit_per_s"),
        on_rates(record, "overlap-raises-rate-talking", TALKING, faster, talking),
        on_rates(record, "nonblocking-beats-blocking", BLOCKING, _calls(higher), talking),
        on_shares(record, "overlap-lowers-overhead", OVERHEAD, fewer, overhead),
        on_shares(record, "overlap-raises-data-share", PAPERS_OVERHEAD, more, data),
    ]


def _overlap(has_to_be: Callable[[Any], Outcome]) -> dict[str, Part]:
    """Non-blocking, as in the paper's section V.B: the most work against none."""
    protocol = "nonblocking"
    return {
        f"{size:,} B": Part(place(protocol, size, MOST), place(protocol, size, 0), has_to_be)
        for size in EXCHANGES
    }


def _calls(has_to_be: Callable[[Any], Outcome]) -> dict[str, Part]:
    """With the most work, non-blocking against blocking."""
    return {
        f"{size:,} B": Part(
            place("nonblocking", size, MOST), place("blocking", size, MOST), has_to_be
        )
        for size in EXCHANGES
    }


def picture(record: Record) -> Figure:
    """Shares and Mbit/s of each conversation, beside section V.B."""
    need_study(record, ID)
    title = "Messages of 1024 and 8192 bytes on the wire"
    return wire_picture.picture(record, "mbit_per_s", title, "section V.B")
