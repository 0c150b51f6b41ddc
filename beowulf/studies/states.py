"""One measurement in several states of a cluster, and what paper E says became of it: E3, E4 and E5 share this.

Paper E measured two benchmarks and an application before its changes and after them. A state has a name and a function
that brings the cluster into it. States take turns within each launch, and every other launch goes round the other way,
so that a slow drift of the machine falls on all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from beowulf.cluster.common.config import SIMULATED
from beowulf.cluster.description import on_one_machine
from beowulf.errors import LabError
from beowulf.measure.judgement import reaches
from beowulf.measure.roundtrips import HALF
from beowulf.measure.statistics import LEAST_PAIRS, Pairs, Ratio
from beowulf.record import Record
from beowulf.studies.study import Claim, Judgement, Need, undecided

States = Mapping[str, Callable[[], None]]


# Of studies that make the state before themselves.
KNOBS = Need("knobs", "the settings of its nodes are not ours to change")
FOUND, BEFORE, AFTER = "as found", "before", "after"
AS_FOUND: States = {FOUND: lambda: None}
TUNE = "`beowulf tune compare` measures it before and after paper E's changes (lab 07)."


def turns(states: States, launches: int) -> Iterator[tuple[int, str]]:
    """Each launch in each state, which the cluster is in when it is given; at the end it is in the last one.

    The last one is the state that was found: who measures sees a change that is still there, and says so.
    """
    names = list(states)
    for launch in range(launches):
        for name in names if launch % 2 == 0 else reversed(names):
            states[name]()
            yield launch, name
    states[names[-1]]()


def measured(record: Record) -> list[str]:
    """The states that the Record has, in the order in which they were given."""
    return [str(name) for name in record.sweep.get("states", [])]


def samples(record: Record, quantity: str, **at: object) -> list[float]:
    """All samples of a quantity at these coordinates."""
    return [s for p in record.select(**at) if p.quantity == quantity for s in p.samples]


def pairs(record: Record, quantity: str, *, rate: bool = False, **at: object) -> Pairs:
    """After beside before, sample by sample of the same launch; of a `rate` the other way round."""
    both = Pairs(busy=record.busy)
    for point in record.select(state=BEFORE, **at):
        if point.quantity != quantity:
            continue
        later = samples(record, quantity, **{**point.at, "state": AFTER})
        first, second = (point.samples, later) if rate else (later, point.samples)
        both.add(int(point.at.get("launch", 0)), first, second)
    return both


def gain(record: Record, quantity: str, *, rate: bool = False, **at: object) -> Ratio | None:
    """The time after as a share of the time before, of a `rate` the other way round; None without both states."""
    try:
        return pairs(record, quantity, rate=rate, **at).ratio()
    except LabError:
        return None


def tuned(
    name: str,
    says: str,
    quantity: str,
    published: float,
    *,
    rate: bool = False,
    where: Callable[[Record], Mapping[str, object]] = lambda _: {},
) -> Claim:
    """The paper's before and after: `published` is the time that it has after, as a share of before.

    It holds when at least half of the paper's gain is there.
    """

    def judge(record: Record) -> Judgement:
        times = gain(record, quantity, rate=rate, **where(record))
        if times is None:
            return undecided("the Record has one state of the cluster: as it was found", TUNE)
        if times.n < LEAST_PAIRS:
            few = f"there are {times.n} pairs of before and after, and {LEAST_PAIRS} are needed"
            return undecided(few, TUNE)
        by = "by the paper's performance" if rate else "in the paper"
        evidence = (
            f"the time after is {times.median:.2f} times that before"
            f" ({times.low:.2f} to {times.high:.2f}, {times.n} pairs) and {published:.2f} {by},"
            f" of whose gain half is asked: less than {(1 + published) / 2:.2f}"
        )
        numbers = {"times": times.median, "low": times.low, "high": times.high, "n": times.n}
        return Judgement(reaches(times, published, none=1), evidence, numbers)

    return Claim(name, says, judge, caveat=emulated)


def emulated(record: Record) -> str:
    """What of the state before was made up for the measurement: the size of a gain follows from it."""
    made = record.sweep.get("testbed", {})
    if not made:
        return ""
    listed = ", ".join(f"{name} {value}" for name, value in made.items())
    card = (
        " and a delay takes the place of a network card" if on_one_machine(record.cluster) else ""
    )
    return f"the state before is made up ({listed}){card}, so the size of a gain follows from that"


def put_in(record: Record, claim: Claim) -> Claim:
    """The claim; a demonstration where what it speaks of is ours, on nodes that share a machine or are simulated."""
    ours = on_one_machine(record.cluster) or record.cluster.get("kind") == SIMULATED
    return replace(claim, rests_on="demonstration") if ours else claim


def several(known: Mapping[str, Ratio | None]) -> dict[str, Ratio]:
    """Those gains that are known of enough pairs."""
    return {name: each for name, each in known.items() if each and each.n >= LEAST_PAIRS}


TOO_FEW = undecided(f"there are fewer than {LEAST_PAIRS} pairs of before and after", TUNE)


@dataclass(frozen=True)
class Compared:
    """A time, or a rate, that a Record may have in both states, and what it is called beside others."""

    what: str
    quantity: str
    unit: str
    at: Mapping[str, Any] = field(default_factory=dict)
    rate: bool = False
    synthetic: bool = False  # a message and nothing else
    workload: str = ""  # as the paper's table names it


PING = "ping-pong"


def ping_beside(what: str, workload: str = "", **at: Any) -> Compared:
    """Our ping-pong, which was run in turns with a program."""
    return Compared(f"{PING} beside {what}", HALF, "µs", at, synthetic=True, workload=workload)
