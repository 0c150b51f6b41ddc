"""Which core handles what arrives."""

from __future__ import annotations

import os

from beowulf.errors import UsageError
from beowulf.tuning.knob import facts
from beowulf.tuning.knobs.files import Files
from beowulf.tuning.knobs.sysfs import OWN_SYS, writable

MASK = "queues/rx-0/rps_cpus"
ANY = "any"


class IrqAffinity(Files):
    """The one core that takes a node's packets up the stack."""

    name = "irq-affinity"
    title = "interrupt affinity"
    what = "The core that a card's interrupts go to, and so the one that takes its packets up the stack."
    why = "A packet that is handled where the waiting program runs is in the right cache, and wakes nobody elsewhere."
    here = (
        "A stand-in: a cable between namespaces raises no interrupts. Receive packet steering (rps_cpus) hands each"
        " packet to a core of your choice instead; `any` leaves it with the core that sent it."
    )
    elsewhere = (
        "On PCs and VMs: `grep eth0 /proc/interrupts`, then `echo 2 >/proc/irq/NUMBER/smp_affinity` (a mask of cores)"
        " with irqbalance stopped. On a cluster of this machine root has the stand-in, an ordinary user has not."
    )
    values = (ANY, "0", "1")
    tuned = ANY
    shows = "0"
    files = (f"/sys/class/net/eth0/{MASK}",)
    lacking = "this kernel steers no packets"

    def accepted(self, value: str) -> str:
        cores = [str(core) for core in sorted(os.sched_getaffinity(0))]
        if value not in (ANY, *cores):
            raise UsageError(
                f"{self.name} is {ANY} or the number of a core of this machine ({', '.join(cores)}), not {value!r}."
            )
        return value

    def look(self, place: str) -> str:
        return f"{OWN_SYS}\n{writable(MASK)}\n{super().look(place)}"

    def value(self, state: str) -> str:
        mask = int(next(iter(facts(state).values())).replace(",", ""), 16)
        cores = [str(core) for core in range(mask.bit_length()) if mask >> core & 1]
        return ", ".join(cores) or ANY

    def set(self, value: str, place: str) -> str:
        return super().set("0" if value == ANY else f"{1 << int(value):x}", place)
