"""The published JSON Schemas, and files that follow them, read and written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import secrets
from collections.abc import Callable, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from beowulf.errors import LabError

Plain = dict[str, Any]

# A digit string longer than this is refused by Python itself when it is read back.
_LONGEST_INTEGER = 10**4000

# Of very many faults of one file the first are looked at for the one to report.
MOST_FAULTS = 50

_AGAIN = "Measure again, or bring back an older copy of the file."


class FileError(LabError):
    """A file of ours cannot be read or written: `path`; `foreign` is one of another kind than is asked for."""

    foreign = False

    def __init__(self, what: str, hint: str = "", path: Path | None = None) -> None:
        super().__init__(what, hint)
        self.path = path


@cache
def schema(kind: str, version: int) -> Plain:
    """The published JSON Schema of a `kind` ("record", "verdict") in a version, as a dict."""
    text = Path(__file__).with_name(f"{kind}-{version}.json").read_text(encoding="utf-8")
    loaded: Plain = json.loads(text)
    return loaded


@cache
def _follows(kind: str, version: int) -> Callable[[object], object]:
    # The schema made into Python, which says yes or no in a fifth of the time, and less well why not.
    from fastjsonschema import compile

    check: Callable[[object], object] = compile(schema(kind, version), use_default=False)
    return check


@cache
def _validator(kind: str, version: int) -> Any:
    # Imported here because it takes longer than everything else that `beowulf --help` needs.
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema(kind, version))


def fault(kind: str, version: int, content: object) -> str:
    """Where and how `content` departs from the schema, in a few words; "" when it follows it."""
    from fastjsonschema import JsonSchemaValueException

    with contextlib.suppress(JsonSchemaValueException):
        _follows(kind, version)(content)
        return ""
    from jsonschema.exceptions import best_match

    errors = _validator(kind, version).iter_errors(content)
    error = best_match(islice(errors, MOST_FAULTS))
    if error is None:
        return ""
    where = "/".join(str(step) for step in error.absolute_path) or "the top level"
    return f"at {where}: {_short(error.message)}"


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


def write(
    path: Path | str, kind: str, version: int, content: object, error: type[FileError]
) -> Path:
    """Write `content` if it follows its schema; the old file stays until the new one is on disk."""
    path = Path(path)
    try:
        ready = plain(content)
    except (ValueError, RecursionError) as problem:
        raise error(
            f"{path.name} was not written: the {kind} cannot be kept as JSON, {problem}.",
            "Leave out a sample that could not be taken and say so in the warnings.",
            path,
        ) from None
    if wrong := fault(kind, version, ready):
        raise error(
            f"{path.name} was not written: it does not follow schema {kind}-{version}, {wrong}.",
            f"The schema is in beowulf/schemas/{kind}-{version}.json.",
            path,
        )
    text = json.dumps(ready, indent=1, allow_nan=False) + "\n"
    try:
        _replace(path, text.encode("ascii"))
    except OSError as problem:
        raise _cannot_write(path, problem, error) from problem
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


def _cannot_write(path: Path, problem: OSError, error: type[FileError]) -> FileError:
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        why = "the disk is full"
        hint = "Free some space and save again; what the file held before is untouched."
    elif problem.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        why, hint = (
            "you may not write there",
            "Choose a folder of your own, or change its owner.",
        )
    else:
        why, hint = (
            (problem.strerror or str(problem)).lower(),
            "Choose another place for it.",
        )
    return error(f"{path} was not written: {why}.", hint, path)


def read(path: Path | str, kind: str, version: int, error: type[FileError]) -> Plain:
    """What a file of `kind` in schema `version` holds; `error` for what is not one."""
    path = Path(path)

    def refuse(why: str, hint: str = "", *, foreign: bool = False) -> NoReturn:
        found = error(f"{path} is not a {kind} that can be read: {why}.", hint, path)
        found.foreign = foreign
        raise found

    text = _text(path, kind, error)
    if not text.strip():
        refuse("it is empty", _AGAIN)
    try:
        content = json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except json.JSONDecodeError as problem:
        whole = text.rstrip()
        cut = not whole.endswith("}") or problem.pos >= len(whole)
        if whole.lstrip().startswith("{") and cut:
            refuse("it ends in the middle, so it was truncated", _AGAIN)
        refuse(f"it is not JSON ({problem.msg.lower()} in line {problem.lineno})", _AGAIN)
    except (ValueError, RecursionError) as problem:
        refuse(f"it is not JSON as we write it ({_short(str(problem))})", _AGAIN)
    if not isinstance(content, dict):
        refuse("its JSON is not an object", _AGAIN, foreign=True)
    _refuse_others(content, kind, version, refuse)
    try:
        content = plain(content)
    except (ValueError, RecursionError) as problem:
        refuse(f"it holds a value that no measurement gives, {problem}", _AGAIN)
    if wrong := fault(kind, version, content):
        refuse(f"it does not follow schema {kind}-{version}, {wrong}", _AGAIN)
    ready: Plain = content
    return ready


def _text(path: Path, kind: str, error: type[FileError]) -> str:
    try:
        if path.exists() and not path.is_file():  # a folder, or a pipe that would wait for ever
            raise error(f"{path} is not a file.", f"Give the {kind}'s .json file.", path)
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        hint = "Look at the name, or measure first."
        raise error(f"There is no file {path}.", hint, path) from None
    except UnicodeDecodeError:
        raise error(
            f"{path} is not a {kind} that can be read: it is not UTF-8 text.",
            _AGAIN,
            path,
        ) from None
    except OSError as problem:
        why = (problem.strerror or str(problem)).lower()
        hint = "Look at its owner and permissions."
        raise error(f"{path} cannot be read: {why}.", hint, path) from None


def _refuse_others(
    content: Plain, kind: str, version: int, refuse: Callable[..., NoReturn]
) -> None:
    found_kind = content.get("kind")
    if found_kind != kind:
        said = "it does not say that it is one"
        if isinstance(found_kind, str):
            said = f"it says that it is a {_short(found_kind)}"
        refuse(said, f'Give a {kind}: a file with "kind": "{kind}" in it.', foreign=True)
    found = content.get("schema")
    if not isinstance(found, int) or isinstance(found, bool):
        refuse("it names no schema version", _AGAIN)
    if found > version:
        refuse(
            f"a newer version of this project wrote it (schema {found}, here up to {version})",
            "Update this project and read it again.",
        )
    if found < version:
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
