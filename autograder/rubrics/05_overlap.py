"""Lab 05: points for the Records of D1 to D5, for what they show, and for the learner's own exchange."""

from __future__ import annotations

from functools import partial

from autograder.rubrics import Question, ask
from autograder.rubrics.answers import given, is_near, word
from autograder.rubrics.record_facts import Facts, Judge, Tell, best, record_of, told
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

HANDOUT = "labs/05-overlap/README.md"
QUIET = "Close what else runs on the machine and measure it again."
# Medians are shown with about three digits, which moves a percentage of two nearly equal times by less.
ROUNDING_POINTS = 0.5
# A learner divides medians; the study takes the median of ratios. Either is right, with this much room.
LOST_GAIN_POINTS = 1.0
# A perfect exchange gains 40 %, the one that is handed out 0 % with a noise of some per cent.
GAIN_PERCENT = -15.0
# Nothing makes messages and work, one after the other, so much longer than the sum of both.
MOST_OF_THE_SUM = 1.5
# A full Record of D4 has 64,000; far more would only keep the grader busy.
MOST_SAMPLES = 200_000
SUPPORT_CASES = {
    "one_user_39_kb": ONE_USER,
    "solaris_39_kb": SOLARIS,
    "one_user_test_39_kb": TESTED,
}
SIDES = ("last_by_itself_kb", "first_that_waits_kb")
LOST_GAIN = {"plain_percent": ONE_USER, "tested_percent": TESTED}
OF_RATIOS = "{}, median of ratios"


def score(submission: Submission) -> dict[str, Score]:
    """The Score of every question that is not graded by hand; `explain` is."""
    return ask(QUESTIONS, submission)


def supports(record: Record) -> Facts:
    """What a Record of D1 shows in the three cases that are asked for."""
    _refuse_huge(record)
    return {
        name: d1.support(d1.places(record, way, d1.LARGE, "delay"))
        for name, way in SUPPORT_CASES.items()
    }


def jump(record: Record) -> Facts:
    """The sizes on either side of the jump in a Record of D2; nothing where it does not show one."""
    _refuse_huge(record)
    found = d2.step(d2.shares(record, ONE_USER))
    return {name: size / KB for name, size in zip(SIDES, found, strict=True)} if found else {}


def one_sided(record: Record) -> Facts:
    """Equation 1 for the medians of a Record of D3 at 65 KB."""
    _refuse_huge(record)
    middle = d3.operations(record, ONE_USER, 65 * KB).median()
    apart = float(middle["message"] + middle["work"])
    return {"d3_percent": improvement_percent(float(middle["both"]), apart)}


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
        found = d5.exchanges(record, way)
        slower = found[found["size_bytes"] == 70 * KB].groupby(["launch", "pass"]).max()
        middle = slower.median()
        facts[name] = improvement_percent(float(middle["during"]), float(middle["before"]))
        facts[OF_RATIOS.format(name)] = d5.gains(record, way)[70 * KB].percent
    return facts


def own_exchange(record: Record) -> Facts:
    """What a Record of the learner's own exchange gains, and whether the two that are compared are alike."""
    _refuse_huge(record)
    gain, middle = exchange.gain(record), exchange.passes(record).median()
    apart = float(middle["comm"] + middle["comp"])
    return {
        "high": gain.high,
        "says": gain.says,
        "alike": bool(middle["before"] <= MOST_OF_THE_SUM * apart),
    }


def _refuse_huge(record: Record) -> None:
    if sum(len(point.samples) for point in record.points) > MOST_SAMPLES:
        raise LabError(f"it has more than {MOST_SAMPLES:,} samples")


def support(submission: Submission, found: Facts, by: str) -> Score:
    """A point for each of three cases that the learner's own Record shows as they say."""
    right = sum(word(submission, name) == found[name] for name in SUPPORT_CASES)
    expected = ", ".join(f"{name}: {seen}" for name, seen in found.items())
    if "unclear" in found.values():
        expected += f"; what is unclear earns nothing. {QUIET}"
    return Score(right, 3, given(submission, *SUPPORT_CASES), f"{expected} (by {by})")


def eager_limit(submission: Submission, found: Facts, by: str) -> Score:
    """A point for the size on either side of the jump in the learner's own sweep."""
    if not found:
        return Score(0, 2, f"{by} does not show one jump.", QUIET)
    right = sum(found[name] > 0 and is_near(submission, name, found[name], 0.0) for name in SIDES)
    last, first = (found[name] for name in SIDES)
    expected = f"between {last:g} and {first:g} KB, the step of the sweep (by {by})"
    return Score(right, 2, given(submission, *SIDES), expected)


