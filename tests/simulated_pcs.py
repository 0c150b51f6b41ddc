"""PCs to try things on: each with a root file system, a card, a hostname and an sshd of its own, at one switch.

A root file system is an overlay over this machine's, in memory: what is installed here is there, and what is changed
there stays there. The checkout and /tmp are not: a PC has no files of a learner's. The learner's own machine is in the
hall too, at the switch, with the files of this one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from beowulf import paths
from beowulf.cluster.common import processes
from beowulf.cluster.namespaces import links
from beowulf.errors import LabError
from tests.running import Beowulf

NETWORK = "192.168.77"
CARD = "enp1s0"
DISK_MB = 700
LONGEST_START_S = 60.0

# Arguments: the folder, the checkout, the PCs' names.
HALL = (
    r"""
set -e
folder=$1 checkout=$2; shift 2
ip link set lo up
ip link add br0 type bridge stp_state 0 forward_delay 0 mcast_snooping 0
ip address add NETWORK.1/24 dev br0
ip link set br0 up
number=9
for name; do
    number=$((number + 1))
    own=$folder/$name
    mkdir -p "$own"
    mount -t tmpfs -o size=DISKm tmpfs "$own"
    mkdir "$own/upper" "$own/work" "$own/root"
    mount -t overlay -o "lowerdir=/,upperdir=$own/upper,workdir=$own/work" overlay "$own/root"
    unshare --net --uts --ipc --pid --fork --mount --kill-child \
        bash --norc -ec "$PC" beowulf-pc "$own/root" "$folder" "$checkout" "$name" NETWORK.$number \
        </dev/null >"$folder/$name.log" 2>&1 &
    # Until unshare has made it, its network is still ours.
    while [ "$(readlink /proc/$!/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do sleep 0.005; done
    ip link add "$name" type veth peer name CARD netns $!
    ip link set "$name" master br0 up
    ethtool -K "$name" tso off gso off gro off
done
echo ready
sleep infinity & wait
""".replace("NETWORK", NETWORK)
    .replace("CARD", CARD)
    .replace("DISK", str(DISK_MB))
)

PC = r"""
root=$1 folder=$2 checkout=$3 name=$4 address=$5
hostname "debian-$name"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys" 2>/dev/null || true
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mkdir -p "$root$checkout"
mount -t tmpfs tmpfs "$root$checkout"
printf '127.0.0.1 localhost\n127.0.1.1 debian-%s %s\n' "$name" "$name" > "$root/etc/hosts"
echo "debian-$name" > "$root/etc/hostname"
# What `useradd` locks is not let in by an sshd without PAM.
chroot "$root" useradd --create-home --shell /bin/bash --password '*' ada
for home in "$root/root" "$root/home/ada"; do
    rm -rf "$home/.ssh"
    # Not what this machine's own user has in these files, which may take long or leave locks behind.
    for file in .bashrc .profile; do cp "$root/etc/skel/$file" "$home/$file"; done
    rm -f "$home/.bash_profile" "$home/.bash_login"
    install -d -m 700 "$home/.ssh"
    install -m 600 "$folder/key.pub" "$home/.ssh/authorized_keys"
done
chroot "$root" chown -R ada:ada /home/ada
rm -f "$root"/etc/ssh/ssh_host_*
install -m 600 "$folder/keys/$name" "$root/etc/ssh/ssh_host_ed25519_key"
install -m 644 "$folder/keys/$name.pub" "$root/etc/ssh/ssh_host_ed25519_key.pub"
cat > "$root/etc/ssh/sshd_config" <<'END'
PermitRootLogin prohibit-password
UsePAM no
UseDNS no
PrintMotd no
AcceptEnv LANG LC_*
MaxStartups 100
MaxSessions 100
Subsystem sftp internal-sftp
END
while [ ! -e /sys/class/net/CARD ] && ! ip link show CARD >/dev/null 2>&1; do sleep 0.01; done
ip link set lo up
ip address add "$address/24" dev CARD
ip link set CARD up
ethtool -K CARD tso off gso off gro off
mkdir -p "$root/run/sshd"
exec chroot "$root" bash --norc -c '/usr/sbin/sshd && sleep infinity & wait' beowulf-pc "$name"
""".replace("CARD", CARD)


@dataclass
class Hall:
    """The PCs that run, and how a learner's machine at their switch is entered."""

    folder: Path
    names: tuple[str, ...]
    process: subprocess.Popen[str]

    @property
    def enter(self) -> tuple[str, ...]:
        """The words before a command that is run on the learner's machine in the hall."""
        return ("nsenter", f"--target={self.process.pid}", "--net")

    def address(self, name: str) -> str:
        """The address of a PC."""
        return f"{NETWORK}.{10 + self.names.index(name)}"

    def at(self, name: str, script: str, *, code: int | None = 0) -> str:
        """What lines of shell print that are run on a PC, by someone who sits before it."""
        words = ["nsenter", f"--target={self._pid(name)}", "--all", "--root", "--wd"]
        words += ["bash", "--norc", "-c", script]
        done = subprocess.run(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240
        )
        assert code in (None, done.returncode), done.stdout
        return done.stdout

    def switch_off(self, name: str) -> None:
        """Pull the plug."""
        first = processes.process(self._pid(name))
        assert first
        processes.end([first])

    def unplug(self, name: str) -> None:
        """Pull the cable: the PC goes on running, and nobody reaches it."""
        self._cable(name, "down")

    def plug(self, name: str) -> None:
        """Put the cable in again."""
        self._cable(name, "up")

    def shape(self, rate: str) -> None:
        """Let each cable carry so much in either direction."""
        script = "\n".join(["set -e", *links.shape(self.names, rate)])
        subprocess.run([*self.enter, "bash", "--norc", "-c", script], check=True)
        for name in self.names:
            self.at(name, "\n".join(links.shape([CARD], rate)))

    def _cable(self, name: str, how: str) -> None:
        subprocess.run([*self.enter, "ip", "link", "set", name, how], check=True)

    def inventory(self, file: Path, *, user: str = "root", more: str = "", **hosts: str) -> Path:
        """Write an inventory of all PCs; `hosts` may say something else of one of them."""
        options = f"-o UserKnownHostsFile={self.folder}/known_hosts -o GlobalKnownHostsFile=none"
        lines = [
            "all:",
            "  vars:",
            f"    ansible_user: {user}",
            f"    ansible_ssh_private_key_file: {self.folder}/key",
            f"    ansible_ssh_common_args: {options}",
            *([f"    {more}"] if more else []),
            "  hosts:",
        ]
        for name in self.names:
            what = hosts.get(name, f"ansible_host: {self.address(name)}")
            lines.append(f"    {name}: {{{what}}}")
        file.write_text("\n".join(lines) + "\n")
        return file

    def _pid(self, name: str) -> int:
        for launcher in self._launchers():
            for pid in processes.children(launcher):
                if processes.command_line(pid)[-2:] == ["beowulf-pc", name]:
                    return pid
        raise LabError(f"{name} does not run: {(self.folder / f'{name}.log').read_text()}")

    def _launchers(self) -> list[int]:
        return [
            pid for hall in processes.children(self.process.pid) for pid in processes.children(hall)
        ]


@contextmanager
def hall(count: int = 4) -> Iterator[Hall]:
    """So many PCs, switched on and answering to ssh; at the end nothing of them is left. Who is not root has none."""
    if os.geteuid() != 0:
        pytest.skip("a PC with a root of its own needs root")
    folder = Path(tempfile.mkdtemp(prefix="beowulf-pcs-"))
    names = tuple(f"node{number:02}" for number in range(count))
    try:
        _make_keys(folder, names)
        # Whatever becomes of us, the hall does not stay.
        words = "setpriv --pdeathsig KILL unshare --net --mount --pid --uts --fork --kill-child"
        words += " --mount-proc bash --norc -c"
        process = subprocess.Popen(
            [*words.split(), HALL, "beowulf-hall", str(folder), str(paths.root()), *names],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PC": PC, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"},
            start_new_session=True,
        )
        try:
            assert process.stdout
            assert process.stdout.readline() == "ready\n"
            pcs = Hall(folder, names, process)
            _await(pcs)
            yield pcs
        finally:
            if first := processes.children(process.pid):
                processes.end([each for pid in first if (each := processes.process(pid))])
            process.kill()
            process.wait()
            assert process.stdout
            process.stdout.close()
    finally:
        shutil.rmtree(folder)


