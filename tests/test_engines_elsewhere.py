"""Engines on machines with disks of their own: on PCs that ssh reaches, and on the nodes of a queue (nightly)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from running import Beowulf, wait_until
from school import School, opened

pytestmark = [pytest.mark.cluster, pytest.mark.nightly]
SCRIPT = """
import time
from beowulf.cluster import running
from beowulf.engines import CellError, start_engines
engines = start_engines(running(), timeout_s=5)
engines.run("print(world.allreduce(rank), node)")
try:
    engines.run("if rank == 1:\\n    world.recv()")
except CellError as problem:
    print(problem)
engines.restart()
print(engines.gather("rank"), flush=True)
time.sleep(1000)
"""


@pytest.fixture(scope="module")
def school(namespaces_work: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[School]:
    with opened(tmp_path_factory.mktemp("l")) as found:
        yield found


@pytest.mark.parametrize("kind", ["pcs", "slurm"])
def test_engines_work_where_no_file_is_shared_and_nothing_stays_when_they_are_killed(
    school: School, kind: str
) -> None:
    learner = school.root
    words = ["slurm", "--minutes", "10"] if kind == "slurm" else [str(school.inventory)]
    learner("up", "--target", *words)
    process = subprocess.Popen(
        [*learner.prefix, sys.executable, "-c", SCRIPT],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=learner.here,
        env=learner.environment,
    )
    try:
        assert process.stdout
        said = ""
        for line in process.stdout:
            said += line
            if line == "[0, 1, 2, 3]\n":
                break
        for rank in range(4):
            assert f"node0{rank} │ 6 node0{rank}" in said
        assert "node01 (rank 1) waits in line 2: world.recv()" in said
        assert any(running(school, node) for node in school.pcs.names)
    finally:
        process.kill()
        process.wait()
    for node in school.pcs.names:
        wait_until(lambda node=node: not running(school, node), f"nothing is left on {node}")
    wait_until(lambda: not controllers(learner), "the controller ends")
    learner("down")


def running(school: School, node: str) -> str:
    """What is left of engines on a PC: processes, and their folders."""
    line = "ls -d /tmp/beowulf-engines-* 2>/dev/null; pgrep -f '[i]pyparallel.engine'"
    return school.pcs.at(node, line, code=None).strip()


def controllers(learner: Beowulf) -> list[str]:
    return [words for words in learner.processes() if "ipyparallel" in words]
