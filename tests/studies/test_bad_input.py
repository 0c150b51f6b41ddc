"""What cannot be measured or judged: is it a sentence each, in every study and program of labs 04 and 05?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from beowulf import mpi, paths, studies
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError, UsageError
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record

PROGRAMS = [
    *("04-blocking-nonblocking/roundtrip.c", "04-blocking-nonblocking/roundtrip.py"),
    *("05-overlap/message_sweep.c", "05-overlap/message_workload.c", "05-overlap/both_sides.c"),
    "05-overlap/overlap.py",
]


def empty(name: str) -> Iterator[Record]:
    """Records without a place, and one that was cut short before a place had a sample."""
    at = {"protocol": "blocking", "ranks": 2, "size_bytes": 1, "launch": 0}
    yield Record(study=name)
    yield Record(study=name, complete=False)
    yield Record(study=name, points=[Point(at, "half_round_trip_us", [])], complete=False)


@pytest.mark.parametrize("name", studies.known())
def test_a_record_without_samples_decides_nothing_says_what_to_do_and_is_not_drawn(
    name: str,
) -> None:
    for record in empty(name):
        with contextlib.suppress(LabError):  # the sentence is the rule
            assert studies.draw(record).table.empty
        try:
            verdicts = studies.judge(record)
        except LabError:  # of one that says that it is complete
            assert record.complete
            continue
        for found in verdicts:
            if found.rests_on != "arithmetic":  # of the paper, which needs no samples
                assert found.outcome == "inconclusive"
                assert found.evidence
                assert found.advice


@pytest.mark.nightly
@pytest.mark.cluster
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [("many", "many"), ("2147483648", "from 0 to 2147483647")],
    ids=["not a number", "too large for MPI"],
)
def test_a_program_refuses_sizes_that_no_message_has(
    cluster: NamespaceCluster, tmp_path: Path, program: str, sizes: str, sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence), Measurement("A7", cluster, tmp_path) as session:
        session.launch(paths.root() / "labs" / program, 2, ["--sizes", sizes])


@pytest.mark.cluster
def test_more_ranks_than_the_nodes_have_places_for_are_refused(cluster: NamespaceCluster) -> None:
    ranks = mpi.MOST_RANKS_A_NODE * len(cluster.nodes) + 1
    with pytest.raises(UsageError, match=f"{ranks} ranks are too many for 4 nodes"):
        mpi.launch(cluster, ["hostname"], ranks)
