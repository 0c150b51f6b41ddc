"""What lab 03 asks each learner of their own, drawn from the word that a course gave them."""

from __future__ import annotations

from beowulf.course import personal_code
from beowulf.exercises.heat.measurements import RUN_ROWS

PLATES, USUAL_PLATE = RUN_ROWS, max(RUN_ROWS)
# Each of these benchmarks sends mostly by the one call.
CALLS = {
    "LU": "MPI_Send",
    "MG": "MPI_Send",
    "CG": "MPI_Sendrecv",
    "SP": "MPI_Sendrecv",
    "BT": "MPI_Sendrecv",
}
USUAL_SENDER = "LU"


def plate_rows(own: str | None = None) -> int:
    """Of which plate, by its rows, the serial share is asked."""
    return personal_code.choice("03 karp-flatt", USUAL_PLATE, PLATES, own)


def sender(own: str | None = None) -> str:
    """Of which benchmark the length of a message is asked."""
    return personal_code.choice("03 message-length", USUAL_SENDER, [*CALLS], own)
