"""C1, tokens on two Ethernets: what do size, demand and a second network do to the bytes a second?

Paper C, figure 1: pairs of nodes send a token to and fro, of 4 bytes to 8 KB, one to eight pairs at a time, on one
network of 10 Mbit/s and on two, whose frames leave by the two in turn. In the paper all pairs share one cable, which
carries one frame at a time; here all pairs are between the same two nodes, whose cables carry a frame each way at a
time, so that the highest rate is twice the cable's. The program takes the networks in turn itself, piece by piece,
and begins each token with the first one; the paper's kernel went on with the next frame of whatever token.
"""

from __future__ import annotations

from functools import partial

from beowulf.labs.lab_08.tokens import (
    LARGEST,
    MOST_DEMAND,
    NEAR,
    SATURATED,
    SIZES,
    Tokens,
    drawn,
    is_of_1995,
    plan,
    points,
    troubles,
)
from beowulf.studies.quantity import TIMES, Quantity
from beowulf.studies.study import CABLE, Claim, Judgement, Study, undecided

ONE_AT, TWO_AT = 1024, 4096  # bytes from which one network and two are saturated in the paper
PRINTED_GAIN = 1.7
GAINS, ALONE = (1.5, 2.1), (1.3, 1.7)
FACTOR = 2  # of a saturation size that is read off a figure


def saturates(networks: int, at: int) -> Claim:
    """From which token on the rate is near its highest."""

    def judge(facts: Tokens) -> Judgement:
        found = facts.saturated_at(networks)
        evidence = f"{SATURATED:.0%} of the highest rate from {found:,} bytes on, with a demand of {MOST_DEMAND}"
        near = at / FACTOR <= found <= at * FACTOR
        return Judgement("holds" if near else "contradicted", evidence, {"size_bytes": found})

    says = f"{networks} network{'s' * (networks > 1)}: the rate is near its highest from tokens of {at:,} bytes on"
    return Claim(f"saturates-{networks}", says, judge, needs="quiet samples", place="figure 1")


def rate(networks: int, demand: int, size: int) -> Quantity:
    """What all pairs carry together."""
    pairs = f"{demand} pair{'s' * (demand > 1)}"
    says = f"tokens of {size:,} bytes with {pairs} on {networks} network{'s' * (networks > 1)}"
    return Quantity(says, lambda facts: facts.rate(networks, demand, size), "MB/s")


def highest(networks: int) -> Quantity:
    """The highest rate of any size of token."""
    says = f"the highest rate of {networks} network{'s' * (networks > 1)}"
    return Quantity(says, lambda facts: facts.highest(networks), "MB/s")


GAIN_ALONE = Quantity(
    "one pair on two networks over one", lambda facts: facts.gain(1, LARGEST), TIMES
)


def _figure(facts: Tokens) -> Judgement:
    if not is_of_1995(facts.record):
        return undecided(
            "the points are of processors and software of 1995, which only the simulated machine of 1995 has",
            "`beowulf up --target labs/09-prediction/networks/ethernet-1995.toml`, then `beowulf study C1`.",
        )
    times = points(facts)["times"]
    near = int(times.between(1 - NEAR, 1 + NEAR).sum())
    evidence = (
        f"{near} of {len(times)} points, {times.min():.2f} to {times.max():.2f} times as much"
    )
    numbers = {"near": near, "points": len(times)}
    return Judgement("holds" if near == len(times) else "contradicted", evidence, numbers)


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
    judged=[
        saturates(1, ONE_AT),
        saturates(2, TWO_AT),
        Claim(
            "two-networks",
            f"two networks carry {PRINTED_GAIN:g} times as much at saturation",
            (highest(2) / highest(1)).within(*GAINS),
            place="figure 1",
        ),
        Claim(
            "alone",
            f"two networks gain 50 % for one pair with tokens of {LARGEST:,} bytes",
            GAIN_ALONE.within(*ALONE),
            place="figure 1",
        ),
        Claim(
            "size-matters",
            "the size of a token matters more than the demand",
            rate(1, 1, LARGEST) / rate(1, 1, SIZES[0])
            > rate(1, MOST_DEMAND, ONE_AT) / rate(1, 1, ONE_AT),
            place="'Communication Channel Capacity'",
        ),
        Claim(
            "figure-1",
            f"each point of figure 1 that the text names is there within {NEAR:.0%}",
            _figure,
            needs="quiet samples",
            place="figure 1",
        ),
    ],
    draw=picture,
    troubles=troubles,
    simulates=True,
    needs=(CABLE,),
    differs={
        "holds": (
            "A token pays once for being sent and then for its bytes, so that small ones carry few bytes for that"
            " price on any network, and a second network carries other bytes at the same time."
        ),
        "contradicted": (
            "A processor of today is several hundred times faster beside the same 10 Mbit/s, so that less of a"
            " token's time is spent in software, which a second network does not shorten; and a cable to a"
            " switch carries both directions at once, where the paper's cable carried one frame."
        ),
        "inconclusive": "Other programs took the cores that the pairs share, or only one network was there.",
    },
)
