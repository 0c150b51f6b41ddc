"""The gold class: hand-ins of which is known exactly what each must be given, and why.

Four learners a lab, who know all, most, nothing and only what is wrong; and every kind of broken,
hostile and doubtful hand-in that we know. They are made from code, so that no file can grow old.
"""

from __future__ import annotations

from tests.gold import broken_files, doubtful, hostile, wrong_programs
from tests.gold.case import Case
from tests.gold.labs import LABS

__all__ = ["LABS", "Case", "hand_ins"]


def hand_ins(slug: str = "") -> dict[str, Case]:
    """The hand-ins of a lab by their names; of all labs, each named with its lab, where none is named."""
    cases = [case for gold in LABS for case in gold.cases()]
    cases += [*broken_files.cases(), *hostile.cases(), *doubtful.cases()]
    cases += wrong_programs.cases()
    if slug:
        return {case.name: case for case in cases if case.slug == slug}
    return {f"{case.slug}: {case.name}": case for case in cases}
