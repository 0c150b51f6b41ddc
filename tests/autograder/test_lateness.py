"""Is a hand-in late by a time that its learner could not make up, and does it lose what the course says, no more?"""

from __future__ import annotations

import csv
import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from small_class import SLUG, enter, gradebook_of
from test_class_collect import CLASS, NAME, WANTED, notebook

from autograder.course import dates, limits
from autograder.course.course import Course
from autograder.course.dates import Dates, Exemption
from autograder.course.limits import Limits
from autograder.course.roster import Directory, Student
from autograder.grading import lateness
from autograder.grading import points as class_points
from autograder.intake import log, submissions, times
from autograder.intake.submissions import EXCHANGE, FILES, TABLE, Collected
from autograder.results import export, feedback, sections
from beowulf.errors import LabError, UsageError
from tests import gold

DUE = datetime(2026, 3, 2, 18, tzinfo=UTC)
EVERYBODY = Directory(CLASS, complete=True)
LAB = Dates(Limits(due=DUE, late_points=2.0, grace_hours=1.0))


def collected(after: timedelta, by: str = EXCHANGE, *, late: bool = False) -> Collected:
    """What came so long after the date."""
    when = submissions.as_stamp(DUE + after)
    return Collected("ada", "new", [], "", when, by, late, submissions.as_stamp(DUE + after * 2))


@pytest.mark.parametrize(
    ("after", "days"),
    [
        (timedelta(hours=1), 0),
        (timedelta(hours=1, seconds=1), 1),
        (timedelta(days=1, seconds=1), 2),
    ],
)
def test_a_day_that_began_counts_and_grace_does_not(after: timedelta, days: int) -> None:
    found = lateness.of(LAB, "ada", collected(after), None)
    assert (found.days, found.costs, found.is_late) == (days, 2.0 * days, days > 0)
    assert bool(found.says) == (days > 0)
    if days:
        assert f"{2 * days} taken off" in found.says


@pytest.mark.parametrize("years", [-30, 5, 900])
def test_a_learners_own_clock_takes_nothing_off_and_proves_nothing(years: int) -> None:
    late = collected(timedelta(days=365 * years), FILES)
    # It was collected after the date, and nothing but its files says when it was made.
    late = replace(late, arrived=submissions.as_stamp(DUE + timedelta(days=9)))
    found = lateness.of(LAB, "ada", late, None)
    assert found.costs == 0
    assert found.sure == (years < 0)
    assert ("no proof" in found.says) == (years > 0)
    there = replace(late, arrived=submissions.as_stamp(DUE - timedelta(days=1)))
    assert not lateness.of(LAB, "ada", there, None).is_late


def test_the_mark_of_an_lms_costs_the_least_that_it_can_mean() -> None:
    marked = collected(timedelta(days=5), FILES, late=True)
    found = lateness.of(LAB, "ada", marked, None)
    assert (found.sure, found.days, found.costs) == (True, 1, 2.0)
    assert "1 day late: 2 taken off" in found.says
    no_date = lateness.of(Dates(), "ada", marked, None)
    assert (no_date.is_late, no_date.costs) == (True, 0.0)
    known = lateness.of(LAB, "ada", replace(marked, by=TABLE), None)
    assert (known.days, known.costs) == (5, 10.0)


def test_an_exemption_is_for_one_learner() -> None:
    lab = replace(LAB, exemptions={"ada": Exemption(due=DUE + timedelta(days=7), reason="ill")})
    late = collected(timedelta(days=3), late=True)
    assert not lateness.of(lab, "ada", late, None).is_late
    assert lateness.of(lab, "bob", late, None).days == 3
    lab = replace(LAB, exemptions={"ada": Exemption(handed_in=DUE - timedelta(days=1))})
    assert not lateness.of(lab, "ada", late, None).is_late
    assert (
        lateness.of(LAB, "ada", None, DUE + timedelta(days=3)).costs == 0
    )  # by nbgrader's own command


