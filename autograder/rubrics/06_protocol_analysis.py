"""Lab 06: points for what a learner read from their own captures, for A10 to A13, and for their own counts."""

from __future__ import annotations

from functools import partial

from autograder.rubrics.answers import given, is_near, word
from autograder.rubrics.facts_06 import READERS
from autograder.rubrics.questions import Scorer
from autograder.rubrics.record_facts import (
    MOST_POINTS,
    MOST_RECORDS,
    ByRecord,
    Facts,
    Judge,
    best_of_own,
    numbers,
    record_of,
    words,
)
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission, is_number
from beowulf import papers
from beowulf.exercises.lab_06 import count_packets, postcard
from beowulf.record import Record

# The shortest frame of Ethernet is 64 bytes with its checksum; preamble and gap take 20 more.
SHORTEST_FRAME_BYTES = 84

SWAPPED = ("bytes_a_packet", "no_overlap_bytes_per_s")


def overlap_gain(
    submission: Submission,
    facts: Facts,
    by: str,
    *,
    tolerance: float,
    tolerance_percent: float,
    change_points: float,
) -> Score:
    """A point each for the overhead and for the rate without and with overlap, read from the own Record.

    The word whether the overhead changes counts only with the figures that it is drawn from.
    """
    percents = ("overhead_without_percent", "overhead_with_percent")
    rates = ("rate_without_mbit_per_s", "rate_with_mbit_per_s")
    without, with_overlap = (facts[name] for name in percents)
    changes = "yes" if abs(with_overlap - without) > change_points else "no"
    share = tolerance_percent / 100
    read = all(is_near(submission, name, facts[name], tolerance) for name in percents)
    drawn = read and word(submission, "overhead_changes") == changes
    right = [read, drawn, *(is_near(submission, n, facts[n], share * facts[n]) for n in rates)]
    expected = ", ".join(f"{name}: {facts[name]:.2f}" for name in (*percents, *rates))
    expected += f", overhead_changes: {changes} (by {by})"
    names = (*percents, "overhead_changes", *rates)
    return Score(sum(right), 4, given(submission, *names), expected)


def eager_limit(submission: Submission, *, tolerance: float) -> Score:
    """The largest eager and the smallest rendezvous card of all captures; they should be neighbours."""
    names = ("largest_eager_bytes", "smallest_rendezvous_bytes")
    sizes_by_protocol = _protocols(submission)
    if not all(sizes_by_protocol.values()):
        missing = " and ".join(name for name, sizes in sizes_by_protocol.items() if not sizes)
        what = f"No card in your Records travelled by {missing}."
        return Score(0, 2, what, "Cards on both sides of the limit.")
    largest, smallest = max(sizes_by_protocol["eager"]), min(sizes_by_protocol["rendezvous"])
    right = all(
        is_near(submission, n, v, 0.0) for n, v in zip(names, (largest, smallest), strict=True)
    )
    between = smallest - largest
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
            for point in record.points[:MOST_POINTS]:
                size, how = point.facts.get("bytes"), point.facts.get("protocol")
                if point.at.get("from_rank") == 0 and is_number(size) and how in sizes_by_protocol:
                    sizes_by_protocol[how].add(int(size))
    return sizes_by_protocol


def smpp(submission: Submission, *, tolerance: float) -> Score:
    """A point each for what Ethereal took for SMPP, and for the share of data with it."""
    printed = papers.table("A-wire").iloc[0]  # section V.A, without overlap
    both = float(printed["data_percent"]) + float(printed["short_message_percent"])
    right = [
        word(submission, "short_messages_are") == "mpich",
        is_near(submission, "all_data_percent", both, tolerance),
    ]
    expected = (
        "short_messages_are: mpich, because nothing on that wire spoke SMPP and Ethereal guessed;"
        f" all_data_percent: {both:.2f}"
    )
    answered = given(submission, "short_messages_are", "all_data_percent")
    return Score(sum(right), 2, answered, expected)


