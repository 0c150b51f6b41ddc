"""Lab 05: points for the Records of D1 to D5, for what they show, and for the learner's own exchange."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from autograder.rubrics import Question, ask
from autograder.score import Score
from autograder.submission import Submission, is_number
from beowulf import papers
from beowulf.errors import LabError
from beowulf.exercises import exchange
from beowulf.record import Record
from beowulf.studies import d1_synchronisation as d1
from beowulf.studies import d2_message_size_sweep as d2
from beowulf.studies import d3_message_and_workload as d3
from beowulf.studies import d4_both_sides as d4
from beowulf.studies import d5_improvement as d5
from beowulf.studies.d5_improvement import improvement_percent
from beowulf.studies.overlap import KB, ONE_USER, SOLARIS, TESTED, Way

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
MOST_RECORDS = 20  # of one study, the newest
SUPPORT_CASES = {
    "one_user_39_kb": ONE_USER,
    "solaris_39_kb": SOLARIS,
    "one_user_test_39_kb": TESTED,
}


Percents = dict[str, tuple[float, float]]
# A submission, one of its Records, and what that Record tells.
Judge = Callable[[Submission, Record, Any], Score]


def score(submission: Submission) -> dict[str, Score]:
    """The Score of every question that is not graded by hand; `explain` is."""
    return ask(QUESTIONS, submission)


def _supports(record: Record) -> dict[str, str]:
    return {
        name: d1.support(d1.places(record, way, d1.LARGE, "delay"))
        for name, way in SUPPORT_CASES.items()
    }


def _jump(record: Record) -> tuple[int, int] | None:
    return d2.step(d2.shares(record, ONE_USER))


def _d4_gains(record: Record) -> list[float]:
    return [d4.gain(record, ONE_USER, size, rank).percent for size in d4.SIZES for rank in (0, 1)]


def _one_sided_percent(record: Record) -> float:
    middle = d3.operations(record, ONE_USER, 65 * KB).median()
    return improvement_percent(float(middle["both"]), float(middle["message"] + middle["work"]))


def _both_percents(record: Record) -> Percents:
    """Equation 1 at 70 KB without and with MPI_Test: of the medians, and the median of the ratios."""
    return {name: _percents(record, way) for name, way in LOST_GAIN.items()}


def _percents(record: Record, way: Way) -> tuple[float, float]:
    found = d5.exchanges(record, way)
    slower = found[found["size_bytes"] == 70 * KB].groupby(["launch", "pass"]).max()
    middle = slower.median()
    of_medians = improvement_percent(float(middle["during"]), float(middle["before"]))
    return of_medians, d5.gains(record, way)[70 * KB].percent


LOST_GAIN = {"plain_percent": ONE_USER, "tested_percent": TESTED}

# What a Record of each study has to tell.
TELLS: dict[str, Callable[[Record], object]] = {
    "D1": _supports,
    "D2": _jump,
    "D3": _one_sided_percent,
    "D4": _d4_gains,
    "D5": _both_percents,
}


def record_of(study: str, submission: Submission) -> Score:
    """1 point for a whole Record of a study that has what the study looks at."""
    told, why = _told(study, submission)
    if not told:
        return Score(0, 1, why, f"A whole Record {study}. `beowulf study {study} --quick`.")
    return Score(1, 1, f"{told[0][0].file_name} is whole.")


def best(study: str, of: float, judge: Judge, submission: Submission) -> Score:
    """The Score of an answer against the Record that it fits best: a learner may have measured again since."""
    told, why = _told(study, submission)
    if not told:
        return Score(0, of, why, f"A whole Record {study}.")
    return max((judge(submission, *each) for each in told), key=lambda score: score.points)


def support(submission: Submission, record: Record, found: dict[str, str]) -> Score:
    """A point for each of three cases that the learner's own Record shows as they say."""
    right = [name for name in SUPPORT_CASES if _word(submission, name) == found[name]]
    expected = ", ".join(f"{name}: {seen}" for name, seen in found.items())
    if "unclear" in found.values():
        expected += f"; what is unclear earns nothing. {QUIET}"
    return Score(len(right), 3, _given(submission, *SUPPORT_CASES), f"{expected} {_by(record)}")


