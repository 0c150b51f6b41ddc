"""A benchmark of hours is made in parts: each is kept in build/ at once, and the next run goes on from there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beowulf import paths

FOLDER = paths.root() / "build"


@dataclass(frozen=True)
class Parts:
    """What earlier parts measured, by the same code: `of` is its digest, and what another made does not count."""

    name: str
    of: str

    @property
    def file(self) -> Path:
        """One line for each thing that was measured."""
        return FOLDER / f"{self.name}.jsonl"

    def read(self) -> list[dict[str, Any]]:
        """All of it, the oldest first."""
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        plain = [json.loads(line) for line in lines]
        return [each for each in plain if each.pop("of") == self.of]

    def add(self, measured: dict[str, Any]) -> None:
        """Keep one more; it is on the disk when this returns."""
        self.file.parent.mkdir(exist_ok=True)
        with self.file.open("a") as file:
            file.write(json.dumps({**measured, "of": self.of}) + "\n")

    def forget(self) -> None:
        """They were a whole benchmark: the next one begins anew."""
        self.file.unlink(missing_ok=True)
