"""What a learner gets back: the page with points and reasons, and no other file."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.filters import Highlight2HTML
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution, is_task

from autograder.cells import new_cell, node
from autograder.course import dates
from autograder.course.course import folder_of
from autograder.grading import lateness, marking, workers
from autograder.grading.one_submission import Outcome
from autograder.grading.safe_page import POLICY_TAG, markdown
from autograder.rubrics.score import Score, score_in, score_of
from autograder.text import as_html
from beowulf import paths
from beowulf.course import lab_file
from beowulf.errors import UsageError
from beowulf.this_machine.progress import Progress, no_progress

if TYPE_CHECKING:
    from autograder.course.course import Course

# nbgrader's own: they tell it to which hand-in a page belongs, and which learner may see it.
STAY_BESIDE = {"timestamp.txt", "submission_secret.txt"}
BY_HAND = "Your instructor graded this."
NOT_MADE = "The page could not be made"
LONGEST_PAGE_S = 600.0
# The page's own style is nbgrader's.
CELL = 'style="text-align:left; vertical-align:top; padding:0.3em 1em 0.3em 0; border-top:1px solid #ddd"'
# Which lets the columns of a study's tables touch, pictures stick out, and some text have too little contrast.
LOOK = (
    "<style>img { max-width: 100%; height: auto; }"
    " td, th { padding: 0.1em 0.8em 0.1em 0; vertical-align: top; }"
    " .points { overflow-x: auto; } .points table { min-width: 48em; } h2 { overflow-wrap: anywhere; }"
    " caption { color: #595959; } .highlight .c1 { color: #2f6060; } .highlight .ow { color: #8a14d6; }"
    " .highlight .ne { color: #a8322c; }"
    " .panel-heading a { color: #fff !important; text-decoration: underline; }"
    " .output_subarea pre, .highlight pre { white-space: pre-wrap; overflow-wrap: anywhere; }</style>"
)
# The name of a Record is longer than a narrow column.
TEXT = CELL.removesuffix('"') + '; overflow-wrap:anywhere; width:30%"'
_SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL | re.IGNORECASE)
# nbgrader's heading and its list of "Test cell", which has no names; of ours the table is at the same place.
_CONTENTS = re.compile(
    r'<div class="panel-heading">\s*<h4>[^<]*</h4>\s*<div id="toc">.*?</div>\s*</div>', re.DOTALL
)
_UNDESCRIBED = re.compile(r"<img\b(?![^>]*\balt=)")
WAITS = "Your instructor has not graded this yet."
NOT_YET = "What was expected will be on a later page, when nobody works on this lab any more."
AS_SAVED = (
    "The points come from your Records, answers and sources. The outputs are as you saved them:"
    " nothing was run again."
)


@dataclass(frozen=True)
class Page:
    """The page of one learner, or the `problem` that kept it from being made."""

    student: str
    files: tuple[Path, ...] = ()
    problem: str = ""


def generate(
    course: Course,
    slug: str,
    students: Collection[str] | None = None,
    progress: Progress = no_progress,
    *,
    jobs: int = 1,
) -> Iterator[Page]:
    """Make the pages of all graded learners, by nbgrader, `jobs` at a time; one that fails stops no other.

    Each learner's folder is written by one process, and no process writes into the gradebook.
    """
    graded = course.graded_students(slug)
    for student in students or ():
        if student not in graded:
            raise UsageError(f"{student} has not been graded in {slug} yet.")
    chosen = list(students or graded)
    if not chosen:
        return

    def work(student: str) -> Outcome:
        logging.disable(logging.NOTSET)  # the reason is read from what nbgrader logs
        return Outcome(student, problem=course.nbgrader_feedback(slug, student))

    lateness.refresh(course, [slug])
    _ = course.api  # read once, and not by each process
    outcomes = workers.run(work, chosen, jobs, LONGEST_PAGE_S, NOT_MADE)
    for done, outcome in enumerate(outcomes):
        progress(done, len(chosen), outcome.student)
        place = course.folder / "feedback" / outcome.student / slug
        files = () if outcome.problem else tuple(sorted(place.glob("*.html")))
        yield Page(outcome.student, files, outcome.problem)


class PageExporter(HTMLExporter):
    """nbconvert's, for many pages: templates are compiled once a process, and no page is parsed again."""

    _compiled: ClassVar[Any] = None

    @property
    def environment(self) -> Any:
        """Jinja's environment, which all pages of this process share."""
        if PageExporter._compiled is None:
            PageExporter._compiled = super().environment
        return PageExporter._compiled

    def from_notebook_node(  # type: ignore[override]
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **more: Any
    ) -> tuple[str, dict[str, Any]]:
        """The page of a notebook; a picture without a description says that it is one."""
        mine: Any = self  # nbconvert has no types
        known = mine._init_resources(resources)
        # What an earlier page left there is that page's.
        self.environment.filters |= dict(mine.default_filters()) | {
            "highlight_code": Highlight2HTML(pygments_lexer="ipython3", parent=self),
            "filter_data_type": WidgetsDataTypeFilter(
                notebook_metadata={}, parent=self, resources=known
            ),
        }
        page, known = TemplateExporter.from_notebook_node(self, nb, known, **more)
        return _UNDESCRIBED.sub('<img alt="What the cell drew"', page), known


