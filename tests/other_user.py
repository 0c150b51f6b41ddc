"""A learner who is an ordinary user, also where the tests run as root: Ada, whom only her own processes know.

Her /etc/passwd, and a way to this checkout past folders that only root may enter, are mounts that nobody else sees.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from beowulf import paths
from beowulf.desk import doctor
from tests.running import Learner

UID = 4321
# As Debian gives it to an ordinary user: without /usr/sbin.
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"

# Arguments: her folder; how many folders are closed; these; how many are needed beyond; these; the command.
BECOME = r"""
set -e
own=$1 closed=$2; shift 2
for ((i = 0; i < closed; i++)); do hide[i]=$1; shift; done
needed=$1; shift
for ((i = 0; i < needed; i++)); do
    keep[i]=$1
    mkdir -p "$own/kept/$i"
    mount --bind "$1" "$own/kept/$i"
    shift
done
for folder in "${hide[@]}"; do mount -t tmpfs -o mode=755 tmpfs "$folder"; done
for ((i = 0; i < needed; i++)); do
    mkdir -p "${keep[i]}"
    mount --bind "$own/kept/$i" "${keep[i]}"
done
mount --bind "$own/passwd" /etc/passwd
mount --bind "$own/group" /etc/group
exec setpriv --reuid UID --regid UID --clear-groups --inh-caps=-all "$@"
""".replace("UID", str(UID))


@contextmanager
def ada(*, named: bool = True) -> Iterator[Learner]:
    """The learner, until the end of the block; then nothing of her is left.

    Not `named`: the machine knows no name for her number, as in some containers.
    """
    check = doctor.namespaces()
    if os.geteuid() == 0 and not check.well:
        pytest.skip(f"another user's mounts are needed, and cannot be made here: {check.found}")
    own = Path(tempfile.mkdtemp(prefix="beowulf-ada-"))  # not below what only root may enter
    try:
        learner = _settled(own, named)
        try:
            yield learner
        finally:
            learner.end()
    finally:
        shutil.rmtree(own)


def give(learner: Learner) -> None:
    """Make all that lies in her home hers."""
    for path in (learner.here, *learner.here.rglob("*")):
        shutil.chown(path, learner.uid, learner.uid)


def _settled(own: Path, named: bool) -> Learner:
    home = own / "home"
    home.mkdir()
    if os.geteuid() != 0:  # then we are one ourselves
        return Learner(home / "state", home, uid=os.geteuid())
    own.chmod(0o755)
    line = f"ada:x:{UID}:{UID}:Ada:{home}:/bin/bash\n" if named else ""
    (own / "passwd").write_text(Path("/etc/passwd").read_text() + line)
    line = f"ada:x:{UID}:\n" if named else ""
    (own / "group").write_text(Path("/etc/group").read_text() + line)
    needed = [str(path) for path in (paths.root(), Path(sys.base_prefix).resolve())]
    closed = sorted({folder for path in needed if (folder := _closed(Path(path)))})
    beyond = [path for path in needed if any(Path(path).is_relative_to(each) for each in closed)]
    words = ["unshare", "--mount", "bash", "--norc", "-c", BECOME, "become", str(own)]
    words += [str(len(closed)), *closed, str(len(beyond)), *beyond]
    learner = Learner(home / "state", home, tuple(words), uid=UID)
    learner.environment = {
        name: value
        for name, value in learner.environment.items()
        if name not in ("USER", "LOGNAME", "XDG_STATE_HOME")
    } | {"HOME": str(home), "PATH": PATH}
    give(learner)
    return learner


def _closed(path: Path) -> str:
    """The first folder on the way to `path` that others may not enter."""
    for folder in [*reversed(path.parents), path]:
        if not folder.stat().st_mode & 0o001:
            return str(folder)
    return ""
