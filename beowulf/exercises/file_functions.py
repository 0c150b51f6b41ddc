"""Functions of a learner's own: read from their file, called with care, and what they gave as a number."""

from __future__ import annotations

import hashlib
import inspect
import math
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from beowulf.errors import LabError

UNWRITTEN = "it is not written yet"
LONGEST_SOURCE = 20_000


def functions(source: Path) -> dict[str, Any]:
    """The names that a Python file defines; LabError when it cannot be read or is no Python."""
    # Read again each time: a learner changes the file between two runs of a cell.
    known: dict[str, Any] = {"__name__": source.stem, "__file__": str(source)}
    try:
        exec(compile(source.read_text(encoding="utf-8"), str(source), "exec"), known)
    except OSError as problem:
        raise LabError(
            f"{source} cannot be read: {(problem.strerror or str(problem)).lower()}.",
            "Work in the folder where your copies of the lab lie.",
        ) from None
    except Exception as problem:
        raise LabError(
            f"{source} cannot be used: {type(problem).__name__}: {problem}.", "Fix it and save it."
        ) from None
    return known


def called(function: Any, name: str, arguments: Sequence[Any]) -> tuple[float | None, str]:
    """The number that a function gives; None and the reason when it gives none."""
    if not callable(function):
        return None, f"there is no function {name}"
    given, why = result(function, *arguments)
    if why:
        return None, why
    try:
        number = float(given)
    except (TypeError, ValueError):
        return None, f"it gives no number, but {type(given).__name__}"
    return (number, "") if math.isfinite(number) else (None, f"it gives {number}")


def result(function: Any, *arguments: Any) -> tuple[Any, str]:
    """What a function gives; None and the reason when it gives nothing."""
    if not callable(function):
        return None, f"it is not a function, but {type(function).__name__}"
    try:
        given = function(*arguments)
    except Exception as problem:
        return None, raised(function, problem)
    return (None, UNWRITTEN) if given is None or given is ... else (given, "")


def unaided(ours: ModuleType, function: Any, *arguments: Any) -> tuple[Any, str]:
    """As result(); a function that has a module of ours do its work gives nothing, whatever name it calls that by."""
    called: list[str] = []

    def look(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename == ours.__file__:
            called.append(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        given, why = result(function, *arguments)
    finally:
        sys.setprofile(before)
    if called:
        return None, f"it has {ours.__name__} do its work; it is to be your own"
    return given, why


def raised(function: Any, problem: Exception) -> str:
    """What a learner's function raised, in words, with the line of it where that is known."""
    return f"{type(problem).__name__}{_line(function, problem)}: {problem}"


def about(source: Path, arguments: Sequence[str] = ()) -> dict[str, Any]:
    """What a Record says of the learner's file; LabError when there is none."""
    try:
        content = source.read_bytes()
    except OSError as problem:
        raise LabError(
            f"{source} cannot be read: {(problem.strerror or str(problem)).lower()}.",
            "Work in the folder where your copies of the lab lie.",
        ) from None
    digest = hashlib.sha256(content).hexdigest()
    return {"name": source.name, "arguments": list(arguments), "sha256": digest}


def of_cell(function: Any) -> tuple[str, dict[str, Any]]:
    """The text of a function that is written in a cell, and what a Record says of it as its program."""
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        text = ""  # made in a way that leaves no text
    digest = hashlib.sha256(text.encode()).hexdigest()
    name = str(getattr(function, "__name__", function))
    return text[:LONGEST_SOURCE], {"name": name, "arguments": [], "sha256": digest}


def _line(function: Any, problem: Exception) -> str:
    """Where in the function's own file it went wrong, as far as that is known."""
    file = getattr(getattr(function, "__code__", None), "co_filename", None)
    steps = traceback.extract_tb(problem.__traceback__)
    numbers = [step.lineno for step in steps if step.filename == file]
    return f" in line {numbers[-1]}" if numbers else ""
