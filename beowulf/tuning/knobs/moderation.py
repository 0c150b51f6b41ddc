"""Interrupt moderation, and its substitute on a cable between namespaces."""

from __future__ import annotations

from beowulf.tuning.knob import Knob, facts
from beowulf.tuning.knobs.offloads import FEATURES
from beowulf.tuning.knobs.sysfs import OWN_SYS, writable

# A card that can hold back its interrupts says so in a number.
CARD = "ethtool -c eth0 2>/dev/null | grep -q '^rx-usecs:[[:space:]]*[0-9]'"


class Moderation(Knob):
    """For how many microseconds arrived packets wait for company."""

    name = "moderation"
    title = "interrupt moderation"
    what = (
        "For how many microseconds a network card holds back packets that have arrived, so that one interrupt"
        " reports several of them."
    )
    why = "Fewer interrupts leave more of the processor to programs; a single short message waits for nothing."
    here = (
        "A stand-in: the cable of a local node raises no interrupts. NAPI, which empties a card's queue, holds packets"
        " back instead (gro_flush_timeout, with napi_defer_hard_irqs=1). That needs GRO on at the receiver and TSO off"
        " at the sender, which this knob sees to; 0 is the cluster's own state, without both."
    )
    elsewhere = (
        "On PCs and VMs: `ethtool -c eth0`, `ethtool -C eth0 rx-usecs 0`, or the module's option"
        " InterruptThrottleRate=0 (e1000, e1000e). A card of an emulated VM shows it from about 500 µs on."
        " On a cluster of this machine the administrator (root) has the stand-in, an ordinary user has not."
    )
    paper = "Paper E loads e1000e with InterruptThrottleRate=0 and names moderation the principal cause of overhead."
    values = ("0", "50", "100", "200")
    tuned = "0"
    shows = "100"
    numbers = (0, 10_000, "microseconds")

    def look(self, place: str) -> str:
        return f"""if {CARD}; then
    ethtool -c eth0 | sed -n 's/^rx-usecs:[[:space:]]*/rx-usecs=/p; s/^Adaptive RX: \\(o[nf]*\\).*/adaptive-rx=\\1/p'
    exit
fi
{OWN_SYS}
{writable("gro_flush_timeout")}
ethtool -k eth0 | sed -n '{FEATURES}'
echo gro_flush_timeout=$(</sys/class/net/eth0/gro_flush_timeout)
echo napi_defer_hard_irqs=$(</sys/class/net/eth0/napi_defer_hard_irqs)"""

    def value(self, state: str) -> str:
        settings = facts(state)
        if "rx-usecs" in settings:
            return settings["rx-usecs"]
        nanoseconds = int(settings["gro_flush_timeout"])
        held = settings["gro"] == "on" and int(settings["napi_defer_hard_irqs"]) > 0
        return f"{nanoseconds / 1000:g}" if held else "0"

    def set(self, value: str, place: str) -> str:
        stand_in = ("off", "off", "0", "0") if value == "0" else ("on", "off", f"{value}000", "1")
        return f"""if {CARD}; then
# Not every card can adapt by itself, and one that cannot refuses the whole line.
ethtool -C eth0 adaptive-rx off 2>/dev/null || true
ethtool -C eth0 rx-usecs {value}
else
{self._stand_in(*stand_in)}
fi"""

    def back(self, state: str, place: str) -> str:
        settings = facts(state)
        if "rx-usecs" in settings:
            own = f"ethtool -C eth0 rx-usecs {settings['rx-usecs']}"
            adaptive = settings.get("adaptive-rx")
            return f"{own}\nethtool -C eth0 adaptive-rx {adaptive}" if adaptive else own
        offloads = (
            settings[name] for name in ("gro", "tso", "gro_flush_timeout", "napi_defer_hard_irqs")
        )
        return self._stand_in(*offloads)

    def _stand_in(self, gro: str, tso: str, nanoseconds: str, defer: str) -> str:
        return f"""ethtool -K eth0 gro {gro} tso {tso}
echo {nanoseconds} >/sys/class/net/eth0/gro_flush_timeout
echo {defer} >/sys/class/net/eth0/napi_defer_hard_irqs"""
