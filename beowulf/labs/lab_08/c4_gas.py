"""C4, the gas: is it right, how fast is it, and what do more processors gain?

Paper C, figure 3: two-dimensional gas dynamics by PPM on tiles of 30 by 30 zones makes 4.5 MFLOPS on one processor, and
on 16 of them 31 with a grid of the same size and 62 with one that grows. Ours is the gas of lab 08, verified by Sod's
tube, a smooth ramp, and what is conserved. A speed-up is measured where each rank has a core to itself.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.labs.lab_08.codes import (
    FIXED,
    GAS,
    SCALED,
    computed,
    counts,
    most_ranks,
    on_sixteen,
    one_processor,
    printed,
    result,
    results,
    run,
    same_bits,
    seconds,
    with_a_core_each,
)
from beowulf.labs.lab_08.machine_1995 import ACROSS, ZONE_FLOPS
from beowulf.measure.judgement import Span, quotient
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.record import Record
from beowulf.studies.quantity import Quantity
from beowulf.studies.study import Claim, Judgement, Plan, Study

if TYPE_CHECKING:
    import pandas as pd

STEPS, SIDE, NARROW = 20, 30, 10  # of a run for speed; zones of a tile, and of one in a tube
ZONES = (ACROSS * SIDE) ** 2
CONSERVED = ("mass", "momentum_x", "momentum_y", "energy")
ROUNDING = 1e-13
# The error of Sod's tube falls with order 1, because a jump stays equally many zones wide; in smooth gas with more.
SHOCK, RAMP, WAVE = "sod-x", "ramp", "smooth"
SHOCK_ORDER, SMOOTH_ORDER = (0.6, 1.3), 2.5
TUBES, QUICK_TUBES = (100, 200, 400), (100, 200)
RAMPS, WAVES = (60, 120, 240), (30, 60)

FULL, QUICK = (3, 12), (2, 6)  # launches and passes of a run for speed


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """Verify the gas on one node; then measure its speed on as many nodes as have a core each."""
    (launches, passes), tubes = (QUICK, QUICK_TUBES) if quick else (FULL, TUBES)
    nodes, several = counts(cluster), most_ranks(cluster)
    verified = [(SHOCK, each) for each in tubes] + [(RAMP, each) for each in RAMPS]

    def steps(measurement: Measurement) -> None:
        for problem, zones in verified:
            words: list[str | int] = ["--problem", problem, "--tiles", f"{zones // NARROW},1"]
            at = {"what": "verified", "problem": problem, "zones": zones}
            run(measurement, GAS, 1, [*words, "--side", NARROW], at)
        for zones in WAVES:
            tiles = zones // SIDE
            words = ["--problem", WAVE, "--tiles", f"{tiles},{tiles}"]
            run(measurement, GAS, 1, words, {"what": "verified", "problem": WAVE, "zones": zones})
        for ranks in sorted({1, several}):
            words = ["--problem", "blast", "--steps", STEPS]
            run(measurement, GAS, ranks, words, {"what": "bits"})
        for launch in range(launches):
            for ranks in nodes:
                for scaled in (False, True) if ranks > 1 else (False,):
                    rows = ACROSS * (ranks if scaled else 1)
                    words = ["--problem", "blast", "--tiles", f"{ACROSS},{rows}"]
                    words += ["--steps", STEPS, "--passes", passes]
                    at = {"what": "speed", "scaled": scaled}
                    run(measurement, GAS, ranks, words, at, launch)

    of_speed = launches * (2 * len(nodes) - 1)
    planned = len(verified) + len(WAVES) + len({1, several}) + of_speed
    about: dict[str, Any] = {"tubes": list(tubes), "nodes": nodes, "bits_on": several}
    return Plan(planned, about | {"launches": launches, "passes": passes}, steps)


def orders(record: Record, problem: str) -> list[tuple[int, int, float]]:
    """For each step to a finer grid, both numbers of zones and the order with which the error falls."""
    found = list(results(record, what="verified", problem=problem))
    steps = []
    for few, many in pairwise(found):
        better, finer = few["density_error"] / many["density_error"], many["zones"] / few["zones"]
        steps.append((few["zones"], many["zones"], float(np.log(better) / np.log(finer))))
    return steps


def _said(found: list[tuple[int, int, float]]) -> str:
    return ", ".join(f"{order:.2f} from {few} to {many} zones" for few, many, order in found)


def _shock(record: Record) -> Judgement:
    result(record, what="verified", problem=SHOCK)
    found = orders(record, SHOCK)
    low, high = SHOCK_ORDER
    right = all(low < each < high for *_, each in found)
    asked = f"{low:g} to {high:g} is asked"
    return computed(right, f"order {_said(found)}; {asked}", {"order": found[-1][-1]})


def _smooth(record: Record) -> Judgement:
    result(record, what="verified", problem=RAMP)
    found, wave = orders(record, RAMP), orders(record, WAVE)
    high = all(each > SMOOTH_ORDER for *_, each in found)
    evidence = (
        f"order {_said(found)}, and more than {SMOOTH_ORDER:g} is asked;"
        f" on a wave, whose maximum the method flattens, {_said(wave)}"
    )
    numbers = {"order": found[-1][-1], "order_of_wave": wave[-1][-1]}
    return computed(high, evidence, numbers)


def _conserved(record: Record) -> Judgement:
    found = result(record, what="speed")
    drifts = {name: abs(found[f"{name}_drift"]) for name in CONSERVED}
    evidence = (
        f"the largest change is {max(drifts.values()):.1e} of the whole in {STEPS} steps, and less"
    )
    evidence += f" than {ROUNDING:.0e} is asked"
    return computed(max(drifts.values()) < ROUNDING, evidence, drifts)


def mflops(record: Record, ranks: int = 1, *, scaled: bool = False) -> Span:
    """Million operations of a zone, counted in the source, over a step's time: an interval."""
    of = seconds(record, "step_s", what="speed", ranks=ranks, scaled=scaled)
    million = ZONE_FLOPS * ZONES * (ranks if scaled else 1) / 1e6
    return quotient(Span(million, million), of)


