"""Which Records a lab's questions are scored by: seen by asking its rubric about a hand-in that has none.

A class is given the labs without the rubrics (`beowulf class kit`); there, a file beside lab.toml has the list.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from autograder.files import read_json
from autograder.rubrics import questions
from autograder.rubrics.submission import Submission
from beowulf import paths
from beowulf.record import Record

FILE = "needs.json"
# A study and a variant, "" for the usual Record.
Need = tuple[str, str]
Needs = Mapping[str, tuple[Need, ...]]


@dataclass(frozen=True)
class _Asked(Submission):
    """A hand-in without Records that keeps for which it was asked."""

    asked: list[Need] = field(default_factory=list)

    def measured(self, study: str, variant: str = "") -> list[Record]:
        self.asked.append((study, variant))
        return []


def of_lab(slug: str, course: Path | None = None) -> Needs:
    """For each question of a lab the Records that its rubric asks for; nothing for a lab without either."""
    if not questions.has_rubric(slug):
        plain: dict[str, list[list[str]]] = read_json(paths.labs()[slug] / FILE, {})
        return {name: tuple((s, v) for s, v in needs) for name, needs in plain.items()}
    needs: dict[str, tuple[Need, ...]] = {}
    for name, question in questions.of_lab(slug, course).items():
        empty = _Asked([], [], {}, {}, NotebookNode(cells=[]))
        question.score(empty)
        needs[name] = tuple(dict.fromkeys(empty.asked))
    return needs


def as_text(needs: Needs) -> str:
    """What a kit has in place of the rubric."""
    return json.dumps(needs, indent=1) + "\n"
