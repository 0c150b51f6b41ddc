"""What an instructor prints: the points of every question, with the author's answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from autograder.cells import text_of
from autograder.results.class_page import STYLE
from autograder.rubrics import questions
from autograder.self_check import solutions
from beowulf import paths
from beowulf.course import lab_file
from beowulf.course.lab_file import LabFile, QuestionTable
from beowulf.errors import UsageError

MARK = re.compile(r"^ *### (?:BEGIN|END) SOLUTION\n?", re.MULTILINE)
READING = """\
Where each learner measures a different number or has a different broken cluster, the answer is the Python that computes
it from the learner's own Records, or that finds the fault as `beowulf study A2` does. Each learner's feedback page says
what was expected of that learner. A sealed prediction earns its half point for being in time, whatever it says.
`target_ms` is the time within which a program earns all points, `half_ms` the one within which it earns half of them.
Change a limit or points in the course's `course.toml`.

"""
SIGNS = {"tolerance_percent": " %", "tolerance": " in its unit"}
NO_ANSWER = "The notebook has no answer for it: the points are for what the Record holds."
PRINT_STYLE = "@media print { h1 { break-before: page; } h3 { break-after: avoid; } } pre { white-space: pre-wrap; }"


def chosen(name: str, course: Path | None = None) -> list[LabFile]:
    """The lab of that number or name, or all of them without one, as a course asks them."""
    slugs = [slug for slug in paths.labs() if name in ("", slug, slug[:2])]
    if not slugs:
        raise UsageError(f"There is no lab {name!r}.", f"There are: {', '.join(paths.labs())}.")
    return [lab_file.read(slug, course) for slug in slugs]


def _heading(lab: LabFile) -> str:
    points = sum(each.points for each in lab.questions.values())
    minutes = f"{lab.minutes:g} minutes of core, {points:g} points"
    return f"# Lab {lab.slug[:2]}: {lab.title}\n\n{lab.question} {minutes}.\n\n"


def _table(lab: LabFile, course: Path | None) -> str:
    lines = ["| question | points | by | section | what is asked |", f"|{' --- |' * 5}"]
    # A kit has no rubrics.
    ours = questions.scorers(lab.slug, course) if questions.has_rubric(lab.slug) else None
    for each in lab.questions.values():
        by = "" if ours is None else "program" if each.name in ours else "person"
        cells = (f"`{each.name}`", f"{each.points:g}", by, each.read, each.asks)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def key(labs: Sequence[LabFile], course: Path | None = None) -> str:
    """A page with each question, its points, what is asked, its tolerances and the author's answer."""
    parts = [_heading(lab) + _table(lab, course) + _answers(lab) for lab in labs]
    text = READING + "\n".join(parts)
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    title = f"Key of lab {', '.join(lab.slug[:2] for lab in labs)}"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{STYLE}{PRINT_STYLE}</style></head>"
        f"<body><main>{body}</main></body></html>\n"
    )


def _answers(lab: LabFile) -> str:
    parts, cells = [], solutions.cells(lab.slug)
    for each in lab.questions.values():
        worth = "1 point" if each.points == 1 else f"{each.points:g} points"
        answers = [_answer(cell) for cell in cells.get(each.name, [])] or [NO_ANSWER]
        parts.append(f"\n### {each.name}, {worth}\n\n{each.asks}\n")
        parts += [f"\n{text}\n" for text in (*_limits(each), *answers)]
    return "".join(parts)


def _limits(question: QuestionTable) -> list[str]:
    """How far an answer may be from the right number, and the other numbers by which it is scored."""
    numbers = {
        name: f"{value:.9f}".rstrip("0").rstrip(".") for name, value in question.limits.items()
    }
    near = [f"{numbers[name]}{sign}" for name, sign in SIGNS.items() if name in numbers]
    others = [f"`{name}` = {number}" for name, number in numbers.items() if name not in SIGNS]
    found = [f"A number is right within {', or '.join(near)}."] if near else []
    return found + ([f"Limits: {', '.join(others)}."] if others else [])


def _answer(cell: Any) -> str:
    """A cell of the author's as Markdown, without the lines that mark what a learner does not get."""
    text = MARK.sub("", text_of(cell))
    return text if cell.cell_type == "markdown" else f"````python\n{text}\n````"