ALONE = Quantity(f"one processor, {ZONE_FLOPS} operations a zone and step", mflops, "MFLOPS")


def table(record: Record) -> pd.DataFrame:
    """A row for each number of nodes with a core each: a step, its parts, MFLOPS and speed-up."""
    import pandas as pd

    rows = []
    for ranks in sorted({row["ranks"] for row in results(record, what="speed")}):
        for scaled in (False, True) if ranks > 1 else (False,):
            at: dict[str, Any] = {"what": "speed", "ranks": ranks, "scaled": scaled}
            ms = {
                f"{name}_ms": 1e3 * seconds(record, f"{name}_s", **at).median
                for name in ("step", "computing", "communicating", "waiting")
            }
            rate = ZONE_FLOPS * ZONES * (ranks if scaled else 1) / ms["step_ms"] / 1e3
            rows.append({"size": SCALED if scaled else FIXED, "nodes": ranks, **ms, "mflops": rate})
    found = pd.DataFrame(rows)
    return found.assign(speed_up=found["mflops"] / found["mflops"][0])


def errors(record: Record) -> pd.DataFrame:
    """The mean error of the density by problem and zones."""
    import pandas as pd

    rows = [
        {"problem": row["problem"], "size_zones": row["zones"], "error": row["density_error"]}
        for row in results(record, what="verified")
    ]
    return pd.DataFrame(rows)


def picture(record: Record) -> Figure:
    """The error over the zones, for a shock, a ramp and a wave."""
    from beowulf.figures import lines

    return lines(
        errors(record),
        "size_zones",
        "error",
        "problem",
        title="How near the gas comes to the exact solution",
        x_title="zones along x",
        y_title="mean error of the density",
        x_log=True,
        y_log=True,
    )


CLAIMS = [
    Claim(
        "shock", "at a shock the error falls in proportion to the zones' width", _shock, "samples"
    ),
    Claim(
        "smooth",
        f"in smooth gas it falls with an order above {SMOOTH_ORDER:g}",
        _smooth,
        "samples",
    ),
    Claim("conserved", "mass, momentum and energy change by rounding alone", _conserved, "samples"),
    same_bits("gas"),
    one_processor(FIXED, ALONE),
]
ON_16 = [
    on_sixteen(
        "fixed-size",
        f"16 make {printed(FIXED):g} with a grid of the same size",
        FIXED,
        scaled=False,
    ),
    on_sixteen("scaled-size", f"and {printed(SCALED):g} with one that grows", SCALED, scaled=True),
]

STUDY = Study(
    id="C4",
    title="The gas: PPM on tiles, verified, and its speed on one processor and on several",
    plan=plan,
    judged=partial(with_a_core_each, CLAIMS, ON_16),
    draw=picture,
    troubles=partial(trouble, quantity="waiting_s", enough=1),
    differs={
        "holds": (
            "The method is the paper's, and what it computes does not depend on the machine: a shock stays as many"
            " zones wide, and what leaves a zone enters its neighbour."
        ),
        "contradicted": (
            "A modern core performs hundreds of times the operations of a DX4 at 100 MHz, on a network that is not a"
            " hundred times as fast."
        ),
        "inconclusive": (
            "Other programs took the cores, or the Record lacks a run that the claim needs; C6 simulates what 16"
            " processors of 1995 achieve."
        ),
    },
)
