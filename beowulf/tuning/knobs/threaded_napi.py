"""Who empties the queue of a card: the interrupted core, or a thread."""

from __future__ import annotations

from beowulf.tuning.knob import Knob, facts
from beowulf.tuning.knobs.offloads import FEATURES
from beowulf.tuning.knobs.sysfs import OWN_SYS

FILE = "/sys/class/net/eth0/threaded"


class ThreadedNapi(Knob):
    """Whether packets are taken up the stack by a kernel thread of their own."""

    name = "threaded-napi"
    title = "threaded NAPI"
    what = "With it on, a kernel thread takes packets up the stack, which the scheduler places like any other process."
    why = "The thread has to be woken first, which a short message waits for; a busy server gains order from it."
    here = "The same as on a PC. A cable between namespaces has a NAPI only with GRO on, so GRO goes on with it."
    kinds = ("local", "VM", "PC")
    kernel = "since Linux 5.12"
    elsewhere = "On PCs and VMs: `echo 1 >/sys/class/net/eth0/threaded`."
    values = ("off", "on")
    tuned = "off"
    shows = "on"

    def look(self, place: str) -> str:
        return f"""{OWN_SYS}
[ -e {FILE} ] || {{ echo 'this kernel has no threaded NAPI'; exit 1; }}
ethtool -k eth0 | sed -n '{FEATURES}' | grep gro
echo threaded=$(<{FILE})"""

    def value(self, state: str) -> str:
        return "on" if facts(state)["threaded"] != "0" else "off"

    def set(self, value: str, place: str) -> str:
        if value == "on":
            return f"ethtool -K eth0 gro on\necho 1 >{FILE}"
        # Without NAPI there is nothing to write to, and nothing that is threaded.
        return f'[ "$(<{FILE})" = 0 ] || echo 0 >{FILE}'

    def back(self, state: str, place: str) -> str:
        settings = facts(state)
        last = f"ethtool -K eth0 gro {settings['gro']}"
        return f"{self.set(self.value(state), place)}\n{last}"
