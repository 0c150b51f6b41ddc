"""The lines of a measuring program, read as they come."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

KINDS = ("about", "first", "sample", "sent", "counts", "check", "result", "end", "profile")
UNITS = ("_s", "_ms", "_us", "_ns")


class ProgramOutput:
    """Listens to a program: keeps whole lines of JSON as `rows` and calls `report` after each.

    It raises nothing, because the thread that writes must go on: `trouble` keeps the first line
    that is no result.
    """

    def __init__(self, report: Callable[[ProgramOutput], None] = lambda lines: None) -> None:
        self.rows: list[dict[str, Any]] = []
        self.trouble = ""
        self.ended = False
        self.samples = 0  # so many came
        self.planned = 0  # of so many
        self.doing = "starting"
        self._report = report
        self._rest = ""

    def write(self, text: str) -> None:
        """Take some text, and read what lines it ends."""
        *whole, self._rest = (self._rest + text).split("\n")
        for line in whole:
            if line.strip():
                self._read(line.strip())
        if whole:
            self._report(self)

    def _read(self, text: str) -> None:
        line = _result(text)
        if line is None:
            self.trouble = self.trouble or text[:200]
            return
        self.rows.append(line)
        if line["kind"] == "about":
            self.planned = int(line.get("samples", 0))
        elif line["kind"] == "sample":
            self.samples += 1
            parts = [f"{line[name]:,} bytes" for name in ("size_bytes",) if name in line]
            parts += [str(line[name]) for name in ("protocol",) if name in line]
            self.doing = ", ".join(parts) or "measuring"
        elif line["kind"] == "end":
            self.ended = True


def _result(text: str) -> dict[str, Any] | None:
    """The line as data, or None when it is not one that a measuring program prints."""
    try:
        line = json.loads(text)
    except ValueError:
        return None
    if not isinstance(line, dict) or line.get("kind") not in KINDS:
        return None
    if line["kind"] == "first" and not _positive(line.get("seconds")):
        return None
    if line["kind"] == "sample":
        quantity = line.get("quantity")
        fine = isinstance(quantity, str) and quantity.endswith(UNITS)
        if not fine or not _positive(line.get("seconds")) or not _positive(line.get("repetitions")):
            return None
    return line


def _positive(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and value > 0
