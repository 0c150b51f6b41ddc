"""The answers of a class to one question, each beside its learner's plots: a page to read while points are typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import is_solution

from autograder.files import write_text
from autograder.grading.marking import Answer, Asked
from autograder.grading.safe_page import FIRST_BYTES, POLICY_TAG, markdown
from autograder.intake import log
from autograder.results.class_page import STYLE
from autograder.text import as_html

if TYPE_CHECKING:
    from autograder.course.course import Course

BESIDE = (
    ".two { display: grid; grid-template-columns: 3fr 2fr; gap: 2rem; } .items { list-style: lower-alpha; }"
    " @media (max-width: 50rem) { .two { display: block; } }"
)


def write(
    course: Course, slug: str, asked: Asked, answers: Sequence[Answer], *, names: bool = False
) -> Path:
    """Write the page into reports/SLUG, in the order of `answers`, with numbers in place of the learners' `names`."""
    question = answers[0].question
    parts = [
        _answer(course, slug, each, each.student if names else f"answer {number}")
        for number, each in enumerate(answers, 1)
    ]
    items = [
        f"<li>{as_html(f'{each.name} ({each.points:g}): {each.text}')}</li>" for each in asked.items
    ]
    model = (
        f'<ol class="items">{"".join(items)}</ol>' if items else f"<p>{as_html(asked.model)}</p>"
    )
    page = log.folder(course.folder, slug) / f"{question}.html"
    title = escape(f"{slug}: {question}")
    write_text(
        page,
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">{POLICY_TAG}'
        f"<title>{title}</title><style>{STYLE}{BESIDE}</style></head><body><main><h1>{title}</h1>"
        f"{markdown(asked.text)}{model}{''.join(parts)}</main></body></html>\n",
    )
    return page


def _answer(course: Course, slug: str, answer: Answer, who: str) -> str:
    cells = [
        cell
        for path in sorted((course.folder / "autograded" / answer.student / slug).glob("*.ipynb"))
        for cell in filter(is_solution, nbformat.read(path, as_version=4).cells)
    ]
    # Grading has made HTML of Markdown, with the pictures that were pasted into it.
    texts = {c.metadata.nbgrader.grade_id: c.source for c in cells if c.cell_type == "markdown"}
    text = texts.get(answer.question, markdown(answer.text))
    figures = "".join(f"<li>{as_html(each)}</li>" for each in answer.figures)
    plots = "".join(
        f'<p><img src="data:{kind};base64,{data}" alt="A plot of this learner"></p>'
        for kind, data in _plots(cells)
    )
    return (
        f'<h2>{as_html(who)}</h2><div class="two"><div>{text}</div>'
        f"<div>{plots}<ul>{figures}</ul></div></div>"
    )


def _plots(cells: Sequence[NotebookNode]) -> Iterator[tuple[str, Any]]:
    """The pictures that a learner's answer cells drew, as grading left them."""
    for output in (each for cell in cells for each in cell.get("outputs", ())):
        for kind in FIRST_BYTES.keys() & output.get("data", {}).keys():
            yield kind, output.data[kind]
