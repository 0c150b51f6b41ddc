"""Does the rubric of lab 07 hold every answer, function, plot and knob against the learner's own Records?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from marked import Marked

from autograder.evidence.variants import Own
from beowulf.labs.lab_07 import by_lot
from beowulf.labs.lab_07 import e7_procedure as e7
from beowulf.record import Point, Record
from beowulf.tuning.paper_e_baseline import FIREWALL, MODERATION
from tests.gold import lab_07
from tests.gold.hand_in import released
from tests.gold.lab_07 import (
    SLUG,
    SOURCE,
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
        ("unlike", [], {"unlike_node": "node01"}, 0.5),
        ("each-knob", [], {"moderation_percent": -60.5}, 2),
        ("each-knob", [], {"moderation_percent": 60.0}, 1.5),
        ("each-knob", [], {"together_percent": "not observable"}, 1.5),
        ("own-knob", [own(look="sysctl -n net.ipv4.tcp_sack")], {}, 4),
        ("own-knob", [own(look="nft list ruleset | wc -l")], {}, 3),
        ("own-knob", [own(cycle=False)], {}, 3),
        ("own-knob", [own(exact=False, cycle=False)], {}, 2),
        ("own-knob", [own(values=("1", "1"))], {}, 0),
        ("plate", [], {"step_percent": 41.4}, 2),
        ("plate", [], {"step_percent": -40.0}, 1),
        # The one for the other; times for per cent.
        ("plate", [], {"step_percent": 75.0, "exchange_percent": 40.0}, 0),
        ("plate", [], {"step_percent": 1.4}, 1),
        ("plate", [plate(columns=60)], {}, 0),
        ("letters", [posted(4.0)], {}, 3),
        ("letters", [posted(20.0)], {}, 0),
        ("fates", [OTHER_FATES], {}, 0),
        ("fates", [OTHER_FATES], {"moderation_fate": "reverted", "firewall_fate": "kept"}, 0.5),
        ("timeline", [], {"rules_us": 9.5}, 1),
        ("timeline", [], {"rules_part": "before", "rules_to_rank": 0}, 1 / 3),
        ("limit", [applications(MG=0.3)], {}, 0.25),
        ("limit", [applications(MG=0.3)], {"best_kernel": "mg", "best_kernel_percent": -70.2}, 0.5),
        ("limit", [], {"pingpong_percent": -50}, 0.25),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_is_held_against_the_learners_own_records(
    question: str, made: list[Record], answers: dict[str, Any], worth: float
) -> None:
    assert one(question, instead(*made), **answers).points == pytest.approx(worth)


def test_nodes_that_are_all_equal_are_no_puzzle() -> None:
    found = one("unlike", instead(asked("")))
    assert (found.points, "one different answer" in found.found) == (0, True)


def _of_medians(before: list[float], after: list[float]) -> tuple[float, ...]:
    change = 100 * (np.median(after) / np.median(before) - 1)
    return change, change - 1, change + 1


def _of_single_pairs(before: list[float], after: list[float]) -> tuple[float, ...]:
    change = 100 * (np.array(after) / before - 1)
    return np.median(change), *np.percentile(change, (2.5, 97.5))


Function = Callable[[list[float], list[float]], Any]


@pytest.mark.parametrize(
    ("function", "points_earned", "said"),
    [
        (_of_single_pairs, 1, "too wide"),
        (lambda b, a: lab_07.change_percent(b, a)[::-1], 0, ""),
        (_of_medians, 0, "medians of both states"),
        (lambda b, a: "faster", 0, "no numbers"),
        (lambda b, a: (1.0, math.nan, 2.0), 0, "is none"),
    ],
    ids=["of single pairs", "in another order", "of medians", "a text", "no number"],
)
def test_a_function_earns_for_its_changes_and_for_its_ranges(
    function: Function, points_earned: float, said: str
) -> None:
    found = one("own-interval", instead(interval(function)))
    assert (found.points, said in found.found) == (points_earned, True), found.found


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (interval(source=""), "the text of the function"),
        (interval(source=SOURCE.replace("np.", "own_interval.np.")), "calls own_interval"),
        (replace(interval(), points=interval().points[:3]), "not tried on all cycles"),
        (replace(interval(), points=[Point({"cycle": "x"})] * 6), "cannot be read"),
    ],
    ids=["no text", "ours", "some cycles", "no data"],
)
def test_what_is_no_function_of_ones_own_earns_nothing(record: Record, said: str) -> None:
    found = one("own-interval", instead(record))
    assert (found.points, said in found.found) == (0, True), found.found


def test_a_record_that_claims_to_be_right_is_computed_again() -> None:
    made = interval(_of_medians)
    claimed = [replace(each, facts={**each.facts, "why": ""}) for each in made.points]
    assert one("own-interval", instead(replace(made, points=claimed))).points == 0


def test_where_the_moderation_cannot_be_turned_that_is_the_answer() -> None:
    kept = instead(knobs(root=False), procedure(firewall=e7.KEPT))
    names = ("moderation_percent", "together_percent", "firewall_later_percent", "moderation_fate")
    found = scores(kept, firewall_fate="kept", **dict.fromkeys(names, "Not observable"))
    asked_for = ("e6-record", "each-knob", "e7-record", "fates")
    assert {n: found[n].points for n in asked_for} == {n: LAB.worth[n] for n in asked_for}
    assert one("each-knob", kept).points == 0.5


def test_a_learner_with_a_word_has_a_setting_of_their_own() -> None:
    word = next(
        w
        for w in ("A" * 16, "B" * 16, "C" * 16, "D" * 16)
        if by_lot.setting(w) != by_lot.setting("")
    )
    assert with_word("own-knob", word) == 3
    theirs = "cat /proc/sys/" + by_lot.setting(word).replace(".", "/")
    assert with_word("own-knob", word, instead(own(look=theirs))) == 4


def test_a_knob_of_which_nothing_was_read_earns_nothing() -> None:
    mine = own()
    mine.points = [
        replace(p, facts={"before": {}, "now": {}, "again": {}}) if "turn" in p.at else p
        for p in mine.points
    ]
    assert one("own-knob", instead(mine)).points == 0


@pytest.mark.parametrize(
    ("mine", "fate", "line", "points_earned"),
    [
        (own(), "Reverted", "net/ipv4/ip_early_demux=1", 2),
        (own(), "kept", "net.ipv4.ip_early_demux = 1", 1),
        # Another setting; a command; a comment.
        (own(), "reverted", "net.ipv4.tcp_sack = 1", 1),
        (own(), "reverted", "echo 1 >/proc/sys/net/ipv4/ip_early_demux", 1),
        (own(), "reverted", "# net.ipv4.ip_early_demux = 1", 1),
        (own(times=0.7), "kept", "net.ipv4.ip_early_demux = 0", 2),
        (own(times=0.7), "reverted", "net.ipv4.ip_early_demux = 1", 0),
        (own(times=1.4), "reverted", "net.ipv4.ip_early_demux = 1", 2),
        (own(look="nft list ruleset"), "reverted", "net.ipv4.ip_early_demux = 1", 0),
    ],
)
def test_what_stays_follows_from_the_cycle_and_its_line_from_the_knob(
    mine: Record, fate: str, line: str | None, points_earned: float
) -> None:
    found = one("kept-line", instead(mine), knob_fate=fate, boot_line=line)
    assert found.points == points_earned


def test_a_plate_has_rows_of_the_length_that_is_drawn_for_the_learner() -> None:
    other = next(w for w in ("A" * 16, "B" * 16, "C" * 16) if by_lot.columns(w) != 100)
    assert with_word("plate", other) == 0
    assert with_word("plate", other, instead(plate(by_lot.columns(other)))) == 2


def test_letters_that_are_held_against_slowed_down_ones_earn_nothing() -> None:
    found = one("letters", instead(posted(44.0, given_ms=2000.0)))
    assert (found.points, "no acknowledgement explains" in found.found) == (0, True)


def test_the_share_that_waited_is_that_of_the_learners_own_application() -> None:
    assert one("waiting-share", waiting_percent=-26.0).points == 0.5
    other = one("waiting-share", waiting_percent=69.0)
    assert (other.points, "right for HPCC" in other.found) == (0, True)
    words = {by_lot.workload(word): word for word in (letter * 16 for letter in "ABCDEFGH")}
    assert with_word("waiting-share", words["HPCC"], waiting_percent=69.0) == 0.5
    assert with_word("waiting-share", words["HPCC"]) == 0
    assert with_word("waiting-share", words["mpiBLAST"]) == 0.5


def test_no_cell_says_what_a_later_question_asks() -> None:
    """What decides or computes for a learner comes after the question that asks for it."""
    cells = [each.source for each in released(SLUG).cells]

    def place(text: str) -> int:
        (found,) = [number for number, cell in enumerate(cells) if text in cell]
        return found

    for question, tells in (
        ("`budget`", "picture(l1)"),
        ("`budget`", "claims(l1)"),
        ("`own-interval`", "null_knob.picture(nothing)"),
        ("`each-knob`", "knob_gains.table"),
        ("`each-knob`", "claims(e6)"),
        ("`kept-line`", "null_knob.picture(mine)"),
        ("`plate`", "heat.worth(plate)"),
        ("`plate`", "heat.picture(plate)"),
        ("`fates`", "picture(e7)"),
        ("`fates`", "claims(e7)"),
        ("`limit`", "claims(l2)"),
    ):
        assert place(f"**Question {question}**") < place(tells), question