def test_dates_are_read_from_both_files_and_the_exemptions_stay_here(tmp_path: Path) -> None:
    (tmp_path / limits.FILE).write_text(
        limits.TEXT
        + "\n[labs.01]\ndue = 2026-03-02T18:00:00Z\nlate_points = 2\n[labs.02]\ndue = 2026-04-01\n"
    )
    (tmp_path / dates.FILE).write_text("id,lab,due,reason\nada,1,2026-03-09,ill\nada,02,,\n")
    lab = dates.of_lab(tmp_path, SLUG)
    assert (lab.due("bob"), lab.limits.late_points) == (DUE, 2.0)
    own = lab.due("ada")
    assert own
    assert (own.day, own.hour, own.minute) == (9, 23, 59)
    assert "ada" not in limits.text_of(tmp_path)
    second = dates.of_lab(tmp_path, "02-node-benchmarks").due("bob")
    assert second
    assert second == datetime(2026, 4, 1, 23, 59, 59).astimezone()
    assert dates.of_lab(tmp_path / "none", SLUG) == Dates()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,due\nada,2026-03-02\n", "has no column `lab`"),
        ("id,lab,until\nada,01,\n", "`until` is not a column"),
        ("id,lab,due\nada,01,soon\n", "line 2: `due` is 'soon', which is not a time"),
        ("id,lab,due\n,01,2026-03-02\n", "line 2: there is no learner's ID"),
        ("id,lab,due\nada,77,2026-03-02\n", "line 2: there is no lab '77'"),
        ("id,lab,due\nada,01,\nada,1,\n", "line 3: ada and this lab are in line 2"),
    ],
)
def test_a_mistake_in_the_table_of_exemptions_is_named_with_its_line(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / dates.FILE).write_text(text)
    with pytest.raises(LabError) as problem:
        dates.of_lab(tmp_path, SLUG)
    assert said in problem.value.message


def test_a_table_of_a_spreadsheet_is_read_and_a_mistyped_learner_is_named(tmp_path: Path) -> None:
    lines = "id;lab;due;reason\nada;01;9.3.2026 18:00;ill, with a note\nadda;01;09.03.2026;ill\n"
    (tmp_path / dates.FILE).write_text("\ufeff" + lines)
    due = dates.of_lab(tmp_path, SLUG).due("ada")
    assert due
    assert (due.month, due.day, due.hour) == (3, 9, 18)
    (said,) = dates.unknown_learners(tmp_path, {"ada", "bob"})
    assert said == "dates.csv, line 3: nobody in this class is 'adda'. Perhaps you mean 'ada'."


def taken_in(tmp_path: Path, **more: Any) -> Collected:
    (found,) = submissions.collect(tmp_path / "in", WANTED, tmp_path / "to", EVERYBODY, **more)
    return found


def test_a_timestamp_beside_the_notebook_is_not_believed(tmp_path: Path) -> None:
    place = tmp_path / "in" / "ab12"
    place.mkdir(parents=True)
    (place / NAME).write_bytes(notebook())
    when = 1_790_000_000
    os.utime(place / NAME, (when, when))
    (place / submissions.TIMESTAMP).write_text("2020-01-01 00:00:00.000000 UTC")
    os.utime(place / submissions.TIMESTAMP, (when, when))
    found = taken_in(tmp_path)
    stamp = submissions.timestamp(tmp_path / "to" / "ab12" / WANTED.slug)
    assert stamp
    assert stamp.timestamp() == when
    assert (found.by, submissions.as_time(found.handed_in)) == (FILES, stamp)
    assert any("its time does not count" in note for note in found.notes)


