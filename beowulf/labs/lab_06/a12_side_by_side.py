"""A12, side by side: messages of 2, 1024 and 8192 bytes, blocking and non-blocking, without overlap.

Paper A, figures 23 to 27: with blocking calls the share of data segments rises with the size (64.70,
72.86, 73.43 %), from which the paper concludes that TCP's overhead rises with the size; bytes per
second rise to 1024 bytes and fall again to 8192. A share of frames shows nothing about bytes: by the
definition of these labs the overhead falls from 2 to 1024 bytes, because the headers keep their size;
to 8192 it rises a little, because a message of several segments is acknowledged by separate frames.
"""

from __future__ import annotations

from itertools import pairwise

from beowulf.cluster import Cluster
from beowulf.labs.lab_06 import wire_picture
from beowulf.labs.lab_06.wire_claims import (
    EVERY_MESSAGE,
    alike,
    of_rates,
    of_shares,
    points,
    printed,
    reaching,
    times,
)
from beowulf.studies.study import PACKETS, Claim, Judgement, Plan, Study
from beowulf.studies.wire_shares import Talk, converse, place
from beowulf.verdict import Outcome

PROTOCOLS = ("blocking", "nonblocking")
SIZES = (2, 1024, 8192)
EXCHANGES = 600  # the same for all sizes: a rate over the whole capture depends on it.
TALKS = [Talk(protocol, size, 0, EXCHANGES) for size in SIZES for protocol in PROTOCOLS]


def plan(cluster: Cluster, *, quick: bool, launches: int | None = None) -> Plan:
    """Conversations of 2, 1024 and 8192 bytes, blocking and not, without work."""
    return converse(TALKS, quick=quick, launches=launches)


def printed_by_size(quantity: str) -> list[float]:
    """The paper's figures for the three sizes."""
    return [printed(quantity, "figures 23-24", "blocking", size, 0) for size in SIZES]


# Blocking, as in the paper: each size against the one before it.
STEPS = {
    f"{small:,} to {large:,} B": (place("blocking", large, 0), place("blocking", small, 0))
    for small, large in pairwise(SIZES)
}
BOTH_CALLS = {
    f"{size:,} B": (place("nonblocking", size, 0), place("blocking", size, 0)) for size in SIZES
}

# 64.70, 72.86 and 73.43 %: what the paper takes for the overhead, for which its text has no other number.
MORE_DATA = [b - a for a, b in pairwise(printed_by_size("data_percent"))]
# 255,664, 1,388,107 and 1,132,335 bytes per second.
PEAKS = [b / a for a, b in pairwise(printed_by_size("bytes_per_s"))]


def less_data(_record: object) -> Judgement:
    """Whether the share of data segments falls in the paper's own figure 23."""
    shares = " and ".join(f"{step:+.2f}" for step in MORE_DATA)
    outcome: Outcome = "holds" if max(MORE_DATA) < 0 else "contradicted"
    return Judgement(outcome, f"from each size to the next it changes by {shares} points", {})


STUDY = Study(
    id="A12",
    title="Side by side: what the size of a message changes on the wire",
    plan=plan,
    judged=[
        EVERY_MESSAGE,
        of_shares(
            "size-raises-data-share",
            "The share of data segments rises with the size by at least half as much as in figure 23"
            " (64.70, 72.86, 73.43 %)",
            reaching(points("data_percent", STEPS), MORE_DATA),
        ).at("figure 23"),
        of_shares(
            "size-raises-overhead",
            "While messages travel, the TCP overhead as these labs define it rises with the size (of figure 27),"
            " by at least half of the points of figure 23 (8.16 and 0.57), which the paper takes for it",
            [
                step > more / 2
                for step, more in zip(
                    points("talking_tcp_overhead_percent", STEPS), MORE_DATA, strict=True
                )
            ],
        ).at("figure 27"),
        of_rates(
            "rate-peaks-at-1024",
            "The bytes a second of the whole capture rise from 2 to 1024 bytes and fall to 8192, each by at least half"
            " as much as section V.B prints on figure 24 (5.43 and 0.82 times, as packets; 'the same' on 25)",
            reaching(times("bytes_per_s", STEPS), PEAKS),
        ).at("figure 25"),
        of_rates(
            "rate-peaks-at-1024-talking",
            "The bytes a second while messages travel rise from 2 to 1024 bytes and fall to 8192,"
            " each by at least half as much as in the paper",
            reaching(times("talking_bytes_per_s", STEPS), PEAKS),
        ),
        of_shares(
            "calls-alike",
            "While messages travel, both kinds of calls have the same share of data segments, within a point"
            " (section V.B sees 'very small differences' between the calls, and does not say in what)",
            alike(points("talking_data_percent", BOTH_CALLS)),
        ).at("section V.B"),
        Claim(
            "size-reduces-data",
            "'Increasing message size will reduce the portion of data transfer': as figure 23 has it",
            less_data,
            needs="nothing",
            rests_on="arithmetic",
            place="section V.B",
        ),
    ],
    # Shares and Mbit/s by size, next to figures 23 and 26.
    draw=wire_picture.drawn(
        "Messages of 2, 1024 and 8192 bytes on the wire", "mbit_per_s", "figures 23-24"
    ),
    needs=(PACKETS,),
    differs={
        "holds": (
            "Both calls put the same segments on the wire, and how TCP acknowledges them depends "
            "on the message and not on the call, so their shares are equal."
        ),
        "contradicted": (
            "Headers keep their size while messages grow, so up to 1024 bytes their share falls; frames without "
            "data acknowledge a message of several segments, so the share of data falls (figure 23 has for 2 bytes "
            "what section V.B has for long messages); and what the launch sends hides a fall of the whole rate."
        ),
        "inconclusive": (
            "Bytes per second depend on how long a launch and its messages take, which differs between rounds, so an "
            "interval can contain half of the paper's change; more rounds on a machine that is left alone make it "
            "narrower."
        ),
    },
)
