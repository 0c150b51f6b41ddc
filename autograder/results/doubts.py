"""What in a class' samples looks drawn, not measured: a list for its instructor. No points are taken."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from autograder.evidence import invented, near_copies, noise
from autograder.evidence.near_copies import Resemblance
from autograder.evidence.noise import Run
from autograder.results.outliers import Plain
from autograder.results.sections import Section, listed, table_of
from autograder.text import counted
from beowulf.record import Point, Record

# Below these, and only with so many samples; `python -m benchmarks doubts` measures what they find and whom they wrong.
LEAST_SAMPLES, MANY_SAMPLES = 1_000, 10_000
LEAST_DEPENDENCE, LEAST_OF_MANY = 1.0, 2.0
LEAST_FAR_SHARE = 0.01
LEAST_TIMES, LEAST_ON_CLOCK = 50, 0.6
MOST_RECORDS = 50  # of a learner
COLUMNS = ["learners", "study", "doubt", "figure"]
TITLE = "Doubts"
EXPLANATION = (
    "Samples that look drawn by a program, or made from another learner's. No points were taken, and learners do not"
    " see it: ask how they measured. Honest hand-ins may be listed, too, about one in a hundred; a careful copy of a"
    " measurement from outside of the class is not."
)


@dataclass(frozen=True)
class Doubt:
    """One doubt about one learner's Records, or about those of two; `figure` is what it rests on."""

    students: tuple[str, ...]
    study: str
    says: str
    figure: str


@dataclass(frozen=True)
class _Measured:
    """What one Record of one learner shows: its runs, and which share of how many times has a clock's steps."""

    student: str
    study: str
    runs: Sequence[Run]
    on_clock: tuple[float, int]


def found(records: Mapping[str, list[Plain]]) -> list[Doubt]:
    """The doubts about a class, of learners first, then of pairs."""
    measured = [
        each for student in sorted(records) for each in _measured(student, records[student])
    ]
    of_student: dict[str, list[_Measured]] = defaultdict(list)
    for each in measured:
        of_student[each.student].append(each)
    alone = [doubt for own in of_student.values() for doubt in _about_noise(own)]
    return alone + list(_near_copies(measured))


def _measured(student: str, plain: Sequence[Plain]) -> Iterator[_Measured]:
    """The complete measurements of a learner; a Record that cannot be one is left out."""
    for each in plain[:MOST_RECORDS]:
        with suppress(ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
            record = _record(each)
            if record.complete and invented.is_timed(record):
                study = f"{record.study[:60]} {record.variant[:60]}".strip()
                yield _Measured(student, study, noise.runs(record), noise.clock_share(record))


def _record(plain: Plain) -> Record:
    points = [Point(p["at"], p["quantity"], p["samples"], p["facts"]) for p in plain["points"]]
    return Record(
        str(plain["study"]),
        program=dict(plain["program"]),
        points=points,
        variant=str(plain["variant"]),
        complete=plain["complete"] is True,
    )


def _about_noise(own: Sequence[_Measured]) -> Iterator[Doubt]:
    """What is missing in all samples of one learner together."""
    students = (own[0].student,)
    studies = listed(sorted({each.study for each in own}))
    every = [run for each in own for run in each.runs]
    score, number = noise.dependence(every)
    least = LEAST_OF_MANY if number >= MANY_SAMPLES else LEAST_DEPENDENCE
    if number >= LEAST_SAMPLES and score < least:
        says = (
            "The samples do not depend on when they were taken: none of what disturbs a machine for longer than one"
            " sample shows in them."
        )
        yield Doubt(
            students, studies, says, f"{score:.1f} standard deviations in {number:,} samples"
        )
    share, number = noise.far_share(every)
    if number >= LEAST_SAMPLES and share < LEAST_FAR_SHARE:
        says = "Hardly any sample is far from the others, as some are on each machine."
        yield Doubt(students, studies, says, f"{100 * share:.2f} % of {number:,} samples")
    for each in own:
        share, number = each.on_clock
        if number >= LEAST_TIMES and share < LEAST_ON_CLOCK:
            says = "The times are no sums of a clock's steps, which are whole nanoseconds."
            yield Doubt(students, each.study, says, f"{100 * share:.0f} % of {number:,} times are")


def _near_copies(measured: Sequence[_Measured]) -> Iterator[Doubt]:
    """Pairs of learners whose launches have the same noise."""
    of_study: dict[str, list[_Measured]] = defaultdict(list)
    for each in measured:
        of_study[each.study].append(each)
    for study, same in sorted(of_study.items()):
        if len({each.student for each in same}) < 2:
            continue
        steps = [near_copies.steps(each.runs) for each in same]
        surest: dict[tuple[str, ...], Resemblance] = {}
        for pair in near_copies.resembling(steps, [each.student for each in same]):
            students = tuple(sorted((same[pair.one].student, same[pair.other].student)))
            if students not in surest or surest[students].score < pair.score:
                surest[students] = pair
        for students, sure in sorted(surest.items()):
            says = (
                "The same places rise in the same launches: one may have been made from the other."
            )
            figure = f"{sure.like:.2f} of 1 at {counted(sure.places, 'place')}"
            yield Doubt(students, study, says, figure)


def section(doubts: Sequence[Doubt]) -> Section:
    """The doubts as a part of the report."""
    rows = [
        {
            "learners": ", ".join(each.students),
            "study": each.study,
            "doubt": each.says,
            "figure": each.figure,
        }
        for each in doubts
    ]
    table = table_of(rows, COLUMNS)
    if not doubts:
        return Section("doubts", TITLE, f"Nothing looks drawn or copied. {EXPLANATION}", table)
    who = sorted({student for each in doubts for student in each.students})
    urgent = f"{counted(len(doubts), 'doubt')} about samples of {listed(who)}"
    return Section("doubts", TITLE, EXPLANATION, table, urgent=urgent)
