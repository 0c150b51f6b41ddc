"""The VMs of this project's Vagrantfile, as `vagrant` itself describes them."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Mapping

from beowulf import paths
from beowulf.cluster.machines.inventory import Machine
from beowulf.errors import LabError

TARGET = "vagrant"
RUNNING = "running"
# What `vagrant ssh-config` says and Machine has a place for; the rest is handed to ssh as it is.
USED = {"HostName", "User", "Port", "IdentityFile"}
# Settings that only tell how a person works there.
DROPPED = {"LogLevel", "ForwardAgent", "ForwardX11"}


def read() -> tuple[list[Machine], dict[str, str]]:
    """The VMs that run, node00 first, and for each of the others a sentence that says why it cannot be used."""
    states = _states(_vagrant("status", "--machine-readable"))
    troubles = {
        name: f"The VM {name} is {state.replace('_', ' ')}: `vagrant up {name}` starts it."
        for name, state in states.items()
        if state != RUNNING
    }
    alive = sorted(name for name in states if name not in troubles)
    if not alive:
        raise LabError(
            " ".join(troubles[name] for name in sorted(troubles)), "`vagrant up` starts all."
        )
    return parse(_vagrant("ssh-config", *alive)), troubles


def parse(text: str) -> list[Machine]:
    """The machines that `vagrant ssh-config` describes."""
    settings_by_name: dict[str, dict[str, str]] = {}
    name = ""
    for line in text.splitlines():
        word, _, value = line.strip().partition(" ")
        if word == "Host":
            name = value.strip()
            settings_by_name[name] = {}
        elif word and name:
            settings_by_name[name][word] = value.strip()
    return [_machine(name, settings) for name, settings in sorted(settings_by_name.items())]


def _machine(name: str, settings: Mapping[str, str]) -> Machine:
    others = [
        word
        for setting, value in settings.items()
        if setting not in USED | DROPPED
        for word in ("-o", f"{setting}={value}")
    ]
    keys = shlex.split(settings.get("IdentityFile", ""))
    return Machine(
        name=name,
        host=settings["HostName"],
        port=int(settings.get("Port", 22)),
        user=settings.get("User", "vagrant"),
        key=keys[0] if keys else "",
        options=tuple(others),
    )


def _states(text: str) -> dict[str, str]:
    """What `vagrant status --machine-readable` says of each VM: lines `time,name,state,running`."""
    rows = (line.split(",") for line in text.splitlines())
    return {row[1]: row[3] for row in rows if len(row) > 3 and row[1] and row[2] == "state"}


def _vagrant(*words: str) -> str:
    """What vagrant prints in the folder that we are in, where it has a Vagrantfile, else in this checkout."""
    if not shutil.which("vagrant"):
        raise LabError(
            "vagrant is not installed.",
            "docs/clusters.md says what VMs need; `beowulf up` boots a cluster without them.",
        )
    here = paths.here()
    done = subprocess.run(
        ["vagrant", *words],
        cwd=here if (here / "Vagrantfile").is_file() else paths.root(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode:
        output = " ".join(done.stderr.split()) or " ".join(done.stdout.split())
        raise LabError(f"`vagrant {words[0]}` failed: {output}", "`vagrant status` shows the VMs.")
    return done.stdout
