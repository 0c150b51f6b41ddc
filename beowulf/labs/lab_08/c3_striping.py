"""C3, channel striping: what do the ways to use two networks do to one stream of bytes?

Paper C's kernel sends the packets of a node over its two networks in turn, blindly, and carries 1.7 times as much as
over one. Here a stream from node00 to node01 goes over one network, or over two in several ways. The program sends
pieces in turn on two connections; the kernel sends packets in turn on one (the knob `striping`, or the bonding driver
where there is one); or multipath TCP has two paths. Each way is measured alone and beside another node's stream, which
keeps the second network busy. A capture at the receiver's cards shows the order in which packets arrive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import cut_short, trouble
from beowulf.measure.roundtrips import need_nodes
from beowulf.measure.statistics import Pairs, Ratio, Summary, summary
from beowulf.packets.flows import conversations
from beowulf.packets.table import read
from beowulf.record import Point, Record, reserve, stamp
from beowulf.studies.quantity import TIMES, Judge, Quantity
from beowulf.studies.study import PACKETS, Claim, Judgement, Need, Plan, Study, undecided
from beowulf.tuning import knob_places
from beowulf.tuning.change import changing
from beowulf.tuning.knobs import ALL

if TYPE_CHECKING:
    import pandas as pd

PROGRAM = paths.lab("08") / "stripes.c"
STREAM, BESIDE = "stream_s", "stream_beside_s"
ONE, PROGRAM_TURNS, KERNEL, BONDING, MULTIPATH = (
    *("one network", "program in turn", "kernel in turn"),
    *("bonding driver", "multipath TCP"),
)
PRINTED_GAIN, GAINS = 1.7, (1.5, 1.9)  # 2.0 loses nothing, and the paper loses 15 %
SOME_PERCENT = 1  # of the segments of a stream: less than that can be chance
LONGEST_STREAM_S = 20
# Of a frame, as much as its headers have.
SNAP_BYTES = 128


@dataclass(frozen=True)
class Way:
    """How a stream uses the networks: the program's own way, and what the nodes are changed to meanwhile."""

    words: str
    sender: Mapping[str, str]  # by knob, its value
    receiver: Mapping[str, str]


WAYS = {
    ONE: Way("one", {}, {}),
    PROGRAM_TURNS: Way("turns", {}, {}),
    KERNEL: Way("one", {"striping": "on"}, {"striping": "on"}),
    BONDING: Way("one", {"bonding": "on"}, {}),  # which all nodes are given together
    MULTIPATH: Way("multipath", {"multipath": "accept"}, {"multipath": "announce"}),
}

# Launches of each way, streams a launch, and KB a stream: at least 160 times a bucket of 1,600 bytes.
Amount = tuple[int, int, int]
FULL, QUICK = (3, 10, 1024), (2, 5, 256)


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """Streams from the first node to the second, each way alone, and beside a stream of the third node."""
    need_nodes(cluster, 2)
    if int(cluster.describe().get("networks", 1)) < 2:
        raise LabError(
            "Striping needs two networks, and this cluster has one.",
            "`beowulf up --networks 2 --rate 10mbit` boots a cluster with two.",
        )
    launches, passes, kb = amount = QUICK if quick else FULL
    absent = missing(cluster)
    cases = [
        (way, beside)
        for beside in (False, True)[: 1 + (len(cluster.nodes) > 2)]
        for way in WAYS
        if way not in absent and not (beside and way == ONE)  # the other network is not its own
    ]

    def steps(measurement: Measurement) -> None:
        measurement.points += [Point({"way": way}, facts={"absent": absent[way]}) for way in absent]
        for launch in range(launches):
            for way, beside in cases if launch % 2 == 0 else reversed(cases):
                one_launch(measurement, way, amount, beside=beside, launch=launch)

    about = {"launches": launches, "passes": passes, "size_bytes": 1024 * kb}
    return Plan(launches * len(cases), about, steps)


def missing(cluster: Cluster) -> dict[str, str]:
    """The ways that these nodes do not support, and why."""
    two = cluster.nodes[:2]
    knobs = {name: ALL[name] for way in WAYS.values() for name in way.sender}
    readings = knob_places.read(cluster, knobs.values(), two)
    return {
        way: why.removeprefix("not observable here: ").partition(". ")[0]
        for way, changed in WAYS.items()
        for name in changed.sender
        if (why := next((r.absent for r in readings[name].values() if r.absent), ""))
    }


