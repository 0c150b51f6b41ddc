"""Lab 04: points for the Records A7, E1 and of patience, and for what is concluded from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median
from typing import TypeVar

import pandas as pd

from autograder.rubrics import Question, ask
from autograder.score import Score
from autograder.submission import Submission, is_number
from beowulf.errors import LabError
from beowulf.measure.fit import Fit, alpha_beta
from beowulf.measure.roundtrips import EXCHANGE, rates
from beowulf.record import Record
from beowulf.studies import a7_rate_by_nodes, e1_latency_model

T = TypeVar("T")

HANDOUT = "labs/04-blocking-nonblocking/README.md"
PATIENCE = "patience"  # the variant of A7 that the notebook's cell measures
# What the notebook asks for in the question model-time.
ASKED_BYTES = 500_000
# alpha and beta are read off a figure's title with three digits, and the sum may be rounded again.
MODEL_RELATIVE = 0.05
# Medians are read off a table or a plot; blocking and non-blocking both count.
RATIO_RELATIVE = 0.10
# MPICH 3.4 with CH3 sends at once while the message and its header of 32 bytes are not longer than
# the default of MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE; halving the interval ten times comes so near.
EAGER_LIMIT, EAGER_RELATIVE = 131_072, 0.005
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
    record, why = _counts(submission, study, variant)
    if record is None or why:
        return Score(1, 2, why, f"{expected} Measure it again.")
    return Score(2, 2, f"{record.file_name}: all that is needed is there.")


def saturation(submission: Submission) -> Score:
    """Where np = 2, blocking, saturates in the learner's own A7; a step of the sweep more or less."""
    record, why = _counts(submission, "A7")
    found = _known(partial(rates, record)) if record else None
    rate = None if found is None else _rate(found, "pairs", 2, "blocking")
    if rate is None or rate.empty:
        return Score(0, 2, why)
    from_here = a7_rate_by_nodes.saturation_bytes(rate)
    sizes = [int(size) for size in rate.index]
    place = sizes.index(from_here)
    low, high = sizes[max(place - 1, 0)], sizes[min(place + 1, len(sizes) - 1)]
    answer = submission.answers.get("saturation_bytes")
    right = is_number(answer) and low <= answer <= high
    expected = f"{from_here:,} bytes, or a step of your sweep beside it ({low:,} to {high:,})"
    return _answered(submission, "saturation_bytes", right, expected)


def four_nodes(submission: Submission) -> Score:
    """How often the rate of two nodes four have, in the ring, at the largest message."""
    record, why = _counts(submission, "A7")
    times = _known(partial(_gains, record)) if record else None
    if times is None:
        return Score(0, 2, why)
    answer = submission.answers.get("four_nodes_times")
    right = is_number(answer) and any(_near(answer, each, RATIO_RELATIVE) for each in times)
    expected = (
        f"{times[0]:.2f} times (blocking) or {times[1]:.2f} times (non-blocking), within 10 %"
    )
    return _answered(submission, "four_nodes_times", right, expected)


def eager(submission: Submission) -> Score:
    """The largest message that headon.c brings home, for the library that the Records name."""
    record, why = _counts(submission, "A7")
    if record is None:
        return Score(0, 2, why)
    library = str(record.cluster.get("mpi", ""))
    if library != "classic":
        said = f"Your Records were measured with the library {library or 'unknown'}."
        return Score(0, 2, said, "The question is about the classic MPICH: `beowulf up`.")
    answer = submission.answers.get("eager_limit_bytes")
    right = is_number(answer) and _near(answer, EAGER_LIMIT, EAGER_RELATIVE)
    expected = f"{EAGER_LIMIT:,} bytes less a header, within 0.5 %"
    return _answered(submission, "eager_limit_bytes", right, expected)


def model_time(submission: Submission) -> Score:
    """alpha + n / beta for ASKED_BYTES, with alpha and beta of the learner's own E1."""
    fit, why = _fit(submission)
    if fit is None:
        return Score(0, 2, why)
    wanted = fit.time_us(ASKED_BYTES)
    answer = submission.answers.get("model_time_us")
    right = is_number(answer) and _near(answer, wanted, MODEL_RELATIVE)
    return _answered(submission, "model_time_us", right, f"{_model(fit)} = {wanted:,.0f} us, 5 %")