@contextmanager
def learner_at(pcs: Hall, here: Path) -> Iterator[Beowulf]:
    """Someone at the learner's machine in the hall, who works in the folder `here`; afterwards nothing is left."""
    learner = Beowulf(here / "s", here, pcs.enter)
    try:
        yield learner
    finally:
        learner("down", code=None)
        learner.end()


def _make_keys(folder: Path, names: tuple[str, ...]) -> None:
    (folder / "keys").mkdir()
    for file in (folder / "key", *(folder / "keys" / name for name in names)):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(file)],
            check=True,
        )
    known = ""
    for number, name in enumerate(names):
        known += f"{NETWORK}.{10 + number} {(folder / 'keys' / f'{name}.pub').read_text()}"
    (folder / "known_hosts").write_text(known)


def _await(hall: Hall) -> None:
    deadline = time.monotonic() + LONGEST_START_S
    while silent := [name for name in hall.names if not _answers(hall, name)]:
        if time.monotonic() > deadline:
            log = (hall.folder / f"{silent[0]}.log").read_text()
            raise LabError(f"The PC {silent[0]} does not start: {log}")
        time.sleep(0.01)


def _answers(hall: Hall, name: str) -> bool:
    ask = ["bash", "--norc", "-c", f"read -r -t 5 line </dev/tcp/{hall.address(name)}/22"]
    return subprocess.run([*hall.enter, *ask], capture_output=True).returncode == 0
