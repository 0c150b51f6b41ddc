"""How long until four nodes answer to ssh, and until they are gone? Against a Mininet network with an sshd a host."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import commands
from benchmarks.result import Findings
from benchmarks.rows import Bar, Question
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import Side, interleave
from beowulf import paths
from beowulf.cluster import namespaces
from beowulf.errors import LabError
from beowulf.progress import Progress

TITLE = "`beowulf up` and `beowulf down` against Mininet"
ROUNDS = 20
FILLS_THE_CORES = True

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
UP_INNER, DOWN_INNER = "up without Python's start", "down without Python's start"
MININET_UP, MININET_DOWN = "Mininet up", "Mininet's net.stop()"
MININET_UP_INNER = "Mininet up without Python's start"


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """In turns: the commands, the same without the interpreter's start, and Mininet if it is there."""
    missing = mininet_missing()
    facts: dict[str, Any] = {}
    with scratch_folder() as folder:
        sides: dict[str, Side] = {
            "beowulf": lambda: _commands(folder / STATE),
            "beowulf inside": lambda: _inside(folder / STATE),
        }
        if not missing:
            prepare_mininet(folder)
            facts |= choose_links(folder)
            links = str(facts["mininet_links"])
            sides["Mininet"] = lambda: mininet(folder, links)[0]
        taken = interleave(sides, rounds, seed, progress)
    notes = list(NOTES)
    if missing:
        notes.append(f"Mininet was not measured: {missing}.")
    return Findings(
        questions(missing),
        taken.samples,
        taken.busy_percent,
        taken.order,
        facts=facts,
        notes=notes,
    )


def questions(missing: str) -> list[Question]:
    """The rows, with the reason where those with Mininet are missing."""
    return [
        Question("up, the whole command", UP, MININET_UP, Bar(1.0)),
        Question(
            "up, the whole command, against Mininet",
            UP,
            MININET_UP,
            Bar(1.0, "ratio", "not slower"),
            missing,
        ),
        Question("up, Python's start left out", UP_INNER, MININET_UP_INNER),
        Question("down, the whole command", DOWN, MININET_DOWN, Bar(0.2)),
        Question("down, Python's start left out", DOWN_INNER, MININET_DOWN),
    ]


NOTES = [
    "Up ends on both sides when port 22 listens in all four nodes, as /proc/net/tcp shows it. After each up, outside "
    "the measured time, the banner of every sshd is read from the first node.",
    "`beowulf up` also makes five pairs of keys, and gives every node its own name, processes, /etc/hosts, /run and "
    "/dev/shm. Mininet's hosts get a network each; their one host key was made beforehand.",
    "The whole command of Mininet is one process of the machine's own Python that uses Mininet's API: one switch "
    "(LinuxBridge), four hosts, no controller.",
    "Mininet runs in namespaces that were made beforehand, outside the measured time, so that nothing of it stays. "
    "It may not raise limits of the machine there, reports that, and goes on; that saves it some microseconds.",
    "Mininet's process is there already when its network is taken down, so its down has no start of Python in it; "
    "that of the whole command `beowulf down` has one.",
]


def _commands(state: Path) -> Mapping[str, float]:
    env = commands.environment(BEOWULF_STATE=str(state))
    beowulf = str(paths.python_bin() / "beowulf")
    up_s, _ = commands.timed([beowulf, "up"], env)
    _expect_banners(state)
    down_s, _ = commands.timed([beowulf, "down"], env)
    if state.exists() or namespaces.running(state):
        raise LabError("`beowulf down` left something behind, so its time counts for nothing.")
    return {UP: up_s, DOWN: down_s}


def _inside(state: Path) -> Mapping[str, float]:
    command = [str(paths.python_bin() / "python"), "-m", "benchmarks.own_network", str(state)]
    with commands.talking(command, commands.environment(), "own_network.py") as program:
        up_s = program.hear()["up_s"]
        _expect_banners(state)
        program.send()
        return {UP_INNER: up_s, DOWN_INNER: program.hear()["down_s"]}


def _expect_banners(state: Path) -> None:
    cluster = namespaces.running(state)
    assert cluster
    lines = [
        f"exec 3<>/dev/tcp/{cluster.address(node)}/22; read -r -t 5 -u 3 line; echo $line"
        for node in cluster.nodes
    ]
    answer = cluster.administer(cluster.nodes[0], "\n".join(lines)).stdout
    if answer.count("SSH-2.0") != NODES:
        raise LabError(
            f"After `beowulf up` only {answer.count('SSH-2.0')} of {NODES} nodes answer."
        )


def mininet_missing() -> str:
    """Why Mininet cannot be measured here; empty when it can."""
    if os.geteuid() != 0:
        return "Mininet needs root"
    command = [MININET_PYTHON, "-c", "import mininet.net"]
    if (
        not Path(MININET_PYTHON).exists()
        or subprocess.run(command, capture_output=True, env=commands.environment()).returncode
    ):
        return "mininet is not installed"
    if not shutil.which("brctl", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"):
        return "brctl, which Mininet's switch needs, is not installed (package bridge-utils)"
    return ""


def prepare_mininet(folder: Path) -> None:
    """The host key and the settings of the sshds."""
    key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / "host_key")]
    subprocess.run(key, check=True)
    (folder / "sshd_config").write_text(SSHD.format(folder=folder))


def choose_links(folder: Path) -> dict[str, Any]:
    """Links as ours, if Mininet can make them here, else plain ones; what was chosen, and Mininet's version."""
    descriptions = {
        "tbf": "100 Mbit/s, tbf on both ends of each cable, as ours",
        "plain": "plain: tbf does not work for Mininet here, so it has less to do than we",
    }
    _, proof = mininet(folder, "tbf")
    links = "tbf" if proof["shaped_ports"] == 2 * NODES else "plain"
    return {
        "mininet": proof["version"],
        "mininet_links": links,
        "mininet_links_are": descriptions[links],
    }


def mininet(folder: Path, links: str) -> tuple[Mapping[str, float], dict[str, Any]]:
    """One Mininet network up and down: what was timed, and the proof that it was one."""
    command = [
        *"unshare --net --mount --pid --fork --kill-child --mount-proc bash -ec".split(),
        STAGE,
        "stage",
        MININET_PYTHON,
        str(MININET_SIDE),
        links,
        str(folder),
    ]
    env = commands.environment()
    env["PATH"] = f"{env.get('PATH', '')}:/usr/sbin:/sbin"
    with commands.talking(command, env, "Mininet") as program:
        program.hear()
        up_s, ready = program.turn()
        proof = program.turn()[1] | ready
        if proof["answering"] != NODES:
            raise LabError(f"In the Mininet network only {proof['answering']} hosts answer.")
        down_s = program.turn()[1]["down_s"]
    timed = {MININET_UP: up_s, MININET_UP_INNER: ready["up_s"], MININET_DOWN: down_s}
    return timed, proof
