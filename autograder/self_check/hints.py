"""Three hints a question, each opened on purpose; a file beside the notebook remembers how many are open."""

from __future__ import annotations

import json

from autograder.files import read_json, write_text
from autograder.self_check.work import Work
from beowulf.errors import LabError

FILE = "hints.json"


def next_hint(work: Work, question: str) -> str:
    """One more hint to a question, below those that are open; LabError where there are none, or they are closed."""
    hints = work.question(question).hints
    if not work.limits.hints:
        day = work.limits.solutions_from
        raise LabError(
            f"{work.limits.whose}hints are closed.", f"They open on {day}." if day else ""
        )
    if not hints:
        some = any(each.hints for each in work.lab.questions.values())
        what = f"The question {question}" if some else "This copy of the labs"
        where = f"Read {work.lab.handout}, {work.question(question).read!r}."
        raise LabError(f"{what} has no hints.", where)
    opened: dict[str, int] = read_json(work.folder / FILE, {})
    count = min(opened.get(question, 0) + 1, len(hints))
    write_text(work.folder / FILE, json.dumps(opened | {question: count}, indent=1) + "\n")
    lines = [f"Hint {n} of {len(hints)}: {hint}" for n, hint in enumerate(hints[:count], 1)]
    if count < len(hints):
        lines.append("The same command opens the next one.")
    return "\n".join(lines)
