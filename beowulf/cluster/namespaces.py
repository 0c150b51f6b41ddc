"""The default kind of cluster: nodes made of Linux namespaces on this machine, each with an sshd of its own."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from beowulf import places
from beowulf.cluster import Completed, environment, links, rack, sshd, state
from beowulf.cluster.plan import Plan
from beowulf.cluster.processes import Process
from beowulf.cluster.rack import Rack, Say
from beowulf.errors import LabError

LONGEST_BOOT_S = 30.0
# What each node sees of the cluster's shared files instead of the machine's own.
SHARED_MOUNTS = {
    "etc/ssh_config": "/etc/ssh/ssh_config",
    "etc/passwd": "/etc/passwd",
    "etc/group": "/etc/group",
}


def silent(where: str, lines: str) -> None:
    """Say nothing about what is done; the place of a `say` that explains."""


def up(plan: Plan, *, say: Say = silent, folder: Path | None = None) -> NamespaceCluster:
    """Boot the cluster that `plan` describes, or heal the one that runs: afterwards every node is whole and answers.

    `say(where, lines)` is told every shell command before it is run.
    """
    folder = folder or places.state()
    with state.locked(folder):
        running = rack.find(folder)
        before = state.load(folder)
        if running and (before is None or not _same_machines(before["plan"], plan)):
            _take_down(folder, say)
            running = None
        fresh = running is None
        try:
            return _boot(plan, folder, running, say)
        except BaseException:
            if fresh:
                _take_down(folder, silent)
            raise


def down(*, say: Say = silent, folder: Path | None = None) -> bool:
    """Take the cluster down: no process, mount, interface or file of it stays. False when there was none."""
    folder = folder or places.state()
    if not folder.exists() and rack.find(folder) is None:
        return False
    with state.locked(folder):
        return _take_down(folder, say)


def running(folder: Path | None = None) -> NamespaceCluster | None:
    """The cluster that runs in this folder, or None."""
    folder = folder or places.state()
    known = state.load(folder)
    if known is None:
        return None
    found = rack.find(folder, int(known.get("rack_pid", 0)))
    return NamespaceCluster(known["plan"], folder, found) if found else None


class NamespaceCluster:
    """A running local cluster. Its nodes are looked up in the kernel at every call, so that a dead one is known as dead."""

    kind = "namespaces"

    def __init__(self, plan: Plan, folder: Path, its_rack: Rack) -> None:
        self.plan = plan
        self.folder = folder
        self.rack = its_rack

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of all nodes, the dead ones too."""
        return self.plan.names

    def address(self, node: str, network: int = 0) -> str:
        """The address of a node on one of the cluster's networks."""
        return self.plan.address(node, network)

    def dead_nodes(self) -> list[str]:
        """The nodes that do not run."""
        alive = self.rack.nodes()
        return [node for node in self.nodes if node not in alive]

    def shell(self, node: str, command: str, *, terminal: bool = False) -> list[str]:
        """The words that run `command` (a login shell if empty) on a node as the learner, over ssh."""
        ssh = ["ssh", "-t" if terminal else "-T", node]
        return [*self.enter(node), *ssh, *([command] if command else [])]

    def enter(self, node: str) -> list[str]:
        """The words that run what follows them on a node as its administrator, from outside and without ssh."""
        if node not in self.nodes:
            raise LabError(f"There is no {node!r}; the nodes are {', '.join(self.nodes)}.")
        process = self.rack.nodes().get(node)
        if process is None:
            raise LabError(f"{node} is down.", "`beowulf up` starts it again.", node)
        return rack.enter(process)

    def enter_switch(self) -> list[str]:
        """The words that run what follows them in the switch's network, where each port carries its node's name."""
        return rack.enter(self.rack.process)

    def run(
        self, node: str, command: str | list[str], *, timeout_s: float = 60, stdin: str = ""
    ) -> Completed:
        """Run a command in a shell on a node, as the learner would over ssh; what it printed, and its return code."""
        line = command if isinstance(command, str) else shlex.join(command)
        return _completed(self.shell(node, line), stdin, timeout_s, node)

    def administer(self, node: str, script: str, *, timeout_s: float = 60) -> Completed:
        """Run lines of shell on a node as its administrator."""
        return _completed([*self.enter(node), "bash", "-eu"], script, timeout_s, node)

    def kill(self, node: str) -> None:
        """Pull the plug: the node and all that runs on it ends at once."""
        process = self.rack.nodes().get(node)
        if process:
            process.end()

    def shape(self, rate: str, *, say: Say = silent) -> None:
        """Limit every cable, in both directions, to `rate`."""
        self.plan = replace(self.plan, rate=rate)
        state.save(self.folder, self.plan, {"rack_pid": self.rack.process.pid})
        ports = links.ports(self.plan, self.rack.nodes())
        _script(
            "in the switch", self.enter_switch(), [links.shape(port, rate) for port in ports], say
        )
        for node in self.rack.nodes():
            devices = [f"eth{network}" for network in range(self.plan.networks)]
            _script(node, self.enter(node), [links.shape(d, rate) for d in devices], say)

    def describe(self) -> dict[str, Any]:
        """What this cluster is, read from its first living node, as plain data for a Record."""
        asked = {
            "kernel": "uname -r",
            "mtu": "cat /sys/class/net/eth0/mtu",
            "congestion_control": "cat /proc/sys/net/ipv4/tcp_congestion_control",
            "queue": "tc qdisc show dev eth0 root",
            "offloads_on": "ethtool -k eth0 | sed -n 's/^\\(tcp-segmentation\\|generic-segmentation"
            "\\|generic-receive\\)-offload: on.*/\\1/p'",
        }
        alive = sorted(self.rack.nodes())
        answers: dict[str, str] = {}
        if alive:
            script = "; echo ---; ".join(asked.values())
            parts = self.administer(alive[0], script).stdout.split("---\n")
            answers = {name: text.strip() for name, text in zip(asked, parts, strict=False)}
        return {
            "kind": self.kind,
            "nodes": list(self.nodes),
            "addresses": {node: self.address(node) for node in self.nodes},
            "dead_nodes": [node for node in self.nodes if node not in alive],
            "rate": self.plan.rate,
            "networks": self.plan.networks,
            "mpi": self.plan.mpi,
            "cores": os.cpu_count(),
            "rootless": os.geteuid() != 0,
            **answers,
        }


