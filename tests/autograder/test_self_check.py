"""Does `beowulf check` find what is open, give the points that grading gives, and keep to what a course allows?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import tiny_lab
from jupyter_server.services.contents.fileio import atomic_writing
from running import first
from tiny_lab import NAME, NUMBER, RIGHT, SLUG, a7, drawn, own, records, sealed, work_on

from autograder.course import limits
from autograder.rubrics import needed_records
from autograder.self_check import hints, progress, solutions, states, work
from beowulf import paths
from beowulf.course import lab_file, personal_code
from beowulf.course.checklist import FIT, FORM, Checklist
from beowulf.course.checklist import RIGHT as ALL
from beowulf.errors import LabError
from beowulf.record import Record
from tests.gold import hand_ins, trial
from tests.gold.hand_in import answered, file_name, hand_in, released
from tests.gold.labs import LABS, Gold, wrong

CASES = hand_ins()
WORD = "ABCDEFGHIJKLMNOP"
# Of each kind: learners, files, Records, cells, answers and programs.
UNLIKE = [
    *("01-validation: perfect", "02-node-benchmarks: average", "06-protocol-analysis: wrong"),
    *("08-first-beowulf: empty", "01-validation: truncated", "01-validation: a Record with NaN"),
    *("01-validation: patches form", "01-validation: answered twice"),
    *("03-parallel-benchmarks: no exchange", "04-blocking-nonblocking: rounded samples"),
]
OTHERS = sorted(CASES.keys() - set(UNLIKE))


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No course of the user who runs the tests, and a folder for work that is this test's own."""
    monkeypatch.setenv("BEOWULF_WORK", str(tmp_path / "work"))
    monkeypatch.delenv(personal_code.VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which a learner works on the tiny lab; it does not exist yet."""
    tiny_lab.build(tmp_path / "root", monkeypatch)
    return paths.work(SLUG)


def look(name: str = NUMBER, folder: Path | None = None) -> Checklist:
    return states.checklist(work.find(name, folder))


def state(question: str, found: Checklist | None = None) -> tuple[str, str]:
    """The state of one question, and the sentence on it."""
    (line,) = [line for line in (found or look()).lines if line.question == question]
    return line.state, line.says


WRONG = RIGHT | {"seen_bytes": "7", "kind": "'pairs'", "times": "8", "answer": "9"}


def allow(level: str) -> None:
    """Let the course say so much."""
    (paths.work(SLUG) / limits.FILE).write_text(f'check = "{level}"\n')


# As grading


@pytest.mark.parametrize("name", first(6, UNLIKE + OTHERS))
def test_a_check_gives_the_points_that_grading_gives(name: str, tmp_path: Path) -> None:
    case, folder = CASES[name], tmp_path / "hand-in"
    case.write(folder)
    graded = trial.graded(case.slug, folder)
    if graded.problem:
        with pytest.raises(LabError):
            look(case.slug, folder)
        return
    found = look(case.slug, folder)
    points = {line.question: line.points for line in found.lines if line.points is not None}
    assert points == graded.points
    full = {name for name, score in graded.scores.items() if score.points == score.of}
    all_points = ("right", "sealed in time")
    assert {line.question for line in found.lines if line.state in all_points} == full


def test_the_records_that_a_question_needs_are_known_without_any(tiny: Path) -> None:
    found = needed_records.of_lab(SLUG)
    assert found["seen-record"] == found["seen-bytes"] == (("A7", ""),)
    assert found["own-program"] == (("A7", "own"),)
    assert found["by-hand"] == ()
    for slug in paths.labs():
        assert set(needed_records.of_lab(slug)) <= set(lab_file.read(slug).questions)


def test_all_of_a_lab_is_right_and_says_so(tiny: Path) -> None:
    work_on(tiny)
    found = look()
    assert {line.state for line in found.lines} == {"right", "sealed in time", "a person reads it"}
    for level in (FORM, FIT):
        allow(level)
        assert state("sealed") == ("sealed in time", "")
    assert "Points: 10 of 10, counted by a program; a person gives up to 2 more." in found.summary


def test_a_notebook_that_jupyterlab_is_just_saving_is_waited_for(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = work_on(tiny) / NAME
    whole, saving = notebook.read_text(), atomic_writing(notebook)
    file = saving.__enter__()

    def saved(_: float) -> None:
        file.write(whole)
        saving.__exit__(None, None, None)

    monkeypatch.setattr(work.time, "sleep", saved)
    assert {line.state for line in look().lines} >= {"right"}


# What is open


@pytest.mark.parametrize(
    ("typed", "wanted", "says"),
    [
        ("None", "empty", "No value yet: seen_bytes."),
        ("", "malformed", "The answer cell seen-bytes-answer cannot be read as Python"),
        ("int(rate)", "malformed", "seen_bytes = int(rate), in which `rate` has no value"),
        ("'much'", "malformed", "seen_bytes: The answer is a number"),
        (
            "16,384",
            "malformed",
            "seen_bytes: The answer is a number, such as 3 or 0.25, not (16, 384).",
        ),
        ("int(16384.0)", "there", ""),
        ("8 * 2048", "there", ""),
    ],
)
def test_an_answer_without_its_form_is_named(
    tiny: Path, typed: str, wanted: str, says: str
) -> None:
    work_on(tiny, RIGHT | {"seen_bytes": typed})
    allow(FORM)
    found = state("seen-bytes")
    assert found[0] == wanted
    assert found[1].startswith(says)


def test_code_that_is_not_written_comes_before_its_record(tiny: Path) -> None:
    work_on(tiny, {}, [])
    found = state("own-program")
    assert found[0] == "empty"
    assert found[1].startswith("It is not measured yet: section ")
    path = tiny / NAME
    path.write_text(path.read_text().replace("pass_token = None", "def pass_token("))
    assert state("own-program")[0] == "malformed"


def test_what_has_to_be_measured_comes_before_the_answers(tiny: Path) -> None:
    work_on(tiny, {"pass_token": "print"}, [])
    for level in (FORM, FIT, ALL):
        allow(level)
        measure = "Run the cell that measures A7, or `beowulf study A7`."
        assert state("seen-record") == state("seen-bytes") == ("Record missing", measure)
        own_cell = "Section 'Do: count' says what to measure."
        assert state("own-program") == ("Record missing", own_cell)
        assert state("sealed") == ("prediction not sealed", "Seal rate before you measure A7.")
        assert state("drawn")[0] == "plot missing"
        assert state("by-hand") == ("empty", "No value yet: answer.")


@pytest.mark.parametrize(
    ("kept", "question", "wanted"),
    [
        (replace(a7(), complete=False), "seen-record", "Record missing"),
        (own(right=False), "own-program", "program not yet right"),
        (own(right=0.5), "own-program", "partly right"),
        (sealed(late=True), "sealed", "sealed too late"),
        (drawn(unit=""), "drawn", "plot not yet right"),
        (a7(seen_bytes="text", kind=None), "seen-record", "measure it again"),
        (a7(times=4), "both", "partly right"),
        (a7(seen_bytes=99), "seen-bytes", "does not fit your Records"),
    ],
)
def test_what_is_not_yet_right_has_a_word_of_its_own(
    tiny: Path, kept: Record, question: str, wanted: str
) -> None:
    others = [r for r in records() if (r.study, r.variant) != (kept.study, kept.variant)]
    work_on(tiny, kept=[*others, kept])
    assert state(question)[0] == wanted


def test_a_record_that_cannot_be_read_is_named_with_its_reason(tiny: Path) -> None:
    work_on(tiny, kept=[own()])
    (tiny / "records" / "A7-2024.json").write_text('{"kind": "record",')
    what, says = state("seen-record")
    assert what == "Record missing"
    assert says.startswith("A7-2024.json")
    assert says.endswith("Measure it again.")
    assert str(tiny) not in str(look())


def test_a_record_that_contradicts_itself_is_to_be_measured_again(tiny: Path) -> None:
    work_on(tiny)
    allow(FORM)
    for path in (tiny / "records").glob("A7-2*.json"):
        record = Record.load(path)
        replace(record, started=record.ended, ended=record.started).save(path)
    what, says = state("seen-record")
    assert what == "measure it again"
    assert says
    assert state("own-program") == ("there", "")


# What a course allows


def scaled(right: Mapping[str, Any]) -> dict[str, Any]:
    """Other answers of the same form: numbers that are wrong."""
    return {n: value if isinstance(value, str) else wrong(value) for n, value in right.items()}


@pytest.mark.parametrize("lab", first(2, LABS), ids=lambda lab: lab.slug)
def test_a_class_that_may_see_the_form_cannot_tell_right_from_wrong(
    lab: Gold, tmp_path: Path
) -> None:
    said = []
    for name, answers in {"right": lab.right, "wrong": scaled(lab.right)}.items():
        folder = tmp_path / name
        notebook = answered(released(lab.slug), answers)
        hand_in(folder, notebook, lab.records(), Path(file_name(lab.slug)).stem)
        (folder / limits.FILE).write_text(f'check = "{FORM}"\n')
        said.append(look(lab.slug, folder).as_plain())
    assert said[0] == said[1]
    assert said[0]["level"] == FORM
    assert {line["points"] for line in said[0]["lines"]} == {None}


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("7", ". In which unit is seen_bytes? It is at least 10 times too small."),
        ("-16384", ". Look at the sign of seen_bytes: it is the opposite one."),
        ("8000", ""),
    ],
)
def test_a_number_that_is_far_off_is_asked_about(tiny: Path, typed: str, asked: str) -> None:
    work_on(tiny, RIGHT | {"seen_bytes": typed})
    assert state("seen-bytes")[1] == f"seen_bytes = {typed}{asked}"


def test_a_class_that_may_see_what_fits_sees_no_answer_that_is_the_same_for_all(
    tiny: Path,
) -> None:
    work_on(tiny, WRONG, [a7(), own(right=False), sealed(), drawn()])
    allow(FIT)
    found = look()
    assert state("by-hand", found) == ("there", "")
    assert state("seen-bytes", found)[0] == "does not fit your Records"
    assert {line.points for line in found.lines} == {None}
    allow(ALL)
    assert state("by-hand")[0] == "not right"


@pytest.mark.parametrize("level", [FORM, ALL])
def test_at_every_level_a_program_and_a_plot_are_held_against_their_own_records(
    tiny: Path, level: str
) -> None:
    work_on(tiny, kept=[a7(), own(right=False), sealed(), drawn(unit="")])
    allow(level)
    assert state("own-program")[0] == "program not yet right"
    assert state("drawn")[0] == "plot not yet right"
    assert ("a wrong tag" in state("own-program")[1]) == (level != FORM)


def test_no_level_says_what_is_expected(tiny: Path) -> None:
    work_on(tiny, WRONG)
    for level in (FORM, FIT, ALL):
        allow(level)
        page = str(look()) + look()._repr_html_()
        assert [each for each in ("16384", "42", "500000", "ring") if each in page] == []


def test_who_learns_alone_sees_all_and_who_has_a_word_sees_the_form(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work_on(tiny)
    assert look().level == ALL
    assert "`beowulf check 99 --solution explain`" in state("explain")[1]
    monkeypatch.setenv(personal_code.VARIABLE, WORD)
    assert look().level == FORM
    assert state("explain") == ("a person reads it", "")
    assert any("You have a personal code, so" in note for note in look().notes)
    # The nearest file decides.
    (paths.root() / limits.FILE).write_text('check = "right"\n')
    assert look().level == ALL
    (paths.work("") / limits.FILE).write_text('check = "fit"\n')
    assert look().level == FIT
    allow(FORM)
    assert look().level == FORM


def test_from_a_day_on_a_class_sees_everything(tiny: Path) -> None:
    today, later = date.today(), date.today() + timedelta(days=2)
    text = "solutions_from = {}\n[labs.99]\nsolutions_from = {}\n"
    work_on(tiny)
    (tiny / limits.FILE).write_text(text.format(today, later))
    assert look().level == FORM
    assert any(f"From {later} on" in note for note in look().notes)
    with pytest.raises(LabError, match=rf"solutions are closed\. They open on {later}\."):
        solutions.solution(work.find(NUMBER), "by-hand")
    (tiny / limits.FILE).write_text(text.format(later, today))
    assert look().level == ALL
    assert "6 * 7" in solutions.solution(work.find(NUMBER), "by-hand")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('check = "all"', 1, "`check` must be one of form, fit, right, not 'all'."),
        ("\nhints = 1", 2, "`hints` must be true or false, not 1."),
        ('solutions_from = "2030-01-31"', 1, "`solutions_from` must be a day without quotes"),
        ("\nlate_points = -1", 2, "`late_points` must be a number of points"),
        ("grace_hours = true", 1, "`grace_hours` must be a number of hours"),
        ("hint = true", 1, "`hint` is not a key of course.toml. Perhaps you mean 'hints'."),
        ('check = "form"\n[labs.99]\nhints = 2', 3, "`hints` must be true or false, not 2."),
        ('[labs.9]\ncheck = "form"', 1, "there is no lab '9'. Perhaps you mean '99'."),
        ("labs = 3", 1, "`labs` must hold only tables, such as [labs.01]."),
        ("check = ", 0, "is not valid TOML: Invalid value"),
    ],
)
def test_a_mistake_in_the_courses_file_is_refused_with_its_line(
    tiny: Path, text: str, line: int, message: str
) -> None:
    work_on(tiny)
    (tiny / limits.FILE).write_text(text)
    with pytest.raises(LabError) as refused:
        look()
    where = f"{tiny / limits.FILE}, line {line}: " if line else f"{tiny / limits.FILE} "
    assert str(refused.value).startswith(where)
    assert message in str(refused.value)


# Hints and solutions


def test_hints_open_one_after_the_other_and_stay_open(tiny: Path) -> None:
    work_on(tiny)
    opened = [hints.next_hint(work.find(NUMBER), "by-hand") for _ in range(4)]
    every = [("1", "look"), ("2", "nearer"), ("3", "so")]
    shown = [re.findall(r"Hint (\d) of 3: (\w+)", text) for text in opened]
    assert shown == [every[:1], every[:2], every, every]
    assert ["opens the next" in text for text in opened] == [True, True, False, False]
    assert any("--hint QUESTION" in note for note in look().notes)


def test_hints_that_are_closed_or_not_there_are_answered_with_a_sentence(tiny: Path) -> None:
    work_on(tiny)
    with pytest.raises(LabError, match=r"The question explain has no hints\. Read labs/99-tiny"):
        hints.next_hint(work.find(NUMBER), "explain")
    with pytest.raises(LabError, match=r"no question 'by-hands'\. Perhaps you mean 'by-hand'"):
        hints.next_hint(work.find(NUMBER), "by-hands")
    (tiny / limits.FILE).write_text("hints = false\n")
    with pytest.raises(LabError, match=r"course\.toml says that hints are closed"):
        hints.next_hint(work.find(NUMBER), "by-hand")
    assert not (tiny / hints.FILE).exists()
    assert not any("--hint QUESTION" in note for note in look().notes)
    (tiny / limits.FILE).write_text("hints = true\n")
    assert "Hint 1 of 3" in hints.next_hint(work.find(NUMBER), "by-hand")


def test_a_solution_is_the_authors_answer_and_what_ones_own_records_give(tiny: Path) -> None:
    work_on(tiny, {}, [a7(seen_bytes=99), own(right=False)])
    text = solutions.solution(work.find(NUMBER), "seen-bytes")
    assert text.startswith("seen_bytes = 16384\n\nFor all points: seen_bytes: 99 (by A7-")
    assert solutions.solution(work.find(NUMBER), "explain") == "Small is one."
    program = solutions.solution(work.find(NUMBER), "own-program")
    assert program == "pass_token = len\n\nFor all points: it passes the token on."


def test_a_copy_without_sources_and_rubric_has_no_solutions_and_looks_at_the_form(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = needed_records.as_text(needed_records.of_lab(SLUG))
    (paths.labs()[SLUG] / needed_records.FILE).write_text(text)
    (paths.root() / "notebooks" / "source" / SLUG / "tiny.py").unlink()
    monkeypatch.setattr(states.questions, "has_rubric", lambda slug: False)
    work_on(tiny, RIGHT | {"seen_bytes": "7"}, [a7()])
    found = look()
    assert found.level == FORM
    assert state("seen-bytes", found) == ("there", "")
    assert state("own-program", found)[0] == "Record missing"
    with pytest.raises(LabError, match="has no solutions"):
        solutions.solution(work.find(NUMBER), "by-hand")


# Where the notebook is


def test_the_notebook_here_comes_before_that_in_the_folder_for_work(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work_on(tiny)
    work_on(tmp_path / "fetched", {}, [])
    assert state("seen-record")[0] == "right"
    monkeypatch.chdir(tmp_path / "fetched")
    assert state("seen-record")[0] == "Record missing"


def test_a_notebook_that_is_missing_or_broken_is_answered_with_a_sentence(tiny: Path) -> None:
    with pytest.raises(LabError, match=r"There is no notebook tiny.ipynb in .*`beowulf lab 99`"):
        look()
    (work_on(tiny) / NAME).write_text("{")
    with pytest.raises(LabError, match=r"tiny\.ipynb is not a notebook that can be read"):
        look()
    with pytest.raises(LabError, match="There is no lab '44'"):
        look("44")


# Progress


def test_progress_counts_answers_records_predictions_and_minutes(tiny: Path) -> None:
    cut = replace(a7(), complete=False, started="2024-01-05T09:00:00.000Z")
    work_on(tiny, RIGHT | {"answer": "None"}, [*records(), cut])
    measured = replace(sealed(), variant="rate.measured")
    measured.points[0].facts["measured"] = 2.5
    measured.save(tiny / "records" / "P99-rate.measured.json")
    found = progress.progress()
    (row,) = found.rows
    assert (row.lab, row.answered, row.questions) == (SLUG, 7, 8)
    assert (row.whole, row.records) == (3, 4)
    assert (row.sealed, row.predictions) == (1, 1)
    assert row.minutes > 0
    assert (found.inside, found.judged) == (1, 1)
    assert "inside the predicted range in 1 (100 %)" in found.calibration


def test_progress_goes_on_where_a_lab_is_not_begun_or_its_notebook_is_broken(tiny: Path) -> None:
    (row,) = progress.progress().rows
    assert (row.note, row.answered, row.minutes) == ("not begun", 0, 0)
    (work_on(tiny) / NAME).write_text("{")
    (row,) = progress.progress().rows
    assert "tiny.ipynb is not a notebook" in row.note
