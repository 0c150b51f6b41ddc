"""What the papers published: their tables, as printed, each with its source."""

from __future__ import annotations

import csv
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd


def cite(letter: str) -> str:
    """The citation of a paper, named by its letter A to E."""
    paper = _paper(letter)
    parts = (paper["authors"], paper["title"], paper["in"])
    return ". ".join(part for part in parts if part) + "."


def letters() -> list[str]:
    """The letters by which the labs call the papers."""
    return list(_catalogue()["papers"])


def place(letter: str) -> str:
    """Where to get a paper: an address, which is its DOI where it has one, or a sentence."""
    return str(_paper(letter)["at"])


def note(letter: str) -> str:
    """Where a paper contradicts itself or no longer holds, outside of its tables; empty for nowhere."""
    return str(_paper(letter).get("note", ""))


def measured_again_by(study: str) -> list[str]:
    """The names of the tables whose figures a study measures again."""
    tables = _catalogue()["tables"].items()
    return [name for name, entry in tables if study in entry["studies"]]


def table(name: str) -> pd.DataFrame:
    """A published table, as printed; its attrs have `title`, `source`, `note` (contradictions)."""
    entries = _catalogue()["tables"]
    if name not in entries:
        raise UsageError(f"There is no table {name!r}.", f"There are: {', '.join(entries)}.")
    import pandas as pd

    frame = pd.read_csv(Path(__file__).with_name(f"{name}.csv"))
    entry = entries[name]
    frame.attrs["title"] = entry["title"]
    frame.attrs["source"] = f"{cite(name[0])} Here: {entry['where']}."
    frame.attrs["note"] = entry.get("note", "")
    return frame


def figure(name: str, column: str, **at: object) -> float:
    """One figure of a published table: that of the only row with these cells, as printed."""
    with Path(__file__).with_name(f"{name}.csv").open(encoding="utf-8", newline="") as file:
        (row,) = (
            row
            for row in csv.DictReader(file)
            if all(row[key] == str(value) for key, value in at.items())
        )
    return float(row[column])


def _paper(letter: str) -> dict[str, Any]:
    papers: dict[str, dict[str, Any]] = _catalogue()["papers"]
    if letter not in papers:
        raise UsageError(f"There is no paper {letter!r}.", f"There are: {', '.join(papers)}.")
    return papers[letter]


@cache
def _catalogue() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("papers.toml").read_text(encoding="utf-8"))
