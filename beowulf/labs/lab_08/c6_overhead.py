"""C6, speed-up and overhead of gas and galaxy on 1 to 16 processors of 1995, on one network and on two: simulated.

Paper C, figures 3 and 4. Our programs run on the simulated machine of 1995 (machine_1995.py), whatever cluster is up:
the rates of one processor are put in, and so are the cable and what software takes for a message. What more processors
gain comes out. The paper does not print how many particles its galaxy has, so three numbers of them are simulated, and
a claim is decided where all three say the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.labs.lab_08.codes import (
    BODIES,
    FIXED,
    GALAXY,
    GAS,
    SCALED,
    SCALING,
    Known,
    around,
    computed,
    printed,
    results,
    run,
)
from beowulf.labs.lab_08.machine_1995 import (
    ACROSS,
    GALAXY_MFLOPS,
    GAS_MFLOPS,
    MOST_NODES,
    NODES,
    ZONE_FLOPS,
    gas_steps,
    launching_on,
    networks,
)
from beowulf.measure.judgement import ENOUGH, Span
from beowulf.measure.measurement import Measurement
from beowulf.record import Record
from beowulf.studies.quantity import TIMES, Judge, Quantity
from beowulf.studies.study import Claim, Judgement, Plan, Study

if TYPE_CHECKING:
    import pandas as pd

QUICK_NODES = (1, 8, 16)
PARTICLES = (2000, 5000, 10000)
GALAXY_STEPS = 2
ZONES = (ACROSS * 30) ** 2
# A particle takes as long as so many operations of the forces while the tree is built: study C5 measured 390 and 500 on
# a core of 2026.
BUILDING_FLOPS = 500
OVERHEAD = "overhead"
PARTS = ("computing", "communicating", "waiting")
LITTLE, NOTHING = 1.1, 1.05  # a few per cent more, and nothing
FASTER = 1.5  # balancing of the load with a second network
MOST_MORE = 1.2  # from 8 to 16 processors: about 10 per cent
MOST_COMMUNICATING = 2.0  # per cent, where the paper has about 1
UNKNOWN = "the paper does not print its number of particles, on which the answer depends"
ADVICE = "`c6_overhead.table` of the Record has each number of particles by itself."


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """Steps of both programs on the simulated machine of 1995, with one network and with two."""
    nodes = QUICK_NODES if quick else NODES

    def galaxy(measurement: Measurement, cables: int) -> None:
        flop_ns = 1e3 / GALAXY_MFLOPS
        for particles in PARTICLES:
            words: list[str | int] = ["--particles", particles, "--steps", GALAXY_STEPS]
            words += ["--flop-ns", f"{flop_ns:.3f}"]
            words += ["--particle-ns", f"{flop_ns * BUILDING_FLOPS:.0f}"]
            for count in nodes:
                run(measurement, GALAXY, count, words, {"cables": cables, "particles": particles})

    def steps(measurement: Measurement) -> None:
        for cables, machine in networks().items():
            with launching_on(measurement, machine):
                gas_steps(measurement, GAS, cables, nodes)
                gas_steps(measurement, GAS, cables, nodes[1:], scaled=True)
                galaxy(measurement, cables)

    about: dict[str, Any] = {"nodes": list(nodes), "particles": list(PARTICLES), "networks": [1, 2]}
    about |= {"gas_mflops": GAS_MFLOPS, "galaxy_mflops": GALAXY_MFLOPS, "zone_flops": ZONE_FLOPS}
    about["building_flops"] = BUILDING_FLOPS
    return Plan(2 * (2 * len(nodes) - 1 + len(PARTICLES) * len(nodes)), about, steps)


def table(record: Record) -> pd.DataFrame:
    """A row for each code, size, number of networks and of nodes: a step, its parts, MFLOPS, speed-up, overhead.

    Of the galaxy, to build the tree counts as computing, and to balance the load as communicating; `balancing_ms` is
    that part by itself. The overhead is what is missing of the ideal, in per cent.
    """
    import pandas as pd

    means = _means(record)
    runs = results(record, quantity="steps")
    flops = Known({row["particles"]: row["mflops"] * row["step_s"] for row in runs})
    rows = []
    for (particles, scaled, cables, nodes), ms in means.items():
        grown, step = nodes if scaled else 1, ms["step"]
        million = flops[particles] if particles else ZONE_FLOPS * ZONES * grown / 1e6
        times = grown * means[particles, False, cables, 1]["step"] / step
        building, balancing = (ms["building"], ms["balancing"]) if particles else (0.0, 0.0)
        extra = {"computing": building, "communicating": balancing, "waiting": 0.0}
        row = {
            "code": BODIES if particles else SCALED if scaled else FIXED,
            "particles": particles,
            "networks": cables,
            "nodes": nodes,
            "step_ms": step,
            **{f"{name}_percent": 100 * (ms[name] + extra[name]) / step for name in PARTS},
            "mflops": 1e3 * million / step,
            "speed_up": times,
            "overhead_percent": 100 * (1 - times / nodes),
        }
        rows.append(row | ({"balancing_ms": balancing} if particles else {}))
        if nodes == 1 and not particles:  # one processor has one size
            rows.append({**row, "code": SCALED})
    if not rows:
        raise LabError("The Record has no steps.", "Measure again.")
    found = pd.DataFrame(rows)
    return found.sort_values(["code", "particles", "networks", "nodes"], ignore_index=True)


def _means(record: Record) -> Known:
    """The ms of a step and of each part of it, by what tells runs apart; means of the steps and of the ranks."""
    sums: dict[tuple[Any, ...], dict[str, list[float]]] = {}
    for point in record.points:
        if point.samples and "cables" in point.at:
            at = point.at
            key = (at.get("particles", 0), at.get("scaled", False), at["cables"], at["ranks"])
            name = str(at.get("phase", str(point.quantity).removesuffix("_s")))
            sums.setdefault(key, {}).setdefault(name, []).extend(point.samples)
    means = Known()
    for key, parts in sums.items():
        means[key] = Known({name: 1e3 * sum(each) / len(each) for name, each in parts.items()})
    return means


def column(
    facts: pd.DataFrame, name: str, code: str, nodes: int = MOST_NODES, cables: int = 1
) -> Any:
    """A column by numbers of particles; LabError without."""
    asked = (facts["code"] == code) & (facts["nodes"] == nodes) & (facts["networks"] == cables)
    if not asked.any():
        raise LabError(f"The Record has no {code} on {nodes} nodes.", "Measure again.")
    return facts[asked].set_index("particles")[name]


LOST = {code: printed(code, column=f"{OVERHEAD}_percent") for code in (FIXED, SCALED, BODIES)}


def seen(says: str, of: Callable[[pd.DataFrame], Any], unit: str) -> Quantity:
    """One number of a gas, and the range of those of galaxies with three numbers of particles."""

    def span(facts: pd.DataFrame) -> Span:
        values = of(facts)
        return Span(float(values.min()), float(values.max()))

    return Quantity(f"{says}, {MOST_NODES} processors", span, unit)


def part(code: str, name: str) -> Quantity:
    """The share of a step's time that goes to a part of it, or the overhead of figure 4."""
    says = f"{name}, {code}"
    return seen(says, lambda facts: column(facts, f"{name}_percent", code), "% of the time")


