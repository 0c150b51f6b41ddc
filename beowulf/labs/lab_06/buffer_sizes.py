"""The first part of A13: what sockets' buffers and the eager limit do to messages of some sizes.

Paper A leaves it to future work to change the size of the communication buffer. There are two such
sizes here. TCP keeps what was sent and not yet acknowledged, and what has arrived and was not yet
read, in buffers of the kernel (`tcp_wmem`, `tcp_rmem`). And MPICH sends a message up to its eager
limit at once into a buffer of the receiver's; for a longer one it asks first: request to send, clear
to send, data. MPICH's own TCP code asks the kernel for no buffer size: only Nagle's algorithm is off.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.hydra import EAGER_LIMIT
from beowulf.labs.lab_06.wire_claims import POINTS_MATTER
from beowulf.measure.judgement import SIMILAR, Span, again, below, together, within
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import HALF
from beowulf.measure.statistics import LEAST_PAIRS, Ratio
from beowulf.measure.table import summary_of
from beowulf.record import Point, Record
from beowulf.studies.study import Claim, Judgement, Need, other_library
from beowulf.studies.wire_costs import (
    ALIKE,
    Panel,
    cost,
    counting,
    each,
    observed,
    paired,
    size_text,
    slower,
    times,
    unseen,
)
from beowulf.tuning.change import changing
from beowulf.tuning.knobs.socket_buffers import FORGETFUL, SocketBuffers

if TYPE_CHECKING:
    import pandas as pd

PART = "buffers"
KB = 1024
SIZES = (KB, 8 * KB, 64 * KB, 256 * KB)
LAUNCHES, CHUNKS = LEAST_PAIRS, 6
QUICK_LAUNCHES, QUICK_CHUNKS = 1, 12
# Some half a millisecond; of longer messages, one exchange lasts that long.
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
    """Buffers of each connection (0: as the nodes have them), and MPICH's eager limit."""

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
    """Conversations of two ranks in every setting and size, in turns, under a capture for each setting."""
    launches, chunks = (QUICK_LAUNCHES, QUICK_CHUNKS) if measurement.quick else (LAUNCHES, CHUNKS)
    measurement.sweep[PART] = {"sizes": list(SIZES), "launches": launches, "chunks": chunks}
    settings = list(SETTINGS)
    if NEED.unmet(measurement.cluster.can):
        settings = [each for each in SETTINGS if not each.buffer_bytes]
    program = paths.root() / "labs" / "06-protocol-analysis" / "conversation.c"
    measurement.prepare(program)
    for number in range(launches):
        for setting in settings:
            with buffers(measurement.cluster, setting.buffer_bytes):
                _observe(measurement, setting, chunks, number)


@contextmanager
def buffers(cluster: Cluster, size_bytes: int) -> Iterator[None]:
    """Within this context new connections between nodes have buffers of so many bytes, or with 0 their own.

    Where nodes cannot be changed, they keep their own; nobody changes them there, so they remember no other setting.
    """
    if not size_bytes and NEED.unmet(cluster.can):
        yield
        return
    value = str(size_bytes) if size_bytes else FORGETFUL
    with changing(cluster, [(SocketBuffers(), value)]) as change:
        change(True)
        yield


def _observe(measurement: Measurement, setting: Setting, chunks: int, number: int) -> None:
    with observed(measurement) as wire:
        sent = {
            size: _converse(measurement, setting, size, TAG + 2 * place, chunks, number)
            for place, size in enumerate(SIZES)
        }
    messages = wire.messages
    point_to_point = messages[messages["context"] == 0]
    for place, size in enumerate(SIZES):
        mine = point_to_point[point_to_point["tag"] == TAG + 2 * place]
        at = {"message_bytes": size, "overlap_bytes": 0}
        at |= {**setting.at, "ranks": 2, "launch": number}
        measurement.add(at, HALF, ()).facts.update(
            {
                **({} if mine.empty else {"each": each(mine, len(mine))}),
                "sent": sent[size],
                "matched": len(mine) == sent[size] and bool((mine["bytes"] == size).all()),
                "capture": wire.capture,
            }
        )


def _converse(
    measurement: Measurement, setting: Setting, size: int, tag: int, chunks: int, number: int
) -> int:
    """One launch; how many messages with this tag it says it sent."""
    exchanges = chunks * EXCHANGES_A_CHUNK.get(size, 1)
    lines = measurement.launch(
        paths.root() / "labs" / "06-protocol-analysis" / "conversation.c",
        2,
        [
            *("--bytes", size, "--exchanges", exchanges, "--chunks", chunks, "--tag", tag),
            *("--protocol", setting.protocol),
        ],
        environment=setting.environment,
        launch=number,
        at={name: value for name, value in setting.at.items() if name != "protocol"},
    )
    sent = [line for line in lines if line["kind"] == "sent" and line["tag"] == tag]
    return sum(int(line["messages"]) for line in sent)


