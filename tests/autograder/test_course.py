"""From hand-in to the points in nbgrader's database: does each get exactly what it earned?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import fabricated
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from nbgrader.api import Gradebook

from autograder.course.course import Course, Graded
from autograder.course.create import make_course
from autograder.course.roster import Directory
from autograder.grading import driver
from autograder.intake import collection
from autograder.intake import submissions as folders
from autograder.intake.submissions import EXCHANGE, Collected, Wanted
from autograder.results import feedback
from autograder.rubrics.score import MIME_TYPE
from beowulf.errors import LabError, UsageError
from tests.gold import lab_01
from tests.gold.measured import as_handed_in

SLUG = "01-validation"
EVERYTHING = dict(lab_01.WORTH)
NOTHING = dict.fromkeys(EVERYTHING, 0)


def grade(course: Course, hand_ins: Path, *students: str) -> dict[str, Graded]:
    collection.collect(course, "01", hand_ins)
    chosen = list(students) or sorted(path.name for path in hand_ins.iterdir())
    return {each.student: each for each in driver.grade(course, SLUG, chosen, jobs=2)}


def autograded(course: Course, student: str) -> Any:
    path = course.folder / "autograded" / student / SLUG / "validation.ipynb"
    return nbformat.read(path, as_version=4)


def cell(notebook: Any, name: str) -> Any:
    named = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name]
    return named[0]


def reason(notebook: Any, name: str) -> dict[str, Any]:
    found: dict[str, Any] = cell(notebook, name).outputs[0].data[MIME_TYPE]
    return found


WRONG = {
    "hosts_first_line": "127.0.1.1 node01",
    "ordered_pairs": 6,
    "ring_messages": 4,
    "idle_mbit_per_s": 8 * fabricated.WIRE_BYTES / fabricated.WIRE_SECONDS,  # bit/s, not Mbit/s
    "fault_a": "wrong-hosts",
    "node_a": "node03",
    "fault_b": "key-refused",
    "node_b": "node02",
    "fault_c": "node-down",
    "node_c": "node01",
    "sender_rank": 1,
    "receiving_ranks": 2,  # without rank 0
    "node_d": "node01",
}


def test_perfect_empty_and_wrong_hand_ins_get_exactly_their_points(
    course: Course, released: Any, hand_ins: Path
) -> None:
    answered = fabricated.answered(released, fabricated.RIGHT)
    fabricated.hand_in(hand_ins / "perfect", answered, fabricated.records())
    fabricated.hand_in(hand_ins / "empty", released, [])
    broken = [r for r in fabricated.records() if r.study == "A5" or r.variant]
    offered = fabricated.validation("node-down", "node03")
    wrong = fabricated.answered(released, WRONG)
    fabricated.hand_in(hand_ins / "wrong", wrong, [*broken, offered])

    found = grade(course, hand_ins)

    assert found["perfect"].questions == EVERYTHING | {"explain": None}
    assert (found["perfect"].points, found["perfect"].of) == (26, 30)
    assert (found["perfect"].by_hand, found["empty"].by_hand) == (4, 0)
    assert found["perfect"].awaiting == ["explain"]

    assert found["empty"].questions == NOTHING | {"explain": 0}
    assert "records/" in reason(autograded(course, "empty"), "a2-record")["found"]

    earned = NOTHING | lab_01.MEASURED | {"a2-record": 1 / 3, "ring-messages": 1}
    earned |= {"broken-a": 0.5, "broken-b": 0.5, "ring-waits": 1}
    of_wrong = dict(found["wrong"].questions)
    assert of_wrong.pop("explain") is None
    assert of_wrong == pytest.approx(earned)
    assert "node-down" in reason(autograded(course, "wrong"), "a2-record")["found"]
    assert "12" in reason(autograded(course, "wrong"), "ordered-pairs")["expected"]


def forge(notebook: Any) -> Any:
    """Every way that is known to change what the test cells say, in one notebook."""
    forged = deepcopy(notebook)
    for each in forged.cells:
        marks = each.metadata.get("nbgrader", {})
        if marks.get("grade") and each.cell_type == "code":
            each.source = "100"
            each.metadata["tags"] = ["skip-execution"]
            marks |= {"points": 100, "locked": False, "checksum": "0"}
    cell(forged, "a2-record").metadata["nbgrader"]["grade"] = False
    cell(forged, "a5-record").metadata["nbgrader"]["grade_id"] = "another"
    forged.cells.append(deepcopy(cell(forged, "ring-messages")))
    forged.cells[-1]["id"] = "a-copy"
    forged.cells.remove(cell(forged, "ordered-pairs"))
    forged.cells.insert(
        0,
        new_code_cell(
            "import IPython, sys\ndef form(*_): return 100\nprint('100', file=sys.stderr)\n100"
        ),
    )
    return forged


def test_a_tampered_hand_in_gets_what_its_records_and_answers_earn(
    course: Course, released: Any, hand_ins: Path
) -> None:
    answered = fabricated.answered(released, fabricated.RIGHT)
    fabricated.hand_in(hand_ins / "forger", forge(released), [])
    fabricated.hand_in(hand_ins / "forger-who-worked", forge(answered), fabricated.records())
    found = grade(course, hand_ins)
    assert {name: each.problem for name, each in found.items() if each.problem} == {}
    assert found["forger"].questions == NOTHING | {"explain": 0}
    assert found["forger-who-worked"].questions == EVERYTHING | {"explain": None}
    test = cell(autograded(course, "forger"), "ring-messages")
    assert test.source == cell(released, "ring-messages").source


def test_outputs_are_those_that_the_learner_saved_and_nothing_is_run(
    course: Course, released: Any, hand_ins: Path, tmp_path: Path
) -> None:
    notebook = fabricated.answered(released, fabricated.RIGHT)
    there = new_output("stream", text="as I saw it\n")
    notebook.cells.insert(
        0, new_code_cell(f"open({str(tmp_path / 'ran')!r}, 'w')", outputs=[there])
    )
    fabricated.hand_in(hand_ins / "saved", notebook, fabricated.records())
    grade(course, hand_ins)
    assert autograded(course, "saved").cells[0].outputs == [there]
    assert not (tmp_path / "ran").exists()
    (page,) = feedback.generate(course, SLUG, ["saved"])
    assert "outputs are as you saved them" in page.files[0].read_text()


def test_bad_hand_ins_get_a_sentence_and_do_not_stop_the_others(
    course: Course, released: Any, hand_ins: Path
) -> None:
    for name, content in {
        "a-picture": b"\x89PNG\r\n",
        "b-text": b"This is my notebook.",
        "c-list": b"[1, 2, 3]",
        "d-cut": json.dumps(released).encode()[:5000],
        "e-empty": b"",
        "f-cells": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [7]}',
    }.items():
        (hand_ins / name).mkdir()
        (hand_ins / name / "validation.ipynb").write_bytes(content)
    renamed = hand_ins / "g-renamed"
    fabricated.hand_in(renamed, released, [], name="validation (1)")
    fabricated.hand_in(hand_ins / "h-two", released, [], name="validation (1)")
    nbformat.write(released, hand_ins / "h-two" / "validation (2).ipynb")
    good = fabricated.answered(released, {"ring_messages": 4})
    fabricated.hand_in(hand_ins / "z-good", good, [fabricated.validation()])
    (hand_ins / "z-good" / "records" / "A5-bad.json").write_text("{")

    found = grade(course, hand_ins)

    for name in found:
        assert bool(found[name].problem) == (name not in ("g-renamed", "z-good")), found[name]
        assert "Traceback" not in found[name].problem
    # Two notebooks without the right name: nobody can know which one counts.
    assert "there is validation (1).ipynb, validation (2).ipynb" in found["h-two"].problem
    assert found["b-text"].problem.startswith("validation.ipynb is not a notebook that can be read")
    assert found["z-good"].points == 2
    assert "truncated" in reason(autograded(course, "z-good"), "a5-record")["found"]


def test_points_by_hand_stay_when_a_newer_hand_in_is_graded(
    course: Course, released: Any, hand_ins: Path
) -> None:
    place = fabricated.hand_in(hand_ins / "twice", fabricated.answered(released, {}), [])
    assert grade(course, hand_ins)["twice"].points == 0
    assert grade(course, hand_ins)["twice"].skipped

    with Gradebook(course.api.coursedir.db_url) as book:
        by_hand = book.find_grade("explain", "validation", SLUG, "twice")
        by_hand.manual_score, by_hand.needs_manual_grade = 3, False
        book.db.commit()

    (place / "records" / "more").mkdir()
    as_handed_in(fabricated.idle()).save_in(place / "records")
    found = grade(course, hand_ins)["twice"]
    assert not found.skipped
    assert found.questions["a5-record"]
    assert found.points == found.questions["a5-record"] + 3
    assert found.by_hand == 0


@pytest.mark.nightly
def test_nbgraders_own_commands_give_the_same_points(
    course: Course, released: Any, hand_ins: Path
) -> None:
    notebook = fabricated.answered(released, {"ring_messages": 4})
    fabricated.hand_in(hand_ins / "by-nbgrader", notebook, [fabricated.validation()])
    collection.collect(course, "01", hand_ins)
    subprocess.run(
        [sys.executable, "-m", "nbgrader", "autograde", SLUG, "--student", "by-nbgrader"],
        cwd=course.folder,
        check=True,
        capture_output=True,
        timeout=240,
    )
    found = course.graded("by-nbgrader", SLUG)
    assert found.questions == NOTHING | {"a2-record": 1, "ring-messages": 1, "explain": None}


@pytest.mark.nightly
def test_the_exchange_carries_records_and_programs(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched = Path(course.api.exchange_root) / "beowulf" / "outbound" / SLUG
    assert {"validation.ipynb", "hello.c", "ring.c"} <= {path.name for path in fetched.iterdir()}
    lab_folder = tmp_path / SLUG
    notebook = nbformat.read(fetched / "validation.ipynb", as_version=4)
    fabricated.hand_in(lab_folder, notebook, [fabricated.validation()])
    (lab_folder / "ring.c").write_text("/* my own ring */")
    command = [sys.executable, "-m", "nbgrader", "submit", SLUG, "--course", "beowulf"]
    environment = os.environ | {"HOME": str(tmp_path), "JUPYTER_DATA_DIR": str(tmp_path / "data")}
    where = f"--Exchange.root={course.api.exchange_root}"
    subprocess.run(
        [*command, where],
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
        timeout=240,
    )

    before = set(course.submitted(SLUG))
    (new,) = [each for each in collection.collect(course, "01") if each.student not in before]
    assert (new.outcome, new.by) == ("new", EXCHANGE)
    # Its owner may change the time in it afterwards; when the folder was changed is the system's own.
    (inbound,) = (Path(course.api.exchange_root) / "beowulf" / "inbound").iterdir()
    stamp = inbound / folders.TIMESTAMP
    ours = course.folder / "submitted" / new.student / SLUG / folders.TIMESTAMP
    assert ours.read_text() == stamp.read_text()
    assert not [note for note in new.notes if "in the exchange" in note]
    kept = stamp.read_text()
    stamp.write_text("2026-01-01 10:00:00.000000 UTC")
    shutil.rmtree(ours.parent.parent)
    (again,) = [each for each in collection.collect(course, "01") if each.student == new.student]
    assert "Its folder in the exchange was changed at" in " ".join(again.notes)
    stamp.write_text(kept)
    (found,) = driver.grade(course, SLUG, [new.student])
    assert found.questions["a2-record"] == 1
    kept = course.folder / "autograded" / new.student / SLUG / "ring.c"
    assert kept.read_text() == "/* my own ring */"
    # The page goes back the same way, and that of a hand-in from a folder does not.
    (page,) = feedback.generate(course, SLUG, [new.student])
    assert not page.problem
    assert course.release_feedback(SLUG, new.student)
    assert list((Path(course.api.exchange_root) / "beowulf" / "feedback").glob("*.html"))
    secret = course.folder / "feedback" / new.student / SLUG / "submission_secret.txt"
    secret.unlink()
    assert not course.release_feedback(SLUG, new.student)


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_an_assignment_of_the_instructors_own_is_graded_by_its_own_tests(
    course: Course, hand_ins: Path
) -> None:
    def marked(source: str, name: str, **marks: Any) -> Any:
        plain = {"grade": False, "solution": False, "locked": False, "schema_version": 3}
        return new_code_cell(source, metadata={"nbgrader": plain | marks | {"grade_id": name}})

    answer = marked("x = 3", "answer", solution=True)
    hidden = "### BEGIN HIDDEN TESTS\nassert x == 3\n### END HIDDEN TESTS"
    first = marked(hidden, "first", grade=True, locked=True, points=2)
    second = marked("x / 2", "second", grade=True, locked=True, points=5)
    third = marked("assert x == 4", "third", grade=True, locked=True, points=3)
    folder = course.folder / "source" / "homework"
    folder.mkdir()
    nbformat.write(new_notebook(cells=[answer, first, second, third]), folder / "mine.ipynb")
    try:
        released = course.release("homework")
        assert "x == 3" not in (released / "mine.ipynb").read_text().replace("x = 3", "")
        fabricated.hand_in(hand_ins / "own", new_notebook(cells=[answer]), [], name="mine")
        collection.collect(course, "homework", hand_ins)
        with pytest.raises(LabError, match="`nbgrader autograde homework`"):
            driver.grade(course, "homework", ["own"])
        result = course.api.autograde("homework", "own", force=True)
        assert result["success"], result
    finally:
        shutil.rmtree(folder)
    assert course.graded("own", "homework").questions == {"first": 2, "second": 1.5, "third": 0}


def test_links_pipes_and_oversize_are_left_out_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "LARGEST_FILE_KB", 10)
    monkeypatch.setattr(folders, "LARGEST_SUBMISSION_KB", 15)
    one = tmp_path / "in" / "one"
    one.mkdir(parents=True)
    (one / "validation.ipynb").write_text("{}")
    (one / "secret.json").symlink_to("/etc/passwd")
    (one / "elsewhere").symlink_to("/etc")
    (one / ".ipynb_checkpoints").mkdir()
    (one / ".ipynb_checkpoints" / "old.ipynb").write_text("{}")
    (one / "large.bin").write_bytes(b"0" * 10_001)
    os.mkfifo(one / "pipe")
    two = tmp_path / "in" / "two" / SLUG
    two.mkdir(parents=True)
    (two / "a.bin").write_bytes(b"0" * 9_000)
    (two / "b.bin").write_bytes(b"0" * 9_000)
    (tmp_path / "in" / "three").mkdir()

    def collect() -> dict[str, Collected]:
        nobody = Directory([], complete=False)
        found = folders.collect(tmp_path / "in", Wanted(SLUG), tmp_path / "to", nobody)
        return {each.student: each for each in found}

    found = collect()

    assert {name: each.outcome for name, each in found.items()} == {
        "one": "new",
        "two": "refused",
        "three": "refused",
    }
    left_out = [note for note in found["one"].notes if note.endswith("is left out.")]
    assert len(left_out) == 4
    copied = sorted(path.name for path in (tmp_path / "to" / "one" / SLUG).iterdir())
    assert copied == ["timestamp.txt", "validation.ipynb"]
    assert collect()["one"].outcome == "unchanged"


def test_a_full_disk_does_not_cost_the_hand_in_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "in" / "ada"
    source.mkdir(parents=True)
    (source / "validation.ipynb").write_text("old")
    where = (tmp_path / "in", Wanted(SLUG), tmp_path / "to", Directory([], complete=False))
    list(folders.collect(*where))
    (source / "validation.ipynb").write_text("new")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folders.shutil, "copyfileobj", full)
    (found,) = folders.collect(*where)
    assert found.outcome == "refused"
    assert "No space left" in found.notes[0]
    place = tmp_path / "to" / "ada"
    assert [path.name for path in place.iterdir()] == [SLUG]
    assert (place / SLUG / "validation.ipynb").read_text() == "old"


def test_a_folder_that_is_no_course_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(LabError, match="is no course"):
        make_course(tmp_path)
    with pytest.raises(LabError, match="beowulf class init"):
        Course.find(tmp_path)
    with pytest.raises(UsageError, match="name of a course"):
        make_course(tmp_path / "new", course_id="my course")


def test_of_a_course_git_takes_what_its_instructor_wrote(course: Course, tmp_path: Path) -> None:
    git = ["git", f"--git-dir={tmp_path / 'git'}", f"--work-tree={course.folder}"]
    subprocess.run([*git, "init", "-q"], check=True)
    assert (course.folder / "course.key").exists()
    assert (course.folder / "gradebook.db").exists()
    seen = subprocess.run(
        [*git, "ls-files", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
        text=True,
        cwd=course.folder,
    ).stdout.split()
    assert {path.split("/")[0] for path in seen} <= {
        ".gitignore",
        "course.toml",
        "given",
        "nbgrader_config.py",
        "programs.txt",
        "release",
        "source",
    }
    assert {"nbgrader_config.py", f"source/{SLUG}/validation.ipynb"} <= set(seen)


def test_a_full_disk_is_reported_and_init_goes_on_where_it_stopped(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    fresh = tmp_path / "fresh"
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        with pytest.raises(LabError, match=r"cannot be written \(no space left"):
            make_course(fresh)
        assert list(fresh.iterdir()) == []
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space left"):
            make_course(fresh)
    assert make_course(fresh).labs == course.labs
    assert (fresh / "source" / SLUG / "hello.c").stat().st_size > 0


def test_nbgraders_programs_are_found_when_the_environment_is_not_activated(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    _ = Course(course.folder).api
    found = shutil.which("alembic")
    assert found is not None
    assert Path(found).parent == Path(sys.executable).parent


def test_a_course_is_kept_from_others_and_made_only_once(course: Course) -> None:
    assert course.folder.stat().st_mode & 0o077 == 0
    notebook = course.folder / "source" / SLUG / "validation.ipynb"
    before = notebook.read_text()
    notebook.write_text(before.replace("Is this a cluster?", "Is this one?"))
    assert make_course(course.folder).labs == course.labs
    assert "Is this one?" in notebook.read_text()
    notebook.write_text(before)


@pytest.mark.nightly
def test_what_cannot_be_graded_yet_is_reported(tmp_path: Path) -> None:
    fresh = make_course(tmp_path / "fresh")
    with pytest.raises(UsageError, match="no lab 'x'"):
        fresh.release("x")
    with pytest.raises(UsageError, match="no folder"):
        collection.collect(fresh, "01", tmp_path / "nowhere")
    (tmp_path / "nobody").mkdir()
    with pytest.raises(LabError, match="nothing to collect"):
        collection.collect(fresh, "01", tmp_path / "nobody")
    with pytest.raises(LabError, match="not released yet"):
        driver.grade(fresh, SLUG)
    with pytest.raises(LabError, match=r"could not be collected|No learner has handed in"):
        collection.collect(fresh, "01")
    fresh.release("01")
    with pytest.raises(LabError, match="No learner has handed in"):
        collection.collect(fresh, "01")
    with pytest.raises(LabError, match="No submission of"):
        driver.grade(fresh, SLUG)
    (fresh.folder / "nbgrader_config.py").write_text("c = get_config(")
    with pytest.raises(LabError, match="cannot be read: SyntaxError"):
        Course(fresh.folder).release("01")
