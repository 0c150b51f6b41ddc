"""Does a value that nothing can be made of stop a reader on the trusted side, or cost anybody else anything?"""

from __future__ import annotations

import errno
import json
import math
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_notebook
from nbgrader import utils
from running import first
from small_class import SLUG, give, guests
from typer.testing import CliRunner

from autograder import evidence, files, rubrics
from autograder.commands import app
from autograder.course import course as course_module
from autograder.course.course import Course
from autograder.evidence import record_files
from autograder.evidence.record_files import RECORDS
from autograder.grading.safe_page import KeepSafe
from autograder.grading.scoring import AssessSubmission
from autograder.intake import inspection
from autograder.results import copies, export, feedback, measured, report
from autograder.rubrics.score import LONGEST_TEXT
from autograder.rubrics.submission import Submission
from beowulf.errors import LabError
from beowulf.record import Point
from tests.gold import lab_01
from tests.gold.hand_in import written_in
from tests.gold.hostile_values import TEXTS, replaced
from tests.gold.labs import LABS
from tests.gold.measured import as_handed_in

LARGEST_PAGE = 3_000_000
ONE, MANY = range(1), range(60)
PAGES = range(len(TEXTS))  # one for each text; a page takes seconds


of_seeds = pytest.mark.parametrize(
    "seeds", [ONE, pytest.param(MANY, marks=pytest.mark.nightly)], ids=["one", "many"]
)


@of_seeds
@pytest.mark.parametrize("lab", first(2, LABS), ids=lambda lab: lab.slug)
def test_every_question_has_a_score_and_the_class_its_report(
    lab: Any, seeds: range, tmp_path: Path
) -> None:
    rubric = rubrics.find(lab.slug)
    assert rubric
    honest = {name: tmp_path / name for name in ("ada", "bob", "eve")}
    for folder in honest.values():
        (folder / RECORDS).mkdir(parents=True)
        for record in lab.records():
            as_handed_in(record, folder.name).save_in(folder / RECORDS)
    everybody = dict(honest)
    for seed in seeds:
        everybody[f"mallory-{seed}"] = hand_in = tmp_path / f"mallory-{seed}"
        notebook = replaced(lab, hand_in, seed)
        for name, score in rubric(Submission.read(hand_in, notebook)).items():
            assert "could not be scored" not in score.found, (seed, name, score.found)
            assert math.isfinite(score.points)
            assert max(map(len, (score.found, score.expected))) <= LONGEST_TEXT
            (score.found + score.expected).encode()  # a notebook's file cannot hold half a letter
        inspection.record_notes(hand_in, lab.slug, "", None)
    values = {name: measured.own_records(each) for name, each in everybody.items()}
    measured.time_spent({name: measured.minutes_spent(each) for name, each in values.items()})
    copies.suspected(everybody)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore:Object of type")  # nbgrader's own way of adding
def test_everybody_has_a_page_the_class_its_report_and_the_lms_its_files(
    course: Course, released: Any, tmp_path: Path
) -> None:
    lab, names = LABS[0], ("grades.csv", "canvas.csv", "moodle.csv")
    assert lab.slug == SLUG
    with guests(course):
        for seed in PAGES:
            student = f"mallory-{seed}"
            place, done = (course.folder / p / student / SLUG for p in ("submitted", "autograded"))
            lines = [each.source.partition(" = ") for each in replaced(lab, place, seed).cells]
            text = TEXTS[seed]
            typed = {name: value for name, _, value in lines} | {"hosts_first_line": repr(text)}
            notebook = written_in(released, typed, text)
            nbformat.write(notebook, place / "validation.ipynb")
            shutil.copytree(place, done)
            give(course, student, graded(notebook, done, student))
            with course.gradebook() as book:
                row = book.find_comment("explain", "validation", SLUG, student)
                row.manual_comment = text
                book.db.commit()
        for page in feedback.generate(course, SLUG, course.submitted(SLUG)):
            assert not page.problem
            (file,) = page.files
            html = file.read_text(encoding="utf-8")
            assert "Your points, question by question" in html
            assert "<script" not in html
            assert len(html) < LARGEST_PAGE
        report_page = report.write(course, SLUG).read_text(encoding="utf-8")
        assert "could not be made" not in report_page
        assert len(report_page) < LARGEST_PAGE
        for name, form in zip(names, export.FORMATS, strict=True):
            export.write(course, form, tmp_path / name, [SLUG])
            rows = (tmp_path / name).read_text(encoding="utf-8").splitlines()
            assert {f"mallory-{seed}" for seed in PAGES} <= set(",".join(rows).split(","))
            assert "nan" not in ",".join(rows)


