"""After a class was graded: do its report, pages, exports and a changed rubric say what is so?"""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from nbgrader.api import Gradebook
from typer.testing import CliRunner, Result

from autograder import rubrics
from autograder.commands import app
from autograder.course.course import Course
from autograder.course.create import make_course
from autograder.grading import driver
from autograder.grading import points as class_points
from autograder.intake import collection, log
from autograder.results import class_page, measured, report, sections
from autograder.rubrics.score import Score
from beowulf import paths
from beowulf.errors import LabError, UsageError
from beowulf.record import Record
from tests.gold import hand_in as hands
from tests.gold import lab_01
from tests.gold.hand_in import EXPLANATION

SLUG = "01-validation"
ROSTER = 'id,last_name,first_name,lms_user_id\nab12,"Tree, Old",=One,71\ncd34,,,72\nef56,,,73\ngh78,,,74\n'


def lasting(factor: float) -> list[Record]:
    """The Records of lab 01 with samples and a token of their own, and their plot: times `factor` times as long."""
    kept = lab_01.records()
    for record in kept:
        for point in record.points:
            for line in point.facts.get("lines", []) if record.study == "F1" else []:
                line["y"] = [float(f"{factor * y:.5g}") for y in line["y"]]
        record.points = [
            replace(p, samples=[sample * factor for sample in p.samples]) for p in record.points
        ]
    return kept


@pytest.fixture(scope="module")
def spring(own_course: Course, released: Any) -> Course:
    """Three learners of four handed in lab 01, were graded, and one waits for a person."""
    folder = own_course.folder.parent
    (folder / "roster.csv").write_text(ROSTER)
    made = make_course(own_course.folder, learners=folder / "roster.csv")
    wrong = lab_01.RIGHT | {"ordered_pairs": 11}
    for student, answers, factor in (
        ("ab12", lab_01.RIGHT, 1.0),
        ("cd34", wrong, 1.07),
        ("ef56", wrong, 5.0),
    ):
        notebook = hands.answered(released, answers)
        hands.hand_in(folder / "in" / student, notebook, lasting(factor))
    (folder / "in" / "gh78").mkdir()
    (folder / "in" / "gh78" / "validation.ipynb").write_bytes(b"\xff no notebook")
    collection.collect(made, "01", folder / "in")
    found = {each.student: each for each in driver.grade(made, SLUG, jobs=2)}
    assert found["ab12"].awaiting == ["explain"]
    with Gradebook(made.api.coursedir.db_url) as book:
        given = book.find_grade("explain", "validation", SLUG, "cd34")
        given.manual_score, given.needs_manual_grade = 3, False
        comment = book.find_comment("explain", "validation", SLUG, "cd34")
        comment.manual_comment = "Good, and <short>."
        book.db.commit()
    return made


@pytest.fixture
def run(spring: Course, monkeypatch: pytest.MonkeyPatch) -> Any:
    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments), catch_exceptions=False)

    monkeypatch.chdir(spring.folder)
    return invoke


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def table(course: Course, name: str) -> list[dict[str, str]]:
    return rows((log.folder(course.folder, SLUG) / f"{name}.csv").read_text(encoding="utf-8"))


