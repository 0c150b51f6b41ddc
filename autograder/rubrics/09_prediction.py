"""Lab 09: points for a learner's calibration, for functions in C that are simulated once more, and for predictions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from autograder.rubrics import facts_09, own_plots
from autograder.rubrics.predictions import sealed
from autograder.rubrics.questions import Scorer
from autograder.rubrics.record_facts import ByRecord, near, numbers_and_words
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission
from beowulf.exercises.plot_reading import Wants
from beowulf.labs.lab_09 import scaling, stairs

SPEED_UPS = Wants(x="nodes", y="speed-up", log_x=True, log_y=True, lines=2, points=5)
ASKED = replace(stairs.BY_NAME["tree"], ranks=100, size_bytes=4096)


def step(name: str, submission: Submission, *, target_ms: float, half_ms: float) -> Score:
    """All points for a function that is right and meets its target, half for one that is near it."""
    expected = f"right, and at most {target_ms:g} ms of simulated time; half of the points to {half_ms:g} ms"
    sources = facts_09.steps_of(submission)
    if not sources:
        return Score(0, 2, submission.missing(stairs.STUDY, stairs.VARIANT), expected)
    return max(
        (_step(name, by, each, expected, target_ms, half_ms) for by, each in sources),
        key=lambda score: score.points,
    )


def _step(
    name: str,
    by: str,
    outcomes: dict[str, stairs.Outcome],
    expected: str,
    target_ms: float,
    half_ms: float,
) -> Score:
    function, outcome = stairs.BY_NAME[name].function, outcomes.get(name)
    if outcome is None or outcome.why:
        why = outcome.why if outcome else "it was not simulated"
        return Score(0, 2, f"{function} (source in {by}): {why}", expected)
    points = 2 if outcome.ms <= target_ms else 1 if outcome.ms <= half_ms else 0
    return Score(points, 2, f"{function} (source in {by}): right, {outcome.ms:.3f} ms", expected)


def bounds(submission: Submission, *, tolerance_percent: float) -> Score:
    """A point for the least time of a broadcast, one for the size whose bytes take as long as the latencies."""
    network = stairs.platform()
    least_ms, latencies_ms = (
        each.bound_ms(network) for each in (ASKED, replace(ASKED, size_bytes=0))
    )
    equal = ASKED.size_bytes * latencies_ms / (least_ms - latencies_ms)
    wanted = {"least_ms": least_ms, "equal_bytes": equal}
    return near(submission, wanted, "by both parts", tolerance_percent=tolerance_percent)


SCORERS: dict[str, Scorer] = {
    "predict-broadcast": sealed("broadcast"),
    "predict-plate": sealed("plate"),
    "calibration": ByRecord(
        facts_09.calibrated, "E1", numbers_and_words("alpha_us", "longest_us", "worst_percent")
    ),
    "lower-bound": bounds,
    **{name: partial(step, name) for name in ("tree", "ring", "pipelined", "reduce", "halo")},
    "scaling": ByRecord(
        facts_09.scaled,
        scaling.STUDY,
        numbers_and_words("speed_up_64", "speed_up_64_gigabit"),
        scaling.VARIANT,
    ),
    "memo-numbers": ByRecord(
        facts_09.memo,
        scaling.STUDY,
        numbers_and_words("memo_row_us", "memo_one_ms", "memo_own_ms", "memo_gigabit_ms"),
        scaling.VARIANT,
    ),
    "scaling-plot": own_plots.Plot(
        "scaling",
        SPEED_UPS,
        own_plots.of_records(scaling.STUDY, facts_09.speed_ups, variant=scaling.VARIANT),
    ),
}
