"""Booting the local cluster and healing it: the same steps, which change only what differs from the plan."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from beowulf import paths
from beowulf.cluster import state
from beowulf.cluster.common import at_once, node_environment, shells
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.common.processes import Process
from beowulf.cluster.common.shells import SHELL, Show, announced, completed, script
from beowulf.cluster.namespaces import links, node_etc, sshd, supervisor
from beowulf.cluster.namespaces.supervisor import Supervisor
from beowulf.errors import LabError
from beowulf.this_machine import host_state

LONGEST_BOOT_S = 60.0
# Twice what a node has with two networks: 1.9 MB in its processes, and 0.6 MB that the kernel keeps for it.
NODE_BYTES = 5_000_000
# What is run to boot a cluster and to work on it.
TOOLS = (
    *("bash", "unshare", "nsenter", "setsid", "setpriv", "mount", "hostname"),
    *("ip", "tc", "ethtool", "ssh", "ssh-keygen", "sshd"),
)
# What every node mounts. The first word is a name of our own, because `mount --all` passes over what it takes for
# mounted already.
MOUNTS = (
    "beowulf-run /run tmpfs mode=755",
    "beowulf-shm /dev/shm tmpfs mode=1777",
    "beowulf-pts /dev/pts devpts newinstance,ptmxmode=0666,mode=620",
    "/dev/pts/ptmx /dev/ptmx none bind",
)
# Mounted over the learner's own ssh settings, which may ask for another user, or share connections among nodes.
NO_SETTINGS = "etc/no_settings"


def boot(plan: ClusterConfig, folder: Path, existing: Supervisor | None, show: Show) -> Supervisor:
    """Make the supervisor unless there is an `existing` one, and each missing node; put files and cables right."""
    shells.look_for(
        *TOOLS, paths.mpi_prefix(plan.mpi) / "bin/mpiexec", paths.native("patient_poll.so")
    )
    if not existing:
        _refuse_without_memory(plan)
    with ThreadPoolExecutor(1) as beside:
        files = beside.submit(_write_files, plan, folder)
        its_supervisor = existing or supervisor.start(folder, show)
        state.save(folder, plan, its_supervisor.process.pid)
        (folder / state.BROKEN).unlink(missing_ok=True)
        missing = [name for name in plan.names if name not in its_supervisor.nodes()]
        if missing:
            launcher = supervisor.node_launcher(missing)
            script("in the supervisor", supervisor.enter(its_supervisor.process), launcher, show)
        nodes = _await_nodes(plan, its_supervisor)
        plugged = _plugged(its_supervisor) if existing else set()
        _plug_in(plan, its_supervisor, nodes, set(missing), plugged, show)
        files.result()
    _set_up_nodes(plan, folder, its_supervisor, set(missing), show)
    return its_supervisor


def _refuse_without_memory(plan: ClusterConfig) -> None:
    needed, free = plan.nodes * NODE_BYTES, host_state.memory_available_bytes()
    if 0 < free < needed:
        raise LabError(
            f"{plan.nodes} nodes need {needed / 1e6:.0f} MB of memory, but only {free / 1e6:.0f} MB are free.",
            "Close other programs, or boot fewer nodes: `beowulf up --nodes N`.",
        )


def _write_files(plan: ClusterConfig, folder: Path) -> None:
    sshd.make_keys(plan, folder)
    state.write(folder, _files(plan, folder))


def _files(plan: ClusterConfig, folder: Path) -> dict[str, tuple[str, int]]:
    files = {**node_environment.files(plan, folder), **sshd.shared_files(plan, folder)}
    files[NO_SETTINGS] = ("# On a node, the cluster's /etc/ssh/ssh_config counts.\n", 0o644)
    settings = node_environment.variables(plan, folder)
    for node in plan.names:
        own = f"nodes/{node}"
        files[f"{own}/hosts"] = (plan.hosts(node), 0o644)
        files[f"{own}/hostname"] = (node + "\n", 0o644)
        files[f"{own}/mounts"] = (_table(MOUNTS), 0o644)
        # So that /sys/class/net shows this node's network; some containers forbid it.
        etc = ["beowulf-sys /sys sysfs defaults", f"/etc {node_etc.MACHINES}/etc none rbind,ro"]
        etc += [
            f"{_escaped(str(file))} {node_etc.NODES}/{place} none bind"
            for place, file in node_etc.ours(folder, node).items()
        ]
        etc += [f"{node_etc.NODES} /etc none rbind"]
        files[f"{own}/etc"] = (_table(etc), 0o644)
        files[f"{own}/authorized_keys"] = (sshd.authorized_keys(folder), 0o600)
        files[f"{own}/sshd_config"] = (
            sshd.server(plan, folder, node, settings.items()),
            0o600,
        )
    return files


def _await_nodes(plan: ClusterConfig, its_supervisor: Supervisor) -> dict[str, Process]:
    deadline = time.monotonic() + LONGEST_BOOT_S
    while len(alive := its_supervisor.nodes()) < plan.nodes:
        if time.monotonic() > deadline:
            late = ", ".join(name for name in plan.names if name not in alive)
            raise LabError(f"{late} did not start.", "`beowulf up` tries again.")
        time.sleep(0.001)
    return alive


def _plugged(its_supervisor: Supervisor) -> set[str]:
    """The devices that are in the switch's network already."""
    words = [*supervisor.enter(its_supervisor.process, "net"), "ip", "-brief", "link"]
    listed = completed(words, "", LONGEST_BOOT_S, "").stdout
    return {line.split("@")[0].split()[0] for line in listed.splitlines() if line.strip()}


