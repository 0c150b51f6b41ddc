"""Is everybody in the class who shall be, once, and found again under the names that an LMS gives them?"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from small_class import SLUG, enter, guests
from typer.testing import CliRunner

from autograder.commands import app
from autograder.course import roster
from autograder.course.course import Course
from autograder.course.create import make_course
from autograder.course.roster import Directory, Student
from autograder.evidence import variants
from autograder.grading import points
from autograder.intake import collection
from autograder.results import export
from beowulf.errors import LabError
from tests import gold


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "roster.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("id\nab12\ncd34\n", [Student("ab12"), Student("cd34")]),
        ("\ufeffID;First Name\n ab12 ;One\n\n", [Student("ab12", "One")]),
        (
            "First name,Surname,ID number,Email address\nOne,Tree,ab12,a@example.org\n",
            [Student("ab12", "One", "Tree", "a@example.org")],
        ),
        (
            "Student,ID,SIS User ID,SIS Login ID,Section,Lab (1)\n"
            "    Points Possible,,,,,20\n"
            '"Tree, One",77,x,ab12,A,\n"Student, Test",78,y,zz,A,\n',
            [Student("ab12", "One", "Tree", "", "77")],
        ),
        (
            "LastName,FirstName,ID,SIS User ID,SIS Login ID,Integration ID,Section,Lab (1)\n"
            "    Points Possible,,,,,,,20\n,,,,,,,Manual Posting\n"
            "Tree,One,77,x,ab12,,A,\nStudent,Test,78,y,zz,,A,\n",
            [Student("ab12", "One", "Tree", "", "77")],
        ),
        (
            "First name,Last name,ID number,Email address\nOne,Tree,,a@example.org\n",
            [Student("a@example.org", "One", "Tree", "a@example.org")],
        ),
    ],
)
def test_a_roster_of_ours_of_moodle_or_of_canvas_is_read(
    tmp_path: Path, text: str, wanted: list[Student]
) -> None:
    assert roster.read(written(tmp_path, text)) == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id\nab12\ncd34\nab12\n", "'ab12' is in line 2 and in line 4"),
        ("id,lms_user_id\nab12,7\ncd34,7\n", "LMS number '7' is in line 2 and in line 3"),
        ("id\n../etc\n", "begins or ends with a blank, a dot"),
        ("id,first_name\n,One\n", "is empty"),
        ("name\nab12\n", "no column with the learners' IDs"),
        ("id\nab12,more\n", "more columns"),
        (b"id,first_name\nab12,\xff\xfe\n", "not text in UTF-8"),
    ],
)
def test_a_roster_that_cannot_be_used_is_refused_by_a_sentence(
    tmp_path: Path, text: str | bytes, said: str
) -> None:
    with pytest.raises(LabError) as problem:
        roster.read(written(tmp_path, text))
    assert said in problem.value.message


CLASS = [
    Student("ab12", "Änne", "Tree", "a@example.org", "71"),
    Student("cd34", "Two", "Stone", "c@example.org", "72"),
    Student("ef56", "Two", "Stone", "", "73"),
]


def test_a_learner_is_found_under_every_name_and_nobody_is_guessed() -> None:
    known = Directory(CLASS, complete=True)
    for name in ("Änne Tree", "treeanne", "A@Example.org"):
        assert known.find(name) == ("ab12", "")
    assert known.find("stonetwo", "73") == ("ef56", "")
    assert known.find("Two Stone") == ("", "cd34, ef56 on the roster all have this name")
    assert known.find("stranger") == ("", "no learner on the roster has this name")
    assert known.find("Stone") == ("", "no learner on the roster has this name")
    nobody = Directory([], complete=False)
    assert nobody.find("new1") == ("new1", "")
    assert "only a roster" in nobody.find("treeanne", "71")[1]
    assert "only a roster" in nobody.find("Anne Tree", full_name=True)[1]
    assert "dot" in nobody.find(".ssh")[1]


@pytest.mark.nightly
def test_a_course_takes_learners_from_its_roster_and_adds_new_ones(
    course: Course, tmp_path: Path
) -> None:
    path = written(tmp_path, "id,first_name\nab12,One\ncd34,Two\n")
    make_course(course.folder, learners=path, codes=True)
    codes, kept = course.folder / variants.WORDS, course.folder / "roster.csv"
    assert not codes.exists()  # it has begun without
    variants.issue(course.folder, ["ab12", "cd34"])
    before = codes.read_text()
    make_course(course.folder, learners=written(tmp_path, "id\nef56\nab12\n"))
    assert codes.read_text().startswith(before)
    assert "ef56," in codes.read_text()
    codes.unlink()
    with course.gradebook() as book:
        found = {each.id: each.first_name for each in roster.enrolled(book)}
    assert {"ab12": "", "cd34": "Two", "ef56": ""}.items() <= found.items()
    assert kept.read_text() == "id\nef56\nab12\n"
    # Who is not on it any more stays, and is named; in a course that has begun nothing is to be released next.
    printed = CliRunner().invoke(app, ["init", str(course.folder), "--roster", str(path)]).stdout
    assert "Next:" not in printed
    (line,) = [line for line in printed.splitlines() if line.startswith("Not on this roster")]
    assert "cd34" in line
    assert "ab12" not in line
    kept.unlink()


@pytest.mark.filterwarnings("ignore:Object of type")  # nbgrader's own way of adding
def test_a_roster_that_changes_in_mid_term_costs_nobody_points(
    course: Course, tmp_path: Path
) -> None:
    perfect = gold.hand_ins(SLUG)["perfect"]
    kept = course.folder / "roster.csv"
    try:
        with guests(course):
            enter(course, perfect, "left1", {"a2-record": 3.0})
            make_course(course.folder, learners=written(tmp_path, "id,email\ncame1,\nleft1,a@b\n"))
            make_course(course.folder, learners=written(tmp_path, "id\ncame1\n"))
            for student in ("came1", "left1", "never"):
                perfect.write(tmp_path / "in" / student)
            results = collection.collect(course, "01", tmp_path / "in")
            found = {each.student or each.sender: each.outcome for each in results}
            assert found["came1"] == "new"
            assert found["left1"] in ("unchanged", "updated")
            assert found["never"] == "unknown"
            export.write(course, "nbgrader", tmp_path / "g.csv", [SLUG])
            with (tmp_path / "g.csv").open() as file:
                earned = {row["student_id"]: row["score"] for row in csv.DictReader(file)}
            assert (earned["left1"], earned["came1"]) == ("3", "0")
            lab_class = points.gather(course, SLUG)
            assert {"left1", "came1"} <= set(lab_class.roster)
    finally:
        kept.unlink(missing_ok=True)


def test_a_course_whose_key_was_lost_gets_no_other_one(course: Course) -> None:
    key, words = course.folder / variants.KEY, course.folder / variants.WORDS
    before = key.read_text()
    try:
        variants.issue(course.folder, ["ab12"])
        key.unlink()
        make_course(course.folder)
        assert not key.exists()
        words.unlink()
        make_course(course.folder)
        assert key.read_text() != before
    finally:
        key.write_text(before)
        words.unlink(missing_ok=True)
