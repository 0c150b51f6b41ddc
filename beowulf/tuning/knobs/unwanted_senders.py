"""Rules of a packet filter beside those that a node has already."""

from __future__ import annotations

from beowulf.tuning.knob import Knob
from beowulf.tuning.knobs.firewall import AT_ONCE, load

TABLE = "inet beowulf_unwanted"
NONE = "none"
# No node has such an address: they are kept for benchmarks (RFC 2544).
UNWANTED = "198.18.{}.{}"


class UnwantedSenders(Knob):
    """A table of its own, in which a node looks every packet that comes in up, one rule after another."""

    name = "unwanted-senders"
    title = "list of unwanted senders (nftables)"
    what = "So many addresses, one rule each, from which no packet is let in; none of them exists."
    why = "Each rule is a comparison in the path of each packet, as in a filter into which one was put for each sender."
    here = "The same as on a PC: each node has a packet filter of its own. Other rules stay as they are."
    elsewhere = "On PCs and VMs: `nft list ruleset`."
    values = (NONE, "5000")
    tuned = NONE
    shows = "5000"
    numbers = (1, 20_000, "rules")

    def look(self, place: str) -> str:
        none = f"nft list tables | grep -qx 'table {TABLE}' || {{ echo {NONE}; exit; }}"
        return f"{none}\nnft list table {TABLE} | grep -c ' drop$'"

    def set(self, value: str, place: str) -> str:
        # To add a table that is there already is no fault, so it can be deleted in any case.
        lines = [load(f"add table {TABLE}\ndelete table {TABLE}")]
        if value == NONE:
            return lines[0]
        hook = "{ type filter hook input priority 0; }"
        lines.append(load(f"add table {TABLE}\nadd chain {TABLE} unwanted {hook}"))
        rules = [
            f"add rule {TABLE} unwanted ip saddr {UNWANTED.format(i // 250, i % 250 + 1)} drop"
            for i in range(int(value))
        ]
        lines += [load("\n".join(rules[i : i + AT_ONCE])) for i in range(0, len(rules), AT_ONCE)]
        return "\n".join(lines)
