"""Do the commands of an instructor do what they say, and answer a mistake with a sentence?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import fabricated
import pytest
from typer.testing import CliRunner, Result

from beowulf.cli.classroom import app
from beowulf.errors import LabError, UsageError


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=True)


@pytest.mark.parametrize("command", ["init", "release", "collect", "grade"])
def test_every_command_shows_an_example(command: str) -> None:
    told = run(command, "--help")
    assert told.exit_code == 0
    assert f"Example: beowulf class {command}" in told.output


def test_a_class_from_the_first_command_to_the_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, released: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    told = run("init", "spring", "--exchange", str(tmp_path / "exchange"))
    assert told.exit_code == 0, told.output
    assert "01-validation" in told.output

    monkeypatch.chdir(tmp_path / "spring")
    told = run("release", "1")
    assert told.exit_code == 0, told.output
    assert str(tmp_path / "exchange" / "beowulf" / "outbound" / "01-validation") in told.output

    answered = fabricated.answered(released, {"ring_messages": 4})
    fabricated.hand_in(tmp_path / "in" / "ada", answered, [fabricated.validation()])
    (tmp_path / "in" / "bob").mkdir()
    (tmp_path / "in" / "bob" / "validation.ipynb").write_text("not a notebook")
    told = run("collect", "01", str(tmp_path / "in"))
    assert told.exit_code == 0, told.output
    assert "ada: new" in told.output

    told = run("grade", "01")
    assert told.exit_code == 1  # because of bob
    assert "4 of 20" in told.output
    assert "explain" in told.output

    told = run("grade", "01", "--student", "ada", "--json")
    assert told.exit_code == 0
    (ada,) = json.loads(told.stdout)
    assert (ada["points"], ada["skipped"], ada["questions"]["a2-record"]) == (4, True, 3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["release", "01"], "no course"),
        (["collect", "01", "."], "no course"),
        (["grade", "01"], "no course"),
        (["init", "full"], "is no course"),
    ],
)
def test_outside_a_course_a_sentence_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    monkeypatch.chdir(tmp_path)
    problem = run(*arguments).exception
    assert isinstance(problem, LabError)
    assert said in problem.what
    assert problem.mend


def test_an_unknown_lab_is_a_mistake_in_the_arguments(
    course: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course.folder)
    problem = run("release", "77").exception
    assert isinstance(problem, UsageError)
    assert "01-validation" in problem.mend


def test_the_whole_command_ends_with_a_sentence_and_without_a_traceback(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).parent / "beowulf"), "class", "grade", "01"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith("beowulf: There is no course")
    assert "Traceback" not in done.stderr
