"""Lab 01's fabricated hand-ins by the names that tests know them by; they are made in autograder/gold."""

from __future__ import annotations

from tests.gold.hand_in import EXPLANATION, answered, hand_in
from tests.gold.lab_01 import (
    ADDRESS,
    PUZZLES,
    RIGHT,
    WIRE_BYTES,
    WIRE_SECONDS,
    idle,
    records,
    validation,
)
from tests.gold.measured import LABEL, NODES

__all__ = [
    "ADDRESS",
    "EXPLANATION",
    "LABEL",
    "NODES",
    "PUZZLES",
    "RIGHT",
    "WIRE_BYTES",
    "WIRE_SECONDS",
    "answered",
    "hand_in",
    "idle",
    "records",
    "validation",
]
