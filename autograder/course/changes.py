"""What a course changes of a lab's questions, written wherever points are printed: nobody types a sum.

`course.toml` has other points, and questions of the course's own. Releasing a lab brings the course's notebook and
handout up to them; an own question that the notebook lacks gets its cells, for the instructor to go on from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import is_grade

from autograder.cells import new_cell
from autograder.course import points_in_texts, release
from autograder.files import write_text
from autograder.rubrics import questions
from beowulf import paths
from beowulf.course import lab_file
from beowulf.course.lab_file import QuestionTable
from beowulf.errors import LabError

Questions = Mapping[str, QuestionTable]
PRINTED = re.compile(r"\*\*Question `([a-z0-9-]+)`\*\* \(([0-9.]+) points?\b")
HEADING = "Questions of your course"
_MARKS = release.PLAIN_MARKS | {"schema_version": release.SCHEMA_VERSION}


def write(course: Path, slug: str, *, begun: bool = False) -> list[str]:
    """Bring a course's source of a lab up to its lab.toml and course.toml; what is another now, a sentence each.

    LabError when one of these is wrong, or asks a new question of a class that has `begun` to be graded.
    """
    folder = course / "source" / slug
    notebooks = {path: nbformat.read(path, as_version=4) for path in sorted(folder.glob("*.ipynb"))}
    if slug not in paths.labs() or not notebooks:
        return []
    asked = lab_file.read(slug, course).questions
    before = {path: release.as_text(notebook) for path, notebook in notebooks.items()}
    said = [each for notebook in notebooks.values() for each in _new_points(notebook, asked)]
    said += _add_own(course, slug, asked, list(notebooks.values()), begun)
    text = "\n\n".join(_texts(notebook) for notebook in notebooks.values())
    by_kind = points_in_texts.points_by_kind(text, asked)
    for path, notebook in notebooks.items():
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = PRINTED.sub(lambda match: _printed(match, asked), cell.source)
                if "**Points** " in cell.source:
                    cell.source = points_in_texts.with_sums(cell.source, by_kind, asked)
        if (after := release.as_text(notebook)) != before[path]:
            write_text(path, after)
    handout = folder / "README.md"
    if handout.is_file():
        text = handout.read_text(encoding="utf-8")
        if (after := points_in_texts.with_sums(text, by_kind, asked)) != text:
            write_text(handout, after)
    return said


def _texts(notebook: NotebookNode) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def _new_points(notebook: NotebookNode, asked: Questions) -> Iterator[str]:
    for cell in filter(is_grade, notebook.cells):
        marks = cell.metadata.nbgrader
        table = asked.get(marks.grade_id)
        if table and table.points != marks.points:
            yield f"{table.name}: {points(table.points)}, and not {marks.points:g} as before."
            marks.points = table.points


def _printed(match: re.Match[str], asked: Questions) -> str:
    table = asked.get(match[1])
    return f"**Question `{match[1]}`** ({points(table.points)}" if table else match[0]


def points(number: float) -> str:
    """A number of points, as texts have it."""
    return f"{number:g} {'point' if number == 1 else 'points'}"


def _add_own(
    course: Path, slug: str, asked: Questions, notebooks: list[NotebookNode], begun: bool
) -> Iterator[str]:
    """Add cells for the course's own questions that no notebook has."""
    usual = lab_file.read(slug).questions
    there = {
        cell.metadata.nbgrader.grade_id
        for each in notebooks
        for cell in filter(is_grade, each.cells)
    }
    scored = questions.scorers(slug, course)
    cells = notebooks[0].cells
    for name, table in asked.items():
        if name in usual or name in there:
            continue
        if begun:
            raise LabError(
                f"{table.where}: {name} is new, but hand-ins of {slug} have already been graded.",
                f"Delete this table from course.toml; then `beowulf class release {slug[:2]}` and grading work again."
                " Ask the question in a lab of which nothing has been graded yet.",
            )
        if not any(HEADING in cell.source for cell in cells):
            numbers = re.findall(r"^## ([0-9]+) ", _texts(notebooks[0]), re.MULTILINE)
            number = 1 + max(map(int, numbers), default=0)
            text = f"## {number} {HEADING}\n\n*Core, 10 minutes*"
            cells.append(new_cell("markdown", text, id="own-questions"))
        cells.extend(_program_reads(table) if name in scored else _person_reads(table))
        yield f"{name} is at the end of the notebook in source/{slug}: write its text and its answer there."


def _person_reads(table: QuestionTable) -> list[NotebookNode]:
    text = f"**Question `{table.name}`** ({points(table.points)}, read by a person). {table.asks}"
    answer = (
        f"### BEGIN SOLUTION\n**What to look for ({points(table.points)}).** …\n### END SOLUTION"
    )
    marks = _MARKS | {"grade_id": table.name, "grade": True, "solution": True}
    return [
        new_cell("markdown", text, id=f"{table.name}-asks"),
        _marked("markdown", answer, marks | {"points": table.points}),
    ]


def _program_reads(table: QuestionTable) -> list[NotebookNode]:
    text = f"**Question `{table.name}`** ({points(table.points)}). {table.asks}"
    answer = table.name.replace("-", "_")
    source = f"{answer} = None\n### BEGIN SOLUTION\n{answer} = ...\n### END SOLUTION"
    locked = _MARKS | {"grade_id": table.name, "grade": True, "locked": True}
    return [
        new_cell("markdown", text, id=f"{table.name}-asks"),
        _marked("code", source, _MARKS | {"grade_id": f"{table.name}-answer", "solution": True}),
        _marked("code", f'lab.form({answer}, "number")', locked | {"points": table.points}),
    ]


def _marked(kind: str, source: str, marks: dict[str, Any]) -> NotebookNode:
    return new_cell(kind, source, id=marks["grade_id"], metadata={"nbgrader": marks})
