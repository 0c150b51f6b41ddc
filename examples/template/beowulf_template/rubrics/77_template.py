"""Points for the questions of the lab."""

from __future__ import annotations

from autograder.rubrics.questions import Scorer
from autograder.rubrics.record_facts import ByRecord, Facts, numbers_and_words
from beowulf.record import Record
from beowulf_template.x1_sum import times


def facts(record: Record) -> Facts:
    """What the answers should be by a learner's own Record, by their names."""
    by_nodes = times(record)
    return {"times_longer": by_nodes[4].median / by_nodes[2].median}


SCORERS: dict[str, Scorer] = {"growth": ByRecord(facts, "X1", numbers_and_words("times_longer"))}
