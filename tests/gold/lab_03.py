"""Lab 03's Records as nobody measured them: a plate on four nodes, eight benchmarks, hpcc, laws and counts."""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import partial
from typing import Any

from beowulf.labs.lab_03 import message_sizes, speedup_laws
from beowulf.record import Point, Record
from tests import heat_records
from tests.gold import measured
from tests.gold.case import worth
from tests.gold.hand_in import plain_answers

SLUG = "03-parallel-benchmarks"
record, sealed = measured.record, partial(measured.sealed, 3)
# By benchmark: seconds on one rank and on four, and the share of MPI.
TIMES = {
    "EP": (0.2, 0.1, 0.1),
    "IS": (0.002, 0.05, 0.98),
    "CG": (0.02, 0.4, 0.96),
    "MG": (0.001, 0.03, 0.95),
    "FT": (0.04, 0.8, 0.97),
    "LU": (0.01, 0.1, 0.9),
    "SP": (0.02, 0.3, 0.92),
    "BT": (0.04, 0.2, 0.91),
}
# The plate by its rows: how many times as fast as one rank 1 to 4 ranks are.
SPEED_UPS = {1200: (1.0, 1.6, 1.75, 1.8), 400: (1.0, 0.8, 0.6, 0.5)}
STEP_S = {1200: 8e-3, 400: 6e-4}  # on one rank
RIGHT: dict[str, Any] = plain_answers(SLUG) | {
    "serial_share_2": (1 / 1.6 - 1 / 2) / (1 - 1 / 2),
    "serial_share_4": (1 / 1.8 - 1 / 4) / (1 - 1 / 4),
    "most_times": 2,
    "reached_percent": 90.0,
    "ep_mops": 167.8,
    "ep_predicted_s": 0.1,
    "ft_predicted_s": 0.02 + 7 * 786_432 / 12.5e6,
    "largest_share_has": "IS",
    "computing_s": 0.001,
    "bytes_a_call": 240,
    "paid_by": "piece",
    "mg_wait_call": "MPI_Wait",
    "mg_wait_for_rank": 2,
    "mg_wait_ms": 1.5,
    "mg_most": "computing",
    "hpl_percent_of_dgemm": 12.5,
    "hpl_matrix_gb": 11.1,
    "hpl_times_the_performance": 2.27,
    "ft_paper_s": 7136 / 5.45,
    "ft_cable_s": 14.1,
}

WORTH = worth(SLUG)
# What needs no answer.
MEASURED = worth(
    SLUG,
    *("predict-speed-up", "predict-small", "predict-ft", "a4-record", "e4-record"),
    *("heat-run", "speed-up-plot", "laws", "sizes"),
)


def on_one_machine(cores: int) -> dict[str, Any]:
    """What a Record has of a machine of so many cores."""
    before = {"cores": cores, "load_1min": 0.1}
    circumstances = {"before": before, "after": before}
    return {"cluster": {"kind": "namespaces"}, "circumstances": circumstances}


def plate(
    faults: Mapping[str, str] | None = None,
    sources: Mapping[str, str] | None = None,
    cores: int = 2,
    **changes: Any,
) -> Record:
    """An H3 of both plates; `faults` has why a function is not right, `sources` another text of it."""
    wrong = faults or {}
    points = [
        heat_records.function(name, wrong.get(name, ""), (sources or {}).get(name))
        for name in ("my_rows", "run")
    ]
    for rows, times in SPEED_UPS.items():
        for ranks, factor in enumerate(times, 1):
            if not wrong:
                at = {"way": "run", "ranks": ranks, "rows": rows, "columns": rows}
                points += heat_records.samples("step_s", STEP_S[rows] / factor, **at)
    return record("H3", points, **{**on_one_machine(cores), **changes})


def drawn(kind: str = "errorbar", **other: Any) -> Record:
    #     """A learner's plot of both plates, and the line for a program that loses nothing."""
    curves = {f"{rows} x {rows}": times for rows, times in SPEED_UPS.items()}
    curves["nothing lost"] = (1.0, 2.0, 3.0, 4.0)
    lines = {name: dict(enumerate(curve, 1)) for name, curve in curves.items()}
    labels = {"x_label": "ranks", "y_label": "times as fast as one rank", "bands": 0}
    return measured.plot("F3", "speed-up", lines, kind, **{**labels, **other})


