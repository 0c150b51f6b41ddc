"""Nodes that run again: what was asked back while they were down is put back, and what was kept is put in again.

A node that is started anew is as nobody has touched it, and `beowulf up` itself sets the frames' length and the
offloads of every node. What you kept is kept until you ask it back; so it is put in again, wherever it is lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from beowulf.cluster import Cluster
from beowulf.cluster.event_file import LockedError
from beowulf.errors import LabError
from beowulf.tuning import log, machines
from beowulf.tuning.change import put_all_back
from beowulf.tuning.knob import HOST, SWITCH
from beowulf.tuning.knobs import ALL
from beowulf.tuning.log import Entry, Log

Kept = dict[
    str, dict[str, str]
]  # by place, the value of each knob there, in the order in which they were kept


def settle(cluster: Cluster) -> list[str]:
    """Do both; a sentence for each thing that was done or could not be, none where nothing was lost."""
    its_log = log.of_cluster(cluster)
    if not its_log.file.exists() or not its_log.open():
        return []
    try:
        with its_log.held():
            return [*_asked_back(cluster, its_log), *_kept(cluster, its_log)]
    except LockedError:
        return [
            "Another `beowulf tune` is turning knobs. What you kept before it may be lost on nodes that were down:"
            " `beowulf up` once more, when it is done."
        ]


def waiting(cluster: Cluster) -> dict[str, list[str]]:
    """The nodes on which something is still to be put back, as it was asked while they were down; the knobs of each."""
    found: dict[str, list[str]] = {}
    for entry in log.of_cluster(cluster).open():
        for place in entry.open if entry.asked else ():
            if entry.knob not in found.setdefault(place, []):
                found[place].append(entry.knob)
    return found


def _asked_back(cluster: Cluster, its_log: Log) -> list[str]:
    # Nobody turns knobs now: what is neither kept nor asked back is left of a trial that was killed.
    back = [entry for entry in its_log.open() if entry.asked or not entry.kept]
    left = put_all_back(cluster, its_log, back)
    said = []
    for why, asked in (("as `beowulf tune revert` was to", True), ("left by a trial", False)):
        done = [each for each in back if each.asked == asked and not left[each.number]]
        if names := dict.fromkeys(entry.knob for entry in done):
            said.append(f"Put back, {why}: {', '.join(names)}.")
    if silent := sorted({place for places in left.values() for place in places}):
        said.append(f"Still to be put back, when it answers: {', '.join(silent)}.")
    return said


def _kept(cluster: Cluster, its_log: Log) -> list[str]:
    entries = [entry for entry in its_log.open() if entry.kept and not entry.asked]
    unfit = {
        entry.knob: why
        for entry in entries
        if (why := ALL[entry.knob].misfit(cluster, entry.value))
    }
    kept = _values(cluster, [entry for entry in entries if entry.knob not in unfit])
    again = _put_in_again(cluster, kept)
    said = [f"{name} was kept and is not put in again: {why}" for name, why in unfit.items()]
    if again:
        where = ", ".join(dict.fromkeys(place for _, place in again))
        what = ", ".join(dict.fromkeys(f"{knob} {kept[place][knob]}" for knob, place in again))
        said.append(f"Put in again on {where}, as you kept it: {what}.")
    return said


def _values(cluster: Cluster, entries: Sequence[Entry]) -> Kept:
    """What was kept last of each knob, at each place that runs."""
    dead = cluster.dead_nodes()
    found: Kept = {}
    for entry in entries:
        for place in entry.open:
            # A node may have been taken out of the inventory since.
            if place not in dead and place in (HOST, SWITCH, *cluster.nodes):
                mine = found.setdefault(place, {})
                mine.pop(entry.knob, None)  # the newest comes last, as it did then
                mine[entry.knob] = entry.value
    return found


def _put_in_again(cluster: Cluster, kept: Kept) -> list[tuple[str, str]]:
    """Put everything in, in its order, at each place that has lost some of it; the knobs and places that changed.

    All of it, because one knob may have undone a part of another, and is to do so again.
    """
    before = _now(cluster, kept)
    lost = [
        place
        for place, values in kept.items()
        if any(before[knob, place] not in (value, None) for knob, value in values.items())
    ]
    for knob in dict.fromkeys(knob for place in lost for knob in kept[place]):
        wanted = {place: kept[place][knob] for place in lost if knob in kept[place]}
        lines = {place: ALL[knob].set(value, place) for place, value in wanted.items()}
        for place, now in machines.turn(cluster, ALL[knob], lines).items():
            if now.value != wanted[place]:
                raise LabError(
                    f"On {place}, {knob} is {now.value} after it was set to {wanted[place]} again.",
                    "`beowulf tune revert` puts back what was there.",
                    place,
                )
    after = _now(cluster, {place: kept[place] for place in lost})
    return [at for at, value in after.items() if value != before[at]]


def _now(cluster: Cluster, kept: Kept) -> dict[tuple[str, str], str | None]:
    """How each of these knobs is set at each of these places; None where it is not to be had any more."""
    found: dict[tuple[str, str], str | None] = {}
    for knob in dict.fromkeys(knob for values in kept.values() for knob in values):
        where = [place for place, values in kept.items() if knob in values]
        for place, reading in machines.read(cluster, [ALL[knob]], where)[knob].items():
            found[knob, place] = None if reading.absent else reading.value
    return found