def points(record: Record, setting: Setting, size: int) -> list[Point]:
    """The launches of a setting and size, those with samples."""
    launches = record.select(**setting.at, message_bytes=size)
    return [point for point in launches if point.quantity == HALF and point.samples]


def sizes(record: Record) -> list[int]:
    """The sizes that were measured."""
    launches = [point for point in record.select(part=PART) if point.quantity == HALF]
    return sorted({int(point.at["message_bytes"]) for point in launches if point.samples})


def compared(record: Record, setting: Setting, size: int) -> Ratio:
    """The time in a setting as a multiple of OWN's, pairs of the same round; LabError without samples."""
    return paired(points(record, setting, size), points(record, OWN, size), busy=record.busy)


def counted(record: Record, setting: Setting, size: int, name: str) -> float:
    """A fact of each message, averaged over the launches; LabError where nothing was captured."""
    return cost(points(record, setting, size), name)


def slow(setting: Setting, how: str, size: int, name: str) -> Claim:
    """Whether messages of this size take longer in a setting than in the nodes' own."""

    def judge(record: Record) -> Judgement:
        seen = compared(record, setting, size)
        return Judgement(
            slower(seen),
            f"{times(seen)} as long as with the nodes' own settings",
            {"times": seen.median, "low": seen.low, "high": seen.high, "n": seen.n},
            **(other_library(record) if setting.limit_bytes != OWN.limit_bytes else {}),
        )

    says = f"{how} messages of {size_text(size)} slower"
    return Claim(name, says, judge, troubles=lambda record: trouble(record, HALF))


def no_difference(record: Record) -> Judgement:
    """Whether a message that MPI copies into a buffer of the program's takes as long as one that it does not."""
    seen = compared(record, COPIED, 256 * KB)
    return Judgement(
        within(seen, 1 - SIMILAR, 1 + SIMILAR),
        f"{times(seen)} as long as with MPI_Send",
        {"times": seen.median, "low": seen.low, "high": seen.high, "n": seen.n},
        advice=again(record),
    )


@counting
def more_segments(record: Record) -> Judgement:
    """Into how many segments small buffers cut a message, at each size."""
    parts: list[str] = []
    few, numbers = 0, {}
    for size in sizes(record):
        try:
            small, own = (counted(record, each, size, "segments") for each in (SMALL, OWN))
            resent, closed = (
                counted(record, SMALL, size, name)
                for name in ("retransmitted_packets", "zero_window_packets")
            )
        except LabError:
            continue
        few += small < (1 + ALIKE) * own
        numbers[f"times_at_{size}"] = small / own
        numbers |= {f"sent_again_at_{size}": resent, f"window_closed_at_{size}": closed}
        parts.append(f"{size_text(size)}: {small:.1f} against {own:.1f}")
    if not parts:
        raise LabError("There is no capture of small buffers.", "Measure again.")
    longest = max(sizes(record))
    return Judgement(
        "contradicted" if few else "holds",
        f"{'; '.join(parts)}; of a message of {size_text(longest)},"
        f" {numbers[f'sent_again_at_{longest}']:.2f} frames are retransmitted, and its receiver closes"
        f" its window {numbers[f'window_closed_at_{longest}']:.2f} times",
        numbers,
    )


def overhead_percent(point: Point) -> float:
    """Of the bytes of a message's frames, those that are not the message itself."""
    each = point.facts["each"]
    return float(100 * (1 - each["message_bytes"] / each["wire_bytes"]))


def more_overhead(setting: Setting, name: str) -> Claim:
    """What smaller socket buffers do to TCP's overhead, which paper A leaves to future work, at each size."""

    @counting
    def judge(record: Record) -> Judgement:
        more: dict[str, Span] = {}
        for size in sizes(record):
            small, own = (
                {
                    p.at["launch"]: overhead_percent(p)
                    for p in points(record, each, size)
                    if "each" in p.facts
                }
                for each in (setting, OWN)
            )
            differences = [small[launch] - own[launch] for launch in small.keys() & own.keys()]
            if differences:  # counted: the launches have hardly more than one value
                more[size_text(size)] = Span(min(differences), max(differences))
        if not more:
            raise LabError("There is no capture of these buffers.", "Measure again.")
        return Judgement(
            together([below(POINTS_MATTER, each) for each in more.values()]),
            "; ".join(f"{size}: {s.low:+.2f} to {s.high:+.2f} points" for size, s in more.items()),
            {size: [each.low, each.high] for size, each in more.items()},
            advice=again(record),
        )

    says = (
        f"Socket buffers of {size_text(setting.buffer_bytes)} raise the TCP overhead of every message"
        f" by more than {POINTS_MATTER:g} point"
    )
    return Claim(name, says, judge, troubles=lambda record: unseen(record, PART))


