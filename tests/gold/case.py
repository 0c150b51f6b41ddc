"""One hand-in of the gold class: how it is made, and exactly what it must be given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from autograder.rubrics import questions
from beowulf.record import Record
from tests.gold.hand_in import answered, file_name, hand_in, released

# Writes a hand-in into a folder that does not exist yet.
Writer = Callable[[Path], object]


@dataclass(frozen=True)
class Case:
    """A hand-in of a lab: `points` by question, and a part of what must be `said` of some of them.

    Questions that are not in `points` get nothing. With a `problem` there are no points at all, and that
    is a part of the sentence.
    """

    slug: str
    name: str
    write: Writer
    points: Mapping[str, float] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


def of_answers(
    slug: str,
    name: str,
    answers: Mapping[str, Any],
    records: Callable[[], list[Record]],
    points: Mapping[str, float],
    said: Mapping[str, str] | None = None,
) -> Case:
    """A hand-in that is a released notebook with these answers, and these Records."""

    def write(folder: Path) -> None:
        notebook = answered(released(slug), answers)
        hand_in(folder, notebook, records(), Path(file_name(slug)).stem, student=name)

    return Case(slug, name, write, points, said or {})


@cache
def _worth(slug: str) -> dict[str, float]:
    return {name: question.of for name, question in questions.of_lab(slug).items()}


def worth(slug: str, *names: str) -> dict[str, float]:
    """What each question that a rubric scores is worth in lab.toml, or these alone."""
    found = _worth(slug)
    return {name: found[name] for name in names or found}
