"""Does a learner get back the page with the reasons, and nobody's own files by mistake?"""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.feedback import leave_only_pages


def test_the_feedback_of_an_instructors_own_assignment_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for slug in ("homework", "01-validation"):
        place = tmp_path / "feedback" / "ada" / slug
        (place / "records").mkdir(parents=True)
        for name in ("page.html", "submission_secret.txt", "a.out", "records/A2.json"):
            (place / name).touch()
        (place / "elsewhere").symlink_to(tmp_path)
        leave_only_pages("*", "*", [str(tmp_path / "autograded" / "ada" / slug / "page.ipynb")])
    assert len(list(Path("feedback/ada/homework").rglob("*"))) == 6
    ours = sorted(path.name for path in Path("feedback/ada/01-validation").iterdir())
    assert ours == ["page.html", "submission_secret.txt"]
