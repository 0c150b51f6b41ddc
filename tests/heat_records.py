"""Records of the heat program, fabricated for tests; their warnings say that nobody measured them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from beowulf.exercises.heat.measurements import EXCHANGES
from beowulf.record import Point, Record
from tests import heat_solutions
from tests.gold.measured import LABEL, WHEN

PASSES, LAUNCHES = 10, 3
SPREAD = 1e-3  # from one sample to the next, as a share


def function(name: str, why: str = "", source: str | None = None, **more: Any) -> Point:
    """What a Record says of a function of the learner's."""
    text = heat_solutions.source(name) if source is None else source
    digest = hashlib.sha256(text.encode()).hexdigest()
    facts = {"source": text, "sha256": digest, "given": False, "right": not why, "why": why}
    return Point({"function": name}, facts=facts | more)


def samples(quantity: str, seconds: float, n: int = PASSES, **at: Any) -> list[Point]:
    """The samples of each launch at one place."""
    return [
        Point(
            {"ranks": 4, "rows": 402, "columns": 1000, **at, "launch": launch},
            quantity,
            [seconds * (1 + SPREAD * ((number + launch) % 5 - 2)) for number in range(n)],
            {"pass": list(range(n))},
        )
        for launch in range(LAUNCHES)
    ]


def record(study: str, points: Iterable[Point], variant: str = "", **more: Any) -> Record:
    """A whole Record of these points."""
    return Record(study, points=list(points), variant=variant, warnings=[LABEL], **WHEN, **more)


def steps(n: int = PASSES, faults: Mapping[str, str] | None = None) -> Record:
    """H2: loops take 1000 ns a point, numpy 5, C 1."""
    wrong = faults or {}
    points = []
    for name, way, ns in (
        ("step_loops", "loops", 1000),
        ("step_numpy", "numpy", 5),
        ("heat_step", "C", 1),
    ):
        points.append(function(name, wrong.get(name, "")))
        for rows in (100,) if way == "loops" else (100, 500):
            if name not in wrong:
                seconds = ns * 1e-9 * (rows - 2) ** 2
                points += samples("step_s", seconds, n, way=way, ranks=1, rows=rows, columns=rows)
    return record("H2", points)


def speed_up(times: tuple[float, ...] = (1.0, 1.8, 2.0, 1.9)) -> Record:
    """H3: so many times as fast on 1, 2, ... ranks."""
    points = [function("my_rows"), function("run")]
    for ranks, factor in enumerate(times, 1):
        points += samples("step_s", 8e-3 / factor, way="run", ranks=ranks, rows=1200, columns=1200)
    return record("H3", points)


def exchanges(
    ends: int = 16_380, hangs: int = 16_381, faults: Mapping[str, str] | None = None
) -> Record:
    """H4: an exchange takes half a millisecond and 1.3 µs a column, in turns twice that."""
    wrong, points = faults or {}, []
    for way, name in EXCHANGES.items():
        points.append(function(name, wrong.get(name, ""), given=way == "in_turns"))
        for columns in () if name in wrong else (100, 1000, 10_000):
            seconds = (5e-4 + 1.3e-6 * columns) * (2 if way == "in_turns" else 1)
            points += samples("exchange_s", seconds, way=way, columns=columns)
            points += samples("step_s", seconds + 1e-3, way=way, columns=columns)
    facts = {"ends_columns": ends, "hangs_columns": hangs, "waits": "it waits" if hangs else ""}
    points.append(Point({"search": "deadlock", "way": "send_first", "ranks": 2}, facts=facts))
    return record("H4", points)


def overlap(language: str = "Python", hidden: float = 0.8) -> Record:
    """H5: an exchange of 5 ms, a step of 6 ms; so much of the exchange is hidden."""
    name = "overlapped" if language == "C" else "overlapped_step"
    points = [function(name)]
    for columns, scale in ((8000, 1.0), (20_000, 2.5)):
        at = {"ranks": 2, "rows": 258, "columns": columns, "language": language}
        points += samples("exchange_s", 5e-3 * scale, way="exchange", **at)
        points += samples("compute_s", 6e-3 * scale, way="compute", **at)
        points += samples("step_s", 11e-3 * scale, way="before", **at)
        points += samples("step_s", (11e-3 - hidden * 5e-3) * scale, way="overlapped", **at)
    return record("H5", points, language.lower())


