"""Does a learner get back the page with the reasons, and nobody's own files by mistake?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from small_class import SLUG

from autograder.results import feedback
from autograder.results.feedback import finish_pages
from tests import gold

CASES = gold.hand_ins(SLUG)


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
        finish_pages("*", "*", [str(tmp_path / "autograded" / "ada" / slug / "page.ipynb")])
    assert len(list(Path("feedback/ada/homework").rglob("*"))) == 6
    ours = sorted(path.name for path in Path("feedback/ada/01-validation").iterdir())
    assert ours == ["page.html", "submission_secret.txt"]


def test_a_page_is_the_one_that_nbconvert_makes_and_nothing_of_the_page_before() -> None:
    from bs4 import BeautifulSoup
    from nbconvert.exporters import HTMLExporter
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

    dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

    def notebook(word: str) -> object:
        drawn = new_output("display_data", data={"image/png": dot, "text/plain": word})
        cells = [new_markdown_cell(f"# {word}\n\n| a | b |\n|---|---|\n| 1 | *2* |")]
        return new_notebook(cells=[*cells, new_code_cell(f"x = '{word}'", outputs=[drawn])])

    def plain(page: str) -> str:
        parsed = BeautifulSoup(page, features="html.parser")
        for each in parsed.select("[tabindex], img"):
            for name in ("tabindex", "alt"):
                each.attrs.pop(name, None)
        return re.sub(r"\bid=\"?[0-9a-f-]{8,}\"?|cell-id=[0-9a-f]+", "", str(parsed))

    for word in ("earlier-page", "later-page"):
        made = notebook(word)
        ours, _ = feedback.PageExporter().from_notebook_node(made)
        theirs, _ = HTMLExporter().from_notebook_node(made)
        assert plain(ours) == plain(theirs)
        assert '<img alt="What the cell drew"' in ours
    assert "earlier-page" not in ours
