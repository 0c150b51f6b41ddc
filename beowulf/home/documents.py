"""Handouts and documentation as pages: Markdown of this checkout, with its pictures, at the same relative places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from beowulf import paths

# Shown below labs and docs. A lab.toml has the hints that `beowulf check --hint` opens one by one.
SHOWN = (".md", ".svg", ".png", ".c", ".h", ".py")
LINK = re.compile(r"\]\(([^)#\s]+)")
STYLE = Path(__file__).with_name("pages.css")
SCRIPT = Path(__file__).with_name("text.js")
GLOSSARY = paths.root() / "docs" / "glossary.md"
CONTENTS_FROM = 4  # sections


def find(name: str) -> Path | None:
    """The file that may be shown under this name: a text, what a text links to, or one of the labs' programs."""
    for root in (package.folder for package in paths.packages()):
        file = (root / name).resolve()
        folders = (root / each for each in ("labs", "docs"))
        near = file.parent == root or any(map(file.is_relative_to, folders))
        if file.is_file() and ((near and file.suffix in SHOWN) or file in _linked(root)):
            return file
    return None


@cache
def _linked(root: Path) -> frozenset[Path]:
    """The files to which texts link, wherever they are."""
    texts = [each for many in ("*.md", "docs/*.md", "labs/*/*.md") for each in root.glob(many)]
    links = [(text, link) for text in texts for link in LINK.findall(text.read_text("utf-8"))]
    return frozenset((text.parent / link).resolve() for text, link in links)


def html(file: Path) -> str:
    """A Markdown file as a whole page."""
    markdown = MarkdownIt("commonmark").enable("table")
    tokens = markdown.parse(file.read_text(encoding="utf-8"))
    headings = list(_headings(tokens))
    for token, text in headings:
        token.attrSet("id", _name(text))
    _empty_headers_are_cells(tokens)
    _open_elsewhere(tokens)
    if file.name != GLOSSARY.name:
        _explain(tokens)
    title = headings[0][1] if headings else file.name
    body = markdown.renderer.render(tokens, markdown.options, {})
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><style>{STYLE.read_text(encoding="utf-8")}</style></head>
<body class="text"><main>{_contents(headings)}{body}</main>
<script>{SCRIPT.read_text(encoding="utf-8")}</script></body></html>"""


def _contents(headings: list[tuple[Token, str]]) -> str:
    """Links to the sections of a long text, folded."""
    sections = [text for token, text in headings if token.tag == "h2"]
    if len(sections) < CONTENTS_FROM:
        return ""
    links = "".join(f'<li><a href="#{_name(text)}">{escape(text)}</a></li>' for text in sections)
    return f"<nav aria-label='Contents'><details><summary>Contents</summary><ul>{links}</ul></details></nav>"


@cache
def _terms() -> dict[str, str]:
    """The words of the glossary with what they mean."""
    rows = re.findall(r"^\| \*\*(.+?)\*\* \| (.+?) \|", GLOSSARY.read_text("utf-8"), re.MULTILINE)
    return {word.partition(" (")[0].lower(): meaning.replace("`", "") for word, meaning in rows}


def _explain(tokens: list[Token]) -> None:
    """Put what the glossary says of a word under the pointer, where a text has the word for the first time."""
    left = dict(_terms())
    word = re.compile(
        rf"\b({'|'.join(sorted(map(re.escape, left), key=len, reverse=True))})s?\b", re.I
    )
    for opened, token in pairwise(tokens):
        if token.type != "inline" or opened.type == "heading_open":
            continue
        inside = 0
        explained: list[Token] = []
        for child in token.children or []:
            inside += (child.type == "link_open") - (child.type == "link_close")
            words = word.finditer(child.content) if child.type == "text" and not inside else ()
            found = next((each for each in words if each[1].lower() in left), None)
            if not found:
                explained.append(child)
                continue
            before, after = Token("text", "", 0), Token("text", "", 0)
            before.content, after.content = (
                child.content[: found.start()],
                child.content[found.end() :],
            )
            says = Token("html_inline", "", 0)
            meaning = escape(left.pop(found[1].lower()))
            says.content = f'<abbr title="{meaning}">{escape(found[0])}</abbr>'
            explained += [before, says, after]
        token.children = explained


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