def eight(cores: int = 2, letter: str = "S", verified: bool = True, **changes: Any) -> Record:
    """An A4 of all eight, in one launch, with a profile; `changes` take the place of TIMES."""
    points = []
    for name, (one, four, share) in {**TIMES, **changes}.items():
        for ranks, profiled in ((1, False), (4, False), (4, True)):
            seconds = one if ranks == 1 else four
            at = {"benchmark": name, "class": letter, "profiled": profiled, "ranks": ranks}
            facts: dict[str, Any] = {"mops": [1 / seconds], "verified": [verified]}
            if profiled:
                facts["profile"] = [[profile(rank, seconds, share) for rank in range(4)]]
            points.append(Point({**at, "launch": 0}, "duration_s", [seconds], facts))
    return record("A4", points, **on_one_machine(cores))


def profile(rank: int, seconds: float, share: float) -> dict[str, Any]:
    """What a rank prints; every benchmark has the calls of all."""
    inside = seconds * share
    calls = {
        "MPI_Send": {"count": 1000, "seconds": inside / 4, "bytes": 240_000},
        "MPI_Sendrecv": {"count": 100, "seconds": inside / 4, "bytes": 560_000},
        "MPI_Alltoall": {"count": 7, "seconds": inside / 2, "bytes": 7 * 786_432},
    }
    return {"rank": rank, "seconds": seconds, "communicating_s": inside, "calls": calls}


def suite(hpl: float = 1.0, dgemm: float = 2.0) -> Record:
    """An E4 of two figures, with the whole seconds that its sections took: none for a short one."""
    at = {"state": "as found", "ranks": 4, "launch": 0}
    figures = {"hpl_gflops": hpl, "dgemm_gflops": dgemm}
    points = [Point({"result": name, **at}, name, [value]) for name, value in figures.items()]
    sections = {"HPL": 12.0, "SingleDGEMM": 0.0}
    points += [Point({"section": name, **at}, "section_s", [s]) for name, s in sections.items()]
    return record("E4", points)


def asked(**wrong: float) -> Record:
    """A Record of laws that are right, but for one answer of each that is named."""
    points = []
    for name, law in speedup_laws.OURS.items():
        questions = [
            speedup_laws.drawn(name, random.Random(number)) for number in range(speedup_laws.TIMES)
        ]
        answers = [law(*question) for question in questions]
        if name in wrong:
            answers[-1] = wrong[name]
        facts = {"asked": questions, "yours": answers, "why": ""}
        points.append(Point({"law": name}, facts=facts))
    return record(speedup_laws.STUDY, points, variant=speedup_laws.VARIANT)


def counted(**yours: float) -> Record:
    """Counts of messages, ours but for those that are named."""
    ours = {"one_packet": 760.0, "several_packets": 408.0, "bytes": 1_783_552.0}
    points = [
        Point({"count": name}, facts={"yours": yours.get(name, value), "ours": value})
        for name, value in ours.items()
    ]
    return record(message_sizes.STUDY, points, variant=message_sizes.VARIANT)


def mg() -> Record:
    """A T3: rank 1 waits the longest, for rank 2, and computing takes the most time."""
    waits = [(1, "MPI_Wait", "late sender", 2, 1.5), (0, "MPI_Send", "late receiver", 1, 0.4)]
    return record("T3", heat_records.run_on_a_timeline("MG", waits))


def records() -> list[Record]:
    """Every Record that a whole hand-in of lab 03 has."""
    return [
        sealed("speed-up", 2, 1, 4, "H3"),
        sealed("speed-up-small", 1, 0.2, 2, "H3"),
        plate(),
        drawn(),
        asked(),
        sealed("ft", 0.5, 0.02, 1, "A4"),
        eight(),
        counted(),
        mg(),
        suite(),
    ]
