"""Two cards of a node as one."""

from __future__ import annotations

from beowulf.errors import UsageError
from beowulf.tuning.knob import SECOND, Knob, facts

BOND = "beowulf-bond"
CARDS = f"first=eth0 second={SECOND}\n"
ORDER = "/proc/sys/net/ipv4/tcp_reordering"
# Tells systemd-networkd, where it runs, to leave the cards alone: it would give them their addresses again. Once
# the file is gone, it takes the addresses that it had given itself away for a moment, until the cable answers.
LEFT_ALONE = "/run/systemd/network/00-beowulf-bond.network"
# What the cards have, in lines: address first 192.168.0.8/24 brd 192.168.0.255, route second default via ...
THEIRS = r"""theirs() {
    local card
    echo "order both $(<ORDER)"
    for card in first second; do
        ip -4 -o address show dev "${!card}" scope global | sed "s/.* inet \(.*\) scope .*/address $card \1/"
        ip -4 route show dev "${!card}" | sed -n "/proto kernel/! { s/ *linkdown//; s/ *$//; s/^/route $card /p }"
    done
}
""".replace("ORDER", ORDER)
GIVE = (
    """managed() { # in one line
    networkctl --no-legend list "$first" "$second" 2>/dev/null | awk '{ printf "%s ", $NF }'
}
await() {
    for _ in {1..100}; do
        [ "$(managed)" != "$1" ] || break
        sleep 0.1
    done
}
give() {
    local what card rest
    while read -r what card rest; do
        case $what in
        order) echo "$rest" >ORDER ;;
        address | route) ip "$what" replace $rest dev "${1:-${!card}}" ;;
        esac
    done <<<"$kept"
}
part() {
    ip link set "$first" nomaster 2>/dev/null || true
    ip link set "$second" nomaster 2>/dev/null || true
    ip link delete BOND 2>/dev/null || true
    ip link set "$first" up
    ip link set "$second" up
    if [ -e LEFT_ALONE ]; then
        local before=$(sed -n 's/^# before: //p' LEFT_ALONE)
        rm LEFT_ALONE
        networkctl reload 2>/dev/null || true
        await "$before"
    fi
    give
}
""".replace("BOND", BOND)
    .replace("ORDER", ORDER)
    .replace("LEFT_ALONE", LEFT_ALONE)
)
# Anyone who is logged in over one of the cards, and is no node, would be cut off: half of the answers use the other.
# When the module is loaded, it makes a bond of its own unless max_bonds is 0.
JOIN = (
    r"""join() {
    local login client server card
    login=${SSH_CONNECTION:-$(tr '\0' '\n' </proc/$PPID/environ | sed -n 's/^SSH_CONNECTION=//p')}
    read -r client _ server _ <<<"$login" || true
    if [ "$server" ] && theirs | grep -q "^address [a-z]* $server/" && ! grep -q "^$client[[:space:]]" /etc/hosts; then
        echo "the login from $client comes by one of its two cards, and would be cut off" >&2
        exit 1
    fi
    kept=$(theirs)
    trap part EXIT
    if [ -d /run/systemd/netif ] && command -v networkctl >/dev/null; then
        mkdir -p "$(dirname LEFT_ALONE)"
        printf '# before: %s\n[Match]\nName=%s %s\n\n[Link]\nUnmanaged=yes\n' \
            "$(managed)" "$first" "$second" >LEFT_ALONE
        networkctl reload 2>/dev/null || true
        await "unmanaged unmanaged "
    fi
    modprobe bonding max_bonds=0 2>/dev/null || true
    ip link add BOND type bond mode balance-rr miimon 100
    for card in "$first" "$second"; do
        ip link set "$card" down
        ip link set "$card" master BOND
        ip -4 address flush dev "$card" scope global
    done
    ip link set BOND up
    give BOND
    # As the kernel's own text on bonding advises: packets overtake each other on two cables.
    echo 127 >ORDER
    trap - EXIT
}
join""".replace("BOND", BOND)
    .replace("ORDER", ORDER)
    .replace("LEFT_ALONE", LEFT_ALONE)
)


class Bonding(Knob):
    """Whether each node's two cables carry the packets of one network in turns."""

    name = "bonding"
    title = "channel bonding (balance-rr)"
    what = (
        "Two cards become one, with the addresses of both; what is sent leaves by one and by the other in turns."
        " All nodes have to do it at the same time, and each network needs a switch of its own."
    )
    why = "A long message has two cables. A short one fits into one frame, and is no faster."
    here = (
        "The same as on a PC, where the nodes have two networks (`beowulf up --networks 2`) and the kernel of this"
        " machine has the module `bonding`."
    )
    elsewhere = (
        "On PCs and VMs the inventory tells each node's second address (beowulf_second). Who logs in by one of the"
        " two cards has to be a node: else log in by a third card, or work on the master."
    )
    values = ("off", "on")
    tuned = "off"
    shows = "on"
    relaunch = True
    together = True

    def accepted(self, value: str) -> str:
        if value == "off":
            raise UsageError(
                "Only the log knows which addresses the two cards had.",
                "`beowulf tune revert` separates the cards.",
            )
        return super().accepted(value)

    def look(self, place: str) -> str:
        return f"""{CARDS}{THEIRS}if ip link show {BOND} >/dev/null 2>&1; then
    echo bond=on
    exit
fi
ip link show "$second" >/dev/null 2>&1 || {{ echo 'the node has no second network'; exit 1; }}
[ -e /sys/module/bonding ] || modprobe -nq bonding 2>/dev/null ||
    {{ echo 'this kernel has no module bonding'; exit 1; }}
echo bond=off
theirs"""

    def value(self, state: str) -> str:
        return facts(state)["bond"]

    def set(self, value: str, place: str) -> str:
        return f"{CARDS}{THEIRS}{GIVE}{JOIN}"

    def back(self, state: str, place: str) -> str:
        addresses = state.partition("\n")[2]
        return f"{CARDS}{GIVE}kept='{addresses}'\npart"
