"""How many packets a card can have in hand."""

from __future__ import annotations

from beowulf.tuning.knob import Knob, facts


class Rings(Knob):
    """The number of descriptors of a card, for what arrives and for what leaves."""

    name = "rings"
    title = "RX and TX ring sizes"
    what = "For how many packets a card has descriptors: what has arrived and was not fetched, what is to leave."
    why = (
        "Too few, and packets are lost in a burst; many, and a packet may wait behind many others."
    )
    here = "A cable between namespaces has no rings."
    elsewhere = "On PCs and VMs: `ethtool -g eth0`, `ethtool -G eth0 rx 256 tx 256`."
    paper = "Paper E leaves it to future work (study E8)."
    values = ("256", "512", "1024", "4096")
    tuned = "256"
    shows = "4096"
    numbers = (16, 65_536, "descriptors")

    def look(self, place: str) -> str:
        return """rings=$(ethtool -g eth0 2>/dev/null) || { echo 'a cable between namespaces has no rings'; exit 1; }
echo "$rings" | sed '1,/^Current/d' | sed -n 's/^\\(RX\\|TX\\):[[:space:]]*/\\1=/p'"""

    def value(self, state: str) -> str:
        return ", ".join(dict.fromkeys(facts(state).values()))

    def set(self, value: str, place: str) -> str:
        return self.back(f"RX={value}\nTX={value}", place)

    def back(self, state: str, place: str) -> str:
        sizes = facts(state)
        # ethtool fails where it finds nothing to change.
        return f"ethtool -G eth0 rx {sizes['RX']} tx {sizes['TX']} 2>/dev/null || true"
