"""What lab 03 asks each learner, drawn from their personal code."""

from __future__ import annotations

from beowulf.course import personal_code
from beowulf.exercises.heat.measurements import RUN_ROWS

PLATES, USUAL_PLATE = RUN_ROWS, max(RUN_ROWS)
# Each of these benchmarks sends mostly with this one call.
CALLS = {
    "LU": "MPI_Send",
    "MG": "MPI_Send",
    "CG": "MPI_Sendrecv",
    "SP": "MPI_Sendrecv",
    "BT": "MPI_Sendrecv",
}
USUAL_SENDER = "LU"


def plate_rows(own: str | None = None) -> int:
    """The rows of the plate whose serial share is asked for."""
    return personal_code.choice("03 karp-flatt", USUAL_PLATE, PLATES, own)


def sender(own: str | None = None) -> str:
    """The benchmark whose message length is asked for."""
    return personal_code.choice("03 message-length", USUAL_SENDER, [*CALLS], own)
