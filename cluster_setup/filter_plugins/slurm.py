"""What the role `slurm` computes: nodes for Slurm's settings, who needs an account, why there can be no Slurm."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

MARK = "# Written by `beowulf setup`"
NODE = re.compile(r"^NodeName=(\S+) .*$", re.MULTILINE)


def beowulf_slurm_nodes(
    machines: Iterable[Mapping[str, Any]], names: list[str], addresses: Mapping[str, str]
) -> str:
    """A line for each node: as it says now, or, of one that is off, as the others remember it."""
    listed = list(machines)
    lines: dict[str, str] = {}
    for each in listed:
        for match in NODE.finditer(each.get("slurm_here", {}).get("settings", "")):
            lines[match[1]] = match[0]
    for each in listed:
        if here := each.get("slurm_here"):
            name = each["inventory_hostname"]
            lines[name] = f"NodeName={name} NodeAddr={addresses[name]} CPUs={here['cores']}"
    return "".join(f"{lines[name]}\n" for name in names if name in lines)


def beowulf_no_slurm(here: Mapping[str, Any], master: str, reached: list[str]) -> str:
    """Why this machine cannot have the cluster's Slurm; empty when it can."""
    if master not in reached:
        return f"{master}, which holds the queue and the key of Slurm, is not set up, so it is left out of Slurm."
    if here["settings"] and MARK not in here["settings"]:
        return (
            "it belongs to another Slurm: /etc/slurm/slurm.conf was not written by `beowulf setup`. Move that away, or"
            " take beowulf_slurm out of the inventory."
        )
    return ""


def beowulf_accounts(here: Mapping[str, Any], masters: Mapping[str, Any]) -> dict[str, int]:
    """The accounts of a class that the master has and this machine lacks, with their numbers."""
    known = here["accounts"]
    return {name: number for name, number in masters["class"].items() if name not in known}


class FilterModule:
    """What Ansible looks for in a file of filters."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """The functions by the names that the playbook has for them."""
        return {
            each.__name__: each
            for each in (beowulf_slurm_nodes, beowulf_no_slurm, beowulf_accounts)
        }
