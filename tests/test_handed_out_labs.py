"""Does an ordinary user run every lab to its end as it is handed out, on a cluster of namespaces of their own?

Nothing measured is compared, so other tests may run beside it.
"""

from __future__ import annotations

import pytest
from other_user import ada
from test_every_lab import BOOTED
from whole_lab import unanswered

from beowulf import paths

# What a cell of ours says where an answer or a function is missing, and what follows from that in the next ones.
EXPECTED = {"AssertionError", "LabError", "NameError", "NotAnAnswerError", "UsageError"}


@pytest.mark.cluster
@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("slug", paths.labs())
def test_a_lab_without_answers_runs_to_its_end_and_earns_its_records_alone(
    slug: str, namespaces_work: None
) -> None:
    with ada() as learner:
        learner("up", *BOOTED.get(slug, []))
        outcome, ran = unanswered(learner, slug, learner.here / "work")
    assert not outcome.problem
    raised = {
        output.ename: output.evalue
        for cell in ran.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "error"
    }
    assert set(raised) <= EXPECTED, raised
    earned = {name: points for name, points in outcome.points.items() if points}
    assert all(name.endswith("-record") for name in earned), earned
