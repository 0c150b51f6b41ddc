"""Runs lab 02's tests of a learner's functions on the first node."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from beowulf.labs.lab_02 import on_node

if TYPE_CHECKING:
    from beowulf.engines import Engines

LONGEST_SOURCE = 20_000


def tried(
    engines: Engines, task: str, name: str, *arguments: Any, timeout_s: float
) -> dict[str, Any]:
    """The result of a function of on_node.py for the learner's function `name`, on the first node only."""
    text = inspect.getsource(on_node)
    given = engines.apply(_on_first_node, text, task, name, *arguments, timeout_s=timeout_s)
    return dict(given[0])


def about(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """A Record's facts about the learner's function."""
    source = str(found["source"])
    digest = hashlib.sha256(source.encode()).hexdigest()
    return {"name": name, "source": source[:LONGEST_SOURCE], "sha256": digest, "arguments": []}


# Sent to each engine as text, so it imports what it needs.
def _on_first_node(names, text, task, *arguments):  # type: ignore[no-untyped-def]
    from mpi4py import MPI

    if MPI.COMM_WORLD.Get_rank():
        return None
    known: dict = {"__name__": "beowulf_on_node"}  # type: ignore[type-arg]
    exec(text, known)
    return known[task](names, *arguments)
