"""Lab 03's exercise in C: is a right count passed and a wrong one named, does what is handed out run?"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from running import first

from beowulf import paths
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError
from beowulf.exercises import timelines
from beowulf.labs.lab_03 import message_sizes, mg_timeline
from beowulf.record import newest
from beowulf.timeline.timeline_page import Page

pytestmark = pytest.mark.cluster

LAB = paths.root() / "labs" / message_sizes.LAB
# Which of the small and quick ones is run: class S on 2 ranks.
SMALLEST = 1


@pytest.fixture
def lab_folder(tmp_path: Path, records: Path) -> Path:
    """A learner's copies of the exercise."""
    shutil.copytree(LAB / "npb", tmp_path / "npb", ignore=lambda _, names: _built(names))
    shutil.copy(LAB / message_sizes.PROGRAM, tmp_path)
    return tmp_path


def _built(names: list[str]) -> list[str]:
    return [name for name in names if Path(name).suffix not in (".c", ".h")]


def written(lab_folder: Path, old: str, new: str) -> Path:
    source = lab_folder / message_sizes.PROGRAM
    text = source.read_text()
    assert text.count(old) == 1
    source.write_text(text.replace(old, new))
    return source


@pytest.mark.nightly
def test_what_is_handed_out_counts_nothing_and_its_record_is_kept(
    lab_folder: Path, cluster: NamespaceCluster
) -> None:
    record = message_sizes.measure(
        cluster, lab_folder / message_sizes.PROGRAM, random.Random(SMALLEST)
    )
    assert (record.study, record.variant, record.complete) == ("A4", "sizes", True)
    assert [point.at["count"] for point in record.points] == list(message_sizes.COUNTS)
    assert all(line.endswith("too small") for line in message_sizes.lines(record.points))
    assert newest(lab_folder / "records", "A4", "sizes") == record


@pytest.mark.nightly
def test_a_right_wrapper_counts_as_ours_does(lab_folder: Path, cluster: NamespaceCluster) -> None:
    source = written(lab_folder, message_sizes.TO_DO, message_sizes.DONE + message_sizes.TO_DO)
    record = message_sizes.measure(cluster, source, random.Random(SMALLEST))
    assert all(line.endswith("right") for line in message_sizes.lines(record.points))
    one, several, total = (point.facts["ours"] for point in record.points)
    # MG has messages of both kinds, and each of the longer ones is longer than a packet.
    assert one > 0
    assert several > 0
    assert total > 1368 * several


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("old", "new", "said"),
    first(1, [
        (message_sizes.TO_DO, "    count /= 2;\n" + message_sizes.TO_DO, "ended"),
        ('\\"sizes\\"', '\\"lengths\\"', "printed no counts"),
    ]),
    ids=["half a message", "no line"],
)  # fmt: skip
def test_a_wrapper_that_goes_wrong_is_reported_and_nothing_is_kept(
    lab_folder: Path, cluster: NamespaceCluster, old: str, new: str, said: str
) -> None:
    with pytest.raises(LabError, match=said):
        message_sizes.measure(cluster, written(lab_folder, old, new), random.Random(SMALLEST))
    assert not list((lab_folder / "records").glob("*.json"))


@pytest.mark.nightly
def test_each_message_of_mg_is_on_its_timeline(records: Path, cluster: NamespaceCluster) -> None:
    record = mg_timeline.traced(cluster)
    assert record.complete
    page = timelines.timeline(cluster, record, mg_timeline.RUN)
    assert isinstance(page, Page)
    found = page.found
    sends = [name for name in found.trace.calls if name in ("MPI_Send", "MPI_Isend")]
    numbers = [found.trace.calls.index(name) for name in sends]
    assert len(found.messages) == found.events["call"].isin(numbers).sum() > 0
    rows = mg_timeline.parts(record)
    whole = rows[["computing_ms", "network_ms", "waiting_ms"]].sum(axis=1)
    assert whole.tolist() == pytest.approx([found.length_ns / 1e6] * len(rows))
    assert sum(mg_timeline.shares(record).values()) == pytest.approx(100)
    assert newest(records, record.study) == record
