"""Lab 01's two programs: do they run together, and is a worker's wrong line noticed?"""

from __future__ import annotations

import shutil

import pytest
from running import Beowulf

from beowulf import paths

pytestmark = pytest.mark.cluster

LAB = paths.root() / "labs" / "01-validation"
TOGETHER = (
    "mpicc master.c -o master && mpicc worker.c -o worker && mpiexec -n 1 ./master : -n {} ./worker"
)


@pytest.fixture
def node(beowulf: Beowulf) -> Beowulf:
    """A learner in a folder with copies of both programs, whose cluster is up."""
    for name in ("master.c", "worker.c"):
        shutil.copy(LAB / name, beowulf.here)
    beowulf("up")
    return beowulf


def test_what_is_handed_out_runs_and_says_which_squares_are_wrong(node: Beowulf) -> None:
    said = node("ssh", "node00", TOGETHER.format(3), code=1)
    assert "2 squared is 2, which is wrong" in said
    assert "1 of 12 squares are right" in said


def test_a_right_worker_gets_all_its_numbers_however_many_workers_there_are(node: Beowulf) -> None:
    worker = node.here / "worker.c"
    worker.write_text(worker.read_text().replace("return number;", "return number * number;"))
    for workers in (1, 3, 14):
        assert "12 of 12 squares are right" in node("ssh", "node00", TOGETHER.format(workers))


def test_a_master_without_workers_says_how_to_start_them(node: Beowulf) -> None:
    alone = "mpicc master.c -o master && mpiexec -n 1 ./master"
    said = node("ssh", "node00", alone, code=None)
    assert "Nobody works: mpiexec -n 1 ./master : -n 3 ./worker" in said
