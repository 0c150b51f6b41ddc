"""Lab 07: points for L1, E6, E7 and L2, for what they show, and for the learner's own knob and letters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from autograder.rubrics import Question, ask, facts_07
from autograder.rubrics.answers import given, is_near, word
from autograder.rubrics.record_facts import (
    Facts,
    Judge,
    Tell,
    best,
    best_of_own,
    numbers,
    record_of,
    told,
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

HANDOUT = "labs/07-latency-tuning/README.md"
# A learner reads figures off a table that is shown with a few digits: a share of them, or points of a per cent.
READ, PERCENT_POINTS = 0.02, 0.6
# The change of a mean may be worked out from means that are shown, or be taken for that of neighbours.
MEAN_POINTS = 1.5
SHORTEST_FRAME_BYTES = 84  # with preamble, check sum and gap
A_TENTH = 0.1
# No delayed acknowledgement takes so long: a given letter that does was slowed down by something else.
LONGEST_GIVEN_MS = 500.0


def score(submission: Submission) -> dict[str, Score]:
    """The Score of every question that is not graded by hand; `explain` is."""
    return ask(QUESTIONS, submission)


def observed(rooms: Mapping[str, float], of: float) -> Judge:
    """The same points for each answer within its room of the Record's number, or the word where there is none."""

    def judge(submission: Submission, found: Facts, by: str) -> Score:
        right = sum(_fits(submission, name, found[name], room) for name, room in rooms.items())
        expected = ", ".join(f"{name}: {_shown(found[name])}" for name in rooms)
        points = of * right / len(rooms)
        return Score(points, of, given(submission, *rooms), f"{expected} (by {by})")

    return judge


def _fits(submission: Submission, name: str, wanted: Any, room: float) -> bool:
    if isinstance(wanted, str):
        return word(submission, name).startswith(wanted)
    return is_near(submission, name, wanted, room)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.3g}"


def largest(submission: Submission, found: Facts, by: str) -> Score:
    """A point each for a step that is the largest, or nearly, and for its microseconds."""
    names = {name.lower(): name for name in str(found["largest_step"]).split(" | ")}
    step = names.get(word(submission, "largest_step"))
    us = {name: found[f"us of {name}"] for name in names.values()}
    right = step and is_near(submission, "largest_step_us", us[step], READ * us[step])
    expected = " or ".join(f"{name}: {each:.3g} µs" for name, each in us.items())
    said = given(submission, "largest_step", "largest_step_us")
    return Score(bool(step) + bool(right), 2, said, f"{expected} (by {by})")


def budget_sum(submission: Submission) -> Score:
    """A point for the sum of the steps in L1, and one for what the cycle of nothing measured."""
    null = (null_knob.STUDY, null_knob.VARIANT)
    scores = [
        best(facts_07.budget, "L1", "", 1, numbers(("predicted_mpi_us",), 1, READ), submission),
        best(facts_07.nothing, *null, 1, numbers(("measured_mpi_us",), 1, READ), submission),
    ]
    found, expected = (
        "; ".join(texts) for texts in zip(*((s.found, s.expected) for s in scores), strict=True)
    )
    return Score(sum(each.points for each in scores), 2, found, expected)


def table_3(submission: Submission, found: Facts, by: str) -> Score:
    """A point each for the change of the mean, all together, and for what is left of the deviation."""
    mean, times = found["together_percent"], found["deviation_times"]
    room = 0.0 if isinstance(times, str) else max(0.02, READ * times)
    right = [
        _fits(submission, "together_percent", mean, MEAN_POINTS)
        or _fits(submission, "together_percent", found["both_percent"], PERCENT_POINTS),
        _fits(submission, "deviation_times", times, room),
    ]
    expected = f"together_percent: {_shown(mean)}, deviation_times: {_shown(times)} (by {by})"
    said = given(submission, "together_percent", "deviation_times")
    return Score(sum(right), 2, said, expected)


