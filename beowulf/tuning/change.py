"""One change of one knob: written down, put in, taken out, and kept or put back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from beowulf.cluster import Cluster
from beowulf.cluster.common import at_once
from beowulf.cluster.holding.event_file import LockedError
from beowulf.errors import LabError
from beowulf.tuning import change_preview, knob_places, log
from beowulf.tuning.knob import HOST, Knob, Reading
from beowulf.tuning.log import Entry, Log


class Change:
    """`change(True)` puts it in, `change(False)` takes it out, as often as one likes; the log has it before.

    With `nodes`, only these nodes are changed until it is kept: those that measure it.
    """

    def __init__(
        self, cluster: Cluster | None, knob: Knob, value: str, nodes: Sequence[str] = ()
    ) -> None:
        self.cluster, self.knob, self.value = cluster, knob, knob.accepted(value)
        if knob_places.belongs_here(cluster, knob) and os.geteuid() != 0:
            raise LabError(
                f"Only root may turn {knob.name}, which belongs to this machine; nothing was changed.",
                "Put `sudo` before the command.",
            )
        living = knob_places.alive(cluster, knob)
        if dead := [place for place in knob_places.places(cluster, knob) if place not in living]:
            raise LabError(
                f"{', '.join(dead)} {'is' if len(dead) == 1 else 'are'} down, but a knob has to be set on all nodes.",
                f"`beowulf up` starts {'it' if len(dead) == 1 else 'them'} again.",
                dead[0],
            )
        some = nodes if not knob.together else ()
        others = set(cluster.nodes) - set(some) if cluster and some else set()
        self.before = knob_places.read(cluster, [knob])[knob.name]
        if absent := next((each.absent for each in self.before.values() if each.absent), ""):
            raise LabError(f"{knob.title}: {absent}")
        self._log = log_for(cluster, knob)
        self._entry: Entry | None = None
        self._now = [place for place in self.before if place not in others]
        self.kept = False

    @property
    def changes_nothing(self) -> bool:
        """Whether every place has this value already."""
        return all(each.value == self.value for each in self.before.values())

    def __call__(self, on: bool) -> None:
        """Put it in or take it out, everywhere; LabError where it did not take."""
        entry = self._written()
        if not on:
            _back(self.cluster, self.knob, entry, self._now)
            return
        knob_places.set_to(self.cluster, self.knob, dict.fromkeys(self._now, self.value))

    def keep(self) -> None:
        """Put it in everywhere, to stay; `beowulf tune revert` will still find what was there before."""
        entry = self._written()
        knob_places.set_to(self.cluster, self.knob, dict.fromkeys(self.before, self.value))
        self._log.mark(log.KEPT, entry)
        self.kept = True

    def _written(self) -> Entry:
        if self._entry is None:
            self._entry = self._log.change(self.knob.name, self.value, self.before)
        return self._entry

    def end(self) -> None:
        """Put back what was there, unless it was kept."""
        if self._entry is not None and not self.kept:
            put_back(self.cluster, self._log, self._entry)


class Changes:
    """Several changes that are put in and taken out together, and end together."""

    def __init__(self, each: Sequence[Change]) -> None:
        self.each = list(each)

    def __call__(self, on: bool) -> None:
        """Put them in, one after the other, or take them out the other way round."""
        for change in self.each if on else reversed(self.each):
            change(on)

    def keep(self) -> None:
        """Leave them as they are now."""
        for change in self.each:
            change.keep()


@contextmanager
def changing(
    cluster: Cluster | None,
    turns: Sequence[tuple[Knob, str] | tuple[Knob, str, Sequence[str]]],
    *,
    nodes: Sequence[str] = (),
    agree: Callable[[str], None] = change_preview.show,
) -> Iterator[Changes]:
    """Within this context these knobs can be turned; afterwards all is as it was before, unless it was kept.

    With `nodes`, or with its own in a turn, only these are changed until then. On separate machines, `agree` first gets
    what will be changed, each change once. LabError where a knob is absent, or another process is turning knobs.
    """
    logs = {each.file: each for each in (log_for(cluster, knob) for knob, *_ in turns)}
    doing = f"knobs ({', '.join(dict.fromkeys(knob.name for knob, *_ in turns))})"
    with ExitStack() as ends:
        if cluster is not None:
            ends.enter_context(cluster.holding(doing))
        for each in logs.values():
            ends.enter_context(each.held())
            put_all_back(cluster, each, _left(each))
        changes = Changes(
            [Change(cluster, knob, value, *own or (nodes,)) for knob, value, *own in turns]
        )
        listed = [
            change_preview.coming(cluster, each.knob, each.value, each.before)
            for each in changes.each
        ]
        change_preview.first(cluster, listed, agree)
        for change in changes.each:  # the last one ends first
            ends.callback(change.end)
        yield changes


@contextmanager
def changed(
    cluster: Cluster,
    turns: Sequence[tuple[Knob, str] | tuple[Knob, str, Sequence[str]]],
    **how: Any,
) -> Iterator[Changes]:
    """Within this context these knobs are turned; `how` as of changing()."""
    with changing(cluster, turns, **how) as changes:
        changes(True)
        yield changes


def log_for(cluster: Cluster | None, knob: Knob) -> Log:
    """The log that a change of this knob belongs into."""
    if knob_places.belongs_here(cluster, knob):
        return log.of_host()
    if cluster is None:
        raise LabError("No cluster is running.", "`beowulf up` boots one.")
    if not knob_places.places(cluster, knob):
        raise LabError(
            f"On a cluster of the kind {cluster.kind}, {knob.name} is not ours to change.",
            "`beowulf up` boots a cluster on this machine; its nodes can be changed.",
        )
    return log.of_cluster(cluster)


def put_back(cluster: Cluster | None, its_log: Log, entry: Entry) -> list[str]:
    """Put back what was there before a change, wherever that is still open; the places that are down and have to wait.

    What was changed on this machine before its last boot has gone with it, and is only marked. LabError for a place
    that answers and could not be put back; the others are, and it is remembered.
    """
    waiting = _away(cluster, entry.open)
    ready = [place for place in entry.open if place not in waiting]
    rebooted = ready == [HOST] and entry.boot != log.boot()
    failed = {} if rebooted else _restored(cluster, entry, ready)
    if done := [place for place in ready if place not in failed]:
        its_log.mark(log.BACK, entry, done)
    if (waiting or failed) and not entry.to_revert:
        its_log.mark(log.TO_REVERT, entry)
    # That a machine has just been switched off is noticed when it is spoken to.
    waiting += _away(cluster, failed)
    for place, trouble in failed.items():
        if place not in waiting:
            raise trouble
    return waiting


def _away(cluster: Cluster | None, places: Iterable[str]) -> list[str]:
    """The nodes among these places that cannot be reached, or are not of this cluster any more."""
    nodes = list(filter(knob_places.node, places))
    if cluster is None or not nodes:
        return []
    dead = cluster.dead_nodes()
    return [node for node in nodes if node in dead or node not in cluster.nodes]


def _restored(cluster: Cluster | None, entry: Entry, places: Sequence[str]) -> dict[str, LabError]:
    """Put these places back; for each where that failed, why."""
    knob = entry.turned

    def restore(place: str) -> None:
        now = knob_places.read(cluster, [knob], [place])[knob.name][place]
        # What is as it was is not touched: a change that failed need not be one that can be made.
        if not _is_back(now, entry, place):
            _back(cluster, knob, entry, [place])

    return at_once.everywhere(places, restore)[1]


def _is_back(now: Reading, entry: Entry, place: str) -> bool:
    return now.state.strip() == entry.before[place].state.strip()


def clear(cluster: Cluster) -> None:
    """Put back what a measurement left that was killed, and what a node that was down still has.

    Within a measurement that turns knobs, nothing is left: what is open is its own.
    """
    if cluster.folder is None:
        return
    logs = [each for each in (log.of_cluster(cluster), log.of_host()) if _left(each)]
    if not logs:
        return
    with cluster.holding("`beowulf tune`", measures=False), suppress(LockedError):
        for each in logs:
            with each.held():
                put_all_back(cluster, each, _left(each))


def _left(its_log: Log) -> list[Entry]:
    return [entry for entry in its_log.open() if not entry.kept or entry.to_revert]


def put_all_back(
    cluster: Cluster | None, its_log: Log, entries: Sequence[Entry]
) -> dict[int, list[str]]:
    """Put these changes back, the newest first: their numbers, each with the places that are down and have to wait."""
    waiting: dict[int, list[str]] = {}
    trouble: LabError | None = None
    for entry in sorted(entries, key=lambda entry: entry.number, reverse=True):
        try:
            waiting[entry.number] = put_back(cluster, its_log, entry)
        except LabError as error:  # the others are to be put back all the same
            trouble = trouble or error
    if trouble:
        raise trouble
    return waiting


def _back(cluster: Cluster | None, knob: Knob, entry: Entry, where: Sequence[str]) -> None:
    lines = {place: knob.back(entry.before[place].state, place) for place in where}
    for place, now in knob_places.turn(cluster, knob, lines).items():
        if not _is_back(now, entry, place):
            raise LabError(
                f"On {place}, {knob.name} is {now.value}, not {entry.before[place].value} as before.",
                "Put it back by hand, or boot a new cluster: `beowulf down`, `beowulf up`.",
                knob_places.node(place),
            )
