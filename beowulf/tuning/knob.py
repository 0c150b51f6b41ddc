"""What a knob is: a setting of a node or of this machine that latency may depend on.

A knob is written in lines of shell, so that `beowulf tune show` can print the very commands. Its exact state is what
`look` prints; `back` makes that state again, whatever `set` did to it in between.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from beowulf.cluster import HOST as HOST
from beowulf.cluster import NODES as NODES
from beowulf.errors import UsageError

# In lines of shell, eth0 is a node's card in the cluster, whatever it is called there, and this its second one.
SECOND = "second-card"


@dataclass(frozen=True)
class Reading:
    """What a knob is set to at a place: its `value` in a person's words, and the exact `state` to come back to.

    Where it cannot be read or turned, `absent` says why, and the others are empty.
    """

    value: str = ""
    state: str = ""
    absent: str = ""

    @property
    def said(self) -> str:
        """The value, or in a few words that there is none."""
        return self.absent.partition(":")[0] or self.value


class Knob(ABC):
    """One setting: what it is, why it matters, how to read it, set it and put it back."""

    name: str  # as typed: `beowulf tune apply firewall 100`
    title: str
    what: str
    why: str
    here: str  # what it does on the local cluster instead of what it does on a PC
    only_local: bool = False  # whether only nodes of this machine have it
    elsewhere: str  # where else it is, and the commands there
    paper: str = ""  # what paper E did with it, and its result
    values: tuple[str, ...]  # to try; the first one is that of a cluster that nobody has touched
    tuned: str  # what short messages are fastest with: paper E's choice where it has one
    shows: str  # a value whose effect can be seen on the local cluster
    on_host: bool = False  # whether it belongs to a machine: a local cluster's, or each PC
    relaunch: bool = False  # whether only new connections, or restarted programs, notice it
    together: bool = False  # whether nodes of which some have it cannot talk to the others
    # Of one whose value is a number: the least, the most and the unit; beside it, the first of `values` is taken too.
    numbers: tuple[int, int, str] | None = None

    @abstractmethod
    def look(self, place: str) -> str:
        """Lines of shell that print the exact state, or fail and say in the last line why there is none."""

    def value(self, state: str) -> str:
        """The value of a state, as a person says it and as `set` takes it."""
        return state.strip()

    @abstractmethod
    def set(self, value: str, place: str) -> str:
        """Lines of shell that set it to a value that `accepted` gave."""

    def back(self, state: str, place: str) -> str:
        """Lines of shell that make a state again that `look` has printed."""
        return self.set(self.value(state), place)

    def accepted(self, value: str) -> str:
        """The value, as `value` will say it; UsageError when it cannot be set."""
        if self.numbers and value != self.values[0]:
            return str(number(self.name, value, *self.numbers))
        if value not in self.values:
            raise UsageError(f"{self.name} is one of {', '.join(self.values)}, not {value!r}.")
        return value

    def reading(self, state: str) -> Reading:
        """What a state that `look` has printed means."""
        return Reading(self.value(state), state)

    def missing(self, why: str) -> Reading:
        """The reading of a place where `look` gave this reason for failing."""
        reason = why.strip().rpartition("\n")[2].rstrip(".") or "it cannot be read"
        return Reading(absent=f"not observable here: {reason}. {self.elsewhere}")


def number(name: str, value: str, least: int, most: int, unit: str) -> int:
    """A whole number within bounds; UsageError with a sentence otherwise."""
    if not value.isascii() or not value.isdigit() or not least <= int(value[:12]) <= most:
        raise UsageError(
            f"{name} is a whole number from {least:,} to {most:,} {unit}, not {value!r}."
        )
    return int(value)


def facts(state: str) -> dict[str, str]:
    """The lines `name=value` of a state."""
    pairs = (line.partition("=") for line in state.splitlines())
    return {name: value for name, _, value in pairs}
