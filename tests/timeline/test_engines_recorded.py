"""A cell on engines is recorded when it is asked for, and what follows it is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.engines import CellError, Engines
from beowulf.errors import LabError
from beowulf.timeline import analysis
from beowulf.timeline.trace import RankTrace

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory, namespaces_work: None) -> Iterator[Engines]:
    folder = tmp_path_factory.mktemp("recorded") / "state"
    made = Engines(namespaces.up(ClusterConfig(nodes=2), folder=folder))
    made.timeout_s = 60.0
    yield made.start()
    made.stop()
    namespaces.down(folder=folder)


def called(rank: RankTrace) -> list[str]:
    return [rank.calls[call] for call in rank.events["call"]]


def test_a_cell_is_recorded_and_the_next_one_is_not(engines: Engines, tmp_path: Path) -> None:
    engines.run("world.Barrier()")
    for tag in (5, 6):
        with engines.recorded(tmp_path / "cell.trace"):
            engines.run(f"world.send('hello', 1 - rank, tag={tag}); world.recv(tag={tag})")
        engines.run("world.Barrier()")
        found = analysis.read(tmp_path / "cell.trace")
        assert found.warnings == []
        assert [(int(row.source), int(row.tag)) for row in found.messages.itertuples()] == [
            (0, tag),
            (1, tag),
        ]
        assert "MPI_Barrier" not in called(found.trace.ranks[0])


def test_a_cell_that_raises_an_exception_is_recorded_up_to_it(
    engines: Engines, tmp_path: Path
) -> None:
    with pytest.raises(CellError), engines.recorded(tmp_path / "x.trace"):
        engines.run("world.Barrier(); 1 / 0")
    trace = analysis.read(tmp_path / "x.trace").trace
    assert called(trace.ranks[1]).count("MPI_Barrier") == 1


def test_a_folder_with_other_files_is_left_alone(engines: Engines, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(LabError, match="has other files in it"), engines.recorded(tmp_path):
        engines.run("world.Barrier()")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