def _same_machines(old: Plan, new: Plan) -> bool:
    return replace(old, rate=new.rate) == new


def _boot(plan: Plan, folder: Path, found: Rack | None, say: Say) -> NamespaceCluster:
    for needed in (places.mpi_prefix(plan.mpi) / "bin" / "mpiexec", places.native("patient_poll.so")):
        if not needed.exists():
            raise LabError(f"{needed} is missing.", "`make lab` (or `beowulf doctor --fix`) makes it.")
    its_rack = found or rack.start(folder, say)
    state.save(folder, plan, {"rack_pid": its_rack.process.pid})
    (folder / "broken").unlink(missing_ok=True)
    if not found:
        _script("in the switch", rack.enter(its_rack.process), links.switches(plan), say)
    missing = [name for name in plan.names if name not in its_rack.nodes()]
    if missing:
        launcher = rack.node_launcher(missing)
        _script("in the rack", rack.enter(its_rack.process), launcher, say)
    sshd.make_keys(plan, folder)
    state.write(folder, _files(plan, folder))
    _plug_in(plan, its_rack, _await_nodes(plan, its_rack), set(missing), say)
    _set_up_nodes(plan, folder, its_rack, set(missing), say)
    return NamespaceCluster(plan, folder, its_rack)


def _files(plan: Plan, folder: Path) -> dict[str, tuple[str, int]]:
    files = {**environment.files(plan, folder), **sshd.shared_files(plan, folder)}
    settings = environment.variables(plan, folder)
    for node in plan.names:
        own = f"nodes/{node}"
        files[f"{own}/hosts"] = (plan.hosts(node), 0o644)
        files[f"{own}/hostname"] = (node + "\n", 0o644)
        files[f"{own}/authorized_keys"] = (sshd.authorized_keys(folder), 0o600)
        files[f"{own}/sshd_config"] = (sshd.server(plan, folder, node, settings.items()), 0o600)
    return files


def _await_nodes(plan: Plan, its_rack: Rack) -> dict[str, Process]:
    deadline = time.monotonic() + LONGEST_BOOT_S
    while len(alive := its_rack.nodes()) < plan.nodes:
        if time.monotonic() > deadline:
            late = ", ".join(name for name in plan.names if name not in alive)
            raise LabError(f"{late} did not start.", "`beowulf up` tries again.")
        time.sleep(0.001)
    return alive


