"""C2, tokens a second: flat for small tokens, then falling, and an oddity at a demand of two.

Paper C, figure 2, from the same program as figure 1: the number of small tokens a second hardly depends on their size.
The paper calls it odd that two pairs gain little from a second network up to 256 bytes. That is odd with a kernel that
alternates between the networks, frame by frame. So tokens of one frame are also measured with such kernels (the knob
`striping`); the program by itself would send each of them over the first network.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from beowulf.cluster.common.config import SIMULATED
from beowulf.labs.lab_08.tokens import (
    LARGEST,
    MOST_DEMAND,
    QUICK_DEMANDS,
    STRIPED_SIZES,
    Tokens,
    drawn,
    plan,
    rate,
    troubles,
    words,
)
from beowulf.measure.judgement import ENOUGH
from beowulf.record import Record
from beowulf.studies.quantity import TIMES, Judge, Quantity, all_hold, scaled
from beowulf.studies.study import CABLE, Claim, Judgement, Study, undecided

SMALLEST, SMALL, LONG = 4, 64, 512
FALLEN = 0.75  # what is left of the rate: of a small token more, of a large one less, which has 16 times as many bytes
LEVEL = (0.8, 1.25)  # bytes a second, where size and number are traded for each other
ODD, ODD_TO = 2, 256  # demand and bytes
SENSITIVE, GROWN = 5, 1.25  # pairs, up to which there are more tokens; what they have over two
SHORT = (16, SMALL, ODD_TO)
# Half of what a second network gains at saturation: 1.7 times.
BETTER = 1 + ENOUGH * (1.7 - 1)


def falls(to: int, size: int, demand: int) -> Quantity:
    """What is left of the tokens a second on one network where they are longer."""

    def tokens_a_second(size: int) -> Quantity:
        return Quantity(
            words(1, demand, size),
            lambda facts: scaled(facts.rate(1, demand, size), 1e6 / size),
            "1/s",
        )

    return tokens_a_second(to) / tokens_a_second(size)


def gain(demand: int, size: int) -> Quantity:
    """How many times as much an alternating kernel carries as one network."""
    pairs = f"{demand} pair{'s' * (demand > 1)}"
    says = f"kernel in turn over one network, {pairs}, {size:,} bytes"
    return Quantity(says, lambda facts: facts.striped_gain(demand, size), TIMES)


def in_turn(*judges: Judge) -> Judge:
    """The judge for a kernel that alternates between two networks; undecided where it cannot."""

    def judge(facts: Tokens) -> Judgement:
        return undecided(facts.absent) if facts.absent else all_hold(*judges)(facts)

    return judge


def striped(demand: int, size: int) -> Quantity:
    """What all pairs carry together where the kernel alternates."""
    says = f"kernel in turn, tokens of {size:,} bytes with {demand} pairs"
    return Quantity(says, lambda facts: facts.striped_rate(demand, size), "MB/s")


in_figure_2 = partial(Claim, place="figure 2")


def sensitive(of: Callable[[int, int], Quantity], all_of: Callable[..., Judge]) -> Claim:
    """The claim on two networks, of which a kernel that takes them in turn uses both for tokens of one frame."""
    more = (of(SENSITIVE, size) / of(2, size) > GROWN for size in SHORT)
    still = (of(SENSITIVE, size) / of(4, size) > 1 for size in SHORT)
    return in_figure_2(
        "sensitive",
        f"with two networks the number of tokens a second grows with the demand, at least to {SENSITIVE} pairs (asked,"
        " with short tokens: they have more than 4 pairs, and a quarter more than 2)",
        all_of(*more, *still),
    )


CLAIMS = [
    in_figure_2(
        "flat",
        f"the number of small tokens a second hardly depends on their size (asked: from {SMALLEST} to {SMALL} bytes it"
        " falls by less than a quarter)",
        all_hold(*(falls(SMALL, SMALLEST, demand) > FALLEN for demand in (1, MOST_DEMAND))),
    ),
    in_figure_2(
        "falls",
        f"with larger tokens it falls (asked: from {LONG} to {LARGEST:,} bytes by more than a quarter)",
        all_hold(*(falls(LARGEST, LONG, demand) < FALLEN for demand in (1, MOST_DEMAND))),
    ),
    in_figure_2(
        "trade-off",
        "where the network is saturated, twice the size means half as many tokens (bytes a second within a quarter)",
        all_hold(
            *(
                (rate(1, MOST_DEMAND, s) / rate(1, MOST_DEMAND, LARGEST)).within(*LEVEL)
                for s in (2048, 4096)
            )
        ),
    ),
]
OF_STRIPING = [
    sensitive(striped, in_turn),
    in_figure_2(
        "oddity",
        f"two networks do little better than one at a demand of {ODD} until tokens exceed {ODD_TO} bytes (half of the"
        " usual gain is asked, 1.35 times: less to there, more beyond)",
        in_turn(
            *(gain(ODD, size) < BETTER for size in STRIPED_SIZES if size <= ODD_TO),
            *(gain(ODD, size) > BETTER for size in STRIPED_SIZES if size > ODD_TO),
        ),
    ),
    in_figure_2(
        "others-gain",
        "otherwise two networks have significantly more tokens a second (asked: 1.35 times, with short tokens and more"
        " pairs)",
        in_turn(*(gain(n, size) > BETTER for n in QUICK_DEMANDS if n > ODD for size in SHORT)),
    ),
]


def judged(record: Record) -> list[Claim]:
    """The claims; simulated nodes have no kernel that alternates between networks."""
    if record.cluster.get("kind") == SIMULATED:
        return [*CLAIMS, sensitive(partial(rate, 2), all_hold)]
    return CLAIMS + OF_STRIPING


STUDY = Study(
    id="C2",
    title="Tokens a second by size, demand, and number of networks",
    plan=partial(plan, striped=True),
    facts=Tokens.of,
    judged=judged,
    draw=partial(  # figure 2
        drawn,
        column="tokens_per_s",
        title="Tokens a second between two nodes",
        y_title="tokens a second, all pairs together",
        y_log=True,
    ),
    troubles=troubles,
    simulates=True,
    needs=(CABLE,),
    differs={
        "holds": {
            "": (
                "Where the cable is full, tokens and bytes are traded for each other, and two networks that the"
                " kernels use in turn carry different frames at the same time."
            ),
            "simulated": (
                "A small token's time is that of the software that sends it, whatever its length, and each pair has"
                " processors of its own until all of them fill the cable."
            ),
        },
        "contradicted": {
            "": (
                "Modern software takes so little time that even the shortest tokens fill the cable: each byte counts"
                " alongside 66 of headers, more pairs carry no more, and a second network gains with every token."
            ),
            "simulated": (
                "SimGrid shares one cable among messages at no cost, where the paper's pairs contended for it."
            ),
        },
        "inconclusive": (
            "The Record lacks a demand that is asked for, a second network or a kernel that takes networks in turn, or"
            " other programs took the cores that the pairs share."
        ),
    },
)
