"""Are answers read without being run, and files that are no Records refused with a reason?"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.evidence import record_files
from autograder.rubrics.submission import Submission
from tests.gold import lab_01


def handed_in(folder: Path, *sources: str) -> Submission:
    marks = {"nbgrader": {"grade_id": "an-answer", "solution": True}}
    cells = [new_code_cell(source, metadata=marks) for source in sources]
    return Submission.read(folder, new_notebook(cells=cells))


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("x = 12", 12),
        ("y = x = [1, None]", [1, None]),
        ("x = 8 * 1380 / 60.25 / 1e6", 8 * 1380 / 60.25 / 1e6),
        ("x = 1\nx = 2", 2),
        ("!ls\n%time\nx = 3", 3),
        ("y = 17.9\nx = y / 2", 8.95),
        ("a = 2\nb = a * a\nx = 3 * b - -a", 14),
        ("y = 3\nx = y\ny = 4", 3),
    ],
)
def test_a_plain_value_is_an_answer(tmp_path: Path, source: str, value: Any) -> None:
    assert handed_in(tmp_path, source).answers["x"] == value


@pytest.mark.parametrize(
    "source",
    [
        "x = open('/etc/passwd').read()",
        "x = y",
        "x = 9 ** 9 ** 9",
        "x = 'a' * 10 ** 10",
        "x = 1 / 0",
        "x = " + "+".join(["1"] * 5000),
        "y = 2\nx = y.real",
        "y = 'a'\nx = y * 10 ** 9",
        "y = 1e200\nx = y ** y",
        "y = 1e299\nx = y * y * y * y",
        "y = 9" + "9" * 299 + "\n" + "y = y * y\n" * 30 + "x = y",
        "x = 1 << 10 ** 9",
        "x = round(1, -10 ** 9)",
        "x = int('9' * 3)",
        "y = 'ab'\n" + "y = y + y\n" * 40 + "x = y",
        "y = [1]\n" + "y = [y, y]\n" * 40 + "x = y",
        "y = '" + "y" * 9_000 + "'\nx = [" + "y, " * 9_000 + "]",
        "y = [" + "1, " * 5_000 + "]\n" + "x = max(y)\n" * 1_000,
        "x = [1, 2].pop()",
        "x = 1\nfor x in range(3):\n    pass",
        "x = [1]\nx[0] = 2",
        "x = 1\ndel x",
        "x, y = [1, 2, 3]",
    ],
)
def test_what_would_have_to_be_run_is_no_answer(tmp_path: Path, source: str) -> None:
    found = handed_in(tmp_path, source)
    assert "x" not in found.answers
    assert found.unread_answers.get("x") or found.notes


@pytest.mark.parametrize(
    "source", ["x = (", "x = " + "(" * 500, "x" * 200_000, "x = \0", "x = 1\n" * 2_001]
)
def test_a_cell_that_is_no_python_or_too_long_gives_a_note_and_no_error(
    tmp_path: Path, source: str
) -> None:
    found = handed_in(tmp_path, source, "y = 1")
    assert found.answers == {"y": 1}
    assert "an-answer" in found.notes[0]


@pytest.mark.parametrize(
    "source", ["1e400", "-1e400", "0x" + "f" * 9_000, "[1, {2: 0x" + "f" * 9_000 + "}]"]
)
def test_a_number_out_of_range_is_no_answer_and_can_be_quoted(tmp_path: Path, source: str) -> None:
    found = handed_in(tmp_path, f"x = {source}\ny = 1")
    assert found.answers == {"y": 1}
    assert "a number out of range" in found.given("x")


def test_a_cell_is_split_into_lines_once_and_not_for_each_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It splits the whole cell again, so that thousands of lines take minutes.
    monkeypatch.delattr(ast, "get_source_segment")
    found = handed_in(tmp_path, "a = 'ü'; b = f(\n  'é',\n 2) ; c = g()\nd = h('x')")
    began = [text.partition(", which cannot")[0] for text in found.unread_answers.values()]
    assert began == ["b = f(\n  'é',\n 2)", "c = g()", "d = h('x')"]


def test_an_answer_cell_counts_before_a_learners_own_cells_which_give_names(tmp_path: Path) -> None:
    def marks(**more: Any) -> dict[str, Any]:
        return {"nbgrader": {"grade_id": "a-cell", **more}}

    cells = [
        new_code_cell("cores = 2"),
        new_code_cell("x = 8 / cores\ny = None", metadata=marks(solution=True)),
        new_code_cell("x = y = 3", metadata=marks(locked=True)),
        new_code_cell("x = y = 12"),
        new_code_cell("this is none"),
        new_code_cell("%%px\ny = 7"),
        new_code_cell("#" * 500_000),
    ]
    found = Submission.read(tmp_path, new_notebook(cells=cells))
    assert (found.answers["x"], found.answers["y"]) == (4, 12)
    assert found.notes == []


def test_each_bad_file_has_its_reason_and_good_ones_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "records"
    folder.mkdir()
    monkeypatch.setattr(record_files, "LARGEST_RECORD_BYTES", 100_000)
    good = lab_01.idle()
    good.save_in(folder)
    content = json.loads((folder / good.file_name).read_text())
    (folder / "A2-newer.json").write_text(json.dumps(content | {"schema": 99}))
    (folder / "A2-cut.json").write_text(json.dumps(content)[:200])
    (folder / "A2-deep.json").write_text("[" * 90_000)
    (folder / "A2-huge.json").write_text(" " * 200_000)
    (folder / "A2-latin.json").write_bytes(b'{"x": "\xe9"}')
    (folder / "A2-link.json").symlink_to("/etc/passwd")
    (folder / "A2-folder.json").mkdir()
    (folder / "answers.json").write_text("what cluster.ask() remembers")

    found = Submission.read(tmp_path, new_notebook())

    assert [record.study for record in found.records] == ["A5"]
    why = {bad.file: bad.why for bad in found.unreadable}
    assert set(why) == {
        f"A2-{name}.json" for name in ["newer", "cut", "deep", "huge", "latin", "link", "folder"]
    }
    assert "newer version" in why["A2-newer.json"]
    assert "truncated" in why["A2-cut.json"]
    assert str(tmp_path) not in " ".join(why.values())
    assert "A2-cut.json" in found.missing("A2")


def test_the_newest_record_of_a_study_comes_first(tmp_path: Path) -> None:
    folder = tmp_path / "records"
    folder.mkdir()
    for hour in ("09", "11", "10"):
        lab_01.validation(started=f"2026-01-05T{hour}:00:00.000Z").save_in(folder)
    found = Submission.read(tmp_path, new_notebook()).measured("A2")
    assert [record.started[11:13] for record in found] == ["11", "10", "09"]
