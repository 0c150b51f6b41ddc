"""Lab 03: points for the Records of A4 and E4, for what they show, and for the learner's own laws and counts."""

from __future__ import annotations

import math
from functools import partial
from statistics import median
from typing import Any

from autograder.rubrics.answers import given, is_near, word
from autograder.rubrics.questions import Scorer
from autograder.rubrics.record_facts import (
    MOST_POINTS,
    ByRecord,
    Facts,
    best_of_own,
    numbers,
    record_of,
)
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission, is_number
from beowulf import papers
from beowulf.errors import LabError
from beowulf.exercises.lab_03 import message_sizes, speedup_laws
from beowulf.record import Record
from beowulf.studies.lab_03 import a4_parallel_benchmarks as a4
from beowulf.suites import npb

RANKS = 4
CABLE_BYTES_PER_S = 12.5e6  # 100 Mbit/s, as in the notebook
TURNS = 7  # of FT's cube in its timed part, classes S, W and A
# NPB's table of sizes: EP's pairs, and FT's points.
EP_PAIRS = {"S": 2**24, "W": 2**25, "A": 2**28, "B": 2**30}
FT_POINTS = {"S": 64**3, "W": 128 * 128 * 32, "A": 256 * 256 * 128, "B": 512 * 256 * 256}
LU_SIDES = {"A": 64, "B": 102}


def ft_bytes(points: int) -> float:
    """What one of four ranks sends when FT's cube of numbers of 16 bytes is turned."""
    return 16 * points / RANKS * (RANKS - 1) / RANKS


def eight(record: Record) -> Facts:
    """What a Record of A4 shows of EP, FT and LU, and of the shares of all; LabError when one is missing or wrong."""
    table = a4.table(record).set_index("benchmark")
    read = table.drop(columns=["paper_mops", "grendel_mops"]).dropna().index
    if missing := [name for name in npb.BENCHMARKS if name not in read]:
        raise LabError(f"{', '.join(missing)} was not measured")
    if wrong := [str(name) for name, right in table["verified"].items() if not right]:
        raise LabError(f"{', '.join(wrong)} is not verified")
    rows: dict[str, dict[Any, Any]] = {
        str(row["benchmark"]): row for row in table.reset_index().to_dict("records")
    }
    ep, ft = rows["EP"], rows["FT"]
    workers = min(RANKS, int(record.circumstances["before"]["cores"]))
    turned = ft_bytes(FT_POINTS[ft["class"]])
    operations = 2.0 * EP_PAIRS[ep["class"]]
    shares = {str(name): float(share) for name, share in table["communication_percent"].items()}
    most = max(shares, key=lambda name: shares[name])
    return {
        "ep_operations": operations,
        "ep_mops": operations / float(ep["seconds_1"]) / 1e6,
        "ft_bytes": turned,
        "ep_predicted_s": float(ep["seconds_1"]) / workers,
        "ft_predicted_s": float(ft["seconds_1"]) / workers + TURNS * turned / CABLE_BYTES_PER_S,
        "ep_speed_up": float(ep["speed_up"]),
        "ft_speed_up": float(ft["speed_up"]),
        "ep_serial_share": float(ep["karp_flatt"]),
        "ft_serial_share": float(ft["karp_flatt"]),
        "largest_share_has": most,
        "largest_share_percent": shares[most],
        "lu_send_bytes": _bytes_a_call(record, "LU", "MPI_Send"),
        "ft_alltoall_bytes": _bytes_a_call(record, "FT", "MPI_Alltoall"),
    }


def _bytes_a_call(record: Record, benchmark: str, call: str) -> float:
    calls = a4.calls(record)
    row = calls[(calls["benchmark"] == benchmark) & (calls["call"] == call)].iloc[0]
    return float(row["bytes"]) / float(row["calls"])


def challenge(record: Record) -> Facts:
    """What a Record of E4 shows of HPL and DGEMM."""
    hpl, dgemm = (_result(record, name) for name in ("hpl_gflops", "dgemm_gflops"))
    ranks = int(record.select(result="hpl_gflops")[0].at["ranks"])
    return {"hpl_percent_of_dgemm": 100 * hpl / (ranks * dgemm)}


def _result(record: Record, name: str) -> float:
    samples = [value for point in record.select(result=name) for value in point.samples]
    if not samples:
        raise LabError(f"{name} was not measured")
    return median(samples)


def shares(submission: Submission, facts: Facts, by: str, *, tolerance_percent: float) -> Score:
    """A point each for which benchmark has the largest share of MPI, and for how much that is."""
    name, percent = "largest_share_has", "largest_share_percent"
    right = [
        word(submission, name) == str(facts[name]).lower(),
        is_near(submission, percent, facts[percent], tolerance_percent / 100 * facts[percent]),
    ]
    expected = f"{name}: {facts[name]}, {percent}: {facts[percent]:.1f} (by {by})"
    return Score(sum(right), 2, given(submission, name, percent), expected)


def by_hand(wanted: dict[str, float], submission: Submission, *, tolerance_percent: float) -> Score:
    """The same points for each answer that is the number that follows from what is published."""
    share = tolerance_percent / 100
    right = sum(is_near(submission, name, value, share * value) for name, value in wanted.items())
    expected = ", ".join(f"{name}: {value:.6g}" for name, value in wanted.items())
    return Score(right, len(wanted), given(submission, *wanted), expected)