def swapped(submission: Submission, *, tolerance: float) -> Score:
    """A point each for the bytes a packet that fit, and for whose rate 255,664.28 is."""
    printed = papers.table("A-wire")
    both = printed[printed["where"] == "figures 19-22"]
    packets = [float(value) for value in both["packets_per_s"]]
    rate = max(float(value) for value in both["bytes_per_s"])  # printed under "two bytes overlap"
    fits = rate / packets[0]
    right = [
        is_near(submission, "bytes_a_packet", fits, tolerance),
        is_near(submission, "no_overlap_bytes_per_s", rate, tolerance),
    ]
    expected = (
        f"bytes_a_packet: {fits:.1f}, as in section V.A, if the two rates are swapped; so"
        f" no_overlap_bytes_per_s: {rate:.2f}"
    )
    return Score(sum(right), 2, given(submission, *SWAPPED), expected)


def turned_round(submission: Submission) -> Score:
    """Whose share 64.70 % is: by sections V.A and V.B that of long messages."""
    name = "bytes_of_64_70_percent"
    right = is_near(submission, name, 8192, 0.0)
    expected = "8192: short messages have 73 % in section V.A, long ones 64.70 % in V.B"
    return Score(1 if right else 0, 1, given(submission, name), expected)


def unit(submission: Submission, *, tolerance: float) -> Score:
    """How many of the shortest frames a cable of 100 Mbit/s carries in a second."""
    name, most = "most_packets_per_s", 100e6 / (8 * SHORTEST_FRAME_BYTES)
    right = is_near(submission, name, most, tolerance)
    expected = f"{most:,.0f}, so that 1,388,106.63 cannot be packets; they are bytes"
    return Score(1 if right else 0, 1, given(submission, name), expected)


def tallied(submission: Submission) -> Score:
    """A point for each count of the learner's own that is right, by the best of their Records."""
    expected = f"the functions of tally.py give {', '.join(count_packets.OURS)}"
    return best_of_own(count_packets.STUDY, count_packets.VARIANT, expected, _tally, submission)


def _tally(record: Record, expected: str) -> Score:
    results, points = [], 0
    for name, point in {p.at.get("count"): p for p in record.points[:MOST_POINTS]}.items():
        yours, ours = point.facts.get("yours"), point.facts.get("ours")
        if name not in count_packets.OURS or not is_number(ours):
            continue
        right = is_number(yours) and count_packets.is_right(yours, ours)
        points += right
        value = f"{yours:.5g}" if is_number(yours) else "no number"
        results.append(f"{name}: {value}, {'right' if right else f'ours is {ours:.5g}'}")
    return Score(points, 3, f"{record.file_name}: {'; '.join(results) or 'no counts'}", expected)


def _read(judge: Judge, study: str, variant: str = "") -> Scorer:
    """For what the learner's own Records show; the one that fits best counts."""
    return ByRecord(READERS[study, variant], study, judge, variant)


def _whole(study: str) -> Scorer:
    """For a whole Record of a study."""
    return partial(record_of, READERS[study, ""], study)


CARD, SIZES = ("A10", "postcard"), ("A10", "sizes")
HEADERS = ("ethernet_bytes", "ip_bytes", "tcp_bytes", "mpich_bytes")

SCORERS: dict[str, Scorer] = {
    "postcard": _read(numbers("card_message_bytes", "card_frame_bytes"), *CARD),
    "headers": _read(numbers(*HEADERS), *CARD),
    "connection": _read(numbers("packets_before_card"), *CARD),
    "segments": _read(numbers("segments_1024", "segments_8192"), *SIZES),
    "rendezvous": _read(numbers("asking_packets", "segments_200000"), *SIZES),
    "eager-limit": eager_limit,
    "a10-record": _whole("A10"),
    "smpp": smpp,
    "a11-record": _whole("A11"),
    "overlap-gain": _read(overlap_gain, "A11"),
    "a12-record": _whole("A12"),
    "two-measures": _read(words("data_share_moves", "overhead_moves"), "A12"),
    "a13-record": _whole("A13"),
    "collectives": _read(numbers("broadcast_messages", "scatter_call_bytes"), "A13"),
    "tally": tallied,
    "swapped": swapped,
    "turned-round": turned_round,
    "unit": unit,
}
