"""C5, the galaxy: how exact are its forces, how does its work grow, and what do more processors gain?

Paper C, figure 3: a tree code of a fixed number of particles makes 3.5 MFLOPS on one processor and 19 on 16. Ours is
the galaxy of lab 08, compared with sums over all particles. The paper does not print its number of particles. A
speed-up is measured where each rank has a core to itself.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.labs.lab_08.codes import (
    BODIES,
    GALAXY,
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
from beowulf.measure.judgement import Span, quotient
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.record import Record
from beowulf.studies.quantity import Quantity
from beowulf.studies.study import Claim, Judgement, Plan, Study

if TYPE_CHECKING:
    import pandas as pd

ANGLES, USUAL_ANGLE, MOST_ERROR = (0.3, 0.5, 0.8, 1.0), 0.8, 0.01
SIZES, QUICK_SIZES = (1250, 2500, 5000, 10000, 20000), (1250, 2500, 5000, 10000)
OF_SPEED, STEPS = 5000, 6
CHECKED, SAMPLE = 2000, 300
MOVED, QUICK_MOVED = 200, 40  # steps over which the energy is looked at
MOST_DRIFT = 1e-3
OF_BITS = 800
OFF_THE_LINE = (
    0.05  # of a number of interactions, where they grow with the logarithm of the particles
)


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """Verify the galaxy on one node; then measure its speed on as many nodes as have a core each."""
    sizes, moved = (QUICK_SIZES, QUICK_MOVED) if quick else (SIZES, MOVED)
    launches = 2 if quick else 6
    nodes, several = counts(cluster), most_ranks(cluster)

    def steps(measurement: Measurement) -> None:
        for angle in ANGLES:
            words: list[str | int] = ["--particles", CHECKED, "--steps", 0, "--check", SAMPLE]
            run(measurement, GALAXY, 1, [*words, "--angle", str(angle)], {"what": "error"})
        for size in sizes:
            words = ["--particles", size, "--steps", 2]
            run(measurement, GALAXY, 1, words, {"what": "growth"})
        words = ["--particles", CHECKED, "--steps", moved, "--every", moved]
        run(measurement, GALAXY, 1, words, {"what": "energy"})
        for ranks in sorted({1, several}):
            words = ["--model", "galaxies", "--particles", OF_BITS, "--steps", 3]
            run(measurement, GALAXY, ranks, words, {"what": "bits"})
        for launch in range(launches):
            for ranks in nodes:
                words = ["--particles", OF_SPEED, "--steps", STEPS]
                run(measurement, GALAXY, ranks, words, {"what": "speed"}, launch)

    about: dict[str, Any] = {"particles": list(sizes), "nodes": nodes, "bits_on": several}
    number = len(ANGLES) + len(sizes) + 1 + len({1, several}) + launches * len(nodes)
    return Plan(number, about | {"launches": launches, "steps": STEPS}, steps)


def errors(record: Record) -> pd.DataFrame:
    """The error of the forces by opening angle, in per cent."""
    import pandas as pd

    rows = [
        {"angle": row["angle"], "median_percent": 100 * row["median"], "p99_percent": 100 * row["p99"]}
        for row in results(record, what="error", quantity="force_error")
    ]  # fmt: skip
    if not rows:
        raise LabError("The Record has no results for the error of the forces.", "Measure again.")
    return pd.DataFrame(rows)


def growth(record: Record) -> pd.DataFrame:
    """For each number of particles, the interactions of one particle and the ms of a step."""
    import pandas as pd

    rows = []
    for row in results(record, what="growth", quantity="steps"):
        pairs = row["pairs_per_step"] + row["cells_per_step"]
        each = pairs / row["particles"]
        rows.append({"particles": row["particles"], "interactions": each, "step_ms": 1e3 * row["step_s"]})  # fmt: skip
    if len(rows) < 3:
        raise LabError(
            "The Record has results for fewer than three numbers of particles.", "Measure again."
        )
    return pd.DataFrame(rows)


def _error(record: Record) -> Judgement:
    found = errors(record).set_index("angle")["median_percent"]
    evidence = f"median {found[USUAL_ANGLE]:.2g} % with an angle of {USUAL_ANGLE:g}"
    small = found[USUAL_ANGLE] < 100 * MOST_ERROR
    return computed(small, evidence, {"percent": found[USUAL_ANGLE]})


def _angle(record: Record) -> Judgement:
    found = errors(record)
    evidence = ", ".join(
        f"{row.median_percent:.2g} % at {row.angle:g}" for row in found.itertuples()
    )
    rises = found.sort_values("angle")["median_percent"].is_monotonic_increasing
    return computed(rises, f"median error {evidence}")


def _growth(record: Record) -> Judgement:
    found = growth(record)
    of = np.log(found["particles"])
    slope, start = np.polyfit(of, found["interactions"], 1)
    off = float(np.max(np.abs((start + slope * of) / found["interactions"] - 1)))
    first, last = found.iloc[0], found.iloc[-1]
    evidence = (
        f"{first.interactions:.0f} interactions a particle of {first.particles:,.0f}, {last.interactions:.0f} of"
        f" {last.particles:,.0f}; at most {off:.1%} off a straight line over log N, and less"
        f" than {OFF_THE_LINE:.0%} is asked"
    )
    return computed(slope > 0 and off < OFF_THE_LINE, evidence, {"off": off})


def _energy(record: Record) -> Judgement:
    states = list(results(record, what="energy", quantity="state"))
    if len(states) < 2:
        raise LabError("The Record has fewer than two energies.", "Measure again.")
    first, last = states[0]["energy"], states[-1]["energy"]
    drift = abs(last / first - 1)
    evidence = f"it changes by {drift:.1e} of itself in {states[-1]['step']} steps"
    return computed(drift < MOST_DRIFT, evidence, {"drift": drift})


def mflops(record: Record, ranks: int = 1) -> Span:
    """Million operations of the forces, counted in the source, over a step's time: an interval."""
    of = seconds(record, "step_s", what="speed", ranks=ranks)
    one = result(record, what="speed", ranks=ranks, quantity="steps")
    million = one["mflops"] * one["step_s"]
    return quotient(Span(million, million), of)


