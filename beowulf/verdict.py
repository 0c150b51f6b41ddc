"""The Verdict: what a claim of a paper says of a learner's own Records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any, Literal

from beowulf.errors import ON_WHITE, with_commands

SCHEMA_VERSION = 1  # beowulf/schemas/verdict-1.json

Outcome = Literal["holds", "contradicted", "inconclusive"]

RestsOn = Literal["measurement", "demonstration", "arithmetic"]
# The headings of what does not count among a paper's claims: what came out because it was put in, what was computed
# from the paper's figures alone, and what only these labs say, such as that an instrument agrees with another one.
DEMONSTRATIONS = "Demonstrations, which prove nothing about the paper"
ARITHMETIC = "Arithmetic of the paper, checked and not measured"
OWN_CHECKS = "Own checks of these labs"
OWN = "own check"  # the place of a claim that no paper makes

# A word and a symbol tell the outcome; the colour only repeats it, with a contrast of at least 4.5 on white.
SYMBOLS: dict[str, str] = {"holds": "✓", "contradicted": "✗", "inconclusive": "?"}
COLOURS: dict[str, str] = {
    "holds": "#0072B2",
    "contradicted": "#A84300",
    "inconclusive": "#6E6E6E",
}


HEADINGS = ("", DEMONSTRATIONS, OWN_CHECKS, ARITHMETIC)


def heading(verdict: Mapping[str, Any]) -> str:
    """Under what a Verdict, as plain data, is listed: nothing for a paper's claim."""
    if verdict.get("rests_on") == "arithmetic":
        return ARITHMETIC
    if verdict.get("rests_on") == "demonstration":
        return DEMONSTRATIONS
    return OWN_CHECKS if verdict.get("place") == OWN else ""


def with_place(verdict: Mapping[str, Any]) -> str:
    """What a Verdict, as plain data, says, and where in the paper that stands if the sentence does not name it."""
    says, place = verdict["says"], verdict.get("place", "")
    return says if not place or place == OWN or place in says else f"{says} ({place})"


@dataclass(frozen=True)
class Verdict:
    """One claim held against Records: what it `says`, the `outcome`, the `evidence`, `advice`.

    `place` is where in the paper it stands, such as "table 5", or OWN.
    """

    study: str
    claim: str
    says: str
    outcome: Outcome
    evidence: str = ""
    advice: str = ""
    numbers: dict[str, Any] = field(default_factory=dict)
    records: list[str] = field(default_factory=list)
    rests_on: RestsOn = "measurement"
    place: str = ""

    def __post_init__(self) -> None:
        if self.outcome not in SYMBOLS:
            raise ValueError(f"outcome is one of {', '.join(SYMBOLS)}, not {self.outcome!r}")
        if self.outcome == "inconclusive" and not self.advice:
            raise ValueError("an inconclusive Verdict says what to do about it: advice is missing")

    def as_plain(self) -> dict[str, Any]:
        """The Verdict as JSON knows it, with its kind and schema version."""
        plain = {"kind": "verdict", "schema": SCHEMA_VERSION, **asdict(self)}
        if self.rests_on == "measurement":  # as nearly all do
            del plain["rests_on"]
        if not self.place:
            del plain["place"]
        return plain

    def _repr_html_(self) -> str:
        return Verdicts([self])._repr_html_()


class Verdicts(list[Verdict]):
    """Several Verdicts, shown as a table in a notebook and in a terminal."""

    def named(self, claim: str) -> Verdict:
        """The Verdict on the claim of this name; KeyError when there is none."""
        for verdict in self:
            if verdict.claim == claim:
                return verdict
        raise KeyError(claim)

    def _sections(self) -> dict[str, list[Verdict]]:
        """By heading: the paper's claims, which have none, and below them what does not count among them."""
        found = {
            name: [each for each in self if heading(asdict(each)) == name] for name in HEADINGS
        }
        return {name: verdicts for name, verdicts in found.items() if verdicts}

    def __str__(self) -> str:
        if not self:
            return "no claims"
        lines = []
        for name, verdicts in self._sections().items():
            lines += [f"{name}:"] if name else []
            lines += self._lines(verdicts)
        return "\n".join(lines)

    @staticmethod
    def _lines(verdicts: Iterable[Verdict]) -> list[str]:
        lines = []
        for verdict in verdicts:
            outcome = f"{SYMBOLS[verdict.outcome]} {verdict.outcome:<12}"
            lines.append(_line(f"{outcome}  {verdict.study}  {with_place(asdict(verdict))}"))
            lines += [_line(f"    {text}") for text in (verdict.evidence, verdict.advice) if text]
        return lines

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(
            f'<th scope="col" style="text-align:left">{name}</th>'
            for name in ("claim", "outcome", "what was measured")
        )
        studies, bodies = ", ".join(dict.fromkeys(each.study for each in self)), ""
        for name, verdicts in self._sections().items():
            title = (
                f'<tr><th scope="rowgroup" colspan="3" style="text-align:left">{name}</th></tr>'
                if name
                else ""
            )
            bodies += f"<tbody>{title}{''.join(map(_row, verdicts))}</tbody>"
        return (
            f"<table><caption>{escape(studies)}: claims</caption><thead><tr>{head}</tr></thead>"
            f"{bodies}</table>"
        )


def _row(verdict: Verdict) -> str:
    outcome = (
        f'<strong style="{ON_WHITE};color:{COLOURS[verdict.outcome]}">'
        f'<span aria-hidden="true">{SYMBOLS[verdict.outcome]}</span> {verdict.outcome}</strong>'
    )
    # A sentence gets room for some words a line; a path or a digest is broken where it must be.
    sentence = "text-align:left;overflow-wrap:anywhere;min-width:10em"
    # Where a claim asks for several things, each has a line.
    measured = with_commands(verdict.evidence).replace(" is asked; ", " is asked;<br>")
    if verdict.advice:
        measured += f"<br><em>{with_commands(verdict.advice)}</em>"
    cells = (
        (f"{sentence};width:35%", escape(with_place(asdict(verdict)))),
        ("text-align:left", outcome),
        (sentence, measured),
    )
    return "<tr>" + "".join(f'<td style="{style}">{text}</td>' for style, text in cells) + "</tr>"


def _line(text: str) -> str:
    # Evidence may quote a node's output: no control character of it reaches the terminal.
    return "".join(letter if letter.isprintable() else " " for letter in text)
