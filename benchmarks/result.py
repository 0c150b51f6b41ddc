"""A benchmark's result: a row for each question, and the file that keeps it."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from beowulf.measure.statistics import ratio, summary

RESULTS = Path(__file__).with_name("results")
HEADINGS = ("what", "ours (median)", "other (median)", "ratio (95 % interval)", "n")


@dataclass(frozen=True)
class Question:
    """One row of the table: `ours` and `other` name samples in `unit`: s, bytes or trials.

    `missing` is why there are none.
    """

    what: str
    ours: str
    other: str = ""
    missing: str = ""
    unit: str = "s"


@dataclass
class Findings:
    """What a benchmark measured: samples by name, one a round; and in each pause, how busy others kept the cores."""

    questions: list[Question] = field(default_factory=list)
    samples: dict[str, list[float]] = field(default_factory=dict)
    busy_percent: list[float] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)


def answer(question: Question, samples: Mapping[str, Sequence[float]], seed: int) -> dict[str, Any]:
    """The row for a question: medians (of trials: their sum), and the ratio with its interval."""
    ours, other = (samples.get(name, []) for name in (question.ours, question.other))
    row: dict[str, Any] = {**asdict(question), "n": len(ours)}
    if ours and question.unit == "trials":
        row["ours_median"] = sum(ours)
    elif ours:
        own = summary(ours, seed)
        row |= {"ours_median": own.median, "ours_interval": [own.low, own.high]}
    if ours and other:
        times = ratio(list(zip(ours, other, strict=True)), seed)
        row |= {"other_median": statistics.median(other), "ratio": times.median}
        row["ratio_interval"] = [times.low, times.high]
    return row


def cells(row: Mapping[str, Any]) -> list[str]:
    """A row as the cells of a table, under HEADINGS."""
    ours, other, ratio = "–", "–", "–"
    if "ours_median" in row:
        ours = amount(row["ours_median"], row["unit"])
    if "ratio" in row:
        other = f"{amount(row['other_median'], row['unit'])} ({row['other']})"
        low, high = row["ratio_interval"]
        ratio = f"{row['ratio']:.3g} ({low:.3g} to {high:.3g})"
    return [row["what"], row["missing"] or ours, other, ratio, str(row["n"])]


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
