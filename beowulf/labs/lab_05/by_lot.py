"""What lab 05 asks each learner individually, derived from their personal code."""

from __future__ import annotations

from beowulf.course import personal_code

LIMITS_KB, USUAL_LIMIT_KB = (16, 64), 16
TABLES, USUAL_TABLE = (9, 10, 11, 12), 9


def limit_kb(own: str | None = None) -> int:
    """The eager limit of the question `eager-limit`."""
    return personal_code.choice("05 eager-limit", USUAL_LIMIT_KB, LIMITS_KB, own)


def table_number(own: str | None = None) -> int:
    """The table of paper D of the question `table-minima`."""
    return personal_code.choice("05 table-minima", USUAL_TABLE, TABLES, own)
