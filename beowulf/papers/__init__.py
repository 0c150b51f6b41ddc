"""What the papers published: their tables, as printed, each with its source."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf import paths
from beowulf.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd


def cite(letter: str) -> str:
    """The citation of a paper, named by its letter."""
    paper = _paper(letter)
    parts = (paper["authors"], paper["title"], paper["in"])
    return ". ".join(part for part in parts if part) + "."


def letters() -> list[str]:
    """The letters by which the labs call the papers."""
    return [letter for each in paths.packages() for letter in each.catalogue["papers"]]


def place(letter: str) -> str:
    """Where to get a paper: an address, which is its DOI where it has one, or a sentence."""
    return str(_paper(letter)["at"])


def note(letter: str) -> str:
    """Where a paper contradicts itself or no longer holds, outside of its tables; empty for nowhere."""
    return str(_paper(letter).get("note", ""))


def measured_again_by(study: str) -> list[str]:
    """The names of the tables whose figures a study measures again."""
    return [
        name
        for package in paths.packages()
        for name, entry in package.catalogue["tables"].items()
        if study in entry["studies"]
    ]


def table(name: str) -> pd.DataFrame:
    """A published table, as printed; its attrs have `title`, `source`, `note` (contradictions)."""
    entry, file = _entry("table", name)
    import pandas as pd

    frame = pd.read_csv(file.with_name(f"{name}.csv"))
    frame.attrs["title"] = entry["title"]
    frame.attrs["source"] = f"{cite(name[0])} Here: {entry['where']}."
    frame.attrs["note"] = entry.get("note", "")
    return frame


def figure(name: str, column: str, **at: object) -> float:
    """One figure of a published table: that of the only row with these cells, as printed."""
    _, catalogue = _entry("table", name)
    with catalogue.with_name(f"{name}.csv").open(encoding="utf-8", newline="") as file:
        (row,) = (
            row
            for row in csv.DictReader(file)
            if all(row[key] == str(value) for key, value in at.items())
        )
    return float(row[column])


def _paper(letter: str) -> dict[str, Any]:
    return _entry("paper", letter)[0]


def _entry(kind: str, name: str) -> tuple[dict[str, Any], Path]:
    """What a package's papers.toml has of a paper or a table, and that file."""
    for package in paths.packages():
        if found := package.catalogue[f"{kind}s"].get(name):
            return found, package.papers / "papers.toml"
    there = [each for package in paths.packages() for each in package.catalogue[f"{kind}s"]]
    raise UsageError(f"There is no {kind} {name!r}.", f"Known names: {', '.join(there)}.")