def eager_limit(submission: Submission, record: Record, found: tuple[int, int] | None) -> Score:
    """A point for the size on either side of the jump in the learner's own sweep."""
    if found is None:
        return Score(0, 2, f"{record.file_name} does not show one jump.", QUIET)
    names = ("last_by_itself_kb", "first_that_waits_kb")
    points = 0
    for name, size in zip(names, found, strict=True):
        answer = submission.answers.get(name)
        points += size > 0 and is_number(answer) and answer == size / KB
    expected = f"between {found[0] / KB:g} and {found[1] / KB:g} KB, the step of the sweep"
    return Score(points, 2, _given(submission, *names), f"{expected} {_by(record)}")


def one_sided(submission: Submission, record: Record, found: float) -> Score:
    """Equation 1 for the medians of the learner's own Record at 65 KB."""
    right = _near(submission, "d3_percent", [found], ROUNDING_POINTS)
    expected = f"{found:+.2f} %, within {ROUNDING_POINTS:g} points {_by(record)}"
    if not right and _near(submission, "d3_percent", [-found], ROUNDING_POINTS):
        expected += (
            "; by equation 1 a time that grows has a positive sign, one that shrinks a negative"
        )
    return Score(2 if right else 0, 2, _given(submission, "d3_percent"), expected)


def lost_gain(submission: Submission, record: Record, found: Percents) -> Score:
    """A point each for equation 1 at 70 KB without and with MPI_Test."""
    points = sum(_near(submission, name, found[name], LOST_GAIN_POINTS) for name in LOST_GAIN)
    expected = ", ".join(f"{name}: {found[name][0]:+.1f} %" for name in LOST_GAIN)
    expected += f", within {LOST_GAIN_POINTS:g} point {_by(record)}"
    return Score(points, 2, _given(submission, *LOST_GAIN), expected)


def table_9_minimum(submission: Submission) -> Score:
    """Equation 1 for the minima of the paper's table 9."""
    printed = papers.table("D-two-way-overlap")
    row = printed[(printed["table"] == 9) & (printed["statistic"] == "min")].iloc[0]
    wanted = improvement_percent(float(row["during_s"]), float(row["before_s"]))
    name = "table_9_minimum_percent"
    right = _near(submission, name, [wanted], 0.05)  # the minima are printed with three digits
    return Score(1 if right else 0, 1, _given(submission, name), f"{wanted:+.2f} %")


def misprint(submission: Submission) -> Score:
    """The column of table 8 whose header is wrong: its average is the sum of the two before it."""
    right = _word(submission, "misprinted_column") == "nonoverlap"
    expected = "nonoverlap: 8.05E-04 is 3.90E-04 (message) + 4.15E-04 (workload)"
    return Score(1 if right else 0, 1, _given(submission, "misprinted_column"), expected)


def exchange_record(submission: Submission) -> Score:
    """2 points for a Record of the learner's own exchange; the program refuses to make a wrong one."""
    found = _exchanges(submission)
    if not found:
        return Score(0, 2, _no_exchange(submission), "A whole Record of your own exchange.c.")
    return Score(2, 2, f"{found[0].file_name}: right data, all work done.")


def exchange_gain(submission: Submission) -> Score:
    """4 points for a clear gain, 2 for a certain one, by the best of the learner's Records."""
    expected = f"{GAIN_PERCENT:g} % or less by equation 1, the whole interval"
    found = _exchanges(submission)
    if not found:
        return Score(0, 4, _no_exchange(submission), expected)
    record = min(found, key=lambda each: exchange.gain(each).high)
    gain, middle = exchange.gain(record), exchange.passes(record).median()
    if middle["before"] > MOST_OF_THE_SUM * (middle["comm"] + middle["comp"]):
        why = "one after the other takes far longer than the messages and the work together"
        return Score(0, 4, f"{record.file_name}: {why}.", f"{expected}. {QUIET}")
    points = 4 if gain.high <= GAIN_PERCENT else 2 if gain.high < 0 else 0
    return Score(points, 4, f"{record.file_name}: {gain.says}", expected)


