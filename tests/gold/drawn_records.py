"""Hand-ins made of real Records: with launches drawn again, which are honest, and made up in several careful ways."""

from __future__ import annotations

import json
import lzma
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograder.evidence import clock
from beowulf.measure.measurement import PER_SECOND
from beowulf.record import Point, Record

Values = NDArray[np.float64]

# What was measured on namespaces of one machine, shortened to what the report's doubts read; `where` says on which
# cluster, at which load, quick or full.
KEPT = Path(__file__).with_name("real_records.json.xz")
PRINTED_DIGITS = 9
# What the notebooks of the labs measure that leave enough samples.
LABS = {
    "02": ("A3",),
    "04": ("A7", "B2", "E1", "B4"),
    "05": ("D1", "D2", "D3", "D4", "D5", "A8", "A9"),
}


@cache
def real() -> list[tuple[str, Record]]:
    """The real Records, each with how it was measured."""
    kept = json.loads(lzma.decompress(KEPT.read_bytes()))
    return [(each.pop("where"), _record(each)) for each in kept]


def _record(plain: dict[str, Any]) -> Record:
    points = [Point(**point) for point in plain.pop("points")]
    return Record(**plain, points=points)


def keep(records: list[tuple[str, Record]]) -> None:
    """Write the real Records again."""
    plain = []
    for where, record in records:
        points = [
            {"at": p.at, "quantity": p.quantity, "samples": _short(p), "facts": _kept_facts(p)}
            for p in record.points
            if len(p.samples) > 1
        ]
        facts = {"study": record.study, "variant": record.variant, "program": record.program}
        plain.append({"where": where, **facts, "points": points})
    KEPT.write_bytes(lzma.compress(json.dumps(plain).encode(), preset=9))


def _short(point: Point) -> list[float]:
    """The samples without the digits that dividing added."""
    return [float(f"{sample:.12g}") for sample in point.samples]


def _kept_facts(point: Point) -> dict[str, Any]:
    return {"repetitions": point.facts["repetitions"]} if clock.is_counted(point) else {}


def honest(slug: str, generator: np.random.Generator) -> list[Record]:
    """A hand-in of a lab: of each study a real Record, with its launches drawn again."""
    return [_launches_drawn_again(_any(study, generator), generator) for study in LABS[slug]]


def made_up(
    slug: str, way: str, generator: np.random.Generator
) -> tuple[list[Record], list[Record]]:
    """A hand-in that was made up in one of the WAYS, and the measured one that it was made from."""
    measured = [_any(study, generator) for study in LABS[slug]]
    factor = float(np.exp(generator.normal(0, 0.1)))
    return [_drawn(record, way, factor, generator) for record in measured], measured


def _any(study: str, generator: np.random.Generator) -> Record:
    choices = [record for _, record in real() if record.study == study]
    return choices[generator.integers(len(choices))]


def _launches_drawn_again(record: Record, generator: np.random.Generator) -> Record:
    of_launch: dict[Any, list[Point]] = defaultdict(list)
    for point in record.points:
        of_launch[point.at.get("launch", 0)].append(point)
    launches = sorted(of_launch)
    drawn = generator.choice(len(launches), len(launches))
    points = [
        replace(point, at={**point.at, "launch": launch})
        for launch, source in zip(launches, drawn, strict=True)
        for point in of_launch[launches[source]]
    ]
    return replace(record, points=points)


def _drawn(record: Record, way: str, factor: float, generator: np.random.Generator) -> Record:
    points = []
    for point in record.points:
        samples = np.array(point.samples)
        values = WAYS[way](samples, generator) * (factor if way == "scaled" else 1)
        points.append(replace(point, samples=_as_printed(point, np.abs(values), way)))
    return replace(record, points=points)


def _as_printed(point: Point, values: Values, way: str) -> list[float]:
    """The samples as a program prints them: whole nanoseconds for all repetitions, with nine digits."""
    if way == "rounded" or not clock.is_counted(point):
        return [float(value) for value in values]
    ways = 2 if point.quantity.startswith("half_round_trip") else 1
    per = next(number for unit, number in PER_SECOND.items() if point.quantity.endswith(unit))
    printed = []
    for value, times in zip(values, point.facts["repetitions"], strict=True):
        seconds = max(round(value / per * times * ways, 9), 1e-9)
        printed.append(float(f"{seconds:.{PRINTED_DIGITS}g}") / times * per / ways)
    return printed


def _spread(samples: Values) -> float:
    return 1.4826 * float(np.median(np.abs(samples - np.median(samples))))


def _uniform(samples: Values, generator: np.random.Generator) -> Values:
    width = 1.7 * _spread(samples)
    return np.median(samples) + generator.uniform(-width, width, len(samples))


def _normal(samples: Values, generator: np.random.Generator) -> Values:
    return generator.normal(np.median(samples), _spread(samples), len(samples))


def _lognormal(samples: Values, generator: np.random.Generator) -> Values:
    logs = np.log(np.maximum(samples, 1e-12))
    return np.exp(generator.normal(logs.mean(), logs.std(), len(samples)))


def _gamma(samples: Values, generator: np.random.Generator) -> Values:
    mean, variance = samples.mean(), samples.var() + 1e-30
    return generator.gamma(mean**2 / variance, variance / mean, len(samples))


def _bootstrap(samples: Values, generator: np.random.Generator) -> Values:
    jitter = generator.normal(0, 0.1 * _spread(samples), len(samples))
    return generator.choice(samples, len(samples)) + jitter


def _four_digits(samples: Values, _: np.random.Generator) -> Values:
    return np.array([float(f"{value:.4g}") for value in samples])


# How the samples of each point are made from those of a real one.
WAYS: dict[str, Callable[[Values, np.random.Generator], Values]] = {
    "uniform": _uniform,
    "normal": _normal,
    "lognormal": _lognormal,
    "gamma": _gamma,
    "bootstrap": _bootstrap,
    "shuffled": lambda samples, generator: generator.permutation(samples),
    "scaled": lambda samples, _: samples,
    "rounded": _four_digits,
}
# These are found beside what they were made from, and only so.
COPIES = ("scaled", "rounded")
