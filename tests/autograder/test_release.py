"""Is the released notebook what its source gives, the same every time, and without the answers?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autograder.course import release
from autograder.course.course import Course
from beowulf.errors import LabError

TINY = """\
# %% [markdown]
# # A tiny lab

# %%
import math

# %% nbgrader={"grade_id": "two-answer", "solution": true}
two = None
### BEGIN SOLUTION
two = 2
### END SOLUTION

# %% nbgrader={"grade_id": "two", "grade": true, "points": 1, "locked": true}
assert two is not None
### BEGIN HIDDEN TESTS
assert two == 2
### END HIDDEN TESTS
"""


def tiny(folder: Path, text: str = TINY) -> Path:
    path = folder / "tiny.py"
    path.write_text(text)
    return path


def test_the_committed_notebooks_are_what_their_sources_give() -> None:
    assert release.build(check=True) == []


def test_a_learner_gets_no_answer_and_no_hidden_test(tmp_path: Path) -> None:
    text = release.as_text(release.student_version(tiny(tmp_path)))
    assert "two = None" in text
    assert "YOUR ANSWER HERE" in text
    for secret in ("two = 2", "two == 2", "SOLUTION", "HIDDEN", "jupytext"):
        assert secret not in text


def test_nbgrader_itself_releases_the_same_notebook(course: Course, released: Any) -> None:
    by_nbgrader = course.folder / "release" / "01-validation" / "validation.ipynb"
    theirs, ours = json.loads(by_nbgrader.read_text()), json.loads(release.as_text(released))
    header = theirs["cells"].pop(0)  # what an instructor says on top of every lab
    assert "records/" in "".join(header["source"])
    assert theirs == ours


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("### END SOLUTION\n", "", "ClearSolutions"),
        ('"grade_id": "two"', '"grade_id": "two-answer"', "Duplicate grade id"),
        ('"points": 1, ', "", "CheckCellMetadata"),
        ("### END HIDDEN TESTS\n", "", "ClearHiddenTests"),
    ],
)
def test_a_source_with_a_mistake_is_refused_with_a_sentence(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in TINY
    with pytest.raises(LabError, match=said) as refused:
        release.student_version(tiny(tmp_path, TINY.replace(old, new)))
    assert "tiny.py" in str(refused.value)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of one tiny lab, whose notebook is not built yet."""
    source = tmp_path / "notebooks" / "source" / "99-tiny"
    source.mkdir(parents=True)
    tiny(source)
    monkeypatch.setattr(release.paths, "root", lambda: tmp_path)
    return tmp_path


def test_check_says_what_is_missing_changed_or_left_over(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    built = checkout / "notebooks" / "release" / "99-tiny" / "tiny.ipynb"

    assert release.main(["--check"]) == 1
    assert "tiny.ipynb is not there" in capsys.readouterr().out
    assert not built.exists()

    assert release.main([]) == 0
    assert release.main(["--check"]) == 0

    built.write_text(built.read_text().replace("None", "3"))
    built.with_name("old.ipynb").write_text("{}")
    capsys.readouterr()
    assert release.main(["--check"]) == 1
    printed = capsys.readouterr()
    assert "tiny.ipynb is not what its source gives" in printed.out
    assert "old.ipynb has no source" in printed.out
    assert "python -m autograder.course.release" in printed.err