@counting
def control_messages(record: Record) -> Judgement:
    """How many control messages a message takes, below and above three limits."""
    cases, wrong = 0, []
    for setting in (OWN, EARLY, LATE):
        for size in sizes(record):
            try:
                count = counted(record, setting, size, "control_packets")
            except LabError:
                continue
            cases += 1
            if count != (2.0 if setting.asks_first(size) else 0.0):
                wrong.append(f"{setting.says}, {size_text(size)}: {count:.2f}")
    if not cases:
        raise LabError("There is no capture of any limit.", "Measure again.")
    return Judgement(
        "contradicted" if wrong else "holds",
        "; ".join(wrong) or f"in all {cases} cases of three limits and {len(sizes(record))} sizes",
        {"cases": cases},
    )


@counting
def every_message(record: Record) -> Judgement:
    """Whether each launch has the messages that its program sent; a capture that lost packets may lack some."""
    launches = [p.facts for p in record.select(part=PART) if "matched" in p.facts]
    if not launches:
        raise LabError("There is no launch with a capture.", "Measure again.")
    wrong = sum(not each["matched"] for each in launches)
    sent = sum(each["sent"] for each in launches)
    why = unseen(record, PART) if wrong else []
    return Judgement(
        "contradicted" if wrong else "holds",
        f"{sent:,} messages in {len(launches)} launches; {wrong} launches differ",
        {"sent": sent},
        but="; ".join(why),
        advice=again(record),
    )


SMALL_BUFFERS = "Socket buffers of 4 KB make"
CLAIMS = [
    slow(SMALL, SMALL_BUFFERS, 256 * KB, "small-buffers-slow-256kb"),
    slow(SMALL, SMALL_BUFFERS, 64 * KB, "small-buffers-slow-64kb"),
    slow(SMALL, SMALL_BUFFERS, KB, "small-buffers-slow-1kb"),
    slow(
        EARLY,
        "An eager limit of 4 KB, so that the sender asks first, makes",
        64 * KB,
        "asking-first-slow-64kb",
    ),
    Claim(
        "copy-no-difference-256kb",
        f"A copy in MPI's own buffer (MPI_Bsend) changes the time of messages of {size_text(256 * KB)}"
        f" by at most {SIMILAR:.0%}",
        no_difference,
        troubles=lambda record: trouble(record, HALF),
    ),
    Claim(
        "small-buffers-more-segments",
        "Socket buffers of 4 KB cut every message into more segments",
        more_segments,
        troubles=lambda record: unseen(record, PART),
    ),
    more_overhead(SMALL, "4kb-buffers-more-overhead"),
    more_overhead(MIDDLE, "16kb-buffers-more-overhead"),
    Claim(
        "limit-decides-control-messages",
        "Above the eager limit a message takes two control messages, below none",
        control_messages,
        troubles=lambda record: unseen(record, PART),
    ),
    Claim(
        "every-message-captured",
        "The captures have every message that the program sent, of the right size",
        every_message,
        needs="samples",
    ),
]


def table(record: Record) -> pd.DataFrame:
    """One row a setting and size: time with its interval, and what each message cost on the wire."""
    import pandas as pd

    rows = []
    for setting in SETTINGS:
        for size in sizes(record):
            here = points(record, setting, size)
            if not here:
                continue
            seen = summary_of(here, busy=record.busy)
            facts = [point.facts["each"] for point in here if "each" in point.facts]
            means = (
                {name: sum(f[name] for f in facts) / len(facts) for name in facts[0]}
                if facts
                else {}
            )
            means.pop("messages", None)
            rows.append(
                {
                    "setting": setting.says,
                    "message_bytes": size,
                    "n": seen.n,
                    HALF: seen.median,
                    "low_us": seen.low,
                    "high_us": seen.high,
                    **{name: value for name, value in means.items() if name != "message_bytes"},
                }
            )
    if not rows:
        raise LabError("The Record has no messages of the buffers' part.", "Measure again.")
    return pd.DataFrame(rows)


def panels(record: Record) -> list[Panel]:
    """Time, segments, retransmissions and control messages of each setting, for the long sizes."""
    results = table(record)
    shown = [size for size in sizes(record) if size >= 64 * KB] or sizes(record)
    labels = {size_text(size): results[results.message_bytes == size] for size in shown}

    def values(column: str, scale: float = 1.0) -> dict[str, dict[str, float]]:
        return {
            label: {
                str(s): float(v) * scale for s, v in zip(rows.setting, rows[column], strict=True)
            }
            for label, rows in labels.items()
            if column in rows
        }

    spans = {
        (label, str(row.setting)): (float(str(row.low_us)) / 1e3, float(str(row.high_us)) / 1e3)
        for label, rows in labels.items()
        for row in rows.itertuples()
    }
    return [
        Panel("How long?", "half round trip (ms)", values(HALF, 1e-3), spans),
        Panel("How many segments?", "a message, with data", values("segments"), {}),
        Panel("Retransmitted", "frames a message", values("retransmitted_packets"), {}),
        Panel("Asked first?", "control messages, each", values("control_packets"), {}),
    ]