class AddSummary(NbGraderPreprocessor):  # type: ignore[misc]
    """Puts on top of the page: the points in all, a table of the questions, the written answers with what they earned.

    At its end are the sections of the handout that the table sends to.
    """

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook with a cell before its first one; it needs the points from GetGrades and what KeepSafe left."""
        about = resources["nbgrader"]
        slug, student = about["assignment"], about["student"]
        course = folder_of(Path(resources["metadata"]["path"]))
        changed = marking.reasons(course, slug, student) if course else {}
        graded = [cell for cell in nb.cells if is_grade(cell) or is_task(cell)]
        with Gradebook(about["db_url"]) as book:
            entered = book.find_submission_notebook(about["notebook"], slug, student).grades
            grades = {grade.name: grade for grade in entered}
            rows = [_row(cell, grades[cell.metadata.nbgrader.grade_id], changed) for cell in graded]
        if not rows or slug not in paths.labs():
            return nb, resources
        late = lateness.of_class(course, slug, [student])[student].says if course else ""
        last = dates.of_lab(course, slug).last if course else None
        later_on = ""
        if last and last > datetime.now(UTC):
            later_on = NOT_YET
            rows = [replace(row, expected="") for row in rows]
            _hide_expected(graded)
        sections = _sections(each.read for each in rows)
        written = [(row, cell) for row, cell in zip(rows, graded, strict=True) if is_solution(cell)]
        title = f"Lab {slug[:2]}: {lab_file.read(slug).title}"
        # The points in all, by nbgrader's own count.
        reached = f"<strong>{about['score']:g} of {about['max_score']:g} points</strong>"
        waits = sum(row.of for row in rows if row.points is None)
        later = f", of which {waits:g} are still to be given by your instructor" if waits else ""
        top = (
            f"{LOOK}<h1>{as_html(title)}</h1><p>{reached}{later}.</p>"
            f"{_paragraph(late)}{_paragraph(later_on)}{_table(rows, sections)}{_paragraph(AS_SAVED)}{_written(written)}"
        )
        nb.cells.insert(0, new_cell("markdown", top, id="beowulf-summary"))
        if sections:
            texts = (
                f'<h2 id="{each.anchor}">{as_html(each.where)}</h2>{markdown(each.text)}'
                for each in sections.values()
            )
            end = f"<h1>Where to read</h1>{''.join(texts)}"
            nb.cells.append(new_cell("markdown", end, id="beowulf-read"))
        return nb, resources


@dataclass(frozen=True)
class _Row:
    """One line of the table."""

    question: str
    points: float | None  # None: it waits
    of: float
    found: str
    expected: str
    read: str
    comment: str = ""

    @property
    def reached(self) -> str:
        return f"{'–' if self.points is None else f'{self.points:.3g}'} of {self.of:g}"


@dataclass(frozen=True)
class _Section:
    """A section of a handout, in the page itself, so that a link to it needs no network and no checkout."""

    anchor: str
    where: str
    text: str


def _sections(wanted: Iterable[str]) -> dict[str, _Section]:
    """The sections that these texts name (`labs/NN-slug/README.md, HEADING`), each once."""
    found: dict[str, _Section] = {}
    for read in wanted:
        place, _, heading = read.partition(", ")
        slug = place.removeprefix("labs/").removesuffix("/README.md")
        if read in found or slug not in paths.labs() or not heading:
            continue
        handout = (paths.labs()[slug] / "README.md").read_text(encoding="utf-8")
        for part in handout.split("\n## ")[1:]:
            title, _, text = part.partition("\n")
            if heading in (title, title.partition(" ")[2]):
                found[read] = _Section(f"read-{len(found) + 1}", read, text)
                break
    return found


def _hide_expected(cells: Iterable[NotebookNode]) -> None:
    """Leave out of the outputs of test cells what was expected."""
    for cell in cells:
        for output in cell.get("outputs", ()):
            if score := score_in(output.get("data", {})):
                output.data = node(replace(score, expected="").as_output())


def _paragraph(text: str) -> str:
    return f"<p>{as_html(text)}</p>" if text else ""


def _written(answers: list[tuple[_Row, NotebookNode]]) -> str:
    """What the learner wrote for a person to read, each with its points and the person's comment."""
    if not answers:
        return ""
    # KeepSafe has made HTML of Markdown; of code, the text.
    parts = [
        f'<h3 id="written-{escape(row.question, quote=True)}">{as_html(row.question)}: {row.reached}</h3>'
        + (cell.source if cell.cell_type == "markdown" else f"<p>{as_html(cell.source)}</p>")
        + f"<p><strong>Your instructor:</strong> {as_html(row.comment)}</p>" * bool(row.comment)
        for row, cell in answers
    ]
    return f"<h2>Your written answers</h2>{''.join(parts)}"


