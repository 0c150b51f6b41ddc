"""The log of what was changed: written before each change, with the exact state to come back to.

One line of JSON for each event, only ever appended. A change is open until each of its places has been put back.
A line that was cut off by a crash belongs to a change that was never begun, or to one that is put back once more,
which changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from beowulf.cluster import Cluster, state
from beowulf.cluster.holding.event_file import EventFile
from beowulf.errors import LabError
from beowulf.record import moment
from beowulf.tuning.knob import Knob, Reading
from beowulf.tuning.knobs import ALL
from beowulf.tuning.knobs.learners_own import Written

TRIED, KEPT, TO_REVERT, BACK = "tried", "kept", "asked back", "back"
BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Entry:
    """One change of one knob: what it was set to, what was there `before` at each place, and what became of it."""

    number: int
    at: str
    knob: str
    value: str
    before: dict[str, Reading]
    boot: str = ""
    kept: bool = False
    to_revert: bool = False  # as soon as the place answers
    back: tuple[str, ...] = ()  # where it has been put back
    # Of a learner's own knob, which nobody else knows: the lines that read it, and by place those that put it back.
    look: str = ""
    again: dict[str, str] = field(default_factory=dict)

    @property
    def turned(self) -> Knob:
        """The knob that it is a change of."""
        return Written(self.knob, self.look, self.again) if self.look else ALL[self.knob]

    @property
    def open(self) -> list[str]:
        """The places where it has not been put back."""
        return [place for place in self.before if place not in self.back]

    @property
    def fate(self) -> str:
        """What became of it, in a word or two."""
        if not self.open:
            return BACK
        return TO_REVERT if self.to_revert else (KEPT if self.kept else TRIED)


class Log(EventFile):
    """The log in a file; it is made with the first change."""

    def change(
        self,
        knob: str,
        value: str,
        before: Mapping[str, Reading],
        look: str = "",
        again: Mapping[str, str] | None = None,
    ) -> Entry:
        """Write down a change that is about to be made; of a learner's own knob also how to read it and put it back."""
        number = max((entry.number for entry in self.entries()), default=0) + 1
        was, lines = dict(before), dict(again or {})
        entry = Entry(number, moment(), knob, value, was, boot(), look=look, again=lines)
        self.append({"what": "change", **asdict(entry)})
        return entry

    def mark(self, what: str, entry: Entry, where: Iterable[str] = ()) -> None:
        """Write down that a change was kept, is to be put back, or has been put back at these places."""
        self.append({"what": what, "number": entry.number, "at": moment(), "places": list(where)})

    def entries(self) -> list[Entry]:
        """All changes, the oldest first."""
        entries: dict[int, Entry] = {}
        for line in self.file.read_text().splitlines() if self.file.exists() else ():
            with suppress(ValueError):  # cut off by a crash
                _take(entries, json.loads(line))
        return list(entries.values())

    def open(self) -> list[Entry]:
        """The changes that are not put back everywhere, the oldest first."""
        return [entry for entry in self.entries() if entry.open]


def _take(entries: dict[int, Entry], event: dict[str, Any]) -> None:
    what, number = event.pop("what"), event["number"]
    if what == "change":
        before = {place: Reading(**was) for place, was in event["before"].items()}
        entries[number] = Entry(**{**event, "before": before, "back": ()})
    elif what == KEPT:
        entries[number] = replace(entries[number], kept=True)
    elif what == TO_REVERT:
        entries[number] = replace(entries[number], to_revert=True)
    elif what == BACK:
        back = (*entries[number].back, *event["places"])
        entries[number] = replace(entries[number], back=back)


def boot() -> str:
    """Which boot of this machine this is."""
    return BOOT.read_text().strip()


def of_cluster(cluster: Cluster) -> Log:
    """The log of a cluster, which ends with it."""
    if cluster.folder is None:
        raise LabError(f"A cluster of the kind {cluster.kind} keeps no log of its knobs.")
    return Log(cluster.folder / state.TUNED)


def of_host() -> Log:
    """The log of what was changed on this machine itself; no cluster takes it away with it."""
    return Log(state.tuned_host())
