"""A table that an instructor wrote, or had from an LMS: a CSV file of any spreadsheet."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from beowulf.errors import LabError, UsageError

Row = dict[str, str]


def read(path: Path) -> tuple[list[str], list[tuple[int, Row]]]:
    """The headings, and the lines that are not empty, each with its number; LabError when it is no such table."""
    if not path.is_file():
        raise UsageError(f"There is no file {path}.", "Name a CSV file.")
    try:
        text = path.read_text(encoding="utf-8-sig")
        between = max(",;\t", key=text.lstrip().partition("\n")[0].count)
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=between, strict=True)
        headings = [_cell(heading) for heading in reader.fieldnames or []]
        reader.fieldnames = headings
        lines = [(reader.line_num, row) for row in reader]
    except UnicodeDecodeError as problem:
        raise LabError(
            f"{path} is not text in UTF-8 (byte {problem.start}).",
            "Save it again as “CSV UTF-8”.",
        ) from None
    except csv.Error as problem:
        raise LabError(f"{path} cannot be read as CSV ({problem}).") from None
    for line, row in lines:
        if None in row:
            raise LabError(
                f"Line {line} of {path} has more columns than the first line.",
                "Put text that contains a comma in double quotes.",
            )
    plain = [(line, {name: _cell(row[name]) for name in headings}) for line, row in lines]
    return headings, [(line, row) for line, row in plain if any(row.values())]


def _cell(text: str | None) -> str:
    return " ".join((text or "").split())
