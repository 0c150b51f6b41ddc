"""Claims of lab 04's studies on Records that are made: each outcome of each claim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import made
import pytest

from beowulf.errors import LabError
from beowulf.measure.roundtrips import EXCHANGE, HALF
from beowulf.measure.sweep import PAPER_A_SMALL, powers_of_two, steps
from beowulf.record import Point, Record
from beowulf.studies import (
    a6_measuring_program,
    a7_rate_by_nodes,
    b1_round_trip,
    b2_time_difference,
    b3_bandwidth_difference,
    b4_cpu_use,
    b5_unlike_nodes,
    e1_latency_model,
    e2_pingpong,
)

At = dict[str, Any]
STUDIES = (
    a6_measuring_program,
    a7_rate_by_nodes,
    b1_round_trip,
    b2_time_difference,
    b3_bandwidth_difference,
    b4_cpu_use,
    b5_unlike_nodes,
    e1_latency_model,
    e2_pingpong,
)
US_PER_BYTE = 8 / 94.1  # of a cable of 100 Mbit/s after headers
SIZES = powers_of_two(1, 4 * 1024 * 1024)
BUSY = made.QUIET | {"load_1min": 9.0}


def message_us(size: int) -> float:
    return 20 + size * US_PER_BYTE


# ---- A7 -----------------------------------------------------------------------------------------


def a7(
    time_us: Callable[[At], float] = lambda at: message_us(at["size_bytes"]), **how: Any
) -> Record:
    points = []
    for pattern, ranks in a7_rate_by_nodes.RUNS:
        quantity = HALF if pattern == "pairs" else EXCHANGE
        places = [
            {"pattern": pattern, "ranks": ranks, "protocol": protocol, "size_bytes": size}
            for size in SIZES
            for protocol in ("blocking", "nonblocking")
        ]
        record = made.record("A7", quantity, places, time_us, **how)
        points += record.points
    record.points = points
    return record


def test_a7_holds_on_an_ideal_network() -> None:
    found = a7_rate_by_nodes.claims(a7())
    assert made.outcomes(found) == {
        "rises-then-saturates": "holds",
        "blocking-alike": "holds",
        "more-nodes-higher-rate": "holds",
        "saturates-at-the-link": "holds",
    }
    assert found[0].numbers["saturation_bytes"]["np 2, blocking"] == 4096
    assert found[3].numbers["left_mbit_per_s"] == pytest.approx(94.1, abs=0.1)


def test_a7_a_rate_that_falls_again_does_not_saturate() -> None:
    falling = a7(lambda at: message_us(at["size_bytes"]) * (2 if at["size_bytes"] > 3e6 else 1))
    assert made.outcomes(a7_rate_by_nodes.claims(falling))["rises-then-saturates"] == "contradicted"


def test_a7_a_rate_that_is_the_same_for_all_sizes_does_not_rise() -> None:
    flat = a7(lambda at: at["size_bytes"] * US_PER_BYTE)
    assert made.outcomes(a7_rate_by_nodes.claims(flat))["rises-then-saturates"] == "contradicted"


def test_a7_a_rate_that_still_rises_needs_longer_messages() -> None:
    rising = a7(lambda at: 5e6 + at["size_bytes"] * US_PER_BYTE)
    found = a7_rate_by_nodes.claims(rising)[0]
    assert found.outcome == "inconclusive"
    assert "larger messages" in found.advice


def test_a7_a_burst_that_a_shaped_link_lets_pass_is_told() -> None:
    burst = a7(lambda at: message_us(at["size_bytes"]) * (0.3 if at["size_bytes"] <= 4096 else 1))
    found = a7_rate_by_nodes.claims(burst)[0]
    assert found.outcome == "holds"
    assert "before that, faster" in found.evidence


def test_a7_calls_that_differ_are_not_alike() -> None:
    slower = a7(
        lambda at: message_us(at["size_bytes"]) * (1.5 if at["protocol"] == "nonblocking" else 1)
    )
    found = a7_rate_by_nodes.claims(slower)[1]
    assert found.outcome == "contradicted"
    assert "1.50 times" in found.evidence


def test_a7_a_shared_network_gives_more_nodes_no_higher_rate() -> None:
    shared = a7(lambda at: message_us(at["size_bytes"]) * at["ranks"] ** 2)
    assert (
        made.outcomes(a7_rate_by_nodes.claims(shared))["more-nodes-higher-rate"] == "contradicted"
    )


def test_a7_rates_whose_intervals_touch_are_inconclusive() -> None:
    noisy = a7(lambda at: message_us(at["size_bytes"]) * at["ranks"], noise=0.05)
    assert made.outcomes(a7_rate_by_nodes.claims(noisy))["more-nodes-higher-rate"] == "inconclusive"


def test_a7_a_slow_card_does_not_reach_the_link() -> None:
    slow = a7(lambda at: 2 * message_us(at["size_bytes"]))
    assert made.outcomes(a7_rate_by_nodes.claims(slow))["saturates-at-the-link"] == "contradicted"


def test_a7_a_link_of_unknown_rate_is_not_judged() -> None:
    found = a7_rate_by_nodes.claims(a7(cluster=made.CLUSTER | {"rate": "off"}))[3]
    assert found.outcome == "inconclusive"
    assert "--rate 100mbit" in found.advice


def test_a7_pictures_the_rings_with_intervals_and_a_table() -> None:
    figure = a7_rate_by_nodes.picture(a7(launches=2, n=8))
    assert set(figure.table["line"]) >= {"np 2, blocking", "np 4, nonblocking"}
    assert {"low", "high"} <= set(figure.table)
    assert "np 3, blocking: from" in figure.alt


# ---- B1 -----------------------------------------------------------------------------------------


def b1(time_us: Callable[[At], float], **how: Any) -> Record:
    places = [
        {
            "pattern": "pingpong",
            "ranks": 2,
            "protocol": p,
            "size_bytes": size,
            "overlap_bytes": work,
        }
        for p in b1_round_trip.PROTOCOLS
        for size in PAPER_A_SMALL
        for work in b1_round_trip.OVERLAP_BYTES
    ]
    return made.record("B1", HALF, places, time_us, **how)


def test_b1_a_latency_that_hides_the_size_varies_little() -> None:
    found = b1_round_trip.claims(b1(lambda at: 500 + at["size_bytes"] * US_PER_BYTE))
    assert made.outcomes(found) == {"little-variation": "holds", "blocking-alike": "holds"}


def test_b1_a_short_latency_shows_the_size() -> None:
    found = b1_round_trip.claims(b1(lambda at: 5 + at["size_bytes"] * US_PER_BYTE))
    assert made.outcomes(found)["little-variation"] == "contradicted"


def test_b1_a_variation_within_the_noise_is_inconclusive() -> None:
    found = b1_round_trip.claims(b1(lambda at: 300 + at["size_bytes"] * US_PER_BYTE, noise=0.3))
    assert made.outcomes(found)["little-variation"] == "inconclusive"


def test_b1_calls_that_differ_are_not_alike() -> None:
    found = b1_round_trip.claims(
        b1(lambda at: 500 * (1.3 if at["protocol"] == "nonblocking" else 1))
    )
    assert made.outcomes(found)["blocking-alike"] == "contradicted"


# ---- B2 and B3 ----------------------------------------------------------------------------------


def rings(study: str, longer: Callable[[At], float], **how: Any) -> Record:
    """Non-blocking takes `longer` times the blocking time."""
    module = b2_time_difference if study == "B2" else b3_bandwidth_difference
    places = [
        {"pattern": "ring", "ranks": ranks, "protocol": protocol, "size_bytes": size}
        for ranks in (2, 3, 4)
        for protocol in ("blocking", "nonblocking")
        for size in module.QUICK_SIZES
    ]
    return made.record(
        study,
        EXCHANGE,
        places,
        lambda at: (
            message_us(at["size_bytes"]) * (longer(at) if at["protocol"] == "nonblocking" else 1)
        ),
        **how,
    )


def test_b2_a_difference_that_falls_and_jumps_is_found() -> None:
    def longer(at: At) -> float:
        return 1 + (0.5 if at["size_bytes"] > 100_000 else 0.04 / at["ranks"])

    found = b2_time_difference.claims(rings("B2", longer))
    assert made.outcomes(found) == {"falls-with-nodes": "holds", "jumps-at-100000": "holds"}


def test_b2_a_difference_that_rises_and_does_not_jump_contradicts() -> None:
    found = b2_time_difference.claims(rings("B2", lambda at: 1 + 0.1 * at["ranks"]))
    assert made.outcomes(found) == {
        "falls-with-nodes": "contradicted",
        "jumps-at-100000": "contradicted",
    }


def test_b2_where_there_is_no_difference_nothing_can_fall() -> None:
    found = b2_time_difference.claims(rings("B2", lambda at: 1.0))
    assert made.outcomes(found)["falls-with-nodes"] == "inconclusive"
    assert "hardly a difference" in found[0].advice


def test_b2_a_jump_of_one_ring_alone_is_inconclusive() -> None:
    def longer(at: At) -> float:
        return 1.5 if at["size_bytes"] > 100_000 and at["ranks"] == 2 else 1.0

    assert (
        made.outcomes(b2_time_difference.claims(rings("B2", longer)))["jumps-at-100000"]
        == "inconclusive"
    )


def test_b2_without_sizes_on_both_sides_no_jump_can_be_seen() -> None:
    record = rings("B2", lambda at: 1.0)
    record.points = [p for p in record.points if p.at["size_bytes"] <= 100_000]
    assert made.outcomes(b2_time_difference.claims(record))["jumps-at-100000"] == "inconclusive"


@pytest.mark.parametrize(
    ("share", "outcome"),
    [
        ({3: 1.0, 4: 0.8}, "holds"),
        ({3: 0.8, 4: 1.0}, "contradicted"),
        ({3: 1.0, 4: 1.0}, "inconclusive"),
    ],
)
def test_b3_every_outcome(share: dict[int, float], outcome: str) -> None:
    found = b3_bandwidth_difference.claims(
        rings("B3", lambda at: share.get(at["ranks"], 1.0), noise=0.01)
    )
    assert made.outcomes(found) == {"rises-from-3-to-4": outcome}


# ---- B4 -----------------------------------------------------------------------------------------


def b4(percent: Callable[[At], float], **how: Any) -> Record:
    places = [
        {"size_bytes": size, "protocol": protocol, "polling": polling, "node": node}
        for size in b4_cpu_use.SIZES
        for protocol in b4_cpu_use.PROTOCOLS
        for polling in b4_cpu_use.POLLING
        for node in ("node00", "node01")
    ]
    how.setdefault("noise", 0.02)
    return made.record("B4", b4_cpu_use.CPU, places, percent, **how)


def rising(at: At) -> float:
    return 20.0 + b4_cpu_use.SIZES.index(at["size_bytes"]) * 5


def test_b4_holds_where_asking_costs_more_and_length_too() -> None:
    found = b4_cpu_use.claims(b4(lambda at: rising(at) + 10 * (at["protocol"] == "nonblocking")))
    assert made.outcomes(found) == {"nonblocking-uses-more": "holds", "rises-with-size": "holds"}


def test_b4_contradicts_where_calls_are_alike_and_long_messages_let_the_rank_sleep() -> None:
    found = b4_cpu_use.claims(b4(lambda at: 80 - rising(at)))
    assert made.outcomes(found) == {
        "nonblocking-uses-more": "contradicted",
        "rises-with-size": "contradicted",
    }
    assert "spinning, any rank uses" in found[0].evidence


def test_b4_is_inconclusive_where_the_difference_is_within_the_noise() -> None:
    noisy = b4(lambda at: 50 + 2 * (at["protocol"] == "nonblocking"), noise=0.05)
    assert set(made.outcomes(b4_cpu_use.claims(noisy)).values()) == {"inconclusive"}


# ---- B5 -----------------------------------------------------------------------------------------


def b5(times: float = 2.0, **how: Any) -> Record:
    places = [{"nodes": nodes, "ranks": 4} for nodes in b5_unlike_nodes.SHARES]
    swept = {nodes: list(each) for nodes, each in b5_unlike_nodes.SHARES.items()}
    return made.record(
        "B5",
        EXCHANGE,
        places,
        lambda at: 2e4 * (times if at["nodes"] == "unlike" else 1),
        sweep=swept,
        **how,
    )


@pytest.mark.parametrize(
    ("times", "noise", "outcome"),
    [
        (2.0, 0.01, "holds"),
        (1.0, 0.01, "contradicted"),
        (3.0, 0.01, "contradicted"),
        (1.35, 0.3, "inconclusive"),
    ],
)
def test_b5_every_outcome(times: float, noise: float, outcome: str) -> None:
    found = b5_unlike_nodes.claims(b5(times, noise=noise, n=30))
    assert made.outcomes(found) == {"slowest-sets-the-pace": outcome}


# ---- E1 -----------------------------------------------------------------------------------------


def e1(
    wide_us: Callable[[At], float] = lambda at: message_us(at["size_bytes"]),
    step_us: float = 200.0,
    moved: int = 0,
    **how: Any,
) -> Record:
    """A line for the wide sweep; at each limit, `moved` bytes off, a step."""
    wide = [{"sweep": "wide", "size_bytes": size} for size in powers_of_two(0, 2**20)]
    even = [
        {"sweep": "even", "limit_bytes": limit, "size_bytes": size}
        for limit in e1_latency_model.LIMITS
        for size in e1_latency_model.around(limit)
    ]

    def time_us(at: At) -> float:
        if at["sweep"] == "wide":
            return wide_us(at)
        late = at["size_bytes"] > at["limit_bytes"] + moved
        return message_us(at["size_bytes"]) + (step_us if late else 0.0)

    how.setdefault("noise", 0.0005)
    return made.record("E1", HALF, wide + even, time_us, **how)


def test_e1_holds_on_an_ideal_network() -> None:
    found = e1_latency_model.claims(e1())
    assert made.outcomes(found) == {
        "line": "holds",
        "alpha": "holds",
        "beta": "holds",
        "eager-step": "holds",
    }
    assert found[0].numbers["alpha_us"] == pytest.approx(20, rel=0.02)
    assert found[3].numbers["limit_65536"] == [65_536, 73_728]


def test_e1_times_that_bend_are_no_line() -> None:
    bent = e1(
        lambda at: message_us(at["size_bytes"]) * (0.5 if 100 < at["size_bytes"] < 9000 else 1)
    )
    found = made.outcomes(e1_latency_model.claims(bent))
    assert found["line"] == "contradicted"


def test_e1_an_empty_message_that_is_special_is_not_alpha() -> None:
    special = e1(lambda at: message_us(at["size_bytes"]) * (0.3 if at["size_bytes"] == 0 else 1))
    assert made.outcomes(e1_latency_model.claims(special))["alpha"] == "contradicted"


def test_e1_without_an_empty_message_alpha_is_not_judged() -> None:
    record = e1()
    record.points = [p for p in record.points if p.at["size_bytes"] > 0]
    assert made.outcomes(e1_latency_model.claims(record))["alpha"] == "inconclusive"


def test_e1_a_slow_link_has_another_beta() -> None:
    slow = e1(lambda at: 2 * message_us(at["size_bytes"]))
    assert made.outcomes(e1_latency_model.claims(slow))["beta"] == "contradicted"
    unknown = e1(cluster=made.CLUSTER | {"rate": "off"})
    assert made.outcomes(e1_latency_model.claims(unknown))["beta"] == "inconclusive"


def test_e1_without_a_rise_there_is_no_line_and_nothing_is_judged() -> None:
    record = e1()
    for point in record.points:
        if point.samples and point.at.get("sweep") == "wide":
            falling = 6000.0 - point.at["size_bytes"] / 1000
            point.samples[:] = [falling] * len(point.samples)
    found = e1_latency_model.claims(record)
    assert {verdict.outcome for verdict in found} == {"inconclusive"}
    assert "do not rise" in found[0].evidence
    with pytest.raises(LabError, match="do not rise"):
        e1_latency_model.picture(record)


def test_e1_a_step_at_another_place_contradicts_and_none_is_inconclusive() -> None:
    elsewhere = e1_latency_model.claims(e1(moved=48_000))
    assert made.outcomes(elsewhere)["eager-step"] == "contradicted"
    none = e1_latency_model.claims(e1(step_us=0.0))
    assert made.outcomes(none)["eager-step"] == "inconclusive"


# ---- E2 -----------------------------------------------------------------------------------------


def e2(time_us: Callable[[At], float], **how: Any) -> Record:
    return made.record("E2", HALF, [{"size_bytes": size} for size in PAPER_A_SMALL], time_us, **how)


REAL = {"kind": "ssh", "nodes": ["node00", "node01"]}


def test_e2_holds_on_an_untuned_cluster_of_pcs() -> None:
    found = e2_pingpong.claims(e2(lambda at: 50 + 0.01 * at["size_bytes"], cluster=REAL))
    assert made.outcomes(found) == {
        "default-latency": "holds",
        "short-alike": "holds",
        "repeats": "holds",
    }


def test_e2_another_latency_contradicts_where_there_is_a_card() -> None:
    found = made.outcomes(e2_pingpong.claims(e2(lambda at: 20.0, cluster=REAL)))
    assert found["default-latency"] == "contradicted"


def test_e2_a_cluster_without_cards_cannot_tell() -> None:
    found = e2_pingpong.claims(e2(lambda at: 50.0))[0]
    assert found.outcome == "inconclusive"
    assert "no message meets a network card" in found.evidence


def test_e2_times_that_grow_at_once_and_scatter_contradict() -> None:
    found = made.outcomes(e2_pingpong.claims(e2(lambda at: 5 + at["size_bytes"], noise=0.2)))
    assert found["short-alike"] == "contradicted"
    assert found["repeats"] == "contradicted"


def test_e2_growth_within_the_noise_is_inconclusive() -> None:
    grown = e2(lambda at: 10.0 if at["size_bytes"] != 64 else 13.0, noise=0.25)
    assert made.outcomes(e2_pingpong.claims(grown))["short-alike"] == "inconclusive"


# ---- A6 -----------------------------------------------------------------------------------------


def a6(
    imb: float = 1.0,
    tick_s: float = 2e-8,
    protocols: tuple[str, ...] = a6_measuring_program.PROTOCOLS,
) -> Record:
    sizes = steps(0, 1024, 128)
    places = [{"mode": "ours", "protocol": p, "size_bytes": s} for p in protocols for s in sizes]
    places += [{"mode": "imb", "protocol": "blocking", "size_bytes": s} for s in sizes]
    record = made.record(
        "A6",
        HALF,
        places,
        lambda at: 20 * (imb if at["mode"] == "imb" else 1),
        sweep={"sizes": sizes},
    )
    record.points.append(Point({"about": True}, facts={"clock_resolution_s": tick_s}))
    record.points.append(Point({"mode": "ours", "rank": 0}, "first_message_s", [0.01]))
    return record


def test_a6_holds_for_a_program_that_agrees() -> None:
    found = a6_measuring_program.claims(a6())
    assert made.outcomes(found) == {"clock": "holds", "three-protocols": "holds", "agrees": "holds"}


def test_a6_a_coarse_clock_a_missing_protocol_and_another_time_contradict() -> None:
    found = a6_measuring_program.claims(a6(imb=1.3, tick_s=1e-3, protocols=("blocking", "overlap")))
    assert set(made.outcomes(found).values()) == {"contradicted"}


def test_a6_without_the_other_ways_it_cannot_be_compared() -> None:
    record = a6()
    record.points = [p for p in record.points if p.at.get("mode") != "imb"]
    assert made.outcomes(a6_measuring_program.claims(record))["agrees"] == "inconclusive"


def test_a6_a_chunk_that_meets_an_idle_cable_is_no_disagreement() -> None:
    # The first packets after a pause pass a shaped cable at once; a thousand in a row do not.
    record = a6()
    for point in record.points:
        if point.at.get("mode") == "ours" and point.quantity == HALF:
            point.samples[0] /= 2
    found = a6_measuring_program.claims(record)
    assert made.outcomes(found)["agrees"] == "holds"


# ---- all of them --------------------------------------------------------------------------------

WHOLE: dict[str, Callable[..., Record]] = {
    "A7": a7,
    "B1": lambda **how: b1(lambda at: 500.0, **how),
    "B2": lambda **how: rings("B2", lambda at: 1.0, **how),
    "B3": lambda **how: rings("B3", lambda at: 1.0, **how),
    "B4": lambda **how: b4(lambda at: 50.0, **how),
    "B5": b5,
    "E1": e1,
    "E2": lambda **how: e2(lambda at: 50.0, **how),
}


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.ID)
def test_a_record_of_another_study_is_refused(study: Any) -> None:
    with pytest.raises(LabError, match="Record of study D1"):
        study.claims(Record(study="D1"))
    with pytest.raises(LabError, match="Record of study D1"):
        study.picture(Record(study="D1"))


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.ID)
def test_a_record_without_samples_is_inconclusive(study: Any) -> None:
    found = study.claims(Record(study=study.ID, complete=False))
    assert {verdict.outcome for verdict in found} == {"inconclusive"}
    assert all("there are no samples" in verdict.evidence for verdict in found)


@pytest.mark.parametrize("study", [s for s in STUDIES if s.ID in WHOLE], ids=lambda study: study.ID)
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"before": BUSY}, "the load before the start was 9.0 on 2 cores"),
        ({"complete": False}, "cut short"),
        ({"n": 4}, "a point has 4 samples"),
    ],
)
def test_bad_circumstances_make_every_claim_inconclusive(
    study: Any, how: dict[str, Any], said: str
) -> None:
    for found in study.claims(WHOLE[study.ID](**how)):
        assert found.outcome == "inconclusive"
        assert said in found.evidence
        assert found.advice


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.ID)
def test_every_picture_has_a_sentence_and_a_table(study: Any) -> None:
    figure = study.picture(a6() if study.ID == "A6" else WHOLE[study.ID]())
    assert len(figure.alt) > 40
    assert len(figure.table) > 1
    assert "low" in figure.table.to_csv()