def graded(notebook: Any, place: Path, student: str) -> dict[str, float | None]:
    """The points of a hand-in that nothing was run of; its notebook is written as grading leaves it."""
    about = {"metadata": {"path": str(place)}}
    resources: Any = about | {"nbgrader": {"assignment": SLUG, "student": student}}
    for step in (AssessSubmission, KeepSafe):
        notebook, resources = step().preprocess(notebook, resources)
    nbformat.write(notebook, place / "validation.ipynb")
    cells = [each for each in notebook.cells if utils.is_grade(each)]
    return {each.metadata.nbgrader.grade_id: utils.determine_grade(each)[0] for each in cells}


def timed() -> Any:
    """A Record of lab 01 that has samples."""
    records = map(as_handed_in, lab_01.records())
    return next(each for each in records if any(point.samples for point in each.points))


def only(folder: Path, *records: Any) -> Path:
    for record in records:
        record.save_in(folder / RECORDS)
    return folder


def test_one_check_that_cannot_read_a_record_leaves_the_others_to_look(tmp_path: Path) -> None:
    record = timed()
    backwards = replace(record, started=record.ended, ended=record.started)
    # No file can have this name, and whether it is there cannot even be asked.
    odd = replace(backwards, captures=[{"file": "x" * 100_000}])
    assert evidence.cannot_be(evidence.findings(backwards, tmp_path))
    says = " ".join(each.says for each in evidence.findings(odd, tmp_path))
    assert all(each.says in says for each in evidence.findings(backwards, tmp_path))
    assert "never leave (OSError)" in says


@pytest.mark.parametrize(
    "way",
    [
        {"captures": [{"file": "x" * 300, "sha256": "0" * 64}]},
        {"points": [Point({}, facts={"source": "\ud800", "sha256": "0" * 64})]},
    ],
    ids=["a name that no file has", "a source that is no text"],
)
def test_no_odd_value_is_a_way_around_a_check(way: dict[str, Any], tmp_path: Path) -> None:
    """It made the check for made-up Records stop, and the Record counted."""
    made_up = replace(timed(), program={"name": "mine.c", "sha256": "0" * 64})
    assert evidence.cannot_be(evidence.made_up(replace(made_up, **way), tmp_path))


# ---------------------------------------------------------------- limits


def test_a_record_of_very_many_values_is_never_made_objects_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_files, "MOST_VALUES", 20_000)
    monkeypatch.setattr(record_files, "MOST_VALUES_TOGETHER", 40_000)
    only(tmp_path, *map(as_handed_in, lab_01.records()))
    folder = tmp_path / RECORDS
    for number in range(3):
        (folder / f"Z{number}-full.json").write_text("[" + "{}," * 18_000 + "{}]")
    (folder / "Z9-small.json").write_text(json.dumps([[]] * 9))
    loaded = json.loads
    sizes: list[int] = []

    def watched(text: Any, *arguments: Any, **more: Any) -> Any:
        sizes.append(record_files.values(text.encode() if isinstance(text, str) else text))
        return loaded(text, *arguments, **more)

    monkeypatch.setattr(json, "loads", watched)
    for look in (
        lambda: Submission.read(tmp_path, new_notebook()).unreadable,
        lambda: inspection.record_notes(tmp_path, lab_01.SLUG, "", None),
        lambda: measured.own_records(tmp_path),
        lambda: copies.suspected({"ada": tmp_path, "bob": tmp_path}),
    ):
        sizes.clear()
        found = str(look())
        assert max(sizes) <= 20_000
        assert len(sizes) <= 2 * len(lab_01.records()) + 2
        assert "Z9" in found or "values" not in found
    why = {bad.file: bad.why for bad in Submission.read(tmp_path, new_notebook()).unreadable}
    assert why["Z0-full.json"] == "Z0-full.json has more than 20,000 values."


