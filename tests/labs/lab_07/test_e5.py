"""E5: is a search in parts held against the whole, and the application's gain against the ping-pong's?"""

from __future__ import annotations

from itertools import product

import pytest
from made import decided

from beowulf.labs.lab_07 import e5_application
from beowulf.measure.roundtrips import HALF
from beowulf.record import Point, Record
from beowulf.studies import draw, judge
from beowulf.suites.blast import STEPS
from tests.labs.lab_03.lab_03_records import noisy
from tests.labs.lab_07.lab_07_records import record
from tests.studies.null_records import assert_told_apart

LAUNCHES = e5_application.LAUNCHES
SHARES = {"scatter": 0.1, "format": 0.2, "search": 0.6, "merge": 0.1, "total": 1.0}


def made(
    *states: tuple[str, float, float],
    parts: tuple[int, ...] = (1, 2, 4),
    digests: dict[int, str] | None = None,
) -> Record:
    """Of each state the seconds of a search of the whole, and our ping-pong beside it, in µs."""
    points = []
    for (name, total, half_us), launch in product(states, range(LAUNCHES)):
        at = {"state": name, "launch": launch}
        wobble = 1 + 0.004 * (launch % 3 - 1)
        points.append(Point({**at, "ranks": 2, "size_bytes": 8}, HALF, [half_us * wobble] * 3))
        for count, step in product(parts, STEPS):
            seconds = SHARES[step] * total * wobble / count
            facts = {"hits": [12], "digest": [(digests or {}).get(count, "same")]}
            where = {**at, "ranks": count, "parts": count}
            points.append(Point(where, f"{step}_s", [seconds], facts if step == "total" else {}))
    names = [name for name, _, _ in states]
    return record("E5", points, states=names, parts=list(parts))


def test_as_found_only_the_result_is_judged() -> None:
    assert decided(made(("as found", 4.0, 10.0))) == {
        "identical": "holds",
        "tuned-time": "inconclusive",
        "synthetic-is-the-limit": "inconclusive",
    }


def test_a_gain_names_what_the_state_before_was_made_of() -> None:
    record_of_both = made(("before", 4.0, 10.0), ("after", 3.5, 5.0))
    assert "made up" not in judge(record_of_both).named("tuned-time").evidence
    record_of_both.sweep["testbed"] = {"moderation": "50", "firewall": "100"}
    for claim in ("tuned-time", "synthetic-is-the-limit"):
        evidence = judge(record_of_both).named(claim).evidence
        assert "made up (moderation 50, firewall 100)" in evidence


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("claim", "none"), [("tuned-time", (4.0, 4.6)), ("synthetic-is-the-limit", (3.56, 8.9))]
)
def test_without_its_effect_a_claim_rarely_holds_and_with_the_papers_it_mostly_does(
    claim: str, none: tuple[float, float]
) -> None:
    without = made(("before", 4.0, 10.0), ("after", *none))
    with_effect = made(("before", 4.0, 10.0), ("after", 3.56, 4.6))
    assert_told_apart(e5_application.STUDY, claim, noisy, without, with_effect)


@pytest.mark.parametrize(
    ("parts", "digests", "outcome"),
    [
        ((1, 2, 4), {4: "another"}, "contradicted"),
        ((1,), {}, "inconclusive"),
        ((2, 4), {}, "inconclusive"),
    ],
)
def test_only_the_whole_and_its_parts_can_be_identical(
    parts: tuple[int, ...], digests: dict[int, str], outcome: str
) -> None:
    found = made(("as found", 4.0, 10.0), parts=parts, digests=digests)
    assert decided(found)["identical"] == outcome


@pytest.mark.parametrize(
    ("seconds", "half_us", "time", "limit"),
    [
        (4.0 * 0.89, 10.0 * 0.58, "holds", "holds"),  # as in the paper
        (4.0, 5.0, "contradicted", "holds"),
        (2.0, 9.0, "holds", "contradicted"),
        (4.0, 10.0, "contradicted", "inconclusive"),
    ],
)
def test_both_states_decide(seconds: float, half_us: float, time: str, limit: str) -> None:
    found = decided(made(("before", 4.0, 10.0), ("after", seconds, half_us)))
    assert (found["tuned-time"], found["synthetic-is-the-limit"]) == (time, limit)


def test_table_and_picture_have_each_number_of_parts() -> None:
    found = made(("as found", 4.0, 10.0))
    table = e5_application.table(found)
    assert list(table["parts"]) == [1, 2, 4]
    assert list(table["speed_up"].round(2)) == [1.0, 2.0, 4.0]
    figure = draw(found)
    assert "total: 1 part 4, 2 parts 2, 4 parts 1" in figure.alt
    states = made(("before", 4.0, 10.0), ("after", 2.0, 5.0))
    assert "4 parts, after" in draw(states).alt
