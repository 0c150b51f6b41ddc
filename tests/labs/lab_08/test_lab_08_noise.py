"""Does a claim of lab 08 seldom hold without the paper's effect, and nearly always with it?"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from beowulf.labs.lab_08 import c7_barrier, tokens
from beowulf.record import Record
from beowulf.studies import find
from tests.labs.lab_08.lab_08_records import (
    GROWING,
    Change,
    barriers,
    growing,
    rate,
    same,
    tokens_with,
    two_times,
)
from tests.studies.null_records import Noise, assert_told_apart, quieter

pytestmark = pytest.mark.nightly


def ours(noise: Noise) -> Noise:
    """What tokens on a cable have: half of their samples lie within 1 % of each other."""
    return lambda count: quieter(noise(count), 0.3)


def no_demand(at: Mapping[str, object], seconds: float) -> float:
    """One pair carries what eight do."""
    return tokens_seconds(at, 8)


def all_pairs_count(at: Mapping[str, object], seconds: float) -> float:
    """Each pair has a network of its own."""
    return tokens_seconds(at, 1) / float(str(at["demand"]))


def tokens_seconds(at: Mapping[str, object], demand: int) -> float:
    size = int(str(at["size_bytes"]))
    return size / rate(int(str(at["networks"])), demand, size) * 1e-6


@pytest.mark.parametrize(
    ("study", "claim", "demands", "without"),
    [
        ("C1", "saturates-1", (8,), growing(0.16)),
        ("C1", "saturates-2", (8,), growing(0.16)),
        ("C1", "saturates-alone", (1, 8), lambda at, s: s * (1.4 if at["demand"] == 1 else 1)),
        ("C1", "demand-one", (1, 2), no_demand),
        ("C1", "clustered", (2, 4, 8), all_pairs_count),
        ("C1", "spread", (2, 4, 8), two_times(1.7)),
        ("C1", "two-networks", (8,), two_times(1.0)),
        ("C1", "two-networks", (8,), two_times(2.0)),
        ("C1", "alone", (1,), two_times(1.0)),
        ("C1", "alone", (1,), two_times(2.0)),
        ("C1", "size-matters", (1, 8), growing(0.0)),
        ("C2", "flat", (1, 8), growing(0.8)),
        ("C2", "falls", (1, 8), growing(1.0)),
        ("C2", "trade-off", (8,), growing(0.5)),
    ],
)
def test_tokens(study: str, claim: str, demands: tuple[int, ...], without: Change) -> None:
    def of(change: Change, noise: Noise) -> Record:
        return tokens_with(change, study, ours(noise), demands=demands)

    assert_told_apart(find(study), claim, of, without, same)


@pytest.mark.parametrize(
    ("claim", "without", "effect"),
    [
        ("oddity", {}, {2: (1.05, 1.6)}),
        ("sensitive", {}, GROWING),
        ("others-gain", dict.fromkeys(tokens.QUICK_DEMANDS, (1.0, 1.0)), {}),
    ],
)
def test_networks_in_turn(claim: str, without: object, effect: object) -> None:
    def of(gains: object, noise: Noise) -> Record:
        assert isinstance(gains, dict)
        sizes, demands = tokens.STRIPED_SIZES, tokens.STRIPED_DEMANDS
        return tokens_with(study="C2", noise=ours(noise), demands=demands, sizes=sizes, gains=gains)

    assert_told_apart(find("C2"), claim, of, without, effect)


@pytest.mark.parametrize(
    ("claim", "without"), [("grows", (100,) * 4), ("less-than-proportional", (60, 120, 240, 480))]
)
def test_a_barrier(claim: str, without: tuple[float, ...]) -> None:
    def of(us: tuple[float, ...], noise: Noise) -> Record:
        return barriers(dict(zip(c7_barrier.BARRIER.nodes, us, strict=True)), noise)

    # A round more for twice as many nodes.
    assert_told_apart(c7_barrier.STUDY, claim, of, without, (60, 120, 180, 240))