def d3_percent(submission: Submission, found: Facts, by: str) -> Score:
    """The learner's equation 1 for their own Record at 65 KB, with its sign."""
    name, wanted = "d3_percent", found["d3_percent"]
    right = is_near(submission, name, wanted, ROUNDING_POINTS)
    expected = f"{wanted:+.2f} %, within {ROUNDING_POINTS:g} points (by {by})"
    if not right and is_near(submission, name, -wanted, ROUNDING_POINTS):
        expected += (
            "; by equation 1 a time that grows has a positive sign, one that shrinks a negative"
        )
    return Score(2 if right else 0, 2, given(submission, name), expected)


def lost_gain(submission: Submission, found: Facts, by: str) -> Score:
    """A point each for equation 1 at 70 KB without and with MPI_Test."""
    points = sum(
        any(
            is_near(submission, name, found[each], LOST_GAIN_POINTS)
            for each in (name, OF_RATIOS.format(name))
        )
        for name in LOST_GAIN
    )
    expected = ", ".join(f"{name}: {found[name]:+.1f} %" for name in LOST_GAIN)
    expected += f", within {LOST_GAIN_POINTS:g} point (by {by})"
    return Score(points, 2, given(submission, *LOST_GAIN), expected)


def table_9_minimum(submission: Submission) -> Score:
    """Equation 1 for the minima of the paper's table 9."""
    printed = papers.table("D-two-way-overlap")
    row = printed[(printed["table"] == 9) & (printed["statistic"] == "min")].iloc[0]
    wanted = improvement_percent(float(row["during_s"]), float(row["before_s"]))
    name = "table_9_minimum_percent"
    right = is_near(submission, name, wanted, 0.05)  # the minima are printed with three digits
    return Score(1 if right else 0, 1, given(submission, name), f"{wanted:+.2f} %")


def misprint(submission: Submission) -> Score:
    """The column of table 8 whose header is wrong: its average is the sum of the two before it."""
    right = word(submission, "misprinted_column") == "nonoverlap"
    expected = "nonoverlap: 8.05E-04 is 3.90E-04 (message) + 4.15E-04 (workload)"
    return Score(1 if right else 0, 1, given(submission, "misprinted_column"), expected)


def exchange_record(submission: Submission) -> Score:
    """2 points for a Record of the learner's own exchange; the program refuses to make a wrong one."""
    found, why = told(own_exchange, exchange.STUDY, exchange.VARIANT, submission)
    if not found:
        return Score(0, 2, why, "A whole Record of your own exchange.c.")
    return Score(2, 2, f"{found[0][1]}: right data, all work done.")


def exchange_gain(submission: Submission, found: Facts, by: str) -> Score:
    """4 points for a clear gain, 2 for a certain one."""
    expected = f"{GAIN_PERCENT:g} % or less by equation 1, the whole interval"
    if not found["alike"]:
        why = "one after the other takes far longer than the messages and the work together"
        return Score(0, 4, f"{by}: {why}.", f"{expected}. {QUIET}")
    points = 4 if found["high"] <= GAIN_PERCENT else 2 if found["high"] < 0 else 0
    return Score(points, 4, f"{by}: {found['says']}", expected)


def _read(
    of: float, section: str, tell: Tell, judge: Judge, study: str, variant: str = ""
) -> Question:
    """A question for what the learner's own Records tell; the one that fits best counts."""
    return Question(of, f"{HANDOUT}, {section}", partial(best, tell, study, variant, of, judge))


def _whole(study: str, section: str, tell: Tell) -> Question:
    """A question for a whole Record of a study."""
    return Question(1, f"{HANDOUT}, {section}", partial(record_of, tell, study))


BYTES, LIMIT, GAIN = "Who moves the bytes?", "Do: find the limit", "Do: is there a gain?"
SIGN, PAPER = "Do: equation 1 and its sign", "Compare with paper D"
OWN = "Exercise: an exchange that overlaps"

# The handout's section that answers a question, by its heading.
QUESTIONS = {
    "d1-record": _whole("D1", BYTES, supports),
    "d1-support": _read(3, BYTES, supports, support, "D1"),
    "d2-record": _whole("D2", LIMIT, jump),
    "eager-limit": _read(2, LIMIT, jump, eager_limit, "D2"),
    "d3-percent": _read(2, GAIN, one_sided, d3_percent, "D3"),
    "d4-record": _whole("D4", GAIN, both_sides),
    "d5-record": _whole("D5", SIGN, lost_gains),
    "lost-gain": _read(2, SIGN, lost_gains, lost_gain, "D5"),
    "table-9-minimum": Question(1, f"{HANDOUT}, {PAPER}", table_9_minimum),
    "misprint": Question(1, f"{HANDOUT}, {PAPER}", misprint),
    "exchange-record": Question(2, f"{HANDOUT}, {OWN}", exchange_record),
    "exchange-gain": _read(4, OWN, own_exchange, exchange_gain, exchange.STUDY, exchange.VARIANT),
}
