"""What lab 05 asks each learner of their own, drawn from the word that a course gave them."""

from __future__ import annotations

from beowulf.course import personal_code

LIMITS_KB, USUAL_LIMIT_KB = (16, 64), 16
TABLES, USUAL_TABLE = (9, 10, 11, 12), 9


def limit_kb(own: str | None = None) -> int:
    """Of which eager limit the sizes on both sides of the jump are asked."""
    return personal_code.choice("05 eager-limit", USUAL_LIMIT_KB, LIMITS_KB, own)


def table_number(own: str | None = None) -> int:
    """Of which of paper D's tables the minima are asked."""
    return personal_code.choice("05 table-minima", USUAL_TABLE, TABLES, own)
