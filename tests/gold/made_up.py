"""A script that measures nothing: all answers of a lab and Records that fit them, from the checkout alone."""

from __future__ import annotations

from pathlib import Path

from tests.gold.hand_in import answered, file_name, hand_in, released
from tests.gold.labs import Gold
from tests.gold.measured import as_handed_in, as_measured


def write(lab: Gold, folder: Path, student: str, *, with_program: bool = False) -> None:
    """The hand-in: all answers of the lab, and the Records that they fit.

    A script that knows grading names a program of ours with its digest, and leaves out the label.
    """
    notebook = answered(released(lab.slug), lab.right)
    place = hand_in(folder, notebook, [], Path(file_name(lab.slug)).stem, student=student)
    measured = as_handed_in if with_program else as_measured
    for record in lab.records():
        measured(record, student).save_in(place / "records")
