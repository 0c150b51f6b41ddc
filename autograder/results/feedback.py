"""What a learner gets back: the page with points and reasons, and no other file."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_task

from autograder.cells import new_cell
from autograder.grading.one_submission import Outcome
from autograder.grading.safe_page import POLICY_TAG
from autograder.grading.workers import Workers
from autograder.rubrics.score import MIME_TYPE
from autograder.text import as_html
from beowulf import paths
from beowulf.errors import UsageError
from beowulf.progress import Progress, no_progress

if TYPE_CHECKING:
    from autograder.course.course import Course

# nbgrader's own: they tell it to which hand-in a page belongs, and which learner may see it.
STAY_BESIDE = {"timestamp.txt", "submission_secret.txt"}
BY_HAND = "Your instructor graded this."
NOT_MADE = "The page could not be made"
LONGEST_PAGE_S = 600.0
# The page's own style is nbgrader's.
CELL = 'style="text-align:left; vertical-align:top; padding:0.3em 1em 0.3em 0; border-top:1px solid #ddd"'
# Which lets the columns of a study's tables touch, and pictures stick out.
LOOK = (
    "<style>img { max-width: 100%; height: auto; }"
    " td, th { padding: 0.1em 0.8em 0.1em 0; vertical-align: top; }</style>"
)
# The name of a Record is longer than a narrow column.
TEXT = CELL.removesuffix('"') + '; overflow-wrap:anywhere; width:30%"'
_SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL | re.IGNORECASE)
WAITS = "Your instructor has not graded this yet."


@dataclass(frozen=True)
class Page:
    """The page of one learner, or the `problem` why it was not made."""

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
            raise UsageError(f"{student} was not graded in {slug} yet.")
    chosen = list(students or graded)
    if not chosen:
        return

    def work(student: str) -> Outcome:
        logging.disable(logging.NOTSET)  # the reason is read from what nbgrader logs
        return Outcome(student, problem=course.nbgrader_feedback(slug, student))

    _ = course.api  # read once, and not by each process
    with Workers(work, min(jobs, len(chosen)), LONGEST_PAGE_S, NOT_MADE) as workers:
        for done, outcome in enumerate(workers.run(chosen)):
            progress(done, len(chosen), outcome.student)
            if outcome.problem:
                yield Page(outcome.student, problem=outcome.problem)
            else:
                place = course.folder / "feedback" / outcome.student / slug
                yield Page(outcome.student, tuple(sorted(place.glob("*.html"))))


class AddSummary(NbGraderPreprocessor):  # type: ignore[misc]
    """Puts a table on top of the page: for each question the points, the answer, what was expected, where to read."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook with the table before its first cell; it needs the points from GetGrades."""
        about = resources["nbgrader"]
        with Gradebook(about["db_url"]) as book:
            rows = [
                _row(cell, _grade(book, cell, about))
                for cell in nb.cells
                if is_grade(cell) or is_task(cell)
            ]
        if rows and about["assignment"] in paths.labs():
            nb.cells.insert(0, new_cell("markdown", _table(rows), id="beowulf-summary"))
        return nb, resources


def _grade(book: Any, cell: NotebookNode, about: dict[str, Any]) -> Any:
    name = cell.metadata.nbgrader.grade_id
    try:
        return book.find_grade(name, about["notebook"], about["assignment"], about["student"])
    except MissingEntry:
        return None


def _row(cell: NotebookNode, grade: Any) -> list[str]:
    marks = cell.metadata.nbgrader
    score = _score(cell)
    found, expected, read = (str(score.get(name, "")) for name in ("found", "expected", "read"))
    by_hand = grade is not None and grade.manual_score is not None
    waits = grade is not None and grade.needs_manual_grade and not by_hand
    if waits:
        found = WAITS
    elif by_hand:
        found, expected = f"{BY_HAND} {found}".strip(), ""
    if comment := marks.get("comment"):
        found = f"{found} {comment}".strip()
    points = "–" if waits else f"{float(marks.get('score') or 0):g}"
    return [
        str(marks.grade_id),
        f"{points} of {float(marks.get('points') or 0):g}",
        found,
        expected,
        read,
    ]


def _score(cell: NotebookNode) -> dict[str, Any]:
    for output in cell.get("outputs", ()):
        score = output.get("data", {}).get(MIME_TYPE)
        if isinstance(score, dict):
            return score
    return {}


def _table(rows: list[list[str]]) -> str:
    # One line, because Markdown takes what is after an empty line for text of its own.
    head = "".join(
        f'<th scope="col" {CELL}>{name}</th>'
        for name in ("Question", "Points", "Found", "Expected", "Where to read")
    )
    body = "".join(
        f'<tr><th scope="row" {CELL}><a href="#{escape(row[0], quote=True)}">'
        f"{as_html(row[0])}</a></th>"
        f"<td {CELL}>{as_html(row[1])}</td>"
        + "".join(f"<td {TEXT}>{as_html(text)}</td>" for text in row[2:4])
        + f"<td {CELL}>{as_html(row[4])}</td></tr>"
        for row in rows
    )
    caption = "<caption>Your points, question by question</caption>"
    return f"{LOOK}<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def finish_pages(assignment: str, student: str, notebooks: Iterable[str]) -> None:
    """Forbid the pages to run or fetch anything, and remove from feedback/ what nbgrader copied beside them.

    nbgrader calls this for each learner, in the course's folder, with the autograded `notebooks`.
    `assignment` and `student` may be patterns, so that the names are read from the paths. What is
    beside the pages of an assignment that is not one of our labs stays.
    """
    for folder in {Path(notebook).parent for notebook in notebooks}:
        place = Path("feedback", folder.parent.name, folder.name)
        if folder.name in paths.labs():
            _clear(place)
        for page in place.glob("*.html"):
            page.write_text(inert(page.read_text(encoding="utf-8")), encoding="utf-8")


def inert(page: str) -> str:
    """A page of nbgrader's without its scripts, and with a policy that allows none."""
    without = _SCRIPT.sub("", page)
    return without.replace("<head>", f"<head>{POLICY_TAG}", 1)


def _clear(place: Path) -> None:
    # The deepest first, so that a folder is empty when its turn comes.
    for path in sorted(place.rglob("*"), reverse=True):
        if path.is_symlink() or not path.is_dir():
            if path.parent != place or not (path.suffix == ".html" or path.name in STAY_BESIDE):
                path.unlink()
        elif not any(path.iterdir()):
            path.rmdir()
