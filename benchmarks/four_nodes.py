"""Runs a command on all nodes of the running cluster at once, for each line that it reads: by ssh.py, or by plain ssh.

The argument selects: `ours` or `plain`. Prints the seconds as a line of JSON.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time

from beowulf.cluster import connections, ssh
from beowulf.cluster.ssh import SshCluster

COMMANDS = 10


def main() -> None:
    """Print that all is ready, then measure once for each line that is read."""
    cluster = ssh.running()
    assert cluster
    plain = [
        [*connections.words(cluster.folder, cluster.machine(n)), "true"] for n in cluster.nodes
    ]
    lines = [shlex.join(command) for command in plain]
    script = " & ".join(f"{line} </dev/null" for line in lines) + " & wait"
    print(json.dumps({"ready": True}), flush=True)
    while sys.stdin.readline():
        began = time.perf_counter()
        for _ in range(COMMANDS):
            if sys.argv[1] == "ours":
                _ours(cluster)
            else:
                subprocess.run(["bash", "--norc", "-c", script], check=True)
        print(json.dumps({"seconds": time.perf_counter() - began}), flush=True)


def _ours(cluster: SshCluster) -> None:
    results, failed = connections.everywhere(cluster.nodes, lambda node: cluster.run(node, "true"))
    assert not failed
    assert all(done.returncode == 0 for done in results.values())


if __name__ == "__main__":
    main()
