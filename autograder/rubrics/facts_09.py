"""What the Records of lab 09 show, for the questions of its rubric."""

from __future__ import annotations

from autograder.rubrics.own_plots import Curves
from autograder.rubrics.record_facts import MOST_RECORDS, Facts, attempt
from autograder.rubrics.submission import Submission
from beowulf.labs.lab_09 import scaling, stairs
from beowulf.labs.lab_09.stairs import Outcome
from beowulf.measure import calibration
from beowulf.record import Record

MOST_SOURCES = 2  # that are simulated, the newest
SPEED_UP_AT = 64


def calibrated(record: Record) -> Facts:
    """What a calibration by a Record of E1 says, as its table shows it."""
    made = calibration.of(record)
    return {
        "alpha_us": made.sizes[0].median,
        "longest_us": made.sizes[-1].median,
        "worst_percent": made.worst_percent,
    }


def scaled(record: Record) -> Facts:
    """The speed-up of the learner's plate on 64 nodes, on the network that was measured and on the faster one."""
    table = scaling.table(record)
    at = table[table["nodes"] == SPEED_UP_AT].set_index("network")["speed_up"]
    return {
        "speed_up_64": float(at[scaling.OWN]),
        "speed_up_64_gigabit": float(at[scaling.GIGABIT]),
    }


def memo(record: Record) -> Facts:
    """What a memo needs of the learner's plate: a row, and steps on one node and on 16 of each network."""
    steps = scaling.table(record).set_index(["network", "nodes"])["simulated_ms"]
    return {
        "memo_row_us": scaling.row_us(record),
        "memo_one_ms": float(str(steps[scaling.OWN, 1])),
        "memo_own_ms": float(str(steps[scaling.OWN, 16])),
        "memo_gigabit_ms": float(str(steps[scaling.GIGABIT, 16])),
    }


def speed_ups(record: Record) -> Curves:
    """A line for each network: the speed-up by nodes."""
    return [
        dict(zip(rows["nodes"].astype(float), rows["speed_up"].astype(float), strict=True))
        for _, rows in scaling.table(record).groupby("network")
    ]


def steps_of(submission: Submission) -> list[tuple[str, dict[str, Outcome]]]:
    """What the steps of each of the newest sources take: simulated once more where grading wants that."""
    found: dict[str, tuple[str, dict[str, Outcome]]] = {}

    def take(record: Record) -> None:
        source = stairs.source_of(record)
        if source not in found:
            took = submission.simulate(source) if submission.simulate else stairs.found(record)
            found[source] = record.file_name, took

    for record in submission.measured(stairs.STUDY, stairs.VARIANT)[:MOST_RECORDS]:
        if len(found) < MOST_SOURCES:
            attempt(take, record)
    return list(found.values())
