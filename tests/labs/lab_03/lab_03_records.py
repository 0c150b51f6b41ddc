"""Records of E3 and E4 as a quiet machine would make them: of one state of a cluster, or of two."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from beowulf.measure.statistics import LEAST_PAIRS
from beowulf.record import Point, Record
from beowulf.suites.hpcc_results import RESULTS
from tests.gold import measured
from tests.made import CLUSTER, QUIET
from tests.studies.null_records import Noise

HPL = {"n": 960, "nb": 80, "p": 2, "q": 2, "runs": 8, "launches": 1}
USUAL = {
    "hpl_gflops": 0.5,
    "dgemm_gflops": 1.5,
    "stream_gb_per_s": 8.0,
    "ptrans_gb_per_s": 0.02,
    "bandwidth_gb_per_s": 0.01,
    "latency_us": 20.0,
    "least_latency_us": 10.0,
    "ring_latency_us": 60.0,
}


def record(study: str, points: Iterable[Point], *states: str, **sweep: Any) -> Record:
    """A Record of a study that was measured in these states."""
    circumstances = {"before": QUIET, "after": QUIET}
    about = {"quick": False, "states": list(states), **sweep}
    return measured.record(
        study, points, cluster=CLUSTER, circumstances=circumstances, sweep=about, warnings=[]
    )


def noisy(record: Record, noise: Noise) -> Record:
    """The same Record, with each sample times a factor of this noise."""
    points = [
        replace(p, samples=[a * b for a, b in zip(p.samples, noise(len(p.samples)), strict=True)])
        for p in record.points
    ]
    return replace(record, points=points)


def solved(state: str = "as found", gflops: float = 0.5, **changes: object) -> list[Point]:
    """A launch of HPL: eight solutions at about that rate; DGEMM at 1.5 a rank."""
    at = {"state": state, "ranks": 4, "launch": 0}
    rates = [gflops * (1 + 0.01 * (number % 3 - 1)) for number in range(8)]
    facts = {"passed": [True] * 8, "residual": [0.007] * 8, **changes}
    return [
        Point(dict(at), "hpl_gflops", rates, facts),
        Point(dict(at), "hpl_s", [0.6 / rate for rate in rates]),
        Point(dict(at), "dgemm_gflops", [1.5]),
    ]


def hpl(*launch: Point) -> Record:
    """HPL in one state."""
    return record("E3", launch or solved(), "as found", **HPL)


def hpl_tuned(times: float) -> Record:
    """HPL before and after, where the rate is so many times as high."""
    both = [*solved("before"), *solved("after", 0.5 * times)]
    return record("E3", both, "before", "after", **HPL)


def launch(number: int, state: str, changes: dict[str, float]) -> list[Point]:
    """One launch of hpcc in a state, with figures as usual but for the changes."""
    at = {"state": state, "ranks": 4, "launch": number}
    wobble = 1 + 0.005 * (number % 3 - 1)
    figures = {name: changes.get(name, value) for name, value in USUAL.items()}
    about = {"failures": [], "crowded": bool(changes.get("crowded", False))}
    points = [
        Point({"suite": "hpcc", **at}, facts=about),
        Point(dict(at), "launch_s", [changes.get("launch_s", 100.0) * wobble]),
        Point({"section": "PTRANS", **at}, "section_s", [7.0]),
        Point({"section": "HPL", **at}, "section_s", [0.0]),
        Point({"size_bytes": 8, **at}, "half_round_trip_us", [changes.get("ours", 9.0)] * 3),
        Point({"spread": "dgemm", **at}, "dgemm_gflops_of_a_rank", [1.5, changes.get("fast", 1.6)]),
    ]
    for each in RESULTS:
        if each.key in figures:
            named = {"result": each.key, "test": each.test, "unit": each.unit}
            points.append(Point({**named, **at}, each.key, [figures[each.key] * wobble]))
    return points


def suite(*states: tuple[str, dict[str, float]], launches: int = LEAST_PAIRS) -> Record:
    """All of hpcc in these states, each with its changes."""
    points = [
        p for name, changes in states for n in range(launches) for p in launch(n, name, changes)
    ]
    return record("E4", points, *(name for name, _ in states))


def suite_tuned(**changes: float) -> Record:
    """The same before and after, with changes after."""
    return suite(("before", {}), ("after", changes))