def not_observable(submission: Submission) -> Score:
    """A point each for the knob that needs interrupts, and for the version since which the other does nothing."""
    since = re.search(r"[0-9]+\.[0-9]+", ALL[LOW_LATENCY].kernel)
    assert since, "the knob says on which kernels it does something"
    version = "kernel_without_prequeue"
    right = [
        word(submission, "knob_without_interrupts") == IRQBALANCE,
        is_near(submission, version, float(since[0]), 1e-6)
        or word(submission, version) == since[0],
    ]
    expected = f"knob_without_interrupts: {IRQBALANCE}, {version}: {since[0]}"
    said = given(submission, "knob_without_interrupts", version)
    return Score(sum(right), 2, said, expected)


def own(submission: Submission) -> Score:
    """A point each for values that take, for the exact state back, and for a whole cycle; the best Record counts."""
    expected = "both values take, the exact state comes back, and a cycle is measured"
    return best_of_own(own_knob.STUDY, own_knob.VARIANT, 3, expected, _own, submission)


def _own(record: Record, expected: str) -> Score:
    takes, exact, decision = facts_07.own(record)
    said = [
        "both values take" if takes else "a value does not take",
        "the exact state comes back" if exact else "the exact state does not come back",
        f"the cycle says {decision}" if decision else "no whole cycle",
    ]
    points = takes + exact + (takes and bool(decision))
    return Score(points, 3, f"{record.file_name}: {'; '.join(said)}", expected)


def letters_record(submission: Submission) -> Score:
    """1 point for a Record of the learner's letters; the program refuses to make one of letters that are not whole."""
    found, why = told(facts_07.posted, small_writes.STUDY, small_writes.VARIANT, submission)
    if not found:
        return Score(0, 1, why, "A whole Record of your letters.c.")
    return Score(1, 1, f"{found[0][1]}: every letter is whole.")


def letters_gain(submission: Submission, found: Facts, by: str) -> Score:
    """3 points for letters that take at most a tenth of the time of the given ones."""
    expected = f"at most {A_TENTH:g} times the time of the given letters"
    if found["given_ms"] > LONGEST_GIVEN_MS:
        why = f"{by}: the given letters take {found['given_ms']:.0f} ms, which no acknowledgement explains."
        return Score(0, 3, why, expected)
    right = found["times"] <= A_TENTH
    return Score(3 if right else 0, 3, f"{by}: {found['times']:.3g} times", expected)


def forty_ms(submission: Submission) -> Score:
    """Which two waits stand against each other: both, or nothing."""
    wanted = {"body_waits_for": "ack", "that_waits_for": "data"}
    right = all(word(submission, name) == each for name, each in wanted.items())
    expected = (
        "body_waits_for: ack (Nagle: what was sent before is not acknowledged yet); that_waits_for: data"
        " (a delayed acknowledgement waits some 40 ms for an answer to travel with)"
    )
    return Score(1 if right else 0, 1, given(submission, *wanted), expected)


def limit(submission: Submission, found: Facts, by: str) -> Score:
    """A point for the ping-pong's change, and one for the kernel that gains most, with its change."""
    kernels = {name: found[f"percent of {name}"] for name in KERNELS}
    least = min(kernels.values())
    named = word(submission, "best_kernel").upper()
    right = [
        is_near(submission, "pingpong_percent", found["pingpong_percent"], PERCENT_POINTS),
        named in kernels
        and kernels[named] <= least + PERCENT_POINTS
        and is_near(submission, "best_kernel_percent", kernels[named], PERCENT_POINTS),
    ]
    expected = (
        f"pingpong_percent: {found['pingpong_percent']:+.1f}, best_kernel: {found['best_kernel']},"
        f" best_kernel_percent: {least:+.1f} (by {by})"
    )
    said = given(submission, "pingpong_percent", "best_kernel", "best_kernel_percent")
    return Score(sum(right), 2, said, expected)


def by_hand(name: str, wanted: float, room: float, why: str, submission: Submission) -> Score:
    """1 point for a number that follows from what is published; the sign of a change does not matter."""
    right = any(is_near(submission, name, each, room) for each in (wanted, -wanted))
    return Score(1 if right else 0, 1, given(submission, name), f"{name}: {wanted:.6g}, {why}")


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

