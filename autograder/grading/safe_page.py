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
from functools import cache, partial
from html import escape, unescape
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import nh3
from markdown_it import MarkdownIt
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_locked, is_solution

from autograder.cells import new_cell, node
from autograder.rubrics.score import MIME_TYPE, score_in

# For a page that learners wrote a part of: nothing of it may run or be fetched.
POLICY_TAG = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:;'
    " style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'\">"
)
# What is shown of one text, and of a notebook's text, pictures and cells: with it a page stays below 3 MB. A notebook
# of the labs has 0.4 MB.
LONGEST_TEXT = 20_000
MOST_TEXT, MOST_PICTURES, MOST_CELLS, MOST_OUTPUTS = 400_000, 2_000_000, 1_000, 2_000
MOST_WORDS = 30_000  # and signs in code: a page colours each, in 40 characters more
LONGEST_HTML = 100_000  # without pictures, of one answer: a table may become fifty times as long as it was written
ANSI_AS_HTML = 60  # characters that a page needs for a colour
TOO_MANY_PICTURES = f"a notebook shows {MOST_PICTURES / 1e6:g} MB of pictures."
CUT = "(cut off: a page shows {} of a notebook)"
CUT_CODE = f"(cut off: a page shows {MOST_WORDS:,} words and signs of a notebook's code)"
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
# MathJax leaves a text of this class alone: in Formgrader it comes from elsewhere and runs.
BEGIN, END = '<div class="tex2jax_ignore">', "</div>"
NEW_TAB = 'target="_blank" rel="noopener noreferrer"'
# What Markdown or MathJax would take for more than a character, and line ends: an empty line ends HTML in Markdown.
IN_TEXT = re.compile(r"[\r\n$\\`*_\[\]!~{}|#]")
IN_TAG = re.compile(r"[\r\n$\\]")
_WORD = re.compile(r"\w+|[^\w\s]")
_TAG = re.compile(r"(<[^>]*>)")
_IMAGE = re.compile(r'<img src="attachment:([^"]{1,400})"[^>]{0,2000}>')
# Formgrader serves the files of a submission; by these endings, as something that a browser only shows or saves.
ENDINGS = set(
    " .c .csv .h .ipynb .jpeg .jpg .json .log .lua .md .pcapng .png .py .toml .txt".split(" ")
)


class KeepSafe(NbGraderPreprocessor):  # type: ignore[misc]
    """Leaves nothing in a graded notebook, and nothing beside it, that could act in a reader's browser."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook with safe cells; unsafe files are removed from its folder."""
        make_safe(nb, Path(resources["metadata"]["path"]))
        return nb, resources


def make_safe(notebook: NotebookNode, folder: Path) -> None:
    """Make the cells of a graded notebook safe, and remove unsafe files from its folder."""
    notebook.metadata.pop("widgets", None)
    room = Room()
    notebook.cells = few(notebook.cells)
    # Answers first: for what a person grades there is room, whatever else a notebook shows.
    for cell in sorted(notebook.cells, key=lambda cell: not is_solution(cell)):
        attachments = cell.pop("attachments", {})
        if is_locked(cell):
            continue
        if cell.cell_type == "markdown":
            cell.source = markdown(cell.source, attachments, room)
        else:
            cell.source = room.code(cell.source)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            ours = is_grade(cell) and not is_solution(cell)
            cell.outputs = outputs(cell.outputs, ours, room)
    remove_unsafe(folder)


class Room:
    """How many characters of text and of pictures, and how many outputs, a notebook may still show."""

    def __init__(self) -> None:
        self.left, self.left_pictures = MOST_TEXT, MOST_PICTURES
        self.left_outputs, self.left_words = MOST_OUTPUTS, MOST_WORDS

    def text(self, text: str) -> str:
        """The text, or the beginning of one that is too long, with a note."""
        most = min(LONGEST_TEXT, max(self.left, 0))
        shown = text[:most]
        self.left -= len(escape(shown)) + ANSI_AS_HTML * shown.count("\x1b")
        if len(text) <= most:
            return text
        return f"{shown}\n{CUT.format(f'{LONGEST_TEXT:,} characters of a text, {MOST_TEXT:,}')}"

    def code(self, source: str) -> str:
        """The source of a cell, or its beginning, with a note."""
        words = list(islice(_WORD.finditer(source), min(self.left_words, len(source)) + 1))
        if len(words) > self.left_words:
            source = f"{source[: words[-1].start()]}\n# {CUT_CODE}"
        self.left_words -= min(len(words), self.left_words)
        return self.text(source)

    def picture(self, data: str) -> str:
        """The data of a picture; "" when there is no room for it."""
        if len(data) > self.left_pictures:
            return ""
        self.left_pictures -= len(data)
        return data


