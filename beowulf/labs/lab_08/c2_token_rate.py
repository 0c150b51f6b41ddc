"""C2, tokens a second: flat for small tokens, then falling, and an oddity at a demand of two.

Paper C, figure 2, from the same program as figure 1: below some size a token's time is that of sending anything at
all. What the paper calls odd, that two pairs gain little from a second network below 256 bytes, needs a kernel that
alternates frame by frame: two tokens that meet take the same network again and again.
"""

from __future__ import annotations

from beowulf.figures import Figure
from beowulf.labs.lab_08.tokens import (
    LARGEST,
    SIZES,
    Tokens,
    chosen,
    is_of_1995,
    plan,
    troubles,
)
from beowulf.measure.judgement import Span, below, quotient
from beowulf.studies.study import CABLE, Claim, Judgement, Study, undecided

SMALL, ODD_BELOW = 16, 256
ADVICE = (
    "A program that sends each frame by the other network, whatever token it is of, could show it."
)
FLAT = 0.25  # by so much the rate of small tokens may fall


def _flat(facts: Tokens) -> Judgement:
    first, last = facts.rate(1, 1, SIZES[0]), facts.rate(1, 1, SMALL)
    span = quotient(last, first)
    share = SMALL / SIZES[0]  # of MB/s to tokens a second
    times = Span(span.low / share, span.high / share)
    evidence = (
        f"with {SMALL} bytes {times.low:.2f} to {times.high:.2f} times as many tokens a second as"
        f" with {SIZES[0]}"
    )
    return Judgement(below(1 - FLAT, times), evidence)


def _falls(facts: Tokens) -> Judgement:
    few, many = facts.rate(1, 1, LARGEST), facts.rate(1, 1, SIZES[0])
    share = LARGEST / SIZES[0]
    span = quotient(few, many)
    times = Span(span.low / share, span.high / share)
    evidence = f"with {LARGEST:,} bytes {times.low:.4f} to {times.high:.4f} times as many as with {SIZES[0]}"
    return Judgement(below(times, 0.5), evidence)


def _odd(facts: Tokens) -> Judgement:
    if is_of_1995(facts.record):
        return undecided(
            "the simulated second network carries only what is longer than a frame", ADVICE
        )
    return undecided(
        "tokens.c begins each token with the first network, so that a token of one frame never takes the second one",
        ADVICE,
    )


def picture(facts: Tokens) -> Figure:
    """Figure 2: tokens a second over the size of a token."""
    from beowulf.figures import lines

    return lines(
        chosen(facts),
        "size_bytes",
        "tokens_per_s",
        "curve",
        title="Tokens a second between two nodes",
        x_title="token (bytes)",
        y_title="tokens a second, all pairs together",
        x_log=True,
        y_log=True,
    )


STUDY = Study(
    id="C2",
    title="Tokens a second by size, demand, and number of networks",
    plan=plan,
    facts=Tokens.of,
    judged=[
        Claim(
            "flat",
            f"to {SMALL} bytes the number of tokens a second hardly depends on their size",
            _flat,
        ),
        Claim("falls", "with large tokens it falls as their bytes grow", _falls),
        Claim(
            "oddity",
            f"below {ODD_BELOW} bytes two networks do little better than one at a demand of 2",
            _odd,
        ),
    ],
    draw=picture,
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
