"""Does the rubric of lab 01 hold every answer against the learner's own Records, with a reason?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import fabricated
import pytest
from fabricated import NODES, PUZZLES, RIGHT
from marked import Marked, points
from nbformat.v4 import new_notebook

from autograder.rubrics.submission import Submission, Unreadable
from beowulf.record import Point, Record
from tests.gold import lab_01
from tests.gold.lab_01 import PING_PONG, RING, WORTH, ring, stuck, trips, trips_plot

LAB = Marked(lab_01)
instead, scores = LAB.instead, LAB.scores


def test_answers_without_records_earn_nothing() -> None:
    assert set(points(scores([])).values()) == {0}


@pytest.mark.parametrize("puzzle", PUZZLES.values())
def test_a_broken_cluster_offered_as_a_whole_one_gets_a_third(puzzle: tuple[str, str]) -> None:
    found = scores(instead(fabricated.validation(*puzzle)))["a2-record"]
    assert found.points == pytest.approx(WORTH["a2-record"] / 3)
    assert puzzle[0] in found.found
    assert "beowulf up" in found.expected


def test_a_whole_cluster_counts_even_when_a_broken_one_was_measured_later() -> None:
    late = fabricated.validation("node-down", "node01", started="2026-02-01T00:00:00.000Z")
    assert points(scores([*fabricated.records(), late])) == LAB.worth


def without(check: str, **at: str) -> Record:
    record = fabricated.validation()
    left = record.select(check=check, **at)
    record.points = [point for point in record.points if point not in left]
    return record


def with_routes(routes: list[str]) -> Record:
    """A well cluster with these routes in the table of each node."""
    record = fabricated.validation()
    points = [
        replace(p, facts=p.facts | {"routes": routes}) if p.at["check"] == "routes" else p
        for p in record.points
    ]
    return replace(record, points=points)


@pytest.mark.parametrize(
    "record",
    [
        without("ssh", node="node02", peer="node03"),
        without("transfer"),
        without("mpi-ring"),
        without("configuration", node="node03"),
        replace(fabricated.validation(), complete=False),
        replace(fabricated.validation(), points=[]),
        replace(fabricated.validation(), cluster={}),
        replace(fabricated.validation(), cluster={"nodes": ["node00"]}),
        replace(fabricated.validation(), cluster={"nodes": ["x"] * 100_000}),
        replace(fabricated.validation(), points=fabricated.validation().points * 40),
        with_routes(["10.0.0.0/24 dev eth0"] * 100_000),
        replace(
            fabricated.validation(), points=[Point(p.at) for p in fabricated.validation().points]
        ),
    ],
)
def test_a_record_from_which_something_is_missing_is_no_validated_cluster(record: Record) -> None:
    found = scores(instead(record))["a2-record"]
    assert found.points == pytest.approx(WORTH["a2-record"] / 3)
    assert record.file_name in found.found


@pytest.mark.parametrize(
    ("answer", "earned"),
    [
        ("192.168.0.9 node01", 1),
        ("  192.168.0.9\tnode01\n", 1),
        ("192.168.0.8 node00", 0),
        ("node01", 0),
        (None, 0),
        (12, 0),
    ],
)
def test_the_first_line_is_that_of_the_learners_own_record(answer: object, earned: int) -> None:
    assert scores(hosts_first_line=answer)["hosts-first-line"].points == earned


@pytest.mark.parametrize(
    ("pairs", "messages", "earned"),
    [(12, 4, 2), (12.0, 4.0, 2), (6, 3, 0), ("12", "4", 0), (True, True, 0), (None, 4, 1)],
)
def test_pairs_and_messages_are_numbers(pairs: object, messages: object, earned: int) -> None:
    found = scores(ordered_pairs=pairs, ring_messages=messages)
    assert found["ordered-pairs"].points + found["ring-messages"].points == earned


def test_pairs_and_messages_follow_the_size_of_the_learners_own_cluster() -> None:
    small = fabricated.validation()
    small.cluster = {"nodes": list(NODES[:2])}
    assert scores(instead(small))["ordered-pairs"].points == 0
    found = scores(instead(small), ordered_pairs=2, ring_messages=2)
    assert found["ordered-pairs"].points + found["ring-messages"].points == 2


def rate(change: float) -> float:
    return float(RIGHT["idle_mbit_per_s"]) * change


@pytest.mark.parametrize(("where", "share"), [("switch", 1), ("wire", 1), ("node00", 1), ("x", 0)])
def test_the_idle_wire_counts_wherever_a_kind_of_cluster_can_see_it(where: str, share: int) -> None:
    seen = fabricated.idle()
    seen.points[0].at["where"] = where
    found = scores(instead(seen))
    assert found["a5-record"].points == share * WORTH["a5-record"]
    assert found["idle-mbit"].points == share * WORTH["idle-mbit"]


@pytest.mark.parametrize(
    ("answer", "earned"),
    [
        (rate(1), 2),
        (round(rate(1), 5), 2),
        (0, 0),
        (rate(1) + 0.000009, 2),
        (rate(1) + 0.000011, 0),
        (rate(1e6), 0),
        (-rate(1), 0),
        (float("nan"), 0),
        (float("inf"), 0),
        (10**400, 0),
        ("0.0002", 0),
    ],
)
def test_the_idle_wires_rate_may_be_off_by_a_rounding(answer: object, earned: int) -> None:
    assert scores(idle_mbit_per_s=answer)["idle-mbit"].points == earned


def test_on_a_busier_wire_one_per_cent_is_allowed() -> None:
    busy = fabricated.idle(bytes=75_000_000, elapsed_s=60.0, mbit_per_s=10.0)
    assert scores(instead(busy), idle_mbit_per_s=10.09)["idle-mbit"].points == 2
    assert scores(instead(busy), idle_mbit_per_s=10.11)["idle-mbit"].points == 0


def test_a_silent_wire_has_the_rate_nought() -> None:
    silent = fabricated.idle(packets=0, bytes=0, mbit_per_s=0.0)
    found = scores(instead(silent), idle_mbit_per_s=0)
    assert (found["a5-record"].points, found["idle-mbit"].points) == (1, 2)


AGAIN = "2026-01-05T11:00:00.000Z"


def test_who_runs_all_cells_again_keeps_the_points_for_the_record_that_was_written_about() -> None:
    busier = fabricated.idle(bytes=9_000_000, elapsed_s=60.0, mbit_per_s=1.2)
    again = replace(busier, started=AGAIN, ended=AGAIN)
    found = scores([*fabricated.records(), again])
    assert points(found) == LAB.worth
    assert fabricated.idle().file_name in found["idle-mbit"].found
    found = scores([*fabricated.records(), again], idle_mbit_per_s=1.2)
    assert again.file_name in found["idle-mbit"].found
    found = scores([*fabricated.records(), again], idle_mbit_per_s=0.5)
    assert found["idle-mbit"].points == 0
    assert again.file_name in found["idle-mbit"].expected
    assert fabricated.idle().file_name in found["idle-mbit"].expected


def test_a_value_from_a_cut_short_or_a_named_record_of_the_wire_does_not_count() -> None:
    other = fabricated.idle(bytes=9_000_000, elapsed_s=60.0, mbit_per_s=1.2)
    cut = replace(other, started=AGAIN, ended=AGAIN, complete=False)
    named = replace(other, started=AGAIN, ended=AGAIN, variant="busy")
    for record in (cut, named):
        kept = [*fabricated.records(), record]
        assert points(scores(kept)) == LAB.worth
        assert scores(kept, idle_mbit_per_s=1.2)["idle-mbit"].points == 0
    alone = scores([cut], idle_mbit_per_s=1.2)
    assert (alone["a5-record"].points, alone["idle-mbit"].points) == (0, 0)
    assert "cut short" in alone["idle-mbit"].found


@pytest.mark.parametrize(
    ("facts", "earned"),
    [
        ({"mbit_per_s": 5.0}, 0.5),
        ({"mbit_per_s": "fast"}, 0.5),
        ({"elapsed_s": 0}, 0),
        ({"elapsed_s": -60}, 0),
        ({"bytes": None}, 0),
        ({"bytes": "many"}, 0),
        ({"bytes": True}, 0),
    ],
)
def test_an_idle_record_must_agree_with_itself(facts: dict[str, Any], earned: float) -> None:
    assert scores(instead(fabricated.idle(**facts)))["a5-record"].points == earned


@pytest.mark.parametrize(
    ("answers", "earned"),
    [
        ({}, 1),
        ({"fault_a": "Wrong hosts "}, 1),
        ({"node_a": "NODE01"}, 1),
        ({"fault_a": "node-down"}, 0.5),
        ({"node_a": "node02"}, 0.5),
        ({"fault_a": None, "node_a": 1}, 0),
        ({"fault_a": "", "node_a": ""}, 0),
    ],
)
def test_a_diagnosis_earns_half_for_the_fault_and_half_for_the_node(
    answers: dict[str, Any], earned: float
) -> None:
    assert scores(**answers)["broken-a"].points == earned


def healed() -> Record:
    return fabricated.validation(variant="broken-b")


def confused() -> Record:
    record = fabricated.validation(variant="broken-b")
    ring = record.select(check="mpi-ring")[0]
    ring.facts.update(ok=False, said="the token was lost")
    return record


@pytest.mark.parametrize(("make", "said"), [(healed, "nothing is broken"), (confused, "not show")])
def test_a_record_that_shows_no_one_fault_earns_nothing_and_says_what_to_do(
    make: Callable[[], Record], said: str
) -> None:
    found = scores(instead(make()), fault_b="none", node_b="")["broken-b"]
    assert found.points == 0
    assert said in found.found
    assert "beowulf break b" in found.expected


def test_a_record_of_another_schema_is_named_in_the_reason() -> None:
    bad = Unreadable("A5-1.json", "A5-1.json: a newer version of this project wrote it.")
    found = LAB.score(Submission([], [bad], {}, {}, new_notebook()))
    assert "newer version" in found["a5-record"].found


# ------------------------------------------------------------ what a learner writes and draws


HOME = ["node00", "node01", "node02", "node03"]
PASSED = [HOME, HOME[:2], HOME[:3], HOME]


@pytest.mark.parametrize(
    ("record", "share", "said"),
    [
        (ring(), 1, "came home from every node"),
        (ring(returned=["None", *PASSED[1:]]), 0.5, "returned None, not the token that came home"),
        (ring(returned=[HOME[:1], *PASSED[1:]]), 0.5, "not what came home"),
        (ring(returned=[HOME, ["node00"], *PASSED[2:]]), 0.5, "did not append its node"),
        (ring(returned=[HOME[:1], "None", "None", "None"]), 0, "returned None"),
        (ring(why="node01 (rank 1) waits in line 7 of pass_token"), 0, "waits in line 7"),
        (ring(source=RING.replace("world.send", "world.bcast")), 0.5, "does not call send"),
        (ring(source=f"{RING}    world.allgather(node)\n"), 0.5, "allgather, which is no ring"),
        (ring(source="no Python ("), 0.5, "does not call send"),
        (replace(ring(), complete=False), 0.5, "cut short"),
        (replace(ring(), points=ring().points[:3]), 0.5, "2 of 3 calls"),
        (replace(ring(), points=ring().points[1:]), 0.5, "does not call send"),
        (replace(ring(), points=[]), 0, "0 of 3 calls"),
    ],
)
def test_a_ring_that_is_not_right_says_why(record: Record, share: float, said: str) -> None:
    found = LAB.one("own-ring", instead(record))
    assert found.points == share * WORTH["own-ring"]
    assert said in found.found


def test_a_ring_is_judged_by_what_its_ranks_returned_and_not_by_what_is_said_of_it() -> None:
    wrong = ring(returned=["None", *PASSED[1:]])
    for point in wrong.points[1:]:
        point.facts.update(right=True, why="")
    assert LAB.one("own-ring", instead(wrong)).points == 0.5 * WORTH["own-ring"]
    for point in wrong.points[1:]:
        del point.facts["nodes"]
    found = LAB.one("own-ring", instead(wrong))
    assert found.points == 0
    assert "unless it was edited" in found.found


@pytest.mark.parametrize(
    ("record", "share", "said"),
    [
        (trips(), 1, "right between 12 ordered pairs"),
        (trips(faults=["what came back is not what it sent. (3 calls)"]), 0.5, "what came back"),
        (trips(left_out=[2]), 0.5, "From rank 2 to rank 0 it has 0 samples"),
        (trips(faults=["it returned nothing."], left_out=range(4)), 0, "it returned nothing"),
        (trips(left_out=range(4)), 0, "no times"),
        (trips(source=PING_PONG.replace(".Recv", ".Bcast")), 0.5, "does not call Send and Recv"),
        (replace(trips(), complete=False), 0.5, "cut short"),
    ],
)
def test_round_trips_that_are_not_right_say_why(record: Record, share: float, said: str) -> None:
    found = LAB.one("own-trips", instead(record))
    assert found.points == share * WORTH["own-trips"]
    assert said in found.found


def shifted(change: Callable[[float], float]) -> Record:
    plot = trips_plot()
    for line in plot.points[0].facts["lines"]:
        line["y"] = [change(y) for y in line["y"]]
    return plot


@pytest.mark.parametrize(
    ("plot", "share"),
    [
        (trips_plot(), 1),
        (shifted(lambda y: 1.03 * y), 1),
        (trips_plot(y_label="round trip"), 5 / 6),
        (trips_plot(legend=[]), 5 / 6),
        (trips_plot(x_label="", y_label=""), 5 / 6),
        (shifted(lambda y: y / 2), 1 / 4),  # half round trips
        (shifted(lambda y: y / 1000), 1 / 4),  # milliseconds
        (trips_plot(lines=[]), 0),
    ],
)
def test_a_plot_has_labels_a_legend_and_the_learners_own_medians(
    plot: Record, share: float
) -> None:
    assert LAB.one("trips-plot", instead(plot)).points == pytest.approx(share * WORTH["trips-plot"])


# ------------------------------------------------------------ a ring that waits


@pytest.mark.parametrize(
    ("closed", "sender", "receivers"), [("node01", 0, 3), ("node02", 1, 3), ("node03", 2, 2)]
)
def test_who_waits_and_for_whom_is_that_of_the_learners_own_record(
    closed: str, sender: int, receivers: int
) -> None:
    def waits(one: object, others: object) -> float:
        kept = instead(stuck(closed))
        return LAB.one("ring-waits", kept, sender_rank=one, receiving_ranks=others).points

    assert waits(sender, receivers) == WORTH["ring-waits"]
    assert waits(sender + 1, receivers) == WORTH["ring-waits"] / 2
    assert waits(sender, receivers + 1) == WORTH["ring-waits"] / 2
    assert waits(None, "3") == 0
    kept = instead(stuck(closed))
    assert LAB.one("broken-d", kept, node_d=f" {closed.upper()} ").points == WORTH["broken-d"]
    assert LAB.one("broken-d", kept, node_d=f"node0{sender}").points == 0


def without_waits() -> Record:
    record = stuck()
    record.points = [point for point in record.points if "rank" not in point.at]
    return record


def all_open() -> Record:
    record = stuck()
    for point in record.select(check="door"):
        point.facts["shut"] = False
    return record


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (without_waits(), "something is missing in it"),
        (all_open(), "something is missing in it"),
        (replace(stuck(), cluster={}), "unless it was edited"),
    ],
)
def test_a_record_in_which_no_ring_waits_earns_nothing_and_says_so(
    record: Record, said: str
) -> None:
    for question in ("ring-waits", "broken-d"):
        found = LAB.one(question, instead(record))
        assert found.points == 0
        assert said in found.found
