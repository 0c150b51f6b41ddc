"""Lab 02: points for what a learner read from their own A3, for rows of their own, and for the odd node."""

from __future__ import annotations

from functools import partial

from autograder.rubrics import facts_02
from autograder.rubrics.answers import given, is_near, word
from autograder.rubrics.questions import Scorer
from autograder.rubrics.record_facts import ByRecord, Facts, numbers, record_of, words
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission, is_number
from beowulf import papers
from beowulf.exercises.lab_02 import odd_node, own_rows

STUDY = "A3"
CABLES_MB_PER_S = {"10mbit": 1.25, "100mbit": 12.5, "1gbit": 125.0}


def caches(
    submission: Submission,
    facts: Facts,
    by: str,
    *,
    tolerance_percent: float,
    times_the_size: float,
) -> Score:
    """A point each for both load times, as median or best, and for the end of the first plateau."""
    right = 0
    for name in ("l1", "main_memory"):
        for value in (facts[f"{name}_ns"], facts[f"{name}_best_ns"]):
            if is_near(submission, f"{name}_ns", value, tolerance_percent / 100 * value):
                right += 1
                break
    end = submission.answers.get("l1_ends_at_kib")
    low, high = facts["ends_from_kib"], facts["ends_to_kib"]
    right += is_number(end) and low / times_the_size <= end <= high * times_the_size
    expected = (
        f"l1_ns: {facts['l1_ns']:.3g}, main_memory_ns: {facts['main_memory_ns']:.4g},"
        f" l1_ends_at_kib: {low:g}{f' to {high:g}' if high > low else ''}, or a size beside it (by {by})"
    )
    answered = given(submission, "l1_ns", "main_memory_ns", "l1_ends_at_kib")
    return Score(right, 3, answered, expected)


def extremes(submission: Submission, facts: Facts, by: str, *, times_the_extreme: float) -> Score:
    """A point each for a row that became faster by nearly the largest or the smallest factor."""
    most, least = max(facts.values()), min(facts.values())
    rows = {
        "most_faster_row": [n for n, times in facts.items() if times * times_the_extreme >= most],
        "least_faster_row": [n for n, times in facts.items() if times <= least * times_the_extreme],
    }
    right = sum(word(submission, name) in map(str.lower, near) for name, near in rows.items())
    expected = ", ".join(f"{name}: {' or '.join(near)}" for name, near in rows.items())
    return Score(right, 2, given(submission, *rows), f"{expected} (by {by})")


def prediction(
    submission: Submission, facts: Facts, by: str, *, tolerance_percent: float, cable_percent: float
) -> Score:
    """A point each for the latency, for what is read meanwhile, and for what a cable carries."""
    names = ("predicted_half_round_trip_us", "predicted_read_meanwhile_bytes")
    right = sum(is_near(submission, n, facts[n], tolerance_percent / 100 * facts[n]) for n in names)
    cable = CABLES_MB_PER_S.get(facts["rate"])
    answer = submission.answers.get("predicted_cable_mb_per_s")
    if cable is None:  # cables without a limit: any guess is as good
        right += is_number(answer) and answer > 0
    else:
        room = cable_percent / 100 * cable
        right += is_near(submission, "predicted_cable_mb_per_s", cable, room)
    expected = ", ".join(f"{name}: {facts[name]:.4g}" for name in names)
    expected += f", predicted_cable_mb_per_s: {cable or 'a number'} (by {by})"
    return Score(right, 3, given(submission, *names, "predicted_cable_mb_per_s"), expected)


def own(submission: Submission, facts: Facts, by: str) -> Score:
    """A point for each row that can be what its name says, and one for what both clocks show."""
    name = "library_clock_asks_the_kernel"
    right = sum(facts[row] == "right" for row in own_rows.YOURS)
    both = all(facts[row] == "right" for row in (own_rows.LIBRARY, own_rows.SYSTEM_CALL))
    right += both and word(submission, name) in str(facts[name]).split(" or ")
    rows = "; ".join(f"{row}: {facts[row]}" for row in own_rows.YOURS)
    expected = f"three rows, and {name}: {facts[name] or 'by both rows of the clock'} (by {by})"
    return Score(right, 4, f"{rows}; {given(submission, name)}", expected)


def paper_tables(submission: Submission) -> Score:
    """A point each for the rows of tables 1 and 2 in which Grendel is faster, and for the cache."""
    faster = {
        f"grendel_faster_in_table_{number}": sum(
            theirs > grendel for _, theirs, grendel in papers.table(f"A-table-{number}").to_numpy()
        )
        for number in (1, 2)
    }
    right = sum(is_near(submission, name, count, 0.0) for name, count in faster.items())
    name = "af_unix_is_fast_because_of"
    right += word(submission, name) == "cache"
    expected = ", ".join(f"{key}: {count}" for key, count in faster.items()) + f", {name}: cache"
    return Score(right, 3, given(submission, *faster, name), expected)


CALL, START = ("null_call_us", "null_calls_in_a_fork"), ("program_alone_us", "shell_alone_us")
TRIPS = ("tcp_full_us", "tcp_beside_mpi_us")
COPIES = ("hand_copied_mb_per_s", "hand_crossing_mb_per_s")
REREAD = words("faster_reread", "file_reread_also_does")
ODD = words("odd_one_out", "slow_rows_share")

SCORERS: dict[str, Scorer] = {
    "a3-record": partial(record_of, facts_02.whole, STUDY),
    "null-call": ByRecord(facts_02.calls, STUDY, numbers(*CALL)),
    "starting": ByRecord(facts_02.calls, STUDY, numbers(*START)),
    "round-trips": ByRecord(facts_02.messages, STUDY, numbers(*TRIPS)),
    "bytes-copied": ByRecord(facts_02.moved, STUDY, numbers(*COPIES)),
    "reread": ByRecord(facts_02.moved, STUDY, REREAD),
    "caches": ByRecord(facts_02.memory, STUDY, caches),
    "own-rows": ByRecord(facts_02.own, own_rows.STUDY, own, own_rows.VARIANT),
    "not-faster": ByRecord(facts_02.times_faster_by_row, STUDY, extremes),
    "paper-tables": paper_tables,
    "odd-node": ByRecord(facts_02.odd, odd_node.STUDY, ODD, odd_node.VARIANT),
    "prediction": ByRecord(facts_02.prediction, STUDY, prediction),
}
