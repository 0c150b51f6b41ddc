"""Records as a study would have measured them, made of a formula: for claims of every outcome."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from beowulf.record import Point, Record
from beowulf.studies import find, judge
from beowulf.verdict import Verdict

QUIET = {"load_1min": 0.1, "cores": 2, "waiting_for_a_core_percent_10s": 0.0}
CLUSTER = {"kind": "namespaces", "nodes": ["node00", "node01"], "rate": "100mbit", "mtu": "1500"}


def record(
    study: str,
    quantity: str,
    places: Iterable[dict[str, Any]],
    time_us: Callable[[dict[str, Any]], float],
    *,
    n: int = 30,
    noise: float = 0.001,
    launches: int = 1,
    before: dict[str, Any] | None = None,
    cluster: dict[str, Any] | None = None,
    sweep: dict[str, Any] | None = None,
    complete: bool = True,
) -> Record:
    """`n` samples a place and launch, around what `time_us` says of the place."""
    draw = np.random.default_rng(7)
    points = [
        Point(
            {**at, "launch": launch},
            quantity,
            [float(time_us(at) * (1 + noise * d)) for d in draw.standard_normal(n)],
            {"pass": list(range(n)), "repetitions": [10] * n},
        )
        for at in places
        for launch in range(launches)
    ]
    return Record(
        study=study,
        points=points,
        sweep=sweep or {},
        cluster=cluster or CLUSTER,
        circumstances={"before": before or QUIET, "after": QUIET},
        complete=complete,
    )


def outcomes(verdicts: Sequence[Any]) -> dict[str, str]:
    """By claim, its outcome, of Verdicts that JSON can hold."""
    json.dumps([verdict.as_plain() for verdict in verdicts])
    return {verdict.claim: verdict.outcome for verdict in verdicts}


def decided(record: Record) -> dict[str, str]:
    """By claim, what judging the Record comes to."""
    return outcomes(judge(record))


def named(record: Record, name: str) -> Verdict:
    """The Verdict on one claim, without judging the others."""
    study = find(record.study)
    claims = study.judged(record) if callable(study.judged) else study.judged
    (verdict,) = replace(study, judged=[each for each in claims if each.name == name]).claims(
        record
    )
    return verdict


def left_open(quiet: dict[str, str], busy: dict[str, str]) -> set[str]:
    """The claims that a load leaves open of those that are decided without; the others come out alike."""
    assert quiet.keys() == busy.keys()
    for claim, outcome in busy.items():
        assert outcome in ("inconclusive", quiet[claim]), claim
    return {c for c in busy if busy[c] == "inconclusive" != quiet[c]}
