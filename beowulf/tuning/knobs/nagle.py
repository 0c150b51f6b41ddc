"""Whether a small segment waits for the acknowledgement of the one before it."""

from __future__ import annotations

from beowulf.tuning.knob import Knob


class Nagle(Knob):
    """TCP_NODELAY, which each program sets for each of its connections: to be read about, not turned from outside."""

    name = "nagle"
    title = "Nagle's algorithm (TCP_NODELAY)"
    what = "A segment that is not full waits until everything sent before it is acknowledged."
    why = "Many small writes become few segments; two of them, and then a wait, take a delayed ACK longer."
    here = (
        "No switch of a node or of the kernel: a program switches it off for a connection with"
        " setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one), and MPICH does so for all of its own."
    )
    kinds = ("in programs, on every kind of cluster",)
    elsewhere = (
        "It is in the program, on PCs and VMs as here: `strace -f -e setsockopt` shows who sets it."
    )
    values = ()
    tuned = shows = ""

    def accepted(self, value: str) -> str:
        return value  # the error message says why it cannot be turned

    def look(self, place: str) -> str:
        return "echo 'each program sets it for itself, and no node has a switch for it'; exit 1"

    def set(self, value: str, place: str) -> str:
        return self.look(place)
