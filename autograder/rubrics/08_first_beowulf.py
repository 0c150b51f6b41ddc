"""Lab 08: points for tokens on two networks, for a learner's own exchange and partition, and for what 1995 shows."""

from __future__ import annotations

from functools import partial

from autograder.rubrics import facts_08
from autograder.rubrics.predictions import sealed
from autograder.rubrics.questions import Scorer
from autograder.rubrics.record_facts import (
    ByRecord,
    best_of_own,
    near,
    numbers_and_words,
    record_of,
)
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission
from beowulf.exercises import gas
from beowulf.labs.lab_08 import first_beowulf, galaxy
from beowulf.record import Record

# Of paper C: 62 and 31 MFLOPS on 16 processors, each of which makes 4.5 alone.
IDEAL_MFLOPS = 16 * 4.5
SLIPS = {
    "below_percent": 100 * (1 - 62 / IDEAL_MFLOPS),
    "overhead_percent": 100 * (1 - 31 / IDEAL_MFLOPS),
}


def ghosts(record: Record, expected: str) -> Score:
    """All points for an exchange that is right, with the same bits on four ranks as on one."""
    why = facts_08.exchange_fault(record)
    found = f"{record.file_name}: {gas.FUNCTION}: {why or 'right'}."
    return Score(0 if why else 1, 1, found, expected)


def partition(submission: Submission, *, most_balance: float, half_balance: float) -> Score:
    """All points for a partition that balances well, half for one that is near."""

    def judge(record: Record, expected: str) -> Score:
        facts = galaxy.function(record)
        if facts.get("right") is not True:
            why = facts.get("why") or "it was not tried"
            return Score(0, 2, f"{record.file_name}: {why}", expected)
        found = float(facts["balance"])
        points = 2 if found <= most_balance else 1 if found <= half_balance else 0
        says = f"{record.file_name}: the rank with most interactions has {found:.3f} times the mean"
        return Score(points, 2, says, expected)

    expected = f"at most {most_balance:g} times the mean; half of the points to {half_balance:g}"
    return best_of_own(galaxy.STUDY, galaxy.VARIANT, expected, judge, submission)


def slips(submission: Submission, *, tolerance: float) -> Score:
    """A point for each of two sums of the paper, done again."""
    return near(submission, SLIPS, "in %", tolerance=tolerance)


SCORERS: dict[str, Scorer] = {
    "predict-second": sealed("second"),
    "predict-speed-up": sealed("speed-up"),
    "c1-record": partial(record_of, facts_08.two_networks, "C1"),
    "saturation": ByRecord(
        facts_08.two_networks, "C1", numbers_and_words("saturated_one_bytes", "saturated_two_bytes")
    ),
    "second-network": ByRecord(
        facts_08.two_networks, "C1", numbers_and_words("gain_8192", "gain_256")
    ),
    "barrier": ByRecord(facts_08.barriers, "C7", numbers_and_words("round_us", "other_barrier_us")),
    "ghosts": partial(
        best_of_own,
        gas.STUDY,
        gas.VARIANT,
        f"A function {gas.FUNCTION} that fills every ghost zone; the same bits on one rank and on {gas.RANKS}.",
        ghosts,
    ),
    "parts": ByRecord(
        facts_08.without_a_part,
        gas.STUDY,
        numbers_and_words("no_communicating_times", "no_computing_times"),
        gas.VARIANT,
    ),
    "speed-up": ByRecord(
        facts_08.held_back,
        first_beowulf.STUDY,
        numbers_and_words("overhead_one_percent", "cable_percent"),
        first_beowulf.VARIANT,
    ),
    "galaxy": partition,
    "slips": slips,
}
