"""Lab 06: points for what a learner read off their own captures, for A10 to A13, and for their own counts."""

from __future__ import annotations

from functools import partial

from autograder import telling
from autograder.answers import given, is_near, word
from autograder.captured import TELLS, told
from autograder.rubrics import Question, ask
from autograder.score import Score
from autograder.submission import Submission, is_number
from autograder.telling import MOST_POINTS, MOST_RECORDS, Facts, Judge, numbers, words
from beowulf import papers
from beowulf.exercises import postcard, tally
from beowulf.record import Record

HANDOUT = "labs/06-protocol-analysis/README.md"
# A learner reads medians off a table that is shown with a few digits: per cent, and a share of a rate.
PERCENT_ROOM, RATE_ROOM = 0.05, 0.01
NEAR_THE_LIMIT_BYTES = 1000
# The shortest frame of Ethernet is 64 bytes with its checksum; preamble and gap take 20 more.
SHORTEST_FRAME_BYTES = 84

SWAPPED = ("bytes_a_packet", "no_overlap_bytes_per_s")


def score(submission: Submission) -> dict[str, Score]:
    """The Score of every question that is not graded by hand; `explain` is."""
    return ask(QUESTIONS, submission)


def record_of(study: str, submission: Submission) -> Score:
    """1 point for a whole Record of a study that has what the study looks at."""
    found, why = told(study, "", submission)
    if not found:
        return Score(0, 1, why, f"A whole Record {study}. `beowulf study {study} --quick`.")
    return Score(1, 1, f"{found[0][1]} is whole.")


def best(study: str, variant: str, of: float, judge: Judge, submission: Submission) -> Score:
    """The Score of an answer against the Record that it fits best: a learner may have captured again since."""
    return telling.best(TELLS[study, variant], study, variant, of, judge, submission)


def overlap_gain(submission: Submission, found: Facts, by: str) -> Score:
    """A point each for the overhead and for the rate without and with overlap, read off the own Record.

    The word whether the overhead changes counts only with the figures that it is drawn from.
    """
    percents = ("overhead_without_percent", "overhead_with_percent")
    rates = ("rate_without_mbit_per_s", "rate_with_mbit_per_s")
    read = all(is_near(submission, name, found[name], PERCENT_ROOM) for name in percents)
    drawn = read and word(submission, "overhead_changes") == found["overhead_changes"]
    right = [read, drawn, *(is_near(submission, n, found[n], RATE_ROOM * found[n]) for n in rates)]
    expected = ", ".join(f"{name}: {found[name]:.2f}" for name in (*percents, *rates))
    expected += f", overhead_changes: {found['overhead_changes']} (by {by})"
    return Score(sum(right) / 2, 2, given(submission, *found), expected)


def eager_limit(submission: Submission) -> Score:
    """The largest eager and the smallest rendezvous card of all captures: 2 points if they are neighbours."""
    names = ("largest_eager_bytes", "smallest_rendezvous_bytes")
    seen = _protocols(submission)
    if not all(seen.values()):
        missing = " and ".join(name for name, sizes in seen.items() if not sizes)
        what = f"No card in your Records travelled by {missing}."
        return Score(0, 2, what, "Cards on both sides of the limit.")
    largest, smallest = max(seen["eager"]), min(seen["rendezvous"])
    right = all(
        is_near(submission, n, v, 0.0) for n, v in zip(names, (largest, smallest), strict=True)
    )
    between = smallest - largest
    points = 0 if not right or between > NEAR_THE_LIMIT_BYTES else 2 if between == 1 else 1
    expected = f"your cards: {largest} bytes eager, {smallest} bytes rendezvous"
    if between != 1:
        expected += "; two sizes that differ by 1 byte tell the limit"
    return Score(points, 2, given(submission, *names), expected)


def _protocols(submission: Submission) -> dict[str, set[int]]:
    """The sizes of all cards in the Records, by the protocol that they travelled by."""
    seen: dict[str, set[int]] = {"eager": set(), "rendezvous": set()}
    for name in postcard.NAMES:
        for record in submission.measured(postcard.STUDY, name)[:MOST_RECORDS]:
            for point in record.points[:MOST_POINTS]:
                size, how = point.facts.get("bytes"), point.facts.get("protocol")
                if point.at.get("from_rank") == 0 and is_number(size) and how in seen:
                    seen[how].add(int(size))
    return seen


def smpp(submission: Submission) -> Score:
    """A point each for what Ethereal took for SMPP, and for the share of data with it."""
    printed = papers.table("A-wire").iloc[0]  # section V.A, without overlap
    both = float(printed["data_percent"]) + float(printed["short_message_percent"])
    right = [
        word(submission, "short_messages_are") == "mpich",
        is_near(submission, "all_data_percent", both, 0.01),
    ]
    expected = (
        "short_messages_are: mpich, because nothing on that wire spoke SMPP and Ethereal guessed;"
        f" all_data_percent: {both:.2f}"
    )
    said = given(submission, "short_messages_are", "all_data_percent")
    return Score(sum(right), 2, said, expected)


