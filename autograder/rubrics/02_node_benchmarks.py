"""Lab 02: points for a learner's own programs and plot, for what they read from their own A3, and for the odd node."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from autograder.rubrics import facts_02, heat
from autograder.rubrics.answers import given, is_near, word
from autograder.rubrics.own_plots import Curves, Plot, of_records
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
from beowulf.labs.lab_02 import array_sweep, by_lot, odd_node, own_rows, timing_loop
from beowulf.record import Record

STUDY = "A3"
CABLES_MB_PER_S = {"10mbit": 1.25, "100mbit": 12.5, "1gbit": 125.0}


def timing(record: Record, expected: str) -> Score:
    """Two points for the right length of calls, one for long intervals, one for a call on the node's own clock."""
    trials = timing_loop.trials(record)
    if len(trials) != timing_loop.TRIALS:
        return Score(0, 4, f"{record.file_name}: {len(trials)} calls of known length", expected)
    right = sum(not timing_loop.length_fault(trial) for trial in trials)
    long_enough = not any(map(timing_loop.sample_fault, trials))
    points = 2 * right / timing_loop.TRIALS + long_enough + (not timing_loop.real_fault(record))
    found = "; ".join(timing_loop.lines(record))
    return Score(points, 4, f"{record.file_name}: {found}", expected)


def swept(record: Record, expected: str) -> Score:
    """A point for sizes and samples, and one for times that are those of copies."""
    sizes = [point.at["size_bytes"] for point in array_sweep.copies(record)]
    fault = array_sweep.size_fault(sizes or None) or array_sweep.sample_fault(record)
    points = 0 if fault else 1 + (not array_sweep.copy_fault(record))
    found = fault or "; ".join(array_sweep.lines(record))
    return Score(points, 2, f"{record.file_name}: {found}", expected)


def copied_mb_per_s(column: str, record: Record) -> Curves:
    """What the learner's plot may show: of a sweep the rate by size, at the median or at the best."""
    of = array_sweep.table(record)
    return [dict(zip(of["size_bytes"], of["size_bytes"] / of[column], strict=True))]


COPIED = [partial(copied_mb_per_s, column) for column in ("median_us", "best_us")]
DRAWN = Plot(
    array_sweep.PLOT,
    array_sweep.WANTS,
    of_records(array_sweep.STUDY, *COPIED, variant=array_sweep.VARIANT),
)


def bandwidth_plot(submission: Submission, *, tolerance_percent: float) -> Score:
    """The points of the plot, and one more for caches that it names."""
    score = DRAWN(submission, tolerance_percent=tolerance_percent)
    kept = [each for each in submission.records if each.variant == array_sweep.PLOT]
    caches = any(
        len(array_sweep.caches_named(plot.points)) >= array_sweep.FEWEST_CACHES for plot in kept
    )
    found = score.found if caches else f"{score.found} It names no two caches."
    more = bool(score.points and caches)
    return replace(score, points=score.points + more, of=score.of + 1, found=found)


def kernel_rows(
    submission: Submission, facts: Facts, by: str, *, tolerance_percent: float
) -> Score:
    """A point each for the time of the row that is drawn for the learner, and for how many null calls it is."""
    row = by_lot.kernel_row(submission.code)
    wanted = {"kernel_row_us": facts[row], "null_calls_in_it": facts[row] / facts["null call"]}
    return near(submission, wanted, f"{row}, by {by}", tolerance_percent=tolerance_percent)


def round_trips(
    submission: Submission, facts: Facts, by: str, *, tolerance_percent: float
) -> Score:
    """A point each for the round trip that is drawn for the learner, and for half of it."""
    row = by_lot.round_trip(submission.code)
    wanted = {"full_round_trip_us": facts[row], "beside_mpi_us": facts[row] / 2}
    return near(submission, wanted, f"{row}, by {by}", tolerance_percent=tolerance_percent)


