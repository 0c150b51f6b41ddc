"""What the role `home` computes: who may use the master's folder, and why a machine cannot share one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

FOLDER = "/srv/beowulf/home"


def beowulf_unshared(here: Mapping[str, Any], user: str, master: Mapping[str, Any]) -> str:
    """Why this machine cannot have the shared folder; empty when it can."""
    if not here["kernel"]:
        return (
            f"its kernel has no NFS {here['role']}, so no home can be shared"
            f" {'from' if here['role'] == 'server' else 'with'} it: start a kernel that has one, as Debian's own do, or"
            " take beowulf_nfs_home out of the inventory. All else is set up on it."
        )
    number, masters = here["user_number"], master.get("user_number", here["user_number"])
    if number != masters:
        return (
            f"its user {user} has the number {number}, and the master's has {masters}, so files in the shared folder"
            " would be another user's: give both the same number (`usermod --uid`)."
        )
    return ""


def beowulf_exports(addresses: Mapping[str, str], master: str) -> str:
    """The folder, and which nodes may mount it, as exportfs reads it."""
    options = "(rw,sync,no_subtree_check)"
    nodes = [f"{address}{options}" for name, address in addresses.items() if name != master]
    return f"# Written by `beowulf setup`\n{FOLDER} {' '.join(nodes)}\n"


class FilterModule:
    """What Ansible looks for in a file of filters."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """The functions by the names that the playbook has for them."""
        return {each.__name__: each for each in (beowulf_unshared, beowulf_exports)}
