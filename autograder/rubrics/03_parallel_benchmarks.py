"""Lab 03: points for a learner's own plate on four nodes, its plot, laws and counts, and for what A4 and E4 show."""

from __future__ import annotations

import math
from functools import partial

from autograder.rubrics import facts_03, heat, own_plots
from autograder.rubrics.facts_03 import BY_THE_PIECE, COUNTS, PLATE
from autograder.rubrics.predictions import sealed
from autograder.rubrics.questions import Scorer
from autograder.rubrics.record_facts import (
    ByRecord,
    Facts,
    best_of_own,
    near,
    numbers_and_words,
    record_of,
)
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission, is_number
from beowulf import papers
from beowulf.exercises.plot_reading import Wants
from beowulf.labs.lab_03 import by_lot, message_sizes, mg_timeline, speedup_laws
from beowulf.labs.lab_03.parallel_tables import RANKS
from beowulf.record import Record

# As the notebook asks for it.
SPEED_UP = Wants(x="number of ranks", y="times as fast as one rank", lines=3, points=4, intervals=2)
SHARES = {f"serial_share_{ranks}": ranks for ranks in (COUNTS[0], RANKS)}


def karp_flatt(
    submission: Submission, facts: Facts, by: str, *, tolerance: float, tolerance_percent: float
) -> Score:
    """A point each for the serial share on two ranks and on four, of the plate that is the learner's."""
    rows = by_lot.plate_rows(submission.code)
    wanted = {
        name: facts_03.both_ways(facts, f"share of {rows} rows on {ranks}")
        for name, ranks in SHARES.items()
    }
    where = f"for the plate of {rows} rows, by {by}"
    return near(submission, wanted, where, tolerance, tolerance_percent)


def cores_bound(
    submission: Submission, facts: Facts, by: str, *, tolerance_percent: float
) -> Score:
    """A point each for how many workers there are, and for the share of them that the large plate uses."""
    most = facts["most_times"]
    ways = facts_03.both_ways(facts, f"{by_lot.USUAL_PLATE} rows on {RANKS}")
    reached = tuple(100 * times / most for times in ways)
    wanted = {"most_times": most, "reached_percent": reached}
    return near(submission, wanted, f"by {by}", tolerance_percent=tolerance_percent)


def shares(submission: Submission, facts: Facts, by: str, *, tolerance_percent: float) -> Score:
    """A point each for which benchmark has the largest share of MPI, and for what that leaves to compute."""
    name, left = "largest_share_has", "computing_s"
    wanted = {name: str(facts[name]).lower(), left: facts[left]}
    return near(submission, wanted, f"by {by}", tolerance_percent=tolerance_percent)


def message_length(
    submission: Submission, facts: Facts, by: str, *, tolerance_percent: float
) -> Score:
    """A point each for the length of a message of the benchmark that is the learner's, and for what it is paid by."""
    sender = by_lot.sender(submission.code)
    size = facts[f"bytes a call of {sender}"]
    paid = "piece" if size < BY_THE_PIECE else "byte"
    wanted = {"bytes_a_call": size, "paid_by": paid}
    where = f"{sender}'s {by_lot.CALLS[sender]}, by {by}"
    return near(submission, wanted, where, tolerance_percent=tolerance_percent)


def by_hand(wanted: dict[str, float], submission: Submission, *, tolerance_percent: float) -> Score:
    """The same points for each answer that is the number that follows from what is published."""
    return near(submission, wanted, "from what is published", tolerance_percent=tolerance_percent)


def laws(record: Record, expected: str) -> Score:
    """A point for each law that gave the right number each time."""
    results, points = [], 0
    for name, point in {p.at.get("law"): p for p in record.points}.items():
        if name not in speedup_laws.OURS:
            continue
        # The right results are computed again from the arguments: the Record is not trusted.
        pairs = list(zip(point.facts["asked"], point.facts["yours"], strict=True))
        right = sum(speedup_laws.is_right(name, *pair) for pair in pairs)
        points += len(pairs) >= speedup_laws.TIMES and right == len(pairs)
        results.append(f"{name}: {right} of {len(pairs)} right")
    return Score(points, 3, f"{record.file_name}: {'; '.join(results) or 'no laws'}", expected)


def counts(record: Record, expected: str) -> Score:
    """A point for each count of messages that is ours."""
    results, points = [], 0
    for name, point in {p.at.get("count"): p for p in record.points}.items():
        yours, ours = point.facts.get("yours"), point.facts.get("ours")
        if name not in message_sizes.COUNTS or not (is_number(yours) and is_number(ours)):
            continue
        right = yours == ours and not math.isnan(ours)
        points += right
        results.append(f"{name}: {yours:,.0f}, {'right' if right else f'ours is {ours:,.0f}'}")
    return Score(points, 3, f"{record.file_name}: {'; '.join(results) or 'no counts'}", expected)


FT_A_MILLIONS = 7136  # by the published formula, as the notebook gives it
CABLE_BOUND = {
    "ft_paper_s": FT_A_MILLIONS / papers.figure("A-table-5", "this_cluster_mops", benchmark="FT"),
    "ft_cable_s": facts_03.TURNS
    * facts_03.ft_bytes(facts_03.FT_POINTS["A"])
    / facts_03.CABLE_BYTES_PER_S,
}
# Paper E, section 4.2.
PAPER_HPL = {
    "hpl_matrix_gb": 8 * 37326**2 / 1e9,
    "hpl_times_the_performance": 1 / (1 - 0.56),
}


SCORERS: dict[str, Scorer] = {
    "predict-speed-up": sealed("speed-up"),
    "predict-small": sealed("speed-up-small"),
    "heat-run": heat.right(PLATE, {"my_rows": 2, "run": 3}),
    "speed-up-plot": own_plots.Plot(
        "speed-up",
        SPEED_UP,
        own_plots.of_records(PLATE, *(partial(facts_03.speed_up_curves, way) for way in (0, 1))),
    ),
    "laws": partial(
        best_of_own,
        speedup_laws.STUDY,
        speedup_laws.VARIANT,
        f"the functions of laws.py give {', '.join(speedup_laws.OURS)}",
        laws,
    ),
    "karp-flatt": ByRecord(facts_03.plate, PLATE, karp_flatt),
    "cores-bound": ByRecord(facts_03.plate, PLATE, cores_bound),
    "predict-ft": sealed("ft"),
    "a4-record": partial(record_of, facts_03.eight, "A4"),
    "ep-count": ByRecord(facts_03.eight, "A4", numbers_and_words("ep_mops")),
    "four-from-one": ByRecord(
        facts_03.eight, "A4", numbers_and_words("ep_predicted_s", "ft_predicted_s")
    ),
    "shares": ByRecord(facts_03.eight, "A4", shares),
    "message-length": ByRecord(facts_03.eight, "A4", message_length),
    "sizes": partial(
        best_of_own,
        message_sizes.STUDY,
        message_sizes.VARIANT,
        f"sizes.c counts {', '.join(message_sizes.COUNTS)}",
        counts,
    ),
    "timeline": ByRecord(
        facts_03.on_a_timeline,
        mg_timeline.STUDY,
        numbers_and_words("mg_wait_call", "mg_wait_for_rank", "mg_wait_ms", "mg_most"),
    ),
    "e4-record": partial(record_of, facts_03.challenge, "E4"),
    "hpl-percent": ByRecord(facts_03.challenge, "E4", numbers_and_words("hpl_percent_of_dgemm")),
    "paper-hpl": partial(by_hand, PAPER_HPL),
    "cable-bound": partial(by_hand, CABLE_BOUND),
}
