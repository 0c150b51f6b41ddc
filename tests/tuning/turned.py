"""Knobs of a learner's cluster, read and set without starting a command."""

from __future__ import annotations

from running import Beowulf

from beowulf.tuning import machines
from beowulf.tuning.change import changing
from beowulf.tuning.knobs import find


def rules(learner: Beowulf) -> list[str]:
    """How many rules each node has."""
    readings = machines.read(learner.cluster, [find("firewall")])["firewall"]
    return [readings[node].value for node in sorted(readings)]


def set_(learner: Beowulf, knob: str, value: str) -> None:
    """As `beowulf tune apply KNOB VALUE --unmeasured`, without starting a command."""
    with changing(learner.cluster, [(find(knob), value)]) as change:
        change.keep()
