"""Handouts and documentation as pages: Markdown of this checkout, with its pictures, at the same relative places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from beowulf import paths

# What a text may link to. A lab.toml has the hints that `beowulf check --hint` opens one by one.
SHOWN = (".md", ".svg", ".png", ".c", ".h", ".py")
STYLE = Path(__file__).with_name("home.css")


def find(name: str) -> Path | None:
    """The file that may be shown under this name: one of the labs or the documentation, or a text at the top."""
    root = paths.root()
    file = (root / name).resolve()
    if file.suffix not in SHOWN or not file.is_file():
        return None
    below = any(file.is_relative_to(root / folder) for folder in ("labs", "docs"))
    return file if below or (file.parent == root and file.suffix == ".md") else None


def html(file: Path) -> str:
    """A Markdown file as a whole page."""
    markdown = MarkdownIt("commonmark").enable("table")
    tokens = markdown.parse(file.read_text(encoding="utf-8"))
    headings = list(_headings(tokens))
    for token, text in headings:
        token.attrSet("id", _name(text))
    _empty_headers_are_cells(tokens)
    _open_elsewhere(tokens)
    title = headings[0][1] if headings else file.name
    body = markdown.renderer.render(tokens, markdown.options, {})
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><style>{STYLE.read_text(encoding="utf-8")}</style></head>
<body class="text"><main>{body}</main></body></html>"""


def _headings(tokens: list[Token]) -> Iterator[tuple[Token, str]]:
    for token, content in pairwise(tokens):
        if token.type == "heading_open":
            yield token, content.content


def _name(heading: str) -> str:
    """The name by which a link on GitHub reaches a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _empty_headers_are_cells(tokens: list[Token]) -> None:
    """A header without a text says nothing to a screen reader."""
    for opened, content, closed in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opened.type == "th_open" and not content.content:
            opened.tag = closed.tag = "td"


def _open_elsewhere(tokens: list[Token]) -> None:
    """Links to other sites open in a window of their own: most refuse to be shown within a page."""
    for token in tokens:
        for child in token.children or []:
            if child.type == "link_open" and str(child.attrGet("href")).startswith("http"):
                child.attrSet("target", "_blank")
                child.attrSet("rel", "noopener")