def wrong_seed(submission: Submission) -> Score:
    """No check passes, and the program ends with 1: both, or nothing."""
    names = ("checks_that_pass", "wrong_seed_exit_code")
    right = all(is_near(submission, n, v, 0.0) for n, v in zip(names, (0, 1), strict=True))
    expected = "checks_that_pass: 0, wrong_seed_exit_code: 1"
    return Score(1 if right else 0, 1, given(submission, *names), expected)


def kernel_word(submission: Submission) -> Score:
    """What a kernel is in NPB."""
    right = word(submission, "kernel_means") == "core of a computation"
    expected = "core of a computation: the loops in which a large program spends its time"
    return Score(1 if right else 0, 1, given(submission, "kernel_means"), expected)


def own_laws(submission: Submission) -> Score:
    """A point for each law that gave the right number each time, by the best of the learner's Records."""
    expected = f"the functions of laws.py give {', '.join(speedup_laws.OURS)}"
    return best_of_own(speedup_laws.STUDY, speedup_laws.VARIANT, expected, _laws, submission)


def _laws(record: Record, expected: str) -> Score:
    results, points = [], 0
    for name, point in {p.at.get("law"): p for p in record.points[:MOST_POINTS]}.items():
        if name not in speedup_laws.OURS:
            continue
        # The right results are computed again from the arguments: the Record is not trusted.
        pairs = list(zip(point.facts["asked"], point.facts["yours"], strict=True))
        right = sum(speedup_laws.is_right(name, *pair) for pair in pairs)
        points += len(pairs) >= speedup_laws.TIMES and right == len(pairs)
        results.append(f"{name}: {right} of {len(pairs)} right")
    return Score(points, 3, f"{record.file_name}: {'; '.join(results) or 'no laws'}", expected)


def own_counts(submission: Submission) -> Score:
    """A point for each count of messages that is ours, by the best of the learner's Records."""
    expected = f"sizes.c counts {', '.join(message_sizes.COUNTS)}"
    return best_of_own(message_sizes.STUDY, message_sizes.VARIANT, expected, _counts, submission)


def _counts(record: Record, expected: str) -> Score:
    results, points = [], 0
    for name, point in {p.at.get("count"): p for p in record.points[:MOST_POINTS]}.items():
        yours, ours = point.facts.get("yours"), point.facts.get("ours")
        if name not in message_sizes.COUNTS or not (is_number(yours) and is_number(ours)):
            continue
        right = yours == ours and not math.isnan(ours)
        points += right
        results.append(f"{name}: {yours:,.0f}, {'right' if right else f'ours is {ours:,.0f}'}")
    return Score(points, 3, f"{record.file_name}: {'; '.join(results) or 'no counts'}", expected)


def lu_operations(side: int) -> float:
    """LU's published operations a step, for a cube with so many points along an axis."""
    return 1984.77 * side**3 - 10923.3 * side**2 + 27770.9 * side - 144010


def _printed_ft_mops() -> float:
    rows = papers.table("A-table-5").to_dict("records")
    return next(float(row["this_cluster_mops"]) for row in rows if row["benchmark"] == "FT")


FT_A_MILLIONS = 7137  # by the published formula, as the notebook gives it
OPERATIONS = {"lu_b_over_a": lu_operations(LU_SIDES["B"]) / lu_operations(LU_SIDES["A"])}
CABLE_BOUND = {
    "ft_paper_s": FT_A_MILLIONS / _printed_ft_mops(),
    "ft_cable_s": TURNS * ft_bytes(FT_POINTS["A"]) / CABLE_BYTES_PER_S,
}
# Paper E, section 4.2.
HPL_SIZE = {"hpl_processes": 15.0 * 16, "hpl_matrix_gb": 8 * 37326**2 / 1e9}
HPL_RATIO = {"hpl_times_the_performance": 1 / (1 - 0.56)}


def _of_a4(*names: str) -> Scorer:
    """For numbers that follow from the learner's own A4."""
    return ByRecord(eight, "A4", numbers(*names))


SCORERS: dict[str, Scorer] = {
    "a4-record": partial(record_of, eight, "A4"),
    "ep-count": _of_a4("ep_operations", "ep_mops"),
    "ft-bytes": _of_a4("ft_bytes"),
    "predict": _of_a4("ep_predicted_s", "ft_predicted_s"),
    "speed-up": _of_a4("ep_speed_up", "ft_speed_up"),
    "karp-flatt": _of_a4("ep_serial_share", "ft_serial_share"),
    "shares": ByRecord(eight, "A4", shares),
    "message-length": _of_a4("lu_send_bytes", "ft_alltoall_bytes"),
    "wrong-seed": wrong_seed,
    "laws": own_laws,
    "sizes": own_counts,
    "kernel-word": kernel_word,
    "operations": partial(by_hand, OPERATIONS),
    "cable-bound": partial(by_hand, CABLE_BOUND),
    "e4-record": partial(record_of, challenge, "E4"),
    "hpl-percent": ByRecord(challenge, "E4", numbers("hpl_percent_of_dgemm")),
    "hpl-size": partial(by_hand, HPL_SIZE),
    "hpl-ratio": partial(by_hand, HPL_RATIO),
}
