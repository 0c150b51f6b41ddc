"""The folder that remembers a local cluster, so that any process of this user can find it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from beowulf.cluster.plan import Plan
from beowulf.errors import LabError


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make the folder if need be and keep others of this user from changing the cluster meanwhile."""
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise LabError(
                f"The folder {folder} for the cluster's files cannot be made: {error.strerror}.",
                "Free some space, or set BEOWULF_STATE to a folder that you may write to.",
            ) from error
        fcntl.flock(held, fcntl.LOCK_EX)
        # `down` removes the folder while we wait for it: then this lock is on a folder that is no more.
        if folder.exists() and os.stat(folder).st_ino == os.fstat(held).st_ino:
            break
        os.close(held)
    try:
        yield
    finally:
        os.close(held)


def save(folder: Path, plan: Plan, more: Mapping[str, Any]) -> None:
    """Write cluster.json in one step, so that a reader finds the old one or the new one, never half."""
    text = json.dumps({"plan": plan.as_dict(), **more}, indent=1)
    temporary = folder / "cluster.json.new"
    try:
        temporary.write_text(text)
        temporary.replace(folder / "cluster.json")
    except OSError as error:
        raise full(folder, error) from error


def load(folder: Path) -> dict[str, Any] | None:
    """What cluster.json says, or None when there is none or it cannot be read."""
    try:
        found = json.loads((folder / "cluster.json").read_text())
        return {**found, "plan": Plan(**found["plan"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(folder: Path, files: Mapping[str, tuple[str, int]]) -> None:
    """Write the cluster's small files in place: nodes see them through mounts that a renamed file would not reach."""
    for name, (text, mode) in files.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text(errors="replace") != text:
                path.touch(mode=mode)
                path.write_text(text)
            path.chmod(mode)
        except OSError as error:
            raise full(folder, error) from error


def remove(folder: Path) -> None:
    """Remove the folder and all that is in it."""
    shutil.rmtree(folder, ignore_errors=True)


def full(folder: Path, error: OSError) -> LabError:
    """The sentence for a file of the cluster that could not be written."""
    return LabError(
        f"The cluster's files in {folder} cannot be written: {error.strerror}.",
        "Free some space, or set BEOWULF_STATE to a folder elsewhere; then `beowulf up` again.",
    )
