"""Functions that are tried one after the other: what is wrong with one is kept, and the others go on.

run_heat.py ends at the first function that is wrong, with lines that say what it is. It is started again without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from beowulf.errors import LabError

Row = Mapping[str, Any]
# Starts the program with these ways, and gives its lines.
Start = Callable[[Sequence[str]], Sequence[Row]]
# What MPICH says of a wait whose partner has ended.
PARTNER_GONE = "MPI_ERROR field"
# What fails in these fails alike on every rank; "heat.py" stands for what fails while it is read.
OF_ONE_RANK = ("heat.py", "step_loops", "step_numpy", "heat_step", "my_rows")


def tried(ways: Mapping[str, str], start: Start) -> dict[str, str]:
    """Start the ways (each with the name of its function) until all that are left are right; what is wrong by function.

    LabError where something is wrong that every way needs.
    """
    faults: dict[str, str] = {}
    left = dict(ways)
    while left:
        rows = [row for row in start(list(left)) if row.get("kind") == "check"]
        if not rows:
            break
        name, way = str(rows[0].get("function")), str(rows[0].get("way"))
        if way not in left:
            raise LabError(f"{name}: {sentence(rows)}.", "Fix it, save it, and try again.")
        faults[name] = sentence(rows)
        if name != left[way]:
            faults.setdefault(left[way], f"it was not tried, because {name} is wrong")
        del left[way]
    return faults


def sentence(rows: Sequence[Row]) -> str:
    """What the lines of all ranks say together."""
    hanging = sorted((row for row in rows if row.get("hangs")), key=lambda row: int(row["rank"]))
    # A rank that hangs ends all ranks; another one may see its partner go before it ends itself.
    reasons = sorted(
        (row for row in rows if "why" in row and not (hanging and PARTNER_GONE in row["why"])),
        key=lambda row: int(row["rank"]),
    )
    if reasons:
        first = reasons[0]
        who = (
            "" if first["function"] in OF_ONE_RANK else f"{first['node']} (rank {first['rank']}): "
        )
        return f"{who}{first['why']}"
    places = [_place(row) for row in hanging]
    return f"it does not finish: {'; '.join(places)}{_meaning(hanging)}"


def _place(row: Row) -> str:
    who = f"{row['node']} (rank {row['rank']})"
    if not row.get("line"):
        return f"{who} waits for the others"
    return f"{who} is in line {row['line']}: {row['text']}"


def _meaning(rows: Sequence[Row]) -> str:
    """What it means that ranks wait in these lines."""
    lines = [str(row["text"]).lower() for row in rows if row.get("line")]
    if len(rows) < 2 or not lines:
        return ""
    if all("send(" in text and "isend(" not in text for text in lines):
        return ". Every rank that waits is sending, and none has come to its receive: a deadlock"
    if all("recv" in text or "wait" in text for text in lines):
        return (
            ". What they wait for is not sent, or goes elsewhere:"
            " compare neighbours, tags and numbers of messages on both sides"
        )
    return ""
