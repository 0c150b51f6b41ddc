"""What a class measured, pooled: for each lab figures of everybody's Records, and what the papers print of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from autograder.evidence.shared_records import LABEL
from autograder.rubrics import (
    facts_03,
    facts_04,
    facts_05,
    facts_06,
    facts_07,
    facts_08,
    facts_09,
)
from autograder.rubrics.record_facts import Facts, attempt
from autograder.rubrics.submission import is_number
from beowulf import papers
from beowulf.errors import LabError
from beowulf.exercises.heat import reading
from beowulf.labs.lab_01 import own_trips
from beowulf.labs.lab_02.node_rows import rows
from beowulf.labs.lab_05 import exchange
from beowulf.labs.lab_07.knob_gains import PAPERS_PERCENT
from beowulf.labs.lab_08 import first_beowulf
from beowulf.labs.lab_09 import scaling
from beowulf.record import Record

Curve = Mapping[float, float]
Value = float | Curve


@dataclass(frozen=True)
class Pool:
    """One figure of a Record, a number or a curve, as a class has it; `paper` is the printed number, or None."""

    title: str
    unit: str
    study: str  # with the variant: `E2 own`
    read: Callable[[Record], Value]
    paper: float | None = None
    says: str = ""  # where the paper prints it
    x: str = ""  # of a curve

    def of(self, record: Record) -> Value | None:
        """The figure in a Record of the learner's own; None where it does not show it."""
        if f"{record.study} {record.variant}".strip() != self.study or LABEL in record.cluster:
            return None
        return attempt(self.read, record)[0] if record.complete else None


def _fact(read: Callable[[Record], Facts], name: str, record: Record) -> float:
    """A number of those that a rubric reads from a Record."""
    value: Any = read(record).get(name)
    if not is_number(value):
        raise LabError(f"it does not show {name}")
    return float(value)


def _row(name: str, record: Record) -> float:
    """A row of the benchmarks of the first node."""
    return rows(record, str(record.sweep["nodes"][0]))[name].median


def _beta(record: Record) -> float:
    return 1e3 / _fact(facts_04.fits, "weighted_bandwidth_bytes_per_us", record)


def _of_curves(read: Callable[[Record], Sequence[Curve]], n: int, record: Record) -> Curve:
    return read(record)[n]


def _eager(record: Record) -> float:
    """The largest card that left at once; only a Record with cards on both sides of the limit shows it."""
    sizes: dict[str, set[float]] = {"eager": set(), "rendezvous": set()}
    for point in record.select(from_rank=0):
        sizes.get(str(point.facts.get("protocol")), set()).add(float(point.facts["bytes"]))
    if not all(sizes.values()):
        raise LabError("no card waited")
    return max(sizes["eager"])


def _own_gains(record: Record) -> Curve:
    each = reading.columns_of(record.points)
    return {float(reading.BYTES * n): reading.gain(record, n).percent for n in each}


def _gas_1995(record: Record) -> float:
    return float(str(first_beowulf.gas(record).loc[facts_08.MOST_NODES]["one_speed_up"]))


def _nodes(record: Record) -> Curve:
    table = scaling.table(record)
    own = table[table["network"] == scaling.OWN]
    return dict(zip(own["nodes"].astype(float), own["speed_up"].astype(float), strict=True))


