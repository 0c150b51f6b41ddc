"""Does each claim of paper C hold, is it contradicted and left open on Records that show it?"""

from __future__ import annotations

import pytest
from made import decided, named

from beowulf.errors import LabError
from beowulf.labs.lab_08 import c1_tokens, c3_striping, c6_overhead, tokens
from beowulf.labs.lab_08.c3_striping import BONDING, KERNEL, MULTIPATH, ONE, PROGRAM_TURNS
from beowulf.record import Point, Record
from beowulf.studies import given, judge
from tests.gold import lab_08
from tests.gold.measured import as_measured
from tests.labs.lab_08.lab_08_records import (
    ODD,
    ONE_MACHINE,
    PCS,
    as_published,
    barriers,
    galaxy,
    gas,
    growing,
    machine,
    striped,
    tokens_with,
    two_times,
)

# What does not hold of a Record on which the rest does.
OTHERS = {
    "C3": {"twice": "contradicted", "bonding-gains": "inconclusive"},
    "C6": {"sum-scaled": "contradicted", "sum-fixed": "contradicted"},
}


@pytest.mark.parametrize(
    "record",
    [
        tokens_with(),
        tokens_with(study="C2"),
        striped(),
        gas(cluster=PCS),
        galaxy(cluster=PCS),
        machine(),
        barriers({2: 60, 4: 90}),
    ],
    ids=lambda record: record.study,
)
def test_what_the_record_shows_holds(record: Record) -> None:
    found = decided(record)
    assert {claim: each for claim, each in found.items() if each != "holds"} == OTHERS.get(
        record.study, {}
    )


