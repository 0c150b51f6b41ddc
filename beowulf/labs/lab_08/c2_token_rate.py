"""C2, tokens a second: flat for small tokens, then falling, and an oddity at a demand of two.

Paper C, figure 2, from the same program as figure 1: below some size a token's time is that of sending anything at
all. What the paper calls odd, that two pairs gain little from a second network below 256 bytes, needs a kernel that
alternates frame by frame: two tokens that meet take the same network again and again.
"""

from __future__ import annotations

from functools import partial

from beowulf.labs.lab_08.tokens import (
    LARGEST,
    SIZES,
    Tokens,
    drawn,
    is_of_1995,
    plan,
    troubles,
)
from beowulf.studies.quantity import Quantity, scaled
from beowulf.studies.study import CABLE, Claim, Judgement, Study, undecided

SMALL, ODD_BELOW = 16, 256
ADVICE = (
    "A program that sends each frame by the other network, whatever token it is of, could show it."
)
FLAT = 0.25  # by so much the rate of small tokens may fall
FALLEN = 0.5  # to less than this share the rate of the largest has to


def tokens_a_second(size: int) -> Quantity:
    """Of one pair on one network."""
    return Quantity(
        f"tokens of {size:,} bytes", lambda facts: scaled(facts.rate(1, 1, size), 1e6 / size), "1/s"
    )


SMALLEST = tokens_a_second(SIZES[0])


def _odd(facts: Tokens) -> Judgement:
    why = "tokens.c begins each token with the first network, so that a token of one frame never takes the second one"
    if is_of_1995(facts.record):
        why = "the simulated second network carries only what is longer than a frame"
    return undecided(why, ADVICE)


STUDY = Study(
    id="C2",
    title="Tokens a second by size, demand, and number of networks",
    plan=plan,
    facts=Tokens.of,
    judged=[
        Claim(
            "flat",
            f"to {SMALL} bytes the number of tokens a second hardly depends on their size",
            tokens_a_second(SMALL) / SMALLEST > 1 - FLAT,
            place="figure 2",
        ),
        Claim(
            "falls",
            "with large tokens it falls as their bytes grow",
            tokens_a_second(LARGEST) / SMALLEST < FALLEN,
            place="figure 2",
        ),
        Claim(
            "oddity",
            f"below {ODD_BELOW} bytes two networks do little better than one at a demand of 2",
            _odd,
            place="figure 2",
        ),
    ],
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
        "holds": "Below a frame's length a token's time is that of sending at all, and one network carries it.",
        "contradicted": (
            "On a cable whose bucket fills while the other side sends, a token's bytes count from the first one on:"
            " software takes so little that the wire decides early."
        ),
        "inconclusive": "A token of one frame takes the first network here, and a busy machine says nothing of any.",
    },
)
