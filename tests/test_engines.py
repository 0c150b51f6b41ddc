"""IPython engines on the nodes: one MPI world, and a restart whatever a rank is doing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from beowulf.cluster import namespaces
from beowulf.cluster.config import ClusterConfig
from beowulf.engines import Engines
from beowulf.errors import LabError

pytestmark = pytest.mark.cluster


@pytest.fixture
def engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engines]:
    monkeypatch.setenv("BEOWULF_STATE", str(tmp_path / "state"))
    cluster = namespaces.up(ClusterConfig(nodes=3))
    made = Engines(cluster)
    try:
        yield made.start()
    finally:
        made.stop()
        namespaces.down()


# Code as text, as a notebook sends it: engines cannot import this file.
WHO = "from mpi4py import MPI; world = MPI.COMM_WORLD; who = [world.rank, world.size, MPI.Get_processor_name()]"
TOTAL = "from mpi4py import MPI; total = MPI.COMM_WORLD.allreduce(1)"
WAIT_FOR_NOTHING = "MPI.COMM_WORLD.rank == 0 and MPI.COMM_WORLD.recv(source=1)"
DIE = "import os; os._exit(3)"


def ask(engines: Engines, code: str, name: str) -> list[object]:
    engines.view.execute(code, block=True)
    return list(engines.view[name])


def test_engines_are_one_world_with_one_rank_a_node_and_come_back_after_a_hang_and_a_death(
    engines: Engines,
) -> None:
    one_a_node = [[rank, 3, f"node{rank:02}"] for rank in range(3)]
    assert ask(engines, WHO, "who") == one_a_node
    assert ask(engines, TOTAL, "total") == [3, 3, 3]

    engines.view.execute(WAIT_FOR_NOTHING, block=False)
    engines.restart()
    assert ask(engines, TOTAL, "total") == [3, 3, 3]

    engines.view.client[engines.view.targets[1]].execute(DIE, block=False)
    engines.cluster.kill("node02")  # type: ignore[attr-defined]
    engines.restart()
    assert ask(engines, WHO, "who") == one_a_node


def test_engines_on_a_cluster_with_a_dead_node_are_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEOWULF_STATE", str(tmp_path / "state"))
    cluster = namespaces.up(ClusterConfig(nodes=2))
    try:
        cluster.kill("node01")
        with pytest.raises(LabError, match="node01 is down"):
            Engines(cluster).start()
    finally:
        namespaces.down()
