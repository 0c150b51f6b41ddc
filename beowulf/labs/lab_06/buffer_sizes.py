"""The first part of A13: what socket buffers and the eager limit do to messages of some sizes.

Two sizes can be changed. TCP keeps what was sent and not yet acknowledged, and what was not yet read, in buffers of the
kernel (`tcp_wmem`, `tcp_rmem`). MPICH sends a message up to its eager limit at once; for a longer one it asks first.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from beowulf.cluster import Cluster
from beowulf.cluster.common.hydra import EAGER_LIMIT
from beowulf.errors import LabError
from beowulf.labs.lab_06.wire_claims import POINTS_MATTER
from beowulf.measure.judgement import SIMILAR, Span
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import HALF
from beowulf.measure.statistics import LEAST_PAIRS
from beowulf.record import Point, Record
from beowulf.studies import wire_costs
from beowulf.studies.quantity import TIMES, Quantity, all_hold, exactly
from beowulf.studies.study import Claim, Judgement, Need, other_library
from beowulf.studies.wire_costs import (
    ALIKE,
    cost,
    counting,
    each,
    observed,
    paired,
    size_text,
    unseen,
)
from beowulf.studies.wire_shares import program
from beowulf.tuning.change import changed
from beowulf.tuning.knobs.socket_buffers import FORGETFUL, SocketBuffers

if TYPE_CHECKING:
    import pandas as pd

PART = "buffers"
KB = 1024
SIZES = (KB, 8 * KB, 64 * KB, 256 * KB)
LAUNCHES, CHUNKS = LEAST_PAIRS, 6
QUICK_LAUNCHES, QUICK_CHUNKS = 1, 12
# About half a millisecond; with longer messages, one exchange lasts that long.
EXCHANGES_A_CHUNK = {KB: 6}
TAG = 100  # of the first size; a size has two tags, the second for what is not timed
NEED = Need(
    "faults",
    "the socket buffers of PCs are not changed",
    "The socket buffers of this kind of cluster cannot be changed; that part was left out.",
)
HEADER_BYTES = 32  # of MPICH's, the fields that count against the eager limit


@dataclass(frozen=True)
class Setting:
    """Buffers of each connection (0: the nodes' defaults), and MPICH's eager limit."""

    says: str
    buffer_bytes: int = 0
    limit_bytes: int = 131_072  # MPICH's own
    protocol: str = "blocking"

    @property
    def at(self) -> dict[str, Any]:
        """The coordinates of its Points."""
        at = {"part": PART, "buffer_bytes": self.buffer_bytes, "limit_bytes": self.limit_bytes}
        return {**at, "protocol": self.protocol}

    @property
    def environment(self) -> dict[str, str]:
        """The variables that set it."""
        return {} if self.limit_bytes == OWN.limit_bytes else {EAGER_LIMIT: str(self.limit_bytes)}

    def asks_first(self, message_bytes: int) -> bool:
        """Whether a message is longer than the eager limit."""
        return message_bytes + HEADER_BYTES > self.limit_bytes


OWN = Setting("as it is")
SMALL = Setting("socket 4 KB", buffer_bytes=4 * KB)
MIDDLE = Setting("socket 16 KB", buffer_bytes=16 * KB)
EARLY = Setting("eager limit 4 KB", limit_bytes=4 * KB)
LATE = Setting("eager limit 512 KB", limit_bytes=512 * KB)
COPIED = Setting("MPI_Bsend", protocol="buffered")
SETTINGS = (OWN, SMALL, MIDDLE, EARLY, LATE, COPIED)


def planned(quick: bool) -> int:
    """How many launches `measure` makes."""
    return len(SETTINGS) * len(SIZES) * (QUICK_LAUNCHES if quick else LAUNCHES)


def measure(measurement: Measurement) -> None:
    """Conversations of two ranks in every setting and size, alternating, under a capture for each setting."""
    launches, chunks = (QUICK_LAUNCHES, QUICK_CHUNKS) if measurement.quick else (LAUNCHES, CHUNKS)
    measurement.sweep[PART] = {"sizes": list(SIZES), "launches": launches, "chunks": chunks}
    settings = list(SETTINGS)
    if NEED.unmet(measurement.cluster.can):
        settings = [each for each in SETTINGS if not each.buffer_bytes]
    measurement.prepare(program())
    for number in range(launches):
        for setting in settings:
            with buffers(measurement.cluster, setting.buffer_bytes):
                _observe(measurement, setting, chunks, number)


def buffers(cluster: Cluster, size_bytes: int) -> AbstractContextManager[object]:
    """Within this context new connections between nodes have buffers of this many bytes; 0 keeps the nodes' own.

    Nodes that cannot be changed keep their own.
    """
    if not size_bytes and NEED.unmet(cluster.can):
        return nullcontext()
    return changed(cluster, [(SocketBuffers(), str(size_bytes) if size_bytes else FORGETFUL)])


def _observe(measurement: Measurement, setting: Setting, chunks: int, number: int) -> None:
    sent: dict[int, int] = {}
    about = {name: value for name, value in setting.at.items() if name != "protocol"}
    with observed(measurement) as wire:
        for tag, size in _tags():
            words: list[str | int] = ["--bytes", size, "--tag", tag, "--chunks", chunks]
            words += ["--exchanges", chunks * EXCHANGES_A_CHUNK.get(size, 1)]
            words += ["--protocol", setting.protocol]
            how: dict[str, Any] = {"environment": setting.environment, "launch": number}
            lines = measurement.launch(program(), 2, words, at=about, **how)
            of_tag = [each for each in lines if each["kind"] == "sent" and each["tag"] == tag]
            sent[size] = sum(int(each["messages"]) for each in of_tag)
    messages = wire.messages
    for tag, size in _tags():
        mine = messages[(messages["context"] == 0) & (messages["tag"] == tag)]
        at = {"message_bytes": size, "overlap_bytes": 0, **setting.at, "ranks": 2, "launch": number}
        facts: dict[str, Any] = {} if mine.empty else {"each": each(mine, len(mine))}
        whole = len(mine) == sent[size] and bool((mine["bytes"] == size).all())
        facts |= {"sent": sent[size], "matched": whole, "capture": wire.capture}
        measurement.add(at, HALF, ()).facts.update(facts)


def _tags() -> list[tuple[int, int]]:
    """The tag of each size."""
    return [(TAG + 2 * place, size) for place, size in enumerate(SIZES)]


def points(record: Record, setting: Setting, size: int) -> list[Point]:
    """The launches with samples of a setting and size."""
    return wire_costs.measured(record, HALF, **setting.at, message_bytes=size)


def sizes(record: Record) -> list[int]:
    """The sizes that were measured."""
    return sorted({p.at["message_bytes"] for p in wire_costs.measured(record, HALF, part=PART)})


def counted(record: Record, setting: Setting, size: int, name: str) -> float:
    """A fact of each message, averaged over the launches; LabError if nothing was captured."""
    return cost(points(record, setting, size), name)


def time(setting: Setting, size: int) -> Quantity:
    """A multiple of that in OWN of the same round."""
    return Quantity(
        f"the time of {size_text(size)} with {setting.says} over that with the nodes' own settings",
        lambda record: paired(record, *(points(record, each, size) for each in (setting, OWN))),
        TIMES,
    )


def segments(setting: Setting, size: int) -> Quantity:
    """A multiple of those in OWN."""

    def of(record: Record) -> Span:
        these, own = (counted(record, each, size, "segments") for each in (setting, OWN))
        return exactly(these / own)

    return Quantity(f"segments of a message of {size_text(size)}", of, TIMES)


def overhead(setting: Setting, size: int) -> Quantity:
    """How many points more of a message's bytes on the wire are not the message than in OWN, round by round.

    Counted, not timed: nearly all launches have the same value.
    """

    def of(record: Record) -> Span:
        these, own = (
            {
                p.at["launch"]: p.facts["each"]
                for p in points(record, each, size)
                if "each" in p.facts
            }
            for each in (setting, OWN)
        )
        more = [_overhead_percent(these[n]) - _overhead_percent(own[n]) for n in these if n in own]
        if not more:
            raise LabError("There is no capture with these buffers.", "Measure again.")
        return Span(min(more), max(more))

    return Quantity(size_text(size), of, "points")


def _overhead_percent(each: dict[str, float]) -> float:
    return 100 * (1 - each["message_bytes"] / each["wire_bytes"])


@counting
def control_messages(record: Record) -> Judgement:
    """How many control messages a message takes, below and above three limits."""
    cases = [
        (setting, size)
        for setting in (OWN, EARLY, LATE)
        for size in sizes(record)
        if points(record, setting, size)
    ]
    if not cases:
        raise LabError("There are no messages for any of the eager limits.", "Measure again.")
    wrong = []
    for setting, size in cases:
        count = counted(record, setting, size, "control_packets")
        if count != (2.0 if setting.asks_first(size) else 0.0):
            wrong.append(f"{setting.says}, {size_text(size)}: {count:.2f}")
    evidence = "; ".join(wrong) or f"in all {len(cases)} cases of three limits"
    return Judgement("contradicted" if wrong else "holds", evidence, {"cases": len(cases)})


@counting
def every_message(record: Record) -> Judgement:
    """Whether each launch's capture has all messages that its program sent; one that lost packets may lack some."""
    launches = [p.facts for p in record.select(part=PART) if "matched" in p.facts]
    if not launches:
        raise LabError("There is no launch with a capture.", "Measure again.")
    wrong = sum(not each["matched"] for each in launches)
    sent = sum(each["sent"] for each in launches)
    return Judgement(
        "contradicted" if wrong else "holds",
        f"{sent:,} messages in {len(launches)} launches; {wrong} launches differ",
        {"sent": sent},
        undecidable="; ".join(unseen(record, PART)) if wrong else "",
    )


def asking_first_is_slower(record: Record) -> Judgement:
    """With a limit of 4 KB a message of 64 KB asks first; another library has no such limit."""
    other: dict[str, Any] = other_library(record)
    return replace((time(EARLY, 64 * KB) > 1 + ALIKE)(record), **other)


def claims(record: Record) -> list[Claim]:
    """What buffers and limits should do, at the sizes that were measured."""
    shown = sizes(record) or SIZES
    timed = partial(trouble, quantity=HALF)
    seen = partial(unseen, part=PART)
    return [
        *(
            Claim(
                f"small-buffers-slow-{size // KB}kb",
                f"Socket buffers of 4 KB make messages of {size_text(size)} slower by more than {ALIKE:.0%}",
                time(SMALL, size) > 1 + ALIKE,
                troubles=timed,
            )
            for size in (256 * KB, 64 * KB, KB)
        ),
        Claim(
            "asking-first-slow-64kb",
            "An eager limit of 4 KB, so that the sender asks first, makes messages of 64 KB slower by more"
            f" than {ALIKE:.0%}",
            asking_first_is_slower,
            troubles=timed,
        ),
        Claim(
            "copy-no-difference-256kb",
            "A copy in MPI's own buffer (MPI_Bsend) changes the time of messages of 256 KB"
            f" by at most {SIMILAR:.0%}",
            time(COPIED, 256 * KB).within(1 - SIMILAR, 1 + SIMILAR),
            troubles=timed,
        ),
        Claim(
            "small-buffers-more-segments",
            f"Socket buffers of 4 KB cut every message into more segments, by more than {ALIKE:.0%}",
            counting(all_hold(*(segments(SMALL, size) > 1 + ALIKE for size in shown))),
            troubles=seen,
        ),
        *(
            Claim(
                f"{setting.buffer_bytes // KB}kb-buffers-more-overhead",
                f"Socket buffers of {size_text(setting.buffer_bytes)} raise the TCP overhead of every"
                f" message by more than {POINTS_MATTER:g} point",
                counting(all_hold(*(overhead(setting, size) > POINTS_MATTER for size in shown))),
                troubles=seen,
            )
            for setting in (SMALL, MIDDLE)
        ),
        Claim(
            "limit-decides-control-messages",
            "Above the eager limit a message takes two control messages, below none",
            control_messages,
            troubles=seen,
        ),
        Claim(
            "every-message-captured",
            "The captures have every message that the program sent, of the right size",
            every_message,
            needs="samples",
        ),
    ]


def table(record: Record) -> pd.DataFrame:
    """One row per setting and size: time with its interval, and what each message cost on the wire."""
    cases = (
        ({"setting": setting.says, "message_bytes": size}, points(record, setting, size))
        for setting in SETTINGS
        for size in sizes(record)
    )
    return wire_costs.table(record, HALF, cases)
