"""Does the rubric of lab 07 hold every answer, function, plot and knob against the learner's own Records?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from autograder.evidence.variants import Own
from beowulf.labs.lab_07 import by_lot, own_knob
from beowulf.labs.lab_07 import e7_procedure as e7
from beowulf.record import Point, Record
from beowulf.tuning import ab_comparison
from beowulf.tuning.paper_e_baseline import FIREWALL, MODERATION
from tests.autograder.marked import Marked
from tests.gold import lab_07
from tests.gold.lab_07 import (
    applications,
    asked,
    interval,
    knobs,
    own,
    plate,
    posted,
    procedure,
    steps,
)

LAB = Marked(lab_07)
one, instead, scores = LAB.one, LAB.instead, LAB.scores
LATER = {"started": "2099-01-01T00:00:00.000Z", "ended": "2099-01-01T00:01:00.000Z"}


def _named(change: float, low: float, high: float) -> dict[str, float]:
    return {"from": low, "to": high, "change": change}


def _nested(change: float, low: float, high: float) -> Any:
    return change, (low, high)


def with_word(
    question: str, own_word: str, kept: list[Record] | None = None, **answers: Any
) -> float:
    """The points of a learner who has this word of their course."""
    found = LAB.submission(kept, {**lab_07.RIGHT, **answers})
    own = Own("a student", own_word, {})
    return LAB.score(replace(found, own=own), question)[question].points


UNLIKE = {"unlike_node": "node03", "unlike_question": "moderation"}
OTHER_FATES = procedure(**{MODERATION: e7.REVERTED, FIREWALL: e7.KEPT})


@pytest.mark.parametrize(
    ("question", "made", "answers", "worth"),
    [
        ("budget", [], {"stack_us": 4.55}, 2),
        ("budget", [], {"wake_up_us": 8.0, "mpi_us": 7.0}, 1),  # a way for a step
        ("budget", [], {"cable_us": -1.5}, 1.5),  # the sign
        ("budget", [steps(mpi=9.0)], {}, 1.5),
        ("unlike", [asked("node03", MODERATION)], {}, 0),
        ("unlike", [asked("node03", MODERATION)], UNLIKE, 1),
        ("unlike", [asked("")], {}, 0),
        ("each-knob", [], {"moderation_percent": 60.0}, 1.5),
        ("each-knob", [], {"together_percent": "not observable"}, 1.5),
        ("own-knob", [own(settings=["net.ipv4.tcp_sack"])], {}, 4),
        ("own-knob", [own(settings=[])], {}, 3),  # whatever its text says
        ("own-knob", [own(cycle=False)], {}, 3),
        ("own-knob", [own(values=("1", "1"))], {}, 0),
        # The one for the other; times for per cent.
        ("plate", [], {"step_percent": 75.0, "exchange_percent": 40.0}, 0),
        ("plate", [], {"step_percent": 1.4}, 1),
        ("plate", [plate(columns=60)], {}, 0),
        ("letters", [posted(4.0)], {}, 3),
        ("fates", [OTHER_FATES], {}, 0),
        ("fates", [OTHER_FATES], {"moderation_fate": "reverted", "firewall_fate": "kept"}, 0.5),
        ("timeline", [], {"rules_part": "before", "rules_to_rank": 0}, 1 / 3),
        ("limit", [applications(MG=0.3)], {}, 0.25),
        ("limit", [applications(MG=0.3)], {"best_kernel": "mg", "best_kernel_percent": -70.2}, 0.5),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_is_held_against_the_learners_own_records(
    question: str, made: list[Record], answers: dict[str, Any], worth: float
) -> None:
    assert one(question, instead(*made), **answers).points == pytest.approx(worth)


@pytest.mark.parametrize(
    ("made", "points_earned", "said"),
    [
        (interval(lambda b, a: (lab_07.change_percent(b, a)[0], -99, 99)), 1, "too wide"),
        (interval(lambda b, a: lab_07.change_percent(b, a)[::-1]), 0, ""),
        (interval(lambda b, a: "faster"), 0, "does not return numbers"),
        (interval(lambda b, a: (1.0, math.nan, 2.0)), 0, "is not finite"),
        (interval(source=""), 3, "every cycle is right"),
        (interval(lambda b, a: _named(*lab_07.change_percent(b, a))), 3, "every cycle is right"),
        (interval(lambda b, a: _nested(*lab_07.change_percent(b, a))), 3, "every cycle is right"),
        (replace(interval(), points=interval().points[:3]), 0, "not tried on all cycles"),
        (replace(interval(), points=[Point({"cycle": "x"})] * 6), 0, "cannot be read"),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_a_function_of_ones_own_earns_for_its_changes_and_for_its_ranges(
    made: Record, points_earned: float, said: str
) -> None:
    found = one("own-interval", instead(made))
    assert (found.points, said in found.found) == (points_earned, True), found.found
    claimed = [replace(each, facts={**each.facts, "why": ""}) for each in made.points]
    assert one("own-interval", instead(replace(made, points=claimed))).points == points_earned


def test_where_the_moderation_cannot_be_turned_that_is_the_answer() -> None:
    kept = instead(knobs(root=False), procedure(firewall=e7.KEPT))
    names = ("moderation_percent", "together_percent", "firewall_later_percent", "moderation_fate")
    found = scores(kept, firewall_fate="kept", **dict.fromkeys(names, "Not observable"))
    asked_for = ("e6-record", "each-knob", "e7-record", "fates")
    assert {n: found[n].points for n in asked_for} == {n: LAB.worth[n] for n in asked_for}
    assert one("each-knob", kept).points == 0.5


def test_a_learner_with_a_word_has_a_setting_rows_and_an_application_of_their_own() -> None:
    words = [letter * 16 for letter in "ABCDEFGH"]
    word = next(w for w in words if by_lot.setting(w) != by_lot.setting(""))
    assert with_word("own-knob", word) == 3
    theirs = own(settings=["net.ipv4.conf", by_lot.setting(word)])
    assert with_word("own-knob", word, instead(theirs)) == 4
    other = next(w for w in words if by_lot.columns(w) != by_lot.columns(""))
    assert with_word("plate", other) == 0
    assert with_word("plate", other, instead(plate(by_lot.columns(other)))) == 2
    of = {by_lot.workload(word): word for word in words}
    assert with_word("waiting-share", of["HPCC"], waiting_percent=69.0) == 0.5
    assert with_word("waiting-share", of["HPCC"]) == 0
    assert one("waiting-share", waiting_percent=-26.0).points == 0.5
    assert one("waiting-share", waiting_percent=69.0).points == 0


@pytest.mark.parametrize(
    ("mine", "fate", "line", "points_earned"),
    [
        (own(), "Reverted", "net/ipv4/ip_early_demux=1", 2),
        (own(), "kept", "net.ipv4.ip_early_demux = 1", 1),
        # Another setting; a command.
        (own(), "reverted", "net.ipv4.tcp_sack = 1", 1),
        (own(), "reverted", "echo 1 >/proc/sys/net/ipv4/ip_early_demux", 1),
        (own(times=0.7), "kept", "net.ipv4.ip_early_demux = 0", 2),
        (own(times=0.7), "reverted", "net.ipv4.ip_early_demux = 1", 0),
        (own(settings=[]), "reverted", "net.ipv4.ip_early_demux = 1", 0),
    ],
)
def test_what_stays_follows_from_the_cycle_and_its_line_from_the_knob(
    mine: Record, fate: str, line: str, points_earned: float
) -> None:
    found = one("kept-line", instead(mine), knob_fate=fate, boot_line=line)
    assert found.points == points_earned


def test_a_knob_that_is_faster_by_the_learners_interval_alone_may_stay_or_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ab_comparison, "decide", lambda _pairs: "inconclusive")
    mine = own(times=0.7)
    assert own_knob.could_stay(mine) == "0"
    for fate, value in (("kept", 0), ("reverted", 1)):
        line = f"net.ipv4.ip_early_demux = {value}"
        assert one("kept-line", instead(mine), knob_fate=fate, boot_line=line).points == 2


def test_letters_that_are_held_against_slowed_down_ones_earn_nothing() -> None:
    found = one("letters", instead(posted(44.0, given_ms=2000.0)))
    assert (found.points, "no acknowledgement explains" in found.found) == (0, True)
