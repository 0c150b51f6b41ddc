"""Which study works on which kind of cluster: what each needs of a cluster beside programs that run on its nodes.

docs/clusters.md shows the table; tests/cluster/test_every_kind.py holds it against what every kind does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from beowulf.cluster import Abilities
from beowulf.errors import LabError
from beowulf.studies import STUDIES

if TYPE_CHECKING:
    from beowulf.cluster import Cluster


@dataclass(frozen=True)
class Need:
    """An ability that a study, or a part of it, cannot do without."""

    ability: str
    because: str  # why it cannot be seen without
    part: str = ""  # what is left out without, where the rest is measured


CPU_LIMITS = (
    "a node's share of a processor can be limited only by root of the machine that the nodes run on"
)
NEEDS = {
    "B5": Need("cpu_limits", CPU_LIMITS),
    "A13": Need(
        "faults",
        "the socket buffers of PCs are not changed",
        "The socket buffers of this kind of cluster cannot be changed; that part was left out.",
    ),
}


def kinds() -> dict[str, Abilities]:
    """What each kind of cluster can, by the name that the table gives it."""
    from beowulf.cluster import namespaces, recorded, slurm, ssh

    return {
        "namespaces, as root": namespaces.AS_ROOT,
        "namespaces, as a user": namespaces.AS_USER,
        "PCs, VMs": ssh.SshCluster.can,
        "Slurm": slurm.SlurmCluster.can,
        "recorded": recorded.RecordedCluster.can,
    }


def unseen(study: str, can: Abilities) -> str:
    """Why a study cannot be seen on a cluster that can this; empty when it can, or its Record is replayed."""
    need = NEEDS.get(study)
    if need is None or need.part or can.recorded or getattr(can, need.ability):
        return ""
    return need.because


def left_out(study: str, can: Abilities) -> str:
    """The sentence for the part of a study that is left out on a cluster that can this; empty when none is."""
    need = NEEDS.get(study)
    return need.part if need and not can.recorded and not getattr(can, need.ability) else ""


def refuse_unseen(study: str, cluster: Cluster) -> None:
    """LabError where a study cannot be seen on this cluster."""
    if why := unseen(study, cluster.can):
        raise LabError(
            f"Study {study} cannot be seen on this cluster, because {why}.",
            "`beowulf up` as root boots a cluster on which it can.",
        )


def markdown() -> str:
    """The table of all studies by kind of cluster, and the reasons below it."""
    columns = kinds()
    reasons: list[str] = []

    def cell(study: str, can: Abilities) -> str:
        if can.recorded:
            return "its Record"
        need = NEEDS.get(study)
        if need is None or getattr(can, need.ability):
            return "works"
        if need.because not in reasons:
            reasons.append(need.because)
        number = reasons.index(need.because) + 1
        return f"works in part ({number})" if need.part else f"cannot be seen here ({number})"

    lines = ["| study | " + " | ".join(columns) + " |", "| --- " * (len(columns) + 1) + "|"]
    for study in sorted(STUDIES, key=lambda each: (each[0], int(each[1:]))):
        cells = [cell(study, can) for can in columns.values()]
        lines.append(f"| {study} | " + " | ".join(cells) + " |")
    lines += ["", *(f"({number}) because {why}" for number, why in enumerate(reasons, 1))]
    return "\n".join(lines) + "\n"
