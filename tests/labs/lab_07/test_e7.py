"""E7: does the procedure find, change, measure and keep what it should, and is a wrong one judged so?"""

from __future__ import annotations

from typing import Any

import pytest
from made import decided

from beowulf.labs.lab_07 import e7_procedure
from beowulf.labs.lab_07.e7_procedure import FIRST, KEPT, LAST, REVERTED, STEP
from beowulf.labs.lab_07.knob_gains import TOGETHER
from beowulf.record import Point, Record
from beowulf.studies import draw, judge
from beowulf.tuning.paper_e_baseline import FIREWALL, MODERATION
from tests.gold.lab_07 import launches
from tests.labs.lab_07.lab_07_records import record

NODES = ("node00", "node01", "node02", "node03")
TESTBED = {MODERATION: "50", FIREWALL: "100"}


def asked(when: str, question: str, wanted: str, *answers: str) -> Point:
    """What the nodes answered to a question; the last answer is that of all further nodes."""
    by_node = {node: answers[min(i, len(answers) - 1)] for i, node in enumerate(NODES)}
    alike = len(set(by_node.values())) == 1
    fine = alike and (not wanted or answers[0] == wanted)
    facts: dict[str, Any] = {"asks": f"{question}?", "wanted": wanted, "answers": by_node}
    return Point(
        {"question": question, "when": when}, facts={**facts, "alike": alike, "as_wanted": fine}
    )


def usual(*, fate: str = KEPT, left: str = "none", driver: tuple[str, ...] = ("veth",)) -> Record:
    """A procedure that found both parts of the testbed, and kept both changes."""
    points = []
    for when, moderation, firewall in ((FIRST, "50", "100"), (LAST, "0", left)):
        points += [
            asked(when, "driver", "", *driver),
            asked(when, "kernel", "", "6.1"),
            asked(when, MODERATION, "0", moderation),
            asked(when, FIREWALL, "none", firewall),
        ]
    points += [Point({"knob": MODERATION, "step": 1}, facts={"fate": KEPT, "to": "0"})]
    points += [Point({"knob": FIREWALL, "step": 2}, facts={"fate": fate, "to": "none"})]
    points += launches(MODERATION, 0.5, STEP) + launches(FIREWALL, 0.8, STEP, 25.0)
    points += launches(TOGETHER, 0.4, STEP)
    made = record("E7", points)
    made.sweep["testbed"] = TESTBED
    return made


def test_each_claim_holds_where_the_record_shows_it() -> None:
    found = decided(usual())
    assert set(found) == {each.name for each in e7_procedure.CLAIMS}
    assert set(found.values()) == {"holds"}


def test_on_one_machine_every_claim_is_a_demonstration_and_on_pcs_none() -> None:
    made = usual()
    assert {each.rests_on for each in judge(made)} == {"demonstration"}
    made.cluster["kind"] = "ssh"
    assert {each.rests_on for each in judge(made)} == {"measurement"}


def test_different_drivers_are_reported() -> None:
    said = judge(usual(driver=("e1000e 3.2", "e1000e 3.3"))).named("nodes-alike")
    assert said.outcome == "contradicted"
    assert "e1000e 3.2, e1000e 3.3" in said.evidence


@pytest.mark.parametrize(("fate", "outcome"), [(REVERTED, "inconclusive"), (KEPT, "contradicted")])
def test_what_was_reverted_is_still_there_and_what_was_kept_must_not_be(
    fate: str, outcome: str
) -> None:
    assert decided(usual(fate=fate, left="100"))["checklist-finds"] == outcome


def test_a_node_that_answers_otherwise_was_not_found_as_the_testbed_has_it() -> None:
    made = usual()
    made.points[3] = asked(FIRST, FIREWALL, "none", "none", "100")
    assert decided(made)["checklist-finds"] == "contradicted"


def test_a_procedure_that_makes_nothing_faster_is_contradicted() -> None:
    made = usual()
    made.points = [p for p in made.points if p.at.get("knob") != TOGETHER]
    made.points += launches(TOGETHER, 1.0, STEP)
    assert decided(made)["procedure-gains"] == "contradicted"


def test_the_picture_says_what_became_of_each_step() -> None:
    figure = draw(usual(fate=REVERTED, left="100"))
    assert "moderation: kept" in figure.alt
    assert "firewall: reverted" in figure.alt
    assert len(figure.table) == 3
