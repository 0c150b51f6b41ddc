"""Lab 03's Records as nobody measured them: eight benchmarks, hpcc, laws and counts."""

from __future__ import annotations

import random
from typing import Any

from beowulf.exercises.lab_03 import message_sizes, speedup_laws
from beowulf.record import Point, Record
from tests.gold.measured import LABEL, WHEN

SLUG = "03-parallel-benchmarks"
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
RIGHT: dict[str, Any] = {
    "ep_operations": 2 * 16_777_216,
    "ep_mops": 167.8,
    "ft_bytes": 786_432,
    "ep_predicted_s": 0.1,
    "ft_predicted_s": 0.02 + 7 * 786_432 / 12.5e6,
    "ep_speed_up": 2.0,
    "ft_speed_up": 0.05,
    "ep_serial_share": 1 / 3,
    "ft_serial_share": 26.3,
    "largest_share_has": "IS",
    "largest_share_percent": 98.0,
    "lu_send_bytes": 240,
    "ft_alltoall_bytes": 786_432,
    "checks_that_pass": 0,
    "wrong_seed_exit_code": 1,
    "lu_b_over_a": 4.18,
    "kernel_means": "core of a computation",
    "ft_paper_s": 7137 / 5.45,
    "ft_cable_s": 14.1,
    "hpl_percent_of_dgemm": 12.5,
    "hpl_processes": 240,
    "hpl_matrix_gb": 11.1,
    "hpl_times_the_performance": 2.27,
}


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
    before = {"cores": cores, "load_1min": 0.1}
    return record("A4", points, circumstances={"before": before, "after": before})


def profile(rank: int, seconds: float, share: float) -> dict[str, Any]:
    """What a rank prints; every benchmark has the calls of LU and of FT, only two are asked for."""
    inside = seconds * share
    calls = {
        "MPI_Send": {"count": 1000, "seconds": inside / 2, "bytes": 240_000},
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


def record(study: str, points: list[Point], **changes: Any) -> Record:
    """A Record of lab 03."""
    return Record(study, points=points, warnings=[LABEL], learner="a test", **{**WHEN, **changes})


def records() -> list[Record]:
    """Every Record that a whole hand-in of lab 03 has."""
    return [eight(), suite(), asked(), counted()]