MPI_CLUSTER = {"kind": "namespaces", "mpi": "classic"}


def run_on_a_timeline(
    run: str, waits: Sequence[tuple[int, str, str, int, float]] = (), ranks: int = 4
) -> list[Point]:
    """What a Record keeps of a run on a timeline; each wait is of a rank, in a call, why, for which rank, in ms."""
    at = {"timeline": run}
    about = {"trace": "launch-01.trace", "events": 180, "messages": 30, "length_ms": 200.0}
    points = [Point(at, facts={**about, "began_ns": 45_000_000})]
    for rank in range(ranks):
        waiting = sum(each[4] for each in waits if each[0] == rank)
        parts = {"computing_ms": 150.0, "network_ms": 50.0 - waiting, "waiting_ms": waiting}
        points.append(Point({**at, "rank": rank}, facts=parts))
    for number, (rank, call, reason, cause, ms) in enumerate(waits):
        facts = {"at_ms": 10.0 * number, "rank": rank, "call": call, "reason": reason}
        points.append(
            Point({**at, "wait": number}, facts={**facts, "for_rank": cause, "wait_ms": ms})
        )
        if reason == "never ended":
            points.append(Point({**at, "stuck": rank}, facts={"call": call, "for_rank": cause}))
    return points


def exchanges_timeline(waits_for: Sequence[int] = (1, 0, 1, 2)) -> Record:
    """T4: each rank of the deadlock waits for one of `waits_for`; in turns rank 2 waits for 6.5 ms."""
    stuck = [(rank, "MPI_Send", "never ended", of, 9.0) for rank, of in enumerate(waits_for)]
    points = [function(name) for name in EXCHANGES.values()]
    points += run_on_a_timeline("deadlock", stuck)
    points += run_on_a_timeline(
        "in turns", [(2, "MPI_Recv", "late sender", 1, 6.5), (0, "MPI_Recv", "late sender", 1, 6.4)]
    )
    points += run_on_a_timeline("non-blocking", [(1, "MPI_Waitall", "late sender", 0, 0.5)])
    return record("T4", points, cluster=MPI_CLUSTER)


def overlap_timeline() -> Record:
    """T5: nobody waits with short rows, and rank 0 waits for 13 ms with long ones."""
    points = [function("overlapped_step"), *run_on_a_timeline("64,000 bytes", ranks=2)]
    waits = [(0, "MPI_Waitall", "rendezvous", 1, 13.0)]
    return record("T5", [*points, *run_on_a_timeline("160,000 bytes", waits, ranks=2)])


def wire(ranks: int = 4, number: int = 20, columns: int = 1000) -> Record:
    """H6: each step sends a row each way between neighbours, of 500 bytes more on the wire."""
    rows, row_bytes = 2 * (ranks - 1) * number, 8 * columns
    facts: dict[str, Any] = {"steps": number, "way": "nonblocking"}
    facts |= {
        "ghost_rows": rows,
        "ghost_row_bytes": row_bytes,
        "ghost_packets": 9 * rows,
        "ghost_ack_packets": 3 * rows,
        "ghost_wire_bytes": (row_bytes + 500) * rows,
        "lengths": [[66, 3 * rows + 200], [146, 40], [906, rows], [1514, 5 * rows]],
    }
    at = {"capture": "steps", "ranks": ranks, "rows": 402, "columns": columns}
    points = [function("step_numpy"), function("exchange_nonblocking")]
    points += [*samples("step_s", 2e-3, 1, way="nonblocking")[:1], Point(at, facts=facts)]
    return record("H6", points, sweep={"columns": columns, "steps": number})


def worth(times: float = 0.8, knob: str = "firewall") -> Record:
    """H7: with the knob turned all takes so many times as long."""
    points = [function("step_numpy"), function("exchange_nonblocking")]
    for launch, state in enumerate(("before", "after", "after", "before") * 3):
        factor = times if state == "after" else 1.0
        for quantity, seconds in (("exchange_s", 5e-4), ("step_s", 1e-3)):
            drift = 1 + 0.01 * launch  # a machine that gets slower meanwhile
            at = {"way": "nonblocking", "state": state}
            point, *_ = samples(quantity, seconds * factor * drift, 25, **at)
            points.append(replace(point, at={**point.at, "launch": launch}))
    return record("H7", points, knob)