def test_the_report_has_what_an_instructor_asks(spring: Course, run: Any) -> None:
    page = Path(run("report", "01").stdout.split(" (")[0])
    assert page == spring.folder / "reports" / SLUG / report.PAGE
    text = page.read_text(encoding="utf-8")

    questions = {row["question"]: row for row in table(spring, "questions")}
    pairs, by_hand = questions["ordered-pairs"], questions["explain"]
    assert (pairs["full points"], pairs["none"]) == ("1", "2")
    assert (by_hand["part of them"], by_hand["waits for you"]) == ("1", "2")
    easiest = next(name for name, row in questions.items() if row["mean share (%)"] == "100")
    assert "The hardest is" in text
    assert f"The hardest is {easiest}" not in text
    points = {row["learner"]: float(row["points"]) for row in table(spring, "points")}
    assert set(points) == {"ab12", "cd34", "ef56"}
    assert points["ab12"] - points["ef56"] == 1
    # The two who wait can have 26 points by now, and not 30.
    assert "without what waits for you: 4 of 30 points, of 2 learners" in text
    assert {row["learner"] for row in table(spring, "waiting")} == {"ab12", "ef56"}
    wrong = {row["question"]: row for row in table(spring, "wrong-answers")}
    alike = wrong["ordered-pairs"]
    assert (alike["found"], alike["who"]) == ("ordered_pairs = 11", "cd34, ef56")
    states = {row["learner"]: row for row in table(spring, "hand-ins")}
    assert states["gh78"]["state"] == "not graded"
    assert "not text in UTF-8" in states["gh78"]["notes"]
    assert {row["learner"] for row in table(spring, "time")} == {"ab12", "cd34", "ef56"}
    (copied,) = table(spring, "copies")
    assert (copied["learners"], copied["the same"]) == ("ab12, cd34, ef56", "whole Record")
    files = copied["files"].split("; ")
    # All that has no samples, which differ.
    same = {"A1", "A2-broken-d", "A2-own-ring", "A5", "P1-idle", "P1-trip"}
    assert {file.split(": ")[1].rpartition("-")[0] for file in files} == same
    assert len(files) == 3 * len(same)

    images = re.findall(r'<img src="data:image/png;base64,[^"]+" alt="([^"]*)"', text)
    assert len(images) == 3
    assert all(len(alt) > 20 for alt in images)
    parts = "questions points waiting hand-ins wrong-answers time copies".split()
    assert [name for name in parts if f'id="{name}"' not in text] == []
    assert "Look at these first" in text
    assert "2 answers to grade by hand" in text
    for picture in (page.parent / "pictures").glob("*.png"):
        assert picture.with_suffix(".txt").read_text()
    readable = re.sub(r'src="[^"]+"', "", text)
    assert "`" not in readable
    assert "<code>jupyter lab</code>" in readable
    for said in (readable, *(each.read_text() for each in page.parent.rglob("*.csv"))):
        assert not re.search(r"\bnan\b", said, re.IGNORECASE)
        assert not re.search(r"\d\.\d*(?:0000000|9999999)\d", said)
    # Nothing that learners wrote can run in it.
    assert "default-src 'none'" in text
    assert "<script" not in text


def test_what_learners_wrote_is_only_text_in_the_report() -> None:
    evil = "<script>alert(1)</script> $x$ =cmd"
    given, reason = class_points.Given, class_points.Reason
    points = [given(name, "q", 0.0, 1.0, 0.0) for name in "ab"]
    said = [reason(name, "q", Score(0.0, 1.0, evil, evil)) for name in "ab"]
    found = class_points.ClassOfLab(SLUG, ["a"], ["a"], points, said, {}, [], {"q": 1.0})
    section = sections.wrong_answers(found)
    assert section.table["learners"].tolist() == [2]
    text = class_page.page("t", "a", [section])
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    long = replace(section, table=pd.concat([section.table] * (class_page.MOST_ROWS + 1)))
    shown = class_page.page("t", "a", [long])
    assert shown.count("<tr>") == class_page.MOST_ROWS + 1
    assert f"the first {class_page.MOST_ROWS} here" in shown


@pytest.mark.nightly
def test_a_page_says_for_each_question_what_was_found_expected_and_where_to_read(
    spring: Course, run: Any
) -> None:
    assert "3 pages" in run("feedback", "01").stdout
    assert "1 page in" in run("feedback", "01", "--student", "cd34").stdout
    page = spring.folder / "feedback" / "cd34" / SLUG / "validation.html"
    text = page.read_text(encoding="utf-8")
    summary = text[text.index("Your points, question by question") :]
    summary = summary[: summary.index("</table>")]
    lines = [re.sub(r"<[^>]+>", "|", line) for line in summary.split("</tr>")]
    by_name = {line.strip("|").split("|")[0]: line for line in lines[1:] if line.strip("|")}
    assert "`" not in summary
    said = ["0 of 1", "ordered_pairs = 11", "12 (the Record has 4 nodes)"]
    for part in (*said, "labs/01-validation/README.md"):
        assert part in by_name["ordered-pairs"]
    assert "3 of 4" in by_name["explain"]
    assert "Good, and &lt;short&gt;." in by_name["explain"]
    # It begins with our table, and nbgrader's list without names is gone.
    assert "Test cell" not in text
    assert "Lab 01: Validation" in text[: text.index("Your points, question by question")]
    # Where to read is in the page itself.
    links = re.findall(r'href="#(read-\d+)"', summary)
    assert links
    assert all(f'<h2 id="{link}">' in text for link in links)
    (heading,) = re.findall(rf'<h2 id="{links[0]}">[^<]*, ([^<]*)</h2>', text)
    handout = (paths.labs()[SLUG] / "README.md").read_text(encoding="utf-8")
    section = re.split(rf"^## (?:\d+ )?{re.escape(heading)}$", handout, flags=re.MULTILINE)[1]
    words = re.findall(r"[A-Za-z]{5,}", section)[:3]
    assert len(words) == 3
    assert all(word in text[text.index(f'<h2 id="{links[0]}">') :] for word in words)
    # What was written is there with its points, and what the instructor said of it.
    written = text[text.index('<h3 id="written-explain">explain: 3 of 4</h3>') :]
    assert EXPLANATION in written[: written.index("&lt;short&gt;.")]
    other = (spring.folder / "feedback" / "ab12" / SLUG / "validation.html").read_text()
    assert "has not graded this yet" in other
    nbgrader("generate_feedback", SLUG, "--student", "cd34", "--force", here=spring.folder)
    assert "Your points, question by question" in page.read_text(encoding="utf-8")


