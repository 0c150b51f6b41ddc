"""Lab 07's honesty check: is a cycle of nothing measured, kept, printed and drawn as any other?"""

from __future__ import annotations

from pathlib import Path

import pytest

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError
from beowulf.labs.lab_07 import null_knob
from beowulf.record import Record, newest
from beowulf.tuning.ab_comparison import Length
from tests.gold.lab_07 import null

SHORT = Length(blocks=2, most_blocks=2, samples=4)


@pytest.mark.cluster
def test_a_cycle_of_nothing_is_kept(cluster: NamespaceCluster, records: Path) -> None:
    record = null_knob.measure(cluster, length=SHORT)
    assert (record.study, record.variant, record.complete) == ("E7", "null", True)
    assert newest(records, "E7", "null") == record
    drawn = null_knob.picture(record)
    assert null_knob.comparison(record).decision in drawn.title
    assert sorted(drawn.table["visit"]) == list(range(8))


@pytest.mark.parametrize(
    ("after", "decision"), [(1.0, "no effect"), (1.2, "slower"), (0.8, "faster")]
)
def test_what_a_cycle_decides_stands_in_its_picture(after: float, decision: str) -> None:
    assert null_knob.comparison(null(after)).decision == decision
    assert null_knob.picture(null(after)).title.startswith(f"{decision}: ")


def test_a_record_without_a_whole_cycle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="no before-and-after cycle"):
        null_knob.comparison(Record("E7", points=null().points[:1]))
    cut = Record("E7", points=null().points, complete=False, warnings=["It was stopped."])
    with pytest.raises(LabError, match=r"not measured to the end. It was stopped"):
        null_knob.EXERCISE.keep(cut, tmp_path, of="The cycle")
    assert not list(tmp_path.iterdir())
