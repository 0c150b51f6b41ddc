"""Lab 04: points for the Records A7, E1 and of patience, and for what is concluded from them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import TypeVar

import pandas as pd

from autograder.rubrics.answers import given
from autograder.rubrics.questions import Scorer
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
Judgement = tuple[bool, str]
Judge = Callable[..., Judgement]  # of a Record and an answer; takes tolerances as a Scorer does

PATIENCE = "patience"  # the variant of A7 that the notebook's cell measures
# The size in the question model-time where the course gave no word.
ASKED_BYTES = variant.USUAL_ASKED_BYTES
# MPICH 3.4 with CH3 sends at once while the message and its header of 32 bytes are not longer than
# the default of MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE.
EAGER_LIMIT = 131_072
MOST_RECORDS = 10  # of one study, the newest first, for one answer
MISSING = (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, LabError)


def whole(study: str, variant: str, submission: Submission) -> Score:
    """All points for a whole Record, half for one that was cut short or lacks something."""
    expected = f"A whole Record {study}{f' of the variant {variant}' if variant else ''}."
    records = submission.measured(study, variant)
    if not records:
        return Score(0, 2, submission.missing(study, variant), expected)
    faults = []
    for record in records:
        if not (fault := FAULTS[study, variant](record)):
            return Score(2, 2, f"{record.file_name}: all that is needed is there.")
        faults.append(f"{record.file_name}: {fault}.")
    return Score(1, 2, faults[0], f"{expected} Measure it again.")


@dataclass(frozen=True)
class Concluded:
    """Full points when an answer is what `judge` reads from one of the learner's Records.

    A learner who runs all cells again has measured again, and has typed the figures of an earlier Record.
    """

    name: str
    study: str
    judge: Judge
    variant: str = ""

    def __call__(self, submission: Submission, **limits: float) -> Score:
        """The Score by the newest Record that the answer fits."""
        records = submission.measured(self.study, self.variant)
        if not records:
            return Score(0, 1, submission.missing(self.study, self.variant))
        answer, answered = submission.answers.get(self.name), given(submission, self.name)
        number = answer if is_number(answer) else math.nan
        wanted = []
        for record in records[:MOST_RECORDS]:
            judged = _or_none(partial(self.judge, record, number, **limits))
            if judged and judged[0]:
                return Score(1, 1, f"{answered}, which is what {record.file_name} gives.")
            if judged:
                wanted.append(f"{judged[1]} ({record.file_name})")
        if not wanted:
            fault = FAULTS[self.study, self.variant](records[0])
            return Score(0, 1, f"{records[0].file_name}: {fault}.")
        return Score(0, 1, answered, "; or ".join(wanted[:3]))


def saturation(record: Record, answer: float) -> Judgement:
    """Where np = 2, blocking, saturates; a step of the sweep more or less is near enough."""
    rate = _rate(rates(record), "pairs", 2, "blocking")
    saturates_at = a7_rate_by_nodes.saturation_bytes(rate)
    sizes = [int(size) for size in rate.index]
    place = sizes.index(saturates_at)
    low, high = sizes[max(place - 1, 0)], sizes[min(place + 1, len(sizes) - 1)]
    expected = f"{saturates_at:,} bytes, or a step of the sweep beside it ({low:,} to {high:,})"
    return low <= answer <= high, expected


def four_nodes(record: Record, answer: float, *, tolerance_percent: float) -> Judgement:
    """How often the rate of two nodes four have, in the ring, at the largest message."""
    table, times = rates(record), []
    for protocol in a7_rate_by_nodes.PROTOCOLS:
        two, four = (_rate(table, "ring", ranks, protocol).iloc[-1] for ranks in (2, 4))
        times.append(float(four / two))
    expected = f"{times[0]:.2f} times (blocking) or {times[1]:.2f} times (non-blocking)"
    right = any(_near(answer, each, tolerance_percent) for each in times)
    return right, f"{expected}, within {tolerance_percent:g} %"


def eager(submission: Submission, *, tolerance: float) -> Score:
    """Full points for the largest message that headon.c completes with the classic MPICH.

    No Record has the limit, so any Record that names the library is enough.
    """
    name = "eager_limit_bytes"
    answer, answered = submission.answers.get(name), given(submission, name)
    if not submission.records:
        return Score(0, 1, submission.missing("A7"), "A Record, which names the library.")
    libraries = {str(record.cluster.get("mpi", "unknown")) for record in submission.records}
    if "classic" not in libraries:
        theirs = " and ".join(sorted(libraries))
        wanted = f"The limit of the classic MPICH; the library of the Records is {theirs}."
        return Score(0, 1, answered, f"{wanted} Ask your instructor.")
    right = is_number(answer) and 0 <= EAGER_LIMIT - float(answer) <= tolerance
    wanted = f"{EAGER_LIMIT:,} bytes less a header, or up to {tolerance:g} bytes less"
    return Score(int(right), 1, answered, wanted)


def model_time(submission: Submission, *, tolerance_percent: float) -> Score:
    """The model's time for the size in the learner's question; another learner's size is reported."""
    own = submission.own
    size_bytes = variant.asked_bytes(own.word) if own else ASKED_BYTES
    score = _model_time(size_bytes, submission, tolerance_percent)
    if score.points or own is None:
        return score
    for size in sorted({*variant.ASKED_BYTES, ASKED_BYTES} - {size_bytes}):
        if _model_time(size, submission, tolerance_percent).points:
            whose = "without your course's word" if size == ASKED_BYTES else "for another learner"
            note = f"{score.found}, which is right for {size:,} bytes, the question {whose}"
            return replace(score, found=note)
    return score


