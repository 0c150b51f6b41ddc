"""A file written completely, or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from beowulf.errors import LabError


def write_text(path: Path, text: str) -> None:
    """Write a file completely or not at all; LabError when there is no room."""
    fresh = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(text, encoding="utf-8", newline="")
        os.replace(fresh, path)
    except OSError as problem:
        with suppress(OSError):
            fresh.unlink()
        why = (problem.strerror or str(problem)).lower()
        raise LabError(
            f"{path} cannot be written ({why}).", "Free some space, and try again."
        ) from None
