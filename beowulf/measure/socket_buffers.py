"""Smaller or larger socket buffers: what TCP on each node may keep of a connection, in either direction.

`net.ipv4.tcp_rmem` and `tcp_wmem` hold three numbers each: the least, the first and the most bytes of
a connection's buffer. They belong to a network namespace, so each node of a local cluster has its own.
A shell on each node changes them, waits until its standard input ends, and puts back what it found:
also when the measurement is stopped, fails, or is killed.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from beowulf.cluster import Cluster
from beowulf.cluster.shells import surroundings
from beowulf.errors import LabError, UsageError

LEAST_BYTES, MOST_BYTES = 4096, 1 << 30  # less is raised by the kernel
LONGEST_S = 10.0
HINT = "Boot a cluster on this machine with `beowulf up`, and measure there."

# Linux remembers of each peer how soon packets got lost, and begins the next connection accordingly:
# without tcp_no_metrics_save, one setting would suffer from the losses of the one before it.
GUARD = """
set -eu
cd /proc/sys/net/ipv4
names=(tcp_rmem tcp_wmem tcp_no_metrics_save)
before=()
for name in ${names[@]}; do before+=("$(<$name)"); done
back() {
    for i in ${!names[@]}; do echo "${before[i]}" >${names[i]}; done
    echo back
}
trap back EXIT
SETTINGS
echo set
read -r _ || true
"""


def settings(size_bytes: int) -> list[str]:
    """The lines of shell that give each connection buffers of so many bytes; 0 leaves them as they are."""
    lines = ["echo 1 >tcp_no_metrics_save"]
    if size_bytes:
        three = f"{min(LEAST_BYTES, size_bytes)} {size_bytes} {size_bytes}"
        lines += [f"echo {three} >{name}" for name in ("tcp_rmem", "tcp_wmem")]
    return lines


@contextmanager
def socket_buffers(cluster: Cluster, size_bytes: int) -> Iterator[None]:
    """Within this context new connections between nodes have buffers of so many bytes; afterwards, all as before.

    With 0 the nodes keep their own. LabError where a node's settings cannot be changed or put back.
    """
    if size_bytes and not LEAST_BYTES <= size_bytes <= MOST_BYTES:
        raise UsageError(
            f"A socket's buffer has {LEAST_BYTES:,} to {MOST_BYTES:,} bytes, not {size_bytes:,}."
        )
    if not size_bytes and not cluster.can.faults:
        yield  # nobody changes them there, so connections remember nothing of other settings
        return
    if not cluster.can.faults:
        raise LabError(
            f"The socket buffers of nodes of the kind {cluster.kind} cannot be changed.", HINT
        )
    script = GUARD.replace("SETTINGS", "\n".join(settings(size_bytes)))
    guards: dict[str, subprocess.Popen[str]] = {}
    try:
        for node in cluster.nodes:
            guards[node] = _guard(cluster, node, script)
        for node, guard in guards.items():
            _await(node, guard)
        yield
    finally:
        left = _release(guards)
    if left := [node for node in left if node not in cluster.dead_nodes()]:
        raise LabError(
            f"{', '.join(left)} did not put the socket buffers back.",
            f"`beowulf ssh {left[0]} sysctl net.ipv4.tcp_rmem net.ipv4.tcp_wmem` shows what they are;"
            " `beowulf down` and `beowulf up` make the nodes new.",
            left[0],
        )


def _guard(cluster: Cluster, node: str, script: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*cluster.enter(node), "bash", "--norc", "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=surroundings(),
        start_new_session=True,  # Ctrl-C is ours to answer; the guard ends when we let go of it
    )


def _await(node: str, guard: subprocess.Popen[str]) -> None:
    assert guard.stdout
    if guard.stdout.readline().strip() == "set":
        return
    try:
        errors = guard.communicate(timeout=LONGEST_S)[1].strip()
    except subprocess.TimeoutExpired:
        errors = ""
    why = errors.splitlines()[-1].rstrip(".") if errors else "it printed nothing"
    raise LabError(f"The socket buffers of {node} cannot be changed: {why}.", HINT, node)


def _release(guards: dict[str, subprocess.Popen[str]]) -> list[str]:
    """Let every guard put back what it found, and wait for all of them; the nodes where that failed."""
    for guard in guards.values():
        assert guard.stdin
        with suppress(OSError):
            guard.stdin.close()
    left = []
    for node, guard in guards.items():
        assert guard.stdout
        assert guard.stderr
        if guard.stdout.closed:  # it could not change anything, and has ended already
            continue
        with guard.stdout, guard.stderr:
            try:
                guard.wait(LONGEST_S)
            except subprocess.TimeoutExpired:
                guard.kill()
                guard.wait()
            if guard.stdout.read().strip() != "back":
                left.append(node)
    return left