def _row(cell: NotebookNode, grade: Any, changed: Mapping[str, str]) -> _Row:
    marks, of = cell.metadata.nbgrader, float(cell.metadata.nbgrader.get("points") or 0)
    score = score_of(cell) or Score(0.0, of, "")
    found, expected = score.found, score.expected
    by_hand = grade.manual_score is not None
    waits = grade.needs_manual_grade and not by_hand
    if waits:
        found = WAITS
    elif by_hand:
        found, expected = f"{changed.get(marks.grade_id, BY_HAND)} {found}".strip(), ""
    comment = str(marks.get("comment") or "")
    # nbgrader's template draws it as Markdown, and nbconvert stops at an attachment that is not there.
    marks.comment = comment.replace("attachment:", "attachment ")
    points = None if waits else float(marks.get("score") or 0)
    return _Row(str(marks.grade_id), points, of, found, expected, score.read, comment)


def _table(rows: list[_Row], sections: Mapping[str, _Section]) -> str:
    # One line, because Markdown takes what is after an empty line for text of its own.
    head = "".join(
        f'<th scope="col" {CELL}>{name}</th>'
        for name in ("Question", "Points", "Found", "Expected", "Where to read")
    )
    body = "".join(
        f'<tr><th scope="row" {CELL}><a href="#{escape(row.question, quote=True)}">'
        f"{as_html(row.question)}</a></th>"
        f"<td {CELL}>{as_html(row.reached)}</td>"
        f"<td {TEXT}>{as_html(f'{row.found} {row.comment}'.strip())}</td>"
        f"<td {TEXT}>{as_html(row.expected)}</td>"
        f"<td {CELL}>{_link(row.read, sections)}</td></tr>"
        for row in rows
    )
    name = "Your points, question by question"
    table = f"<table><caption>{name}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    # On a phone it is wider than the page.
    return f'<div class="points" role="region" aria-label="{name}" tabindex="0">{table}</div>'


def _link(read: str, sections: Mapping[str, _Section]) -> str:
    text = as_html(read)
    return f'<a href="#{sections[read].anchor}">{text}</a>' if read in sections else text


def finish_pages(assignment: str, student: str, notebooks: Iterable[str]) -> None:
    """Forbid the pages from running or fetching anything, and remove from feedback/ what nbgrader copied beside them.

    nbgrader calls this for each learner, in the course's folder, with the autograded `notebooks`.
    `assignment` and `student` may be patterns, so that the names are read from the paths. What is
    beside the pages of an assignment that is not one of our labs stays.
    """
    for folder in {Path(notebook).parent for notebook in notebooks}:
        place = Path("feedback", folder.parent.name, folder.name)
        ours = folder.name in paths.labs()
        if ours:
            _clear(place)
        for page in place.glob("*.html"):
            text = inert(page.read_text(encoding="utf-8"))
            page.write_text(_CONTENTS.sub("", text, count=1) if ours else text, encoding="utf-8")


def inert(page: str) -> str:
    """A page of nbgrader's without its scripts, and with a policy that allows none."""
    without = _SCRIPT.sub("", page)
    spoken = without.replace("<html>", '<html lang="en">', 1)
    return spoken.replace("<head>", f"<head>{POLICY_TAG}", 1)


def _clear(place: Path) -> None:
    # The deepest first, so that a folder is empty when its turn comes.
    for path in sorted(place.rglob("*"), reverse=True):
        if path.is_symlink() or not path.is_dir():
            if path.parent != place or not (path.suffix == ".html" or path.name in STAY_BESIDE):
                path.unlink()
        elif not any(path.iterdir()):
            path.rmdir()
