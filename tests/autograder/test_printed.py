"""Does an instructor get a key with the points and the author's answers, to print?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder.commands import app
from beowulf.course import lab_file
from beowulf.errors import LabError, UsageError


def printed(*words: str) -> str:
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_key_has_the_authors_answers_and_nothing_that_runs(tmp_path: Path) -> None:
    page = tmp_path / "key.html"
    assert str(page) in printed("key", "01", "-o", str(page))
    text = page.read_text()
    headings = re.findall(r"<h3>(\S+), ", text)
    assert headings == list(lab_file.read("01-validation").questions)
    assert "world.send(token, dest=after)" in text
    assert "Distinguishing cause from consequence earns" in " ".join(text.split())
    assert "A number is right within 1 %, or 0.00001 in its unit." in text
    assert "no answer for it" in text.partition("<h3>a2-record")[2].partition("<h3>")[0]
    assert "SOLUTION" not in text
    assert "<script" not in text
    assert "http" not in text
    # What the limits of times are called there is explained at its top.
    limits = (each.limits for each in lab_file.read("09-prediction").questions.values())
    times = {name for names in limits for name in names if name.endswith("_ms")}
    explained = re.findall(r"<code>(\w+)</code>\s(?:is the time|the one) within which", text)
    assert times == set(explained)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["key", "12"], "There is no lab '12'"),
        (["key", "01", "-o", "/nowhere/key.html"], r"key\.html cannot be written"),
    ],
)
def test_what_cannot_be_printed_is_refused_in_a_sentence(words: list[str], sentence: str) -> None:
    with pytest.raises((LabError, UsageError), match=sentence):
        CliRunner().invoke(app, words, catch_exceptions=False)
