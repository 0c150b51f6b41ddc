"""Whether a connection of multipath TCP gets a second path, over the second network."""

from __future__ import annotations

from beowulf.tuning.knob import SECOND, Knob, facts

OWN = f"""second={SECOND}
own=$(ip -4 -o address show dev "$second" scope global | sed 's/.* inet \\([^/]*\\).*/\\1/; q')
"""
FORGET = """ip mptcp endpoint show | sed -n "s/^$own id \\([0-9]*\\) .*/\\1/p" |
    while read -r number; do ip mptcp endpoint delete id "$number"; done
"""
# By value: how many paths a node adds beside the first, to how many addresses that the other side announces.
LIMITS = {
    "accept": "subflows 1 add_addr_accepted 1",
    "announce": "subflows 1 add_addr_accepted 0",
}


class Multipath(Knob):
    """A node announces its second address to the other side of a connection, or accepts such an address."""

    name = "multipath"
    title = "second path of multipath TCP"
    what = (
        "The receiver announces its address on the second network (`announce`), and the sender opens a second path to"
        " such an address (`accept`). Connections of plain TCP stay as they are."
    )
    why = "One connection has two cables, and the kernel sends on the path that has room."
    here = "The same as on a PC, where the nodes have two networks (`beowulf up --networks 2`)."
    elsewhere = "On PCs and VMs: `ip mptcp endpoint`, `ip mptcp limits`."
    values = ("off", "accept", "announce")
    tuned = "off"
    shows = "announce"
    relaunch = True

    def look(self, place: str) -> str:
        return f"""grep -qx 1 /proc/sys/net/mptcp/enabled 2>/dev/null ||
    {{ echo 'this kernel has no multipath TCP'; exit 1; }}
{OWN}[ "$own" ] || {{ echo 'the node has no second network'; exit 1; }}
limits=$(ip mptcp limits show 2>/dev/null) || {{ echo 'this ip command knows no multipath TCP'; exit 1; }}
echo "limits=$limits"
echo "announced=$(ip mptcp endpoint show | grep -c "^$own " || true)\""""

    def value(self, state: str) -> str:
        if facts(state)["announced"] != "0":
            return "announce"
        return "off" if "add_addr_accepted 0" in facts(state)["limits"] else "accept"

    def set(self, value: str, place: str) -> str:
        lines = f"{OWN}{FORGET}ip mptcp limits set {LIMITS.get(value, LIMITS['announce'])}"
        if value == "announce":
            lines += '\nip mptcp endpoint add "$own" dev "$second" signal'
        return lines

    def back(self, state: str, place: str) -> str:
        limits = f"ip mptcp limits set {facts(state)['limits'].strip()}"
        return f"{self.set(self.value(state), place)}\n{limits}"