def test_a_timestamp_that_is_none_costs_nobody_anything(tmp_path: Path) -> None:
    """In the exchange a learner can put anything there; a pipe would keep `grade` waiting for everybody."""
    stamp = tmp_path / submissions.TIMESTAMP
    honest = "2026-02-03 10:00:00.000000 UTC"
    for text in (
        "0001-01-01 00:00:00.000000 UTC",
        "9999-12-31 23:59:59.000000 UTC",
        "\0",
        "1 " * 999,
    ):
        stamp.write_text(text)
        assert submissions.timestamp(tmp_path) is None
    (tmp_path / "elsewhere").write_text(honest)
    stamp.unlink()
    stamp.symlink_to("elsewhere")
    assert submissions.timestamp(tmp_path) is None
    stamp.unlink()
    os.mkfifo(stamp)
    assert submissions.timestamp(tmp_path) is None
    stamp.unlink()
    stamp.write_text(honest)
    assert submissions.timestamp(tmp_path) == datetime(2026, 2, 3, 10, tzinfo=UTC)


WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Last modified (submission),Feedback comments\n"
    'Participant 900,One Tree,,Submitted for grading,,"{}",\n'
    "Participant 901,Two Stone,,No submission,,-,\n"
    'Participant 902,No Body,,Submitted for grading,,"{}",\n'
)


@pytest.mark.parametrize(
    "text", ["Monday, 2 March 2026, 6:05 PM", "Monday, March 2, 2026, 6:05 PM"]
)
def test_moodles_worksheet_says_when_each_handed_in(tmp_path: Path, text: str) -> None:
    file = tmp_path / "worksheet.csv"
    file.write_text("\ufeff" + WORKSHEET.format(text, text))
    assert times.read(file, EVERYBODY) == {"ab12": datetime(2026, 3, 2, 18, 5).astimezone(UTC)}
    file.write_text("id,handed_in\ncd34,2026-03-02 18:05:00Z\n")
    assert times.read(file, EVERYBODY) == {"cd34": DUE + timedelta(minutes=5)}
    file.write_text("id,handed_in\ncd34,2. März\n")
    with pytest.raises(LabError, match=r"line 2: '2\. März' cannot be read as a time"):
        times.read(file, EVERYBODY)
    file.write_text("who,when\n")
    with pytest.raises(LabError, match="needs a column for the learner and one for the time"):
        times.read(file, EVERYBODY)
    with pytest.raises(UsageError, match="There is no file"):
        times.read(tmp_path / "none.csv", EVERYBODY)


def test_the_time_of_one_of_two_namesakes_is_not_lost(tmp_path: Path) -> None:
    namesakes = Directory(
        [
            Student(id=each, first_name="One", last_name="Tree", email=f"{each}@school.example")
            for each in ("ab12", "cd34")
        ],
        complete=True,
    )
    text = WORKSHEET.format("Monday, 2 March 2026, 6:05 PM", "-")
    (file := tmp_path / "worksheet.csv").write_text(text)
    with pytest.raises(LabError, match="line 2: ab12, cd34 on the roster all have this name"):
        times.read(file, namesakes)
    file.write_text(text.replace("One Tree,", "One Tree,cd34@school.example"))
    assert list(times.read(file, namesakes)) == ["cd34"]


def test_a_mark_and_a_first_arrival_outlive_the_next_collection(tmp_path: Path) -> None:
    first = collected(timedelta(days=-1), FILES, late=True)

    def after(new: Collected) -> Collected:
        log.remember(tmp_path, SLUG, [first])
        log.remember(tmp_path, SLUG, [new])
        (found,) = log.remembered(tmp_path, SLUG)
        return found

    again = replace(collected(timedelta(days=3), FILES), outcome="unchanged", arrived="")
    assert (after(again).late, after(again).arrived) == (True, first.arrived)
    assert after(replace(again, by=TABLE)).handed_in == again.handed_in
    log.remember(tmp_path, SLUG, [again])
    assert log.remembered(tmp_path, SLUG)[0].by == TABLE
    stays = Collected("ada", "refused", ["It is empty."])
    assert (after(stays).handed_in, after(stays).late) == (first.handed_in, True)
    for outcome in ("updated", "refused"):  # it was put there, though it cannot be read
        newer = replace(collected(timedelta(days=3), FILES), outcome=outcome)
        assert after(newer) == newer
    # A file of an older version has no times.
    file = log.folder(tmp_path, SLUG) / log.FILE
    old = {"student": "ada", "outcome": "new", "notes": [], "sender": ""}
    file.write_text(json.dumps([old]))
    assert log.remembered(tmp_path, SLUG) == [Collected("ada", "new")]


