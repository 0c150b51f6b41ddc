"""Grades for elsewhere: nbgrader's own CSV, and what Canvas and Moodle import; as nbgrader's export plug-ins.

`nbgrader export --exporter=autograder.results.export.Canvas` does the same as `beowulf class export --format canvas`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from nbgrader.api import MissingEntry
from nbgrader.plugins import ExportPlugin
from traitlets import Dict, Unicode

from autograder.course import limits
from autograder.files import as_csv, write_text
from autograder.grading import lateness
from autograder.grading import points as class_points
from beowulf.errors import LabError


class Table(ExportPlugin):  # type: ignore[misc]
    """What the three have in common: learners, labs, points, a file that is written completely."""

    usual = "grades.csv"
    # What there is to say of the file: its learners, cells without points, late hand-ins that it says nothing of.
    learners = gaps = late = 0

    def export(self, gradebook: Any) -> None:
        """Write the file, for the chosen labs and learners only."""
        path = Path(self.to or self.usual)
        write_text(path, as_csv(self.rows(gradebook)))
        self.log.info("Grades are in %s", path)

    def rows(self, gradebook: Any) -> Iterator[list[Any]]:
        """The lines."""
        raise NotImplementedError

    def assignments(self, gradebook: Any) -> list[Any]:
        """The labs to export, by their names, without those that the course leaves out."""
        every = _chosen(gradebook.assignments, "name", self.assignment)
        if self.parent is None:
            return every
        course = Path(self.parent.coursedir.root)
        return [each for each in every if not limits.of_course(str(each.name), course).left_out]

    def students(self, gradebook: Any) -> list[Any]:
        """The learners to export, by their IDs."""
        return _chosen(gradebook.students, "id", self.student)

    def _late(self, slug: str) -> dict[str, str]:
        """What is to be said about each late hand-in of a lab."""
        if self.parent is None:
            return {}
        course = Path(self.parent.coursedir.root)
        students = [path.parent.name for path in course.glob(f"submitted/[!.]*/{slug}")]
        every = lateness.of_class(course, slug, students)
        return {student: each.says for student, each in every.items() if each.says}


def _chosen(every: Iterable[Any], name: str, chosen: Iterable[Any]) -> list[Any]:
    names = {str(each) for each in chosen}
    some = [each for each in every if not names or getattr(each, name) in names]
    return sorted(some, key=lambda each: str(getattr(each, name)))


class Grades(Table):
    """A line for each learner and lab, in the columns of nbgrader's own export and `late`, with quotes where needed."""

    def rows(self, gradebook: Any) -> Iterator[list[Any]]:
        """The lines; a learner who handed in nothing has 0 points, as nbgrader counts."""
        yield [
            *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name"),
            *("email", "raw_score", "late_submission_penalty", "score", "max_score", "late"),
        ]
        for assignment in self.assignments(gradebook):
            late = self._late(str(assignment.name))
            students = self.students(gradebook)
            self.learners = len(students)
            for student in students:
                submission = submission_of(gradebook, assignment, student)
                raw = float(submission.score) if submission else 0.0
                penalty = submission.late_submission_penalty if submission else 0.0
                due = (submission or assignment).duedate if assignment.duedate else None
                yield [
                    *(assignment.name, due, submission and submission.timestamp),
                    *(student.id, student.last_name, student.first_name, student.email),
                    *(raw, penalty, max(0.0, raw - (penalty or 0.0)), assignment.max_score),
                    late.get(str(student.id), ""),
                ]


class ForImport(Table):
    """What Canvas' and Moodle's files have in common: an empty cell would clear the grade that is there.

    So a learner without points in any of the labs is left out, and so is a lab in which no learner has points.
    """

    def graded(self, gradebook: Any) -> tuple[list[Any], list[tuple[Any, list[str]]]]:
        """The labs in which a learner has points; and the learners with points, in each of these labs."""
        assignments = self.assignments(gradebook)
        every = [
            (student, [points_of(gradebook, each, student) for each in assignments])
            for student in self.students(gradebook)
        ]
        columns = [n for n in range(len(assignments)) if any(points[n] for _, points in every)]
        lines = [
            (student, [points[n] for n in columns]) for student, points in every if any(points)
        ]
        self.learners = len(lines)
        # Cells that are empty all the same, because a learner has points in another lab.
        self.gaps = sum(not each for _, points in lines for each in points)
        return [assignments[n] for n in columns], lines


