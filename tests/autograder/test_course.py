"""From hand-in to the points in nbgrader's database: does each get exactly what it earned?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from small_class import gradebook_of

from autograder.course import release
from autograder.course.course import Course, Graded
from autograder.course.create import make_course
from autograder.grading import driver
from autograder.intake import collection
from autograder.intake import submissions as folders
from autograder.intake.submissions import EXCHANGE
from autograder.results import feedback
from beowulf import paths
from beowulf.errors import LabError, UsageError
from tests.gold import hand_in as hands
from tests.gold import lab_01

SLUG = "01-validation"


def grade(course: Course, hand_ins: Path) -> dict[str, Graded]:
    collection.collect(course, "01", hand_ins)
    chosen = sorted(path.name for path in hand_ins.iterdir())
    return {each.student: each for each in driver.grade(course, SLUG, chosen, jobs=2)}


def autograded(course: Course, student: str) -> Any:
    path = course.folder / "autograded" / student / SLUG / "validation.ipynb"
    return nbformat.read(path, as_version=4)


def test_outputs_are_those_that_the_learner_saved_and_nothing_is_run(
    course: Course, released: Any, hand_ins: Path, tmp_path: Path
) -> None:
    notebook = hands.answered(released, lab_01.RIGHT)
    there = new_output("stream", text="as I saw it\n")
    notebook.cells.insert(
        0, new_code_cell(f"open({str(tmp_path / 'ran')!r}, 'w')", outputs=[there])
    )
    hands.hand_in(hand_ins / "saved", notebook, lab_01.records())
    grade(course, hand_ins)
    assert autograded(course, "saved").cells[0].outputs == [there]
    assert not (tmp_path / "ran").exists()
    (page,) = feedback.generate(course, SLUG, ["saved"])
    assert "outputs are as you saved them" in page.files[0].read_text()


@pytest.mark.nightly
def test_the_exchange_carries_records_and_programs(course: Course, tmp_path: Path) -> None:
    fetched = Path(course.api.exchange_root) / "beowulf" / "outbound" / SLUG
    assert {"validation.ipynb", "hello.c", "ring.c"} <= {path.name for path in fetched.iterdir()}
    lab_folder = tmp_path / SLUG
    notebook = nbformat.read(fetched / "validation.ipynb", as_version=4)
    hands.hand_in(lab_folder, notebook, [lab_01.validation()])
    (lab_folder / "ring.c").write_text("/* my own ring */")
    command = [sys.executable, "-m", "nbgrader", "submit", SLUG, "--course", "beowulf"]
    command.append(f"--Exchange.root={course.api.exchange_root}")
    environment = os.environ | {"HOME": str(tmp_path), "JUPYTER_DATA_DIR": str(tmp_path / "data")}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=240)

    before = set(course.submitted(SLUG))
    (new,) = [each for each in collection.collect(course, "01") if each.student not in before]
    assert (new.outcome, new.by) == ("new", EXCHANGE)
    # Its owner may change the time in it afterwards; when the folder was changed is the system's own.
    (inbound,) = (Path(course.api.exchange_root) / "beowulf" / "inbound").iterdir()
    stamp = inbound / folders.TIMESTAMP
    ours = course.folder / "submitted" / new.student / SLUG / folders.TIMESTAMP
    assert ours.read_text() == stamp.read_text()
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
        hands.hand_in(hand_ins / "own", new_notebook(cells=[answer]), [], name="mine")
        collection.collect(course, "homework", hand_ins)
        with pytest.raises(LabError, match="`nbgrader autograde homework`"):
            driver.grade(course, "homework", ["own"])
        result = course.api.autograde("homework", "own", force=True)
        assert result["success"], result
    finally:
        shutil.rmtree(folder)
    own = gradebook_of(course, "own", "homework")
    assert own.questions == {"first": 2, "second": 1.5, "third": 0}


def test_of_a_course_git_takes_what_its_instructor_wrote(course: Course, tmp_path: Path) -> None:
    git = ["git", f"--git-dir={tmp_path / 'git'}", f"--work-tree={course.folder}"]
    subprocess.run([*git, "init", "-q"], check=True)
    assert (course.folder / "course.key").exists()
    assert (course.folder / "gradebook.db").exists()
    listed = [*git, "ls-files", "--others", "--exclude-standard"]
    seen = subprocess.check_output(listed, text=True, cwd=course.folder).split()
    written = {".gitignore", "course.toml", "nbgrader_config.py", "programs.txt"}
    assert {path.split("/")[0] for path in seen} <= written | {"given", "release", "source"}
    assert {"nbgrader_config.py", f"source/{SLUG}/validation.ipynb"} <= set(seen)


def test_a_full_disk_is_reported_and_init_goes_on_where_it_stopped(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = dict(sorted(release.sources().items())[:2])
    monkeypatch.setattr(release, "sources", lambda: two)

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
    shutil.copy(course.folder / "gradebook.db", fresh)  # for a new one nbgrader takes seconds
    assert make_course(fresh).labs == list(two)
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


def test_what_is_not_there_to_collect_is_named(course: Course, hand_ins: Path) -> None:
    with pytest.raises(UsageError, match="no folder"):
        collection.collect(course, "01", hand_ins / "nowhere")
    with pytest.raises(LabError, match="nothing to collect"):
        collection.collect(course, "01", hand_ins)


def test_another_labs_notebook_is_refused_though_labs_share_names_of_cells(
    course: Course, hand_ins: Path
) -> None:
    other = paths.root() / "notebooks" / "release" / "06-protocol-analysis" / "wire.ipynb"
    hands.hand_in(hand_ins / "early", nbformat.read(other, as_version=4), [], name="wire")
    found = {each.student: each for each in collection.collect(course, "01", hand_ins)}["early"]
    assert found.outcome == "refused"
    assert "no notebook validation.ipynb in the submission; there is wire.ipynb" in found.notes[0]


def test_a_mistake_in_a_courses_settings_is_named(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text("c = get_config(")
    with pytest.raises(LabError, match="cannot be read: SyntaxError"):
        _ = Course(tmp_path).api
