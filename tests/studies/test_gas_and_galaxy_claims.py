"""Do C4, C5 and C6, and the points of C1's figure, come out as they should on Records that show it?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from made import decided

from beowulf import papers
from beowulf.errors import LabError
from beowulf.labs.lab_08 import c4_gas, c5_galaxy, c6_overhead, machine_1995, tokens
from beowulf.record import Point, Record
from beowulf.studies import judge
from tests.gold import lab_08
from tests.gold.measured import NODES, as_measured

SIMULATED = {"kind": "simulated", "nodes": [f"node{n:02}" for n in range(16)], "mpi": "simulated"}
MACHINE = {**SIMULATED, "platform": machine_1995.ethernet().as_dict()}
ONE_MACHINE = {"kind": "namespaces", "nodes": list(NODES), "node_cores": dict.fromkeys(NODES, 2)}
SIXTEEN = [f"node{n:02}" for n in range(16)]
PCS = {"kind": "ssh", "nodes": SIXTEEN, "node_cores": dict.fromkeys(SIXTEEN, 1)}


def evidence(record: Record, claim: str) -> str:
    return next(verdict.evidence for verdict in judge(record) if verdict.claim == claim)


def timed(at: Mapping[str, Any], quantity: str, seconds: float) -> list[Point]:
    """Three launches of twelve samples, nearly alike."""
    samples = [seconds * (1 + 0.001 * (n % 3)) for n in range(12)]
    return [
        Point({**at, "launch": n}, quantity, samples, {"pass": list(range(12))}) for n in range(3)
    ]


def measured(study: str, points: Iterable[Point], cluster: Mapping[str, Any]) -> Record:
    record = as_measured(lab_08.record(study, points))
    record.cluster = dict(cluster)
    return record


# --- C4


def gas(
    *,
    cluster: Mapping[str, Any] = ONE_MACHINE,
    shock: float = 1.0,
    smooth: float = 3.0,
    drift: float = 1e-16,
    bits: Iterable[str] = ("a", "a"),
    step_s: float = 2.7,
    fixed: float = 6.9,
    scaled: float = 13.8,
) -> Record:
    """A Record of C4 whose errors fall with these orders, and whose 16 nodes are so many times as fast."""
    points = [
        Point(
            {"what": "verified", "problem": problem, "zones": zones, "ranks": 1, "result": True},
            facts={"density_error": zones**-order},
        )
        for problem, order, sizes in (
            (c4_gas.SHOCK, shock, (100, 200)),
            (c4_gas.RAMP, smooth, (60, 120)),
            (c4_gas.WAVE, 2.3, (30, 60)),
        )
        for zones in sizes
    ]
    drifts = {f"{name}_drift": drift for name in c4_gas.CONSERVED}
    for ranks, each in zip((1, 4), bits, strict=True):
        points.append(Point({"what": "bits", "ranks": ranks, "result": True}, facts={"bits": each}))
    for ranks, grown, times in ((1, False, 1.0), (16, False, fixed), (16, True, scaled)):
        at = {"what": "speed", "scaled": grown, "ranks": ranks}
        points.append(Point({**at, "result": True}, facts=drifts))
        seconds = step_s * (ranks if grown else 1) / times
        for name in ("step", "computing", "communicating", "waiting"):
            points += timed(at, f"{name}_s", seconds)
    return measured("C4", points, cluster)


@pytest.mark.parametrize(
    ("claim", "record", "outcome"),
    [
        ("shock", gas(shock=0.4), "contradicted"),
        ("smooth", gas(smooth=2.3), "contradicted"),
        ("conserved", gas(drift=-1e-9), "contradicted"),
        ("same-bits", gas(bits=("a", "b")), "contradicted"),
        ("one-processor", gas(step_s=0.01), "contradicted"),
        ("fixed-size", gas(), "inconclusive"),
        ("fixed-size", gas(cluster=PCS, fixed=14), "contradicted"),
        ("scaled-size", gas(), "inconclusive"),
        ("scaled-size", gas(cluster=PCS, scaled=7), "contradicted"),
    ],
)
def test_each_claim_of_the_gas_has_each_outcome(claim: str, record: Record, outcome: str) -> None:
    assert decided(record)[claim] == outcome


def test_the_roofline_has_the_time_of_each_kind_of_work_beside_a_step() -> None:
    record = gas(step_s=0.006)
    each_us = {
        "bytes": 1e-4, "operations in pairs": 5e-5, "operations": 1e-4, "divisions": 1e-3, "square roots": 2e-3
    }  # fmt: skip
    for row, us in each_us.items():
        at = {"what": "core", "row": row, "ranks": 1}
        record.points += timed(at, "operation_us", us)
    found = c4_gas.roofline(record).set_index("limit")
    # 120 x 120 zones, each with 160 bytes, and 849 operations, of which 64 divide and 27 are roots.
    assert found["ms"].to_dict() == pytest.approx(
        {
            "bytes from and to memory": 14400 * 160e-7,
            "additions and multiplications, two at a time": 14400 * 758 * 5e-8,
            "additions and multiplications": 14400 * 758e-7,
            "divisions and square roots": 14400 * (64e-6 + 27 * 2e-6),
            "a step": 6.0,
        },
        rel=1e-3,
    )
    assert found["percent"]["a step"] == 100
    with pytest.raises(LabError, match="no such time"):
        c4_gas.roofline(gas())


def test_cores_that_ranks_share_are_the_reason_that_no_speed_up_is_judged() -> None:
    assert "16 ranks need a core each, and here 2 have one" in evidence(gas(), "fixed-size")


def test_a_load_leaves_open_how_fast_the_gas_is_and_not_whether_it_is_right() -> None:
    record = gas(step_s=2.4)
    record.circumstances["before"]["load_1min"] = 9.0
    found = decided(record)
    assert found["one-processor"] == "inconclusive"
    assert found["shock"] == found["same-bits"] == "holds"


# --- C5


def galaxy(
    *,
    cluster: Mapping[str, Any] = ONE_MACHINE,
    errors: Iterable[float] = (1e-4, 1e-3, 5e-3, 2e-2),
    power: float = 0.0,
    drift: float = 1e-5,
    bits: Iterable[str] = ("a", "a"),
    times: float = 19 / 3.5,
) -> Record:
    """A Record of C5; a particle's interactions grow with log N, and with this power of N beside."""
    points = []

    def add(what: str, quantity: str, **facts: Any) -> None:
        at = {"what": what, "ranks": facts.pop("ranks", 1), "result": True}
        points.append(Point(at, facts={"quantity": quantity, **facts}))

    for angle, error in zip(c5_galaxy.ANGLES, errors, strict=True):
        add("error", "force_error", angle=angle, median=error, p99=2 * error)
    for count in c5_galaxy.QUICK_SIZES:
        pairs = count * 50 * math.log(count) * count**power
        add(
            "growth", "steps", particles=count, pairs_per_step=pairs, cells_per_step=0.0, step_s=1.0
        )
    add("energy", "state", step=0, energy=-0.25)
    add("energy", "state", step=40, energy=-0.25 * (1 + drift))
    for ranks, each in zip((1, 4), bits, strict=True):
        add("bits", "state", ranks=ranks, bits=each)
    for ranks, faster in ((1, 1.0), (16, times)):
        seconds = 36.6 / faster
        add("speed", "steps", ranks=ranks, mflops=3.5 * faster, step_s=seconds)
        points += timed({"what": "speed", "ranks": ranks}, "step_s", seconds)
    return measured("C5", points, cluster)


