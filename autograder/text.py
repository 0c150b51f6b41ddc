"""Counts and texts for people: singular and plural, and text that stays text in a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TextIO

from beowulf.course.answers import as_written
from beowulf.errors import plain

__all__ = ["as_html", "as_written", "counted", "plain", "say", "shortened", "without_moments"]

_COMMAND = re.compile(r"`([^`\n]+)`")
_RECORD_NAME = re.compile(r"\b([A-Z]\d{1,3})-[\w.-]{0,65}?\d{8}T[\w.-]{0,40}?\.json(?:\.\w+)?")


def counted(number: int, what: str, many: str = "") -> str:
    """A number of things: 1 learner, 2 learners, 0 learners; `many` where an s is not enough."""
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def shortened(sentences: Sequence[str], most: int) -> list[str]:
    """The first of some sentences, and how many more there are."""
    more = len(sentences) - most
    return [*sentences[:most], *([f"And {more} more like these."] if more > 0 else [])]


def without_moments(text: str) -> str:
    """A text in which a Record's name is its study alone: its moment would make every hand-in's text different."""
    return _RECORD_NAME.sub(r"a Record \1", text)


def as_html(text: str) -> str:
    """A text for a page: learners may have written it, so that nothing in it is markup but `code`."""
    lines = (_COMMAND.sub(r"<code>\1</code>", escape(line)) for line in text.split("\n") if line)
    # A dollar would begin a formula in nbgrader's pages.
    return "<br>".join(lines).replace("$", "&#36;")


def say(text: str, to: TextIO | None = None) -> None:
    """Print a line, and what learners wrote in it only as text: every command for a class prints by this."""
    print(plain(text), file=to, flush=True)
