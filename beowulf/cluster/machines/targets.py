"""The machines that a cluster of PCs or VMs is to have: read, identified, remembered, forgotten."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from beowulf.cluster import state
from beowulf.cluster.common import at_once
from beowulf.cluster.common.shells import UnfinishedError
from beowulf.cluster.machines import connections, inventory, vagrant
from beowulf.cluster.machines.inventory import Machine
from beowulf.errors import LabError

# What `beowulf setup` makes on a node: programs, and files that describe how to use them (cluster_setup/).
PREFIX = "/opt/beowulf"
CARD = f"{PREFIX}/etc/node"
# What a cluster of machines keeps in its folder, beside the log of its knobs.
OURS = {
    *(state.TARGET, f"{state.TARGET}.new", state.ALLOCATION, f"{state.ALLOCATION}.new"),
    *(connections.CONFIG, connections.SOCKETS, state.TUNED, state.HELD),
}

# Run on every machine at once; each line of the answer is name=value.
PROBE = f"""\
cat {CARD} 2>/dev/null
echo "user=$(id -un)"
echo "shell=${{SHELL##*/}}"
setting() {{ sed -n "s/^$1=//p" {CARD} 2>/dev/null; }}
# The card with an address; where two are bonded into one, the first or the second of them.
card() {{
    [ -n "$2" ] || return 0
    card=$(ip -o -4 address show to "$2/32" 2>/dev/null | awk '{{ print $2; exit }}')
    bonded=$(cut -d ' ' -f "$3" "/sys/class/net/$card/bonding/slaves" 2>/dev/null)
    echo "$1=${{bonded:-$card}}"
}}
ADDRESSES
card interface "${{address:-$(setting address)}}" 1
card second_interface "${{second:-$(setting second)}}" 2
"""


@dataclass(frozen=True)
class Target:
    """The machines of a cluster, where they were read from, and what each of them reported."""

    source: str  # the path of an inventory, or `vagrant`
    machines: tuple[Machine, ...]
    # What each of them answered when it last did: its cards `interface` and `second_interface`, its user's `shell`.
    cards: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    rate: str = ""  # what the cables carry, where the machines were set up with it


def load(folder: Path) -> Target | None:
    """What `up` remembered; None when there is nothing."""
    if (saved := state.kept(folder, state.TARGET)) is None:
        return None
    machines = (
        {**each, "options": tuple(each["options"]), "through": tuple(each["through"])}
        for each in saved["machines"]
    )
    return Target(**{**saved, "machines": tuple(Machine(**each) for each in machines)})


def read(source: str) -> tuple[list[Machine], dict[str, str]]:
    """The machines of an inventory's file, or of `vagrant`, and why any of them is missing."""
    if source == vagrant.TARGET:
        return vagrant.read()
    return inventory.read(Path(source)), {}


def lasting(source: str) -> str:
    """The source by a name that means the same in any folder."""
    return source if source == vagrant.TARGET else str(Path(source).resolve())


def find(target: Target, folder: Path) -> tuple[Target, dict[str, LabError]]:
    """Ask every machine at once who it is; the target with their answers, and the errors by machine."""
    machines = {machine.name: machine for machine in target.machines}

    def ask(name: str) -> dict[str, str]:
        machine = machines[name]
        addresses = f"address={shlex.quote(machine.address)} second={shlex.quote(machine.second)}"
        script = PROBE.replace("ADDRESSES", addresses)
        try:
            done = connections.run(
                folder, machine, f"sh -c {shlex.quote(script)}", b"", connections.LONGEST_ANSWER_S
            )
        except UnfinishedError as error:
            what = f"{name} is too slow: a login took longer than {error.timeout_s:g} s."
            raise LabError(what, "Check what it is busy with.", name) from error
        return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)

    cards, troubles = at_once.everywhere(list(machines), ask)
    for name, card in cards.items():
        address = machines[name].address or card.get("address", "")
        second = machines[name].second or card.get("second", "")
        user = machines[name].user or card["user"]
        machines[name] = replace(machines[name], address=address, second=second, user=user)
    troubles |= _misfits(target.source, cards, {m.name: m.address for m in machines.values()})
    rates = [card["rate"] for card in cards.values() if card.get("rate")]
    answered = Target(
        target.source,
        tuple(machines.values()),
        {**target.cards, **cards},
        rates[0] if rates else "",
    )
    return answered, {name: troubles[name] for name in machines if name in troubles}


def _misfits(
    source: str, cards: Mapping[str, Mapping[str, str]], addresses: Mapping[str, str]
) -> dict[str, LabError]:
    """What is wrong with machines that answer: not set up, another name, another cluster, another address."""
    clusters = {name: card.get("cluster", "") for name, card in cards.items()}
    ours = next((cluster for cluster in clusters.values() if cluster), "")
    first = next((name for name, cluster in clusters.items() if cluster), "")
    setup = f"`beowulf setup {source}` makes it one."
    misfits = {}
    for name, card in cards.items():
        what = ""
        if not clusters[name]:
            what, hint = f"{name} has not been set up as a node.", setup
        elif card.get("name") != name:
            what = f"The machine at the address of {name} was set up as {card.get('name')}."
            hint = "Fix the addresses in the inventory."
        elif clusters[name] != ours:
            what = f"{name} belongs to another cluster than {first}."
            hint = (
                "Two clusters have the same addresses, or one machine was set up again without the other;"
                f" `beowulf setup --take {source}` makes them one."
            )
        elif not card.get("interface"):
            what = f"{name} has no network card with the address {addresses[name] or 'of the inventory'}."
            hint = "`ip address` there shows which addresses it has; fix beowulf_address in the inventory."
        if what:
            misfits[name] = LabError(what, hint, name)
    return misfits