def half_rate(submission: Submission) -> Score:
    """alpha times beta: the size whose bytes take as long as alpha; from the learner's own E1."""
    fit, why = _fit(submission)
    if fit is None:
        return Score(0, 1, why)
    wanted = fit.alpha_us.value * 1e-6 * fit.beta_bytes_per_s.value
    answer = submission.answers.get("half_rate_bytes")
    # A small alpha has two digits on the figure, so that the product may be off by more.
    right = is_number(answer) and _near(answer, wanted, RATIO_RELATIVE)
    return _answered(submission, "half_rate_bytes", right, f"alpha * beta = {wanted:,.0f}, 10 %", 1)


def patience(submission: Submission) -> Score:
    """How often an exchange without patient polling takes as long as one with it."""
    record, why = _counts(submission, "A7", PATIENCE)
    times = _known(partial(_impatience, record)) if record else None
    if times is None:
        return Score(0, 1, why)
    answer = submission.answers.get("impatience_times")
    right = is_number(answer) and _near(answer, times, RATIO_RELATIVE)
    return _answered(submission, "impatience_times", right, f"{times:.3g} times, within 10 %", 1)


# The handout's section that answers a question, by its heading.
RATE, MODEL = f"{HANDOUT}, Do: more nodes, more rate?", f"{HANDOUT}, Do: latency and rate"
SEND, WAIT = f"{HANDOUT}, What MPI_Send promises", f"{HANDOUT}, Do: patience"
QUESTIONS = {
    "eager-limit": Question(2, SEND, eager),
    "a7-record": Question(2, RATE, partial(whole, "A7", "")),
    "saturation-bytes": Question(2, RATE, saturation),
    "four-nodes": Question(2, RATE, four_nodes),
    "e1-record": Question(2, MODEL, partial(whole, "E1", "")),
    "model-time": Question(2, MODEL, model_time),
    "half-rate": Question(1, MODEL, half_rate),
    "patience-record": Question(2, WAIT, partial(whole, "A7", PATIENCE)),
    "patience-times": Question(1, WAIT, patience),
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


def _counts(submission: Submission, study: str, variant: str = "") -> tuple[Record | None, str]:
    """The newest whole Record, else the newest; and why an answer cannot be held against it."""
    found = submission.measured(study, variant)
    if not found:
        return None, submission.missing(study, variant)
    faults = []
    for record in found:
        faults.append(FAULTS[study, variant](record))
        if not faults[-1]:
            return record, ""
    return found[0], f"{found[0].file_name}: {faults[0]}."


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


def _gains(record: Record) -> list[float]:
    found, times = rates(record), []
    for protocol in a7_rate_by_nodes.PROTOCOLS:
        two, four = (_rate(found, "ring", ranks, protocol).iloc[-1] for ranks in (2, 4))
        times.append(float(four / two))
    return times


def _fit(submission: Submission) -> tuple[Fit | None, str]:
    record, why = _counts(submission, "E1")
    return (_known(partial(_line, record)) if record else None), why


def _line(record: Record) -> Fit:
    return alpha_beta(e1_latency_model.times(record, sweep="wide"))


def _model(fit: Fit) -> str:
    alpha, beta = fit.alpha_us.value, fit.beta_bytes_per_s.value
    return f"alpha + n / beta = {alpha:.3g} us + {ASKED_BYTES:,} / ({beta:.3g} bytes/s)"


def _impatience(record: Record) -> float:
    both = []
    for wish in ("never", "auto"):
        points = [p for p in record.select(patience=wish) if p.quantity == EXCHANGE]
        both.append(median([sample for point in points for sample in point.samples]))
    return float(both[0] / both[1])


def _near(value: float, wanted: float, share: float) -> bool:
    return bool(abs(value - wanted) <= share * abs(wanted))


def _answered(
    submission: Submission, name: str, right: bool, expected: str, of: float = 2
) -> Score:
    return Score(of if right else 0, of, f"{name} = {_given(submission, name)}", expected)


def _given(submission: Submission, name: str) -> str:
    """The learner's answer as they wrote it, or why there is none."""
    if submission.answers.get(name) is not None:
        return repr(submission.answers[name])[:200]
    if name in submission.unread_answers:
        return f"{submission.unread_answers[name]}, which is no plain value: write the value itself"
    return " ".join(["no answer", *submission.notes])