def few(cells: list[NotebookNode]) -> list[NotebookNode]:
    """The cells, without those of a learner's own that are too many; the lab's own stay."""
    more = len(cells) - MOST_CELLS
    if more <= 0:
        return cells
    own = [place for place, cell in enumerate(cells) if not cell.metadata.get("nbgrader")]
    left_out = set(own[-more:])
    note = f"{len(left_out):,} more cells are not shown: a page has {MOST_CELLS:,}."
    return [
        *(cell for place, cell in enumerate(cells) if place not in left_out),
        new_cell("markdown", note, id="cells-not-shown"),
    ]


def markdown(text: str, attachments: object = None, room: Room | None = None) -> str:
    """A learner's Markdown as one line of HTML that every reader of Markdown takes as it is.

    What is too long as it is or becomes so is shown as it was typed, as far as there is `room`.
    """
    room = room or Room()
    if len(text) > LONGEST_TEXT or room.left < len(text):
        shown = text[: min(LONGEST_TEXT, max(room.left, 0))]
        room.left -= len(escape(shown))
        cut = f"The first {len(shown):,} of {len(text):,} characters:"
        return _one_line(f"<p>{cut}</p><pre>{escape(shown)}</pre>")
    html = _reader().render(text)
    room.left -= len(html)
    if len(html) > LONGEST_HTML:
        html = f"<pre>{escape(text)}</pre>"
    return _one_line(_IMAGE.sub(partial(_attached, _pictures(attachments), room), html))


def _attached(pictures: Mapping[str, str], room: Room, match: re.Match[str]) -> str:
    """The tag of a pasted picture with the picture in it, or what is shown in its place."""
    name = unquote(unescape(match[1]))
    if name not in pictures:
        return f"<em>(The picture {escape(name[:80])} is not in the notebook.)</em>"
    if not (data := room.picture(pictures[name])):
        return f"<em>({escape(name[:80])} is not shown: {TOO_MANY_PICTURES})</em>"
    return match[0].replace(f"attachment:{match[1]}", data)


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
    parts = _TAG.split(f"{BEGIN}{clean}{END}")
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
    if not isinstance(data, str) or len(data) > 2 * MOST_PICTURES:
        return ""
    try:
        content = base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        return ""
    return base64.b64encode(content).decode() if content.startswith(FIRST_BYTES[kind]) else ""


def outputs(every: list[NotebookNode], ours: bool, room: Room) -> list[NotebookNode]:
    """The outputs of a cell, as many as there is room for."""
    shown = every if ours else every[: room.left_outputs]
    room.left_outputs -= 0 if ours else len(shown)
    safe = [output(each, ours, room) for each in shown]
    if more := len(every) - len(shown):
        note = f"({more:,} more outputs are not shown: a page has {MOST_OUTPUTS:,}.)\n"
        safe.append(node({"output_type": "stream", "name": "stdout", "text": note}))
    return safe


def output(shown: Mapping[str, Any], ours: bool = False, room: Room | None = None) -> NotebookNode:
    """A cell's output as text and pictures; that of a test cell of `ours` may be the Score that grading wrote.

    What there is no `room` for is left out.
    """
    room = room or Room()
    if "data" not in shown:
        return node(_with_room(dict(shown), room))
    data = shown["data"]
    score = score_in(data) if ours else None
    safe_data: dict[str, Any] = {}
    if score is not None:
        safe_data = score.as_output()
    else:
        if isinstance(data.get("text/plain"), str):
            safe_data["text/plain"] = room.text(data["text/plain"])
        pictures = {kind: safe for kind in FIRST_BYTES if (safe := picture(kind, data.get(kind)))}
        safe_data |= {kind: safe for kind, safe in pictures.items() if room.picture(safe)}
        if len(pictures) and not pictures.keys() & safe_data.keys():
            safe_data = {"text/plain": f"(A picture is not shown: {TOO_MANY_PICTURES})"}
        if not safe_data:
            left_out = ", ".join(sorted(str(kind) for kind in data if kind != MIME_TYPE))
            safe_data = {"text/plain": room.text(f"(not shown: {left_out or 'nothing'})")}
    return node({**shown, "metadata": {}, "data": safe_data})


def _with_room(shown: dict[str, Any], room: Room) -> dict[str, Any]:
    """What a cell printed, or its error, as far as there is room for it."""
    if "text" in shown:
        shown["text"] = room.text(shown["text"])
    if "traceback" in shown:
        whole = "\n".join(shown["traceback"])
        if (trace := room.text(whole)) != whole:
            shown |= {"traceback": [trace], "evalue": str(shown.get("evalue"))[:200]}
    return shown


def remove_unsafe(folder: Path) -> None:
    """Remove links, and files that a browser might run, from the folder of what was graded."""
    for path in folder.rglob("*"):
        if path.is_symlink() or (path.is_file() and path.suffix.lower() not in ENDINGS):
            path.unlink()
