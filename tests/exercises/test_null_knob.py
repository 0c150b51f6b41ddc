"""Lab 07's honesty check: is a cycle of nothing measured, kept, printed and drawn as any other?"""

from __future__ import annotations

from pathlib import Path

import pytest

from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.errors import LabError
from beowulf.labs.lab_07 import null_knob
from beowulf.measure.roundtrips import HALF
from beowulf.record import Point, Record, newest
from beowulf.tuning.ab_comparison import AFTER, BEFORE, TURNS, Length

SHORT = Length(blocks=2, most_blocks=2, samples=4)


def made(after: float) -> Record:
    """A cycle whose second state takes so many times as long."""
    points = []
    for state, us in ((BEFORE, 5.0), (AFTER, 5.0 * after)):
        visits = [visit for visit in range(24) if TURNS[visit % 4] == state]
        at = {"knob": "nothing", "state": state}
        points.append(Point(at, HALF, [us] * len(visits), {"visit": visits}))
    return Record("E7", points=points, variant="null")


@pytest.mark.cluster
def test_a_cycle_of_nothing_is_kept(cluster: NamespaceCluster, records: Path) -> None:
    record = null_knob.measure(cluster, length=SHORT)
    assert (record.study, record.variant, record.complete) == ("E7", "null", True)
    assert newest(records, "E7", "null") == record
    assert list(null_knob.table(record)["n"]) == [16, 16]
    drawn = null_knob.picture(record)
    assert null_knob.comparison(record).decision in drawn.title
    assert sorted(drawn.table["visit"]) == list(range(8))


@pytest.mark.parametrize(
    ("after", "decision"), [(1.0, "no effect"), (1.2, "slower"), (0.8, "faster")]
)
def test_what_a_cycle_decides_stands_in_its_picture(after: float, decision: str) -> None:
    found = null_knob.comparison(made(after))
    assert found.decision == decision
    assert null_knob.picture(made(after)).title.startswith(f"{decision}: ")


def test_a_record_without_a_cycle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="no cycle of before and after"):
        null_knob.comparison(Record("E7", points=made(1.0).points[:1]))
    cut = Record("E7", points=made(1.0).points, complete=False, warnings=["It was stopped."])
    with pytest.raises(LabError, match=r"not measured to its end. It was stopped"):
        null_knob.EXERCISE.keep(cut, tmp_path, of="The cycle")
    assert not list(tmp_path.iterdir())