def caches(
    submission: Submission,
    facts: Facts,
    by: str,
    *,
    tolerance_percent: float,
    times_the_size: float,
) -> Score:
    """A point each for a load from main memory, as median or best, and for the end of the first plateau."""
    right = any(
        is_near(submission, "main_memory_ns", value, tolerance_percent / 100 * value)
        for value in (facts["main_memory_ns"], facts["main_memory_best_ns"])
    )
    end = submission.answers.get("l1_ends_at_kib")
    low, high = facts["ends_from_kib"], facts["ends_to_kib"]
    ends = is_number(end) and low / times_the_size <= end <= high * times_the_size
    expected = (
        f"main_memory_ns: {facts['main_memory_ns']:.4g}, l1_ends_at_kib: {low:g}"
        f"{f' to {high:g}' if high > low else ''}, or a size beside it (by {by})"
    )
    answered = given(submission, "main_memory_ns", "l1_ends_at_kib")
    return Score(right + ends, 2, answered, expected)


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
    """A point each for what is read in half a round trip, and for what a cable carries."""
    name = "predicted_read_meanwhile_bytes"
    right = is_near(submission, name, facts[name], tolerance_percent / 100 * facts[name])
    cable = CABLES_MB_PER_S.get(facts["rate"])
    answer = submission.answers.get("predicted_cable_mb_per_s")
    if cable is None:  # cables without a limit: any guess is as good
        carries = is_number(answer) and answer > 0
    else:
        room = cable_percent / 100 * cable
        carries = is_near(submission, "predicted_cable_mb_per_s", cable, room)
    expected = f"{name}: {facts[name]:.4g}, predicted_cable_mb_per_s: {cable or 'a number'}"
    answered = given(submission, name, "predicted_cable_mb_per_s")
    return Score(right + carries, 2, answered, f"{expected} (by {by})")


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
    """A point each for the rows of the table that is drawn in which Grendel is faster, and for the cache."""
    number = by_lot.table(submission.code)
    printed = papers.table(f"A-table-{number}").to_numpy()
    faster = sum(theirs > grendel for _, theirs, grendel in printed)
    wanted = {"grendel_faster_in": faster, "af_unix_is_fast_because_of": "cache"}
    return near(submission, wanted, f"table {number}")


ODD = numbers_and_words("odd_one_out", "slow_rows_share")

SCORERS: dict[str, Scorer] = {
    "timing-loop": partial(
        best_of_own,
        timing_loop.STUDY,
        timing_loop.VARIANT,
        f"{timing_loop.NAME} finds the length of each call, from {timing_loop.FEWEST_SAMPLES}"
        f" intervals or more of {timing_loop.FEWEST_STEPS} steps of the clock or more",
        timing,
    ),
    "a3-record": partial(record_of, facts_02.whole, STUDY),
    "kernel-rows": ByRecord(facts_02.calls, STUDY, kernel_rows),
    "round-trips": ByRecord(facts_02.messages, STUDY, round_trips),
    "sweep": partial(
        best_of_own,
        array_sweep.STUDY,
        array_sweep.VARIANT,
        f"{array_sweep.NAME} copies arrays of {array_sweep.FEWEST_SIZES} sizes or more",
        swept,
    ),
    "bandwidth-plot": bandwidth_plot,
    "heat-prediction": sealed("heat-step"),
    "heat-step": heat.right("H2", {"step_loops": 1, "step_numpy": 1, "heat_step": 2}),
    "not-faster": ByRecord(facts_02.times_faster_by_row, STUDY, extremes),
    "caches": ByRecord(facts_02.memory, STUDY, caches),
    "own-rows": ByRecord(facts_02.own, own_rows.STUDY, own, own_rows.VARIANT),
    "paper-tables": paper_tables,
    "odd-node": ByRecord(facts_02.odd, odd_node.STUDY, ODD, odd_node.VARIANT),
    "prediction": ByRecord(facts_02.prediction, STUDY, prediction),
}
