"""Which study works on which kind of cluster: what each needs of a cluster beside programs that run on its nodes.

docs/clusters.md shows the table; tests/test_every_kind.py holds it against what every kind does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from beowulf import paths
from beowulf.cluster import Abilities
from beowulf.errors import LabError
from beowulf.studies import find, given
from beowulf.studies.study import Need

if TYPE_CHECKING:
    from beowulf.cluster import Cluster


def kinds() -> dict[str, Abilities]:
    """What each kind of cluster can, by the name that the table gives it."""
    from beowulf.cluster import module, state

    return {name: can for kind in state.KINDS for name, can in module(kind).COLUMNS.items()}


def unseen(study: str, cluster: Cluster) -> str:
    """In a sentence, why a study cannot be seen on this cluster; empty where it can, at least in part."""
    needed = _unmet(study, cluster.can)
    if needed is None or needed.part:
        return ""
    return f"Study {study} cannot be seen on this cluster, because {needed.because}."


def refuse_unseen(study: str, cluster: Cluster) -> None:
    """LabError where a study cannot be seen on this cluster."""
    if why := unseen(study, cluster):
        raise LabError(
            why,
            given.hint(study)
            if cluster.cannot_show
            else "`beowulf down`, then `beowulf up`, boots a cluster on which it can."
            if cluster.can.simulated
            else "`beowulf up` as root boots a cluster on which it can.",
        )


def _unmet(study: str, can: Abilities) -> Need | None:
    """What a study needs and a cluster has not."""
    if can.simulated and not find(study).simulates:
        return Need("simulated", "only MPI programs in C run on simulated nodes")
    return find(study).unmet(can)


def markdown() -> str:
    """The table of all studies by kind of cluster, a row for those with the same answers, and the reasons below it."""
    columns = kinds()
    reasons: list[str] = []

    def cell(study: str, can: Abilities) -> str:
        needed = _unmet(study, can)
        if needed is None:
            return "simulated" if can.simulated else "yes"
        if needed.because not in reasons:
            reasons.append(needed.because)
        number = reasons.index(needed.because) + 1
        return f"in part ({number})" if needed.part else f"no ({number})"

    rows: dict[tuple[str, ...], list[str]] = {}
    for study in sorted(paths.ours().studies, key=lambda each: (each[0], int(each[1:]))):
        rows.setdefault(tuple(cell(study, can) for can in columns.values()), []).append(study)
    lines = ["| study | " + " | ".join(columns) + " |", "| --- " * (len(columns) + 1) + "|"]
    lines += [f"| {', '.join(names)} | {' | '.join(cells)} |" for cells, names in rows.items()]
    lines += ["", *(f"({number}) because {why}" for number, why in enumerate(reasons, 1))]
    return "\n".join(lines) + "\n"
