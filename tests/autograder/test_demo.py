"""Does the demo course show an instructor what a class shows, and go with one command?"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from autograder.commands import app
from beowulf.errors import LabError

SLUG = "01-validation"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["demo", *arguments])


@pytest.mark.nightly
def test_eight_learners_are_graded_and_nothing_of_them_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("class")
    assert done.exit_code == 0, done.exception
    for line in done.stdout.splitlines():
        where = next((word.rstrip(",") for word in line.split() if word.endswith("html")), "class")
        assert Path(where).exists(), line
    with Path("class", "reports", SLUG, "points.csv").open() as file:
        rows = {row["learner"]: row for row in csv.DictReader(file)}
    points = {name: float(row["points"]) for name, row in rows.items()}
    assert len(points) == 7, "the eighth hand-in cannot be read"
    assert points["learner-01"] == 30
    assert points["learner-02"] > points["learner-03"] > points["learner-04"]
    assert float(rows["learner-06"]["for being late"]) == -1
    assert float(rows["learner-02"]["for being late"]) == 0, "it has another due date"
    report = Path("class", "reports", SLUG, "index.html").read_text()
    for words in (
        "suspicion",
        "learner-08",
        "answers to grade by hand",
        "1 hand-in that could not",
    ):
        assert words in report, words
    assert (
        "Measure it again" in Path("class/feedback/learner-07", SLUG, "validation.html").read_text()
    )
    with pytest.raises(LabError, match="class exists"):
        raise run("class").exception or AssertionError
    assert run("class", "--remove").exit_code == 0
    assert list(tmp_path.iterdir()) == []


def test_only_a_demo_course_is_removed(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    problem = run(str(tmp_path), "--remove").exception
    assert isinstance(problem, LabError)
    assert (tmp_path / "thesis.tex").exists()