@pytest.mark.browser
def test_report_and_feedback_are_no_wider_than_a_phone(spring: Course, run: Any, page: Any) -> None:
    report_page = Path(run("report", "01").stdout.split(" (")[0])
    run("feedback", "01", "--student", "cd34")
    page.set_viewport_size({"width": 400, "height": 900})
    for file in (report_page, spring.folder / "feedback" / "cd34" / SLUG / "validation.html"):
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == 400, file


def nbgrader(*words: str, here: Path) -> None:
    """Run a command of nbgrader's own."""
    command = [sys.executable, "-m", "nbgrader", *words]
    subprocess.run(command, cwd=here, check=True, capture_output=True, timeout=240)


@pytest.mark.nightly
def test_an_export_holds_the_points_that_nbgraders_own_one_holds(spring: Course, run: Any) -> None:
    result = run("export", "01")
    assert "the points of 4 learners in the format nbgrader" in result.stdout
    assert "wait to be graded by hand: 2 of 01-validation" in result.stdout
    ours = rows((spring.folder / "grades.csv").read_text())
    earned = {row["student_id"]: float(row["score"]) for row in ours}
    assert earned["ab12"] == earned["cd34"] - 2 == earned["ef56"] + 1
    nbgrader("export", "--to", "n.csv", here=spring.folder)
    assert rows((spring.folder / "n.csv").read_text()) == ours


def test_a_changed_rubric_is_reported_before_it_is_applied(
    spring: Course, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = run("release", "01").stdout
    assert (
        "Graded by the previous version: 3 hand-ins of it. `beowulf class regrade 01 --dry-run` shows"
        in printed
    )
    unchanged = run("regrade", "01", "--dry-run", "--student", "ab12").stdout
    assert "No points in 01-validation would change." in unchanged
    as_before = rubrics.ask

    def stricter(asked: Any, submission: Any) -> dict[str, Score]:
        scores = as_before(asked, submission)
        scores["ring-messages"] = Score(0, 1, "the new rule", "")
        return scores

    monkeypatch.setattr(rubrics, "ask", stricter)
    before = (spring.folder / "gradebook.db").read_bytes()
    result = run("regrade", "01", "--dry-run", "--json")
    changes = json.loads(result.stdout)[SLUG]
    assert [(each["student"], each["question"]) for each in changes] == [
        (name, "ring-messages") for name in ("ab12", "cd34", "ef56")
    ]
    assert {(each["before"], each["after"], each["why"]) for each in changes} == {
        (1, 0, "the new rule")
    }
    alone = run("regrade", "01", "--dry-run", "--student", "ab12").stdout
    assert "1 change for 1 learner. `beowulf class regrade 01-validation` makes it." in alone
    assert (spring.folder / "gradebook.db").read_bytes() == before
    for command in (["regrade", "01", "--dry-run"], ["feedback", "01"]):
        with pytest.raises(UsageError, match="nobody has not been graded in 01-validation yet"):
            run(*command, "--student", "nobody")


def test_a_report_of_nothing_is_refused(course: Course) -> None:
    with pytest.raises(LabError, match="not been released yet"):
        report.write(course, "02-node-benchmarks")


def test_time_is_counted_without_long_pauses() -> None:
    def record(start: str, end: str) -> Record:
        return Record("A6", started=f"2026-01-05T{start}:00Z", ended=f"2026-01-05T{end}:00Z")

    spans = [record("10:00", "10:10"), record("10:30", "10:35"), record("15:00", "15:01")]
    assert measured.minutes_spent(spans) == 35 + 1
    assert measured.minutes_spent([]) is None
    assert measured.minutes_spent([record("11:00", "10:00")]) is None
