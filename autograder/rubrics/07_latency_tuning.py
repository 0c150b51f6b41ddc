"""Lab 07: points for L1, E6, E7 and L2, for what they show, and for the learner's own knob and letters."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from autograder.rubrics import facts_07
from autograder.rubrics.answers import given, is_near, word
from autograder.rubrics.questions import Scorer
from autograder.rubrics.record_facts import (
    ByRecord,
    Facts,
    Judge,
    best_of_own,
    numbers,
    read_records,
    record_of,
    words,
)
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission
from beowulf import papers
from beowulf.exercises.lab_07 import differing_node, null_knob, own_knob, small_writes
from beowulf.record import Record
from beowulf.studies.lab_07.l2_applications import KERNELS
from beowulf.tuning.budget import LONG, bytes_on_the_wire
from beowulf.tuning.knobs import ALL
from beowulf.tuning.paper_e_baseline import IRQBALANCE, LOW_LATENCY

SHORTEST_FRAME_BYTES = 84  # with preamble, check sum and gap
# No delayed acknowledgement takes so long: something else slowed down a given letter that does.
LONGEST_GIVEN_MS = 500.0


def observed(*names: str) -> Judge:
    """The same points for each answer that is nearly the Record's number, or the word where there is none."""

    def judge(submission: Submission, facts: Facts, by: str, *, tolerance: float) -> Score:
        right = sum(_fits(submission, name, facts[name], tolerance) for name in names)
        expected = ", ".join(f"{name}: {_shown(facts[name])}" for name in names)
        return Score(right, len(names), given(submission, *names), f"{expected} (by {by})")

    return judge


def _fits(submission: Submission, name: str, wanted: Any, room: float) -> bool:
    if isinstance(wanted, str):
        return word(submission, name).startswith(wanted)
    return is_near(submission, name, wanted, room)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.3g}"


def largest(
    submission: Submission,
    facts: Facts,
    by: str,
    *,
    tolerance_percent: float,
    times_the_longest: float,
) -> Score:
    """A point each for a step that is the largest, or nearly, and for its microseconds."""
    every = {
        name.removeprefix(facts_07.US_OF): us
        for name, us in facts.items()
        if name.startswith(facts_07.US_OF)
    }
    longest = max(every.values())
    us = {name: each for name, each in every.items() if each >= times_the_longest * longest}
    step = {name.lower(): name for name in us}.get(word(submission, "largest_step"))
    share = tolerance_percent / 100
    right = step and is_near(submission, "largest_step_us", us[step], share * us[step])
    expected = " or ".join(f"{name}: {each:.3g} µs" for name, each in us.items())
    answered = given(submission, "largest_step", "largest_step_us")
    return Score(bool(step) + bool(right), 2, answered, f"{expected} (by {by})")


def budget_sum(submission: Submission, *, tolerance_percent: float) -> Score:
    """A point for the sum of the steps in L1, and one for what the cycle of nothing measured."""
    parts = (
        ByRecord(facts_07.budget, "L1", numbers("predicted_mpi_us")),
        ByRecord(facts_07.nothing, null_knob.STUDY, numbers("measured_mpi_us"), null_knob.VARIANT),
    )
    scores = [each(submission, tolerance_percent=tolerance_percent) for each in parts]
    found, expected = (
        "; ".join(texts) for texts in zip(*((s.found, s.expected) for s in scores), strict=True)
    )
    return Score(sum(each.points for each in scores), 2, found, expected)


