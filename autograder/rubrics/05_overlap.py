"""Lab 05: points for the Records of D1 to D5, for what they show, and for the learner's own exchange."""

from __future__ import annotations

from functools import partial

from autograder.rubrics.answers import given, is_near, word
from autograder.rubrics.questions import Scorer
from autograder.rubrics.record_facts import ByRecord, Facts, read_records, record_of
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission
from beowulf import papers
from beowulf.errors import LabError
from beowulf.exercises.lab_05 import exchange
from beowulf.record import Record
from beowulf.studies.lab_05 import d1_synchronisation as d1
from beowulf.studies.lab_05 import d2_message_size_sweep as d2
from beowulf.studies.lab_05 import d3_message_and_workload as d3
from beowulf.studies.lab_05 import d4_both_sides as d4
from beowulf.studies.lab_05 import d5_improvement as d5
from beowulf.studies.lab_05.d5_improvement import improvement_percent
from beowulf.studies.lab_05.overlap import KB, ONE_USER, SOLARIS, TESTED

QUIET = "Close what else runs on the machine and measure it again."
# Nothing makes messages and work, one after the other, so much longer than the sum of both.
MOST_OF_THE_SUM = 1.5
# A full Record of D4 has 64,000; far more would only take the grader's time.
MOST_SAMPLES = 200_000
SUPPORT_CASES = {
    "one_user_39_kb": ONE_USER,
    "solaris_39_kb": SOLARIS,
    "one_user_test_39_kb": TESTED,
}
SIDES = ("last_by_itself_kb", "first_that_waits_kb")
LOST_GAIN = {"plain_percent": ONE_USER, "tested_percent": TESTED}
OF_RATIOS = "{}, median of ratios"


def supports(record: Record) -> Facts:
    """What a Record of D1 shows in the three cases that are asked for."""
    _refuse_huge(record)
    return {
        name: d1.support(d1.places(record, way, d1.LARGE, "delay"))
        for name, way in SUPPORT_CASES.items()
    }


def jump(record: Record) -> Facts:
    """The sizes on either side of the jump in a Record of D2; none where it does not show one."""
    _refuse_huge(record)
    sizes = d2.step(d2.shares(record, ONE_USER))
    return {name: size / KB for name, size in zip(SIDES, sizes, strict=True)} if sizes else {}


def one_sided(record: Record) -> Facts:
    """Equation 1 for the medians of a Record of D3 at 65 KB."""
    _refuse_huge(record)
    middle = d3.operations(record, ONE_USER, 65 * KB).median()
    separate = float(middle["message"] + middle["work"])
    return {"d3_percent": improvement_percent(float(middle["both"]), separate)}


def both_sides(record: Record) -> Facts:
    """The gains in a Record of D4 by size and rank."""
    _refuse_huge(record)
    return {
        f"{size} bytes, rank {rank}": d4.gain(record, ONE_USER, size, rank).percent
        for size in d4.SIZES
        for rank in (0, 1)
    }


def lost_gains(record: Record) -> Facts:
    """Equation 1 at 70 KB without and with MPI_Test in a Record of D5: of the medians, and the median of the ratios."""
    _refuse_huge(record)
    facts: Facts = {}
    for name, way in LOST_GAIN.items():
        table = d5.exchanges(record, way)
        slower = table[table["size_bytes"] == 70 * KB].groupby(["launch", "pass"]).max()
        middle = slower.median()
        facts[name] = improvement_percent(float(middle["during"]), float(middle["before"]))
        facts[OF_RATIOS.format(name)] = d5.gains(record, way)[70 * KB].percent
    return facts


def own_exchange(record: Record) -> Facts:
    """What a Record of the learner's own exchange gains, and whether the two that are compared are similar."""
    _refuse_huge(record)
    gain, middle = exchange.gain(record), exchange.passes(record).median()
    separate = float(middle["comm"] + middle["comp"])
    return {
        "high": gain.high,
        "says": gain.says,
        "alike": bool(middle["before"] <= MOST_OF_THE_SUM * separate),
    }


def _refuse_huge(record: Record) -> None:
    if sum(len(point.samples) for point in record.points) > MOST_SAMPLES:
        raise LabError(f"it has more than {MOST_SAMPLES:,} samples")


def support(submission: Submission, facts: Facts, by: str) -> Score:
    """A point for each of three cases that are as in the learner's own Record."""
    right = sum(word(submission, name) == facts[name] for name in SUPPORT_CASES)
    expected = ", ".join(f"{name}: {fact}" for name, fact in facts.items())
    if "unclear" in facts.values():
        expected += f"; what is unclear earns nothing. {QUIET}"
    return Score(right, 3, given(submission, *SUPPORT_CASES), f"{expected} (by {by})")