def second(code: str, of: str = "step_ms") -> Quantity:
    """What a second network gains."""
    return seen(
        f"one network over two, {code}",
        lambda facts: column(facts, of, code) / column(facts, of, code, cables=2),
        TIMES,
    )


def claim(name: str, says: str, judge: Judge) -> Claim:
    """A claim that is open where galaxies of different numbers of particles say different things."""

    def judged(facts: pd.DataFrame) -> Judgement:
        made = judge(facts)
        is_open = made.outcome == "inconclusive"
        return replace(made, undecidable=UNKNOWN, advice=ADVICE) if is_open else made

    return Claim(name, says, judged)


def as_figure_3(name: str, code: str, says: str) -> Claim:
    """Whether a code makes about as many MFLOPS as the paper's."""
    mflops = seen(code, lambda facts: column(facts, "mflops", code), "MFLOPS")
    judge = mflops.within(*around(printed(code)))
    return claim(name, says.format(f"{printed(code):g}"), judge).at("figure 3")


def little_faster(name: str, code: str) -> Claim:
    """What 16 processors gain over 8."""
    times = seen(
        f"as fast as 8, {code}",
        lambda facts: column(facts, "speed_up", code) / column(facts, "speed_up", code, 8),
        TIMES,
    )
    says = f"{name}: 16 processors are only about 10 % faster than 8"
    return claim(f"{name}-doubling", says, times.within(1, MOST_MORE)).at("figure 3")