def table_3(
    submission: Submission,
    facts: Facts,
    by: str,
    *,
    tolerance: float,
    tolerance_percent: float,
    mean_points: float,
    deviation_times: float,
) -> Score:
    """A point each for the change of the mean, all together, and for what is left of the deviation."""
    mean, times = facts["together_percent"], facts["deviation_times"]
    share = tolerance_percent / 100
    room = 0.0 if isinstance(times, str) else max(deviation_times, share * times)
    right = [
        _fits(submission, "together_percent", mean, mean_points)
        or _fits(submission, "together_percent", facts["both_percent"], tolerance),
        _fits(submission, "deviation_times", times, room),
    ]
    expected = f"together_percent: {_shown(mean)}, deviation_times: {_shown(times)} (by {by})"
    answered = given(submission, "together_percent", "deviation_times")
    return Score(sum(right), 2, answered, expected)


def not_observable(submission: Submission) -> Score:
    """A point each for the knob that needs interrupts, and for the version since which the other does nothing."""
    since = re.search(r"[0-9]+\.[0-9]+", ALL[LOW_LATENCY].kernel)
    assert since, "the knob has the kernels on which it does something"
    version = "kernel_without_prequeue"
    right = [
        word(submission, "knob_without_interrupts") == IRQBALANCE,
        is_near(submission, version, float(since[0]), 1e-6)
        or word(submission, version) == since[0],
    ]
    expected = f"knob_without_interrupts: {IRQBALANCE}, {version}: {since[0]}"
    answered = given(submission, "knob_without_interrupts", version)
    return Score(sum(right), 2, answered, expected)


def own(submission: Submission) -> Score:
    """A point each for values that take, for the exact state back, and for a whole cycle; the best Record counts."""
    expected = "both values take, the exact state comes back, and a cycle is measured"
    return best_of_own(own_knob.STUDY, own_knob.VARIANT, expected, _own, submission)


def _own(record: Record, expected: str) -> Score:
    takes, exact, decision = facts_07.own(record)
    results = [
        "both values take" if takes else "a value does not take",
        "the exact state comes back" if exact else "the exact state does not come back",
        f"the cycle decides {decision}" if decision else "no whole cycle",
    ]
    points = takes + exact + (takes and bool(decision))
    return Score(points, 3, f"{record.file_name}: {'; '.join(results)}", expected)


def letters_record(submission: Submission) -> Score:
    """All points for a Record of the learner's letters; the program refuses letters that are not whole."""
    readings, why = read_records(
        facts_07.posted, small_writes.STUDY, small_writes.VARIANT, submission
    )
    if not readings:
        return Score(0, 1, why, "A whole Record of your letters.c.")
    return Score(1, 1, f"{readings[0][1]}: every letter is whole.")


def letters_gain(submission: Submission, facts: Facts, by: str, *, times_the_given: float) -> Score:
    """All points for letters that take at most a certain share of the time of the given ones."""
    expected = f"at most {times_the_given:g} times the time of the given letters"
    if facts["given_ms"] > LONGEST_GIVEN_MS:
        why = f"{by}: the given letters take {facts['given_ms']:.0f} ms, which no acknowledgement explains."
        return Score(0, 1, why, expected)
    right = facts["times"] <= times_the_given
    return Score(int(right), 1, f"{by}: {facts['times']:.3g} times", expected)


def forty_ms(submission: Submission) -> Score:
    """Which two waits block each other: both, or nothing."""
    wanted = {"body_waits_for": "ack", "that_waits_for": "data"}
    right = all(word(submission, name) == each for name, each in wanted.items())
    expected = (
        "body_waits_for: ack (Nagle: what was sent before is not acknowledged yet); that_waits_for: data"
        " (a delayed acknowledgement waits some 40 ms for an answer to travel with)"
    )
    return Score(1 if right else 0, 1, given(submission, *wanted), expected)