ALONE = Quantity(f"one processor with {OF_SPEED:,} particles", mflops, "MFLOPS")


def table(record: Record) -> pd.DataFrame:
    """A row for each number of nodes with a core each: a step, its phases, MFLOPS and speed-up."""
    import pandas as pd

    rows = []
    phases = ("computing", "building", "balancing", "communicating", "waiting")
    for ranks in sorted({row["ranks"] for row in results(record, what="speed")}):
        ms = {"step_ms": 1e3 * seconds(record, "step_s", what="speed", ranks=ranks).median}
        for phase in phases:
            of = seconds(record, "phase_s", what="speed", ranks=ranks, phase=phase)
            ms[f"{phase}_ms"] = 1e3 * of.median
        one = result(record, what="speed", ranks=ranks, quantity="steps")
        rows.append({"nodes": ranks, **ms, "mflops": one["mflops"] * 1e3 * one["step_s"] / ms["step_ms"]})  # fmt: skip
    found = pd.DataFrame(rows)
    return found.assign(speed_up=found["step_ms"][0] / found["step_ms"])


def picture(record: Record) -> Figure:
    """The interactions of a particle over the number of particles."""
    from beowulf.figures import lines

    return lines(
        growth(record),
        "particles",
        "interactions",
        title="The work of a tree code",
        x_title="particles",
        y_title="interactions a particle",
    )


CLAIMS = [
    Claim(
        "small-error",
        f"with an opening angle of {USUAL_ANGLE:g} half of the forces are less than {MOST_ERROR:.0%} off",
        _error,
        "samples",
    ),
    Claim("angle", "the smaller the angle, the smaller the error", _angle, "samples"),
    Claim(
        "n-log-n",
        "the work grows as N log N",
        _growth,
        "samples",
        place="'The Gravitational N-body Problem'",
    ),
    Claim("energy", f"the energy changes by less than {MOST_DRIFT:.1%}", _energy, "samples"),
    same_bits("galaxy"),
    one_processor(BODIES, ALONE),
]
ON_16 = [on_sixteen("fixed-size", f"16 processors make {printed(BODIES):g}", BODIES)]

STUDY = Study(
    id="C5",
    title="The galaxy: a tree code, verified, and its speed on one processor and on several",
    plan=plan,
    judged=partial(with_a_core_each, CLAIMS, ON_16),
    draw=picture,
    troubles=partial(trouble, quantity="step_s", enough=2),
    differs={
        "holds": (
            "The method is a tree code, as the paper's: forces, energy and the number of interactions depend on no"
            " machine."
        ),
        "contradicted": (
            "A modern core computes hundreds of times as many interactions a second as a DX4 at 100 MHz, on a"
            " network that is not a hundred times as fast."
        ),
        "inconclusive": (
            "Other programs took the cores, or the Record has no such run; C6 simulates what 16 processors of 1995"
            " achieve with a galaxy."
        ),
    },
)
