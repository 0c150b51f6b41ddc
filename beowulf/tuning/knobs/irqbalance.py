"""The service that moves interrupts from core to core."""

from __future__ import annotations

from beowulf.tuning.knob import Knob, facts


class Irqbalance(Knob):
    """Whether the service irqbalance runs."""

    name = "irqbalance"
    title = "interrupt balancing (irqbalance)"
    what = "A service that hands each interrupt to one core or another, every ten seconds, so that none has them all."
    why = "A core that has not served a card's interrupts lately has none of what it needs in its cache."
    here = (
        "The cables of local nodes raise no interrupts, so the service cannot move theirs. It belongs to this machine;"
        " stopping it can only show how little it matters here. `irq-affinity` is the nearest thing on a node."
    )
    elsewhere = "On PCs and VMs: `systemctl stop irqbalance`, and `systemctl disable irqbalance` for the next boot."
    paper = "Paper E stops the service, now and at boot, and finds that it matters little."
    values = ("on", "off")
    tuned = "off"
    shows = "off"
    on_host = True

    def look(self, place: str) -> str:
        return """if pgrep -x irqbalance >/dev/null; then echo runs=yes
elif command -v irqbalance >/dev/null; then echo runs=no
else echo 'irqbalance is not installed on this machine'; exit 1; fi"""

    def value(self, state: str) -> str:
        return "on" if facts(state)["runs"] == "yes" else "off"

    def set(self, value: str, place: str) -> str:
        return f"systemctl {'start' if value == 'on' else 'stop'} irqbalance"
