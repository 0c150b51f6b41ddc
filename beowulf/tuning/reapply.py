"""Nodes that run again: what was to be reverted while they were down is put back, and what was kept is put in again.

A restarted node has lost all changes, and `beowulf up` itself sets the offloads of every node. What you
kept is kept until you revert it; so it is put in again, wherever it is lost.
"""

from __future__ import annotations

from beowulf.cluster import Cluster
from beowulf.cluster.holding.event_file import LockedError
from beowulf.tuning import knob_places, log
from beowulf.tuning.change import put_all_back
from beowulf.tuning.knob import HOST
from beowulf.tuning.knobs import ALL
from beowulf.tuning.log import Log


def settle(cluster: Cluster) -> list[str]:
    """Do both; a sentence for each thing that was done or could not be, none where nothing was lost."""
    its_log = log.of_cluster(cluster)
    if not its_log.file.exists() or not its_log.open():
        return []
    try:
        with its_log.held():
            return [*_put_back(cluster, its_log), *_reapply_kept(cluster, its_log)]
    except LockedError:
        return [
            "Another `beowulf tune` is turning knobs. What you kept before it may be lost on nodes that were down:"
            " `beowulf up` once more, when it is done."
        ]


def waiting(cluster: Cluster) -> dict[str, list[str]]:
    """The nodes that were down during `beowulf tune revert`, each with the knobs still to be put back there."""
    knobs_by_node: dict[str, list[str]] = {}
    for entry in log.of_cluster(cluster).open():
        for place in entry.open if entry.to_revert else ():
            if entry.knob not in knobs_by_node.setdefault(place, []):
                knobs_by_node[place].append(entry.knob)
    return knobs_by_node


def _put_back(cluster: Cluster, its_log: Log) -> list[str]:
    # The log is held: what is neither kept nor to be reverted is left of a trial that was killed.
    back = [entry for entry in its_log.open() if entry.to_revert or not entry.kept]
    left = put_all_back(cluster, its_log, back)
    sentences = []
    for why, to_revert in (("as `beowulf tune revert` was to", True), ("left by a trial", False)):
        done = [entry for entry in back if entry.to_revert == to_revert and not left[entry.number]]
        if names := dict.fromkeys(entry.knob for entry in done):
            sentences.append(f"Put back, {why}: {', '.join(names)}.")
    if silent := sorted({place for places in left.values() for place in places}):
        sentences.append(f"Still to be put back, when it answers: {', '.join(silent)}.")
    return sentences


def _reapply_kept(cluster: Cluster, its_log: Log) -> list[str]:
    """Put all that was kept in again, in its order, at each place that has lost some of it.

    All of it, because one knob may have undone a part of another, and is to do so again.
    """
    # A node may have been taken out of the inventory since.
    here = {HOST, *cluster.nodes}.difference(cluster.dead_nodes())
    kept: dict[str, dict[str, str]] = {}  # by knob, its value at each place
    for entry in its_log.open():
        if entry.kept and not entry.to_revert:
            values = dict.fromkeys((place for place in entry.open if place in here), entry.value)
            # The newest comes last, as it did then.
            kept[entry.knob] = kept.pop(entry.knob, {}) | values
    lost = [
        (knob, place)
        for knob, values in kept.items()
        if values
        for place, now in knob_places.read(cluster, [ALL[knob]], [*values])[knob].items()
        if not now.absent and now.value != values[place]
    ]
    places = dict.fromkeys(place for _, place in lost)
    for knob, values in kept.items():
        again = {place: value for place, value in values.items() if place in places}
        knob_places.set_to(cluster, ALL[knob], again)
    if not lost:
        return []
    what = ", ".join(dict.fromkeys(f"{knob} {kept[knob][place]}" for knob, place in lost))
    return [f"Put in again on {', '.join(places)}, as you kept it: {what}."]
