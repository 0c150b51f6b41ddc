"""A lab.toml with a mistake: is it refused with a sentence that names the file, the line, and what would be right?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from beowulf import paths
from beowulf.course import lab_file
from beowulf.errors import LabError

SLUG = "99-tiny"
TINY = """\
title = "Tiny"
question = "How small?"
objectives = ["count to two"]
minutes = 10
prerequisites = ["none"]
studies = ["A1"]

[questions.two]
points = 2
read = "Do: count"
asks = "the number"
tolerance = 0.5
hints = ["look", "there", "so"]

[questions."by-eye"]
points = 1.5
read = "Compare"
asks = "what you see"
tolerance_percent = 5
limits = { most_times = -3 }

[predictions.knee]
study = "A7"
unit = "bytes"
asks = "where does it bend?"
"""
HANDOUT = "# Lab 99: How small?\n\n## 1 Do: count\n\nOne.\n\n## Compare\n"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Writes the lab.toml of a tiny lab."""
    (tmp_path / "README.md").write_text(HANDOUT)
    monkeypatch.setattr(paths, "labs", lambda: {SLUG: tmp_path})

    def written(text: str) -> None:
        (tmp_path / "lab.toml").write_text(text)

    return written


def test_a_lab_file_is_read_in_its_order_and_with_its_lines(write: Callable[[str], None]) -> None:
    write(TINY)
    lab = lab_file.read(SLUG)
    assert (lab.title, lab.minutes, lab.studies) == ("Tiny", 10, ["A1"])
    two, eye = lab.questions.values()
    assert (two.name, two.points, two.read, two.asks) == ("two", 2, "Do: count", "the number")
    assert two.limits == {"tolerance": 0.5}
    assert (eye.name, eye.points) == ("by-eye", 1.5)
    assert (two.hints, eye.hints) == (("look", "there", "so"), ())
    assert eye.limits == {"tolerance_percent": 5, "most_times": -3}
    assert eye.where == "labs/99-tiny/lab.toml, line 15"
    assert list(lab.predictions) == ["knee"]
    knee = lab.predictions["knee"]
    assert (knee.study, knee.unit, knee.asks) == ("A7", "bytes", "where does it bend?")
    assert knee.where == "labs/99-tiny/lab.toml, line 22"
    lab.refuse_unknown_sections()


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('title = "Tiny"', 'titel = "Tiny"', 1, "`titel` is not a key of a lab. Perhaps you mean 'title'."),
        ("minutes = 10", "", 0, "a lab has no `minutes`"),
        ("minutes = 10", 'minutes = "ten"', 4, "`minutes` must be a number that is 0 or more, not 'ten'"),
        ('title = "Tiny"', "title = 7", 1, "`title` must be text, not 7"),
        ("points = 2\n", "pionts = 2\n", 9, "`pionts` is not a key of the question two. Perhaps you mean 'points'."),
        ("points = 2\n", "points = true\n", 9, "`points` must be a number that is 0 or more, not True"),
        ("tolerance = 0.5", "tolerence = 0.5", 12, "Perhaps you mean 'tolerance'."),
        ("most_times = -3", 'most_times = "3"', 20, "`most_times` is not a number: '3'"),
        ('asks = "the number"', 'asks = ""', 11, "`asks` must be text, not ''"),
        ('["look", "there", "so"]', '["look", "nearer"]', 13, "`hints` is not a list of 3 texts."),
        ('"there",', '"",', 13, "`hints` must be a list of texts"),
        ('study = "A7"', "", 22, "the prediction knee has no `study`"),
        ('study = "A7"', 'study = "rates"', 23, "`study` is 'rates', which names no study"),
        ("[predictions.knee]", '[predictions."the knee"]', 22, "not 'the knee'"),
        ("points = 2\n", "points = = 2\n", 0, "is not valid TOML: Invalid value (at line 9, column 10)."),
    ],
)  # fmt: skip
def test_a_mistake_is_refused_with_file_and_line(
    write: Callable[[str], None], old: str, new: str, line: int, message: str
) -> None:
    assert old in TINY
    write(TINY.replace(old, new, 1))
    with pytest.raises(LabError) as refused:
        lab_file.read(SLUG)
    where = f"labs/99-tiny/lab.toml, line {line}:" if line else "labs/99-tiny/lab.toml"
    assert str(refused.value).startswith(where)
    assert message in str(refused.value)


def test_what_is_no_table_of_questions_or_predictions_is_refused_and_predictions_may_be_left_out(
    write: Callable[[str], None],
) -> None:
    head, lab = TINY.partition("[questions.two]")[0], TINY.partition("[predictions.knee]")[0]
    write(lab)
    assert lab_file.read(SLUG).predictions == {}
    for text, said in {
        f"{head}[questions]\ntwo = 2\n": r"line 9: the question two is not a table.*\[questions.two\]",
        f"questions = 3\n{head}": "line 1: `questions` must be a table",
        f"predictions = 3\n{lab}": "line 1: `predictions` must be a table",
        f"{lab}[predictions]\nknee = 3\n": r"prediction knee is not a table.*\[predictions.knee\]",
    }.items():
        write(text)
        with pytest.raises(LabError, match=said):
            lab_file.read(SLUG)


def test_a_heading_that_the_handout_does_not_have_is_refused(
    write: Callable[[str], None],
) -> None:
    write(TINY.replace('"Do: count"', '"Do: cuont"'))
    with pytest.raises(LabError) as refused:
        lab_file.read(SLUG).refuse_unknown_sections()
    assert str(refused.value) == (
        "labs/99-tiny/lab.toml, line 8: the question two sends the learner to 'Do: cuont', a heading that"
        " labs/99-tiny/README.md does not have. Perhaps you mean 'Do: count'."
    )
