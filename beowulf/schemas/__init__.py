"""The published JSON Schemas, and the files of Records, which follow one: read and written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import secrets
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from beowulf.errors import LabError

Plain = dict[str, Any]
VERSION = 1  # of a Record's schema

# A digit string longer than this is refused by Python itself when it is read back.
_LONGEST_INTEGER = 10**4000

_AGAIN = "Measure again, or bring back an older copy of the file."


class RecordError(LabError):
    """The file of a Record cannot be read or written: `path`; `foreign` is one of another kind."""

    foreign = False

    def __init__(self, what: str, hint: str = "", path: Path | None = None) -> None:
        super().__init__(what, hint)
        self.path = path


@cache
def _follows() -> Callable[[object], object]:
    from fastjsonschema import compile

    file = Path(__file__).with_name(f"record-{VERSION}.json")
    schema = json.loads(file.read_text(encoding="utf-8"))
    check: Callable[[object], object] = compile(schema, use_default=False)
    return check


def fault(content: object) -> str:
    """Where and how `content` departs from a Record's schema, in a few words; "" when it follows it."""
    from fastjsonschema import JsonSchemaValueException

    try:
        _follows()(content)
    except JsonSchemaValueException as error:
        where = _short("/".join(error.path[1:])) or "the top level"
        return f"at {where}: it {_short(error.message.removeprefix(error.name or '').strip())}"
    return ""


def plain(value: object, where: str = "") -> Any:
    """`value` as JSON knows it (tuples become lists); ValueError for what JSON cannot keep."""
    return _plain(value, [where])


def _plain(value: object, steps: list[str]) -> Any:
    """The same, `steps` from the top: they become one text only where something is wrong, for they may be long."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        if abs(value) >= _LONGEST_INTEGER:
            raise _wrong_at(steps, "an integer of thousands of digits")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _wrong_at(steps, f"{float(value)} is not a finite number")
        return float(value)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise _wrong_at(steps, f"the key {key!r} is not text")
        return {key: _plain(item, [*steps, key]) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, [*steps, str(place)]) for place, item in enumerate(value)]
    if hasattr(value, "tolist"):  # numpy's arrays and scalars, without importing numpy
        return _plain(value.tolist(), steps)
    raise _wrong_at(steps, f"{_short(repr(value))} cannot be kept in JSON")


def _wrong_at(steps: list[str], why: str) -> ValueError:
    return ValueError(f"at {'/'.join(steps)}: {why}")


def canonical(content: Plain) -> bytes:
    """The one spelling of `content` that its digest is taken of: keys sorted, no spaces, ASCII."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def write(path: Path | str, content: Plain) -> Path:
    """Write plain data if they follow the schema; the old file stays until the new one is on disk."""
    path = Path(path)
    if wrong := fault(content):
        raise RecordError(
            f"{path.name} was not written: it does not follow schema record-{VERSION}, {wrong}.",
            f"The schema is in beowulf/schemas/record-{VERSION}.json.",
            path,
        )
    text = json.dumps(content, indent=1, allow_nan=False) + "\n"
    try:
        _replace(path, text.encode("ascii"))
    except OSError as problem:
        raise _cannot_write(path, problem) from problem
    return path


def _replace(path: Path, content: bytes) -> None:
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    # In the same folder, because a rename is atomic only within one file system.
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    # So that the new name survives a power cut; a file system that cannot do it loses nothing else.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _cannot_write(path: Path, problem: OSError) -> RecordError:
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        why = "the disk is full"
        hint = "Free some space and save again; what the file held before is untouched."
    elif problem.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        why = "you may not write there"
        hint = "Choose a folder of your own, or change its owner."
    else:
        why = (problem.strerror or str(problem)).lower()
        hint = "Choose another place for it."
    return RecordError(f"{path} was not written: {why}.", hint, path)


def read(path: Path | str) -> Plain:
    """What the file of a Record holds; RecordError for what is not one."""
    path = Path(path)

    def refuse(why: str, hint: str = _AGAIN, *, foreign: bool = False) -> NoReturn:
        found = RecordError(f"{path} is not a record that can be read: {why}.", hint, path)
        found.foreign = foreign
        raise found

    text = _text(path)
    if not text.strip():
        refuse("it is empty")
    try:
        content = json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except json.JSONDecodeError as problem:
        whole = text.rstrip()
        cut = not whole.endswith("}") or problem.pos >= len(whole)
        if whole.lstrip().startswith("{") and cut:
            refuse("it ends in the middle, so it was truncated")
        refuse(f"it is not JSON ({problem.msg.lower()} in line {problem.lineno})")
    except (ValueError, RecursionError) as problem:
        refuse(f"it is not JSON as we write it ({_short(str(problem))})")
    if not isinstance(content, dict):
        refuse("its JSON is not an object", foreign=True)
    _refuse_others(content, refuse)
    try:
        content = plain(content)
    except (ValueError, RecursionError) as problem:
        refuse(f"it holds a value that no measurement gives, {problem}")
    if wrong := fault(content):
        refuse(f"it does not follow schema record-{VERSION}, {wrong}")
    ready: Plain = content
    return ready


def _text(path: Path) -> str:
    try:
        if path.exists() and not path.is_file():  # a folder, or a pipe that would wait forever
            raise RecordError(f"{path} is not a file.", "Give the record's .json file.", path)
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        hint = "Look at the name, or measure first."
        raise RecordError(f"There is no file {path}.", hint, path) from None
    except UnicodeDecodeError:
        what = f"{path} is not a record that can be read: it is not UTF-8 text."
        raise RecordError(what, _AGAIN, path) from None
    except OSError as problem:
        why = (problem.strerror or str(problem)).lower()
        hint = "Look at its owner and permissions."
        raise RecordError(f"{path} cannot be read: {why}.", hint, path) from None


def _refuse_others(content: Plain, refuse: Callable[..., NoReturn]) -> None:
    kind = content.get("kind")
    if kind != "record":
        said = "it does not say that it is one"
        if isinstance(kind, str):
            said = f"it says that it is a {_short(kind)}"
        refuse(said, 'Give a record: a file with "kind": "record" in it.', foreign=True)
    found = content.get("schema")
    if not isinstance(found, int) or isinstance(found, bool):
        refuse("it names no schema version")
    if found > VERSION:
        refuse(
            f"a newer version of this project wrote it (schema {found}, here up to {VERSION})",
            "Update this project and read it again.",
        )
    if found < VERSION:
        refuse(f"its schema {found} is not one that was ever published", "Measure again.")


def _pairs(pairs: list[tuple[str, Any]]) -> Plain:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("the same key occurs twice in one object")
    return content


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a finite number")


def _short(text: str, longest: int = 160) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