def test_the_records_of_a_hand_in_have_a_limit_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [as_handed_in(record) for record in lab_01.records()]
    only(tmp_path, *records)
    there = sorted((tmp_path / RECORDS).glob("*.json"))
    sizes = [record_files.values(path.read_bytes()) for path in there]
    monkeypatch.setattr(record_files, "MOST_VALUES_TOGETHER", sum(sizes[:2]))
    submission = Submission.read(tmp_path, new_notebook())
    assert 2 <= len(submission.records) < len(records)
    assert "values together" in submission.unreadable[0].why


def test_a_notebook_of_very_many_values_or_cells_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "validation.ipynb"
    path.write_text('{"nbformat": 4, "cells": [' + "{}," * 5_000 + "{}]}")
    assert "5,001 cells; 5,000 are allowed" in inspection.notebook_fault(path)
    path.write_text("[" + "{}," * inspection.MOST_VALUES + "{}]")
    assert "has more than 2,000,000 values" in inspection.notebook_fault(path)


# ---------------------------------------------------------------- terminals

CONTROL = "e\x1b[31mv\x07i\x9bl\u202e"


@pytest.fixture
def run(class_of_guests: Course, monkeypatch: pytest.MonkeyPatch) -> Any:
    def invoke(*arguments: str) -> str:
        return CliRunner().invoke(app, list(arguments)).output

    monkeypatch.chdir(class_of_guests.folder)
    return invoke


def refuse_control_characters(text: str) -> None:
    assert [c for c in text if not c.isprintable() and c != "\n"] == []


def test_names_that_learners_chose_reach_a_terminal_as_text(run: Any, hand_ins: Path) -> None:
    for name in (CONTROL, "ada"):
        place = only(hand_ins / name, timed())
        record = json.dumps({"kind": CONTROL, "schema": 1})
        (place / RECORDS / f"A2-{CONTROL}.json").write_text(record)
        (place / f"{CONTROL}.ipynb").write_text(json.dumps({"nbformat": CONTROL}))
        (place / f"{CONTROL}.txt").symlink_to("/etc/passwd")
    said = run("collect", "01", str(hand_ins))
    assert "e [31mv i l" in said
    refuse_control_characters(said)
    refuse_control_characters(run("grade", "01", "--student", CONTROL))
    refuse_control_characters(run("collect", "01", CONTROL))


# ---------------------------------------------------------------- the report, a disk


@pytest.mark.nightly
def test_a_section_that_cannot_be_made_leaves_the_others(
    class_of_guests: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = class_of_guests
    only(course.folder / "submitted" / "ada" / lab_01.SLUG, timed())

    def fail(*_: Any) -> Any:
        raise OverflowError("a value that nobody foresaw")

    monkeypatch.setattr(copies, "suspected", fail)
    page = report.write(course, lab_01.SLUG).read_text(encoding="utf-8")
    assert "OverflowError: a value that nobody foresaw" in page
    assert "Suspected copies: this part could not be made" in page
    for title in ("Points by question", "Hand-ins", "Time spent"):
        assert f"<h2>{title}</h2>" in page


@pytest.mark.parametrize(
    ("number", "hint"), [(errno.ENOSPC, "Free some space"), (errno.EACCES, "Look at the owner")]
)
def test_a_file_that_cannot_be_written_gets_the_hint_that_fits(
    number: int, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(LabError) as raised:
        files.write_text(tmp_path / "grades.csv", "x")
    assert hint in raised.value.hint
    logged = {"log": f"OSError: [Errno {number}] {os.strerror(number)}: '{tmp_path}/page.html'"}
    assert hint in course_module._reason(logged)
