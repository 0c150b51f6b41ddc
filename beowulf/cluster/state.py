"""The folder that remembers a local cluster, so that any process of this user can find it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from beowulf import paths
from beowulf.cluster.common.config import ClusterConfig
from beowulf.errors import LabError

CLUSTER = "cluster.json"
SUPERVISOR_LOG = "supervisor.log"
BROKEN = "broken"
TARGET = "target.json"  # of a cluster of machines that are reached by ssh (machines/cluster.py)
ALLOCATION = "allocation.json"  # whose machines they are, where Slurm gave them (slurm/cluster.py)
TUNED = "tuned.jsonl"  # which knobs were turned, and what was there before
HELD = "held"  # the queue of processes that measure on the cluster or change it (holding/lock.py)
UNFINISHED = (
    "unfinished"  # there while the cluster is changed, and left there when that is cut short
)
# The kinds of cluster: the name of each, and the file in a cluster's folder by which the kind is known.
# `up --target KIND` makes one that has such a file. Nodes of Slurm are machines too, and have both files.
USUAL = "namespaces"
SIMULATED = "simulated.json"  # what SimGrid simulates (simulated/cluster.py)
LOCAL = "local.json"  # names of this machine (local/cluster.py)
KINDS = {USUAL: "", "ssh": TARGET, "slurm": ALLOCATION, "simulated": SIMULATED, "local": LOCAL}
# All that a cluster of namespaces keeps in its folder; whatever else lies there is not ours to remove.
OURS = {
    *("bin", "etc", "nodes", CLUSTER, f"{CLUSTER}.new", SUPERVISOR_LOG),
    *(BROKEN, TUNED, HELD, UNFINISHED),
}


class GoneError(LabError):
    """The cluster is gone."""

    def __init__(self) -> None:
        super().__init__("The cluster is down.", "`beowulf up` boots it.")


class SavedCluster(NamedTuple):
    """What cluster.json remembers: what the cluster was to be, and the process number of its supervisor."""

    plan: ClusterConfig
    supervisor_pid: int


@contextmanager
def locked(folder: Path, *, make: bool = True) -> Iterator[None]:
    """Make the folder if need be and keep other processes of this user from changing the cluster meanwhile.

    Without `make`, GoneError when the folder is not there.
    """
    held = -1
    try:  # from here on: what an interrupt left open would keep this process itself from taking the cluster down
        while True:
            held = _opened(folder, make)
            fcntl.flock(held, fcntl.LOCK_EX)
            # `down` removes the folder while we wait for it: then this lock is on a folder that is no more.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.stat(folder), os.fstat(held)):
                    break
            gone, held = held, -1
            os.close(gone)
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:  # it names no file
            raise full(folder, error) from error
        raise
    finally:
        if held != -1:
            os.close(held)


def _opened(folder: Path, make: bool) -> int:
    try:
        if make:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        if not make and isinstance(error, FileNotFoundError):
            raise GoneError from None
        raise LabError(
            f"The folder {folder} for the cluster's files cannot be made: {error.strerror}.",
            "Free some space, or set BEOWULF_STATE to a folder that you may write to.",
        ) from error


def save(folder: Path, plan: ClusterConfig, supervisor_pid: int) -> None:
    """Remember the cluster."""
    replace(folder, CLUSTER, {"plan": plan.as_dict(), "supervisor_pid": supervisor_pid})


def replace(folder: Path, name: str, content: Mapping[str, Any]) -> None:
    """Write plain data in one step, so that a reader finds the old ones or the new ones, never half."""
    temporary = folder / f"{name}.new"
    temporary.write_text(json.dumps(content, indent=1))
    temporary.chmod(0o600)
    temporary.replace(folder / name)


def kept(folder: Path, name: str) -> Any:
    """The plain data in a file of the folder; None when there is no such file."""
    try:
        return json.loads((folder / name).read_text())
    except FileNotFoundError:
        return None


def load(folder: Path) -> SavedCluster | None:
    """What cluster.json says, or None when there is none or it cannot be read: `up` then finds what runs."""
    try:
        saved = json.loads((folder / CLUSTER).read_text())
        return SavedCluster(ClusterConfig(**saved["plan"]), int(saved["supervisor_pid"]))
    except (OSError, ValueError, KeyError, TypeError, LabError):
        return None


def kind_in(folder: Path) -> str:
    """The kind of cluster that the folder remembers; empty where there is none, or one of the usual kind."""
    last_first = reversed(KINDS.items())
    return next((kind for kind, file in last_first if file and (folder / file).exists()), "")


def cluster_in(folder: Path) -> bool:
    """Whether the folder remembers a cluster, of whatever kind."""
    return (folder / CLUSTER).exists() or bool(kind_in(folder))


@contextmanager
def unfinished(folder: Path) -> Iterator[None]:
    """Mark the cluster as one that is being changed; the mark stays when that is cut short."""
    (folder / UNFINISHED).touch()
    yield
    (folder / UNFINISHED).unlink(missing_ok=True)


def tuned_host() -> Path:
    """The file that remembers which knobs of this machine were turned; no cluster takes it away with it."""
    folder = paths.state()
    return folder.with_name(f"{folder.name}-{TUNED}")


def open_lab() -> Path:
    """The file that says which lab is open; it stays when a cluster is taken down or made again below the lab."""
    folder = paths.state()
    return folder.with_name(f"{folder.name}-lab.json")


def strangers(folder: Path) -> list[str]:
    """What lies in the folder that no cluster put there: it may be a person's home."""
    return sorted({path.name for path in folder.iterdir()} - OURS)


def refuse_strangers(folder: Path, kind: str, names: Collection[str] = OURS) -> None:
    """LabError when the folder is that of a cluster of another kind, or holds what no cluster put there."""
    refuse_other_kinds(folder, kind)
    if others := [name for name in strangers(folder) if name not in names]:
        raise LabError(
            f"The folder {folder} is used for something else: {', '.join(others[:3])}.",
            "Set BEOWULF_STATE to a folder that does not exist yet, or to an empty one.",
        )


def refuse_other_kinds(folder: Path, kind: str) -> None:
    """LabError when the folder is that of a cluster of another kind."""
    other = kind_in(folder) or (USUAL if (folder / CLUSTER).exists() else "")
    if other and other != kind:
        raise LabError(
            f"A cluster of the kind {other} is running.", "End it first with `beowulf down`."
        )


def write(folder: Path, files: Mapping[str, tuple[str, int]]) -> None:
    """Write the cluster's small files in place: nodes see them through mounts that a renamed file would not reach."""
    for name, (text, mode) in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.touch(mode=mode)
            path.write_text(text)
        path.chmod(mode)


def empty(folder: Path, names: Collection[str] = OURS) -> None:
    """Remove what a cluster keeps in the folder, by its `names`; the folder, and with it the lock, stays."""
    for name in names:
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def remove(folder: Path, names: Collection[str] = OURS) -> None:
    """Remove the cluster's files, and the folder unless it has other files."""
    empty(folder, names)
    with suppress(OSError):
        folder.rmdir()


def full(folder: Path, error: OSError) -> LabError:
    """The sentence for a file of the cluster that could not be written."""
    return LabError(
        f"The cluster's files in {folder} cannot be written: {error.strerror}.",
        "Free some space, or set BEOWULF_STATE to a folder elsewhere; then run `beowulf up` again.",
    )