def eager_limit(submission: Submission, facts: Facts, by: str) -> Score:
    """A point for the size on either side of the jump in the learner's own sweep."""
    if not facts:
        return Score(0, 2, f"{by} does not show one jump.", QUIET)
    right = sum(facts[name] > 0 and is_near(submission, name, facts[name], 0.0) for name in SIDES)
    last, first = (facts[name] for name in SIDES)
    expected = f"between {last:g} and {first:g} KB, the step of the sweep (by {by})"
    return Score(right, 2, given(submission, *SIDES), expected)


def d3_percent(submission: Submission, facts: Facts, by: str, *, tolerance: float) -> Score:
    """The learner's equation 1 for their own Record at 65 KB, with its sign."""
    name, wanted = "d3_percent", facts["d3_percent"]
    right = is_near(submission, name, wanted, tolerance)
    expected = f"{wanted:+.2f} %, within {tolerance:g} points (by {by})"
    if not right and is_near(submission, name, -wanted, tolerance):
        expected += (
            "; by equation 1 a time that grows has a positive sign, one that shrinks a negative"
        )
    return Score(int(right), 1, given(submission, name), expected)


def lost_gain(submission: Submission, facts: Facts, by: str, *, tolerance: float) -> Score:
    """A point each for equation 1 at 70 KB without and with MPI_Test."""
    points = sum(
        any(
            is_near(submission, name, facts[each], tolerance)
            for each in (name, OF_RATIOS.format(name))
        )
        for name in LOST_GAIN
    )
    expected = ", ".join(f"{name}: {facts[name]:+.1f} %" for name in LOST_GAIN)
    expected += f", within {tolerance:g} point (by {by})"
    return Score(points, 2, given(submission, *LOST_GAIN), expected)


def table_9_minimum(submission: Submission, *, tolerance: float) -> Score:
    """Equation 1 for the minima of the paper's table 9."""
    printed = papers.table("D-two-way-overlap")
    row = printed[(printed["table"] == 9) & (printed["statistic"] == "min")].iloc[0]
    wanted = improvement_percent(float(row["during_s"]), float(row["before_s"]))
    name = "table_9_minimum_percent"
    right = is_near(submission, name, wanted, tolerance)
    return Score(int(right), 1, given(submission, name), f"{wanted:+.2f} %")


def misprint(submission: Submission) -> Score:
    """The column of table 8 whose header is wrong: its average is the sum of the two before it."""
    right = word(submission, "misprinted_column") == "nonoverlap"
    expected = "nonoverlap: 8.05E-04 is 3.90E-04 (message) + 4.15E-04 (workload)"
    return Score(1 if right else 0, 1, given(submission, "misprinted_column"), expected)


def exchange_record(submission: Submission) -> Score:
    """All points for a Record of the learner's own exchange; the program refuses to make a wrong one."""
    readings, why = read_records(own_exchange, exchange.STUDY, exchange.VARIANT, submission)
    if not readings:
        return Score(0, 1, why, "A whole Record of your own exchange.c.")
    return Score(1, 1, f"{readings[0][1]}: right data, all work done.")


def exchange_gain(
    submission: Submission, facts: Facts, by: str, *, clear_gain_percent: float
) -> Score:
    """All points for a clear gain, half for a certain one."""
    expected = f"{clear_gain_percent:g} % or less by equation 1, the whole interval"
    if not facts["alike"]:
        why = "one after the other takes far longer than the messages and the work together"
        return Score(0, 1, f"{by}: {why}.", f"{expected}. {QUIET}")
    points = 1 if facts["high"] <= clear_gain_percent else 0.5 if facts["high"] < 0 else 0
    return Score(points, 1, f"{by}: {facts['says']}", expected)


SCORERS: dict[str, Scorer] = {
    "d1-record": partial(record_of, supports, "D1"),
    "d1-support": ByRecord(supports, "D1", support),
    "d2-record": partial(record_of, jump, "D2"),
    "eager-limit": ByRecord(jump, "D2", eager_limit),
    "d3-percent": ByRecord(one_sided, "D3", d3_percent),
    "d4-record": partial(record_of, both_sides, "D4"),
    "d5-record": partial(record_of, lost_gains, "D5"),
    "lost-gain": ByRecord(lost_gains, "D5", lost_gain),
    "table-9-minimum": table_9_minimum,
    "misprint": misprint,
    "exchange-record": exchange_record,
    "exchange-gain": ByRecord(own_exchange, exchange.STUDY, exchange_gain, exchange.VARIANT),
}
