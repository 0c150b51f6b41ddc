"""Nodes that run again: what was to be reverted while they were down is put back, and what was kept is put in again.

A restarted node has lost all changes, and `beowulf up` itself sets the MTU and the offloads of every node. What you
kept is kept until you revert it; so it is put in again, wherever it is lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from beowulf.cluster import Cluster
from beowulf.cluster.event_file import LockedError
from beowulf.errors import LabError
from beowulf.tuning import knob_places, log
from beowulf.tuning.change import put_all_back
from beowulf.tuning.knob import HOST, SWITCH
from beowulf.tuning.knobs import ALL
from beowulf.tuning.log import Entry, Log

Values = dict[
    str, dict[str, str]
]  # by place, the value of each knob there, in the order in which they were kept


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
    unfit = {
        entry.knob: why
        for entry in entries
        if (why := ALL[entry.knob].misfit(cluster, entry.value))
    }
    values = _values(cluster, [entry for entry in entries if entry.knob not in unfit])
    again = _put_in_again(cluster, values)
    sentences = [f"{name} was kept and is not put in again: {why}" for name, why in unfit.items()]
    if again:
        where = ", ".join(dict.fromkeys(place for _, place in again))
        what = ", ".join(dict.fromkeys(f"{knob} {values[place][knob]}" for knob, place in again))
        sentences.append(f"Put in again on {where}, as you kept it: {what}.")
    return sentences


def _values(cluster: Cluster, entries: Sequence[Entry]) -> Values:
    """What was kept last of each knob, at each place that runs."""
    dead = cluster.dead_nodes()
    by_place: Values = {}
    for entry in entries:
        for place in entry.open:
            # A node may have been taken out of the inventory since.
            if place not in dead and place in (HOST, SWITCH, *cluster.nodes):
                mine = by_place.setdefault(place, {})
                mine.pop(entry.knob, None)  # the newest comes last, as it did then
                mine[entry.knob] = entry.value
    return by_place


def _put_in_again(cluster: Cluster, wanted_values: Values) -> list[tuple[str, str]]:
    """Put everything in, in its order, at each place that has lost some of it; the knobs and places that changed.

    All of it, because one knob may have undone a part of another, and is to do so again.
    """
    before = _now(cluster, wanted_values)
    lost = [
        place
        for place, values in wanted_values.items()
        if any(before[knob, place] not in (value, None) for knob, value in values.items())
    ]
    for knob in dict.fromkeys(knob for place in lost for knob in wanted_values[place]):
        wanted = {
            place: wanted_values[place][knob] for place in lost if knob in wanted_values[place]
        }
        lines = {place: ALL[knob].set(value, place) for place, value in wanted.items()}
        for place, now in knob_places.turn(cluster, ALL[knob], lines).items():
            if now.value != wanted[place]:
                raise LabError(
                    f"On {place}, {knob} is {now.value} after it was set to {wanted[place]} again.",
                    "`beowulf tune revert` puts back what was there.",
                    place,
                )
    after = _now(cluster, {place: wanted_values[place] for place in lost})
    return [at for at, value in after.items() if value != before[at]]


def _now(cluster: Cluster, wanted: Values) -> dict[tuple[str, str], str | None]:
    """How each of these knobs is set at each of these places; None where it is not available any more."""
    values_now: dict[tuple[str, str], str | None] = {}
    for knob in dict.fromkeys(knob for values in wanted.values() for knob in values):
        where = [place for place, values in wanted.items() if knob in values]
        for place, reading in knob_places.read(cluster, [ALL[knob]], where)[knob].items():
            values_now[knob, place] = None if reading.absent else reading.value
    return values_now