def one_launch(
    measurement: Measurement, way: str, amount: Amount, *, beside: bool, launch: int
) -> None:
    """Launch some streams under a capture at the receiver; keep what it shows as a Point, and delete the file."""
    cluster, (_, passes, kb) = measurement.cluster, amount
    sender, receiver, *others = cluster.nodes
    hosts = [sender, receiver, others[0], receiver] if beside else [sender, receiver]
    addresses = [cluster.address(receiver, network) for network in (0, 1)]
    words: list[str | int] = ["--way", WAYS[way].words, *["--beside"] * beside]
    words += ["--kb", kb, "--passes", passes, "--longest", LONGEST_STREAM_S]
    words += ["--receiver", ",".join(addresses)]
    at = {"way": way}
    changed = ((sender, WAYS[way].sender), (receiver, WAYS[way].receiver))
    turns = [(ALL[name], value, [node]) for node, each in changed for name, value in each.items()]
    began = stamp(measurement.started)
    file = reserve(measurement.folder / f"{measurement.study}-{began}-now.pcapng")
    try:
        with (
            changing(cluster, turns) as changes,
            cluster.capture(
                file, where=receiver, snap_bytes=SNAP_BYTES, packet_filter="tcp"
            ) as wire,
        ):
            changes(True)
            lines = measurement.launch(
                PROGRAM,
                len(hosts),
                words,
                hosts=hosts,
                launch=launch,
                at=at,
                timeout_s=LONGEST_STREAM_S + 10 + 4 * passes,
            )
        senders = [cluster.address(sender, network) for network in (0, 1)]
        arrived = arrivals(file, senders, addresses, 1024 * kb)
        names = ("where", "sha256", "packets", "dropped")
        facts = {name: value for name, value in wire.facts().items() if name in names}
    except LabError as error:
        if off := pulled(cluster, hosts):
            text = f"{off} has no carrier: its cable is pulled, or its other end is down."
            raise LabError(f"{text} {error.message}", "`beowulf up` puts it back.") from error
        raise
    finally:
        file.unlink(missing_ok=True)
    sent = [line for line in lines if line["kind"] == "sent"]
    if len(arrived) != len(sent):
        raise LabError(
            f"The capture at {receiver} shows {len(arrived)} of {len(sent)} streams"
            f" and lost {facts['dropped']} packets.",
            "Measure again.",
        )
    for stream, line in zip(arrived, sent, strict=True):
        stream |= {name: line[name] for name in ("retransmitted", "paths")}
    measurement.points.append(
        Point(
            {**at, "beside": beside, "launch": launch}, facts={"streams": arrived, "capture": facts}
        )
    )


def pulled(cluster: Cluster, nodes: Iterable[str]) -> str:
    """The first of the cards of these nodes that has no carrier."""
    for node in dict.fromkeys(nodes):
        for network in (0, 1):
            card = cluster.interface(node, network)
            with suppress(LabError):
                done = cluster.administer(node, f"cat /sys/class/net/{card}/carrier")
                if done.stdout.strip() != "1":
                    return f"{card} of {node}"
    return ""


def arrivals(
    file: Path, senders: Sequence[str], receivers: Sequence[str], size_bytes: int
) -> list[dict[str, Any]]:
    """What a capture at the receiver shows of each stream. Streams follow one another, each to a port of its own."""
    talks = conversations(file)
    mine = talks[talks["a"].isin(senders) & talks["b"].isin(receivers)]
    packets = read(file)
    found = []
    for port, paths_of in mine.groupby("b_port"):
        if paths_of["a_payload_bytes"].sum() < size_bytes:
            continue  # connections of MPI and of ssh
        there = packets[packets["dst"].isin(receivers) & (packets["dst_port"] == port)]
        back = packets[packets["src"].isin(receivers) & (packets["src_port"] == port)]
        there = there[there["payload_bytes"] > 0]
        cards = there.groupby("interface", observed=True)["payload_bytes"].sum()
        found.append(
            {
                "began_s": float(paths_of["began_s"].min()),
                "segments": int(paths_of["a_data_packets"].sum()),
                "out_of_order": int(paths_of["a_out_of_order_packets"].sum()),
                "again": int(paths_of["a_retransmitted_packets"].sum()),
                "acks": int(paths_of["b_ack_only_packets"].sum()),
                "duplicate_acks": duplicate_acks(back),
                "bytes": {str(card): int(count) for card, count in cards.items()},
            }
        )
    return sorted(found, key=lambda each: each["began_s"])


