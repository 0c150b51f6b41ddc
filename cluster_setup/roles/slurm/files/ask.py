"""What a machine has of Slurm, as JSON. Arguments: the list of tools, and what it is to be: master or node."""

from __future__ import annotations

import grp
import hashlib
import json
import os
import pwd
import shutil
import sys

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CLASS = "beowulf-class"  # the group that the role hub makes
CONTROLLER = "slurmctld"


def text(path: str) -> str:
    """What is in a file; nothing when it is not there."""
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def digest(path: str) -> str:
    """What tells a file from another; nothing when it is not there."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


def missing(tools: str, role: str) -> list[str]:
    """The packages that bring what is not there; the controller is the master's alone."""
    rows = [line.split("\t") for line in tools.splitlines() if not line.startswith("#")]
    wanted = [row for row in rows if len(row) > 2 and row[2] == "slurm"]
    wanted = [row for row in wanted if role == "master" or row[0] != CONTROLLER]
    return [row[1] for row in wanted if not shutil.which(row[0], path=PATH)]


def running() -> list[str]:
    """The daemons that run, as the kernel names them."""
    commands = {
        text(f"/proc/{entry}/comm").strip() for entry in os.listdir("/proc") if entry.isdigit()
    }
    return sorted(commands & {"munged", CONTROLLER, "slurmd"})


def members() -> dict[str, int]:
    """The numbers of a class' accounts on this machine, by name."""
    try:
        return {name: pwd.getpwnam(name).pw_uid for name in grp.getgrnam(CLASS).gr_mem}
    except KeyError:
        return {}


def main() -> None:
    """Print it."""
    tools, role = sys.argv[1:3]
    print(
        json.dumps(
            {
                "missing": missing(tools, role),
                "cgroups": os.path.ismount("/sys/fs/cgroup"),
                "cores": os.cpu_count() or 1,
                "settings": text("/etc/slurm/slurm.conf"),
                "key": digest("/etc/munge/munge.key"),
                "running": running(),
                "class": members(),
                "accounts": {each.pw_name: each.pw_uid for each in pwd.getpwall()},
            }
        )
    )


main()