@pytest.fixture
def late_course(class_of_guests: Course) -> Any:
    """A course with a due date; its file and its database are as before afterwards."""
    course = class_of_guests
    before = (course.folder / limits.FILE).read_text()
    dated = f"{before}\n[labs.01]\ndue = {DUE.isoformat()}\nlate_points = 2\n"
    (course.folder / limits.FILE).write_text(dated)
    yield course
    (course.folder / limits.FILE).write_text(before)
    (course.folder / dates.FILE).unlink(missing_ok=True)
    with course.gradebook() as book:
        book.find_assignment(SLUG).duedate = None
        book.db.commit()


@pytest.mark.nightly
def test_what_is_taken_off_is_the_same_in_gradebook_report_feedback_and_export(
    late_course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = late_course
    log.remember(
        course.folder,
        SLUG,
        [replace(collected(timedelta(days=1.5)), student=name) for name in ("ada", "bob")],
    )
    for name in ("ada", "bob"):
        enter(course, gold.hand_ins(SLUG)["perfect"], name, {"a2-record": 3.0, "idle-mbit": 2.0})
    found = [gradebook_of(course, name) for name in ("ada", "bob")]
    assert {(each.points, each.taken_off) for each in found} == {(5.0, 4.0)}
    assert "2 days late: 4 taken off" in found[0].late

    def shown() -> tuple[dict[str, float], dict[str, str], str]:
        lab_class = class_points.gather(course, SLUG)
        found = lab_class.late
        export.write(course, "moodle", tmp_path / "m.csv", [SLUG])
        rows = list(csv.DictReader((tmp_path / "m.csv").open()))
        exported = {row["Username"]: row[SLUG] for row in rows}
        in_moodle = {row["Username"]: row.get(f"{SLUG} (late)", "") for row in rows}
        in_canvas = export.write(course, "canvas", tmp_path / "c.csv", [SLUG])
        export.write(course, "nbgrader", tmp_path / "g.csv", [SLUG])
        grades = list(csv.DictReader((tmp_path / "g.csv").open()))
        says = {row["student_id"]: row["late"] for row in grades if row["late"]}
        assert set(says) == {name for name, each in found.items() if each.is_late}
        # Moodle takes it as feedback; Canvas would make an assignment of such a column.
        assert {name: text for name, text in in_moodle.items() if text} == says
        assert in_canvas.late == len(says)
        assert (tmp_path / "c.csv").read_text().splitlines()[0].endswith(f"Section,{SLUG}")
        assert all("2 days late" in text for text in says.values())
        table = sections.late(lab_class).table
        reported = dict(zip(table["learner"], table["taken off"], strict=True))
        (page,) = feedback.generate(course, SLUG, ["ada"])
        return reported, exported, page.files[0].read_text()

    reported, exported, page = shown()
    points = 5.0
    assert reported == {"ada": 4.0, "bob": 4.0}
    assert exported == {"ada": f"{points - 4:g}", "bob": f"{points - 4:g}"}
    assert "2 days late: 4 taken off" in page
    # An extension that is given afterwards counts without a new grading.
    (course.folder / dates.FILE).write_text(
        "id,lab,due,reason\nada,01,2026-03-09,ill\nadda,01,2026-03-09,ill\n"
    )
    reported, exported, page = shown()
    assert reported == {"bob": 4.0}
    assert exported == {"ada": f"{points:g}", "bob": f"{points - 4:g}"}
    assert "taken off" not in page
    with Gradebook(course.api.coursedir.db_url) as book:
        assert book.find_submission(SLUG, "ada").total_seconds_late == 0
    # Without dates nothing is taken off any more.
    (course.folder / limits.FILE).write_text(limits.TEXT)
    (course.folder / dates.FILE).unlink()
    reported, exported, page = shown()
    assert (reported, exported) == ({}, dict.fromkeys(("ada", "bob"), f"{points:g}"))
