"""The questions of a lab: each table of `lab.toml`, and the function of the rubric that scores it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission
from beowulf import paths
from beowulf.course import lab_file
from beowulf.course.lab_file import LabFile, QuestionTable, nearest
from beowulf.errors import LabError

# Scores a Submission in points of its own, which count in proportion to those of lab.toml. It takes its tolerances
# as keyword-only arguments, by the names that lab.toml gives them; one with a default may be absent there.
Scorer = Callable[..., Score]
PRINTED_POINTS = re.compile(r"\*\*Question `([a-z0-9-]+)`\*\* \(([0-9]+(?:\.[0-9]+)?) points?\b")


@dataclass(frozen=True)
class Question:
    """What a question is worth, where a learner reads about it, and how it is scored."""

    of: float
    read: str
    score: Callable[[Submission], Score]


def has_rubric(slug: str) -> bool:
    """Whether one of our functions scores this lab's questions."""
    return bool(re.fullmatch(r"[0-9]{2}-[a-z0-9-]+", slug)) and bool(find_spec(_module(slug)))


def scorers(slug: str) -> Mapping[str, Scorer]:
    """The functions of a lab's rubric, by question."""
    by_name: Mapping[str, Scorer] = import_module(_module(slug)).SCORERS
    return by_name


def of_lab(slug: str, lab: LabFile | None = None) -> dict[str, Question]:
    """The questions that a rubric scores, in the order of lab.toml; LabError when that is wrong."""
    ours, lab = scorers(slug), lab or lab_file.read(slug)
    for name, table in lab.questions.items():
        _refuse_wrong_limits(table, ours.get(name))
    return {
        name: Question(
            table.points, f"{lab.handout}, {table.read}", partial(ours[name], **table.limits)
        )
        for name, table in lab.questions.items()
        if name in ours
    }


def check(slug: str, cells: Iterable[Mapping[str, Any]]) -> dict[str, Question]:
    """The questions that a lab's rubric scores; LabError when lab.toml contradicts notebook, rubric or handout.

    `cells` are nbgrader's marks of the notebook's cells. An instructor's own assignment has no lab.toml.
    """
    if slug not in paths.labs():
        return {}
    lab = lab_file.read(slug)
    graded = {str(marks["grade_id"]): marks for marks in cells if marks.get("grade")}
    for name, table in lab.questions.items():
        if name not in graded:
            left = [each for each in graded if each not in lab.questions]
            what = f"{table.where}: no cell of the notebook has the question {name}."
            raise LabError(what, nearest(name, left))
        worth = float(graded[name]["points"])
        if table.points != worth:
            raise LabError(
                f"{table.where}: {name} has {table.points:g} points here, and {worth:g} in its cell of the notebook.",
                f"Write the same number in both, there as the points of the locked cell {name} (*Create Assignment* in"
                " JupyterLab), and release the notebook again.",
            )
    for name in graded:
        if name not in lab.questions:
            raise LabError(
                f"{lab.name} has no table [questions.{name}], and the notebook has such a cell."
            )
    scored = of_lab(slug, lab) if has_rubric(slug) else {}
    for name, table in lab.questions.items() if has_rubric(slug) else ():
        if name not in scored and not graded[name].get("solution"):
            raise LabError(
                f"{table.where}: the rubric has no function for {name}, and no person reads it."
            )
    lab.refuse_unknown_sections()
    return scored


def check_text(slug: str, notebook: str) -> None:
    """LabError where learners read other points in a notebook's text than a lab's lab.toml has."""
    asked = lab_file.read(slug).questions if slug in paths.labs() else {}
    for name, number in PRINTED_POINTS.findall(notebook):
        if (table := asked.get(name)) and table.points != float(number):
            raise LabError(
                f"{table.where}: {name} has {table.points:g} points here, and the notebook's text says {number}.",
                "Change the text, too, and the sum in the notebook's first cell; then release it again.",
            )


def _module(slug: str) -> str:
    return f"autograder.rubrics.{slug.replace('-', '_')}"


def _refuse_wrong_limits(table: QuestionTable, scorer: Scorer | None) -> None:
    """LabError unless a question has the tolerances and limits that its function takes."""
    # Where a Record is read first, the judge of what was read takes them.
    judge = getattr(scorer, "judge", scorer)
    taken = {
        each.name: each.default is each.empty
        for each in (inspect.signature(judge).parameters.values() if judge else ())
        if each.kind is each.KEYWORD_ONLY
    }
    for name in table.limits:
        if name not in taken:
            raise LabError(
                f"{table.where}: the question {table.name} takes no `{name}`.",
                nearest(name, taken),
            )
    for name, needed in taken.items():
        if needed and name not in table.limits:
            raise LabError(f"{table.where}: the question {table.name} has no `{name}`.")