def _plug_in(
    plan: ClusterConfig,
    its_supervisor: Supervisor,
    nodes: Mapping[str, Process],
    fresh: set[str],
    plugged: set[str],
    show: Show,
) -> None:
    # The numbers of the nodes' processes are this machine's, and `ip` looks them up in /proc (from iproute2 6.15 on):
    # so this runs with this machine's /proc, in the switch's network alone.
    switch = supervisor.enter(its_supervisor.process, "net")
    loose = {
        name: process.pid
        for name, process in nodes.items()
        if name in fresh or not plugged.issuperset(links.ports(plan, [name]))
    }
    # The cable of a node that died may hang on for a moment.
    stale = [port for port in links.ports(plan, loose) if port in plugged]
    lines = [f"ip link delete {port} 2>/dev/null || true" for port in stale]
    lines += links.switch(plan, nodes, loose, plugged)
    script("in the switch", switch, lines, show)


def _set_up_nodes(
    plan: ClusterConfig, folder: Path, its_supervisor: Supervisor, fresh: set[str], show: Show
) -> None:
    alive = its_supervisor.nodes()
    words = {node: [*supervisor.enter(alive[node]), *SHELL] for node in plan.names}
    texts = {}
    for node in plan.names:
        lines = [*_mounts(folder, node), *links.interfaces(plan, node)]
        if node not in fresh:
            lines += [*sshd.forget(sorted(fresh)), *links.opened()]
        lines += sshd.start(folder, node)
        texts[node] = announced(f"in {node}", words[node], lines, show)

    def set_up(node: str) -> None:
        done = completed(words[node], texts[node], LONGEST_BOOT_S, node)
        if done.returncode:
            raise LabError(
                f"{node} could not be set up: {done.stderr.strip()}.",
                "`beowulf doctor` checks what a node needs; `beowulf down` cleans up.",
                node,
            )

    at_once.all_of(plan.names, set_up)


def _mounts(folder: Path, node: str) -> list[str]:
    table = shlex.quote(str(folder / "nodes" / node / "mounts"))
    settings = shlex.quote(str(sshd.home() / ".ssh" / "config"))
    ours = shlex.quote(str(folder / NO_SETTINGS))
    return [
        # The node gets its name last: one that has it has been through all of this.
        f'if [ "$(</proc/sys/kernel/hostname)" != {node} ]; then',
        f"mount --all --fstab {table}",
        f"if [ -e {settings} ]; then mount --bind {ours} {settings}; fi",
        "echo reno > /proc/sys/net/ipv4/tcp_congestion_control",
        "echo 22 > /proc/sys/net/ipv4/ip_unprivileged_port_start",
        "echo 0 0 > /proc/sys/net/ipv4/ping_group_range || true",
        "fi",
        *node_etc.make(folder / "nodes" / node / "etc"),
        f"hostname {node}",
    ]


def _table(lines: Iterable[str]) -> str:
    """What is to be mounted, as /etc/fstab is written: source, place, kind, options."""
    return "".join(f"{line} 0 0\n" for line in lines)


def _escaped(path: str) -> str:
    # fstab's own way of writing what would end a word.
    return "".join(f"\\{ord(c):03o}" if c in " \t\n\\#" else c for c in path)
