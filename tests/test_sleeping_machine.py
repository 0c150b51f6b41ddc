"""Does a measurement go on, and is the cluster whole, when the machine has slept in the middle?

All processes of a cluster and of the command that measures on it stand still for a moment, and go on.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

import pytest
from running import PATIENCE_S, Beowulf, wait_until

from beowulf.cluster import processes
from beowulf.cluster.processes import command_line
from beowulf.record import Record

pytestmark = [pytest.mark.cluster, pytest.mark.nightly]
ASLEEP_S = 2.0  # longer than any sample of the study


def _below(pid: int) -> list[int]:
    """A process and all that it has started, from the first one on."""
    return [pid, *(each for child in processes.children(pid) for each in _below(child))]


def _all(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def test_a_study_in_whose_middle_the_machine_slept_is_whole(at_cluster: Beowulf) -> None:
    supervisor = at_cluster.cluster.supervisor.process.pid
    study = at_cluster.start("study", "B1", "--quick")
    wait_until(
        lambda: any("pingpong" in command_line(each) for each in _below(supervisor)),
        "a program of the study runs",
    )
    frozen = [*_below(study.pid), *_below(supervisor)]
    _all(frozen, signal.SIGSTOP)
    try:
        time.sleep(ASLEEP_S)
        assert study.poll() is None
        assert not list((at_cluster.here / "records").glob("B1-*.json"))
    finally:
        _all(frozen, signal.SIGCONT)
    said, _ = study.communicate(timeout=PATIENCE_S)
    assert study.returncode in (0, 1), said  # 1: a claim does not hold, or cannot be judged
    assert "Traceback" not in said
    (path,) = (at_cluster.here / "records").glob("B1-*.json")
    record = Record.load(path)
    assert record.complete, said
    assert any(point.samples for point in record.points)
    assert at_cluster("status")  # its exit code says that the cluster is whole
