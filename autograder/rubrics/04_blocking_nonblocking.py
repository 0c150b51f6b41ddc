"""Lab 04: points for a learner's own round trips, plots and exchanges, and for what is concluded from the Records."""

from __future__ import annotations

from functools import partial

from autograder.rubrics import facts_04, heat, own_plots
from autograder.rubrics.answers import given, is_near
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
from beowulf.course import personal_code
from beowulf.exercises import calls
from beowulf.exercises.heat import timelines
from beowulf.exercises.plot_reading import Wants
from beowulf.labs.lab_04 import own_roundtrip
from beowulf.measure.roundtrips import HALF
from beowulf.record import Record

# MPICH 3.4 with CH3 sends at once while the message and its header of 32 bytes are not longer than
# the default of MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE.
EAGER_LIMIT, HEADER_BYTES = 131_072, 32
COLUMN_BYTES = 8
# As the notebook asks for them.
TIMES = Wants(x="size in bytes", y="time in µs", log_x=True, log_y=True, lines=4, points=7)
RATES = Wants(x="size in bytes", y="rate in Mbit/s", log_x=True, lines=3, points=7)
SMALL_BYTES, LARGE_BYTES, FEWEST_SAMPLES = 8, 1_048_576, 30
# The points of each exchange of ghost rows: that with a deadlock is easier to write.
EXCHANGES = {"exchange_send_first": 1, "exchange_nonblocking": 2}


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


def columns_within(submission: Submission, *, tolerance_percent: float) -> Score:
    """How many columns a ghost row may have with the eager limit that is drawn for the learner."""
    limit = personal_code.asked_limit(submission.code)
    wanted = (limit - HEADER_BYTES) // COLUMN_BYTES
    says = f"({limit:,} - {HEADER_BYTES} bytes of header) / {COLUMN_BYTES}"
    return near(submission, {"most_columns": wanted}, says, tolerance_percent=tolerance_percent)


def line_at(submission: Submission, facts: Facts, by: str, *, tolerance_percent: float) -> Score:
    """What the weighted fit gives a message of the size that is drawn for the learner."""
    size = personal_code.asked_bytes(submission.code)
    time_us = facts["weighted_alpha_us"] + size / facts["weighted_bandwidth_bytes_per_us"]
    where = f"for {size:,} bytes, by {by}"
    return near(submission, {"model_time_us": time_us}, where, tolerance_percent=tolerance_percent)


def own(protocol: str, submission: Submission, *, slowest_times_c: float) -> Score:
    """All points for a round trip of one's own that is right; half where it gets some messages there, or is odd."""

    def judge(record: Record, expected: str) -> Score:
        facts = own_roundtrip.own(record)
        samples: dict[int, list[float]] = {SMALL_BYTES: [], LARGE_BYTES: []}
        for size, found in samples.items():
            for point in record.select(language=own_roundtrip.OWN, size_bytes=size):
                found += point.samples if point.quantity == HALF else []
        if not all(samples.values()):
            why = " ".join(map(str, facts.get("faults", []))) or "It has no times of yours."
            return Score(0, 2, f"{record.file_name}: {why}", expected)
        faults = [*map(str, facts.get("faults", []))]
        if not record.complete:
            faults.append("It was cut short.")
        if others := calls.not_asked(facts.get("mpi_calls", ()), protocol):
            faults.append(f"A recording of it shows {others}, which is not {protocol}.")
        if (fewest := min(map(len, samples.values()))) < FEWEST_SAMPLES:
            faults.append(f"It has {fewest} samples of a size; {FEWEST_SAMPLES} are needed.")
        faults += _pace(record, slowest_times_c)
        said = " ".join(faults) or "it is right, and as fast as Python allows."
        return Score(1 if faults else 2, 2, f"{record.file_name}: {said}", expected)

    expected = (
        f"Right data and times at {SMALL_BYTES} to {LARGE_BYTES:,} bytes, from {own_roundtrip.TOO_FAST:g} to"
        f" {slowest_times_c:g} times as long as C, nearly as long for the largest one, by {protocol} calls."
    )
    return best_of_own(
        own_roundtrip.STUDY, own_roundtrip.VARIANTS[protocol], expected, judge, submission
    )


def _pace(record: Record, slowest: float) -> list[str]:
    """What is odd about how long a learner's function takes beside C."""
    mine, c = facts_04.own_times(record)
    for size in (SMALL_BYTES, LARGE_BYTES):
        if size not in mine or size not in c:
            return [f"It lacks {size:,} bytes."]
        times, least, most = mine[size] / c[size], own_roundtrip.TOO_FAST, slowest
        if size == LARGE_BYTES and record.cluster.get("rate"):
            least, most = own_roundtrip.LARGE_TIMES_C
        if not least <= times <= most:
            return [f"At {size:,} bytes it takes {times:.3g} times as long as C."]
    return []


def saturation(submission: Submission, facts: Facts, by: str) -> Score:
    """Where np = 2, blocking, saturates; a step of the sweep more or less is near enough."""
    name = "saturation_bytes"
    low, high = facts["low_bytes"], facts["high_bytes"]
    right = is_near(submission, name, (low + high) / 2, (high - low) / 2)
    beside = f"or a step of the sweep beside it ({low:,} to {high:,}; by {by})"
    return Score(int(right), 1, given(submission, name), f"{facts[name]:,} bytes, {beside}")


def four_nodes(submission: Submission, facts: Facts, by: str, *, tolerance_percent: float) -> Score:
    """How often the rate of two nodes four have, in the ring, at the largest message."""
    wanted = {"four_nodes_times": (facts["blocking"], facts["nonblocking"])}
    where = f"blocking, or {facts['nonblocking']:.3g} non-blocking, by {by}"
    return near(submission, wanted, where, tolerance_percent=tolerance_percent)


SCORERS: dict[str, Scorer] = {
    "predict-saturation": sealed("saturation"),
    "eager-limit": eager,
    "other-limit": columns_within,
    "own-blocking": partial(own, "blocking"),
    "own-nonblocking": partial(own, "nonblocking"),
    "fit": ByRecord(
        facts_04.fits,
        own_roundtrip.STUDY,
        numbers_and_words(
            "plain_alpha_us",
            "weighted_alpha_us",
            "weighted_bandwidth_bytes_per_us",
            "half_rate_bytes",
        ),
        facts_04.OWN,
    ),
    "model-time": ByRecord(facts_04.fits, own_roundtrip.STUDY, line_at, facts_04.OWN),
    "times-plot": own_plots.Plot(
        "times",
        TIMES,
        own_plots.of_records(own_roundtrip.STUDY, facts_04.own_times, variant=facts_04.OWN),
    ),
    "predict-deadlock": sealed("deadlock"),
    "exchange": heat.right("H4", EXCHANGES),
    "timeline": ByRecord(
        heat.exchanges_timeline,
        timelines.EXCHANGED,
        numbers_and_words(
            "rank_1_waits_for", "circle_lowest_rank", "turns_reason", "turns_wait_ms"
        ),
    ),
    "a7-record": partial(record_of, facts_04.by_nodes, "A7"),
    "rates-plot": own_plots.Plot("rates", RATES, facts_04.ring_rates),
    "saturation-bytes": ByRecord(facts_04.by_nodes, "A7", saturation),
    "four-nodes": ByRecord(facts_04.by_nodes, "A7", four_nodes),
    "predict-impatience": sealed("impatience"),
    "patience-times": ByRecord(
        facts_04.impatience, "A7", numbers_and_words("impatience_times"), facts_04.PATIENCE
    ),
}
