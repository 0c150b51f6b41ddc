"""Build decks: `python -m slides.build [SLUG …]` turns each slides/SLUG.md into HTML and a PDF.

The HTML is one file, style, script and pictures inside: it opens without a network.
"""

from __future__ import annotations

import argparse
import base64
import mimetypes
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from beowulf.errors import LabError, UsageError
from beowulf.this_machine.browser import browser, print_pdf
from slides import plots

HERE = Path(__file__).resolve().parent
BUILT = HERE.parent / "build" / "slides"
COMMENT = re.compile(r"\A\s*<!--(.*?)-->\s*\Z", re.DOTALL)
# `_minutes: 3 5` is how long a slide takes in the cut of 50 minutes and in that of 100; with `_minutes: - 5` it is
# in the long cut alone.
CUTS = (50, 100)
MINUTES = re.compile(r"\A\s*_minutes:\s*(\d+|-)\s+(\d+)\s*\Z")
MORE = "more"
# Marp's own directives: `_class` of a slide, `w:600` in a picture's alternative text.
CLASS = re.compile(r"\A\s*_class:\s*([\w -]+?)\s*\Z")
PLOT = "plot:"  # before the name of a picture that plots.py draws
SIZE = re.compile(r"\bw:(\d+)\b")


@dataclass
class Slide:
    """One slide: its content as HTML, the speaker's notes as text, CSS classes, and its minutes in each cut."""

    content: str = ""
    notes: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    minutes: tuple[int, int] = (0, 0)


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
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
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
    times = _times(deck)
    sections = "\n".join(
        f'<section class="{escape(" ".join(["slide", *slide.classes]))}" id="slide-{number}"'
        f' aria-roledescription="slide" aria-label="{number} of {count}">\n{slide.content}'
        f'<p class="page" aria-hidden="true">{number} / {count}</p>\n{_notes(slide, times[number - 1])}</section>'
        for number, slide in enumerate(deck.slides, start=1)
    )
    style = (HERE / "style.css").read_text(encoding="utf-8")
    script = (HERE / "deck.js").read_text(encoding="utf-8")
    return (
        f'<!doctype html>\n<html lang="{escape(deck.language)}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(deck.title)}</title>\n<style>\n{style}</style>\n</head>\n"
        # Of the slides one is shown at a time, and only the first has a heading of this rank.
        f'<body>\n<main>\n<h1 class="unseen">{escape(deck.title)}</h1>\n{sections}\n</main>\n'
        f"<script>\n{script}</script>\n</body>\n</html>\n"
    )


def build(source: Path, folder: Path = BUILT) -> Path:
    """Write the deck's HTML into `folder`; its path."""
    html = folder / f"{source.stem}.html"
    folder.mkdir(parents=True, exist_ok=True)
    html.write_text(page(read(source)), encoding="utf-8")
    return html


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
    elif minutes := MINUTES.match(comment[1]):
        slide.minutes = (0 if minutes[1] == "-" else int(minutes[1]), int(minutes[2]))
        if not slide.minutes[0]:
            slide.classes.append(MORE)
    else:
        slide.notes.append(comment[1].strip())


def _times(deck: Deck) -> list[str]:
    """For each slide, from when to when it is shown in each cut."""
    clocks, times = [0, 0], []
    for slide in deck.slides:
        said = []
        for cut, minutes in enumerate(slide.minutes):
            if minutes:
                end = clocks[cut] + minutes
                said.append(f"In the {CUTS[cut]}-minute version: {clocks[cut]} to {end}.")
                clocks[cut] = end
        times.append(" ".join(said))
    return times


def _notes(slide: Slide, time: str) -> str:
    notes = [*filter(None, [time]), *slide.notes]
    if not notes:
        return ""
    text = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f'<aside class="notes" aria-label="speaker\'s notes">{text}</aside>\n'


def _render(markdown: MarkdownIt, tokens: Sequence[Token], source: Path) -> str:
    for token in tokens:
        for child in token.children or ():
            if child.type == "image":
                _inline_picture(child, source)
    html = str(markdown.renderer.render(tokens, markdown.options, {}))
    return html.replace("<th></th>", "<td></td>")  # a heading without a word is none


def _inline_picture(image: Token, source: Path) -> None:
    address = str(image.attrs["src"])
    picture = source.parent / address
    if address.startswith(PLOT):
        kind, content = "image/svg+xml", plots.svg(address.removeprefix(PLOT))
        image.attrs["width"] = str(plots.WIDTH_PX)
    elif "//" in address or not picture.is_file():
        raise LabError(
            f"{source.name} shows {address}, which is not a file beside it.",
            "A deck works without a network: keep its pictures in the repository.",
        )
    else:
        kind = mimetypes.guess_type(picture.name)[0] or "application/octet-stream"
        content = picture.read_bytes()
    data = base64.b64encode(content).decode("ascii")
    image.attrs["src"] = f"data:{kind};base64,{data}"
    if size := SIZE.search(image.content):
        image.attrs["width"] = size[1]
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
