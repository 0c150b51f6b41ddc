"""The result of a benchmark: rows with a verdict each, saved as JSON and Markdown with all circumstances."""

from __future__ import annotations

import json
import os
import re
import secrets
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.rows import HEADINGS, Question, Row, amount, cells
from beowulf.errors import LabError
from beowulf.measure.statistics import LEAST_PAIRS

SCHEMA_VERSION = 1


@dataclass
class Findings:
    """What a benchmark returns: its samples (seconds, one a round), its questions, facts and notes.

    Where a round has many samples of its own and gives their median, `raw` has them, a list a round.
    """

    questions: list[Question]
    samples: dict[str, list[float]] = field(default_factory=dict)
    busy_percent: list[float] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    raw: dict[str, list[list[float]]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass
class Result:
    """A benchmark's outcome, as it is saved."""

    name: str
    title: str
    started: str
    ended: str
    rounds: int
    seed: int
    noise: str
    rows: list[Row]
    samples_s: dict[str, list[float]]
    order: list[str]
    raw_samples_s: dict[str, list[list[float]]]
    facts: dict[str, Any]
    notes: list[str]
    circumstances: dict[str, Any]
    versions: dict[str, str]

    def save(self, folder: Path) -> list[Path]:
        """Write NAME.json and NAME.md into `folder`, each completely or not at all; returns their paths."""
        content = {"kind": "benchmark", "schema": SCHEMA_VERSION, **asdict(self)}
        texts = {
            folder / f"{self.name}.json": _json(content),
            folder / f"{self.name}.md": markdown(self),
        }
        for path, text in texts.items():
            try:
                _replace(path, text)
            except OSError as problem:
                raise LabError(
                    f"{path} was not written: {problem.strerror}.",
                    "Free some space or fix the folder's permissions; the old file is untouched.",
                ) from problem
        return list(texts)

    @classmethod
    def load(cls, path: Path) -> Result:
        """The result in a JSON file; LabError for any other file."""
        try:
            content = json.loads(path.read_text())
            kind, version = content.pop("kind"), content.pop("schema")
            if (kind, version) != ("benchmark", SCHEMA_VERSION):
                raise ValueError(f"it is a {kind} of version {version}")
            rows = [Row(**row) for row in content.pop("rows")]
            return cls(rows=rows, **content)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
            raise LabError(
                f"{path} is not a benchmark's result: {problem}.", "Measure again: `make bench`."
            ) from problem


def markdown(result: Result) -> str:
    """The whole result for a reader: the table first, then what the figures rest on."""
    units = {name: row.unit for row in result.rows for name in (row.ours, row.other)}
    quartile_rows = [
        [name, str(len(taken)), *(amount(v, units.get(name, "s")) for v in _five(taken))]
        for name, taken in result.samples_s.items()
    ]
    before, after = result.circumstances["before"], result.circumstances["after"]
    circumstances = [[name, _word(before[name]), _word(after.get(name))] for name in before]
    busy = result.circumstances["pauses_busy_percent"]
    pauses = (
        f"In {len(busy)} pauses others took a median of {statistics.median(busy):.0f} % of the cores."
        if busy
        else ""
    )
    parts = [
        f"# {result.title}",
        f"Measured from {result.started} to {result.ended}: {result.rounds} rounds, in turns, in an order "
        f"drawn with seed {result.seed}. A ratio is ours over the other, the median over the rounds' "
        f"pairs, with its 95 % bootstrap interval (with fewer than {LEAST_PAIRS} pairs: their whole "
        "range). The figures hold for the circumstances below.",
        table(HEADINGS, [cells(row) for row in result.rows]),
        f"The machine was noisy: {result.noise}." if result.noise else "",
        *(
            ["## What to know", "\n".join(f"- {note}" for note in result.notes)]
            if result.notes
            else []
        ),
        "## Samples",
        table(["what", "n", "least", "quartile", "median", "quartile", "most"], quartile_rows),
        f"All of them are in {result.name}.json.",
        "## Circumstances",
        table(["", "before", "after"], circumstances),
        pauses,
        table(
            ["", ""],
            [
                [name, _word(fact)]
                for name, fact in (result.versions | result.facts).items()
                if not isinstance(fact, dict)  # too long for a cell; the JSON has it
            ],
        ),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _five(samples: Sequence[float]) -> list[float]:
    if len(samples) == 1:
        return [samples[0]] * 5
    return [min(samples), *statistics.quantiles(samples, n=4, method="inclusive"), max(samples)]


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; empty without rows."""
    if not rows:
        return ""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def _json(content: dict[str, Any]) -> str:
    text = json.dumps(content, indent=1, allow_nan=False)
    # A list of numbers on a line of its own: the file is read by people too, and compared.
    return re.sub(r"\[[-+\d.e,\s]+\]", lambda match: " ".join(match[0].split()), text) + "\n"


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