def _model_time(size_bytes: int, submission: Submission, tolerance_percent: float) -> Score:
    scorer = Concluded("model_time_us", "E1", partial(time_of, size_bytes))
    return scorer(submission, tolerance_percent=tolerance_percent)


def time_of(
    size_bytes: int, record: Record, answer: float, *, tolerance_percent: float
) -> Judgement:
    """alpha + n / beta for so many bytes."""
    fit = _line(record)
    alpha, beta, wanted = fit.alpha_us.value, fit.beta_bytes_per_s.value, fit.time_us(size_bytes)
    model = f"{alpha:.3g} µs + {size_bytes:,} bytes / ({beta:,.0f} bytes/s)"
    right = _near(answer, wanted, tolerance_percent)
    return right, f"{model} = {wanted:,.0f} µs, within {tolerance_percent:g} %"


def half_rate(record: Record, answer: float, *, tolerance_percent: float) -> Judgement:
    """alpha times beta: the size whose bytes take as long as alpha."""
    fit = _line(record)
    wanted = fit.alpha_us.value * 1e-6 * fit.beta_bytes_per_s.value
    right = _near(answer, wanted, tolerance_percent)
    return right, f"alpha * beta = {wanted:,.0f}, within {tolerance_percent:g} %"


def impatience(record: Record, answer: float, *, tolerance_percent: float) -> Judgement:
    """How often an exchange without patient polling takes as long as one with it."""
    times = _impatience(record)
    right = _near(answer, times, tolerance_percent)
    return right, f"{times:.3g} times, within {tolerance_percent:g} %"


SCORERS: dict[str, Scorer] = {
    "eager-limit": eager,
    "a7-record": partial(whole, "A7", ""),
    "saturation-bytes": Concluded("saturation_bytes", "A7", saturation),
    "four-nodes": Concluded("four_nodes_times", "A7", four_nodes),
    "e1-record": partial(whole, "E1", ""),
    "model-time": model_time,
    "half-rate": Concluded("half_rate_bytes", "E1", half_rate),
    "patience-record": partial(whole, "A7", PATIENCE),
    "patience-times": Concluded("impatience_times", "A7", impatience, PATIENCE),
}


def _a7_fault(record: Record) -> str:
    """Why this is no whole Record of A7; "" when it is."""
    table = _or_none(partial(rates, record)) if record.complete else None
    if table is None:
        return "it holds no rates" if record.complete else "it was cut short"
    for pattern, ranks in a7_rate_by_nodes.RUNS:
        for protocol in a7_rate_by_nodes.PROTOCOLS:
            if len(_rate(table, pattern, ranks, protocol)) < 3:
                return f"{pattern} of np {ranks}, {protocol}, has fewer than three sizes"
    return ""


def _e1_fault(record: Record) -> str:
    if not record.complete:
        return "it was cut short"
    fit = _or_none(partial(_line, record))
    return "" if fit else "no line can be fitted to its times"


def _patience_fault(record: Record) -> str:
    if not record.complete:
        return "it was cut short"
    times = _or_none(partial(_impatience, record))
    return "" if times else "it does not hold exchanges with and without patience"


FAULTS: dict[tuple[str, str], Callable[[Record], str]] = {
    ("A7", ""): _a7_fault,
    ("E1", ""): _e1_fault,
    ("A7", PATIENCE): _patience_fault,
}


def _or_none(look: Callable[[], T]) -> T | None:
    """What `look` reads from a Record; None when it lacks what every measured one has."""
    try:
        return look()
    except MISSING:
        return None


def _rate(table: pd.DataFrame, pattern: str, ranks: int, protocol: str) -> pd.Series[float]:
    """Of all rates of a Record, those of one line of its figure: Mbit/s by size."""
    chosen = (table["pattern"] == pattern) & (table["ranks"] == ranks)
    rows = table[chosen & (table["protocol"] == protocol)]
    return rows.set_index("size_bytes")["rate_mbit_per_s"].sort_index()


def _line(record: Record) -> Fit:
    return alpha_beta(e1_latency_model.times(record, sweep="wide"))


def _impatience(record: Record) -> float:
    both = []
    for wish in ("never", "auto"):
        points = [p for p in record.select(patience=wish) if p.quantity == EXCHANGE]
        both.append(median([sample for point in points for sample in point.samples]))
    return float(both[0] / both[1])


def _near(value: float, wanted: float, percent: float) -> bool:
    return bool(abs(value - wanted) <= percent / 100 * abs(wanted))
