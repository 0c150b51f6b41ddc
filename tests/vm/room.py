"""A room for VMs: networks, mounts and processes of its own, with libvirt in it, that nothing outside sees.

Its files are in one folder. When this process ends, in whatever way, all that runs in the room ends, and the folder
goes.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from beowulf.cluster.common import processes

# Started outside of the room: waits for its end and then removes the folder.
KEEPER = """
unshare --net --mount --pid --ipc --fork --kill-child --mount-proc bash --norc -c "$ROOM" beowulf-room "$1"
rm -rf --one-file-system -- "$1"
"""
# Everything that libvirt reads and writes is the room's own; this machine may have a libvirt too.
ROOM = r"""
set -e
folder=$1
export PATH=$PATH:/usr/sbin:/sbin
ip link set lo up
mount -t sysfs sysfs /sys
mkdir "$folder/own" "$folder/images"
mount -t tmpfs tmpfs "$folder/own"
for place in etc var; do
    mkdir "$folder/own/$place" "$folder/own/$place.work"
    mount -t overlay -o "lowerdir=/$place,upperdir=$folder/own/$place,workdir=$folder/own/$place.work" overlay "/$place"
done
mount -t tmpfs -o mode=755 tmpfs /run
rm -rf /etc/libvirt /var/lib/libvirt
mkdir -p /etc/libvirt /var/lib/libvirt/images /run/lock
mount --bind "$folder/images" /var/lib/libvirt/images
# Users whom Debian's libvirt looks for; the package with the service makes them.
for user in libvirt-qemu libvirt-dnsmasq; do
    id $user >/dev/null 2>&1 || useradd --system --user-group --shell /usr/sbin/nologin $user
done
printf 'auth_unix_rw = "none"\nauth_unix_ro = "none"\n' > /etc/libvirt/libvirtd.conf
cat > /etc/libvirt/qemu.conf <<'SETTINGS'
user = "root"
group = "root"
security_driver = "none"
dynamic_ownership = 0
remember_owner = 0
cgroup_controllers = [ ]
namespaces = [ ]
stdio_handler = "file"
SETTINGS
libvirtd </dev/null >"$folder/libvirtd.log" 2>&1 &
until virsh -q -c qemu:///system uri >/dev/null 2>&1; do
    kill -0 $! 2>/dev/null || { tail -n 3 "$folder/libvirtd.log" >&2; exit 1; }
    sleep 0.1
done
echo ready
cat >/dev/null
"""


class Room:
    """A room that is open: how commands are run in it."""

    def __init__(self, folder: Path, first: int) -> None:
        self.folder = folder
        self.first = first  # its first process; with it all others end
        self.environment = {
            "VAGRANT_HOME": str(folder / "vagrant"),
            "VAGRANT_DEFAULT_PROVIDER": "libvirt",
            "VAGRANT_CHECKPOINT_DISABLE": "1",
            "TMPDIR": str(folder / "tmp"),
            "LC_ALL": "C.UTF-8",
        }
        (folder / "tmp").mkdir()

    def enter(self, here: Path) -> tuple[str, ...]:
        """The words before a command that is run in the room, in a folder."""
        into = ("nsenter", f"--target={self.first}", "--net", "--mount", "--pid", "--ipc")
        return (*into, "env", "-C", str(here))

    def run(self, *words: str, here: Path | None = None) -> str:
        """What a short command prints; it is to succeed."""
        done = subprocess.run(
            [*self.enter(here or self.folder), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.surroundings(),
            timeout=240,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def surroundings(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of a command in the room."""
        path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        return {**os.environ, "PATH": path, **self.environment, **(more or {})}


@contextmanager
def room(beside: Path) -> Iterator[Room]:
    """Open a room whose folder lies in `beside`, with a libvirt that answers; afterwards there is nothing of it."""
    folder = Path(tempfile.mkdtemp(prefix="vm-", dir=beside))
    keeper = subprocess.Popen(
        ["sh", "-c", KEEPER, "beowulf-room-keeper", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "ROOM": ROOM},
        # Ctrl-C is for the tests; the room ends when its standard input does.
        start_new_session=True,
    )
    assert keeper.stdin
    assert keeper.stdout
    try:
        assert keeper.stdout.readline() == "ready\n", "libvirt does not start; it says why above"
        yield Room(folder, _first(keeper.pid))
    finally:
        with suppress(BrokenPipeError):
            keeper.stdin.close()
        keeper.wait()
        keeper.stdout.close()


def _first(keeper: int) -> int:
    """The process that is the first one in the room."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        for unshare in processes.children(keeper):
            for first in processes.children(unshare):
                return first
        time.sleep(0.01)
    raise AssertionError("the room has no first process")