def duplicate_acks(back: pd.DataFrame) -> int:
    """The packets without data that acknowledge what the one before them did, with the same window (RFC 5681)."""
    count = 0
    for _, one in back.groupby(["dst", "dst_port"], observed=True):
        same = (one["ack"].diff() == 0) & (one["window"].astype("int64").diff() == 0)
        count += int((same & (one["payload_bytes"] == 0) & (one["flags"] == "ACK")).sum())
    return count


# Of what a capture shows of one stream.
Share = Callable[[Mapping[str, Any]], float]


@dataclass(frozen=True)
class Streams:
    """The samples of a Record: of each way, alone and beside another stream, its times and its arrivals."""

    record: Record

    @classmethod
    def of(cls, record: Record) -> Streams:
        """What a Record holds; LabError without streams."""
        if not any(p.samples and p.quantity in (STREAM, BESIDE) for p in record.points):
            raise LabError("There are no samples of streams.", "Measure again.")
        return cls(record)

    def absent(self, way: str) -> str:
        """Why a way was not measured; empty where it was."""
        said = [p.facts["absent"] for p in self.record.select(way=way) if "absent" in p.facts]
        return str(said[0]) if said else ""

    @property
    def cases(self) -> list[tuple[str, bool]]:
        """The ways that were measured, alone and beside another stream."""
        seen = {(p.at["way"], p.quantity == BESIDE) for p in self.record.points if p.samples}
        seen &= {(p.at["way"], p.at["beside"]) for p in self.record.points if "streams" in p.facts}
        return [(way, beside) for beside in (False, True) for way in WAYS if (way, beside) in seen]

    def rate(self, way: str, beside: bool) -> Summary:
        """MB/s of a way."""
        size = self.record.sweep["size_bytes"]
        times = self._times(way, beside)
        values = [size / each / 1e6 for seconds in times.values() for each in seconds]
        launches = [launch for launch, seconds in times.items() for _ in seconds]
        return summary(values, launches=launches, busy=self.record.busy)

    def gain(self, way: str, *, beside: bool = False) -> Ratio:
        """How many times as much a way carries as one network that nobody else uses."""
        other, pairs = self._times(way, beside), Pairs(busy=self.record.busy)
        for launch, seconds in self._times(ONE, False).items():
            pairs.add(launch, seconds, other.get(launch, ()))
        return pairs.ratio()

    def percent(self, what: Share, way: str, beside: bool) -> Summary:
        """A share of each stream in per cent, as its capture shows it; LabError without a capture."""
        values, launches = [], []
        for point in self.record.select(way=way, beside=beside):
            for stream in point.facts.get("streams", ()):
                values.append(100 * what(stream))
                launches.append(int(point.at["launch"]))
        return summary(values, launches=launches, busy=self.record.busy)

    def _times(self, way: str, beside: bool) -> dict[int, list[float]]:
        quantity = BESIDE if beside else STREAM
        points = [p for p in self.record.select(way=way) if p.quantity == quantity]
        return {int(p.at["launch"]): p.samples for p in points}


def on_second(stream: Mapping[str, Any]) -> float:
    """The share of the bytes that came by the second network."""
    first, *others = [count for _, count in sorted(stream["bytes"].items())]
    return float(sum(others) / (first + sum(others)))


SHARES: dict[str, Share] = {
    "out_of_order": lambda stream: stream["out_of_order"] / stream["segments"],
    "twice": lambda stream: stream["again"] / stream["segments"],
    "retransmitted": lambda stream: stream["retransmitted"] / stream["segments"],
    "duplicate_acks": lambda stream: stream["duplicate_acks"] / max(stream["acks"], 1),
    "second_network": on_second,
}


def table(facts: Streams) -> pd.DataFrame:
    """A row for each way, alone and beside another stream: its rate, and what the capture shows, as medians."""
    import pandas as pd

    rows = []
    for way, beside in facts.cases:
        rate = facts.rate(way, beside)
        row = {"way": way, "beside": beside, "rate_mb_per_s": rate.median}
        row |= {"low": rate.low, "high": rate.high}
        for name, what in SHARES.items():
            row[f"{name}_percent"] = facts.percent(what, way, beside).median
        rows.append(row)
    return pd.DataFrame(rows)


def arriving(how: str, share: str, way: str) -> Quantity:
    """Such segments of a way's streams, beside another stream where that was measured."""

    def percent(facts: Streams) -> Summary:
        return facts.percent(SHARES[share], way, (way, True) in facts.cases)

    return Quantity(f"{how}, {way}", percent, "% of the segments")


