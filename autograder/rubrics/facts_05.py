"""What the Records of lab 05 show, for the questions of its rubric."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from autograder.rubrics.own_plots import Curves
from autograder.rubrics.record_facts import Facts, attempt
from autograder.rubrics.submission import Submission
from beowulf.errors import LabError
from beowulf.exercises.heat import reading
from beowulf.labs.lab_05 import by_lot, exchange, own_step
from beowulf.labs.lab_05 import d1_synchronisation as d1
from beowulf.labs.lab_05 import d2_message_size_sweep as d2
from beowulf.labs.lab_05 import d5_improvement as d5
from beowulf.labs.lab_05.overlap import KB, ONE_USER, SOLARIS, TESTED
from beowulf.measure.improvement import improvement_percent
from beowulf.record import Record

MOST_LENGTHS = 20  # of rows; the notebook asks for four, and of each all Points are looked through
MOST_VERSIONS = 4  # of the Records of a version of the overlapped step, the newest
SUPPORT_CASES = {"limit_16_kb": ONE_USER, "limit_64_kb": SOLARIS, "limit_16_kb_test": TESTED}
LIMITS = dict(zip(by_lot.LIMITS_KB, (ONE_USER, SOLARIS), strict=True))
SIDES = ("last_by_itself_kb", "first_that_waits_kb")
LOST_GAIN = {"plain_percent": ONE_USER, "tested_percent": TESTED}
OF_RATIOS = "{}, median of ratios"
OF_SUM = "bound_percent, of the sum of both"
# A step or an exchange lasts at least as long as its messages, which nothing can hide, less what a busy machine adds.
LEAST_OF_MESSAGES = 0.85
# Nothing makes messages and work, one after the other, so much longer than the sum of both.
MOST_OF_THE_SUM = 1.5


def supports(record: Record) -> Facts:
    """What a Record of D1 shows in the three cases that are asked for."""
    return {
        name: d1.support(d1.places(record, way, d1.LARGE, "delay"))
        for name, way in SUPPORT_CASES.items()
    }


def jumps(record: Record) -> Facts:
    """By limit, the sizes on either side of the jump in a Record of D2, by medians; none where it does not show one."""
    facts: Facts = {}
    for kb, way in LIMITS.items():
        if sizes := d2.step(d2.shares(record, way), certain=False):
            facts |= {side(name, kb): size / KB for name, size in zip(SIDES, sizes, strict=True)}
    return facts


def side(name: str, limit_kb: int) -> str:
    """How jumps() calls a size."""
    return f"{name} of {limit_kb}"


def lost_gains(record: Record) -> Facts:
    """Equation 1 at 70 KB without and with MPI_Test in a Record of D5: of the medians, and the median of the ratios."""
    facts: Facts = {}
    for name, way in LOST_GAIN.items():
        middle = d5.slower(record, **way.at, size_bytes=70 * KB).median()
        facts[name] = improvement_percent(float(middle["during"]), float(middle["before"]))
        facts[OF_RATIOS.format(name)] = d5.gains(record, way)[70 * KB].percent
    return facts


def own_step_gain(record: Record) -> Facts:
    """Gain and bound of a learner's overlapped step with the longest rows of its Record."""
    return _gain_at(record, max(reading.columns_of(record.points), default=0))


def _gain_at(record: Record, columns: int) -> Facts:
    parts, seen = reading.part_medians(record, columns), reading.gain(record, columns)
    least, both = min(parts["exchange"], parts["compute"]), parts["exchange"] + parts["compute"]
    return {
        "gain_percent": improvement_percent(parts["overlapped"], parts["before"]),
        OF_RATIOS.format("gain_percent"): seen.percent,
        "bound_percent": -100 * least / parts["before"],
        OF_SUM: -100 * least / both,
        "high": seen.high,
        "says": f"{seen.says} with rows of {reading.BYTES * columns:,} bytes",
        # By themselves messages may wait longer than beside work, so what they add to the work counts as well.
        "possible": parts["overlapped"]
        >= LEAST_OF_MESSAGES * min(parts["exchange"], parts["before"] - parts["compute"]),
        "alike": parts["before"] <= MOST_OF_THE_SUM * both,
    }


def tested_gain(record: Record) -> Facts:
    """The same of the version that calls MPI_Test; LabError of the other one."""
    if own_step.version(record) != own_step.WITH:
        raise LabError("its overlapped_step does not call MPI_Test")
    return own_step_gain(record)


def own_exchange(record: Record) -> Facts:
    """What a Record of the learner's own exchange gains, and whether it and what it is held against can be so."""
    gain, middle = exchange.gain(record), exchange.passes(record).median()
    return {
        "high": gain.high,
        "says": gain.says,
        "possible": bool(middle["during"] >= LEAST_OF_MESSAGES * middle["comm"]),
        "alike": bool(middle["before"] <= MOST_OF_THE_SUM * (middle["comm"] + middle["comp"])),
    }


def gain_curves(submission: Submission) -> Iterator[tuple[str, Curves]]:
    """The three lines of the plot: gains of both versions, and the bound, by one Record of each version.

    Equation 1 of the medians and the median of the ratios both count, the bound by either version.
    """
    found: dict[str, list[Record]] = {own_step.WITHOUT: [], own_step.WITH: []}
    for record in submission.measured(own_step.STUDY, "python"):
        if record.complete and len(found[own_step.version(record)]) < MOST_VERSIONS:
            found[own_step.version(record)].append(record)
    lines = {
        id(record): attempt(_lines, record)[0] or [] for each in found.values() for record in each
    }
    for plain, tested in product(*found.values()):
        name = f"{plain.file_name} and {tested.file_name}"
        gains = product(*(lines[id(record)][:2] for record in (plain, tested)))
        bounds = [each for record in (tested, plain) for each in lines[id(record)][2:]]
        for (without, with_tests), bound in product(gains, bounds):
            yield name, [without, with_tests, bound]


def _lines(record: Record) -> list[dict[float, float]]:
    """Gain of the ratios, gain of the medians, bound, and bound of the sum, by the bytes of a row; or nothing."""
    if len(every := reading.columns_of(record.points)) > MOST_LENGTHS:
        raise LabError(f"it has rows of more than {MOST_LENGTHS} lengths")
    facts = {float(reading.BYTES * columns): _gain_at(record, columns) for columns in every}
    names = (OF_RATIOS.format("gain_percent"), "gain_percent", "bound_percent", OF_SUM)
    return [{size: each[name] for size, each in facts.items()} for name in names] if facts else []
