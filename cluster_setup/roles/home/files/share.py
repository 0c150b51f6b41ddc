"""What a machine needs for a shared folder, as JSON. Arguments: the user, and what it is to be: server or client."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
FOLDER = "/srv/beowulf/home"
# What has to be in the kernel, and the tool that uses it.
NEEDED = {"server": ("nfsd", "exportfs"), "client": ("nfs4", "mount.nfs")}
MODULES = {"nfsd": "nfsd", "nfs4": "nfsv4"}


def knows(kind: str) -> bool:
    """Whether the kernel has this kind of file system, or a module that brings it."""
    with open("/proc/filesystems") as file:
        if kind in file.read().split():
            return True
    try:
        words = ["modprobe", "--dry-run", "--quiet", MODULES[kind]]
        return subprocess.run(words, env={"PATH": PATH}).returncode == 0
    except OSError:
        return False


def main() -> None:
    """Print it."""
    user, role = sys.argv[1:3]
    kind, tool = NEEDED[role]
    print(
        json.dumps(
            {
                "role": role,
                "kernel": knows(kind),
                "tools": shutil.which(tool, path=PATH) is not None,
                "user_number": pwd.getpwnam(user).pw_uid,
                "mounted": os.path.ismount(FOLDER),
            }
        )
    )


main()
