"""Lab 07's puzzle: one node, chosen at random, is changed, and the checklist finds it.

It is a Record of E7 with the variant `unlike`: paper E asks whether all nodes have the same driver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from beowulf.cluster import Cluster
from beowulf.course import personal_code
from beowulf.errors import LabError
from beowulf.exercises.exercise import Exercise
from beowulf.measure.watched import Watched
from beowulf.record import Point, Record
from beowulf.tuning import checklist, paper_e_baseline
from beowulf.tuning.change import changing
from beowulf.tuning.knobs import ALL

if TYPE_CHECKING:
    import pandas as pd

STUDY, VARIANT = "E7", "unlike"
EXERCISE = Exercise(STUDY, VARIANT)
ASKED = "asked"


def measure(cluster: Cluster) -> Record:
    """Ask all nodes while one, chosen at random, differs from the others, and keep the Record.

    A learner with a personal code always gets the same node. LabError where no node can be made to differ.
    """
    with Watched(cluster, STUDY) as watched:
        chance = personal_code.chance(f"{STUDY} {VARIANT}")
        here = paper_e_baseline.parts(cluster)
        if not here:
            raise LabError(
                "No node of this cluster can be made to differ from the others.",
                "`beowulf tune` lists the knobs that cannot be turned, and why.",
            )
        name, node = chance.choice(sorted(here)), chance.choice(cluster.nodes)
        sweep = {"nodes": list(cluster.nodes), "unlike": "one node, drawn by chance"}
        # All that may be drawn is listed, so that the preview on separate machines reveals nothing.
        turns = [(ALL[each], value) for each, value in sorted(here.items())]
        with (
            EXERCISE.record(cluster, sweep=sweep, watched=watched) as made,
            changing(cluster, turns, nodes=[node]) as changes,
        ):
            next(each for each in changes.each if each.knob.name == name)(True)
            for each in checklist.ask(cluster):
                facts = {"asks": each.question.asks, "wanted": each.question.wanted}
                at = {"question": each.question.name, "when": ASKED}
                made.points.append(Point(at, facts={**facts, "answers": each.by_node}))
    return made


def table(record: Record) -> pd.DataFrame:
    """A line a question: its name, the answer that paper E wants, and each node's answer up to a comma."""
    import pandas as pd

    return pd.DataFrame(
        {"question": point.at["question"], "wanted": point.facts["wanted"] or "all equal"}
        | {node: said.partition(",")[0] for node, said in point.facts["answers"].items()}
        for point in record.points
        if point.at.get("when") == ASKED
    )


def odd(record: Record) -> tuple[str, str]:
    """The one node whose answer differs from all others, and the question; LabError if there is not exactly one."""
    found = []
    for point in record.points:
        if point.at.get("question") not in paper_e_baseline.TESTBED:
            continue  # no node was made to differ in that
        answers = {str(node): str(said) for node, said in point.facts["answers"].items()}
        for node, said in answers.items():
            others = {other for name, other in answers.items() if name != node}
            if len(others) == 1 and said not in others:
                found.append((node, str(point.at["question"])))
    if len(found) != 1:
        raise LabError(
            "The Record does not show exactly one answer that differs.", "Run this cell again."
        )
    return found[0]