# The handout's section that answers a question, by its heading.
QUESTIONS = {
    "d1-record": Question(1, f"{HANDOUT}, Who moves the bytes?", partial(record_of, "D1")),
    "d1-support": Question(3, f"{HANDOUT}, Who moves the bytes?", partial(best, "D1", 3, support)),
    "d2-record": Question(1, f"{HANDOUT}, Do: find the limit", partial(record_of, "D2")),
    "eager-limit": Question(
        2, f"{HANDOUT}, Do: find the limit", partial(best, "D2", 2, eager_limit)
    ),
    "d3-percent": Question(
        2, f"{HANDOUT}, Do: is there a gain?", partial(best, "D3", 2, one_sided)
    ),
    "d4-record": Question(1, f"{HANDOUT}, Do: is there a gain?", partial(record_of, "D4")),
    "d5-record": Question(1, f"{HANDOUT}, Do: equation 1 and its sign", partial(record_of, "D5")),
    "lost-gain": Question(
        2, f"{HANDOUT}, Do: equation 1 and its sign", partial(best, "D5", 2, lost_gain)
    ),
    "table-9-minimum": Question(1, f"{HANDOUT}, Compare with paper D", table_9_minimum),
    "misprint": Question(1, f"{HANDOUT}, Compare with paper D", misprint),
    "exchange-record": Question(
        2, f"{HANDOUT}, Exercise: an exchange that overlaps", exchange_record
    ),
    "exchange-gain": Question(4, f"{HANDOUT}, Exercise: an exchange that overlaps", exchange_gain),
}


def _told(study: str, submission: Submission) -> tuple[list[tuple[Record, Any]], str]:
    """The newest whole Records of a study with what each tells, and why others are none."""
    return submission.once(study, lambda: _read(study, submission))


def _read(study: str, submission: Submission) -> tuple[list[tuple[Record, Any]], str]:
    found = submission.measured(study)
    if not found:
        return [], submission.missing(study)
    told, said = [], ""
    for record in found[:MOST_RECORDS]:
        try:
            _refuse_huge(record)
            seen = TELLS[study](record)
            why = "" if record.complete else "it was cut short"
        except (LabError, LookupError, TypeError, ValueError, AttributeError) as problem:
            seen, why = None, f"something is missing in it ({_first(problem)})"
        if why:
            said = said or f"{record.file_name}: {why}."
        else:
            told.append((record, seen))
    return told, said


def _refuse_huge(record: Record) -> None:
    if sum(len(point.samples) for point in record.points) > MOST_SAMPLES:
        raise LabError(f"it has more than {MOST_SAMPLES:,} samples")


def _by(record: Record) -> str:
    return f"(by {record.file_name})"


def _first(problem: Exception) -> str:
    return problem.what if isinstance(problem, LabError) else f"{type(problem).__name__}: {problem}"


def _exchanges(submission: Submission) -> list[Record]:
    """The whole Records of the learner's own exchange, the newest first."""
    found = []
    for record in submission.measured(exchange.STUDY, exchange.VARIANT)[:MOST_RECORDS]:
        try:
            _refuse_huge(record)
            exchange.gain(record)
        except (LabError, LookupError, TypeError, ValueError, AttributeError):
            continue
        if record.complete:
            found.append(record)
    return found


def _no_exchange(submission: Submission) -> str:
    if submission.measured(exchange.STUDY, exchange.VARIANT):
        return "The Record of your own exchange is not whole."
    return submission.missing(exchange.STUDY, exchange.VARIANT)


def _near(submission: Submission, name: str, wanted: Any, room: float) -> bool:
    answer = submission.answers.get(name)
    return is_number(answer) and any(abs(answer - each) <= room for each in wanted)


def _given(submission: Submission, *names: str) -> str:
    """The learner's answers as they wrote them, or why there are none."""
    return ", ".join(f"{name} = {submission.given(name)}" for name in names)


def _word(submission: Submission, name: str) -> str:
    answer = submission.answers.get(name)
    return " ".join(answer.lower().split()) if isinstance(answer, str) else ""
