"""E8, what paper E leaves open (section 6.1): a run on a network that was not there, and the rings of a card.

What would a run cost on another network? Each program is recorded in two states of the nodes, lab 07's first state and
the tuned one, alternating. A ping-pong measures both networks. The runs from before are replayed on each. The replay
on the network after is a prediction, and is compared with the run after. There are two ranks, so that each has a core.
Cables of ours have no rate here: a token bucket passes a message of a ping-pong at up to twice the rate, and one of
many at the rate.

Rings are a card's queues of packet descriptors: another length is tried where a card has them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from beowulf.cluster import Cluster
from beowulf.cluster.simulated import cluster as simulated
from beowulf.cluster.simulated.platform import Platform
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.labs.lab_09.replays import kernel
from beowulf.measure.calibration import NO_RATE, Calibration, Size
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import HALF, need_nodes
from beowulf.measure.roundtrips import run as pingpong
from beowulf.measure.statistics import LEAST_PAIRS, Pairs, Ratio, summary
from beowulf.record import Point, Record
from beowulf.studies.quantity import TIMES, Quantity
from beowulf.studies.states import AFTER, BEFORE, KNOBS, samples, turns
from beowulf.studies.study import Claim, Judgement, Plan, Study, quiet_claim, undecided
from beowulf.tuning import ab_comparison, knob_places, paper_e_baseline
from beowulf.tuning.ab_comparison import MARGIN, Length
from beowulf.tuning.change import changing
from beowulf.tuning.knobs import ALL

RANKS = 2
PROGRAMS = {name: kernel(name, "S", RANKS) for name in ("CG", "MG", "IS")}
RECORDED, REPLAYED = "recorded_ms", "replayed_ms"
SIZES = (0, 16, 64, 256, 1024, 2048, 4096, 8192, 16_384, 65_536, 262_144, 1_048_576)
PASSES = 4
LAUNCHES, QUICK_LAUNCHES = 10, LEAST_PAIRS
NEAR = 0.25  # of the run: a replay is a prediction
OWN_NETWORK = "a replay on the network of the recording takes as long as the run"
OTHER_NETWORK = "recorded before the tuning and replayed on the network after it, it takes as long as the run then does"
RINGS, FEW, MANY = "rings", "256", "4096"
RINGS_LENGTH = Length(blocks=6, most_blocks=6, samples=20)  # a card begins again with each change


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """Ping-pong and each program in both states in turns, every run recorded; replays at the end; then the rings."""
    need_nodes(cluster, RANKS)
    simulated.refuse_without_simgrid()
    launches = QUICK_LAUNCHES if quick else LAUNCHES

    def steps(measurement: Measurement) -> None:
        traces: dict[tuple[str, int], Path] = {}
        with tempfile.TemporaryDirectory(prefix="beowulf-") as scratch:
            for each in PROGRAMS.values():
                measurement.prepare(each.source)
            with without_a_rate(measurement), paper_e_baseline.states(cluster) as states:
                for launch, state in turns(states, launches):
                    at = {"state": state}
                    pingpong(measurement, RANKS, SIZES, passes=PASSES, launch=launch, at=at)
                    for name in PROGRAMS:
                        trace = record(measurement, name, Path(scratch), state, launch)
                        if state == BEFORE:
                            traces[name, launch] = trace
            replay_all(measurement, traces)
        turn_rings(measurement)

    programs = len(PROGRAMS)
    sweep = {"states": [BEFORE, AFTER], "launches": launches, "programs": list(PROGRAMS)}
    planned = launches * (2 + 3 * programs) + 1
    return Plan(planned, {**sweep, "testbed": paper_e_baseline.parts(cluster)}, steps)


@contextmanager
def without_a_rate(measurement: Measurement) -> Iterator[None]:
    """Within this context the cables have no limit where it is ours: a token bucket passes some messages at once."""
    if not measurement.cluster.can.faults:
        yield
        return
    nodes = measurement.cluster.nodes[:RANKS]
    measurement.cluster.limit(nodes, NO_RATE)
    try:
        yield
    finally:
        measurement.cluster.limit(nodes, str(measurement.description["rate"]))


def record(measurement: Measurement, name: str, folder: Path, state: str, launch: int) -> Path:
    """Run a program once, with what its ranks do kept in a folder of its own: its trace."""
    from beowulf.timeline import analysis, replay

    asked, measurement.traces = measurement.traces, measurement.traces or folder
    program, at = PROGRAMS[name], {"program": name, "state": state}
    measurement.launch(program.source, RANKS, program.words, launch=launch, at=at)
    measurement.traces = asked
    assert measurement.last_trace
    run = replay.read(analysis.read(measurement.last_trace))
    measurement.add({**at, "launch": launch}, RECORDED, [(run.until_ns - run.since_ns) / 1e6])
    return measurement.last_trace


def network(points: list[Point], state: str) -> Platform:
    """What the ping-pong measures of the network in that state."""
    sizes = []
    for size in SIZES:
        found = [p for p in points if p.quantity == HALF and p.at["size_bytes"] == size]
        seen = summary([us for p in found if p.at["state"] == state for us in p.samples])
        sizes.append(Size(size, seen.median, seen.low, seen.high))
    return Calibration("", NO_RATE, tuple(sizes)).platform(RANKS)


def replay_all(measurement: Measurement, traces: Mapping[tuple[str, int], Path]) -> None:
    """What each run that was recorded before takes on both networks."""
    from beowulf.timeline import analysis, replay

    networks = {state: network(measurement.points, state) for state in (BEFORE, AFTER)}
    for (name, launch), trace in traces.items():
        found = analysis.read(trace)
        for state, platform in networks.items():
            measurement.progress(measurement.done, measurement.planned, f"E8: replay of {name}")
            ms = replay.replay(found, platform).ms
            at = {"program": name, "on": state, "launch": launch}
            measurement.add(at, REPLAYED, [ms])
        measurement.done += 1


def turn_rings(measurement: Measurement) -> None:
    """Half round trips with other rings than the card has, alternating; or why it has none."""
    cluster, knob = measurement.cluster, ALL[RINGS]
    readings = knob_places.read(cluster, [knob])[RINGS]
    if absent := next((each.absent for each in readings.values() if each.absent), ""):
        measurement.points.append(Point({"knob": RINGS}, facts={"absent": absent}))
        return
    value = MANY if any(each.value == FEW for each in readings.values()) else FEW
    with changing(cluster, [(knob, value)], nodes=cluster.nodes[:RANKS]) as changes:
        at = {"knob": RINGS, "value": value}
        ab_comparison.compare(measurement, changes, at=at, length=RINGS_LENGTH)


def over_the_run(name: str, state: str, record: Record) -> Ratio:
    """How many times as long as the run in a state the replay on its network takes, of the same launch."""
    both = Pairs(busy=record.busy)
    for launch in range(int(record.sweep["launches"])):
        at = {"program": name, "launch": launch}
        run = samples(record, RECORDED, state=state, **at)
        both.add(launch, samples(record, REPLAYED, on=state, **at), run)
    if len(both.values) < LEAST_PAIRS:
        raise LabError(f"{name} was replayed fewer than {LEAST_PAIRS} times.", "Measure again.")
    return both.ratio()


def near_the_run(name: str, state: str, says: str) -> Claim:
    """Whether a program's replay takes about as long as its run; on a busy machine only the run gets longer."""
    times = Quantity(f"{name}, replayed over run", partial(over_the_run, name, state), TIMES)
    judge = times.within(1 - NEAR, 1 + NEAR)
    return quiet_claim(f"{name.lower()}-{state}", f"{name}: {says}, within {NEAR:.0%}", judge)


