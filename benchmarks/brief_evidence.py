"""Evidence as cells of docs/results.md: figures, intervals and limits, without the words that the claim has already."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile

from beowulf.cluster.common.config import SIMULATED
from beowulf.studies.quantity import BETWEEN_LINES, COMBINED

NUMBER = r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?%?"
FIGURE = re.compile(rf"(?P<label>.+?): (?P<value>{NUMBER}(?![\d.,%]).*)", re.DOTALL)
LIMIT = (
    rf"(?:(?:more|less) than |at (?:least|most) )?{NUMBER}(?: to {NUMBER})?(?: \(half of [^)]*\))?"
)
ASKED = re.compile(r" \(asked: .*\)$")
# What evidence writes out, and how a cell writes it.
SHORT = (
    (rf"\(({NUMBER}) to ({NUMBER})\)", r"[\1, \2]"),
    (rf"({NUMBER})([^;(]*) \(\1\)", r"\1\2"),
    (r"[;,] n = (\d+)", r", n=\1"),
    (rf",? and ({LIMIT}) is asked$", r" (asked: \1)"),
    (rf"\(half of the paper's change, to ({NUMBER})\)", r"half of \1"),
    (r"(?<=asked: )more than ", ">"),
    (r"(?<=asked: )less than ", "<"),
    (r"(?<=asked: )at least ", "≥"),
    (r"(?<=asked: )at most ", "≤"),
    (r"(?<=\d) times(?= [\[(]|, n=|$)", "×"),
    (r" percent of the packets", " %"),
    (r" by equation 1", ""),
    (r"better than Grendel, with the whole interval, in", "better in"),
    (r"non-blocking minus blocking with (\d) and (\d) nodes", r"\1 and \2 nodes"),
    (r"(?<=\d) bytes: ", " B: "),
    (r", where the interval holds both", ""),
)
# The rule for equal calls is in the claim, and a simulation is named above the table.
ELSEWHERE = ("similar at more than half", f"{SIMULATED} by")
# A sentence that several rows share is written once below them where their words come to so many.
WORTH = 40
UNITS = ("bytes", "B", "KB")
MARKS = "¹²³⁴⁵⁶⁷⁸⁹"


def cells(evidence: Sequence[str]) -> tuple[list[str], list[str]]:
    """A cell for each claim's evidence, and the notes below the table to which marks in the cells point."""
    parts = [
        [part for part in re.split(BETWEEN_LINES, each) if not part.startswith(ELSEWHERE)]
        for each in evidence
    ]
    rows = Counter(
        part for each in parts for part in dict.fromkeys(each) if not FIGURE.fullmatch(part)
    )
    often = [
        part
        for part, count in rows.items()
        if count > 1 and count * len(part.split()) >= WORTH and " is asked" not in part
    ]
    notes = dict(zip(often, MARKS, strict=False))
    return [_cell(each, notes) for each in parts], [
        f"{mark} {note}" for note, mark in notes.items()
    ]


def _cell(parts: Sequence[str], notes: dict[str, str]) -> str:
    lines = _without_parts(part for part in parts if part not in notes)
    figures = {
        place: match for place, line in enumerate(lines) if (match := FIGURE.fullmatch(line))
    }
    if len(figures) == 1 and 0 not in figures:  # the claim names the first one alone
        figures = {}
    names = _names([figure["label"] for figure in figures.values()])
    for (place, figure), name in zip(figures.items(), names, strict=True):
        lines[place] = f"{name}: {figure['value']}" if name else figure["value"]
    lines = [_short(line) for line in lines]
    # A limit that several figures share is written after the last of them.
    for place, (line, later) in enumerate(pairwise(lines)):
        if (asked := ASKED.search(line)) and later.endswith(asked[0]):
            lines[place] = line.removesuffix(asked[0])
    return "; ".join(lines) + "".join(f" {notes[part]}" for part in parts if part in notes)


def _short(line: str) -> str:
    for long, short in SHORT:
        line = re.sub(long, short, line)
    return line


def _without_parts(lines: Iterable[str]) -> list[str]:
    """A quotient or a difference in place of the two quantities that it is made of, by the name of the first."""
    kept: list[str] = []
    waiting: list[str] = []
    for line in lines:
        if line.startswith(COMBINED):
            name, _, value = line.partition(": ")
            kept.append(f"{waiting[0].partition(': ')[0] if waiting else name}: {value}")
            waiting = []
        else:
            waiting.append(line)
    return kept + waiting


def _names(labels: Sequence[str]) -> list[str]:
    """The labels without the words that all begin or end with; nothing of a single one, which the claim says."""
    words = [label.split() for label in labels]
    if len(words) < 2:
        return [""] * len(words)
    before = _alike(words)
    while before and re.fullmatch(NUMBER, words[0][before - 1]):
        before -= 1
    after = _alike([each[before:][::-1] for each in words])
    if any(re.fullmatch(NUMBER, each[before]) for each in words if each[before:]):
        # A number keeps its unit, or else the word before it.
        unit = after and words[0][-after].rstrip(",") in UNITS
        before, after = (before, after - 1) if unit else (max(before - 1, 0), after)
    names = [" ".join(each[before : len(each) - after]) for each in words]
    return [re.sub(r",?( at| on)?$", "", name) for name in names]


def _alike(words: Sequence[Sequence[str]]) -> int:
    """With how many words, or letters, all of them begin alike."""
    columns = zip(*words, strict=False)
    return sum(1 for _ in takewhile(lambda each: len(set(each)) == 1, columns))
