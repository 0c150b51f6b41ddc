"""Points for a learner's own loop over packets: each count that is right, by the best of their Records."""

from __future__ import annotations

from autograder.rubrics.record_facts import best_of_own
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission, is_number
from beowulf.labs.lab_06 import own_loop
from beowulf.record import Record

NAMES = (*own_loop.COUNTS, own_loop.GHOST_ROWS)


def loop(submission: Submission) -> Score:
    """The same points for each count of the learner's that is the one of our reader."""
    expected = f"a function that counts {', '.join(NAMES)} in a capture of yours"
    return best_of_own(own_loop.STUDY, own_loop.VARIANT, expected, _counted, submission)


def _counted(record: Record, expected: str) -> Score:
    by_name = {point.at.get("count"): point.facts for point in record.points}
    results, points = [], 0
    for name in NAMES:
        facts = by_name.get(name, {})
        yours, ours = facts.get("yours"), facts.get("ours")
        # Where there is nothing to be found, to find nothing proves nothing.
        right = is_number(yours) and 0 < yours == ours and facts.get("right") is True
        points += right
        why = "right" if right else facts.get("why") or f"ours is {ours}"
        results.append(f"{name}: {yours if is_number(yours) else 'no number'}, {why}")
    return Score(points, len(NAMES), f"{record.file_name}: {'; '.join(results)}", expected)
