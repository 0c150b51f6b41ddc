"""Lab 06: points for a learner's own loop over packets, own plots, and answers read from their own captures."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

from autograder.rubrics import facts_06, own_plots
from autograder.rubrics.answers import given, is_near
from autograder.rubrics.predictions import sealed
from autograder.rubrics.questions import Scorer
from autograder.rubrics.record_facts import (
    MOST_RECORDS,
    ByRecord,
    Facts,
    best_of_own,
    near,
    numbers_and_words,
    record_of,
)
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission, is_number
from beowulf import papers
from beowulf.exercises.heat import wire
from beowulf.exercises.plot_reading import Wants
from beowulf.labs.lab_06 import a10_short_messages as a10
from beowulf.labs.lab_06 import a12_side_by_side as a12
from beowulf.labs.lab_06 import by_lot, one_message, own_loop, postcard
from beowulf.record import Record

# As the notebook asks for them.
COSTS = Wants(x="size in bytes", y="share in %", log_x=True, lines=2, points=6)
LENGTHS = Wants(x="length in bytes", y="packets", log_y=True, points=4)
OF_A_ROW = ("packets_a_step", "wire_bytes_a_row", "row_overhead_percent")
OF_OVERLAP = ("wire_bytes_for_100", "rate_times", "payload_times")
COUNTS = (*own_loop.COUNTS, own_loop.GHOST_ROWS)
LONGEST_FRAME_BYTES = 1514  # as the notebook says


def longer_cards(submission: Submission, facts: Facts, by: str) -> Score:
    """A point each for the packet of a longer card, and for the longest card that fits into one."""
    headers = sum(facts.values())
    wanted = {
        "longer_frame_bytes": headers + by_lot.letters(submission.code),
        "longest_card_bytes": LONGEST_FRAME_BYTES - headers,
    }
    return near(submission, wanted, f"by {by}, whose headers have {headers} bytes")


def all_headers(submission: Submission, facts: Facts, by: str) -> Score:
    """A point for each kind of header, in all packets of a long card; MPICH's comes once."""
    mpich, letters = facts["mpich_bytes"], by_lot.long_letters(submission.code)
    room = LONGEST_FRAME_BYTES - sum(facts.values()) + mpich
    packets = math.ceil((mpich + letters) / room)
    wanted = {name: packets * size for name, size in facts.items()} | {"mpich_bytes": mpich}
    return near(submission, wanted, f"in {packets} packets, by {by}")


def whole_plate(submission: Submission, facts: Facts, by: str) -> Score:
    """All points for a whole capture of the plate that is the learner's."""
    other = _of_another(submission, facts)
    return Score(0 if other else 1, 1, other or f"{by} is whole.", "A whole Record H6.")


def counted(record: Record, expected: str) -> Score:
    """The same points for each count that equals our reader's."""
    by_name = {point.at.get("count"): point.facts for point in record.points}
    results, points = [], 0
    for name in COUNTS:
        facts = by_name.get(name, {})
        yours, ours = facts.get("yours"), facts.get("ours")
        # A count of 0 proves nothing.
        right = is_number(yours) and 0 < yours == ours and facts.get("right") is True
        points += right
        why = "right" if right else facts.get("why") or f"ours is {ours}"
        results.append(f"{name}: {yours if is_number(yours) else 'no number'}, {why}")
    return Score(points, len(COUNTS), f"{record.file_name}: {'; '.join(results)}", expected)


def row_cost(
    submission: Submission, facts: Facts, by: str, *, tolerance: float, tolerance_percent: float
) -> Score:
    """A point each for the packets of a step, the bytes of a row on the wire, and what of them is overhead.

    `tolerance` is in percentage points, for the overhead.
    """
    if other := _of_another(submission, facts):
        return Score(0, 1, other, "A capture of your own plate.")
    wanted = {name: facts[name] for name in OF_A_ROW}
    return near(submission, wanted, f"by {by}", tolerance, tolerance_percent)


def _of_another(submission: Submission, facts: Facts) -> str:
    """Why a plate is not the one that was drawn for this learner; empty where it is, or where none was."""
    own = submission.own
    if own is None or facts["columns"] == (mine := by_lot.columns(own.word)):
        return ""
    return f"Your plate has {mine:,} columns, and this one {facts['columns']:,}: capture yours."


def overlap_gain(
    submission: Submission,
    facts: Facts,
    by: str,
    *,
    tolerance: float,
    tolerance_percent: float,
) -> Score:
    """A point each for the wire's bytes, what overlap makes of the rate, and what it makes by the overhead alone.

    The last one counts only with the first: it is about 1, which anybody may guess.
    """
    first = OF_OVERLAP[0]
    read = is_near(submission, first, facts[first], tolerance_percent / 100 * facts[first])
    wanted = {name: facts[name] for name in OF_OVERLAP[: 3 if read else 2]}
    return replace(near(submission, wanted, f"by {by}", tolerance, tolerance_percent), of=3)