def _plug_in(
    plan: Plan, its_rack: Rack, nodes: Mapping[str, Process], fresh: set[str], say: Say
) -> None:
    # The numbers of the nodes' processes are those of this machine, so this runs outside the rack's PID namespace.
    switch = rack.enter(its_rack.process, "mount", "net")
    present = _completed([*switch, "ip", "-brief", "link"], "", LONGEST_BOOT_S, "").stdout
    plugged = {line.split("@")[0].split()[0] for line in present.splitlines() if line.strip()}
    loose = {name: p.pid for name, p in nodes.items() if name in fresh or name not in plugged}
    # The cable of a node that died may hang on for a moment.
    stale = [port for port in links.ports(plan, loose) if port in plugged]
    lines = [f"ip link delete {port} 2>/dev/null || true" for port in stale]
    if loose:
        lines += links.cables(plan, loose)
    lines += [links.shape(port, plan.rate) for port in links.ports(plan, set(nodes) - set(loose))]
    _script("in the switch", switch, lines, say)


def _set_up_nodes(plan: Plan, folder: Path, its_rack: Rack, fresh: set[str], say: Say) -> None:
    alive = its_rack.nodes()
    jobs = {}
    for node in plan.names:
        lines = _mounts(folder, node) if node in fresh else sshd.forget(fresh)
        lines = [*lines, *links.interfaces(plan, node)]
        words = [*rack.enter(alive[node]), "bash", "-eu"]
        text = "\n".join([*lines, *sshd.start(folder, node)]) + "\n"
        say(f"in {node}: {shlex.join(words)} <<'END'", text + "END")
        jobs[node] = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert jobs[node].stdin
        jobs[node].stdin.write(text)
        jobs[node].stdin.close()
        jobs[node].stdin = None
    for node, job in jobs.items():
        _, complaint = job.communicate(timeout=LONGEST_BOOT_S)
        if job.returncode:
            raise LabError(
                f"{node} could not be set up: {complaint.strip()}",
                "`beowulf doctor` checks what a node needs; `beowulf down` clears up.",
                node,
            )


def _mounts(folder: Path, node: str) -> list[str]:
    own = folder / "nodes" / node
    files = {str(own / "hosts"): "/etc/hosts", str(own / "hostname"): "/etc/hostname"}
    files |= {str(folder / ours): theirs for ours, theirs in SHARED_MOUNTS.items()}
    if os.geteuid() == 0:
        files[str(folder / "etc/shadow")] = "/etc/shadow"
    return [
        f"hostname {node}",
        "mount -t tmpfs -o mode=755 tmpfs /run",
        "mount -t tmpfs -o mode=1777 tmpfs /dev/shm",
        "mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts /dev/pts",
        "mount --bind /dev/pts/ptmx /dev/ptmx",
        "mount -t sysfs sysfs /sys 2>/dev/null || true",  # so that /sys/class/net shows this node's network
        *(f"mount --bind {shlex.quote(ours)} {theirs}" for ours, theirs in files.items()),
        "sysctl -qw net.ipv4.tcp_congestion_control=reno net.ipv4.ip_unprivileged_port_start=22",
        f"sysctl -qw net.ipv4.ping_group_range='0 0' 2>/dev/null || true",
    ]


def _script(where: str, words: list[str], lines: list[str], say: Say) -> None:
    text = "\n".join(lines) + "\n"
    say(f"{where}: {shlex.join(words)} bash -eu <<'END'", text + "END")
    done = _completed([*words, "bash", "-eu"], text, LONGEST_BOOT_S, "")
    if done.returncode:
        raise LabError(
            f"The cluster could not be set up {where}: {done.stderr.strip()}",
            "`beowulf doctor` checks what this needs.",
        )


def _completed(words: list[str], stdin: str, timeout_s: float, node: str) -> Completed:
    began = time.monotonic()
    try:
        done = subprocess.run(
            words, input=stdin, capture_output=True, text=True, errors="replace", timeout=timeout_s
        )
    except subprocess.TimeoutExpired as error:
        raise LabError(
            f"{node or 'The cluster'} did not finish `{words[-1]}` within {timeout_s:g} s.",
            "`beowulf status` shows which nodes answer.",
            node,
        ) from error
    return Completed(done.returncode, done.stdout, done.stderr, time.monotonic() - began)


def _take_down(folder: Path, say: Say) -> bool:
    found = rack.find(folder)
    if found:
        say("on this machine: all nodes end with the rack's first process", f"kill -9 {found.process.pid}")
        found.end()
    was_there = found is not None or (folder / "cluster.json").exists()
    state.remove(folder)
    return was_there
