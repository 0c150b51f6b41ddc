"""Whether the kernel sends a node's packets by its two networks in turn."""

from __future__ import annotations

from beowulf.tuning.knob import SECOND, Knob, facts

TABLE = "ip beowulf_striping"
MARK = 1995  # of a packet that leaves by the second network; also the number of the rule and of its routes
CARDS = f"second={SECOND}\nfilter=/proc/sys/net/ipv4/conf/$second/rp_filter\n"
OFF = f"""nft list tables | grep -qx 'table {TABLE}' && nft delete table {TABLE}
while ip rule delete priority {MARK} 2>/dev/null; do :; done
ip route flush table {MARK} 2>/dev/null || true
"""
# A packet with the mark goes by a table of routes of its own, in which the first network is behind the second card.
# Its sender is an address of the first network, which a strict filter (rp_filter 1) would not let in there.
ON = f"""{OFF}network=$(ip -4 route show dev eth0 proto kernel scope link | sed 's/ .*//; q')
own=$(ip -4 -o address show dev eth0 scope global | sed 's/.* inet \\([^/]*\\).*/\\1/; q')
echo 2 >"$filter"
ip route add "$network" dev "$second" src "$own" table {MARK}
ip rule add fwmark {MARK} lookup {MARK} priority {MARK}
nft -f - <<'END'
table {TABLE} {{
    chain in_turn {{
        type route hook output priority mangle
        oifname "eth0" numgen inc mod 2 == 1 meta mark set {MARK}
    }}
}}
END"""


class Striping(Knob):
    """Packets for the first network leave by it and by the second one in turn, whatever connection they are of."""

    name = "striping"
    title = "packets by two networks in turn (nftables)"
    what = (
        "Every other packet for the first network leaves by the second card. The two networks need a switch each, and"
        " the other node takes the packet for its own there."
    )
    why = "One connection has two cables, as with the kernel of the first Beowulf; its packets may overtake each other."
    here = "The same as on a PC, where the nodes have two networks (`beowulf up --networks 2`)."
    elsewhere = "On PCs and VMs: `nft list ruleset`, `ip rule`."
    values = ("off", "on")
    tuned = "off"
    shows = "on"

    def look(self, place: str) -> str:
        return f"""{CARDS}ip link show "$second" >/dev/null 2>&1 || {{ echo 'the node has no second network'; exit 1; }}
tables=$(nft list tables 2>&1) || {{ echo 'this kernel has no nftables'; exit 1; }}
echo "striping=$(grep -qx 'table {TABLE}' <<<"$tables" && echo on || echo off)"
echo "filter=$(<"$filter")\""""

    def value(self, state: str) -> str:
        return facts(state)["striping"]

    def set(self, value: str, place: str) -> str:
        return f"{CARDS}{ON if value == 'on' else OFF}"

    def back(self, state: str, place: str) -> str:
        return f'{self.set(self.value(state), place)}\necho {facts(state)["filter"]} >"$filter"'