def limit(submission: Submission, facts: Facts, by: str, *, tolerance: float) -> Score:
    """A point for the ping-pong's change, and one for the kernel that gains most, with its change."""
    kernels = {name: facts[f"percent of {name}"] for name in KERNELS}
    least = min(kernels.values())
    named = word(submission, "best_kernel").upper()
    right = [
        is_near(submission, "pingpong_percent", facts["pingpong_percent"], tolerance),
        named in kernels
        and kernels[named] <= least + tolerance
        and is_near(submission, "best_kernel_percent", kernels[named], tolerance),
    ]
    expected = (
        f"pingpong_percent: {facts['pingpong_percent']:+.1f}, best_kernel: {facts['best_kernel']},"
        f" best_kernel_percent: {least:+.1f} (by {by})"
    )
    answered = given(submission, "pingpong_percent", "best_kernel", "best_kernel_percent")
    return Score(sum(right), 2, answered, expected)


def by_hand(
    name: str, wanted: float, why: str, submission: Submission, *, tolerance: float
) -> Score:
    """All points for a number that follows from what is published; the sign of a change does not matter."""
    right = any(is_near(submission, name, each, tolerance) for each in (wanted, -wanted))
    return Score(int(right), 1, given(submission, name), f"{name}: {wanted:.6g}, {why}")


def _printed(table: str, **where: str) -> dict[str, Any]:
    rows = papers.table(table).to_dict("records")
    return next(
        {str(key): value for key, value in row.items()}
        for row in rows
        if all(row[key] == value for key, value in where.items())
    )


WIRE_US = bytes_on_the_wire(LONG) * 8 / 100
SEARCH = float(_printed("E-applications", workload="mpiBLAST")["change_percent"])
SYNTHETIC = float(_printed("E-applications", workload="IMB PingPong")["change_percent"])
BEFORE_US = float(_printed("E-knobs", what="as installed")["value"])
AFTER_US = float(_printed("E-knobs", finding="latency after tuning")["value"])

WAITING_PERCENT = 100 * SEARCH / SYNTHETIC
FRAME_NS = SHORTEST_FRAME_BYTES * 8.0

DIFFERING = words("unlike_node", "unlike_question")
FATES = words("moderation_fate", "firewall_fate")
SUM = observed("sum_percent", "both_percent")
TWICE = observed("firewall_alone_percent", "firewall_later_percent")

SCORERS: dict[str, Scorer] = {
    "l1-record": partial(record_of, facts_07.budget, "L1"),
    "largest-step": ByRecord(facts_07.budget, "L1", largest),
    "wire-time": partial(by_hand, "wire_16384_us", WIRE_US, "17,464 bytes, 12.5 in a microsecond"),
    "unlike": ByRecord(facts_07.odd_one, differing_node.STUDY, DIFFERING, differing_node.VARIANT),
    "null": ByRecord(facts_07.nothing, null_knob.STUDY, words("null_decision"), null_knob.VARIANT),
    "budget-sum": budget_sum,
    "e6-record": partial(record_of, facts_07.knobs, "E6"),
    "e6-table": ByRecord(facts_07.knobs, "E6", table_3),
    "not-additive": ByRecord(facts_07.knobs, "E6", SUM),
    "same-microseconds": ByRecord(facts_07.knobs, "E6", TWICE),
    "not-observable": not_observable,
    "e7-record": partial(record_of, facts_07.procedure, "E7"),
    "fates": ByRecord(facts_07.procedure, "E7", FATES),
    "own-knob": own,
    "letters-record": letters_record,
    "letters-gain": ByRecord(
        facts_07.posted, small_writes.STUDY, letters_gain, small_writes.VARIANT
    ),
    "forty-ms": forty_ms,
    "l2-record": partial(record_of, facts_07.applications, "L2"),
    "limit": ByRecord(facts_07.applications, "L2", limit),
    "waiting-share": partial(
        by_hand, "waiting_percent", WAITING_PERCENT, "11 per cent of the whole are 42 of it"
    ),
    "sixty-percent": partial(
        by_hand, "abstract_percent", 100 * (1 - AFTER_US / BEFORE_US), "and not 54"
    ),
    "nanoseconds": partial(
        by_hand, "shortest_frame_ns", FRAME_NS, "so that no message takes 50 or 20 ns there"
    ),
}
