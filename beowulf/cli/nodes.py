"""The nodes of a cluster and their states, as `beowulf status` prints them for every kind."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from beowulf.cluster import Cluster


def print_nodes(
    cluster: Cluster,
    states: Mapping[str, str],
    facts: Mapping[str, Any],
    lines: Iterable[str],
    as_json: bool,
) -> None:
    """Print all nodes with these states, then `lines`; for a script, the nodes with `facts`.

    Exit code 0: all are up; 1: not all.
    """
    rows = [
        {"node": node, "address": cluster.address(node), "state": state}
        for node, state in states.items()
    ]
    if as_json:
        print(json.dumps({**facts, "nodes": rows}, indent=1))
    else:
        for row in rows if not cluster.can.simulated else ():
            print(f"{row['node']}  {row['address']:<15}  {row['state']}")
        print("\n".join(lines))
    raise typer.Exit(0 if all(state == "up" for state in states.values()) else 1)
