"""Segmentation offloads: who cuts a long message into frames, and who puts them together."""

from __future__ import annotations

from beowulf.tuning.knob import Knob, facts

# For sed: `tso=off`, `gso=off`, `gro=off` from what `ethtool -k` prints.
FEATURES = "; ".join(
    f"s/^{long}-offload: \\(on\\|off\\).*/{short}=\\1/p"
    for short, long in (
        ("tso", "tcp-segmentation"),
        ("gso", "generic-segmentation"),
        ("gro", "generic-receive"),
    )
)


class Offloads(Knob):
    """Whether TCP hands the card 64 KB at once."""

    name = "offloads"
    title = "segmentation offloads (TSO, GSO, GRO)"
    what = (
        "With them on, TCP hands up to 64 KB at once to the card, which cuts them into frames (TSO; GSO is the same"
        " in software), and frames that arrive together go up the stack as one (GRO)."
    )
    why = "A long message crosses the stack once and not once a frame. A message that fits into a frame gains nothing."
    here = (
        "The nodes' cables have them off, so that a capture shows real frames. On, 64 KB travel in one piece from the"
        " node to the switch's port, which cuts them there."
    )
    elsewhere = "On PCs and VMs: `ethtool -k eth0`, `ethtool -K eth0 tso on gso on gro on`; most cards have them on."
    values = ("off", "on")
    tuned = "off"
    shows = "on"

    def look(self, place: str) -> str:
        return f"ethtool -k eth0 | sed -n '{FEATURES}'"

    def value(self, state: str) -> str:
        on = [name for name, switched in facts(state).items() if switched == "on"]
        return "on" if len(on) == 3 else ("only " + ", ".join(on) if on else "off")

    def set(self, value: str, place: str) -> str:
        return f"ethtool -K eth0 tso {value} gso {value} gro {value}"

    def back(self, state: str, place: str) -> str:
        return "ethtool -K eth0 " + " ".join(state.replace("=", " ").split())
