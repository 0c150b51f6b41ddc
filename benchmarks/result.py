"""A benchmark's result: a row for each question, with a verdict against its bar, and the file that keeps it."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beowulf.measure.statistics import LEAST_PAIRS, ratio, summary

RESULTS = Path(__file__).with_name("results")
MET, NOT_MET, INCONCLUSIVE, NOT_MEASURED = "met", "not met", "inconclusive", "not measured"
NO_BAR = "no bar"
LEAST_RUNS = 3
HEADINGS = (
    "what",
    "bar",
    "ours (median)",
    "other (median)",
    "ratio (95 % interval)",
    "n",
    "verdict",
)


@dataclass(frozen=True)
class Bar:
    """The target: at most `limit` for `ours`, or as a `ratio` of ours to the other.

    Where less is not better either, `least` is the other end. A `count` is of trials that end as they should
    (1 or 0 each): at least `least` of `limit`.
    """

    limit: float
    of: str = "ours"
    least: float = 0.0

    def __str__(self) -> str:
        if self.of == "count":
            return f"at least {self.least:g} of {self.limit:g}"
        if self.of == "ratio":
            return f"ratio {f'{self.least:g} to' if self.least else 'at most'} {self.limit:g}"
        return f"at most {amount(self.limit, 's')}"


@dataclass(frozen=True)
class Question:
    """One row of the table: `ours` and `other` name samples in `unit`: s, bytes or trials.

    `missing` is why there are none, or why they do not count.
    """

    what: str
    ours: str
    other: str = ""
    bar: Bar | None = None
    missing: str = ""
    unit: str = "s"


@dataclass
class Findings:
    """What a benchmark measured: samples by name, one a round; and in each pause, how busy others kept the cores."""

    questions: list[Question] = field(default_factory=list)
    samples: dict[str, list[float]] = field(default_factory=dict)
    busy_percent: list[float] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


def answer(
    question: Question, samples: Mapping[str, Sequence[float]], noise: str, seed: int
) -> dict[str, Any]:
    """The row for a question: medians (of trials: their sum), ratio with its interval, and the verdict."""
    bar = question.bar
    ours = samples.get(question.ours, [])
    other = [] if question.missing else samples.get(question.other, [])
    row: dict[str, Any] = {
        "what": question.what,
        "bar": str(bar or "none"),
        "ours": question.ours,
        "other": question.other,
        "n": len(ours),
        "unit": question.unit,
    }
    if ours and question.unit == "trials":
        row["ours_median"] = sum(ours)
    elif ours:
        own = summary(ours, seed)
        row |= {"ours_median": own.median, "ours_interval": [own.low, own.high]}
    if ours and other:
        times = ratio(list(zip(ours, other, strict=True)), seed)
        row |= {"other_median": statistics.median(other), "ratio": times.median}
        row["ratio_interval"] = [times.low, times.high]
    row["verdict"], row["why"] = _verdict(question, row, noise)
    return row


def _verdict(question: Question, row: Mapping[str, Any], noise: str) -> tuple[str, str]:
    bar, n = question.bar, row["n"]
    if question.missing or not n:
        return NOT_MEASURED, question.missing
    if bar is None:
        return NO_BAR, ""
    if noise:
        return INCONCLUSIVE, "the machine was noisy"
    least = {"count": int(bar.limit), "ratio": LEAST_PAIRS}.get(bar.of, LEAST_RUNS)
    if n < least:
        return INCONCLUSIVE, f"{n} of the {least} rounds that it takes"
    if bar.of == "count":
        return MET if row["ours_median"] >= bar.least else NOT_MET, ""
    low, high = row["ratio_interval" if bar.of == "ratio" else "ours_interval"]
    if bar.least <= low and high <= bar.limit:
        return MET, ""
    if low > bar.limit or high < bar.least:
        return NOT_MET, ""
    return INCONCLUSIVE, "the bar is within the interval"


def cells(row: Mapping[str, Any]) -> list[str]:
    """A row as the cells of a table, under HEADINGS."""
    ratio = "–"
    if "ratio" in row:
        low, high = row["ratio_interval"]
        ratio = f"{row['ratio']:.3g} ({low:.3g} to {high:.3g})"
    unit = row["unit"]
    other = (
        f"{amount(row['other_median'], unit)} ({row['other']})" if "other_median" in row else "–"
    )
    ours = amount(row["ours_median"], unit) if "ours_median" in row else "–"
    verdict = f"{row['verdict']}: {row['why']}" if row["why"] else row["verdict"]
    return [row["what"], row["bar"], ours, other, ratio, str(row["n"]), verdict]


def amount(value: float, unit: str) -> str:
    """A time with three digits and the unit that suits it, bytes as MB, or how many trials."""
    if unit == "trials":
        return f"{value:.0f}"
    if unit == "bytes":
        return f"{value / 1e6:.3g} MB"
    for factor, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")):
        if value >= factor:
            return f"{value / factor:.3g} {name}"
    return f"{value:.3g} s"


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; empty without rows."""
    if not rows:
        return ""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def save(result: Mapping[str, Any]) -> Path:
    """Write results/NAME.json; a list of numbers is on a line of its own, because people read and compare the file."""
    text = json.dumps(result, indent=1, allow_nan=False)
    text = re.sub(r"\[[-+\d.e,\s]+\]", lambda match: " ".join(match[0].split()), text)
    path = RESULTS / f"{result['name']}.json"
    path.write_text(text + "\n", encoding="utf-8")
    return path


def kept(name: str) -> dict[str, Any]:
    """The newest result of a benchmark."""
    content: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return content
