"""What one question earned, and why: the plain data that a rubric gives and a learner reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from autograder.text import as_html

# In the output of a graded cell: the same as the HTML beside it, for programs.
MIME_TYPE = "application/vnd.beowulf.score+json"
# The page around it is nbgrader's, in which cells touch each other.
_TABLE = "margin-bottom:1em"
_CELL = "text-align:left; vertical-align:top; padding:0.2em 1em 0.2em 0"
_CAPTION = "text-align:left; caption-side:top; font-weight:bold; padding:0.2em 0"
# An outcome beside right and wrong: the measurement is not good enough. Measure again.
INCONCLUSIVE = "inconclusive"
TEXTS = ("found", "expected", "read", "outcome")
LONGEST_TEXT = 2_000  # of a reason, which may quote what a learner wrote


@dataclass(frozen=True)
class Score:
    """`points` of `of`: what was `found`, what was `expected`, and where to `read` about it.

    `outcome` is INCONCLUSIVE where a part of the points was given because the Record leaves it open.
    """

    points: float
    of: float
    found: str
    expected: str = ""
    read: str = ""
    outcome: str = ""

    def within(self, of: float) -> Score:
        """The same for a cell that is worth `of`: finite, not negative, never more than that; its texts with an end."""
        points = self.points if math.isfinite(self.points) else 0.0
        texts = {name: _short(getattr(self, name)) for name in TEXTS}
        return replace(self, points=min(max(float(points), 0.0), of), of=of, **texts)

    def worth(self, of: float) -> Score:
        """The same share of what a question is worth by lab.toml."""
        return replace(self, points=self.points * (of / self.of)).within(of)

    def as_output(self) -> dict[str, Any]:
        """The cell output that makes nbgrader count exactly these points, with the reason."""
        # nbgrader reads the first result's text/plain as the points; text that is no number, and
        # NaN, would count in full.
        return {
            "text/plain": repr(float(self.points)),
            "text/html": self.as_html(),
            MIME_TYPE: asdict(self),
        }

    def as_html(self) -> str:
        """The reason as a small table; its text is escaped, because learners wrote part of it."""
        rows = {"Found": self.found, "Expected": self.expected, "Read": self.read}
        body = "".join(
            f'<tr><th scope="row" style="{_CELL}">{name}</th>'
            f'<td style="{_CELL}; overflow-wrap:anywhere">{as_html(text)}</td></tr>'
            for name, text in rows.items()
            if text
        )
        reached = f"{self.points:.3g} of {self.of:g} {'point' if self.of == 1 else 'points'}"
        if self.outcome:
            reached += f", {as_html(self.outcome)}"
        caption = f'<caption style="{_CAPTION}">{reached}</caption>'
        return f'<table style="{_TABLE}">{caption}{body}</table>'


def score_in(data: Mapping[str, Any]) -> Score | None:
    """The Score in a cell's output, made again from its plain data; None without one."""
    plain = data.get(MIME_TYPE)
    if not isinstance(plain, Mapping):
        return None
    try:
        points, of = float(plain["points"]), float(plain["of"])
    except (KeyError, TypeError, ValueError):
        return None
    texts = {name: _short(str(plain.get(name, ""))) for name in TEXTS}
    return Score(points, of, **texts)


def score_of(cell: Mapping[str, Any]) -> Score | None:
    """The Score that grading wrote into a cell; None without one."""
    found = (score_in(output.get("data", {})) for output in cell.get("outputs", ()))
    return next(filter(None, found), None)


def _short(text: str) -> str:
    text = text.encode("utf-8", "replace").decode()  # a file cannot hold half a surrogate pair
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
