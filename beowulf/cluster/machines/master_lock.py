"""Holding a cluster of PCs or VMs, whose nodes others may measure on from machines of their own.

The lock is on the master, on the file that `beowulf setup` has put there. A small shell has it, at the other end of
our connection, and ends with it: when we end, are killed, or the connection breaks. Its command line says who holds
the cluster.
"""

from __future__ import annotations

import json
import shlex
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from beowulf.cluster import Cluster
from beowulf.cluster.common.shells import surroundings
from beowulf.cluster.holding import lock
from beowulf.cluster.holding.lock import Holder, LockedError, Report
from beowulf.cluster.machines import connections
from beowulf.cluster.machines.targets import CARD
from beowulf.this_machine import user

MARK = "beowulf-holds"
ASK_EVERY_S = 1.0
SIGN_OF_LIFE_S = 10
LONGEST_SILENCE_S = 40
HELD, BUSY = "held", "busy"

# Arguments: the holder, as JSON. An open file is enough for flock, so nothing is made or written on the master.
HOLD = f"""
exec 9<{CARD} || exit 0
if flock --nonblock 9; then
    exec bash --norc -c 'echo {HELD}; while read -r -t {LONGEST_SILENCE_S}; do :; done' {MARK} "$1" 2>/dev/null
fi
for process in /proc/[0-9]*; do
    mapfile -d '' -t words 2>/dev/null <"$process/cmdline" || continue
    if [ "${{words[4]-}}" = {MARK} ]; then facts=${{words[5]}}; fi
done
echo "{BUSY} ${{facts-}}"
"""

# The shells that hold for this process, by the cluster's folder.
_there: dict[Path, subprocess.Popen[bytes]] = {}


@contextmanager
def held_there(
    cluster: Cluster, folder: Path, doing: str, wait: bool, report: Report | None
) -> Iterator[None]:
    """Hold the cluster on its master meanwhile; LockedError while another user, or another machine, measures on it."""
    if folder in _there:
        yield
        return
    process = _taken(cluster, doing, wait, report)
    if process is None:
        # A master that does not answer is of no use to others either, and a study will say so.
        yield
        return
    _there[folder] = process
    alive = threading.Event()
    beats = threading.Thread(target=_beat, args=(process, alive), daemon=True)
    beats.start()
    try:
        yield
    finally:
        del _there[folder]
        alive.set()
        beats.join()
        _let_go(process)


def _taken(
    cluster: Cluster, doing: str, wait: bool, report: Report | None
) -> subprocess.Popen[bytes] | None:
    me = {
        "user": user.name(),
        "doing": doing,
        "since": time.time(),
        "machine": socket.gethostname(),
    }
    line = f"bash --norc -c {shlex.quote(HOLD)} bash {shlex.quote(json.dumps(me))}"
    while True:
        process = subprocess.Popen(
            cluster.shell(cluster.nodes[0], f"exec {line}"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=surroundings(),
            start_new_session=True,  # Ctrl-C is ours to answer
        )
        assert process.stdout
        try:
            word, _, facts = process.stdout.readline().decode(errors="replace").partition(" ")
        except BaseException:
            _let_go(process)
            raise
        if word.strip() == HELD:
            return process
        _let_go(process)
        if word.strip() != BUSY:
            return None
        # Nothing is said of one that is just ending.
        fields = json.loads(facts) if facts.strip() else {}
        who = f"{fields['user']} at {fields['machine']}" if fields else "another user"
        since = fields.get("since", time.time())
        other = Holder(who, fields.get("doing", "something unknown"), since)
        if not wait:
            raise LockedError(other, lock.WAIT)
        if report:
            report(f"{other} Waiting until that is done; Ctrl-C stops waiting.")
            report = None
        time.sleep(ASK_EVERY_S)


def _beat(process: subprocess.Popen[bytes], over: threading.Event) -> None:
    """Send a sign of life now and then: a connection that breaks silently must end the hold as well."""
    assert process.stdin
    while not over.wait(SIGN_OF_LIFE_S):
        try:
            process.stdin.write(b"\n")
            process.stdin.flush()
        except OSError:
            return


def _let_go(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin
    assert process.stdout
    with suppress(OSError):
        process.stdin.close()
    process.stdout.close()
    try:
        process.wait(connections.LONGEST_ANSWER_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def standing(folder: Path) -> str:
    """Whether this process still holds the cluster on its master; empty when it never did."""
    process = _there.get(folder)
    if process is None:
        return ""
    return "there" if process.poll() is None else "lost"