def sum_of(name: str, code: str, says: str) -> Claim:
    """A sum of the paper, done again with its own figures."""
    percent = 100 * (1 - printed(code) / printed(code, 1) / MOST_NODES)
    stated = LOST[code]

    def judge(facts: object) -> Judgement:
        evidence = (
            f"{printed(code):g} are {percent:.1f} % below {MOST_NODES} times {printed(code, 1):g}"
        )
        right = percent > stated if "more" in says else round(percent) == stated
        return computed(right, evidence, {"percent": percent})

    return Claim(name, says, judge, needs="nothing", place=SCALING, rests_on="arithmetic")


def picture(facts: pd.DataFrame) -> Figure:
    """Figures 3 and 4: MFLOPS and overhead by processors on one network, with the paper's points."""
    import pandas as pd

    from beowulf import figures

    one = facts[(facts["networks"] == 1) & facts["particles"].isin((0, PARTICLES[1]))]
    rows = one[["code", "nodes", "mflops", "overhead_percent"]]
    paper = pd.DataFrame(
        [
            {"code": f"{code}, paper", "nodes": nodes, "mflops": printed(code, nodes)}
            for code in (FIXED, SCALED, BODIES)
            for nodes in (1, MOST_NODES)
        ]
    )
    both = pd.concat([rows, paper], ignore_index=True)
    chart = partial(figures.lines, x="nodes", by="code", title="", x_title="processors")
    charts = {
        "speed": lambda axes: chart(both, y="mflops", y_title="MFLOPS", axes=axes),
        "overhead": lambda axes: chart(
            rows, y="overhead_percent", y_title="overhead (%)", axes=axes
        ),
    }
    return figures.one_below_another("Gas and galaxy on the simulated machine of 1995", charts)


STUDY = Study(
    id="C6",
    title="Speed-up and overhead of gas and galaxy on the simulated machine of 1995",
    plan=plan,
    facts=table,
    judged=[
        as_figure_3("gas-fixed", FIXED, "16 processors make {} MFLOPS with a gas of fixed size"),
        as_figure_3("gas-scaled", SCALED, "and {} with one that grows"),
        as_figure_3("galaxy", BODIES, "they make {} with a galaxy"),
        claim(
            "gas-fixed-overhead",
            "the overhead of the gas of fixed size is more than 60 %",
            part(FIXED, OVERHEAD) > LOST[FIXED],
        ).at("figure 4"),
        claim(
            "gas-scaled-overhead",
            "that of the gas that grows is 16 %",
            part(SCALED, OVERHEAD).within(*around(LOST[SCALED])),
        ).at(SCALING),
        claim(
            "galaxy-overhead",
            "that of the galaxy is more than 50 %",
            part(BODIES, OVERHEAD) > LOST[BODIES],
        ).at("figure 4"),
        little_faster("gas", FIXED),
        little_faster("galaxy", BODIES),
        claim(
            "gas-communicating",
            "communication takes about 1 % of the time of the gas",
            part(FIXED, "communicating") < MOST_COMMUNICATING,
        ).at(SCALING),
        claim(
            "second-gas",
            "a second network gains nothing for the gas",
            second(FIXED).within(1 / NOTHING, NOTHING),
        ).at(SCALING),
        claim(
            "second-galaxy",
            "it gains a few per cent for the galaxy",
            second(BODIES).within(1, LITTLE),
        ).at(SCALING),
        claim(
            "second-balancing",
            "it gains 50 % for the galaxy's load balancing",
            second(BODIES, "balancing_ms") > 1 + ENOUGH * (FASTER - 1),
        ).at(SCALING),
        sum_of("sum-scaled", SCALED, "62 MFLOPS are 16 % below the ideal"),
        sum_of("sum-fixed", FIXED, "31 MFLOPS are more than 60 % below the ideal"),
    ],
    draw=picture,
    simulates=True,
    timed=False,
    differs={
        "holds": (
            "A cable that all share and a millisecond of software a message lead to these figures, for the gas with 849"
            " operations a zone; with the paper's few thousand it does not come to them, so this is no proof of their"
            " cause."
        ),
        "contradicted": (
            "The paper's gas takes a few thousand operations a zone and ours 849, so that ours communicates more; and"
            " a routine that only begins a message stops its clock before the message has arrived; and our galaxy"
            " sends all particles to all."
        ),
        "inconclusive": "The paper does not print its number of particles, on which the answer depends.",
    },
)
