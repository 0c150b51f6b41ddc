"""Build decks: `python -m slides.build [SLUG …]` turns each slides/SLUG.md into HTML and a PDF.

The HTML is one file, style, script and pictures inside: it opens without a network.
"""

from __future__ import annotations

import argparse
import base64
import mimetypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from beowulf.errors import LabError, UsageError

HERE = Path(__file__).resolve().parent
BUILT = HERE.parent / "build" / "slides"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LONGEST_PRINT_S = 300
COMMENT = re.compile(r"\A\s*<!--(.*?)-->\s*\Z", re.DOTALL)
# Marp's own directives: `_class` of a slide, `w:600` or `h:400` in a picture's alternative text.
CLASS = re.compile(r"\A\s*_class:\s*([\w -]+?)\s*\Z")
SIZE = re.compile(r"\b([wh]):(\d+)(?:px)?\b")


@dataclass
class Slide:
    """One slide: its content as HTML, the speaker's notes as text, and CSS classes."""

    content: str = ""
    notes: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)


@dataclass
class Deck:
    """A deck: title and language from its front matter, and its slides."""

    title: str
    language: str
    slides: list[Slide]


def read(source: Path) -> Deck:
    """The deck in a Markdown file; LabError when a picture is missing or not a file of ours."""
    if not source.is_file():
        there = ", ".join(path.stem for path in sorted(source.parent.glob("*.md")))
        raise UsageError(f"There is no deck {source.stem!r}.", f"There are: {there}.")
    settings, text = _front_matter(source.read_text(encoding="utf-8"))
    markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = markdown.parse(text)
    slides = [Slide()]
    kept: list[Token] = []
    for token in tokens:
        if token.type == "hr" and token.level == 0:
            slides[-1].content = _render(markdown, kept, source)
            slides.append(Slide())
            kept = []
        elif token.type == "html_block":
            _note(token, slides[-1], source)
        else:
            kept.append(token)
    slides[-1].content = _render(markdown, kept, source)
    return Deck(settings.get("title", source.stem), settings.get("lang", "en"), slides)


def page(deck: Deck) -> str:
    """The deck as one HTML page."""
    count = len(deck.slides)
    sections = "\n".join(
        f'<section class="{escape(" ".join(["slide", *slide.classes]))}" id="slide-{number}"'
        f' aria-roledescription="slide" aria-label="{number} of {count}">\n{slide.content}'
        f'<p class="page" aria-hidden="true">{number} / {count}</p>\n{_notes(slide)}</section>'
        for number, slide in enumerate(deck.slides, start=1)
    )
    style = (HERE / "style.css").read_text(encoding="utf-8")
    script = (HERE / "deck.js").read_text(encoding="utf-8")
    return (
        f'<!doctype html>\n<html lang="{escape(deck.language)}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(deck.title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n<main>\n{sections}\n</main>\n<script>\n{script}</script>\n</body>\n</html>\n"
    )


def print_pdf(html: Path, browser: str) -> Path:
    """Let a Chromium print the page, one slide a sheet; LabError when it does not."""
    pdf = html.with_suffix(".pdf")
    with tempfile.TemporaryDirectory(prefix="beowulf-slides-") as profile:
        words = headless(browser, Path(profile))
        words += ["--no-pdf-header-footer", f"--print-to-pdf={pdf.absolute()}"]
        words += [html.absolute().as_uri()]
        pdf.unlink(missing_ok=True)
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST_PRINT_S)
        except subprocess.TimeoutExpired:
            raise LabError(
                f"{browser} did not print {html.name} within {LONGEST_PRINT_S} s.",
                "Open the HTML file in a browser and print it there.",
            ) from None
    if done.returncode or not pdf.exists():
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise LabError(
            f"{browser} could not print {html.name}: {last}.",
            "Open the HTML file in a browser and print it there.",
        )
    return pdf


def headless(browser: str, profile: Path) -> list[str]:
    """The words that start a Chromium without a window, which leaves the network alone."""
    # Root's Chromium refuses to start with its sandbox; the page is our own and fetches nothing.
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    return [
        *(browser, "--headless", *root, f"--user-data-dir={profile}", "--disable-gpu"),
        *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
        *("--disable-sync", "--disable-quic", "--disable-dev-shm-usage"),
    ]


def build(source: Path, folder: Path = BUILT) -> Path:
    """Write the deck's HTML into `folder`; its path."""
    html = folder / f"{source.stem}.html"
    folder.mkdir(parents=True, exist_ok=True)
    html.write_text(page(read(source)), encoding="utf-8")
    return html


def browser() -> str:
    """The Chromium of this machine, or an empty text."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), "")


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    if not text.startswith("---\n"):
        return {}, text
    head, _, rest = text[4:].partition("\n---\n")
    pairs = (line.partition(":") for line in head.splitlines() if ":" in line)
    return {key.strip(): value.strip().strip("\"'") for key, _, value in pairs}, rest


def _note(token: Token, slide: Slide, source: Path) -> None:
    comment = COMMENT.match(token.content)
    if comment is None:
        raise LabError(
            f"{source.name} has HTML that is no comment: {token.content.strip()[:60]}",
            "Write it as Markdown; only comments, which are the speaker's notes, may be there.",
        )
    if directive := CLASS.match(comment[1]):
        slide.classes += directive[1].split()
    else:
        slide.notes.append(comment[1].strip())


def _notes(slide: Slide) -> str:
    if not slide.notes:
        return ""
    text = "".join(f"<p>{escape(note)}</p>" for note in slide.notes)
    return f'<aside class="notes" aria-label="speaker\'s notes">{text}</aside>\n'


def _render(markdown: MarkdownIt, tokens: Sequence[Token], source: Path) -> str:
    for token in tokens:
        for child in token.children or ():
            if child.type == "image":
                _inline_picture(child, source)
    return str(markdown.renderer.render(tokens, markdown.options, {}))


def _inline_picture(image: Token, source: Path) -> None:
    address = str(image.attrs["src"])
    picture = source.parent / address
    if "//" in address or not picture.is_file():
        raise LabError(
            f"{source.name} shows {address}, which is not a file beside it.",
            "A deck works without a network: keep its pictures in the repository.",
        )
    kind = mimetypes.guess_type(picture.name)[0] or "application/octet-stream"
    data = base64.b64encode(picture.read_bytes()).decode("ascii")
    image.attrs["src"] = f"data:{kind};base64,{data}"
    for letter, pixels in SIZE.findall(image.content):
        image.attrs["width" if letter == "w" else "height"] = pixels
    for child in image.children or ():
        child.content = SIZE.sub("", child.content).strip()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 0 when every deck is built."""
    parser = argparse.ArgumentParser(prog="python -m slides.build", description=__doc__)
    parser.add_argument("slug", nargs="*", help="decks to build, such as 01-validation (all)")
    parser.add_argument("--no-pdf", action="store_true", help="build the HTML only")
    parser.add_argument("--output", type=Path, default=BUILT, help="folder to write into")
    given = parser.parse_args(arguments)
    slugs = given.slug or [path.stem for path in sorted(HERE.glob("[0-9][0-9]-*.md"))]
    chromium = "" if given.no_pdf else browser()
    try:
        for slug in slugs:
            html = build(HERE / f"{slug}.md", given.output)
            print(html)
            if chromium:
                print(print_pdf(html, chromium))
    except LabError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    if not chromium and not given.no_pdf:
        print(
            "There is no Chromium here, so no PDF was made. Install the package `chromium`, or open"
            " the HTML file in a browser and print it there: it has one slide a sheet.",
            file=sys.stderr,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
