"""The latency budget: where the microseconds of a message go, from one step of its way to the next.

labs/07-latency-tuning/steps.c times ways of growing length in turns: a system call, TCP within a node, TCP
between two nodes, MPI. What one takes longer than another is the time of what lies between them. Some visits
are made with shaped links and some without, also in turns: that is the wire.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from beowulf import paths
from beowulf.cluster.common.config import RATE_BITS_PER_S
from beowulf.course import personal_code
from beowulf.measure.link_capacity import ETHERNET_BYTES, frame, mtu_of
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import HALF
from beowulf.measure.statistics import Summary, summary
from beowulf.record import Record
from beowulf.tuning.ab_comparison import AFTER, LAB, TURNS, by_visit
from beowulf.tuning.interactive_run import InteractiveRun

PROGRAM = paths.root() / "labs" / LAB / "steps.c"
CALL_US = "call_us"
SHORT, LONG = 1, 16_384
# The ways that steps.c times for each size, beside the one system call.
WAYS = ("loopback polling", "loopback waiting", "nodes polling", "nodes waiting", "mpi")
CALLS_A_MESSAGE = 2  # one sends it, one receives it
USUAL_RATE = "100mbit"  # for the wire of a cluster whose links have no rate

CALLS, STACK, CABLE = "system calls", "TCP/IP", "cable and cards"
WIRE, WAKE_UP, MPI = "wire", "wake-up", "MPI"


@dataclass(frozen=True)
class Step:
    """One step of a message's way: its microseconds with their 95 % interval, and whether it was measured."""

    name: str
    us: Summary
    computed_us: float | None = None  # for the wire: from its bytes and the rate

    @property
    def finding(self) -> str:
        """Whether there is such a step at all."""
        if self.us.low > 0:
            return "measured"
        return "less than nothing" if self.us.high < 0 else "not distinguishable from zero"


def measure(session: Measurement, *, blocks: int, passes: int) -> None:
    """Take all ways in turns, in visits with and without shaped links; the Points go into the session."""
    usual, rate = str(session.description["rate"]), ""
    if session.cluster.can.faults:
        rate = usual if usual != "off" else USUAL_RATE
    session.sweep.update({"sizes": [SHORT, LONG], "shaped": rate})
    program = session.prepare(PROGRAM)
    answers = passes * (1 + 2 * len(WAYS))
    words = ("--sizes", f"{SHORT},{LONG}", "--seed", str(personal_code.seed()))
    with ExitStack() as ends:
        ends.callback(_shape, session, usual)
        program_run = ends.enter_context(InteractiveRun(session.cluster, program, 2, words))
        for visit in range(blocks * len(TURNS)):
            shaped = bool(rate) and TURNS[visit % len(TURNS)] == AFTER
            what = f"{session.study}: links {'of ' + rate if shaped else 'without a rate'}"
            session.progress(visit / (blocks * len(TURNS)), 1, what)
            _shape(session, rate if shaped else "off")
            for line in program_run.take(passes, answers):
                _keep(session, line, visit, shaped)


def _shape(session: Measurement, rate: str) -> None:
    """Limit the cables of the two nodes that measure, in both directions, or take the limit away."""
    if session.cluster.can.faults:
        session.cluster.limit(session.cluster.nodes[:2], rate)


def _keep(session: Measurement, line: dict[str, Any], visit: int, shaped: bool) -> None:
    us = line["seconds"] / line["repetitions"] * 1e6
    at = {"step": line["step"], "size_bytes": line["size_bytes"], "shaped": shaped, "ranks": 2}
    value = us / 2 if line["quantity"] == HALF else us
    session.add(at, line["quantity"], [value], visit=visit)


def steps(record: Record, size: int, receiver: str) -> list[Step]:
    """The steps of a message of that size to a receiver that is `polling`, `waiting`, or `mpi`.

    Each is a difference within the same visits; LabError when the Record has none.
    """
    calls = [CALLS_A_MESSAGE * us for us in _visits(record, "call", 0).values()]
    budget = [
        Step(CALLS, summary(calls, busy=record.busy)),
        Step(STACK, _less(record, "loopback polling", size, "call", 0, CALLS_A_MESSAGE)),
        Step(CABLE, _less(record, "nodes polling", size, "loopback polling", size)),
    ]
    if receiver == "waiting":
        budget.append(Step(WAKE_UP, _less(record, "nodes waiting", size, "nodes polling", size)))
    if receiver == "mpi":
        budget.append(Step(MPI, _less(record, "mpi", size, "nodes polling", size)))
    if wire := wire_step(record, size):
        budget.append(wire)
    return budget


def ways(record: Record, size: int) -> dict[str, Summary]:
    """The microseconds of each way that was timed with links without a rate, and of one system call."""
    seen = {"call": _visits(record, "call", 0), **{way: _visits(record, way, size) for way in WAYS}}
    return {name: summary(list(each.values()), busy=record.busy) for name, each in seen.items()}


def wire_step(record: Record, size: int) -> Step | None:
    """What shaped links add to a message over TCP, beside what its bytes and the rate come to."""
    shaped = _visits(record, "nodes polling", size, shaped=True)
    free = _visits(record, "nodes polling", size)
    # Neighbours: visits 0 and 1, 3 and 2, and so on, one of them shaped.
    both = [(shaped[v], free[v ^ 1]) for v in shaped if v ^ 1 in free]
    if not both:
        return None
    rate = RATE_BITS_PER_S[str(record.sweep["shaped"])]
    bits = 8 * bytes_on_the_wire(size, mtu_of(record.cluster))
    return Step(WIRE, _difference(record, both), bits / rate * 1e6)


def bytes_on_the_wire(size: int, mtu: int = 1500) -> int:
    """A message with all that a cable carries of it: the headers of each frame, its preamble, check sum and gap."""
    data, _ = frame(mtu)
    frames = -(-size // data)
    return size + frames * (mtu - data + ETHERNET_BYTES)


def _less(
    record: Record, way: str, size: int, other: str, other_size: int, times: int = 1
) -> Summary:
    longer, shorter = _visits(record, way, size), _visits(record, other, other_size)
    return _difference(record, [(longer[v], times * shorter[v]) for v in longer if v in shorter])


def _difference(record: Record, both: Sequence[tuple[float, float]]) -> Summary:
    """How much longer the first of each pair takes: on a busy machine known to a share of what is compared."""
    longest = max((each for pair in both for each in pair), default=0.0)
    return summary([a - b for a, b in both], busy=record.busy, compared=longest)


def _visits(record: Record, step: str, size: int, *, shaped: bool = False) -> dict[int, float]:
    """The value of each visit: its lower decile, as in the measuring cycle."""
    return by_visit(*record.select(step=step, size_bytes=size, shaped=shaped))
