"""How long until four nodes answer to ssh, and until they are gone? Against a Mininet network with an sshd a host.

Up ends on both sides when port 22 listens in all four nodes, as /proc/net/tcp shows it. The whole command is timed,
with Python's start; but Mininet's process is there already when its network is taken down. Mininet gets one switch
(LinuxBridge), four hosts, cables of 100 Mbit/s by tbf as ours have them, and no controller. It runs in namespaces
that were made beforehand, so that nothing of it stays. `beowulf up` also makes five pairs of keys, and gives every
node its own name, processes, /etc/hosts, /run and /dev/shm.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from benchmarks import commands
from benchmarks.result import Bar, Findings, Question
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import Side, interleave
from beowulf import paths
from beowulf.errors import LabError
from beowulf.progress import Progress

TITLE = "`beowulf up` and `beowulf down` against Mininet"
ROUNDS = 20

NODES = 4
MININET_PYTHON = "/usr/bin/python3"
MININET_SIDE = Path(__file__).with_name("mininet_network.py")

# Mininet raises limits of the whole machine if it may; and its bridge and interfaces would be the machine's own.
STAGE = """\
mount -t tmpfs tmpfs /run && mkdir /run/sshd
mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys
ip link set lo up
echo '{"staged": true}'
read -r go
"$@"
"""
SSHD = """\
Port 22
HostKey {folder}/host_key
PidFile none
UsePAM no
UseDNS no
"""

UP, DOWN = "beowulf up", "beowulf down"
MININET_UP, MININET_DOWN = "Mininet up", "Mininet's net.stop()"


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """The commands and, if it is there, Mininet, alternating."""
    missing = mininet_missing()
    with scratch_folder() as folder:
        sides: dict[str, Side] = {"beowulf": lambda: ours(folder / STATE)}
        if not missing:
            key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / "host_key")]
            subprocess.run(key, check=True)
            (folder / "sshd_config").write_text(SSHD.format(folder=folder))
            sides["Mininet"] = lambda: mininet(folder)
        findings = interleave(sides, rounds, seed, progress)
    findings.questions = [
        Question("up", UP, bar=Bar(1.0)),
        Question("up, against Mininet", UP, MININET_UP, Bar(1.0, "ratio"), missing),
        Question("down", DOWN, bar=Bar(0.2)),
        Question("down, against Mininet", DOWN, MININET_DOWN, missing=missing),
    ]
    return findings


def ours(state: Path) -> Mapping[str, float]:
    """Our two commands."""
    env = commands.environment(BEOWULF_STATE=str(state))
    beowulf = str(paths.python_bin() / "beowulf")
    up_s, _ = commands.timed([beowulf, "up"], env)
    down_s, _ = commands.timed([beowulf, "down"], env)
    return {UP: up_s, DOWN: down_s}


def mininet_missing() -> str:
    """Why Mininet cannot be measured here; empty when it can."""
    if os.geteuid() != 0:
        return "Mininet needs root"
    if subprocess.run([MININET_PYTHON, "-c", "import mininet.net"], capture_output=True).returncode:
        return "mininet is not installed"
    if not shutil.which("brctl", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"):
        return "brctl, which Mininet's switch needs, is not installed (package bridge-utils)"
    return ""


def mininet(folder: Path) -> Mapping[str, float]:
    """One Mininet network up and down, and the proof that it was one."""
    command = [
        *"unshare --net --mount --pid --fork --kill-child --mount-proc bash -ec".split(),
        *(STAGE, "stage", MININET_PYTHON, str(MININET_SIDE), str(folder)),
    ]
    env = commands.environment()
    env["PATH"] = f"{env.get('PATH', '')}:/usr/sbin:/sbin"
    with commands.talking(command, env) as program:
        program.hear()
        up_s, _ = program.turn()
        _, proof = program.turn()
        if (proof["answering"], proof["shaped_ports"]) != (NODES, 2 * NODES):
            raise LabError(f"The Mininet network is not what it should be: {proof}.")
        down_s = program.turn()[1]["down_s"]
    return {MININET_UP: up_s, MININET_DOWN: down_s}
