"""The packet filter of a node."""

from __future__ import annotations

from beowulf.tuning.knob import Knob

OURS = "table inet beowulf_tuning {"
# Rules that no packet of the cluster meets: addresses that are kept free for documents (RFC 5737).
RULE = "ip saddr 203.0.113.{} drop"
OTHERS = "rules of another program"
# The kernel takes about a thousand rules in one message from an ordinary user, whose socket's buffer may not grow.
AT_ONCE = 250


class Firewall(Knob):
    """With how many rules each packet that arrives is compared."""

    name = "firewall"
    title = "packet firewall (nftables)"
    what = (
        "Rules with which the kernel compares every packet before a program gets it. `none` is no firewall at all;"
        " a number is so many rules, none of which is met; `conntrack` remembers every connection and lets its"
        " packets pass."
    )
    why = "Each rule is a comparison in the path of each packet, whether it carries one byte or a thousand."
    here = (
        "The same as on a PC: each node has a packet filter of its own, in its network namespace."
        " The nodes of a new cluster have no rules."
    )
    elsewhere = (
        "On PCs and VMs: `nft list ruleset`; `systemctl disable --now nftables` ends it there."
    )
    paper = "Paper E stops the iptables service, now and at boot, and names it another important contributor."
    values = ("none", "10", "100", "1000", "conntrack")
    tuned = "none"
    shows = "1000"

    def look(self, place: str) -> str:
        return "nft list ruleset"

    def value(self, state: str) -> str:
        if not state.strip():
            return "none"
        if not state.startswith(OURS) or state.count("table ") > 1:
            return OTHERS
        return "conntrack" if "ct state" in state else str(state.count(" drop\n"))

    def set(self, value: str, place: str) -> str:
        rules = _rules(value)
        if not rules:
            return load("flush ruleset")
        hook = "type filter hook input priority filter; policy accept;"
        lines = [load(f"flush ruleset\n{OURS}\nchain input {{ {hook} }}\n}}")]
        for first in range(0, len(rules), AT_ONCE):
            some = "\n".join(rules[first : first + AT_ONCE])
            lines.append(load(f"{OURS}\nchain input {{\n{some}\n}}\n}}"))
        return "\n".join(lines)

    def back(self, state: str, place: str) -> str:
        value = self.value(state)
        if value != OTHERS:
            return self.set(value, place)
        # In one transaction: at no moment is there half of a person's firewall.
        return load(f"flush ruleset\n{state}")


def _rules(value: str) -> list[str]:
    if value == "none":
        return []
    if value == "conntrack":
        return ["ct state established,related accept", "ct state new accept"]
    return [RULE.format(1 + number % 254) for number in range(int(value))]


def load(rules: str) -> str:
    """A line of shell that hands rules to the kernel, all at once."""
    return f"nft -f - <<'RULES'\n{rules}\nRULES"
