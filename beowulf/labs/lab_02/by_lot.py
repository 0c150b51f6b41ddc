"""The rows that lab 02 asks for: derived from a learner's personal code, or the usual ones without a code."""

from __future__ import annotations

from beowulf.course import personal_code

KERNEL_ROWS = (
    *("stat", "open/close", "select", "signal handle/catch"),
    *("fork proc", "exec proc", "shell proc"),
)
ROUND_TRIPS = ("pipe", "AF UNIX", "UDP", "RPC/UDP", "TCP", "RPC/TCP")
# In the other two of paper A's tables Grendel is not faster in any row.
TABLES = (1, 2)


def kernel_row(own: str | None = None) -> str:
    """The row of table 1 to compare with a null call, by this code (the learner's, if none is given)."""
    return personal_code.choice("02 kernel-rows", "fork proc", KERNEL_ROWS, own)


def round_trip(own: str | None = None) -> str:
    """The row of table 2 whose half is asked for."""
    return personal_code.choice("02 round-trips", "TCP", ROUND_TRIPS, own)


def table(own: str | None = None) -> int:
    """The table of paper A in which the rows are counted."""
    return personal_code.choice("02 paper-tables", 1, TABLES, own)
