"""Lab 01's two programs: do they run together, and is a worker's wrong line noticed?"""

from __future__ import annotations

import shutil

import pytest
from running import Beowulf

from beowulf import paths

pytestmark = pytest.mark.cluster

LAB = paths.root() / "labs" / "01-validation"
TOGETHER = "mpiexec -n 1 ./master : -n {} ./worker"


@pytest.mark.nightly
def test_what_is_handed_out_says_which_squares_are_wrong_and_a_right_worker_gets_all_its_numbers(
    at_cluster: Beowulf,
) -> None:
    node = at_cluster
    for name in ("master.c", "worker.c"):
        shutil.copy(LAB / name, node.here)
    build = "mpicc master.c -o master && mpicc worker.c -o worker && "
    said = node("ssh", "node00", build + TOGETHER.format(3), code=1)
    assert "2 squared is 2, which is wrong" in said
    assert "1 of 12 squares are right" in said
    worker = node.here / "worker.c"
    worker.write_text(worker.read_text().replace("return number;", "return number * number;"))
    # More workers than numbers, and none at all.
    several = f"{build}{TOGETHER.format(14)}; mpiexec -n 1 ./master"
    said = node("ssh", "node00", several, code=None)
    assert "12 of 12 squares are right" in said
    assert f"Nobody works: {TOGETHER.format(3)}" in said
