"""Do the commands of an instructor do what they say, and answer a mistake with a sentence?"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from autograder.commands import app
from autograder.text import counted
from beowulf import paths
from beowulf.course import personal_code
from beowulf.errors import LabError
from tests.gold import hand_in as hands
from tests.gold import lab_01


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=True)


GUIDE = (paths.root() / "docs" / "afternoon.md").read_text(encoding="utf-8")
(ROSTER,) = re.findall(r"^```csv\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
BLOCKS = re.findall(r"^```text\n((?:beowulf|nbgrader) .*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)


@pytest.mark.nightly
def test_the_guides_commands_lead_from_a_new_course_to_grades(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, released: Any
) -> None:
    (tmp_path / "hand-ins" / "cd34").mkdir(parents=True)
    (tmp_path / "hand-ins" / "cd34" / "validation.ipynb").write_text("not a notebook")
    (tmp_path / "roster.csv").write_text(ROSTER)
    here = f"PATH={Path(sys.executable).parent}:$PATH\n"

    lines = [line for block in BLOCKS for line in block.splitlines() if " class " in line]
    commands = "init release kit collect grade report feedback export".split()
    assert [line.split()[2] for line in lines] == commands
    result = [_shell(here + "set -e\n" + BLOCKS[0], tmp_path)]
    codes = (tmp_path / "spring" / "words.csv").read_text().splitlines()
    assert [line.partition(",")[0] for line in codes] == ["student", "ab12", "cd34", "ef56"]
    # Of a class with codes, a Record counts that was made with its learner's own.
    record = lab_01.validation()
    record.cluster = {**record.cluster, "mark": personal_code.mark(codes[1].split(",")[1])}
    answered = hands.answered(released, {"ring_messages": 4, "ordered_pairs": 11})
    hands.hand_in(tmp_path / "hand-ins" / "ab12", answered, [record])
    result += [_shell(here + block, tmp_path / "spring") for block in BLOCKS[1:]]

    made, given, graded, *rest = result
    assert "its labs: 01-validation" in made.stdout
    assert "Learners: 3." in made.stdout
    assert "Personal codes: " in made.stdout
    assert "Next: cd spring; beowulf class release 01" in made.stdout
    assert "ab12: new" in graded.stdout
    assert "2 of 26, 4 by hand" in graded.stdout
    assert "note" in graded.stdout
    assert "Formgrader" in graded.stdout
    assert graded.returncode == 1  # because of cd34
    assert [done.returncode for done in (given, *rest)] == [0] * (len(BLOCKS) - 2), result
    assert (tmp_path / "spring" / "labs.zip").is_file()
    waiting = [line.split()[0] for done in result[:3] for line in done.stderr.splitlines()]
    assert waiting == ["Building", "Making", "Collecting", "Grading"]
    assert all(line.endswith("…") for done in result[:3] for line in done.stderr.splitlines())
    feedback = tmp_path / "spring" / "feedback" / "ab12" / "01-validation" / "validation.html"
    assert "0 of 1 point<" in feedback.read_text()
    assert "ordered_pairs = 11" in feedback.read_text()
    assert "ab12" in (tmp_path / "spring" / "grades.csv").read_text()
    report = (tmp_path / "spring" / "reports" / "01-validation" / "index.html").read_text()
    assert "1 hand-in that could not be collected or graded" in report
    assert "ef56" in report  # who handed in nothing
    # What is handed back is the page; what was handed in stays where grading needs it.
    beside = {path.name for path in feedback.parent.rglob("*")}
    assert beside == {"validation.html", "timestamp.txt"}
    for kept in ("submitted", "autograded"):
        assert list((tmp_path / "spring" / kept / "ab12" / "01-validation").glob("records/A2*"))

    monkeypatch.chdir(tmp_path / "spring")
    again = run("grade", "01", "--student", "ab12", "--json")
    assert again.exit_code == 0
    (found,) = json.loads(again.stdout)["01-validation"]
    assert (found["points"], found["skipped"], found["questions"]["a2-record"]) == (2, True, 1)
    assert found["by_hand"] == 4


def _shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=240
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["release", "01"], "no course"),
        (["init", "new", "--roster", "twice.csv"], "'ab12' is in line 2 and in line 3"),
        (["init", "new", "--name", "my course"], "name of a course"),
        (["init", "full"], "is not a course"),
        (["init", "new", "--exchange", "/proc/x"], "/proc/x"),
    ],
)
def test_outside_a_course_a_sentence_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    (tmp_path / "twice.csv").write_text("id\nab12\nab12\n")
    monkeypatch.chdir(tmp_path)
    problem = run(*arguments).exception
    assert isinstance(problem, LabError | OSError)
    assert said in str(problem)
    assert isinstance(problem, OSError) or problem.hint
    assert not (tmp_path / "new" / "source").exists()


@pytest.mark.nightly
def test_each_learner_gets_a_word_and_who_has_no_cluster_gets_records(
    course: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(course.folder)
    with course.gradebook() as book:
        book.update_or_create_student("ab12")
    try:
        result = run("codes")
        rows = (course.folder / "words.csv").read_text().splitlines()
        assert f"{counted(len(rows) - 1, 'learner')}." in result.stdout
        assert any(row.startswith("ab12,") for row in rows)
        lab_01.validation().save_in(tmp_path / "measured")
        result = run("give", "01", str(tmp_path / "measured"))
        assert result.stdout.startswith("1 file in ")
        (record,) = (course.folder / "given" / "01-validation").glob("*.json")
        assert "did not measure it" in record.read_text()
    finally:
        (course.folder / "words.csv").unlink(missing_ok=True)
        shutil.rmtree(course.folder / "given", ignore_errors=True)
