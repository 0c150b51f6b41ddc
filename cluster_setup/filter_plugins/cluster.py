"""What the playbook computes: plain functions from what the machines report to what their files shall say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

BEGIN = "# Nodes of the cluster, written by `beowulf setup`"
END = "# End of the nodes of the cluster"
SET_ASIDE = "#beowulf# "
LEAST_FREE_MB = 300
SYSTEMS = ("debian", "ubuntu")


def beowulf_hosts(text: str, node: str, addresses: Mapping[str, str]) -> str:
    """/etc/hosts with the node itself first, then the others, then what stood there, without lines that name one."""
    kept = []
    for line in beowulf_hosts_before(text, node).splitlines():
        words = line.partition("#")[0].split()
        kept.append(f"{SET_ASIDE}{line}" if set(words[1:]) & set(addresses) else line)
    others = [f"{address} {name}" for name, address in addresses.items() if name != node]
    return "\n".join([f"{addresses[node]} {node}", BEGIN, *others, END, *kept]) + "\n"


def beowulf_hosts_before(text: str, node: str) -> str:
    """/etc/hosts without what beowulf_hosts has put there."""
    lines = text.splitlines()
    if BEGIN in lines and END in lines:
        begin, end = lines.index(BEGIN), lines.index(END)
        if begin and lines[begin - 1].split()[1:] == [node]:
            begin -= 1
        lines = lines[:begin] + lines[end + 1 :]
    return "".join(f"{line.removeprefix(SET_ASIDE)}\n" for line in lines)


def beowulf_misfit(here: Mapping[str, Any], node: str, address: str, arch: str) -> str:
    """Why this machine cannot be a node; empty when it can."""
    if here["os"] not in SYSTEMS and not set(here["like"].split()) & set(SYSTEMS):
        return f"it runs {here['os']}, and only Debian and Ubuntu can be set up from here."
    if not here["root"]:
        return f"{here['user']} could not become root on it."
    if here["arch"] != arch:
        return (
            f"its processor is a {here['arch']} and that of this machine a {arch}, so programs of one do not run on"
            " the other; set it up from a machine of its own kind."
        )
    if not here["interface"]:
        return (
            f"none of its network cards has the address {address}: fix ansible_host or beowulf_address in the"
            " inventory."
        )
    if here["free_mb"] < LEAST_FREE_MB and not here["digest"]:
        return f"its disk is full: {here['free_mb']} MB are free, and {LEAST_FREE_MB} are needed."
    return ""


def beowulf_cluster(machines: Iterable[Mapping[str, Any]], names: list[str], new: str) -> str:
    """The mark of the cluster: that of its first node that has one, else the new one."""
    marks = {
        each["inventory_hostname"]: each["here"]["card"].get("cluster", "") for each in machines
    }
    return next((marks[name] for name in names if marks.get(name)), new)


def beowulf_shared_cores(machines: Iterable[Mapping[str, Any]], node: str) -> int:
    """How many cores a node shares with other nodes, which one kernel runs; 0 for a machine of its own."""
    here = {each["inventory_hostname"]: each["here"] for each in machines}
    together = [each for each in here.values() if each["boot"] == here[node]["boot"]]
    return max(each["cores"] for each in together) if len(together) > 1 else 0


def beowulf_keys(
    machines: Iterable[Mapping[str, Any]], names: list[str]
) -> dict[str, dict[str, str]]:
    """The user's and the host's public key of each node: as it says now, or as others remember it."""
    listed = list(machines)
    keys: dict[str, dict[str, str]] = {}
    for each in listed:
        keys |= each["here"]["keys"]
    for each in listed:
        # The last line: a login may have printed something before it.
        made = str(each.get("made", {}).get("stdout", "")).strip().splitlines()
        key = each["here"]["user_key"] or (made[-1] if made else "")
        if key:
            keys[each["inventory_hostname"]] = {"user": key, "host": each["here"]["host_key"]}
    return {name: keys[name] for name in names if name in keys}


def beowulf_known_hosts(
    keys: Mapping[str, Mapping[str, str]], addresses: Mapping[str, str], ports: Mapping[str, int]
) -> str:
    """The host keys of the nodes, as ssh reads them."""
    lines = []
    for name, both in keys.items():
        places = [name, addresses[name]]
        if int(ports[name]) != 22:
            places = [f"[{place}]:{ports[name]}" for place in places]
        kind, key = both["host"].split()[:2]
        lines.append(f"{','.join(places)} {kind} {key}\n")
    return "".join(lines)


def beowulf_json(value: object) -> str:
    """Plain data as the text of a file, always in the same order."""
    return json.dumps(value, indent=1, sort_keys=True) + "\n"


class FilterModule:
    """What Ansible looks for in a file of filters."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """The functions by the names that the playbook has for them."""
        return {
            each.__name__: each
            for each in (
                beowulf_hosts,
                beowulf_hosts_before,
                beowulf_misfit,
                beowulf_cluster,
                beowulf_shared_cores,
                beowulf_keys,
                beowulf_known_hosts,
                beowulf_json,
            )
        }
