"""Lab 04: points for the Records A7, E1 and of patience, and for what is concluded from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import median
from typing import TypeVar

import pandas as pd

from autograder.rubrics import Question, ask
from autograder.rubrics.answers import given
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission, is_number
from beowulf import variant
from beowulf.errors import LabError
from beowulf.measure.fit import Fit, alpha_beta
from beowulf.measure.roundtrips import EXCHANGE, rates
from beowulf.record import Record
from beowulf.studies.lab_04 import a7_rate_by_nodes, e1_latency_model

T = TypeVar("T")
# Whether an answer is right for a Record, and what would be right.
Told = tuple[bool, str]
Check = Callable[[Record, float], Told]

HANDOUT = "labs/04-blocking-nonblocking/README.md"
PATIENCE = "patience"  # the variant of A7 that the notebook's cell measures
# What the notebook asks for in the question model-time where the course gave no word.
ASKED_BYTES = variant.USUAL_ASKED_BYTES
# alpha and beta are read off a figure's title with three digits, and the sum may be rounded again.
MODEL_RELATIVE = 0.05
# Medians are read off a table or a plot; blocking and non-blocking both count.
RATIO_RELATIVE = 0.10
# MPICH 3.4 with CH3 sends at once while the message and its header of 32 bytes are not longer than
# the default of MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE; halving the interval ten times comes so near.
EAGER_LIMIT = 131_072
EAGER_NEAR_BYTES = 500  # as the notebook says; above the limit nothing comes home
MOST_RECORDS = 10  # of one study, the newest first, for one answer
MISSING = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, LabError)


def score(submission: Submission) -> dict[str, Score]:
    """The Score of every question that is not graded by hand; `explain` is."""
    return ask(QUESTIONS, submission)


def whole(study: str, variant: str, submission: Submission) -> Score:
    """2 points for a whole Record, 1 for one that was cut short or lacks something."""
    expected = f"A whole Record {study}{f' of the variant {variant}' if variant else ''}."
    found = submission.measured(study, variant)
    if not found:
        return Score(0, 2, submission.missing(study, variant), expected)
    faults = []
    for record in found:
        if not (fault := FAULTS[study, variant](record)):
            return Score(2, 2, f"{record.file_name}: all that is needed is there.")
        faults.append(f"{record.file_name}: {fault}.")
    return Score(1, 2, faults[0], f"{expected} Measure it again.")


def concluded(name: str, study: str, variant: str, check: Check, submission: Submission) -> Score:
    """Full points when an answer is what `check` finds in one of the learner's Records.

    Whoever runs all cells again has measured again, and has typed the figures of an earlier Record.
    """
    of = WORTH[name]
    found = submission.measured(study, variant)
    if not found:
        return Score(0, of, submission.missing(study, variant))
    answer, answered = submission.answers.get(name), given(submission, name)
    wanted = []
    for record in found[:MOST_RECORDS]:
        told = _known(partial(check, record, answer if is_number(answer) else math.nan))
        if told and told[0]:
            return Score(of, of, f"{answered}, which is what {record.file_name} gives.")
        if told:
            wanted.append(f"{told[1]} ({record.file_name})")
    if not wanted:
        return Score(0, of, f"{found[0].file_name}: {FAULTS[study, variant](found[0])}.")
    return Score(0, of, answered, "; or ".join(wanted[:3]))


def saturation(record: Record, answer: float) -> Told:
    """Where np = 2, blocking, saturates; a step of the sweep more or less is near enough."""
    rate = _rate(rates(record), "pairs", 2, "blocking")
    found = a7_rate_by_nodes.saturation_bytes(rate)
    sizes = [int(size) for size in rate.index]
    place = sizes.index(found)
    low, high = sizes[max(place - 1, 0)], sizes[min(place + 1, len(sizes) - 1)]
    said = f"{found:,} bytes, or a step of the sweep beside it ({low:,} to {high:,})"
    return low <= answer <= high, said


def four_nodes(record: Record, answer: float) -> Told:
    """How often the rate of two nodes four have, in the ring, at the largest message."""
    found, times = rates(record), []
    for protocol in a7_rate_by_nodes.PROTOCOLS:
        two, four = (_rate(found, "ring", ranks, protocol).iloc[-1] for ranks in (2, 4))
        times.append(float(four / two))
    said = f"{times[0]:.2f} times (blocking) or {times[1]:.2f} times (non-blocking), within 10 %"
    return any(_near(answer, each, RATIO_RELATIVE) for each in times), said


def eager(submission: Submission) -> Score:
    """Full points for the largest message that headon.c brings home with the classic MPICH.

    No Record has the limit, so that any will do that names the library.
    """
    name = "eager_limit_bytes"
    of, answer, answered = WORTH[name], submission.answers.get(name), given(submission, name)
    if not submission.records:
        return Score(0, of, submission.missing("A7"), "A Record, which names the library.")
    libraries = {str(record.cluster.get("mpi", "unknown")) for record in submission.records}
    if "classic" not in libraries:
        theirs = " and ".join(sorted(libraries))
        wanted = f"The limit of the classic MPICH; the library of the Records is {theirs}."
        return Score(0, of, answered, f"{wanted} Ask your instructor.")
    right = is_number(answer) and 0 <= EAGER_LIMIT - float(answer) <= EAGER_NEAR_BYTES
    wanted = f"{EAGER_LIMIT:,} bytes less a header, or up to {EAGER_NEAR_BYTES} bytes less"
    return Score(of if right else 0, of, answered, wanted)


def model_time(submission: Submission) -> Score:
    """The model's time for the size that the learner was asked for; another learner's size is noticed."""
    own = submission.own
    asked = variant.asked_bytes(own.word) if own else ASKED_BYTES
    score = _model_time(asked, submission)
    if score.points or own is None:
        return score
    for size in sorted({*variant.ASKED_BYTES, ASKED_BYTES} - {asked}):
        if _model_time(size, submission).points:
            whose = "without your course's word" if size == ASKED_BYTES else "for another learner"
            said = f"{score.found}, which is right for {size:,} bytes, as they are asked {whose}"
            return replace(score, found=said)
    return score


def _model_time(asked: int, submission: Submission) -> Score:
    return concluded("model_time_us", "E1", "", partial(time_of, asked), submission)


def time_of(asked: int, record: Record, answer: float) -> Told:
    """alpha + n / beta for so many bytes."""
    fit = _line(record)
    alpha, beta, wanted = fit.alpha_us.value, fit.beta_bytes_per_s.value, fit.time_us(asked)
    model = f"{alpha:.3g} µs + {asked:,} bytes / ({beta:,.0f} bytes/s)"
    return _near(answer, wanted, MODEL_RELATIVE), f"{model} = {wanted:,.0f} µs, within 5 %"


def half_rate(record: Record, answer: float) -> Told:
    """alpha times beta: the size whose bytes take as long as alpha."""
    fit = _line(record)
    wanted = fit.alpha_us.value * 1e-6 * fit.beta_bytes_per_s.value
    # A small alpha has two digits on the figure, so that the product may be off by more.
    return _near(answer, wanted, RATIO_RELATIVE), f"alpha * beta = {wanted:,.0f}, within 10 %"


def impatience(record: Record, answer: float) -> Told:
    """How often an exchange without patient polling takes as long as one with it."""
    times = _impatience(record)
    return _near(answer, times, RATIO_RELATIVE), f"{times:.3g} times, within 10 %"


# The handout's section that answers a question, by its heading.
RATE, MODEL = f"{HANDOUT}, Do: more nodes, more rate?", f"{HANDOUT}, Do: latency and rate"
SEND, WAIT = f"{HANDOUT}, What MPI_Send promises", f"{HANDOUT}, Do: patience"
WORTH: dict[str, float] = {
    "eager_limit_bytes": 2,
    "saturation_bytes": 2,
    "four_nodes_times": 2,
    "model_time_us": 2,
    "half_rate_bytes": 1,
    "impatience_times": 1,
}


def _question(name: str, read: str, study: str, check: Check, variant: str = "") -> Question:
    return Question(WORTH[name], read, partial(concluded, name, study, variant, check))


QUESTIONS = {
    "eager-limit": Question(WORTH["eager_limit_bytes"], SEND, eager),
    "a7-record": Question(2, RATE, partial(whole, "A7", "")),
    "saturation-bytes": _question("saturation_bytes", RATE, "A7", saturation),
    "four-nodes": _question("four_nodes_times", RATE, "A7", four_nodes),
    "e1-record": Question(2, MODEL, partial(whole, "E1", "")),
    "model-time": Question(WORTH["model_time_us"], MODEL, model_time),
    "half-rate": _question("half_rate_bytes", MODEL, "E1", half_rate),
    "patience-record": Question(2, WAIT, partial(whole, "A7", PATIENCE)),
    "patience-times": _question("impatience_times", WAIT, "A7", impatience, PATIENCE),
}


def _a7_fault(record: Record) -> str:
    """Why this is no whole Record of A7; "" when it is."""
    found = _known(partial(rates, record)) if record.complete else None
    if found is None:
        return "it holds no rates" if record.complete else "it was cut short"
    for pattern, ranks in a7_rate_by_nodes.RUNS:
        for protocol in a7_rate_by_nodes.PROTOCOLS:
            if len(_rate(found, pattern, ranks, protocol)) < 3:
                return f"{pattern} of np {ranks}, {protocol}, has fewer than three sizes"
    return ""


def _e1_fault(record: Record) -> str:
    if not record.complete:
        return "it was cut short"
    fit = _known(partial(_line, record))
    return "" if fit else "no line can be fitted to its times"


def _patience_fault(record: Record) -> str:
    if not record.complete:
        return "it was cut short"
    times = _known(partial(_impatience, record))
    return "" if times else "it does not hold exchanges with and without patience"


FAULTS: dict[tuple[str, str], Callable[[Record], str]] = {
    ("A7", ""): _a7_fault,
    ("E1", ""): _e1_fault,
    ("A7", PATIENCE): _patience_fault,
}


def _known(look: Callable[[], T]) -> T | None:
    """What is found in a Record; None when it lacks what every measured one has."""
    try:
        return look()
    except MISSING:
        return None


def _rate(found: pd.DataFrame, pattern: str, ranks: int, protocol: str) -> pd.Series[float]:
    """Of all rates of a Record, those of one line of its figure: Mbit/s by size."""
    chosen = (found["pattern"] == pattern) & (found["ranks"] == ranks)
    rows = found[chosen & (found["protocol"] == protocol)]
    return rows.set_index("size_bytes")["rate_mbit_per_s"].sort_index()


def _line(record: Record) -> Fit:
    return alpha_beta(e1_latency_model.times(record, sweep="wide"))


def _impatience(record: Record) -> float:
    both = []
    for wish in ("never", "auto"):
        points = [p for p in record.select(patience=wish) if p.quantity == EXCHANGE]
        both.append(median([sample for point in points for sample in point.samples]))
    return float(both[0] / both[1])


def _near(value: float, wanted: float, share: float) -> bool:
    return bool(abs(value - wanted) <= share * abs(wanted))