NEEDED = "`beowulf study C3` measures it on nodes whose kernel has it"


def where_it_went(way: str, judge: Judge) -> Judge:
    """The judge for a way; undecided where the nodes do not support it."""

    def judged(facts: Streams) -> Judgement:
        why = facts.absent(way)
        return undecided(why, NEEDED) if why else judge(facts)

    return judged


def gains(name: str, way: str, says: str) -> Claim:
    """Whether a way gains as much from a second network as the paper's."""
    gain = Quantity(f"{way} over one network", lambda facts: facts.gain(way), TIMES)
    judge = where_it_went(way, gain.within(*GAINS))
    return Claim(name, says, judge, troubles=partial(trouble, quantity=STREAM))


BUSY = Quantity(
    f"{KERNEL} beside another stream over one network by itself",
    lambda facts: facts.gain(KERNEL, beside=True),
    TIMES,
)


def _blind(facts: Streams) -> Judgement:
    if (KERNEL, True) not in facts.cases:
        return undecided("another stream needs a third node", "`beowulf up --nodes 4 --networks 2`")
    return (BUSY < 1)(facts)


def unseen(record: Record) -> list[str]:
    """Why the captures of a Record show less than what arrived, a sentence each."""
    reasons = [] if record.complete else [cut_short(record)]
    captures = [p.facts["capture"] for p in record.points if "capture" in p.facts]
    if any(each["dropped"] for each in captures):
        reasons.append("packets were dropped from a capture")
    return reasons


def picture(facts: Streams) -> Figure:
    """The rate of each way, alone and beside another stream; the table has what the capture shows, too."""
    from beowulf.figures.segments import Value, intervals

    rates = [
        Value(way, rate.median, rate.low, rate.high, "beside another stream" if beside else "alone")
        for way, beside in facts.cases
        for rate in (facts.rate(way, beside),)
    ]
    drawn = intervals(rates, title=STUDY.title, value_title="rate of the stream (MB/s)")
    return replace(drawn, table=table(facts))


STUDY = Study(
    id="C3",
    title="Channel striping: one stream over two networks",
    plan=plan,
    facts=Streams.of,
    needs=(
        PACKETS,
        Need("one_machine", "a capture at one of its nodes sees one card of two"),
    ),
    judged=[
        gains(
            "kernel-gains",
            KERNEL,
            f"two networks in turn, packet by packet, carry {PRINTED_GAIN:g} times as much as one",
        ),
        gains(
            "program-gains",
            PROGRAM_TURNS,
            f"two connections that a program uses in turn carry {PRINTED_GAIN:g} times as much",
        ),
        gains(
            "multipath-gains", MULTIPATH, f"multipath TCP carries {PRINTED_GAIN:g} times as much"
        ),
        gains(
            "bonding-gains", BONDING, f"the bonding driver carries {PRINTED_GAIN:g} times as much"
        ),
        Claim(
            "overtakes",
            "packets that take networks in turn overtake each other",
            where_it_went(KERNEL, arriving("out of order", "out_of_order", KERNEL) > SOME_PERCENT),
        ),
        Claim(
            "program-keeps-order",
            "pieces on two connections arrive in the order of each connection",
            arriving("out of order", "out_of_order", PROGRAM_TURNS) < SOME_PERCENT,
        ),
        Claim(
            "twice",
            "packets that overtake each other are retransmitted although none is lost",
            where_it_went(KERNEL, arriving("a second time", "twice", KERNEL) > SOME_PERCENT),
        ),
        Claim(
            "blind",
            "turns are blind: with one network busy, two carry less of a stream than one by itself",
            where_it_went(KERNEL, _blind),
            troubles=partial(trouble, quantity=BESIDE),
        ),
    ],
    draw=picture,
    troubles=unseen,
    differs={
        "holds": (
            "Two cables carry different packets at the same time, and one that waits in a queue is overtaken by the"
            " next one on the other cable, today as in 1995."
        ),
        "contradicted": (
            "Two equal, idle cables carry nearly twice as much where software takes no time, and the paper loses 15"
            " % of that; modern TCP notices when packets overtake each other, and waits before it treats one as lost."
        ),
        "inconclusive": (
            "This kernel lacks one of the ways (the bonding module), or two equal cables that nobody else uses stay"
            " in step, or fall out of it, by chance."
        ),
    },
)
