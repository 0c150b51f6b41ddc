"""C1, tokens on two Ethernets: what do size, demand and a second network do to the bytes a second?

Paper C, figure 1: one to eight pairs of nodes send tokens of 4 bytes to 8 KB to and fro, on one network of 10 Mbit/s
and on two, between which frames alternate. In the paper all pairs share a network, which carries one frame at a time.
Here all pairs are between the same two nodes. Their cables carry a frame each way at a time, so the highest rate is
twice the cable's. Our program alternates by itself, piece by piece, and begins each token with the first network. The
paper's kernel alternated all frames, as C2 does. On the simulated machine of 1995 each pair has two nodes of its own,
all on one cable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from beowulf.cluster.common.config import SIMULATED
from beowulf.labs.lab_08.tokens import (
    LARGEST,
    MOST_DEMAND,
    MOST_OF_THREE,
    NEAR,
    SIZES,
    THREE,
    Tokens,
    drawn,
    is_of_1995,
    plan,
    points,
    rate,
    troubles,
)
from beowulf.measure.judgement import Span
from beowulf.record import Record
from beowulf.studies.quantity import TIMES, Quantity, all_hold, exactly
from beowulf.studies.study import CABLE, Claim, Judgement, Study

ONE_AT, TWO_AT = 1024, 4096  # bytes from which one network and two are saturated in the paper
FOURTH, GROWN = 4, 1.25
PRINTED_GAIN = 1.7
GAINS, ALONE = (1.5, 1.9), (1.3, 1.7)  # two networks that lose nothing carry 2.0 times as much
OF_PEAK, BROADER = 0.8, 1.1
SEVERAL_FRAMES = tuple(size for size in SIZES if 1448 < size <= LARGEST)
END = "'Discussion and conclusions'"
# What the simulated machine of 1995 was given: what one pair takes for 8 KB, and what a further network carries.
PUT_IN = {"saturates-alone", "alone", "two-networks", "three-networks"}
PLACES_PUT_IN = {
    (1, 1, LARGEST),
    (2, 1, LARGEST),
    (2, MOST_DEMAND, TWO_AT),
    (2, MOST_DEMAND, LARGEST),
}


def saturates(networks: int, at: int) -> Claim:
    """The rate is level from a token on, and not before: a rate that grows evenly fails one of the two conditions."""
    here, before = rate(networks, MOST_DEMAND, at), rate(networks, MOST_DEMAND, at // FOURTH)
    level = [rate(networks, MOST_DEMAND, size) / here < GROWN for size in SIZES if size > at]
    says = (
        f"{networks} network{'s' * (networks > 1)}: the rate saturates at {at:,} bytes (asked: a quarter more than at a"
        " fourth of that, and no quarter more beyond)"
    )
    judge = all_hold(here / before > GROWN, *level)
    return Claim(f"saturates-{networks}", says, judge, place="figure 1")


def highest(networks: int) -> Quantity:
    """The highest rate of any of the paper's tokens."""
    says = f"the highest rate of {networks} network{'s' * (networks > 1)}"
    return Quantity(says, lambda facts: facts.highest(networks), "MB/s")


def one_of(which: Callable[[Iterable[float]], float], says: str, each: list[Quantity]) -> Quantity:
    """The least or the largest of several quotients."""

    def of(facts: Tokens) -> Span:
        seen = [quotient.of(facts) for quotient in each]
        return Span(which(span.low for span in seen), which(span.high for span in seen))

    return Quantity(says, of, TIMES)


def spread(networks: int, sizes: Iterable[int]) -> Quantity:
    """How far apart the rates of two and more pairs are, with the token for which they are furthest apart."""
    of = [Quantity("", partial(Tokens.spread, networks=networks, size=s), TIMES) for s in sizes]
    says = "highest rate over lowest, of 2 pairs and more, with the token where that is most"
    return one_of(max, f"{networks} network{'s' * (networks > 1)}, {says}", of)


GAIN_ALONE = Quantity(
    "one pair on two networks over one", lambda facts: facts.gain(1, LARGEST), TIMES
)
PEAK = Quantity("what its cable can carry", lambda facts: exactly(facts.peak_mb_per_s()), "MB/s")
BOTH, SOME_SIZES = (1, 2), (SIZES[0], 64, ONE_AT, LARGEST)
BY_SIZE = one_of(
    min,
    "8 KB over 4 bytes, least of 1 and 8 pairs on 1 and 2 networks",
    [rate(n, d, LARGEST) / rate(n, d, SIZES[0]) for n in BOTH for d in (1, MOST_DEMAND)],
)
BY_DEMAND = one_of(
    max,
    "8 pairs over 1, most of 4 bytes, 64, 1 KB and 8 KB on both",
    [rate(n, MOST_DEMAND, size) / rate(n, 1, size) for n in BOTH for size in SOME_SIZES],
)