@pytest.mark.parametrize(
    ("claim", "record", "outcome"),
    [
        ("saturates-1", tokens_with(growing(1.0)), "contradicted"),
        ("saturates-1", tokens_with(growing(0.1)), "contradicted"),
        ("saturates-1", tokens_with(growing(0.0)), "contradicted"),
        ("saturates-2", tokens_with(two_times(2)), "contradicted"),
        ("saturates-2", tokens_with(growing(0.15)), "contradicted"),
        ("saturates-2", tokens_with(lambda at, s: s / (1.3 if at["size_bytes"] > 8192 else 1)), "contradicted"),
        ("saturates-alone", tokens_with(lambda at, s: s * (2 if at["demand"] == 1 else 1)), "contradicted"),
        ("of-peak", tokens_with(lambda at, s: 2 * s), "contradicted"),
        ("of-peak", tokens_with(cluster={"rate": "7mbit"}), "inconclusive"),
        ("demand-one", tokens_with(lambda at, s: s / (4 if at["demand"] == 1 else 1)), "contradicted"),
        ("clustered", tokens_with(lambda at, s: s / (1.5 if at["demand"] == 7 else 1)), "contradicted"),
        ("spread", tokens_with(two_times(1.7)), "contradicted"),
        ("two-networks", tokens_with(two_times(1.7)), "holds"),
        ("two-networks", tokens_with(two_times(1.0)), "contradicted"),
        ("two-networks", tokens_with(two_times(2.0)), "contradicted"),
        ("two-networks", tokens_with(two_times(1.9), noise=0.2), "inconclusive"),
        ("alone", tokens_with(two_times(1.5)), "holds"),
        ("alone", tokens_with(two_times(2.2)), "contradicted"),
        ("alone", tokens_with(two_times(1.7), noise=0.2), "inconclusive"),
        ("size-matters", tokens_with(lambda at, s: at["size_bytes"] / at["demand"] * 1e-6), "contradicted"),
        ("figure-1", as_published(1.1), "holds"),
        ("figure-1", as_published(1.3), "contradicted"),
        ("flat", tokens_with(growing(0.8), "C2"), "contradicted"),
        ("falls", tokens_with(growing(1.0), "C2"), "contradicted"),
        ("trade-off", tokens_with(growing(0.5), "C2"), "contradicted"),
        ("sensitive", tokens_with(study="C2", gains={}), "contradicted"),
        ("sensitive", tokens_with(study="C2", demands=tokens.QUICK_DEMANDS), "inconclusive"),
        ("oddity", tokens_with(study="C2", gains={}), "contradicted"),
        ("oddity", tokens_with(study="C2", gains={2: (1.1, 1.1)}), "contradicted"),
        ("others-gain", tokens_with(study="C2", gains={8: ODD}), "contradicted"),
        ("kernel-gains", striped({KERNEL: 1.0}), "contradicted"),
        ("kernel-gains", striped({KERNEL: 2.0}), "contradicted"),
        ("kernel-gains", striped({KERNEL: 1.7}, noise=0.5), "inconclusive"),
        ("kernel-gains", striped(absent=KERNEL), "inconclusive"),
        ("program-gains", striped({PROGRAM_TURNS: 2.6}), "contradicted"),
        ("multipath-gains", striped({MULTIPATH: 1.1}), "contradicted"),
        ("bonding-gains", striped({BONDING: 1.9}), "holds"),
        ("overtakes", striped(late={}), "contradicted"),
        ("overtakes", striped(late={KERNEL: 0.012}, noise=0.8), "inconclusive"),
        ("program-keeps-order", striped(late={PROGRAM_TURNS: 0.2}), "contradicted"),
        ("twice", striped(again=0.05), "holds"),
        ("twice", striped(again=0.012, noise=0.8), "inconclusive"),
        ("blind", striped(busy={KERNEL: 1.6}), "contradicted"),
        ("blind", striped(busy={KERNEL: 1.2}, noise=0.5), "inconclusive"),
        ("shock", gas(shock=0.4), "contradicted"),
        ("smooth", gas(smooth=2.3), "contradicted"),
        ("conserved", gas(drift=-1e-9), "contradicted"),
        ("same-bits", gas(bits=("a", "b")), "contradicted"),
        ("one-processor", gas(step_s=0.01), "contradicted"),
        ("fixed-size", gas(cluster=PCS, fixed=14), "contradicted"),
        ("scaled-size", gas(cluster=PCS, scaled=7), "contradicted"),
        ("small-error", galaxy(errors=(1e-4, 1e-3, 2e-2, 3e-2)), "contradicted"),
        ("angle", galaxy(errors=(1e-3, 1e-4, 5e-3, 2e-2)), "contradicted"),
        ("n-log-n", galaxy(power=1.0), "contradicted"),
        ("energy", galaxy(drift=0.01), "contradicted"),
        ("same-bits", galaxy(bits=("a", "b")), "contradicted"),
        ("fixed-size", galaxy(cluster=PCS, times=15), "contradicted"),
        ("gas-fixed", machine({1: 4.5, 8: 28, 16: 50}), "contradicted"),
        ("gas-scaled", machine(scaled=40), "contradicted"),
        ("galaxy", machine(galaxies=(30, 31, 32)), "contradicted"),
        ("galaxy", machine(galaxies=(18, 19, 30)), "inconclusive"),
        ("gas-fixed-overhead", machine({1: 4.5, 8: 28, 16: 50}), "contradicted"),
        ("gas-scaled-overhead", machine(scaled=71), "contradicted"),
        ("galaxy-overhead", machine(galaxies=(40, 41, 42)), "contradicted"),
        ("galaxy-overhead", machine(galaxies=(19, 20, 40)), "holds"),  # with 40 it is not the paper's
        ("gas-doubling", machine({1: 4.5, 8: 20, 16: 31}), "contradicted"),
        ("galaxy-doubling", machine(eight=12), "contradicted"),
        ("galaxy-doubling", machine(galaxies=(17.6, 19, 22)), "inconclusive"),
        ("gas-communicating", machine(communicating=0.5), "contradicted"),
        ("gas-not-communication", machine(communicating=0.5), "contradicted"),
        ("gas-waiting", machine(communicating=0.5), "contradicted"),
        ("gas-fixed", machine(operations=[849]), "inconclusive"),
        ("second-gas", machine(second=1.3), "contradicted"),
        ("second-galaxy", machine(second_galaxy=1.3), "contradicted"),
        ("second-balancing", machine(balancing=1.0), "contradicted"),
        ("grows", barriers({2: 120, 4: 60}), "contradicted"),
        ("grows", barriers({2: 60, 4: 60}, noise=0.3), "inconclusive"),
        ("less-than-proportional", barriers({2: 60, 4: 150}), "contradicted"),
        ("less-than-proportional", barriers({2: 60, 4: 110, 8: 200, 16: 600}), "contradicted"),
    ],
)  # fmt: skip
def test_each_claim_has_each_outcome(claim: str, record: Record, outcome: str) -> None:
    assert named(record, claim).outcome == outcome


