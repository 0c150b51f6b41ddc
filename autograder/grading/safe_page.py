"""What learners wrote, as a browser may have it: text and pictures, and nothing that a page runs or fetches.

Formgrader and nbgrader's feedback show Markdown and HTML as they are. So grading writes neither: a
learner's Markdown becomes HTML of a few tags, outputs become text, PNG and JPEG, and files that a browser would run are
removed.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import nh3
from markdown_it import MarkdownIt
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_locked, is_solution

from autograder.cells import node
from autograder.rubrics.score import MIME_TYPE, score_in

# For a page that learners wrote a part of: nothing of it may run or be fetched.
POLICY_TAG = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:;'
    " style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'\">"
)
LONGEST_TEXT = 20_000  # characters of an answer that are shown
MOST_PICTURE_BYTES = 5_000_000
FIRST_BYTES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
TAGS = set(
    "a b blockquote br code dd del div dl dt em h1 h2 h3 h4 h5 h6 hr i img li ol p pre s strong sub sup table tbody"
    " td th thead tr ul".split()
)
ATTRIBUTES = {"a": {"href"}, "img": {"src", "alt"}, "td": {"align"}, "th": {"align"}}
# No class, ID, name or style: with these a text could cover the page, or pass for a field of it.
URLS = {
    ("a", "href"): re.compile(r"(?:https?://|mailto:)[^\s<>\"'\\]+\Z"),
    ("img", "src"): re.compile(r"data:image/(?:png|jpeg);base64,[A-Za-z0-9+/]+=*\Z"),
    ("img", "alt"): re.compile(r"[^<>]*\Z"),
    ("td", "align"): re.compile(r"[a-z]*\Z"),
    ("th", "align"): re.compile(r"[a-z]*\Z"),
}
NEW_TAB = 'target="_blank" rel="noopener noreferrer"'
# What Markdown or MathJax would take for more than a character, and line ends: an empty line ends HTML in Markdown.
IN_TEXT = re.compile(r"[\r\n$\\`*_\[\]!~{}|#]")
IN_TAG = re.compile(r"[\r\n$\\]")
_TAG = re.compile(r"(<[^>]*>)")
_ATTACHED = re.compile(r"attachment:([^\s)\"'>]+)")
# Formgrader serves the files of a submission; by these endings, as something that a browser only shows or saves.
ENDINGS = set(
    " .c .csv .h .ipynb .jpeg .jpg .json .log .lua .md .pcap .pcapng .png .py .toml .txt".split(" ")
)


class KeepSafe(NbGraderPreprocessor):  # type: ignore[misc]
    """Leaves nothing in a graded notebook, and nothing beside it, that could act in a reader's browser."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook with safe cells; unsafe files are removed from its folder."""
        nb.metadata.pop("widgets", None)
        for cell in nb.cells:
            if cell.cell_type == "markdown" and not is_locked(cell):
                cell.source = markdown(cell.source, cell.pop("attachments", {}))
            elif cell.cell_type == "code":
                ours = is_grade(cell) and not is_solution(cell)
                cell.outputs = [output(each, ours) for each in cell.outputs]
        remove_unsafe(Path(resources["metadata"]["path"]))
        return nb, resources


def markdown(text: str, attachments: object = None) -> str:
    """A learner's Markdown as one line of HTML that every reader of Markdown takes as it is."""
    if len(text) > LONGEST_TEXT:
        cut = f"The first {LONGEST_TEXT:,} of {len(text):,} characters:"
        return _one_line(f"<p>{cut}</p><pre>{escape(text[:LONGEST_TEXT])}</pre>")
    pictures = _pictures(attachments)
    text = _ATTACHED.sub(lambda match: pictures.get(match[1], ""), text)
    return _one_line(_reader().render(text))


def _one_line(html: str) -> str:
    clean = nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        attribute_filter=_attribute,
        url_schemes={"http", "https", "mailto", "data"},
        link_rel=None,
    )
    clean = clean.replace("<a href=", f"<a {NEW_TAB} href=")
    # MathJax leaves a text of this class alone: in Formgrader it comes from elsewhere and runs.
    parts = _TAG.split(f'<div class="tex2jax_ignore">{clean}</div>')
    return "".join(_coded(part, IN_TAG if part.startswith("<") else IN_TEXT) for part in parts)


def _coded(part: str, characters: re.Pattern[str]) -> str:
    return characters.sub(lambda match: f"&#{ord(match[0])};", part)


def _attribute(tag: str, name: str, value: str) -> str | None:
    allowed = URLS.get((tag, name))
    return value if allowed is None or allowed.match(value) else None


@cache
def _reader() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def _pictures(attachments: object) -> dict[str, str]:
    """The PNG and JPEG files that were pasted into a cell, by name, as addresses that hold them."""
    addresses: dict[str, str] = {}
    if isinstance(attachments, Mapping):
        for name, kinds in attachments.items():
            for kind in FIRST_BYTES:
                if isinstance(kinds, Mapping) and (data := picture(kind, kinds.get(kind))):
                    addresses[str(name)] = f"data:{kind};base64,{data}"
    return addresses


def picture(kind: str, data: object) -> str:
    """The base64 text of a picture that is what its kind says, or ""."""
    if not isinstance(data, str) or len(data) > MOST_PICTURE_BYTES * 4 // 3 + 4:
        return ""
    try:
        content = base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        return ""
    return base64.b64encode(content).decode() if content.startswith(FIRST_BYTES[kind]) else ""


def output(shown: Mapping[str, Any], ours: bool = False) -> NotebookNode:
    """A cell's output as text and pictures; that of a test cell of `ours` may be the Score that grading wrote."""
    if "data" not in shown:
        return node(dict(shown))
    data = shown["data"]
    score = score_in(data) if ours else None
    safe_data: dict[str, Any] = {}
    if score is not None:
        safe_data = score.as_output()
    else:
        if isinstance(data.get("text/plain"), str):
            safe_data["text/plain"] = data["text/plain"]
        safe_data |= {kind: safe for kind in FIRST_BYTES if (safe := picture(kind, data.get(kind)))}
        if not safe_data:
            left_out = ", ".join(sorted(str(kind) for kind in data if kind != MIME_TYPE))
            safe_data = {"text/plain": f"(not shown: {left_out or 'nothing'})"}
    return node({**shown, "metadata": {}, "data": safe_data})


def remove_unsafe(folder: Path) -> None:
    """Remove links, and files that a browser might run, from the folder of what was graded."""
    for path in folder.rglob("*"):
        if path.is_symlink() or (path.is_file() and path.suffix.lower() not in ENDINGS):
            path.unlink()
