"""A benchmark of hours is measured in parts: each is saved in build/ at once, and the next run continues from there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beowulf import paths

FOLDER = paths.root() / "build"


@dataclass(frozen=True)
class Parts:
    """What earlier parts measured, by the same code: `of` is its digest, and parts by other code do not count."""

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
        """Save one more; it is on the disk when this returns."""
        self.file.parent.mkdir(exist_ok=True)
        with self.file.open("a") as file:
            file.write(json.dumps({**measured, "of": self.of}) + "\n")

    def forget(self) -> None:
        """Delete the parts of a complete benchmark, so that the next one begins again."""
        self.file.unlink(missing_ok=True)
