"""How engines on nodes reach the controller on this machine.

Nodes that share this machine's files see its sockets. To others ssh brings them, over a connection to each node of its
own. The nodes of a queue come over the network, encrypted, because what starts programs there brings no sockets.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

from beowulf.cluster import Cluster
from beowulf.cluster.common import at_once
from beowulf.cluster.common.shells import surroundings
from beowulf.engines.controller import connection, ports
from beowulf.errors import LabError

CONNECTION = "engine.json"
# A folder on a machine with a disk of its own, and in it how to reach the controller: whole, or not at all.
MAKE = """\
umask 077
[ -O {folder} ] || mkdir {folder} || exit 1
mkdir -p {folder}/profile || exit 1
"""
FURNISH = """\
umask 077
[ -O {folder} ] && cat > {file}.new || exit 1
for port in {ports}; do ln -s engine-$port {folder}/engine:$port || exit 1; done
mv {file}.new {file}
"""
# The sockets stay as long as the connection does, and go with it.
CARRY = "echo ready; cat >/dev/null; rm -rf {folder}"


def prepare(cluster: Cluster, there: Path) -> None:
    """Make the folder of an engine on every node, before it begins."""
    if cluster.can.shared_files:
        (there / "profile").mkdir()
        return
    script = MAKE.format(folder=shlex.quote(str(there)))
    at_once.all_of(cluster.nodes, lambda node: cluster.run(node, script))


def lead(
    cluster: Cluster, here: Path, there: Path, networked: bool
) -> list[subprocess.Popen[bytes]]:
    """Tell the engines on all nodes where the controller listens; what carries its sockets to them, if anything.

    It ends when its stdin is closed. LabError for a node where that does not work.
    """
    about = connection(here, "engine")
    content = json.loads(about.read_text())
    if cluster.can.shared_files:
        aside = here / f"{CONNECTION}.new"
        aside.write_text(json.dumps(content))
        aside.rename(there / CONNECTION)
        return []
    content["interface"] = content["interface"].replace(str(here), str(there))
    # Not over the shared connection, which would keep the sockets when the engine has ended.
    options = ["-o", "ControlPath=none", "-o", "ExitOnForwardFailure=yes"]
    listed = ports(about)
    if networked:
        asked = cluster.run(cluster.nodes[0], 'echo "$SLURM_LAUNCH_NODE_IPADDR"')
        content["location"] = asked.stdout.strip() or content["location"]
        options, listed = [], []
    for port in listed:
        options += ["-R", f"{there}/engine-{port}:{here}/engine-{port}"]
    folder = shlex.quote(str(there))
    script = FURNISH.format(
        folder=folder, file=f"{folder}/{CONNECTION}", ports=" ".join(map(str, listed))
    )
    carriers: list[subprocess.Popen[bytes]] = []

    def one(node: str) -> None:
        done = cluster.run(node, script, stdin=json.dumps(content))
        if done.returncode:
            raise LabError(f"No engine can be started on {node}: {done.stderr.strip()}.", node=node)
        first, *rest = cluster.shell(node, CARRY.format(folder=folder))
        process = subprocess.Popen(
            [first, *options, *rest],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=surroundings(),
        )
        carriers.append(process)
        assert process.stdout
        if not any(line.strip() == b"ready" for line in process.stdout):
            raise LabError(f"{node} cannot be given the engines' sockets.", "Check its sshd.", node)

    try:
        at_once.all_of(cluster.nodes, one)
    except LabError:
        for process in carriers:
            process.kill()
        raise
    return carriers
