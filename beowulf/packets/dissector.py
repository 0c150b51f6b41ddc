"""The dissector for MPICH's packets: how tshark loads it, and where Wireshark finds it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from beowulf.errors import LabError

SCRIPT = Path(__file__).with_name("mpich_ch3.lua")

# A rank listens on any free port; Wireshark takes some of them for those of other protocols.
# A node with several cores may send packets in another order than it numbered them.
PREFERENCES = {
    "tcp.try_heuristic_first": "TRUE",
    "tcp.reassemble_out_of_order": "TRUE",
}


# From this version on, tshark and Wireshark load no Lua script for root but those of the system's own folder.
NONE_FOR_ROOT = (4, 2)


def options() -> list[str]:
    """With these tshark shows MPICH's packets: `pyshark.FileCapture(file, custom_parameters=options())`.

    For root, who may not name a script to a new tshark, the dissector is installed.
    """
    let_pyshark_wait()
    if _only_the_systems():
        install()
    preferences = [("-o", f"{name}:{value}") for name, value in PREFERENCES.items()]
    return ["-X", f"lua_script:{SCRIPT}", *(word for pair in preferences for word in pair)]


def let_pyshark_wait() -> None:
    """Give asyncio what pyshark 0.6 asks it for and Python 3.14 no longer has: a watcher of processes, a loop."""
    import asyncio

    if not hasattr(asyncio, "set_child_watcher"):
        # Programs are waited for without one since then.
        none = SimpleNamespace(attach_loop=lambda loop: None)
        vars(asyncio).update(
            SafeChildWatcher=lambda: none,
            set_child_watcher=lambda watcher: None,
            get_child_watcher=lambda: none,
        )
        try:
            asyncio.get_event_loop()
        except RuntimeError:
            asyncio.set_event_loop(asyncio.new_event_loop())


def tshark_words(file: Path | str) -> list[str]:
    """The tshark command that reads a capture with MPICH's packets shown; `mpich` is their filter."""
    return ["tshark", "-n", *options(), "-r", str(file)]


def install() -> Path:
    """Copy the dissector into this user's folder of Wireshark plugins, for root the system's; where it is now."""
    folder = plugins_folder()
    target = folder / SCRIPT.name
    if target.is_file() and target.read_bytes() == SCRIPT.read_bytes():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    # Not half a file, if Wireshark starts meanwhile.
    with tempfile.NamedTemporaryFile("wb", dir=folder, delete=False) as file:
        file.write(SCRIPT.read_bytes())
    shutil.copymode(SCRIPT, file.name)
    os.replace(file.name, target)
    return target


def plugins_folder() -> Path:
    """Where this user's Wireshark and tshark look for Lua plugins, as tshark says."""
    wanted = "Global Lua Plugins" if _only_the_systems() else "Personal Lua Plugins"
    folders = (line.partition(":") for line in _answer("-G", "folders").splitlines())
    return next(Path(place.strip()) for name, _, place in folders if name == wanted)


@cache
def _only_the_systems() -> bool:
    """Whether tshark loads, for us, the Lua scripts of the system's folder only."""
    if 0 not in (os.getuid(), os.getgid()):
        return False
    version = re.findall(r"\d+", _answer("--version"))
    return tuple(map(int, version[:2])) >= NONE_FOR_ROOT


def _answer(*words: str) -> str:
    try:
        return subprocess.run(["tshark", *words], capture_output=True, text=True).stdout
    except FileNotFoundError:
        raise LabError("There is no tshark here.", "`beowulf doctor --fix` installs it.") from None