def rings(record: Record) -> Judgement:
    """The judgement on the cycle with other rings."""
    points = record.select(knob=RINGS)
    if absent := next((p.facts["absent"] for p in points if "absent" in p.facts), ""):
        return undecided(absent, "Measure on PCs, or on VMs whose card has rings (e1000e).")
    states = {p.at.get("state"): p for p in points}
    if not {ab_comparison.BEFORE, ab_comparison.AFTER} <= set(states):
        raise LabError("The knob `rings` was not turned.", "Measure again.")
    seen = ab_comparison.compared(states[ab_comparison.BEFORE], states[ab_comparison.AFTER])
    outcomes = {"no effect": "holds", "inconclusive": "inconclusive"}
    outcome = outcomes.get(seen.decision, "contradicted")
    return Judgement(outcome, f"rings of {points[0].at['value']}: {seen}")  # type: ignore[arg-type]


def picture(record: Record) -> Figure:
    """How far each replay is from the run, on the network of the recording and on the other one."""
    from beowulf.figures.segments import Value, intervals

    values = []
    for state, kind in ((BEFORE, "as recorded"), (AFTER, "on the other network")):
        for name in PROGRAMS:
            seen = over_the_run(name, state, record)
            median, low, high = (100 * (each - 1) for each in (seen.median, seen.low, seen.high))
            values.append(Value(name, median, low, high, kind))
    return intervals(
        values,
        title="Replays of runs that were recorded before the tuning",
        value_title="replay, longer than the run (%): median of the launches",
    )


STUDY = Study(
    id="E8",
    title="Another network: a recorded run replayed on it, and a card's rings",
    plan=plan,
    needs=(KNOBS,),
    judged=[
        *(near_the_run(name, BEFORE, OWN_NETWORK) for name in PROGRAMS),
        *(near_the_run(name, AFTER, OTHER_NETWORK) for name in PROGRAMS),
        Claim(
            "rings",
            f"Other rings than the card's own change half a round trip by less than {MARGIN:.0%}",
            rings,
            needs="nothing",
        ),
    ],
    draw=picture,
    troubles=lambda record: trouble(record, RECORDED, enough=LEAST_PAIRS),
    changes_cables=True,
)
