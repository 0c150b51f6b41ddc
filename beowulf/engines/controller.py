"""The controller of IPython engines: it listens at sockets in a folder, or at this machine's addresses."""

from __future__ import annotations

import json
import socket
from pathlib import Path

NAME = "beowulf"
ENDS = ("engine", "client")


def options(folder: Path, *, networked: bool = False) -> list[str]:
    """The words that tell a controller where to listen.

    At sockets in `folder`; for `networked` engines, which see no socket there, at this machine's addresses, and
    everything is encrypted by CURVE.
    """
    if networked:
        return ["--ip=*", f"--location={socket.gethostname()}", "--IPController.enable_curve=True"]
    sockets = [f"--IPController.{end}_ip={folder / end}" for end in (*ENDS, "monitor")]
    return ["--IPController.transport=ipc", *sockets]


def connection(folder: Path, end: str) -> Path:
    """The file in which a controller whose files are in `folder` says how one of its `ENDS` reaches it."""
    return folder / "profile" / "security" / f"ipcontroller-{NAME}-{end}.json"


def named(folder: Path) -> bool:
    """Whether all sockets are there, each with its second name, as the controller writes them down.

    ipyparallel (9.2) listens at `engine-1234` and connects to `engine:1234`.
    """
    for end in ENDS:
        used = ports(connection(folder, end))
        if not used or not all((folder / f"{end}-{port}").exists() for port in used):
            return False
        for port in used:
            if not (name := folder / f"{end}:{port}").is_symlink():
                name.symlink_to(f"{end}-{port}")
    return True


def ports(file: Path) -> list[int]:
    """The ports that the controller has written down for one of its ends; nothing when it has not yet."""
    try:
        connection = json.loads(file.read_text())
    except (OSError, ValueError):
        return []  # not written yet, or only half
    values = [
        v for value in connection.values() for v in (value if isinstance(value, list) else [value])
    ]
    return sorted({value for value in values if isinstance(value, int)})
