"""Lab 05's Records as nobody measured them: messages that wait above the limit, and hide below it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import Any

from beowulf.labs.lab_05 import own_step
from beowulf.labs.lab_05.overlap import DEFAULT, KB, ONE_USER, SOLARIS, TESTED, THREADED
from beowulf.record import Point, Record
from tests import heat_records, heat_solutions
from tests.gold import measured
from tests.gold.case import worth
from tests.gold.hand_in import plain_answers

SLUG = "05-overlap"
record, sealed = measured.record, partial(measured.sealed, 5)
PASSES = 12
# A step of the plate: what its exchange and its rows take by the bytes of a row, at 100 Mbit/s, and what is hidden.
US_A_BYTE = {"exchange": 0.08, "compute": 0.075}
QUANTITY = {"exchange": "exchange_s", "compute": "compute_s"}
HIDDEN = 0.3  # of the one after the other
EAGER_COLUMNS = 16_380
C_COLUMNS = (8000, 20_000)
RIGHT: dict[str, Any] = plain_answers(SLUG) | {
    "limit_16_kb": "not supported",
    "limit_64_kb": "supported",
    "limit_16_kb_test": "supported",
    "short_wait_ms": 0.0,
    "long_wait_ms": 13.0,
    "long_reason": "rendezvous",
    "row_of_64000": "kernel",
    "row_of_160000": "nobody",
    "row_of_160000_test": "library",
    "gain_percent": -100 * HIDDEN,
    "bound_percent": -100 * 0.075 / 0.155,
    "last_by_itself_kb": 10,
    "first_that_waits_kb": 20,
    "plain_percent": 0.0,
    "tested_percent": -40.0,
    "table_minima_percent": -0.947,
}

WORTH = worth(SLUG)
# What needs no answer.
MEASURED = worth(
    SLUG,
    *("predict-arrival", "predict-gain", "d1-record", "d2-record"),
    *("overlap-python", "overlap-c", "exchange", "gain-plot"),
)


def point(quantity: str, at: Mapping[str, Any], value: float) -> Point:
    """A Point with a sample a pass, nearly alike."""
    samples = [value * (1 + 0.001 * (number % 3)) for number in range(PASSES)]
    return Point({**at, "ranks": 2, "launch": 0}, quantity, samples, {"pass": list(range(PASSES))})


def one_message(waits: bool = True) -> Record:
    """D1: rank 1 is late with the small limit, unless `waits` says otherwise."""
    points = []
    for way, size in ((ONE_USER, 40_000), (SOLARIS, 40_000), (TESTED, 40_000)):
        late = way is ONE_USER and waits
        for name, value in {
            "0 worked": 0.1,
            "0 ended": 0.1001,
            "1 worked": 0.05,
            "1 ended": 0.104 if late else 0.0501,
        }.items():
            rank, event = name.split()
            at = {**way.at, "work": "delay", "size_bytes": size, "rank": int(rank), "event": event}
            points.append(point("since_barrier_s", at, value))
    return record("D1", points)


def sweep(jump_kb: int = 15, other_kb: int = 65) -> Record:
    """A D2 whose larger messages wait, with the smaller limit and with the larger one."""
    points = []
    for way, jump in ((ONE_USER, jump_kb), (SOLARIS, other_kb)):
        for size in range(10, 90, 10):
            at = {**way.at, "size_bytes": size * KB}
            points.append(point("duration_s", {**at, "rank": 0}, 0.1))
            late = size > jump
            points.append(point("duration_s", {**at, "rank": 1}, 0.101 if late else 0.001))
    return record("D2", points)


def gains() -> Record:
    """A D5: ways that hide the message gain 40 %."""
    points = []
    for way, kb in product((DEFAULT, ONE_USER, TESTED, THREADED), (7, 14, 28, 42, 56, 70)):
        hidden = way is not ONE_USER or kb * KB <= way.limit_bytes
        times = {"comm": 6e-3, "comp": 6e-3, "before": 12e-3, "during": 7.2e-3 if hidden else 12e-3}
        for rank, (part, value) in product((0, 1), times.items()):
            at = {**way.at, "size_bytes": kb * KB, "rank": rank, "part": part}
            points.append(point("duration_s", at, value))
    return record("D5", points)


def own(gained: float = -0.4, **changes: float) -> Record:
    """A learner's own exchange that gained so much."""
    times = {"comm": 0.017, "comp": 0.02, "before": 0.037, "during": 0.037 * (1 + gained)}
    points = [
        point("duration_s", {"size_bytes": 200_000, "rank": rank, "part": part}, value)
        for rank in (0, 1)
        for part, value in (times | changes).items()
    ]
    return record("D4", points, variant="exchange")


