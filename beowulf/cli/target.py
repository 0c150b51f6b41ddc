"""`beowulf setup`, and `up`, `status` and `down` where the cluster is made of separate machines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beowulf.cli import running_measurement, slurm
from beowulf.cli.nodes import print_nodes
from beowulf.errors import LabError, UsageError

if TYPE_CHECKING:
    from beowulf.cluster import Cluster

SLURM, SIMULATED, LOCAL = "slurm", "simulated", "local"


def up(
    source: str,
    nodes: int | None = None,
    minutes: int | None = None,
    force: bool = False,
    mpi: str | None = None,
) -> None:
    """Connect the machines of an inventory, of Vagrant or of Slurm, and print which of them cannot be used."""
    running_measurement.ask_before("beowulf up", force)
    from beowulf.cluster import module, state, targeted
    from beowulf.cluster.machines.targets import lasting

    if source == SLURM:
        slurm.up(nodes, minutes)
        return
    if is_simulated(source):
        _simulate(source, nodes)
        return
    if source == LOCAL:
        _name(nodes, mpi)
        return
    kind = source if state.KINDS.get(source) else "ssh"
    if (before := targeted()) and not before.can.queue:
        if before.source not in (source, lasting(source)):
            _refuse_changed(before)
    cluster, troubles = module(kind).up(source)
    for trouble in troubles.values():
        running_measurement.report(str(trouble))
    well = [node for node in cluster.nodes if node not in troubles]
    of = "" if not troubles else f" of {len(set(cluster.nodes) | set(troubles))}"
    print(f"{len(well)}{of} nodes of {source} can be used: {', '.join(well) or 'none'}.")
    for sentence in settled(cluster):
        print(sentence)
    print(
        f"Next: `beowulf ssh {cluster.nodes[0]}` opens a shell on the master; `beowulf validate` checks all nodes."
    )
    if troubles:
        raise typer.Exit(1)


def is_simulated(source: str) -> bool:
    """Whether `--target` names no machines, but what SimGrid is to simulate."""
    return source == SIMULATED or source.endswith(".toml")


def _simulate(source: str, nodes: int | None) -> None:
    from beowulf.cluster.simulated import cluster as simulated

    platform = simulated.up(source, nodes).platform
    print(
        f"{platform.nodes} nodes are simulated: {platform.rate_mbit:g} Mbit/s and"
        f" {platform.latency_us:g} µs a link. Only MPI programs in C run on them."
    )
    print(f"Next: `beowulf run -n {platform.nodes} FILE.c` simulates a program on them.")


def _name(nodes: int | None, mpi: str | None) -> None:
    from beowulf.cluster.local import cluster as local

    cluster, _ = local.up(nodes=nodes, mpi=mpi or "")
    print(
        f"{len(cluster.nodes)} nodes are names of this machine: {', '.join(cluster.nodes)} ({cluster.mpi} MPICH)."
    )
    print(cluster.cannot_show)
    print(
        "Next: `beowulf run -n 4 FILE.c` runs 4 ranks on these nodes; docs/clusters.md says which studies work."
    )


def _turned(cluster: Cluster) -> bool:
    """Whether a knob of it was ever turned: most clusters never had one turned, and need not load what knows knobs."""
    from beowulf.cluster import state

    return bool(cluster.folder and (cluster.folder / state.TUNED).exists())


def settled(cluster: Cluster) -> list[str]:
    """What became of knobs on nodes that had been down, in sentences."""
    if not _turned(cluster):
        return []
    from beowulf.tuning.reapply import settle

    return settle(cluster)


def status(cluster: Cluster, as_json: bool) -> None:
    """Print which nodes answer."""
    from beowulf.cluster.slurm.cluster import gave

    if gave(cluster):
        slurm.status(cluster, as_json)
        return
    dead = cluster.dead_nodes()
    states = {node: "down" if node in dead else "up" for node in cluster.nodes}
    waiting: dict[str, list[str]] = {}
    if _turned(cluster):
        from beowulf.tuning import reapply

        waiting = reapply.waiting(cluster)
    facts = {
        "running": True,
        "kind": cluster.kind,
        "target": cluster.source,
        "folder": str(cluster.folder),
        "to_be_put_back": waiting,
    }
    lines = [
        f"{len(states)} nodes of {cluster.source}, of the kind {cluster.kind}; files in {cluster.folder}"
    ]
    lines += [
        f"Still to be put back on {node}: {', '.join(knobs)}; `beowulf up` does it when it answers."
        for node, knobs in waiting.items()
    ]
    print_nodes(cluster, states, facts, lines, as_json)


def down(cluster: Cluster) -> None:
    """Release the nodes, unless knobs are still turned."""
    from beowulf.cluster import module

    # Nodes that Slurm has taken back already do not answer.
    if _turned(cluster) and cluster.is_ours():
        _refuse_changed(cluster)
    if cluster.can.queue:
        slurm.down()
        return
    module(cluster.kind).down()
    if cluster.can.one_machine or cluster.can.simulated:
        print("The cluster is down.")
        return
    print("The machines are released; they go on running.")
    if cluster.source == "vagrant":
        print("`vagrant halt` switches the VMs off; `vagrant destroy` removes them.")


def _refuse_changed(cluster: Cluster) -> None:
    """What is turned on a node of this machine ends with it; a PC stays as it was left."""
    from beowulf.tuning import log

    # A machine that was taken out of the inventory cannot be reached.
    turned = {
        entry.knob: [node for node in entry.open if node in cluster.nodes]
        for entry in log.of_cluster(cluster).open()
    }
    if left := {knob: nodes for knob, nodes in turned.items() if nodes}:
        nodes = dict.fromkeys(node for each in left.values() for node in each)
        raise LabError(
            f"{', '.join(nodes)} still {'has' if len(nodes) == 1 else 'have'} changed settings"
            f" ({', '.join(left)}), and only this"
            " cluster's log knows what was set before.",
            "`beowulf tune revert` puts it back; then run `beowulf down`. If a machine will never come back,"
            " first take it out of the inventory.",
        )


def setup(
    inventory: Annotated[
        Path, typer.Argument(help="The inventory of the machines, in Ansible's YAML.")
    ],
    check: Annotated[
        bool, typer.Option("--check", help="Show the changes without making them.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Remove what was set up.")] = False,
    take: Annotated[
        bool, typer.Option("--take", help="Take machines that belong to another cluster.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print Ansible's full output.")
    ] = False,
) -> None:
    """Make a cluster of PCs or VMs.

    They get the programs, names, logins among them, and captures without root. It may be run at any time: what is set
    up already is left alone. A machine that is off is named, and the others are set up. Exit code 1: at least one
    machine is not set up.

    Example: beowulf setup inventory.yml --check
    """
    from beowulf.cluster.machines import setup as setting_up

    if undo and (check or take):
        raise UsageError("`--undo` cannot be combined with `--check` or `--take`.")
    result = setting_up.run(inventory, check=check, undo=undo, take=take, verbose=verbose)
    for name, message in result.failed.items():
        running_measurement.report(f"{name}: {message}")
    changed = {
        name: what for name, what in result.changed.items() if what or name not in result.failed
    }
    print("\n".join(_change_lines(changed, inventory, check=check, undo=undo)))
    if result.failed:
        raise typer.Exit(1)


def _change_lines(
    changed: Mapping[str, list[str]], inventory: Path, *, check: bool, undo: bool
) -> list[str]:
    """A line for each machine that was reached: what was, or would be, changed on it."""
    would = "would " if check else ""
    lines = [
        f"{name}: {would}{'; '.join(what)}" if what else f"{name}: nothing to do"
        for name, what in changed.items()
    ]
    if changed and not check and not undo:
        lines.append(f"Next: `beowulf up --target {inventory}`.")
    return lines
