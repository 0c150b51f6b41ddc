"""The supervisor: a process whose namespaces are the switch, and in which the nodes live. They all end with it."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from pathlib import Path

from beowulf.cluster import state
from beowulf.cluster.common import processes
from beowulf.cluster.common.processes import Process
from beowulf.cluster.common.shells import Show, surroundings
from beowulf.errors import LabError

SUPERVISOR, NODE = "beowulf-supervisor", "beowulf-node"
# bash reaps processes whose parents have died; a bare `sleep` as first process would keep them as zombies.
WAIT_FOR_EVER = "sleep infinity & wait"
OWN_NAMESPACES = "--net --uts --mount --pid --ipc --fork --kill-child --mount-proc"

LONGEST_START_S = 120.0


class Supervisor:
    """The supervisor of a cluster; `process` is its first process."""

    def __init__(self, process: Process) -> None:
        self.process = process

    def nodes(self) -> dict[str, Process]:
        """The first process of each node that runs, by name."""
        nodes: dict[str, Process] = {}
        for launcher in processes.children(self.process.pid):
            for pid in processes.children(launcher):
                words = processes.command_line(pid)
                first = processes.process(pid)
                # Before bash has taken over, it is still unshare, busy with making the namespaces.
                if first and words[:1] == ["bash"] and words[-2:-1] == [NODE]:
                    nodes[words[-1]] = first
        return dict(sorted(nodes.items()))


def end(folder: Path) -> None:
    """Kill every supervisor of the cluster in `folder`, and so each process, mount, interface and namespace of it."""
    supervisors = _find(folder)
    nodes = [node for each in supervisors for node in Supervisor(each).nodes().values()]
    if stuck := processes.end([*supervisors, *nodes]):
        raise LabError(
            f"The cluster's process {stuck[0].pid} cannot be ended.",
            "It is waiting inside the kernel, perhaps for a file server; try `beowulf down` again later.",
        )


def find(folder: Path, hint: int = 0) -> Supervisor | None:
    """The running supervisor of the cluster in `folder`; `hint` is its process number if there is one."""
    for process in _find(folder, hint):
        if processes.command_line(process.pid)[:1] == ["bash"]:
            return Supervisor(process)
    return None


def start(folder: Path, show: Show) -> Supervisor:
    """Start a supervisor and wait until its namespaces are there."""
    end(folder)  # one that was still starting when its `up` was killed
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    words = [
        "unshare",
        *user,
        *OWN_NAMESPACES.split(),
        "bash",
        "--norc",
        "-c",
        WAIT_FOR_EVER,
        SUPERVISOR,
        str(folder),
    ]
    show(
        "on this machine: the supervisor, whose network is the switch",
        f"{shlex.join(words)} &",
    )
    complaints = folder / state.SUPERVISOR_LOG
    with complaints.open("w") as log:
        # setsid --fork: the supervisor outlives this process and its terminal, and is nobody's zombie.
        subprocess.run(
            ["setsid", "--fork", *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=surroundings(),
            check=True,
        )
    deadline = time.monotonic() + LONGEST_START_S
    while time.monotonic() < deadline:
        complained = complaints.stat().st_size
        if supervisor := find(folder):
            return supervisor
        # A warning alone is no failure: what still starts carries the folder in its words.
        if complained and not _find(folder):
            break
        time.sleep(0.001)
    sudo = "" if os.geteuid() == 0 else " `sudo` works as well."
    raise LabError(
        f"Namespaces cannot be made here: {complaints.read_text().strip() or 'no answer'}.",
        f"`beowulf doctor` says what forbids them and how to allow them.{sudo}"
        " `beowulf up --target local` makes a cluster without them, which shows less.",
    )


def enter(process: Process, *kinds: str) -> list[str]:
    """The words that run what follows them inside a process's namespaces: all that we make, or these `kinds`."""
    user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
    # --root: where this machine itself lives in a folder of another one, the process's root is that folder.
    chosen = kinds or ("mount", "net", "pid", "uts", "ipc", "root")
    return [
        "nsenter",
        f"--target={process.pid}",
        *user,
        *(f"--{kind}" for kind in chosen),
    ]


def this_node() -> str:
    """The name of the node that this very process runs on; empty outside of every cluster."""
    words = processes.command_line(1)
    return words[-1] if words[-2:-1] == [NODE] else ""


def node_launcher(names: list[str]) -> list[str]:
    """Lines for the supervisor that start the first process of each node; the terminal that we run in is not theirs."""
    return [
        f"setsid unshare {OWN_NAMESPACES} bash --norc -c '{WAIT_FOR_EVER}' {NODE} {name} </dev/null >/dev/null 2>&1 &"
        for name in names
    ]


def _find(folder: Path, hint: int = 0) -> list[Process]:
    mark = [SUPERVISOR, str(folder)]
    if hint and processes.command_line(hint)[-2:] == mark:
        process = processes.process(hint)
        return [process] if process else []
    return [
        process
        for number in processes.numbers()
        if processes.command_line(number)[-2:] == mark
        and processes.owner(number) == os.geteuid()
        and (process := processes.process(number))
    ]