def swapped(submission: Submission) -> Score:
    """A point each for the bytes a packet that fit, and for whose rate 255,664.28 is."""
    printed = papers.table("A-wire")
    both = printed[printed["where"] == "figures 19-22"]
    packets = [float(value) for value in both["packets_per_s"]]
    rate = max(float(value) for value in both["bytes_per_s"])  # printed under "two bytes overlap"
    fits = rate / packets[0]
    right = [
        is_near(submission, "bytes_a_packet", fits, 1.0),
        is_near(submission, "no_overlap_bytes_per_s", rate, 1.0),
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


def unit(submission: Submission) -> Score:
    """How many of the shortest frames a cable of 100 Mbit/s carries in a second."""
    name, most = "most_packets_per_s", 100e6 / (8 * SHORTEST_FRAME_BYTES)
    right = is_near(submission, name, most, 1000.0)
    expected = f"{most:,.0f}, so that 1,388,106.63 cannot be packets; they are bytes"
    return Score(1 if right else 0, 1, given(submission, name), expected)


def tallied(submission: Submission) -> Score:
    """A point for each count of the learner's own that is right, by the best of their Records."""
    expected = f"the functions of tally.py give {', '.join(tally.OURS)}"
    found = submission.measured(tally.STUDY, tally.VARIANT)[:MOST_RECORDS]
    if not found:
        return Score(0, 3, submission.missing(tally.STUDY, tally.VARIANT), expected)
    scores = [_tally(record, expected) for record in found]
    return max(scores, key=lambda score: score.points)


def _tally(record: Record, expected: str) -> Score:
    said, points = [], 0
    for name, point in {p.at.get("count"): p for p in record.points[:MOST_POINTS]}.items():
        yours, ours = point.facts.get("yours"), point.facts.get("ours")
        if name not in tally.OURS or not is_number(ours):
            continue
        right = is_number(yours) and tally.is_right(yours, ours)
        points += right
        value = f"{yours:.5g}" if is_number(yours) else "no number"
        said.append(f"{name}: {value}, {'right' if right else f'ours is {ours:.5g}'}")
    return Score(points, 3, f"{record.file_name}: {'; '.join(said) or 'no counts'}", expected)


# The handout's section that answers a question, by its heading.
QUESTIONS = {
    "postcard": Question(
        2,
        f"{HANDOUT}, Do: four envelopes",
        partial(best, "A10", "postcard", 2, numbers(("card_message_bytes", "card_frame_bytes"), 2)),
    ),
    "headers": Question(
        2,
        f"{HANDOUT}, Do: four envelopes",
        partial(
            best,
            "A10",
            "postcard",
            2,
            numbers(("ethernet_bytes", "ip_bytes", "tcp_bytes", "mpich_bytes"), 2),
        ),
    ),
    "connection": Question(
        1,
        f"{HANDOUT}, Do: before the first word",
        partial(best, "A10", "postcard", 1, numbers(("packets_before_card",), 1)),
    ),
    "segments": Question(
        2,
        f"{HANDOUT}, Do: longer cards",
        partial(best, "A10", "sizes", 2, numbers(("segments_1024", "segments_8192"), 2)),
    ),
    "rendezvous": Question(
        2,
        f"{HANDOUT}, Do: ask first",
        partial(best, "A10", "sizes", 2, numbers(("asking_packets", "segments_200000"), 2)),
    ),
    "eager-limit": Question(2, f"{HANDOUT}, Do: ask first", eager_limit),
    "a10-record": Question(1, f"{HANDOUT}, Do: overlap on the wire", partial(record_of, "A10")),
    "smpp": Question(2, f"{HANDOUT}, Do: overlap on the wire", smpp),
    "a11-record": Question(1, f"{HANDOUT}, Do: overlap on the wire", partial(record_of, "A11")),
    "overlap-gain": Question(
        2,
        f"{HANDOUT}, Do: overlap on the wire",
        partial(best, "A11", "", 2, overlap_gain),
    ),
    "a12-record": Question(1, f"{HANDOUT}, Do: side by side", partial(record_of, "A12")),
    "two-measures": Question(
        2,
        f"{HANDOUT}, Do: side by side",
        partial(best, "A12", "", 2, words(("data_share_moves", "overhead_moves"), 2)),
    ),
    "a13-record": Question(
        1, f"{HANDOUT}, Do: what the paper left open", partial(record_of, "A13")
    ),
    "collectives": Question(
        2,
        f"{HANDOUT}, Do: what the paper left open",
        partial(best, "A13", "", 2, numbers(("broadcast_messages", "scatter_call_bytes"), 2)),
    ),
    "tally": Question(3, f"{HANDOUT}, Exercise: count it yourself", tallied),
    "swapped": Question(2, f"{HANDOUT}, Compare with paper A", swapped),
    "turned-round": Question(1, f"{HANDOUT}, Compare with paper A", turned_round),
    "unit": Question(1, f"{HANDOUT}, Compare with paper A", unit),
}
