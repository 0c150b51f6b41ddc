"""A cluster like paper E's: with interrupt moderation and a firewall, so that there is something to take away.

The paper's nodes came with both, and were tuned by taking them away. The nodes of a local cluster come without. So
the state before is made first; it replaces the paper's, and what each part of it costs follows from how much
of it is put in.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.tuning import knob_places, log
from beowulf.tuning.change import Change, changing
from beowulf.tuning.knobs import ALL

MODERATION, FIREWALL = "moderation", "firewall"
IRQBALANCE, LOW_LATENCY = "irqbalance", "tcp-low-latency"
PAPER_E_KNOBS = (MODERATION, FIREWALL, IRQBALANCE, LOW_LATENCY)  # the knobs of paper E

# Linux' own documentation of e1000e: by default at most 20,000 interrupts a second, which is one in 50 us. The paper
# does not say how many rules its firewall had.
TESTBED = {MODERATION: "50", FIREWALL: "100"}
# What the paper did to the two knobs of a machine.
MACHINES = {IRQBALANCE: "off", LOW_LATENCY: "1"}


def absent_knobs(cluster: Cluster) -> dict[str, str]:
    """Why some of paper E's knobs cannot be measured here; LabError when one differs from a new cluster."""
    reasons = {}
    for name in PAPER_E_KNOBS:
        knob = ALL[name]
        if knob_places.belongs_here(cluster, knob):
            reasons[name] = (
                f"{knob.here} `beowulf tune apply {name} {MACHINES[name]} --host` turns it here, and measures."
            )
            continue
        readings = knob_places.read(cluster, [knob])[name]
        turned = MACHINES.get(name, knob.tuned)
        loose = [place for place, each in readings.items() if each.value != turned]
        if absent := next((each.absent for each in readings.values() if each.absent), ""):
            reasons[name] = absent
        elif knob.on_host and not loose:
            reasons[name] = f"{name} is {turned} on every node already, and not touched."
        elif not knob.on_host and loose:
            raise _not_tuned(cluster, name, loose[0], readings[loose[0]].value)
    return reasons


def _not_tuned(cluster: Cluster, name: str, place: str, value: str) -> LabError:
    tuned = ALL[name].tuned
    hint = "`beowulf tune revert` puts back what was there."
    if not any(entry.knob == name for entry in log.of_cluster(cluster).open()):
        hint = f"`beowulf tune apply {name} {tuned} --unmeasured` first; afterwards `beowulf tune revert`."
    return LabError(
        f"On {place}, {name} is {value}, and this measurement must start from {tuned}.",
        hint,
        place,
    )


def machines_parts(absent: Container[str]) -> dict[str, str]:
    """What of the knobs of whole machines can be turned as the paper did: knob and value."""
    return {name: value for name, value in MACHINES.items() if name not in absent}


def parts(cluster: Cluster) -> dict[str, str]:
    """What of the testbed can be made on this cluster: knob and value."""
    absent = absent_knobs(cluster)
    return {name: value for name, value in TESTBED.items() if name not in absent}


def away(*turned: Change) -> Callable[[bool], None]:
    """A change that takes these parts of the testbed's state away (True), and puts them back (False)."""

    def change(on: bool) -> None:
        for part in turned:
            part(not on)

    return change


@contextmanager
def states(cluster: Cluster) -> Iterator[dict[str, Callable[[], None]]]:
    """The `states` that E3, E4 and E5 take: before with the testbed on all nodes, after without; at the end as it was.

    LabError where no part of the testbed can be made.
    """
    here = parts(cluster)
    if not here:
        raise LabError(
            "No knob of paper E can be set on this cluster.",
            "`beowulf tune` says why; boot the cluster as the administrator (root).",
        )
    with changing(cluster, [(ALL[name], value) for name, value in here.items()]) as testbed:
        yield {"before": lambda: testbed(True), "after": lambda: testbed(False)}