@pytest.mark.parametrize(
    ("claim", "record", "said"),
    [
        ("multipath-gains", striped(absent=MULTIPATH), "this kernel cannot"),
        ("galaxy", machine(galaxies=(18, 19, 30)), "does not print its number"),
        ("sum-scaled", machine(), "13.9 %"),
        ("gas-fixed", machine(), "simulated by SimGrid, not measured"),
        ("gas-fixed", machine(ours=2), "contradicted with 849, holds with 2,000, holds with 4,000"),
        ("two-networks", as_published(1.0), "simulated by SimGrid, not measured"),
    ],
)
def test_the_reason_is_said(claim: str, record: Record, said: str) -> None:
    assert said in str(named(record, claim))


def test_a_record_of_one_network_leaves_open_what_needs_two() -> None:
    found = decided(as_measured(lab_08.c1(networks=(1,))))
    assert {found[name] for name in ("saturates-2", "two-networks", "alone")} == {"inconclusive"}
    assert found["clustered"] == "holds"
    made = as_measured(lab_08.c1(networks=(1,)))
    assert "`beowulf up --networks 2 --rate 10mbit`" in str(named(made, "saturates-2"))
    with pytest.raises(LabError, match="beowulf up --networks 2"):
        tokens.Tokens.of(lab_08.c1(networks=(1,))).gain(1, 8192)


def test_packets_that_a_capture_dropped_leave_its_claims_open_and_no_others() -> None:
    made = striped()
    made.points[1].facts["capture"]["dropped"] = 3
    found = decided(made)
    assert found["overtakes"] == found["twice"] == "inconclusive"
    assert found["kernel-gains"] == "holds"


def test_a_load_leaves_open_what_is_timed_and_not_what_is_computed() -> None:
    rates, right = tokens_with(two_times(1.7)), gas(step_s=2.4)
    for record in (rates, right):
        record.circumstances["before"]["load_1min"] = 9.0
    assert decided(rates)["two-networks"] == "inconclusive"
    found = decided(right)
    assert found["one-processor"] == "inconclusive"
    assert found["shock"] == found["same-bits"] == "holds"


def test_the_papers_sums_are_listed_as_arithmetic() -> None:
    claims = c6_overhead.STUDY.claims(machine())
    assert {c.claim for c in claims if c.rests_on == "arithmetic"} == OTHERS["C6"].keys()


def test_what_was_put_in_is_a_demonstration() -> None:
    def shown(record: Record) -> set[str]:
        return {each.claim for each in judge(record) if each.rests_on == "demonstration"}

    assert shown(as_published(1.0)) == c1_tokens.PUT_IN
    assert shown(tokens_with()) == set()
    assert shown(gas(cluster=PCS)) == shown(galaxy(cluster=PCS)) == {"one-processor"}


def test_16_processors_are_judged_where_each_rank_has_a_core() -> None:
    for of in (gas, galaxy):
        few, many = (decided(of(cluster=each)) for each in (ONE_MACHINE, PCS))
        assert set(many) - set(few) <= {"fixed-size", "scaled-size"}
        assert "fixed-size" in many


def test_a_record_of_before_these_rules_is_judged_and_leaves_open_what_it_lacks() -> None:
    for name in ("C1", "C2", "C7"):
        record = given.record(name)
        assert record
        judge(record)
    assert decided(machine(operations=[849]))["galaxy"] == "holds"


def test_a_kernel_that_cannot_take_networks_in_turn_leaves_the_oddity_open() -> None:
    record = tokens_with(study="C2")
    record.points = [each for each in record.points if tokens.STRIPING not in each.at]
    record.points.append(Point({tokens.STRIPING: "on"}, facts={"absent": "it has no nftables"}))
    assert "it has no nftables" in str(named(record, "oddity"))


def test_each_picture_has_what_was_measured() -> None:
    curves = c1_tokens.picture(tokens.Tokens.of(lab_08.c1())).table["curve"]
    networks = ("1 network", "2 networks")
    assert set(curves) == {f"{n}, demand {demand}" for n in networks for demand in (1, 8)} | {
        f"paper C, {n}" for n in networks
    }
    ways = c3_striping.picture(c3_striping.Streams.of(striped()))
    assert set(ways.table["way"]) == {ONE, PROGRAM_TURNS, KERNEL, MULTIPATH}
    assert "beside another stream" in ways.alt
    facts = c6_overhead.table(machine())
    assert "paper" in c6_overhead.picture(facts).alt
    sizes = {"galaxy": 18, "gas, fixed size": 18, "gas, scaled size": 12}
    assert facts.groupby("code").size().to_dict() == sizes