@pytest.mark.parametrize(
    ("claim", "record", "outcome"),
    [
        ("small-error", galaxy(errors=(1e-4, 1e-3, 2e-2, 3e-2)), "contradicted"),
        ("angle", galaxy(errors=(1e-3, 1e-4, 5e-3, 2e-2)), "contradicted"),
        ("n-log-n", galaxy(power=1.0), "contradicted"),
        ("energy", galaxy(drift=0.01), "contradicted"),
        ("same-bits", galaxy(bits=("a", "b")), "contradicted"),
        ("fixed-size", galaxy(), "inconclusive"),
        ("fixed-size", galaxy(cluster=PCS, times=15), "contradicted"),
    ],
)
def test_each_claim_of_the_galaxy_has_each_outcome(
    claim: str, record: Record, outcome: str
) -> None:
    assert decided(record)[claim] == outcome


# --- C6


def machine(
    fixed: Mapping[int, float] = {1: 4.5, 8: 25, 16: 27},
    scaled: float = 60.5,
    galaxies: Iterable[float] = (18.0, 19.0, 20.0),
    eight: float = 17.5,
    second: float = 1.0,
    second_galaxy: float = 1.05,
    balancing: float = 1.5,
    communicating: float = 0.01,
) -> Record:
    """A Record of C6 with these MFLOPS on one network, and these gains by a second one."""
    points = []
    for cables in (1, 2):
        of_gas, of_galaxy, of_balancing = (
            (second, second_galaxy, balancing) if cables == 2 else (1.0, 1.0, 1.0)
        )
        steps = {(nodes, False): rate for nodes, rate in fixed.items()} | {(16, True): scaled}
        for (nodes, grown), rate in steps.items():
            gain = of_gas if nodes > 1 else 1.0
            work = machine_1995.ZONE_FLOPS * c6_overhead.ZONES * (nodes if grown else 1) / 1e6
            step = work / rate / gain
            at = {
                "cables": cables,
                "ranks": nodes,
                "launch": 0,
                **({"scaled": True} if grown else {}),
            }
            shares = {
                "computing": 1 - communicating,
                "communicating": communicating,
                "waiting": 0.0,
            }
            points.append(Point(at, "step_s", [step]))
            points += [Point(at, f"{name}_s", [step * each]) for name, each in shares.items()]
        for particles, most in zip(c6_overhead.PARTICLES, galaxies, strict=True):
            for nodes, rate in ((1, 3.5), (8, eight), (16, most)):
                step = particles / rate / (of_galaxy if nodes > 1 else 1.0)
                at = {"cables": cables, "particles": particles, "ranks": nodes, "launch": 0}
                points.append(Point(at, "step_s", [step]))
                for phase in ("computing", "building", "communicating", "waiting"):
                    points.append(Point({**at, "phase": phase}, "phase_s", [step / 5]))
                part = step / 5 / (of_balancing / of_galaxy if cables == 2 else 1.0)
                points.append(Point({**at, "phase": "balancing"}, "phase_s", [part]))
                facts = {"quantity": "steps", "mflops": particles / step, "step_s": step}
                points.append(Point({**at, "result": True}, facts=facts))
    return measured("C6", points, MACHINE)


