"""Another machine: the programs of a distribution in a folder of their own, on this machine's kernel.

A suite is fetched once by mmdebstrap. Each run in it sees a fresh copy (an overlay) with its own processes, and leaves
nothing.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "machines"
# What a person has installed who reads the README: nothing else is needed beforehand.
PACKAGES = "apt,git,make,python3,python3-venv,sudo,ca-certificates,hostname,procps"
LEARNER_ID = 1000

# Runs in namespaces of its own, as root. pivot_root, because in a chroot no user namespace can be made.
ENTER = """
set -eu
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=$TREE,upperdir=$RUN/upper,workdir=$RUN/work" "$RUN/root"
cd "$RUN/root"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount --rbind /dev dev
mount -t tmpfs -o mode=755 tmpfs run
mount --bind "$CHECKOUT" srv
# How this machine reaches the packages is lent to it.
cat /etc/resolv.conf >etc/resolv.conf
hostname machine
printf '127.0.0.1 localhost\\n127.0.1.1 machine\\n' >etc/hosts
cat /etc/hosts >>etc/hosts
if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
    mount --bind /etc/ssl/certs/ca-certificates.crt etc/ssl/certs/ca-certificates.crt
fi
if [ -e /etc/pip.conf ]; then cp /etc/pip.conf etc/pip.conf; fi
pivot_root . mnt
umount -l /mnt
useradd --create-home --shell /bin/bash learner
echo 'learner ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/learner
cd /
exec "$@"
"""


@dataclass(frozen=True)
class Suite:
    """A release of a distribution, and how it is named on a mirror."""

    name: str
    title: str
    folder: str  # on a mirror, and the name of its archive's keys
    components: str = "main"


SUITES = (
    Suite("bookworm", "Debian 12", "debian"),
    Suite("trixie", "Debian 13", "debian"),
    Suite("noble", "Ubuntu 24.04", "ubuntu", "main universe"),
    Suite("resolute", "Ubuntu 26.04", "ubuntu", "main universe"),
)


class UnavailableError(Exception):
    """A userland cannot be made here, and why."""


def tree(suite: Suite) -> Path:
    """The folder with the programs of a suite; made when it is not there yet."""
    place = FOLDER / suite.name
    if (place / "etc" / "os-release").exists():
        return place
    if os.geteuid() != 0:
        raise UnavailableError("making a userland needs root")
    if shutil.which("mmdebstrap") is None:
        raise UnavailableError("mmdebstrap is not installed")
    FOLDER.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(place, ignore_errors=True)
    unfinished = FOLDER / f"{suite.name}.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    words = ["mmdebstrap", "--mode=root", "--variant=minbase", "--format=directory"]
    words += [f"--include={PACKAGES}", '--aptopt=Acquire::Retries "3"']
    words += [suite.name, str(unfinished), *_mirror(suite)]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise UnavailableError(f"mmdebstrap cannot make {suite.name}: {done.stderr.strip()[-300:]}")
    unfinished.rename(place)
    return place


def _mirror(suite: Suite) -> list[str]:
    """The mirror that this machine's own apt uses, in case it has the suite; otherwise mmdebstrap knows one."""
    targets = ["apt-get", "indextargets", "--format", "$(REPO_URI)"]
    for address in subprocess.run(targets, capture_output=True, text=True).stdout.split():
        base, _, last = address.rstrip("/").rpartition("/")
        if last not in ("debian", "ubuntu"):
            continue
        place = f"{base}/{suite.folder}"
        try:
            urllib.request.urlopen(f"{place}/dists/{suite.name}/Release", timeout=30).close()
        except OSError:
            continue
        # Debian has no package with Ubuntu's keys; nothing but these tests ever runs there.
        keys = Path(f"/usr/share/keyrings/{suite.folder}-archive-keyring.gpg")
        trust = f"signed-by={keys}" if keys.exists() else "trusted=yes"
        return [f"deb [{trust}] {place} {suite.name} {suite.components}"]
    return []


def run(suite: Suite, checkout: Path, words: list[str], *, user: str = "root") -> int:
    """Run a command in a fresh copy of a suite, which sees `checkout` as /srv; its exit code."""
    place, folder = tree(suite), FOLDER / f"run-{os.getpid()}"
    for part in ("upper", "work", "root"):
        (folder / part).mkdir(parents=True)
    home = "/root" if user == "root" else f"/home/{user}"
    start = ["env", "-i", f"HOME={home}", f"USER={user}", f"LOGNAME={user}", "LANG=C.UTF-8"]
    start += [
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "SHELL=/bin/bash",
    ]
    if user != "root":
        start = [
            "setpriv",
            f"--reuid={LEARNER_ID}",
            f"--regid={LEARNER_ID}",
            "--init-groups",
            *start,
        ]
    enter = ["unshare", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child"]
    environment = {**os.environ, "TREE": str(place), "RUN": str(folder), "CHECKOUT": str(checkout)}
    # Its first process waits for what is orphaned in it; without job control what it starts would ignore Ctrl-C.
    first = ["bash", "-c", f"set -m; {shlex.join([*start, *words])} & wait $!"]
    try:
        return subprocess.run(
            [*enter, "bash", "-c", ENTER, "enter", *first], env=environment
        ).returncode
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    # python tests/machines/userland.py SUITE [--user] COMMAND...: to look around in one
    (chosen,) = (each for each in SUITES if each.name == sys.argv[1])
    as_user = sys.argv[2:3] == ["--user"]
    rest = sys.argv[3:] if as_user else sys.argv[2:]
    sys.exit(run(chosen, ROOT, rest, user="learner" if as_user else "root"))
