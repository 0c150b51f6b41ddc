"""How a course begins: its folder, nbgrader's configuration and database, the exchange, the labs, the roster."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from pathlib import Path

from nbformat import v4

from autograder.cells import new_cell
from autograder.course import limits, release, roster
from autograder.course.course import CONFIGURATION, Course
from autograder.evidence import variants
from autograder.evidence.variants import KEY, WORDS
from autograder.files import locked, write_text
from beowulf.errors import LabError, UsageError

_TEMPLATE = '''"""nbgrader's configuration of this course. Its own commands work in this folder."""

from pathlib import Path

from autograder import settings

c = get_config()  # noqa: F821, nbgrader defines it
settings.apply(c)

c.CourseDirectory.course_id = {course_id!r}
c.Exchange.root = {exchange}
# This is on top of every lab that you release; write there what your class has to know.
c.IncludeHeaderFooter.header = "source/{header}"
'''
HEADER = "header.ipynb"
_ON_TOP = """**{course_id}** · Hand in the whole folder of this lab: this notebook under the name that it
has, and the folder `records/` beside it with what you measured. The points come from both."""

_NOT_FOR_GIT = """# The secret, names, points, and what learners hand in. source/ and the configuration may go into git.
/course.key
*.csv
*.log
/gradebook.db
/.grading
/exchange/
/submitted/
/autograded/
/feedback/
/reports/
__pycache__/
"""


def make_course(
    folder: Path,
    course_id: str = "beowulf",
    exchange: Path | None = None,
    learners: Path | None = None,
    *,
    codes: bool = False,
) -> Course:
    """Make a course with every lab in `folder`, or add the labs and `learners` that a course there lacks.

    `learners` is a CSV file. With `codes`, a new course has a personal code for each of them; a class that has begun
    without goes on without. LabError when the folder or the file is none to use; calling it again
    continues where it stopped.
    """
    if not re.fullmatch(r"[A-Za-z0-9._-]+", course_id):
        raise UsageError(
            f"{course_id!r} cannot be the name of a course.", "Use letters and digits."
        )
    # Before anything is made: a wrong file can then be fixed and given again.
    students = roster.read(learners) if learners else []
    course = Course(folder)
    begins = _configure(course, course_id, exchange)
    with locked(course.folder):
        _make_exchange(Path(course.api.exchange_root))
        _add_labs(course)
        _add_header(course)
        _add_key(course)
        gives_codes = bool(students) and (has_codes(course) or (begins and codes))
        limited = (
            limits.TEXT.replace("codes = false", "codes = true") if gives_codes else limits.TEXT
        )
        for name, text in ((limits.FILE, limited), (".gitignore", _NOT_FOR_GIT)):
            if not (course.folder / name).exists():
                write_text(course.folder / name, text)
        with course.gradebook() as book:  # opening it makes it
            roster.enrol(book, students)
            enrolled = roster.enrolled(book)
        if gives_codes:
            emails = {each.id: each.email for each in enrolled}
            variants.issue(course.folder, [each.id for each in students], emails)
        if learners:
            # With it, a sender who is not on the roster is unknown.
            write_text(course.folder / roster.FILE, learners.read_text(encoding="utf-8-sig"))
    return course


def has_codes(course: Course) -> bool:
    """Whether a course gave out personal codes."""
    return (course.folder / WORDS).exists()


def _configure(course: Course, course_id: str, exchange: Path | None) -> bool:
    """Write the configuration of a new course; whether it is one."""
    if (course.folder / CONFIGURATION).exists():
        return False
    if course.folder.exists() and (not course.folder.is_dir() or any(course.folder.iterdir())):
        raise LabError(
            f"{course.folder} exists but is not a course.", "Choose a new or an empty folder."
        )
    # Answers and points are in it, so other users of this machine may not look in.
    course.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    where = 'str(Path(__file__).parent / "exchange")'
    if exchange is not None:
        # Before the configuration names it: a wrong one can then be given again.
        _make_exchange(exchange.absolute())
        where = repr(str(exchange.absolute()))
    text = _TEMPLATE.format(course_id=course_id, exchange=where, header=HEADER)
    write_text(course.folder / CONFIGURATION, text)
    return True


def _add_header(course: Course) -> None:
    path = course.folder / "source" / HEADER
    if not path.exists():
        text = _ON_TOP.format(course_id=course.api.course_id)
        cells = [new_cell("markdown", text, id="course-header")]
        write_text(path, release.as_text(v4.new_notebook(cells=cells)))


def _add_key(course: Course) -> None:
    """Make the course's secret, which only its owner may read and which is never changed.

    Where words were given out, another secret would make all of them wrong.
    """
    if (course.folder / KEY).exists() or (course.folder / WORDS).exists():
        return
    fresh = course.folder / f".{KEY}.new"
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(32) + "\n")
    os.replace(fresh, course.folder / KEY)


def _make_exchange(root: Path) -> None:
    if not root.exists():
        root.mkdir(parents=True)
        # nbgrader requires that all users may write there. None may put another course in the place of ours.
        root.chmod(0o1777)


def _add_labs(course: Course) -> None:
    """Put every lab that is not there into the course's source folder, each one whole or not."""
    for slug, source in release.sources().items():
        folder = course.folder / "source" / slug
        if folder.exists():
            continue
        text = release.as_text(release.instructor_version(source))
        fresh = folder.with_name(f".{slug}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        (fresh / source.with_suffix(".ipynb").name).write_text(text, encoding="utf-8")
        for file in release.companions(slug):
            (fresh / file.name).write_bytes(file.read_bytes())
        fresh.rename(folder)
