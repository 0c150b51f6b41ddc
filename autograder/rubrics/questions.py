"""The questions of a lab: each table of `lab.toml`, and the function of the rubric that scores it.

A course changes the tables in its `course.toml`, and adds functions of its own in `rubrics/lab_NN.py` of its folder.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from typing import Any

from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission
from beowulf import paths
from beowulf.course import lab_file
from beowulf.course.lab_file import LabFile, QuestionTable, nearest
from beowulf.errors import LabError
from beowulf.paths import Package

# Scores a Submission in points of its own, which count in proportion to those of lab.toml. It takes its tolerances
# as keyword-only arguments, by the names that lab.toml gives them; one with a default may be absent there.
Scorer = Callable[..., Score]
OWN = "rubrics"  # in a course's folder
OWN_HINT = 'It has functions, and at its end SCORERS = {"QUESTION": function}.'
OTHER_VERSION = (
    "If source/{0} is from another version of the labs: move it away, `beowulf class init .` puts today's there. Where"
    " something is handed in already, grade it with the version of the labs that released it."
)


@dataclass(frozen=True)
class Question:
    """What a question is worth, where a learner reads about it, and how it is scored."""

    of: float
    read: str
    score: Callable[[Submission], Score]


def has_rubric(slug: str) -> bool:
    """Whether this lab's package brings functions that score its questions."""
    package = paths.package_of(slug)
    if package is None:
        return False
    with package.importing():
        return bool(find_spec(_module(package, slug)))


def scorers(slug: str, course: Path | None = None) -> dict[str, Scorer]:
    """The functions of a lab's rubric by question, with those of the course; LabError when its file is wrong."""
    package = paths.package_of(slug)
    assert package
    with package.importing():
        ours = import_module(_module(package, slug)).SCORERS
    return {**ours, **_of_course(slug, course)}


def _of_course(slug: str, course: Path | None) -> dict[str, Scorer]:
    file = course / OWN / f"lab_{slug[:2]}.py" if course else None
    if file is None or not file.is_file():
        return {}
    spec = spec_from_file_location(f"rubric_of_the_course_{slug[:2]}", file)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        return dict(module.SCORERS)
    except Exception as problem:  # whatever a lecturer's own code raises, with its line
        lines = [
            each.lineno for each in extract_tb(problem.__traceback__) if each.filename == str(file)
        ]
        at = f"{file}, line {lines[-1]}" if lines else str(file)
        raise LabError(f"{at}: {type(problem).__name__}: {problem}.", OWN_HINT) from None


def of_lab(slug: str, course: Path | None = None) -> dict[str, Question]:
    """The questions that a rubric scores, in the order of lab.toml; LabError when that, or the course's, is wrong."""
    return _scored(lab_file.read(slug, course), course)


def _scored(lab: LabFile, course: Path | None) -> dict[str, Question]:
    functions = scorers(lab.slug, course)
    for name in functions:
        if name not in lab.questions:
            raise LabError(
                f"A rubric has a function for {name}, but lab {lab.slug[:2]} has no such question.",
                f"Write [labs.{lab.slug[:2]}.questions.{name}] into {lab_file.COURSE_FILE}.",
            )
    for name, table in lab.questions.items():
        _refuse_wrong_limits(table, functions.get(name))
    return {
        name: Question(
            table.points, f"{lab.handout}, {table.read}", partial(functions[name], **table.limits)
        )
        for name, table in lab.questions.items()
        if name in functions
    }


def check(
    slug: str, cells: Iterable[Mapping[str, Any]], course: Path | None = None
) -> dict[str, Question]:
    """The questions that a lab's rubric scores; LabError when lab.toml contradicts notebook, rubric or handout.

    `cells` are nbgrader's marks of the notebook's cells. An instructor's own assignment has no lab.toml.
    """
    if slug not in paths.labs():
        return {}
    lab = lab_file.read(slug, course)
    other_version = OTHER_VERSION.format(slug) if course else ""
    graded = {str(marks["grade_id"]): marks for marks in cells if marks.get("grade")}
    for name, table in lab.questions.items():
        if name not in graded:
            if course and name not in lab_file.read(slug).questions:
                raise LabError(
                    f"{table.where}: the notebook that was released has no cell for the question {name}.",
                    f"`beowulf class release {slug[:2]}` adds it. If hand-ins have already been graded,"
                    f" delete this table.",
                )
            left = [each for each in graded if each not in lab.questions]
            what = f"{table.where}: no cell of the notebook has the question {name}."
            raise LabError(what, f"{nearest(name, left)} {other_version}".strip())
        worth = float(graded[name]["points"])
        if table.points != worth:
            raise LabError(
                f"{table.where}: {name} has {table.points:g} point{'s' * (table.points != 1)} here, and"
                f" {worth:g} in its cell of the notebook.",
                f"`beowulf class release {slug[:2]}` writes them into the notebook."
                if course
                else "Write the same number in both.",
            )
    for name in graded:
        if name not in lab.questions:
            raise LabError(
                f"{lab.name} has no table [questions.{name}], but the notebook has a cell of that name.",
                f"A question of your own is [labs.{slug[:2]}.questions.{name}] in {lab_file.COURSE_FILE}."
                f" {other_version}"
                if course
                else "",
            )
    scored = _scored(lab, course) if has_rubric(slug) else {}
    for name, table in lab.questions.items() if has_rubric(slug) else ():
        if name not in scored and not graded[name].get("solution"):
            raise LabError(
                f"{table.where}: the rubric has no function for {name}, and it is not graded by hand."
            )
    lab.refuse_unknown_sections()
    return scored


def _module(package: Package, slug: str) -> str:
    return f"{package.rubrics}.{slug.replace('-', '_')}"


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
