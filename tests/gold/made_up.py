"""A script that measures nothing: all answers of a lab and Records that fit them, from the checkout alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from beowulf import variant
from beowulf.record import Record
from tests.gold.hand_in import answered, file_name, hand_in, released
from tests.gold.labs import Gold
from tests.gold.measured import as_handed_in, as_measured


@dataclass(frozen=True)
class Careful:
    """What a script may know of grading beyond its present form, in which it leaves the label and names no program."""

    program: bool = False  # a program of ours and its digest, and no label
    word: str = ""  # the learner's own word, from which the mark follows


def records(lab: Gold, careful: Careful, student: str) -> Iterator[Record]:
    """The lab's Records, with noise, circumstances and times of their own."""
    for record in lab.records():
        made = as_handed_in(record, student) if careful.program else as_measured(record, student)
        if careful.word:
            made = replace(made, cluster={**made.cluster, "mark": variant.mark(careful.word)})
        yield made


def write(lab: Gold, folder: Path, student: str, careful: Careful = Careful()) -> None:
    """The hand-in: all answers of the lab, and the Records that they fit."""
    notebook = answered(released(lab.slug), lab.right)
    place = hand_in(folder, notebook, [], Path(file_name(lab.slug)).stem, student=student)
    for record in records(lab, careful, student):
        record.save_in(place / "records")
