"""Lab 05: points for a learner's own steps, exchange and plot, and for what the Records of D1, D2 and D5 show."""

from __future__ import annotations

from functools import partial

from autograder.rubrics import facts_05, heat, own_plots
from autograder.rubrics.answers import given, is_near
from autograder.rubrics.facts_05 import LOST_GAIN, OF_RATIOS, OF_SUM, SIDES
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
from autograder.rubrics.submission import Submission
from beowulf import papers
from beowulf.exercises.heat import program, reading, timelines
from beowulf.exercises.plot_reading import Wants
from beowulf.labs.lab_05 import by_lot, exchange, own_step
from beowulf.measure.improvement import improvement_percent
from beowulf.record import Record

QUIET = "Close whatever else is running on the machine and measure it again."
# As the notebook asks for it.
GAIN = Wants(x="row in bytes", y="change in %", lines=3, points=4)
MOVERS = {"row_of_64000": "kernel", "row_of_160000": "nobody", "row_of_160000_test": "library"}


def support(submission: Submission, facts: Facts, by: str) -> Score:
    """A point for each of three cases that are as in the learner's own Record."""
    unclear = f"; what is unclear earns nothing. {QUIET}" if "unclear" in facts.values() else ""
    return near(submission, facts, f"by {by}{unclear}")


def own(language: str, right: float, submission: Submission, *, clear_gain_percent: float) -> Score:
    """`right` points for a step of the learner's own that is right, one more where it clearly gains."""
    name = own_step.FUNCTIONS[language]

    def judge(record: Record, expected: str) -> Score:
        why = _fault(record, name)
        facts = {} if why else facts_05.own_step_gain(record)
        if facts and not facts["possible"]:
            why = "your step takes less than its messages by themselves, so some of it was left out"
        if why:
            return Score(0, right + 1, f"{record.file_name}: {name}: {why}.", expected)
        clear = facts["alike"] and facts["high"] <= clear_gain_percent
        found = f"{record.file_name}: {name} is right; {facts['says']}"
        return Score(right + clear, right + 1, found, expected)

    expected = (
        f"A function {name} of your own that is right; for all points the whole interval of its gain is"
        f" at {clear_gain_percent:g} % or less."
    )
    return best_of_own(own_step.STUDY, language, expected, judge, submission)


def _fault(record: Record, name: str) -> str:
    """Why a Record shows no right function of the learner's own; empty where it does."""
    if not record.complete:
        return "the measurement was cut short"
    facts = reading.functions(record).get(name, {})
    if facts.get("right") is not True:
        return str(facts.get("why") or "it was not tried")
    if not program.is_own(name, str(facts.get("source", ""))):
        return "it is not your own"
    return reading.not_asked(record, name)


def who_progresses(submission: Submission) -> Score:
    """A point for each of three rows; which is the same for everybody with the library as it comes."""
    return near(submission, MOVERS, "with the library as it comes")


def gain_bound(submission: Submission, facts: Facts, by: str, *, tolerance: float) -> Score:
    """A point each for equation 1 and the bound of the learner's own step with the longest rows."""
    wanted = {
        "gain_percent": (facts["gain_percent"], facts[OF_RATIOS.format("gain_percent")]),
        "bound_percent": (facts["bound_percent"], facts[OF_SUM]),
    }
    return near(submission, wanted, f"within {tolerance:g} points, by {by}", tolerance=tolerance)


def eager_limit(submission: Submission, facts: Facts, by: str) -> Score:
    """A point for the size on either side of the jump in the learner's own sweep, for the limit that is theirs."""
    limit = by_lot.limit_kb(submission.code)
    sides = {name: facts_05.side(name, limit) for name in SIDES}
    if not set(sides.values()) <= set(facts):
        return Score(0, 2, f"{by} does not show exactly one jump with limit {limit} KB.", QUIET)
    right = sum(
        facts[key] > 0 and is_near(submission, name, facts[key], 0.0) for name, key in sides.items()
    )
    last, first = (facts[key] for key in sides.values())
    step = f"between {last:g} and {first:g} KB, the step of the sweep (by {by})"
    return Score(right, 2, given(submission, *SIDES), f"limit {limit} KB: {step}")


def lost_gain(submission: Submission, facts: Facts, by: str, *, tolerance: float) -> Score:
    """A point each for equation 1 at 70 KB without and with MPI_Test."""
    wanted = {name: (facts[name], facts[OF_RATIOS.format(name)]) for name in LOST_GAIN}
    return near(submission, wanted, f"within {tolerance:g} point, by {by}", tolerance=tolerance)


def own_exchange(
    submission: Submission,
    facts: Facts,
    by: str,
    *,
    clear_gain_percent: float,
    least_gain_percent: float,
) -> Score:
    """All points for a clear gain, half for a certain one; the program refuses to measure a wrong exchange."""
    expected = f"{clear_gain_percent:g} % or less by equation 1, the whole interval"
    why = "your exchange takes less than its messages by themselves, so some of it was left out"
    if not facts["alike"]:
        why = "one after the other takes far longer than the messages and the work together."
        why = f"{why} {QUIET}"
    if not (facts["alike"] and facts["possible"]):
        return Score(0, 1, f"{by}: {why}", expected)
    high = facts["high"]
    points = 1 if high <= clear_gain_percent else 0.5 if high <= least_gain_percent else 0
    uncertain = "" if points else f"; the whole interval has to show a gain. {QUIET}"
    return Score(points, 1, f"{by}: {facts['says']}{uncertain}", expected)


def table_minima(submission: Submission, *, tolerance: float) -> Score:
    """Equation 1 for the minima of one of the paper's tables 9 to 12."""
    number = by_lot.table_number(submission.code)
    wanted = {"table_minima_percent": of_minima(number)}
    return near(submission, wanted, f"for table {number}", tolerance=tolerance)


def of_minima(number: int) -> float:
    """Equation 1 for the minima of this table."""
    printed = papers.table("D-two-way-overlap")
    row = printed[(printed["table"] == number) & (printed["statistic"] == "min")].iloc[0]
    return improvement_percent(float(row["during_s"]), float(row["before_s"]))


SCORERS: dict[str, Scorer] = {
    "predict-arrival": sealed("arrival"),
    "predict-gain": sealed("gain"),
    "d1-record": partial(record_of, facts_05.supports, "D1"),
    "d1-support": ByRecord(facts_05.supports, "D1", support),
    "overlap-python": partial(own, "python", 3),
    "timeline": ByRecord(
        heat.overlap_timeline,
        timelines.OVERLAPPED,
        numbers_and_words("short_wait_ms", "long_wait_ms", "long_reason"),
    ),
    "who-progresses": who_progresses,
    "gain-bound": ByRecord(facts_05.tested_gain, own_step.STUDY, gain_bound, "python"),
    "gain-plot": own_plots.Plot("gain", GAIN, facts_05.gain_curves),
    "overlap-c": partial(own, "c", 2),
    "d2-record": partial(record_of, facts_05.jumps, "D2"),
    "eager-limit": ByRecord(facts_05.jumps, "D2", eager_limit),
    "lost-gain": ByRecord(facts_05.lost_gains, "D5", lost_gain),
    "exchange": ByRecord(facts_05.own_exchange, exchange.STUDY, own_exchange, exchange.VARIANT),
    "table-minima": table_minima,
}
