"""Nodes that run again: what was to be reverted while they were down is put back, and what was kept is put in again.

A restarted node has lost all changes, and `beowulf up` itself sets the offloads of every node. What you
kept is kept until you revert it; so it is put in again, wherever it is lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from beowulf.cluster import Cluster
from beowulf.cluster.holding.event_file import LockedError
from beowulf.tuning import knob_places, log
from beowulf.tuning.change import put_all_back
from beowulf.tuning.knob import HOST
from beowulf.tuning.knobs import ALL
from beowulf.tuning.log import Entry, Log

# By place, the value of each knob there, in the order in which they were kept.
Values = dict[str, dict[str, str]]


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
    entries = [entry for entry in its_log.open() if entry.kept and not entry.to_revert]
    values = _values(cluster, entries)
    again = _put_in_again(cluster, values)
    if not again:
        return []
    where = ", ".join(dict.fromkeys(place for _, place in again))
    what = ", ".join(dict.fromkeys(f"{knob} {values[place][knob]}" for knob, place in again))
    return [f"Put in again on {where}, as you kept it: {what}."]


def _values(cluster: Cluster, entries: Sequence[Entry]) -> Values:
    """What was kept last of each knob, at each place that runs."""
    dead = cluster.dead_nodes()
    by_place: Values = {}
    for entry in entries:
        for place in entry.open:
            # A node may have been taken out of the inventory since.
            if place not in dead and place in (HOST, *cluster.nodes):
                mine = by_place.setdefault(place, {})
                mine.pop(entry.knob, None)  # the newest comes last, as it did then
                mine[entry.knob] = entry.value
    return by_place


def _put_in_again(cluster: Cluster, wanted: Values) -> list[tuple[str, str]]:
    """Put everything in, in its order, at each place that has lost some of it; which knobs were lost where.

    All of it, because one knob may have undone a part of another, and is to do so again.
    """
    by_knob: dict[str, dict[str, str]] = {}
    for place, values in wanted.items():
        for knob, value in values.items():
            by_knob.setdefault(knob, {})[place] = value
    lost = [
        (knob, place)
        for knob, values in by_knob.items()
        for place, now in knob_places.read(cluster, [ALL[knob]], [*values])[knob].items()
        if not now.absent and now.value != values[place]
    ]
    places = {place for _, place in lost}
    for knob, values in by_knob.items():
        here = {place: value for place, value in values.items() if place in places}
        knob_places.set_to(cluster, ALL[knob], here)
    return lost