def eager_limit(submission: Submission, *, tolerance: float) -> Score:
    """The largest eager and the smallest rendezvous card of all captures; they should be neighbours."""
    names = ("largest_eager_bytes", "smallest_rendezvous_bytes")
    sizes_by_protocol = _protocols(submission)
    if not all(sizes_by_protocol.values()):
        missing = " and ".join(name for name, sizes in sizes_by_protocol.items() if not sizes)
        what = f"No card in your Records travelled by {missing}."
        return Score(0, 2, what, "Cards on both sides of the limit.")
    largest, smallest = max(sizes_by_protocol["eager"]), min(sizes_by_protocol["rendezvous"])
    wanted, between = zip(names, (largest, smallest), strict=True), smallest - largest
    right = all(is_near(submission, name, size, 0.0) for name, size in wanted)
    points = 0 if not right or between > tolerance else 2 if between == 1 else 1
    expected = f"your cards: {largest} bytes eager, {smallest} bytes rendezvous"
    if between != 1:
        expected += "; two sizes that differ by 1 byte give the limit"
    return Score(points, 2, given(submission, *names), expected)


def _protocols(submission: Submission) -> dict[str, set[int]]:
    """The sizes of all cards in the Records, by the protocol that they travelled by."""
    sizes_by_protocol: dict[str, set[int]] = {"eager": set(), "rendezvous": set()}
    for name in postcard.NAMES:
        for record in submission.measured(postcard.STUDY, name)[:MOST_RECORDS]:
            for point in record.points:
                size, how = point.facts.get("bytes"), str(point.facts.get("protocol"))
                if point.at.get("from_rank") == 0 and is_number(size) and how in sizes_by_protocol:
                    sizes_by_protocol[how].add(int(size))
    return sizes_by_protocol


def smpp(submission: Submission, *, tolerance: float) -> Score:
    """A point each for what Ethereal took for SMPP, and for the share of data with it."""
    printed = papers.table("A-wire").iloc[0]  # section V.A, without overlap
    both = float(printed["data_percent"]) + float(printed["short_message_percent"])
    wanted = {"short_messages_are": "mpich", "all_data_percent": both}
    why = "nothing on that wire spoke SMPP, and Ethereal guessed"
    return near(submission, wanted, why, tolerance=tolerance)


def swapped(submission: Submission, *, tolerance: float) -> Score:
    """A point each for the bytes a packet that fit, and for whose rate 255,664.28 is."""
    printed = papers.table("A-wire")
    both = printed[printed["where"] == "figures 19-22"]
    packets = [float(value) for value in both["packets_per_s"]]
    rate = max(float(value) for value in both["bytes_per_s"])  # printed under "two bytes overlap"
    wanted = {"bytes_a_packet": rate / packets[0], "no_overlap_bytes_per_s": rate}
    why = "as many bytes a packet as in section V.A, if the two rates are swapped"
    return near(submission, wanted, why, tolerance=tolerance)


CARD = (facts_06.card, postcard.STUDY)
PLATE = (facts_06.plate, wire.STUDY)

SCORERS: dict[str, Scorer] = {
    "predict-card": sealed("card"),
    "predict-packets": sealed("packets"),
    "postcard": ByRecord(*CARD, longer_cards, "postcard"),
    "headers": ByRecord(*CARD, all_headers, "postcard"),
    "plate-record": ByRecord(*PLATE, whole_plate),
    "packet-loop": partial(
        best_of_own,
        own_loop.STUDY,
        own_loop.VARIANT,
        f"a function that counts {', '.join(COUNTS)} in a capture of yours",
        counted,
    ),
    "row-cost": ByRecord(*PLATE, row_cost),
    "cost-plot": own_plots.Plot(
        "costs", COSTS, own_plots.of_records(postcard.STUDY, facts_06.card_lines, variant="sizes")
    ),
    "eager-limit": eager_limit,
    "timeline": ByRecord(
        facts_06.on_a_timeline,
        one_message.STUDY,
        numbers_and_words("request_ms", "data_ms", "data_in"),
    ),
    "length-plot": own_plots.Plot(
        "lengths", LENGTHS, own_plots.of_records(wire.STUDY, facts_06.length_line)
    ),
    "predict-overhead": sealed("overhead"),
    "a11-record": partial(record_of, facts_06.long, "A11"),
    "overlap-gain": ByRecord(facts_06.long, "A11", overlap_gain),
    "a10-record": partial(record_of, partial(facts_06.conversations, len(a10.TALKS)), "A10"),
    "smpp": smpp,
    "a12-record": partial(record_of, partial(facts_06.conversations, len(a12.TALKS)), "A12"),
    "a13-record": partial(record_of, facts_06.operations, "A13"),
    "collectives": ByRecord(
        facts_06.operations, "A13", numbers_and_words("broadcast_messages", "scatter_call_bytes")
    ),
    "swapped": swapped,
}