BUDGET, ASK, NULL = (
    "Do: a latency budget",
    "Do: ask before you turn",
    "Do: measure nothing first",
)
ONE, WHOLE, GAIN = (
    "Do: one knob at a time",
    "Do: the whole procedure",
    "Do: what an application gets",
)
OWN, FORTY = "Exercise: a knob of your own", "Exercise: forty milliseconds"
PAPER = "Compare with paper E"


def _read(
    of: float, section: str, tell: Tell, judge: Judge, study: str, variant: str = ""
) -> Question:
    """A question for what the learner's own Records tell; the one that fits best counts."""
    return Question(of, f"{HANDOUT}, {section}", partial(best, tell, study, variant, of, judge))


def _whole(study: str, section: str, tell: Tell) -> Question:
    """A question for a whole Record of a study."""
    return Question(1, f"{HANDOUT}, {section}", partial(record_of, tell, study))


def _paper(name: str, wanted: float, room: float, why: str) -> Question:
    """A question for a number that follows from what paper E prints."""
    return Question(1, f"{HANDOUT}, {PAPER}", partial(by_hand, name, wanted, room, why))


UNLIKE = words(("unlike_node", "unlike_question"), 2)
FATES = words(("moderation_fate", "firewall_fate"), 1)
SUM = observed({"sum_percent": PERCENT_POINTS, "both_percent": PERCENT_POINTS}, 2)
TWICE = observed(
    {"firewall_alone_percent": PERCENT_POINTS, "firewall_later_percent": PERCENT_POINTS}, 1
)

# The handout's section that answers a question, by its heading.
QUESTIONS = {
    "l1-record": _whole("L1", BUDGET, facts_07.budget),
    "largest-step": _read(2, BUDGET, facts_07.budget, largest, "L1"),
    "wire-time": Question(
        1,
        f"{HANDOUT}, {BUDGET}",
        partial(by_hand, "wire_16384_us", WIRE_US, 1.0, "17,464 bytes, 12.5 in a microsecond"),
    ),
    "unlike": _read(2, ASK, facts_07.odd_one, UNLIKE, differing_node.STUDY, differing_node.VARIANT),
    "null": _read(
        1, NULL, facts_07.nothing, words(("null_decision",), 1), null_knob.STUDY, null_knob.VARIANT
    ),
    "budget-sum": Question(2, f"{HANDOUT}, {NULL}", budget_sum),
    "e6-record": _whole("E6", ONE, facts_07.knobs),
    "e6-table": _read(2, ONE, facts_07.knobs, table_3, "E6"),
    "not-additive": _read(2, ONE, facts_07.knobs, SUM, "E6"),
    "same-microseconds": _read(1, ONE, facts_07.knobs, TWICE, "E6"),
    "not-observable": Question(2, f"{HANDOUT}, What cannot be seen here", not_observable),
    "e7-record": _whole("E7", WHOLE, facts_07.procedure),
    "fates": _read(1, WHOLE, facts_07.procedure, FATES, "E7"),
    "own-knob": Question(3, f"{HANDOUT}, {OWN}", own),
    "letters-record": Question(1, f"{HANDOUT}, {FORTY}", letters_record),
    "letters-gain": _read(
        3, FORTY, facts_07.posted, letters_gain, small_writes.STUDY, small_writes.VARIANT
    ),
    "forty-ms": Question(1, f"{HANDOUT}, {FORTY}", forty_ms),
    "l2-record": _whole("L2", GAIN, facts_07.applications),
    "limit": _read(2, GAIN, facts_07.applications, limit, "L2"),
    "waiting-share": _paper(
        "waiting_percent", 100 * SEARCH / SYNTHETIC, 0.5, "11 per cent of the whole are 42 of it"
    ),
    "sixty-percent": _paper(
        "abstract_percent", 100 * (1 - AFTER_US / BEFORE_US), 0.1, "and not 54"
    ),
    "nanoseconds": _paper(
        "shortest_frame_ns",
        SHORTEST_FRAME_BYTES * 8.0,
        1.0,
        "so that no message takes 50 or 20 ns there",
    ),
}