def source(tests: bool) -> str:
    """The text of an overlapped step of a learner's own, with calls of MPI_Test or without."""
    text = heat_solutions.source("overlapped_step")
    return text if tests else text.replace("        MPI.Request.Testall(requests)\n", "")


def step(
    tests: bool = True,
    *,
    language: str = "python",
    text: str = "",
    why: str = "",
    hidden: float | None = None,
    parts: Mapping[str, float] | None = None,
    meanwhile: float = 0.8,
    **other: Any,
) -> Record:
    """A learner's overlapped step, which hides a part of a long row's time only with `tests`, or is wrong (`why`).

    `hidden` is what it hides at every size, `parts` the microseconds a byte of other parts, `meanwhile` the share of
    its own work that a recording shows while its rows travel.
    """
    in_c = language == "c"
    name = own_step.FUNCTIONS[language]
    text = text or (heat_solutions.source(name) if in_c else source(tests))
    digest = hashlib.sha256(text.encode()).hexdigest()
    facts = {"source": text, "sha256": digest, "given": False, "right": not why, "why": why}
    calls = ["MPI_Irecv", "MPI_Isend", *(["MPI_Testall"] if tests else []), "MPI_Waitall"]
    facts |= {"mpi_calls": calls, "meanwhile_share": meanwhile}
    points = [Point({"function": name}, facts=facts)]
    for columns in () if why else C_COLUMNS if in_c else own_step.COLUMNS:
        us = {**US_A_BYTE, **(parts or {})}
        us.setdefault("before", us["exchange"] + us["compute"])
        share = HIDDEN if tests or columns <= EAGER_COLUMNS else 0.0
        us["overlapped"] = us["before"] * (1 - (share if hidden is None else hidden))
        for way, each in us.items():
            at = {"way": way, "rows": 802 if in_c else 258, "columns": columns}
            quantity = QUANTITY.get(way, "step_s")
            points.append(point(quantity, {**at, "language": language}, each * 8e-6 * columns))
    return record("H5", points, variant=language, **other)


def gain_plot(**other: Any) -> Record:
    """The gains of both versions, and the bound."""
    sizes = [8 * columns for columns in own_step.COLUMNS]
    long = 8 * EAGER_COLUMNS
    lines = {
        "without": {size: -100 * HIDDEN if size < long else 0.0 for size in sizes},
        "with": dict.fromkeys(sizes, -100 * HIDDEN),
        "bound": dict.fromkeys(sizes, RIGHT["bound_percent"]),
    }
    labels = {"x_label": "ghost row (bytes)", "y_label": "improvement (%)"}
    return measured.plot("F5", "gain", lines, **{**labels, **other})


def records() -> list[Record]:
    """Every Record that a whole hand-in of lab 05 has."""
    earlier = {"started": "2024-01-05T09:55:00.000Z", "ended": "2024-01-05T09:57:00.000Z"}
    return [
        one_message(),
        sweep(),
        sealed("arrival", 54, 50, 60, "D1"),
        sealed("gain", -20, -40, 0, "H5-python"),
        step(tests=False, **earlier),
        step(),
        heat_records.overlap_timeline(),
        gain_plot(),
        step(language="c"),
        gains(),
        own(),
    ]
