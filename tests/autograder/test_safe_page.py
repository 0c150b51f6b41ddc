"""Does what learners wrote reach a browser as text and pictures alone, and readable?"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from copy import deepcopy
from html.parser import HTMLParser
from pathlib import Path

import pytest
from attacks import HTML, MARKDOWN
from hypothesis import given, settings
from hypothesis import strategies as st
from nbconvert.filters import markdown2html
from nbformat import NotebookNode
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
)

from autograder.grading import safe_page
from autograder.results import feedback
from autograder.rubrics.score import MIME_TYPE, Score

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n and more").decode()
ANSWER = """The cable is **busy**: `a < b` and $5 for x_1.

- one
- two

```python
if a < b:

    print("*")
```

[a paper](https://example.org/a_b)"""


class Seen(HTMLParser):
    """The tags and attributes of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def refuse_all_that_acts(page: str) -> None:
    seen = Seen(page)
    assert seen.tags <= safe_page.TAGS
    for name, value in seen.attributes:
        assert name in {"href", "src", "alt", "align", "class", "target", "rel"}
        assert name != "href" or re.match(r"https?://|mailto:", value)
        assert name != "src" or value.startswith(("data:image/png;base64,", "data:image/jpeg;"))


def test_a_plain_answer_reads_as_it_was_written() -> None:
    page = safe_page.markdown(ANSWER)
    seen = Seen(page)
    assert {"strong", "code", "ul", "li", "pre", "a"} <= seen.tags
    assert "a < b and $5 for x_1" in seen.text
    assert 'if a < b:\n\n    print("*")' in seen.text
    assert ("target", "_blank") in seen.attributes
    assert ("rel", "noopener noreferrer") in seen.attributes


@pytest.mark.parametrize("name", MARKDOWN)
def test_nothing_in_an_answer_acts(name: str) -> None:
    page = safe_page.markdown(MARKDOWN[name])
    refuse_all_that_acts(page)
    # nbgrader's pages make HTML of it once more.
    refuse_all_that_acts(markdown2html(page))


@settings(max_examples=15)
@given(st.lists(st.sampled_from([*MARKDOWN.values(), *ANSWER.split("\n")]), max_size=6), st.text())
def test_no_mixture_of_answers_acts(parts: list[str], between: str) -> None:
    page = safe_page.markdown(between.join(parts))
    assert "\n" not in page
    refuse_all_that_acts(page)
    refuse_all_that_acts(markdown2html(page))
    assert Seen(markdown2html(page)).text.strip() == Seen(page).text.strip()


def test_a_pasted_picture_stays_and_nothing_that_only_says_it_is_one() -> None:
    for kind, data, stays in (
        ("image/png", PNG, True),
        ("image/svg+xml", PNG, False),
        ("image/png", base64.b64encode(b"<svg>").decode(), False),
        ("image/png", PNG + '" onerror="alert(1)', False),
    ):
        page = safe_page.markdown("![a *plot*](attachment:p.png)", {"p.png": {kind: data}})
        assert (f"data:image/png;base64,{PNG}" in page) is stays
    assert "img" in Seen(safe_page.markdown("![x](https://example.org/x.png)")).tags
    refuse_all_that_acts(safe_page.markdown("![x](https://example.org/x.png)"))


def kept_safe(tmp_path: Path, *cells: NotebookNode) -> NotebookNode:
    """A notebook of these cells as grading writes it."""
    whole = new_notebook()
    whole.cells = list(cells)
    notebook, _ = safe_page.KeepSafe().preprocess(whole, {"metadata": {"path": str(tmp_path)}})
    return notebook


MUCH = "x" * 19_000
BIG_PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(1_000_000)).decode()


def streams(text: str) -> list[NotebookNode]:
    return [new_code_cell(outputs=[new_output("stream", text=text)] * 90)] * 9


def displayed(data: dict[str, str], times: int = 900, cells: int = 1) -> list[NotebookNode]:
    return [new_code_cell(outputs=[new_output("display_data", data=data)] * times)] * cells


TABLE = "|a" * 900 + "|\n" + "|-" * 900 + "|\n" + "|b\n" * 2_500


@pytest.mark.parametrize(
    "made",
    [
        lambda: [new_markdown_cell("![x](attachment:p.png) " * 800)],
        lambda: [new_markdown_cell(TABLE)] * 2,
        lambda: [new_markdown_cell(MUCH)] * 900,
        lambda: [new_code_cell(MUCH)] * 900,
        lambda: [new_code_cell("+".join("1" * 9_000))] * 9,
        lambda: streams(MUCH * 90),
        lambda: streams("\x1b[31m<" * 9_000),
        lambda: [
            new_code_cell(outputs=[new_output("error", traceback=[MUCH] * 900, evalue=MUCH)] * 90)
        ],
        lambda: displayed({"image/png": BIG_PICTURE}, 9),
        lambda: displayed({"text/plain": MUCH}),
        lambda: displayed({"text/plain": ""}, 2000, 20),
        lambda: [new_markdown_cell("x")] * 3_000,
    ],
    ids=[
        *("pictures", "a table", "texts", "code", "a long sum", "prints", "colours"),
        *("tracebacks", "plots", "values", "empty outputs", "cells"),
    ],
)
def test_the_page_of_a_notebook_has_an_end_and_the_answer_is_on_it(
    made: Callable[[], list[NotebookNode]], tmp_path: Path
) -> None:
    marks = {"nbgrader": {"grade_id": "explain", "solution": True, "locked": False}}
    answer = new_markdown_cell("my answer", metadata=marks)
    theirs = [deepcopy(cell) for cell in made()]
    if theirs[0].cell_type == "markdown":
        theirs[0]["attachments"] = {"p.png": {"image/png": BIG_PICTURE}}
    notebook = kept_safe(tmp_path, *theirs, answer)
    said = json.dumps(notebook)
    assert len(said) < 3_500_000
    assert len(notebook.cells) <= safe_page.MOST_CELLS + 1
    assert "my answer" in said
    assert any(each in said for each in ("cut off", "The first", "not shown"))


def test_a_picture_that_is_not_in_the_notebook_is_named_in_its_place() -> None:
    page = safe_page.markdown('![x](attachment:my%20"plot".png) and attachment:note')
    assert 'The picture my "plot".png is not in the notebook.' in Seen(page).text
    assert "attachment:note" in Seen(page).text
    refuse_all_that_acts(page)


def test_outputs_are_text_and_pictures_and_only_our_own_score_is_more() -> None:
    def kinds(data: dict[str, object], ours: bool = False) -> set[str]:
        shown = {"output_type": "display_data", "metadata": {"a": 1}, "data": data}
        made = safe_page.output(shown, ours)
        assert made.metadata == {}
        return set(made.data)

    assert kinds({"text/html": HTML["script"], "text/plain": "x"}) == {"text/plain"}
    assert kinds({"image/png": PNG, "image/jpeg": PNG, "text/html": "x"}) == {"image/png"}
    assert kinds({"application/javascript": "x"}) == {"text/plain"}
    score = Score(1, 2, HTML["onerror"]).as_output()
    assert MIME_TYPE not in kinds(score)
    forged = score | {"text/html": HTML["script"]}
    made = safe_page.output({"output_type": "execute_result", "metadata": {}, "data": forged}, True)
    assert made.data == score
    assert safe_page.output({"output_type": "stream", "text": "<b>"}).text == "<b>"


def test_files_that_a_browser_might_run_do_not_stay_beside_a_graded_notebook(
    tmp_path: Path,
) -> None:
    names = ("a.HTML", "b.svg", "c.xhtml", "d.xml", "e.c", "f.json", "records/g.pcapng", "h")
    (tmp_path / "records").mkdir()
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / "i.c").symlink_to("/etc/passwd")
    safe_page.remove_unsafe(tmp_path)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"e.c", "f.json", "records/g.pcapng", "h"}


def test_a_page_of_feedback_has_a_policy_and_no_script() -> None:
    page = feedback.inert(
        "<html><head><script src='x'>\n</script></head><SCRIPT>a</SCRIPT>b</html>"
    )
    assert "script>" not in page.lower()
    assert page.startswith('<html lang="en"><head><meta http-equiv="Content-Security-Policy"')
    assert "b</html>" in page
