"""Does the rubric of lab 07 hold every answer, function, plot and knob against the learner's own Records?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from marked import Marked, earned, points

from autograder.course import release
from autograder.evidence.variants import Own
from beowulf.labs.lab_07 import by_lot, own_interval
from beowulf.labs.lab_07 import e7_procedure as e7
from beowulf.record import Point, Record
from beowulf.tuning.paper_e_baseline import FIREWALL, MODERATION
from tests.gold import lab_07
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
    quantiles,
    records,
    steps,
)

LAB = Marked(lab_07)
instead, scores = LAB.instead, LAB.scores
LATER = {"started": "2099-01-01T00:00:00.000Z", "ended": "2099-01-01T00:01:00.000Z"}


def with_word(own_word: str, kept: list[Record] | None = None, **answers: Any) -> dict[str, float]:
    """The points of a learner who has this word of their course."""
    found = LAB.submission(kept, {**lab_07.RIGHT, **answers})
    return points(LAB.score(replace(found, own=Own("a student", own_word, {}))))


def test_answers_without_records_earn_only_what_the_paper_prints() -> None:
    assert earned(scores([])) == {"waiting-share"}


@pytest.mark.parametrize(
    ("answers", "points_earned"),
    [
        ({}, 2),
        ({"stack_us": 4.55}, 2),
        # A system call counted once; a way for a step; a text; the sign.
        ({"stack_us": 4.8}, 1.5),
        ({"wake_up_us": 8.0, "mpi_us": 7.0}, 1),
        ({"stack_us": "4.6"}, 1.5),
        ({"cable_us": -1.5}, 1.5),
    ],
)
def test_a_step_is_the_difference_of_the_learners_own_ways(
    answers: dict[str, Any], points_earned: float
) -> None:
    assert scores(**answers)["budget"].points == points_earned
    assert scores(instead(steps(mpi=9.0)))["budget"].points == 1.5


def test_a_node_that_differs_is_the_one_of_the_learners_record() -> None:
    kept = instead(asked("node03", MODERATION))
    assert scores(kept)["unlike"].points == 0
    found = scores(kept, unlike_node="node03", unlike_question="moderation")
    assert found["unlike"].points == 1
    assert scores(unlike_node="node01")["unlike"].points == 0.5


def test_nodes_that_are_all_equal_are_no_puzzle() -> None:
    found = scores(instead(asked("")))["unlike"]
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
        (lab_07.change_percent, 3, "every cycle is right"),
        (_of_single_pairs, 1, "too wide"),
        (lambda b, a: (lab_07.change_percent(b, a)[0],) * 3, 1, "too narrow"),
        (lambda b, a: lab_07.change_percent(b, a)[::-1], 0, ""),
        (_of_medians, 0, "medians of both states"),
        (lambda b, a: lab_07.change_percent(a, b), 0, "divides before by after"),
        (lambda b, a: [each / 100 for each in lab_07.change_percent(b, a)], 0, "no per cent yet"),
        (lambda b, a: "faster", 0, "no numbers"),
        (lambda b, a: (1.0, math.nan, 2.0), 0, "is none"),
        (lambda b, a: b[len(b)], 0, "IndexError"),
    ],
    ids=[
        *("right", "of single pairs", "no width", "in another order", "of medians", "turned round"),
        *("a share", "a text", "no number", "an error"),
    ],
)
def test_a_function_earns_for_its_changes_and_for_its_ranges(
    function: Function, points_earned: float, said: str
) -> None:
    found = scores(instead(interval(function)))["own-interval"]
    assert (found.points, said in found.found) == (points_earned, True), found.found


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (interval(source=""), "the text of the function"),
        (interval(source=SOURCE.replace("np.", "own_interval.np.")), "calls own_interval"),
        (interval(source="from beowulf.measure import statistics\n" + SOURCE), "calls beowulf"),
        (replace(interval(), points=interval().points[:3]), "not tried on all cycles"),
        (replace(interval(), points=[Point({"cycle": "x"})] * 6), "cannot be read"),
    ],
    ids=["no text", "ours", "the package's", "some cycles", "no data"],
)
def test_what_is_no_function_of_ones_own_earns_nothing(record: Record, said: str) -> None:
    found = scores(instead(record))["own-interval"]
    assert (found.points, said in found.found) == (0, True), found.found


def test_a_record_that_claims_to_be_right_is_computed_again() -> None:
    made = interval(_of_medians)
    claimed = [replace(each, facts={**each.facts, "why": ""}) for each in made.points]
    assert scores(instead(replace(made, points=claimed)))["own-interval"].points == 0


def test_gains_have_some_room_and_their_sign() -> None:
    assert scores(moderation_percent=-60.5)["each-knob"].points == 2
    assert scores(moderation_percent=60.0)["each-knob"].points == 1.5
    assert scores(firewall_later_percent=-4.0)["each-knob"].points == 1.5
    assert scores(together_percent="not observable")["each-knob"].points == 1.5


def test_where_the_moderation_cannot_be_turned_that_is_the_answer() -> None:
    kept = instead(knobs(root=False), procedure(firewall=e7.KEPT))
    names = ("moderation_percent", "together_percent", "firewall_later_percent", "moderation_fate")
    found = scores(kept, firewall_fate="kept", **dict.fromkeys(names, "Not observable"))
    asked_for = ("e6-record", "each-knob", "e7-record", "fates")
    assert {n: found[n].points for n in asked_for} == {n: LAB.worth[n] for n in asked_for}
    assert scores(kept)["each-knob"].points == 0.5


def test_the_plot_shows_a_comparison_before_and_after() -> None:
    assert scores()["quantile-plot"].points == 3
    (facts,) = [point.facts for point in quantiles().points]
    one = scores(instead(quantiles(lines=facts["lines"][:1])))["quantile-plot"]
    assert 0 < one.points < 3
    unlabelled = scores(instead(quantiles(x_label="", y_label="time")))["quantile-plot"]
    assert 0 < unlabelled.points < 3
    turned = [{**each, "x": each["y"], "y": each["x"]} for each in facts["lines"]]
    assert scores(instead(quantiles(lines=turned)))["quantile-plot"].points <= 1.5
    invented = [{**each, "y": [y + 9 for y in each["y"]]} for each in facts["lines"]]
    assert scores(instead(quantiles(lines=invented)))["quantile-plot"].points <= 1.5
    assert scores([r for r in records() if r.study != "E6"])["quantile-plot"].points <= 1.5


@pytest.mark.parametrize(
    ("mine", "points_earned"),
    [
        (own(), 4),
        (own(look="sysctl -n net.ipv4.tcp_sack"), 4),
        (own(look="nft list ruleset | wc -l"), 3),
        (own(exact=False), 3),
        (own(cycle=False), 3),
        (own(exact=False, cycle=False), 2),
        (own(takes=False), 0),
        (own(values=("1", "1")), 0),
    ],
)
def test_a_knob_earns_by_what_was_read_of_it(mine: Record, points_earned: int) -> None:
    found = scores(instead(mine))["own-knob"]
    assert (found.points, mine.file_name in found.found) == (points_earned, True)


def test_a_learner_with_a_word_has_a_setting_of_their_own() -> None:
    word = next(
        w
        for w in ("A" * 16, "B" * 16, "C" * 16, "D" * 16)
        if by_lot.setting(w) != by_lot.setting("")
    )
    assert with_word(word)["own-knob"] == 3
    theirs = "cat /proc/sys/" + by_lot.setting(word).replace(".", "/")
    assert with_word(word, instead(own(look=theirs)))["own-knob"] == 4


def test_a_knob_of_which_nothing_was_read_earns_nothing() -> None:
    mine = own()
    mine.points = [
        replace(p, facts={"before": {}, "now": {}, "again": {}}) if "turn" in p.at else p
        for p in mine.points
    ]
    assert scores(instead(mine))["own-knob"].points == 0


@pytest.mark.parametrize(
    ("mine", "fate", "line", "points_earned"),
    [
        (own(), "reverted", "net.ipv4.ip_early_demux = 1", 2),
        (own(), "Reverted", "net/ipv4/ip_early_demux=1", 2),
        (own(), "kept", "net.ipv4.ip_early_demux = 1", 1),
        # The value that was tried, not the one that stays; another setting; a command; a comment.
        (own(), "reverted", "net.ipv4.ip_early_demux = 0", 1),
        (own(), "reverted", "net.ipv4.tcp_sack = 1", 1),
        (own(), "reverted", "echo 1 >/proc/sys/net/ipv4/ip_early_demux", 1),
        (own(), "reverted", "# net.ipv4.ip_early_demux = 1", 1),
        (own(), "reverted", None, 1),
        (own(times=0.7), "kept", "net.ipv4.ip_early_demux = 0", 2),
        (own(times=0.7), "reverted", "net.ipv4.ip_early_demux = 1", 0),
        (own(times=1.4), "reverted", "net.ipv4.ip_early_demux = 1", 2),
        (own(look="nft list ruleset"), "reverted", "net.ipv4.ip_early_demux = 1", 0),
    ],
)
def test_what_stays_follows_from_the_cycle_and_its_line_from_the_knob(
    mine: Record, fate: str, line: str | None, points_earned: float
) -> None:
    found = scores(instead(mine), knob_fate=fate, boot_line=line)["kept-line"]
    assert found.points == points_earned, found


def test_a_plate_is_one_of_the_learners_own_rows() -> None:
    assert scores(step_percent=41.4)["plate"].points == 2
    assert scores(step_percent=-40.0)["plate"].points == 1
    # The one for the other; times for per cent.
    assert scores(step_percent=75.0, exchange_percent=40.0)["plate"].points == 0
    assert scores(step_percent=1.4)["plate"].points == 1
    assert scores(instead(plate(columns=60)))["plate"].points == 0
    other = next(w for w in ("A" * 16, "B" * 16, "C" * 16) if by_lot.columns(w) != 100)
    assert with_word(other)["plate"] == 0
    assert with_word(other, instead(plate(by_lot.columns(other))))["plate"] == 2


def test_fates_are_those_of_the_learners_procedure() -> None:
    kept = instead(procedure(**{MODERATION: e7.REVERTED, FIREWALL: e7.KEPT}))
    assert scores(kept)["fates"].points == 0
    found = scores(kept, moderation_fate="reverted", firewall_fate="kept")
    assert found["fates"].points == 0.5


def test_the_best_of_several_records_counts() -> None:
    kept = [*records(), own(takes=False), posted(44.0), interval(_of_medians), plate(step=2.0)]
    assert points(scores(kept)) == LAB.worth


@pytest.mark.parametrize(
    ("mine", "points_earned"),
    [(posted(0.05), 3), (posted(4.0), 3), (posted(20.0), 0), (posted(44.0), 0)],
)
def test_letters_earn_by_the_share_of_the_time(mine: Record, points_earned: int) -> None:
    assert scores(instead(mine))["letters"].points == points_earned


def test_letters_that_are_held_against_slowed_down_ones_earn_nothing() -> None:
    found = scores(instead(posted(44.0, given_ms=2000.0)))["letters"]
    assert (found.points, "no acknowledgement explains" in found.found) == (0, True)


def test_the_kernel_that_gains_most_is_the_records() -> None:
    kept = instead(applications(MG=0.3))
    assert scores(kept)["limit"].points == 0.25
    found = scores(kept, best_kernel="mg", best_kernel_percent=-70.2)
    assert found["limit"].points == 0.5
    assert scores(pingpong_percent=-50)["limit"].points == 0.25


def test_where_rules_cost_time_is_the_records() -> None:
    assert scores(rules_us=9.5)["timeline"].points == 1
    wrong = scores(rules_part="before", rules_to_rank=0)["timeline"]
    assert wrong.points == pytest.approx(1 / 3)


def test_the_share_that_waited_is_that_of_the_learners_own_application() -> None:
    assert scores(waiting_percent=-26.0)["waiting-share"].points == 0.5
    other = scores(waiting_percent=69.0)["waiting-share"]
    assert (other.points, "right for HPCC" in other.found) == (0, True)
    words = {by_lot.workload(word): word for word in (letter * 16 for letter in "ABCDEFGH")}
    assert with_word(words["HPCC"], waiting_percent=69.0)["waiting-share"] == 0.5
    assert with_word(words["HPCC"])["waiting-share"] == 0
    assert with_word(words["mpiBLAST"])["waiting-share"] == 0.5


def test_the_records_of_the_exercises_are_not_taken_for_the_studies() -> None:
    exercises = [each for each in records() if each.variant]
    found = scores(exercises)
    assert found["e7-record"].points == found["l1-record"].points == 0


def test_a_source_may_have_words_of_its_own() -> None:
    assert not own_interval.OURS.search(SOURCE)


def test_no_cell_says_what_a_later_question_asks() -> None:
    """What decides or computes for a learner comes after the question that asks for it."""
    cells = [each.source for each in release.student_version(release.sources()[SLUG]).cells]

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