class Canvas(ForImport):
    """A line for each learner as Canvas' gradebook imports it, with a column for each lab."""

    usual = "canvas.csv"
    columns = Dict(
        {},
        help="Canvas' own heading of a lab's column, as its export shows it:"
        ' {"01-validation": "Validation (4711)"}. Without it Canvas takes its assignment that is'
        " called 01-validation, or offers to make one.",
    ).tag(config=True)
    section = Unicode("", help="The text in the column Section.").tag(config=True)

    def rows(self, gradebook: Any) -> Iterator[list[Any]]:
        """The lines; Canvas finds a learner by its own number, or else by the login, or else by the name."""
        assignments, lines = self.graded(gradebook)
        titles = [self.columns.get(each.name, each.name) for each in assignments]
        yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles]
        for late in (self._late(str(each.name)) for each in assignments):
            self.late += sum(str(student.id) in late for student, _ in lines)
        most = [number(each.max_score) for each in assignments]
        yield ["    Points Possible", "", "", "", "", *most]
        for student, points in lines:
            name = ", ".join(filter(None, (student.last_name, student.first_name))) or student.id
            yield [name, student.lms_user_id, "", student.id, self.section, *points]


class Moodle(ForImport):
    """A line for each learner as Moodle's gradebook imports it, with a column for each lab.

    A lab with a late hand-in has another one, which Moodle imports as the feedback of the grade.
    """

    usual = "moodle.csv"

    def rows(self, gradebook: Any) -> Iterator[list[Any]]:
        """The lines; when Moodle imports them, it asks which column identifies a learner."""
        assignments, lines = self.graded(gradebook)
        names = [str(each.name) for each in assignments]
        late = {f"{name} (late)": says for name in names if (says := self._late(name))}
        yield ["Username", "First name", "Last name", "Email address", *names, *late]
        for student, points in lines:
            who = [student.id, student.first_name, student.last_name, student.email]
            yield [*who, *points, *(says.get(str(student.id), "") for says in late.values())]


FORMATS: dict[str, type[Table]] = {"nbgrader": Grades, "canvas": Canvas, "moodle": Moodle}


def write(course: Any, form: str, to: Path | None, slugs: list[str]) -> Table:
    """Write the grades of these labs in one of the FORMATS; what is to be said about the file is in its plug-in."""
    plugin = FORMATS[form](parent=course.api)
    plugin.assignment = slugs
    plugin.to = str(to or course.folder / plugin.usual)
    with course.gradebook() as book:
        labs = {str(each.name) for each in book.assignments}
        if missing := [slug for slug in slugs if slug not in labs]:
            raise LabError(f"{missing[0]} has not been released yet, so it has no grades.")
    lateness.refresh(course, slugs or sorted(labs & set(course.labs)))
    with course.gradebook() as book:
        plugin.export(book)
    return plugin


def submission_of(gradebook: Any, assignment: Any, student: Any) -> Any:
    """A learner's submission of a lab in nbgrader's database; None when nothing was graded."""
    try:
        return gradebook.find_submission(assignment.name, student.id)
    except MissingEntry:
        return None


def points_of(gradebook: Any, assignment: Any, student: Any) -> str:
    """The points of a learner in a lab, late penalty taken off; "" when nothing was graded."""
    submission = submission_of(gradebook, assignment, student)
    if submission is None:
        return ""
    return number(max(0.0, float(submission.score) - (submission.late_submission_penalty or 0.0)))


def number(value: float) -> str:
    """Points without a needless .0, and without what adding up leaves in the tenth digit."""
    return f"{round(float(value or 0), 6):.12g}"


def waiting(course: Any, slugs: list[str]) -> str:
    """What the points lack because a person has not graded it, in a few words; "" when nothing."""
    waits_by_lab = []
    for slug in slugs or filter(course.submitted, course.labs):
        with suppress(LabError):  # what was not released has no points either
            waits = len(class_points.gather(course, slug).waiting)
            waits_by_lab += [f"{waits} of {slug}"] if waits else []
    return ", ".join(waits_by_lab)