def _figure(facts: Tokens) -> Judgement:
    found = [
        times
        for *place, times in points(facts)[["networks", "demand", "size_bytes", "times"]].to_numpy()
        if tuple(place) not in PLACES_PUT_IN
    ]
    near = sum(1 - NEAR <= times <= 1 + NEAR for times in found)
    evidence = f"{near} of {len(found)} points, {min(found):.2f} to {max(found):.2f} times as much"
    numbers = {"near": int(near), "points": len(found)}
    return Judgement("holds" if near == len(found) else "contradicted", evidence, numbers)


in_figure_1 = partial(Claim, place="figure 1")
CLAIMS = [
    saturates(1, ONE_AT),
    saturates(2, TWO_AT),
    in_figure_1(
        "saturates-alone",
        f"one pair saturates one network, too, with tokens of {LARGEST:,} bytes ({OF_PEAK:.0%} of its highest rate)",
        rate(1, 1, LARGEST) / highest(1) > OF_PEAK,
    ),
    Claim(
        "of-peak",
        f"one network carries at least {OF_PEAK:.0%} of what its cable can",
        highest(1) / PEAK > OF_PEAK,
    ).at(END),
    in_figure_1(
        "demand-one",
        "one pair does not stress one network and two do (asked: a quarter more, with short tokens)",
        all_hold(*(rate(1, 2, size) / rate(1, 1, size) > GROWN for size in (64, 256, ONE_AT))),
    ),
    in_figure_1(
        "clustered",
        "one network carries about the same (within a quarter) for two pairs as for any more, with each token",
        spread(1, (size for size in SIZES if size <= LARGEST)) < GROWN,
    ),
    in_figure_1(
        "spread",
        "with two networks the demands differ more than with one (asked: a tenth more, with tokens of several frames)",
        spread(2, SEVERAL_FRAMES) / spread(1, SEVERAL_FRAMES) > BROADER,
    ),
    in_figure_1(
        "two-networks",
        f"two networks carry {PRINTED_GAIN:g} times as much at saturation ({GAINS[0]:g} to {GAINS[1]:g})",
        (highest(2) / highest(1)).within(*GAINS),
    ),
    in_figure_1(
        "alone",
        f"two networks gain 50 % for one pair with tokens of {LARGEST:,} bytes ({ALONE[0]:g} to {ALONE[1]:g} times)",
        GAIN_ALONE.within(*ALONE),
    ),
    Claim(
        "size-matters", "the size of a token matters more than the demand", BY_SIZE > BY_DEMAND
    ).at("'Communication Channel Capacity'"),
]
OF_1995 = [
    *CLAIMS,
    in_figure_1(
        "figure-1",
        f"each point of figure 1 that follows from the text, and that was not put in, is there within {NEAR:.0%}",
        _figure,
        needs="quiet samples",
    ),
    Claim(
        "three-networks",
        f"{2 * MOST_OF_THREE} processors: a third network brings more (half of what the second one adds is asked)",
        rate(THREE, MOST_OF_THREE, LARGEST) / rate(2, MOST_OF_THREE, LARGEST)
        > 1 + (PRINTED_GAIN - 1) / PRINTED_GAIN / 2,
    ).at(END),
]


def judged(record: Record) -> list[Claim]:
    """The claims; of a simulated machine some are demonstrations, and that of 1995 has the paper's points."""
    if record.cluster.get("kind") != SIMULATED:
        return CLAIMS
    claims = OF_1995 if is_of_1995(record) else CLAIMS
    return [replace(c, rests_on="demonstration") if c.name in PUT_IN else c for c in claims]


picture = partial(  # figure 1
    drawn,
    column="rate_mb_per_s",
    title="Tokens between two nodes",
    y_title="all pairs together (MB/s)",
    low="low",
    high="high",
)


STUDY = Study(
    id="C1",
    title="Tokens: bytes a second by size, demand, and number of networks",
    plan=plan,
    facts=Tokens.of,
    judged=judged,
    draw=picture,
    troubles=troubles,
    simulates=True,
    needs=(CABLE,),
    differs={
        "holds": {
            "": (
                "A token pays once for being sent and then for its bytes, so small ones carry few bytes for that"
                " price on any network, and a second network carries other bytes at the same time."
            ),
            "simulated": (
                "With a millisecond of software per message, as inferred from one pair with 8 KB, one pair leaves the"
                " cable idle, long tokens fill it, and several pairs share it."
            ),
        },
        "contradicted": {
            "": (
                "A modern processor takes microseconds where one of 1995, we infer, took a millisecond, so one pair"
                " with short tokens already fills the same 10 Mbit/s; its cable carries both directions at once, and a"
                " token bucket lets one frame pass unpaced."
            ),
            "simulated": (
                "Here a short token waits only for its own two processors, so more pairs carry more until the cable"
                " is full; on the paper's Ethernet, the tokens of only two pairs already wait for each other's"
                " frames."
            ),
        },
        "inconclusive": (
            "Other programs took the cores that the pairs share, or the Record lacks the demand, the size or the second"
            " network that is asked for; the simulated machine of 1995 has them all."
        ),
    },
)
