"""Does the rubric of lab 01 hold every answer against the learner's own Records, with a reason?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from beowulf.record import Point, Record
from tests.autograder.marked import Marked, points
from tests.gold import lab_01
from tests.gold.lab_01 import NODES, PUZZLES, RIGHT, WORTH, ring, stuck, trips

LAB = Marked(lab_01)
one, instead, scores = LAB.one, LAB.instead, LAB.scores


def test_a_broken_cluster_offered_as_a_whole_one_gets_a_third() -> None:
    found = one("a2-record", instead(lab_01.validation(*PUZZLES["a"])))
    assert found.points == pytest.approx(WORTH["a2-record"] / 3)
    assert "wrong-hosts" in found.found
    assert "beowulf up" in found.expected


def test_a_whole_cluster_counts_even_when_a_broken_one_was_measured_later() -> None:
    late = lab_01.validation("node-down", "node01", started="2026-02-01T00:00:00.000Z")
    assert points(scores([*lab_01.records(), late])) == LAB.worth


def without(check: str, **at: str) -> Record:
    record = lab_01.validation()
    left = record.select(check=check, **at)
    record.points = [point for point in record.points if point not in left]
    return record


def with_routes(routes: list[str]) -> Record:
    """A well cluster with these routes in the table of each node."""
    record = lab_01.validation()
    points = [
        replace(p, facts=p.facts | {"routes": routes}) if p.at["check"] == "routes" else p
        for p in record.points
    ]
    return replace(record, points=points)


@pytest.mark.parametrize(
    "record",
    [
        without("ssh", node="node02", peer="node03"),
        without("mpi-ring"),
        without("configuration", node="node03"),
        replace(lab_01.validation(), cluster={"nodes": ["node00"]}),
        replace(lab_01.validation(), cluster={"nodes": ["x"] * 100_000}),
        replace(lab_01.validation(), points=lab_01.validation().points * 40),
        with_routes(["10.0.0.0/24 dev eth0"] * 100_000),
        replace(lab_01.validation(), points=[Point(p.at) for p in lab_01.validation().points]),
    ],
)
def test_a_record_from_which_something_is_missing_is_no_validated_cluster(record: Record) -> None:
    found = one("a2-record", instead(record))
    assert found.points == pytest.approx(WORTH["a2-record"] / 3)
    assert record.file_name in found.found


IDLE_RATE = float(RIGHT["idle_mbit_per_s"])
PAIR = replace(lab_01.validation(), cluster={"nodes": list(NODES[:2])})
BUSY = lab_01.idle(bytes=75_000_000, elapsed_s=60.0, mbit_per_s=10.0)
SILENT = lab_01.idle(packets=0, bytes=0, mbit_per_s=0.0)


@pytest.mark.parametrize(
    ("question", "made", "answers", "worth"),
    [
        ("hosts-first-line", [], {"hosts_first_line": "  192.168.0.9\tnode01\n"}, 1),
        ("hosts-first-line", [], {"hosts_first_line": "192.168.0.8 node00"}, 0),
        ("ordered-pairs", [], {"ordered_pairs": 12.0}, 1),
        ("ordered-pairs", [], {"ordered_pairs": "12"}, 0),
        ("ordered-pairs", [PAIR], {"ordered_pairs": 2}, 1),
        ("ring-messages", [], {"ring_messages": True}, 0),
        ("ring-messages", [PAIR], {"ring_messages": 2}, 1),
        # The idle wire's rate may be off by a rounding, on a busier wire by 1 %, and a silent one has none.
        ("idle-mbit", [], {"idle_mbit_per_s": IDLE_RATE + 0.000009}, 2),
        ("idle-mbit", [], {"idle_mbit_per_s": IDLE_RATE + 0.000011}, 0),
        ("idle-mbit", [], {"idle_mbit_per_s": float("nan")}, 0),
        ("idle-mbit", [], {"idle_mbit_per_s": 10**400}, 0),
        ("idle-mbit", [], {"idle_mbit_per_s": "0.0002"}, 0),
        ("idle-mbit", [BUSY], {"idle_mbit_per_s": 10.09}, 2),
        ("idle-mbit", [BUSY], {"idle_mbit_per_s": 10.11}, 0),
        ("idle-mbit", [SILENT], {"idle_mbit_per_s": 0}, 2),
        ("a5-record", [SILENT], {}, 1),
        # A Record has to agree with itself.
        ("a5-record", [lab_01.idle(mbit_per_s=5.0)], {}, 0.5),
        ("a5-record", [lab_01.idle(mbit_per_s="fast")], {}, 0.5),
        ("a5-record", [lab_01.idle(elapsed_s=0)], {}, 0),
        ("a5-record", [lab_01.idle(bytes="many")], {}, 0),
        # Half for the fault, half for the node.
        ("broken-a", [], {"fault_a": "Wrong hosts ", "node_a": "NODE01"}, 1),
        ("broken-a", [], {"fault_a": "node-down"}, 0.5),
        ("broken-a", [], {"fault_a": None, "node_a": 1}, 0),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_is_held_against_the_learners_own_records(
    question: str, made: list[Record], answers: dict[str, Any], worth: float
) -> None:
    assert one(question, instead(*made), **answers).points == pytest.approx(worth)


@pytest.mark.parametrize(("where", "share"), [("wire", 1), ("node00", 1), ("x", 0)])
def test_the_idle_wire_counts_wherever_a_kind_of_cluster_can_see_it(where: str, share: int) -> None:
    seen = lab_01.idle()
    seen.points[0].at["where"] = where
    for question in ("a5-record", "idle-mbit"):
        assert one(question, instead(seen)).points == share * WORTH[question]


AGAIN = "2026-01-05T11:00:00.000Z"


def test_who_runs_all_cells_again_keeps_the_points_for_the_record_that_was_written_about() -> None:
    busier = lab_01.idle(bytes=9_000_000, elapsed_s=60.0, mbit_per_s=1.2)
    again = replace(busier, started=AGAIN, ended=AGAIN)
    found = scores([*lab_01.records(), again])
    assert points(found) == LAB.worth
    assert lab_01.idle().file_name in found["idle-mbit"].expected
    found = one("idle-mbit", [*lab_01.records(), again], idle_mbit_per_s=1.2)
    assert (found.points, again.file_name in found.expected) == (LAB.worth["idle-mbit"], True)


def test_a_value_from_a_cut_short_or_a_named_record_of_the_wire_does_not_count() -> None:
    other = lab_01.idle(bytes=9_000_000, elapsed_s=60.0, mbit_per_s=1.2)
    cut = replace(other, started=AGAIN, ended=AGAIN, complete=False)
    named = replace(other, started=AGAIN, ended=AGAIN, variant="busy")
    for record in (cut, named):
        kept = [*lab_01.records(), record]
        assert points(scores(kept)) == LAB.worth
        assert one("idle-mbit", kept, idle_mbit_per_s=1.2).points == 0
    alone = one("idle-mbit", [cut], idle_mbit_per_s=1.2)
    assert (alone.points, "cut short" in alone.found) == (0, True)


@pytest.mark.parametrize(
    ("ring_facts", "said"),
    [({}, "nothing is broken"), ({"ok": False, "said": "the token was lost"}, "not show")],
)
def test_a_record_that_shows_no_one_fault_earns_nothing_and_says_what_to_do(
    ring_facts: dict[str, Any], said: str
) -> None:
    record = lab_01.validation(variant="broken-b")
    record.select(check="mpi-ring")[0].facts.update(ring_facts)
    found = one("broken-b", instead(record), fault_b="none", node_b="")
    assert (found.points, said in found.found) == (0, True)
    assert "beowulf break b" in found.expected


HOME = ["node00", "node01", "node02", "node03"]
PASSED = [HOME, HOME[:2], HOME[:3], HOME]


@pytest.mark.parametrize(
    ("record", "share", "said"),
    [
        (ring(returned=[HOME[:1], "None", "None", "None"]), 0, "returned None"),
        (ring(calls=["MPI_Bcast", "MPI_Send"]), 0.5, "MPI_Bcast, with all ranks at once"),
        (ring(source="no Python (", calls=["MPI_Barrier", "MPI_Sendrecv"]), 1, "came home"),
        (replace(ring(), complete=False), 0.5, "cut short"),
        (replace(ring(), points=ring().points[:3]), 0.5, "2 of 3 calls"),
        (replace(ring(), points=[]), 0, "0 of 3 calls"),
    ],
)
def test_a_ring_that_is_not_right_says_why(record: Record, share: float, said: str) -> None:
    found = one("own-ring", instead(record))
    assert found.points == share * WORTH["own-ring"]
    assert said in found.found


def test_a_ring_is_judged_by_what_its_ranks_returned_and_not_by_what_is_said_of_it() -> None:
    wrong = ring(returned=["None", *PASSED[1:]])
    for point in wrong.points[1:]:
        point.facts.update(right=True, why="")
    assert one("own-ring", instead(wrong)).points == 0.5 * WORTH["own-ring"]
    for point in wrong.points[1:]:
        del point.facts["nodes"]
    found = one("own-ring", instead(wrong))
    assert found.points == 0
    assert "unless it was edited" in found.found


@pytest.mark.parametrize(
    ("record", "share", "said"),
    [
        (trips(faults=["it returned nothing."], left_out=range(4)), 0, "it returned nothing"),
        (trips(left_out=range(4)), 0, "no times"),
        (trips(calls=["MPI_Ibcast"]), 0.5, "MPI_Ibcast, with all ranks at once"),
        (replace(trips(), complete=False), 0.5, "cut short"),
    ],
)
def test_round_trips_that_are_not_right_say_why(record: Record, share: float, said: str) -> None:
    found = one("own-trips", instead(record))
    assert found.points == share * WORTH["own-trips"]
    assert said in found.found


def test_who_waits_and_for_whom_is_that_of_the_learners_own_record() -> None:
    kept = instead(stuck("node03"))

    def waits(sends: object, receives: object) -> float:
        return one("ring-waits", kept, sender_rank=sends, receiving_ranks=receives).points

    assert waits(2, 2) == WORTH["ring-waits"]
    assert waits(3, 2) == waits(2, 3) == WORTH["ring-waits"] / 2
    assert waits(None, "3") == 0
    assert one("broken-d", kept, node_d=" NODE03 ").points == WORTH["broken-d"]
    assert one("broken-d", kept, node_d="node02").points == 0


def all_open() -> Record:
    record = stuck()
    for point in record.select(check="door"):
        point.facts["shut"] = False
    return record


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (all_open(), "it cannot be used here"),
        (replace(stuck(), cluster={}), "unless it was edited"),
    ],
)
def test_a_record_in_which_no_ring_waits_earns_nothing_and_says_so(
    record: Record, said: str
) -> None:
    for question in ("ring-waits", "broken-d"):
        found = one(question, instead(record))
        assert found.points == 0
        assert said in found.found