_in_a = partial(papers.figure, column="this_cluster_us")
_two, _one = (
    papers.figure("C-tokens", "rate_mb_per_s", networks=n, demand=8, size_bytes=8192)
    for n in (2, 1)
)
_gas, _alone = (
    papers.figure("C-codes", "mflops", code="gas, fixed size", processors=n) for n in (16, 1)
)
_fit, _jump, _knob = (
    partial(_fact, read) for read in (facts_04.fits, facts_05.jumps, facts_07.knobs)
)
# By the number of the lab.
POOLS: dict[str, tuple[Pool, ...]] = {
    "01": (Pool("A message of 8 bytes, there and back", "µs", "A2 own-trips", own_trips.middle_us),),
    "02": (
        Pool("A null call of the kernel", "µs", "A3", partial(_row, "null call"),
             _in_a("A-table-1", test="null call"), "paper A, table 1"),
        Pool("There and back by TCP within a node", "µs", "A3", partial(_row, "TCP"),
             _in_a("A-table-2", test="TCP"), "paper A, table 2"),
        Pool("A read of main memory", "ns", "A3", partial(_row, "Main memory"),
             papers.figure("A-table-4", "this_cluster_ns", test="Main memory"), "paper A, table 4"),
    ),
    "03": (Pool("Your largest plate: times as fast as one rank", "times", "H3",
                partial(_of_curves, partial(facts_03.speed_up_curves, 0), -1), x="ranks"),),
    "04": (
        Pool("alpha: a message of no bytes", "µs", "E2 own", partial(_fit, "weighted_alpha_us"),
             papers.figure("E-knobs", "value", what="as installed", finding="latency of Gigabit Ethernet"),
             "paper E, Gigabit Ethernet as installed"),
        Pool("beta: each byte more", "ns", "E2 own", _beta),
        Pool("The pair's rate saturates at", "bytes", "A7", partial(_fact, facts_04.by_nodes, "saturation_bytes")),
        Pool("Your round trips", "µs", "E2 own", partial(_of_curves, facts_04.own_times, 0), x="bytes"),
    ),
    "05": (
        # Table 5 has sizes by 10 KB: the last one of which process 1 does not wait for the work of process 0.
        Pool("With a limit of 16 KB, the last size that arrives by itself", "KB", "D2",
             partial(_jump, facts_05.side("last_by_itself_kb", 16)), 10, "paper D, table 5, one-user cluster"),
        Pool("With a limit of 64 KB, the last size that arrives by itself", "KB", "D2",
             partial(_jump, facts_05.side("last_by_itself_kb", 64)), 60, "paper D, table 5, Solaris cluster"),
        Pool("Your exchange with work meanwhile, by equation 1", "%", "D4 exchange",
             lambda record: exchange.gain(record).percent,
             papers.figure("D-two-way-overlap", "percent", table=11, statistic="mean"),
             "paper D, table 11: averages of 70 KB"),
        Pool("Your overlapped step, by equation 1", "%", "H5 python", _own_gains, x="bytes of a row"),
    ),
    "06": (
        Pool("The largest card that leaves at once", "bytes", "A10 limit", _eager),
        Pool("A ghost row: overhead on the wire", "%", "H6", partial(_fact, facts_06.plate, "row_overhead_percent")),
        Pool("Of a card's bytes on the wire, those that are not the card", "%", "A10 sizes",
             partial(_of_curves, facts_06.card_lines, 0), x="bytes of a card"),
    ),
    "07": (
        Pool("All knobs together: half a round trip changes by", "%", "E6", partial(_knob, "together_percent"),
             PAPERS_PERCENT, "paper E, abstract"),
        Pool("The firewall alone", "%", "E6", partial(_knob, "firewall_percent")),
        Pool("The moderation of interrupts alone", "%", "E6", partial(_knob, "moderation_percent")),
    ),
    "08": (
        Pool("Two networks carry of one, tokens of 8 KB", "times", "C1",
             partial(_fact, facts_08.two_networks, "gain_8192"), _two / _one, "paper C, text on figure 1"),
        Pool("The gas on 16 processors of 1995: times as fast as on one", "times", "S8 first-beowulf", _gas_1995,
             _gas / _alone, "paper C, text on figure 3, fixed size"),
    ),
    "09": (
        Pool("Your plate on 64 nodes: times as fast as on one", "times", "S9 plate",
             partial(_fact, facts_09.scaled, "speed_up_64")),
        Pool("Your plate on more nodes, on your own network", "times", "S9 plate",
             _nodes, x="nodes"),
    ),
}  # fmt: skip
