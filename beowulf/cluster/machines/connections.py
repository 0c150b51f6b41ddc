"""ssh connections from this machine to others: one to each, shared by all commands, with a sentence for what fails."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from beowulf.cluster import Completed, state
from beowulf.cluster.common.shells import UnfinishedError, answer, marked, surroundings
from beowulf.errors import LabError

if TYPE_CHECKING:
    from beowulf.cluster.machines.inventory import Machine

CONFIG = "ssh_config"
SOCKETS = "ssh"
NO_CONNECTION = 255  # the exit code of ssh itself
LONGEST_CONNECT_S = 5
LONGEST_ANSWER_S = 20.0
KEPT_OPEN_S = 600
# The name of a socket has at most 108 characters, and ssh adds a dot and 16 while it makes one.
LONGEST_SOCKET = 108 - 1 - 17

# What ssh says when it gets no connection: a mark in its words, what happened, what to try.
TROUBLES = (
    (
        "IDENTIFICATION HAS CHANGED",
        "{name} shows a different host key from the one known for {place}: it was installed again, or another machine"
        " has its address",
        "If it is the right machine, `ssh-keygen -R '{known}'` forgets the old key; then log in to it once by hand.",
    ),
    (
        "host key is known|Host key verification failed",
        "{name} shows a host key that this machine does not know yet",
        "Log in once by hand, `{login}`, and compare the key with what `ssh-keygen -lf` prints at {name} itself.",
    ),
    (
        "Permission denied",
        "{name} does not let {user} in with a key of this machine",
        "Is that the right user (ansible_user)? `ssh-copy-id` puts your key there.",
    ),
    (
        "Too many authentication failures",
        "{name} was offered too many keys of {user}",
        "Name the right one in the inventory (ansible_ssh_private_key_file).",
    ),
    (
        "Could not resolve",
        "No address is known for {name} under the name {host}",
        "Write its address into the inventory (ansible_host).",
    ),
    (
        "Connection refused",
        "{name} is on, but no ssh server answers at {place}",
        "Start it there (Debian's package openssh-server), or fix the port in the inventory.",
    ),
    (
        r"timed out|No route to host|unreachable|Connection closed|Connection reset|banner exchange",
        "{name} does not answer at {place}",
        "Check that it is switched on and its cable is plugged in. If its address has changed: `beowulf up` finds a"
        " VM again; write that of a PC into the inventory.",
    ),
)


def configure(folder: Path, machines: Iterable[Machine]) -> None:
    """Write ssh's settings for these machines into the cluster's folder, and make the place for its sockets."""
    listed = list(machines)
    sockets = folder / SOCKETS
    if len(f"{sockets}/{max((m.name for m in listed), key=len)}".encode()) > LONGEST_SOCKET:
        raise LabError(
            f"The folder {folder} for the cluster's files has too long a name for ssh's sockets.",
            f"Set BEOWULF_STATE to one of at most {LONGEST_SOCKET - 70} characters.",
        )
    sockets.mkdir(mode=0o700, exist_ok=True)
    text = "".join(_host(machine) for machine in listed) + _common(sockets)
    state.write(folder, {CONFIG: (text, 0o600)})


def _host(machine: Machine) -> str:
    lines = [f"Host {machine.name}", f"  HostName {machine.host}", f"  Port {machine.port}"]
    lines += [f"  User {machine.user}"] if machine.user else []
    lines += [f'  IdentityFile "{machine.key}"', "  IdentitiesOnly yes"] if machine.key else []
    return "\n".join(lines) + "\n"


def _common(sockets: Path) -> str:
    place = str(sockets).replace("%", "%%")
    return "\n".join(
        [
            "Host *",
            "  BatchMode yes",
            "  StrictHostKeyChecking yes",
            f"  ConnectTimeout {LONGEST_CONNECT_S}",
            "  LogLevel ERROR",
            "  # A machine that vanishes is noticed after about ten seconds.",
            "  ServerAliveInterval 5",
            "  ServerAliveCountMax 2",
            "  ControlMaster auto",
            f'  ControlPath "{place}/%n"',
            f"  ControlPersist {KEPT_OPEN_S}",
            "  # How to reach a machine from here may be your own affair.",
            "  Include ~/.ssh/config",
            "",
        ]
    )


def words(folder: Path, machine: Machine, *, terminal: bool = False) -> list[str]:
    """The words before a command that is to run on the machine."""
    if machine.through:
        return [*machine.through, *(["--pty"] if terminal else []), "/bin/sh", "-c"]
    ssh = ["ssh", "-F", str(folder / CONFIG), *machine.options]
    return [*ssh, "-t" if terminal else "-T", machine.name]


def run(
    folder: Path, machine: Machine, command: str, stdin: bytes = b"", timeout_s: float = 60
) -> Completed:
    """Run a line of shell on a machine to its end; LabError when it cannot be reached or takes too long."""
    outputs, returncode, elapsed_s = exchange(folder, machine, command, stdin, timeout_s)
    out, complaint = (text.decode(errors="replace") for text in outputs)
    return Completed(returncode, out, complaint, elapsed_s)


def exchange(
    folder: Path, machine: Machine, command: str, stdin: bytes, timeout_s: float
) -> tuple[tuple[bytes, bytes], int, float]:
    """The same for plain bytes: stdout and stderr, the return code, the seconds."""
    began = time.monotonic()
    try:
        done = subprocess.run(
            [*words(folder, machine), marked(command)],
            # What nobody writes to needs no pipe.
            input=stdin or None,
            stdin=None if stdin else subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            env=surroundings(),
        )
    except subprocess.TimeoutExpired as error:
        short = command if len(command) < 60 else f"{command[:57]}..."
        raise UnfinishedError(machine.name, short, timeout_s) from error
    if done.returncode == NO_CONNECTION:
        if why := trouble(machine, done.stderr.decode(errors="replace")):
            raise why
        if not machine.through and not open_to(folder, machine.name):
            raise LabError(
                f"The connection to {machine.name} broke.",
                "`beowulf status` shows which nodes answer.",
                machine.name,
            )
    return (answer(done.stdout), done.stderr), done.returncode, time.monotonic() - began


def trouble(machine: Machine, errors: str) -> LabError | None:
    """The error for what ssh printed when it got no connection; None when that was something else."""
    place = machine.host if machine.port == 22 else f"{machine.host}, port {machine.port}"
    user = machine.user or "you"
    login = f"ssh {machine.user}@{machine.host}" if machine.user else f"ssh {machine.host}"
    facts = {
        "name": machine.name,
        "host": machine.host,
        "place": place,
        "user": user,
        "login": login + (f" -p {machine.port}" if machine.port != 22 else ""),
        "known": machine.host if machine.port == 22 else f"[{machine.host}]:{machine.port}",
    }
    for mark, what, hint in TROUBLES:
        if re.search(mark, errors):
            return LabError(f"{what.format(**facts)}.", hint.format(**facts), machine.name)
    return None


def open_to(folder: Path, name: str) -> bool:
    """Whether the shared connection to a machine is open; not a packet is sent to find out."""
    with socket.socket(socket.AF_UNIX) as probe, suppress(OSError):
        probe.connect(str(folder / SOCKETS / name))
        return True
    return False


def close(folder: Path, machines: Iterable[Machine]) -> None:
    """End the shared connections."""
    for machine in machines:
        if open_to(folder, machine.name):
            ask = ["ssh", "-F", str(folder / CONFIG), "-q", "-O", "exit", machine.name]
            with suppress(subprocess.TimeoutExpired):
                subprocess.run(ask, capture_output=True, timeout=LONGEST_ANSWER_S)
