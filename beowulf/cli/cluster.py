"""The commands that boot, show, enter, break and end the local cluster."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beowulf.cli import running_measurement, target
from beowulf.cli.nodes import print_nodes
from beowulf.cli.options import AsJson, Force, Wait
from beowulf.errors import LabError, UsageError

if TYPE_CHECKING:
    from beowulf.cluster.common.config import ClusterConfig
    from beowulf.cluster.namespaces.cluster import NamespaceCluster

NO_CONNECTION = 255  # the exit code of ssh itself


def up(
    nodes: Annotated[
        int | None,
        typer.Option(help="How many nodes, 2 to 16; with Slurm or simulated, more. \\[default: 4]"),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            help="The rate of each cable: 10mbit, 100mbit, 1gbit or off. \\[default: 100mbit]"
        ),
    ] = None,
    networks: Annotated[
        int | None, typer.Option(help="How many networks, 1 or 2. \\[default: 1]")
    ] = None,
    mpi: Annotated[
        str | None,
        typer.Option(help="Which MPI library: classic or modern. \\[default: classic]"),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the shell commands that are run.")
    ] = False,
    machines: Annotated[
        str,
        typer.Option(
            "--target",
            help="Use PCs or VMs instead: an inventory that `setup` has set up, vagrant, or slurm;"
            " or simulate: `simulated`, or a platform in TOML; or `local`: ranks on this machine alone.",
        ),
    ] = "",
    minutes: Annotated[
        int | None,
        typer.Option(help="With `--target slurm`: the most minutes. \\[default: 60]"),
    ] = None,
    force: Force = False,
) -> None:
    """Boot the cluster, or heal the one that is running.

    What you do not ask for stays as it is on a running cluster. A node that is down is started again, and every file
    of the cluster is put back. Another number of nodes or networks, or another MPI library, makes a new cluster.

    Example: beowulf up --nodes 4 --rate 100mbit
    """
    from beowulf.cluster import targeted
    from beowulf.cluster.common import shells
    from beowulf.cluster.common.config import ClusterConfig
    from beowulf.cluster.holding import lock
    from beowulf.cluster.namespaces import cluster as namespaces

    other = targeted()
    if source := machines or (other.source if other else ""):
        shared = source in (target.SLURM, target.LOCAL) or target.is_simulated(source)
        chosen = (rate, networks, *(() if source == target.LOCAL else (mpi,)))
        chosen += () if shared else (nodes, minutes)
        if explain or any(option is not None for option in chosen):
            raise UsageError(
                "The number, rate, networks and MPI of machines that already exist cannot be chosen here.",
                "Run `beowulf down` first if you want a cluster on this machine.",
            )
        target.up(source, nodes, minutes, force, mpi)
        return
    if minutes is not None:
        raise UsageError("A cluster on this machine has no time limit.", "Leave `--minutes` out.")
    running = namespaces.running()
    asked: dict[str, Any] = {"nodes": nodes, "rate": rate, "networks": networks, "mpi": mpi}
    plan = replace(
        running.config if running else ClusterConfig(),
        **{name: value for name, value in asked.items() if value is not None},
    )
    if running and running.is_whole(plan):
        if measured := lock.holder(running.folder):
            print(f"The cluster is up, and nothing was changed. {measured}")
            return
    else:
        running_measurement.ask_before("beowulf up", force)
    before = _before(running, plan)
    show = _print_commands if explain else shells.silent
    cluster = namespaces.up(plan, show=show)
    if before:
        print(before)
    print(
        f"{len(cluster.nodes)} nodes are up: {', '.join(cluster.nodes)}"
        f" ({plan.rate}, {plan.networks} network{'s' * (plan.networks > 1)}, {plan.mpi} MPICH)."
    )
    if plan.nodes != (usual := ClusterConfig().nodes):
        print(
            f"`up` keeps this number; `beowulf up --nodes {usual}` gives you {usual} nodes again."
        )
    for sentence in target.settled(cluster):
        print(sentence)
    print(
        "Next: `beowulf ssh node00` opens a shell on the master; `beowulf validate` checks all nodes."
    )


def _before(running: NamespaceCluster | None, plan: ClusterConfig) -> str:
    """What `up` is about to change of a cluster that runs, in a sentence for afterwards."""
    if running is None:
        return ""
    if replace(running.config, rate=plan.rate) != plan:
        return f"The cluster of {len(running.nodes)} nodes that was running has been taken down."
    if running.broken:
        return f"The cluster was broken on purpose ({running.broken}) and is whole again."
    dead = running.dead_nodes()
    return f"Started again: {', '.join(dead)}." if dead else ""


def status(as_json: AsJson = False) -> None:
    """Print which nodes run, and how the cluster is set up.

    Exit code 0: all nodes answer; 1: not all, or no cluster runs.

    Example: beowulf status --json
    """
    from beowulf.cluster import targeted
    from beowulf.cluster.namespaces import cluster as namespaces

    if other := targeted():
        target.status(other, as_json)
        return
    cluster = namespaces.running()
    if cluster is None:
        if as_json:
            print(json.dumps({"running": False, "nodes": []}))
            raise typer.Exit(1)
        raise LabError("No cluster is running.", "`beowulf up` boots one.")
    alive = set(cluster.nodes) - set(cluster.dead_nodes())
    states = dict.fromkeys(cluster.nodes, "down")
    states |= {node: "up" if cluster.listening(node) else "no sshd" for node in sorted(alive)}
    plan, broken, folder = cluster.config, cluster.broken, str(cluster.folder)
    lines = [f"rate {plan.rate}, networks {plan.networks}, MPICH {plan.mpi}; files in {folder}"]
    if broken:
        lines.append(f"Broken on purpose by `beowulf break {broken}`; `beowulf up` heals it.")
    facts = {"running": True, **plan.as_dict(), "broken": broken, "folder": folder}
    print_nodes(cluster, states, facts, lines, as_json)


def validate(as_json: AsJson = False, wait: Wait = False) -> None:
    """Ask all nodes and pairs of nodes whether this is a cluster.

    It is study A2, without keeping its Record. Exit code 0: every claim holds; 1: at least one does not.

    Example: beowulf validate
    """
    from beowulf.cli.studies import print_verdicts
    from beowulf.cluster import running
    from beowulf.measure.watched import Watched
    from beowulf.studies import by_kind, find, judge
    from beowulf.this_machine.progress import bar

    study, cluster = find("A2"), running()
    by_kind.refuse_unseen(study.id, cluster)
    with (
        bar(study.title, shown=not as_json) as progress,
        Watched(cluster, study.id, wait=wait, report=running_measurement.report) as watched,
    ):
        record = watched.end(study.measure(cluster, Path(), progress=progress))
    verdicts = judge(record)
    print_verdicts(verdicts, as_json)
    for warning in record.warnings:
        running_measurement.report(warning)
    raise typer.Exit(
        0 if record.complete and all(verdict.outcome == "holds" for verdict in verdicts) else 1
    )


def ssh(
    node: Annotated[str, typer.Argument(help="The node, such as node00.")],
    command: Annotated[
        list[str] | None, typer.Argument(help="The command to run there. \\[default: a shell]")
    ] = None,
) -> None:
    """Open a shell on a node, or run a command there.

    It begins in the folder that you are in. Inside, `mpicc hello.c && mpiexec -n 4 ./a.out` works as on any cluster.
    The exit code is the command's own.

    Example: beowulf ssh node00 hostname
    """
    from beowulf import paths
    from beowulf.cluster import running

    cluster = running()
    cluster.refuse_stranger(node)
    words = command or []
    # One word is a line of shell, as with ssh itself; several are a command and its arguments.
    line = words[0] if len(words) == 1 else shlex.join(words)
    here = f"cd {shlex.quote(str(paths.here()))} 2>/dev/null; "
    # With a terminal of its own, Ctrl-C reaches the command and not only the connection to it.
    terminal = running_measurement.at_terminal()
    login = 'exec "$SHELL"' if terminal else "exec bash --norc"
    ended = subprocess.run(
        cluster.shell(node, here + (line or login), terminal=terminal),
        stdin=subprocess.DEVNULL if sys.stdin is None else None,
    )
    if ended.returncode == NO_CONNECTION and cluster.run(node, "true").returncode:
        raise LabError(
            f"{node} cannot be logged in to, or the connection broke.",
            "`beowulf status` shows which nodes answer; `beowulf up` heals the cluster.",
            node,
        )
    # As a shell says it: 128 and the number of the signal.
    raise typer.Exit(ended.returncode if ended.returncode >= 0 else 128 - ended.returncode)


def break_(
    name: Annotated[
        str,
        typer.Argument(help="a, b, c or d; or wrong-hosts, node-down, key-refused, closed-ports."),
    ],
    node: Annotated[str, typer.Option(help="On which node; chosen for you if left out.")] = "",
    force: Force = False,
) -> None:
    """Break the cluster on purpose; you find out how.

    What is wrong, and on which node? a, b, c and d do not tell, and differ from learner to learner; an instructor may
    name the fault and the node. `beowulf up` heals the cluster.

    Example: beowulf break a
    """
    from beowulf.cluster import running
    from beowulf.cluster.namespaces.faults import PUZZLES

    cluster = running()
    running_measurement.ask_before("beowulf break", force)
    cluster.break_it(name, node)
    if name in PUZZLES:
        print(f"Cluster {name} is broken. Find out what is wrong, and on which node.")
    else:
        print(f"The cluster is broken: {name}.")
    print("Ask the nodes: do they answer, do they let you in, do they know each other?")
    print("`beowulf up` heals it.")


def down(force: Force = False) -> None:
    """Take the cluster down; nothing of it stays on this machine.

    Example: beowulf down
    """
    from beowulf.cluster import state, targeted
    from beowulf.cluster.namespaces import cluster as namespaces

    running_measurement.ask_before("beowulf down", force)
    if other := targeted():
        target.down(other)
        return
    print("The cluster is down." if namespaces.down() else "No cluster was running.")
    # Mostly no lab is open and no knob was ever turned, and there is nothing to load for them.
    if state.open_lab().exists():
        from beowulf.desk import jupyter

        if lab := jupyter.open_address():
            print(
                f"The lab at {lab} is still open, without a cluster: `beowulf up` boots one for it;"
                " Ctrl-C in its terminal ends the lab."
            )
    if state.tuned_host().exists():
        from beowulf.tuning import log

        if changed := [entry.knob for entry in log.of_host().open()]:
            print(
                f"This machine itself still has changed settings ({', '.join(changed)}): `beowulf tune"
                f" revert` puts them back."
            )


def _print_commands(where: str, lines: str) -> None:
    print(f"# {where}\n{lines}\n", flush=True)