SUMS = {"sum-scaled": "contradicted", "sum-fixed": "contradicted"}


@pytest.mark.parametrize(
    ("claim", "record", "outcome"),
    [
        ("gas-fixed", machine({1: 4.5, 8: 28, 16: 50}), "contradicted"),
        ("gas-scaled", machine(scaled=40), "contradicted"),
        ("galaxy", machine(galaxies=(30, 31, 32)), "contradicted"),
        ("galaxy", machine(galaxies=(18, 19, 30)), "inconclusive"),
        ("gas-fixed-overhead", machine({1: 4.5, 8: 28, 16: 50}), "contradicted"),
        ("gas-scaled-overhead", machine(scaled=71), "contradicted"),
        ("galaxy-overhead", machine(galaxies=(40, 41, 42)), "contradicted"),
        ("galaxy-overhead", machine(galaxies=(19, 20, 40)), "inconclusive"),
        ("gas-doubling", machine({1: 4.5, 8: 20, 16: 31}), "contradicted"),
        ("galaxy-doubling", machine(eight=12), "contradicted"),
        ("galaxy-doubling", machine(galaxies=(18, 19, 30)), "inconclusive"),
        ("gas-communicating", machine(communicating=0.5), "contradicted"),
        ("second-gas", machine(second=1.3), "contradicted"),
        ("second-galaxy", machine(second_galaxy=1.3), "contradicted"),
        ("second-balancing", machine(balancing=1.0), "contradicted"),
    ],
)
def test_each_claim_of_the_machine_of_1995_has_each_outcome(
    claim: str, record: Record, outcome: str
) -> None:
    assert decided(record)[claim] == outcome


@pytest.mark.parametrize(
    ("record", "others"),
    [(gas(cluster=PCS), {}), (galaxy(cluster=PCS), {}), (machine(), SUMS)],
    ids=["gas", "galaxy", "the machine of 1995"],
)
def test_every_claim_of_a_record_as_in_the_paper_holds(
    record: Record, others: dict[str, str]
) -> None:
    found = decided(record)
    assert {name: each for name, each in found.items() if each != "holds"} == others


def test_the_papers_sums_are_listed_as_arithmetic_and_the_rest_as_simulated() -> None:
    found = {verdict.claim: verdict for verdict in judge(machine())}
    assert {name for name, each in found.items() if each.rests_on == "arithmetic"} == SUMS.keys()
    assert "13.9 %" in found["sum-scaled"].evidence
    assert "simulated by SimGrid, not measured" in found["gas-fixed"].evidence


def test_where_galaxies_differ_the_unknown_number_of_particles_is_the_reason() -> None:
    assert "does not print its number" in evidence(machine(galaxies=(18, 19, 30)), "galaxy")


def test_the_picture_has_both_codes_and_the_papers_points() -> None:
    facts = c6_overhead.table(machine())
    drawn = c6_overhead.picture(facts)
    assert "paper" in drawn.alt
    assert facts.groupby("code").size().to_dict() == {
        "galaxy": 18, "gas, fixed size": 6, "gas, scaled size": 4,
    }  # fmt: skip


# --- C1's figure


def as_published(factor: float, cluster: Mapping[str, Any] = MACHINE) -> Record:
    """A Record of C1 in which every point that the paper names has so many times its rate."""
    record = as_measured(lab_08.c1())
    record.cluster = dict(cluster)
    named = {
        (row.networks, row.demand, row.size_bytes): 1e-6 * row.size_bytes / row.rate_mb_per_s
        for row in papers.table(tokens.PUBLISHED).itertuples()
    }
    for point in record.points:
        at = point.at
        if seconds := named.get((at["networks"], at["demand"], at["size_bytes"])):
            point.samples[:] = [seconds / factor] * len(point.samples)
    return record


@pytest.mark.parametrize(
    ("record", "outcome"),
    [
        (as_published(1.1), "holds"),
        (as_published(1.3), "contradicted"),
        (as_published(1.1, ONE_MACHINE), "inconclusive"),
    ],
)
def test_the_points_of_figure_1_are_held_against_the_machine_of_1995_alone(
    record: Record, outcome: str
) -> None:
    assert decided(record)["figure-1"] == outcome


def test_the_points_have_their_tokens_a_second_as_well() -> None:
    found = tokens.points(tokens.Tokens.of(as_published(1.1)))
    assert found["times"].round(2).tolist() == [1.1] * len(found)
    assert (found["tokens_per_s"] * found["size_bytes"] / 1e6).round(2).tolist() == found[
        "rate_mb_per_s"
    ].tolist()
