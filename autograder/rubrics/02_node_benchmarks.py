"""Lab 02: points for what a learner read off their own A3, for rows of their own, and for the odd node."""

from __future__ import annotations

from functools import partial

from autograder.rubrics import Question, ask, facts_02
from autograder.rubrics.answers import given, is_near, word
from autograder.rubrics.record_facts import Facts, Judge, Tell, best, numbers, record_of, words
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission, is_number
from beowulf import papers
from beowulf.exercises.lab_02 import odd_node, own_rows

HANDOUT = "labs/02-node-benchmarks/README.md"
STUDY = "A3"
# A table shows six digits; who rounds to two of them is not wrong.
READ_OFF = 0.05
# From one size of memory.c to the next it is half an octave: the eye may end a plateau one size on.
ONE_SIZE = 1.6
CABLES_MB_PER_S = {"10mbit": 1.25, "100mbit": 12.5, "1gbit": 125.0}


def score(submission: Submission) -> dict[str, Score]:
    """The Score of every question that is not graded by hand; `explain` is."""
    return ask(QUESTIONS, submission)


def caches(submission: Submission, found: Facts, by: str) -> Score:
    """A point each for both load times, as median or best, and for the end of the first plateau."""
    right = 0
    for name in ("l1", "main_memory"):
        for value in (found[f"{name}_ns"], found[f"{name}_best_ns"]):
            if is_near(submission, f"{name}_ns", value, READ_OFF * value):
                right += 1
                break
    end = submission.answers.get("l1_ends_at_kib")
    low, high = found["ends_from_kib"], found["ends_to_kib"]
    right += is_number(end) and low / ONE_SIZE <= end <= high * ONE_SIZE
    expected = (
        f"l1_ns: {found['l1_ns']:.3g}, main_memory_ns: {found['main_memory_ns']:.4g},"
        f" l1_ends_at_kib: {low:g}{f' to {high:g}' if high > low else ''}, or a size beside it (by {by})"
    )
    said = given(submission, "l1_ns", "main_memory_ns", "l1_ends_at_kib")
    return Score(right, 3, said, expected)


def extremes(submission: Submission, found: Facts, by: str) -> Score:
    """A point each for a row that became faster by nearly the largest or the smallest factor."""
    names = ("most_faster_row", "least_faster_row")
    known = {name: [row.lower() for row in str(found[name]).split(" | ")] for name in names}
    right = sum(word(submission, name) in known[name] for name in names)
    expected = ", ".join(f"{name}: {found[name].replace(' | ', ' or ')}" for name in names)
    return Score(right, 2, given(submission, *names), f"{expected} (by {by})")


def prediction(submission: Submission, found: Facts, by: str) -> Score:
    """A point each for the latency, for what is read meanwhile, and for what a cable carries."""
    names = ("predicted_half_round_trip_us", "predicted_read_meanwhile_bytes")
    right = sum(is_near(submission, n, found[n], READ_OFF * found[n]) for n in names)
    cable = CABLES_MB_PER_S.get(found["rate"])
    answer = submission.answers.get("predicted_cable_mb_per_s")
    if cable is None:  # cables without a limit: any guess is as good
        right += is_number(answer) and answer > 0
    else:
        right += is_near(submission, "predicted_cable_mb_per_s", cable, 0.01 * cable)
    expected = ", ".join(f"{name}: {found[name]:.4g}" for name in names)
    expected += f", predicted_cable_mb_per_s: {cable or 'a number'} (by {by})"
    return Score(right, 3, given(submission, *names, "predicted_cable_mb_per_s"), expected)


def own(submission: Submission, found: Facts, by: str) -> Score:
    """A point for each row that can be what it says, and one for what both clocks tell."""
    name = "library_clock_asks_the_kernel"
    right = sum(found[row] == "right" for row in own_rows.YOURS)
    both = all(found[row] == "right" for row in (own_rows.LIBRARY, own_rows.SYSTEM_CALL))
    right += both and word(submission, name) in str(found[name]).split(" or ")
    said = "; ".join(f"{row}: {found[row]}" for row in own_rows.YOURS)
    expected = f"three rows, and {name}: {found[name] or 'by both rows of the clock'} (by {by})"
    return Score(right, 4, f"{said}; {given(submission, name)}", expected)


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


def _read(
    of: float, section: str, tell: Tell, judge: Judge, study: str = STUDY, variant: str = ""
) -> Question:
    """A question for what the learner's own Records tell; the one that fits best counts."""
    return Question(of, f"{HANDOUT}, {section}", partial(best, tell, study, variant, of, judge))


def _numbers(section: str, tell: Tell, *names: str) -> Question:
    """A question for two numbers that stand in the learner's own A3."""
    return _read(2, section, tell, numbers(names, 2, READ_OFF))


KERNEL, BACK, MOVE = "Do: ask the kernel", "Do: there and back", "Do: move bytes"
OWN, PAPER = "Exercise: three rows of your own", "Compare with paper A"
CALL, START = ("null_call_us", "null_calls_in_a_fork"), ("program_alone_us", "shell_alone_us")
TRIPS = ("tcp_full_us", "tcp_beside_mpi_us")
COPIES = ("hand_copied_mb_per_s", "hand_crossing_mb_per_s")
REREAD = words(("faster_reread", "file_reread_also_does"), 2)
ODD = words(("odd_one_out", "slow_rows_share"), 2)

# The handout's section that answers a question, by its heading.
QUESTIONS = {
    "a3-record": Question(1, f"{HANDOUT}, Run and see", partial(record_of, facts_02.whole, STUDY)),
    "null-call": _numbers(KERNEL, facts_02.calls, *CALL),
    "starting": _numbers(KERNEL, facts_02.calls, *START),
    "round-trips": _numbers(BACK, facts_02.messages, *TRIPS),
    "bytes-copied": _numbers(MOVE, facts_02.moved, *COPIES),
    "reread": _read(2, MOVE, facts_02.moved, REREAD),
    "caches": _read(3, "Do: wait for memory", facts_02.memory, caches),
    "own-rows": _read(4, OWN, facts_02.own, own, own_rows.STUDY, own_rows.VARIANT),
    "not-faster": _read(2, PAPER, facts_02.extremes, extremes),
    "paper-tables": Question(3, f"{HANDOUT}, {PAPER}", paper_tables),
    "odd-node": _read(
        2, "Do: the odd one out", facts_02.odd, ODD, odd_node.STUDY, odd_node.VARIANT
    ),
    "prediction": _read(3, "Predict the cluster", facts_02.prediction, prediction),
}
