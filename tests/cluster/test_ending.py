"""Does nothing stay on this machine after `beowulf down`, whatever ran and whatever was interrupted?"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from running import (
    HOSTNAME,
    PATIENCE_S,
    Beowulf,
    first,
    next_line,
    nothing_runs,
    traces,
    wait_until,
)

from beowulf.errors import LabError

pytestmark = pytest.mark.cluster

SPIN = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    printf("spinning\\n");
    fflush(stdout);
    for (;;)
        MPI_Barrier(MPI_COMM_WORLD);
}
"""


def test_nothing_is_left_after_down(beowulf: Beowulf) -> None:
    before = traces(beowulf)
    beowulf("up", "--networks", "2")
    beowulf("ssh", "node00", f"for n in 1 2 3; do ssh node0$n true; done; mpiexec -n 4 {HOSTNAME}")
    assert beowulf.processes()
    beowulf("down")
    assert not beowulf.state.exists()
    assert traces(beowulf) == before
    nothing_runs(beowulf)
    assert "No cluster was running" in beowulf("down")


def test_down_ends_ranks_captures_and_sessions_also_a_stopped_one(
    beowulf: Beowulf, tmp_path: Path
) -> None:
    before = traces(beowulf)
    beowulf("up", "--nodes", "2")
    (tmp_path / "spin.c").write_text(SPIN)
    run = beowulf.start("run", "-n", "2", "spin.c")
    assert "spinning" in next_line(run)
    session = beowulf.start("ssh", "node01", "echo there; sleep 1000")
    assert next_line(session) == "there"
    stopped = subprocess.Popen(  # as by Ctrl-Z
        beowulf.words("ssh", "node01", "echo there; sleep 1000"),
        env=beowulf.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert next_line(stopped) == "there"
    os.killpg(stopped.pid, signal.SIGSTOP)
    entered = subprocess.Popen(
        [*beowulf.cluster.enter_switch(), "sleep", "1000"], env=beowulf.environment
    )
    wire = beowulf.cluster.capture(tmp_path / "wire.pcapng")
    with pytest.raises(LabError, match="capture at the switch ended"), wire:
        beowulf("down")
    assert run.wait(PATIENCE_S) == 1
    assert run.stdout
    assert "Traceback" not in run.stdout.read()
    assert session.wait(PATIENCE_S) != 0
    os.killpg(stopped.pid, signal.SIGCONT)
    assert stopped.wait(PATIENCE_S) != 0
    assert entered.wait(PATIENCE_S) == -signal.SIGKILL
    nothing_runs(beowulf)
    assert traces(beowulf) == before


@pytest.mark.parametrize("delay_s", first(1, [0.15, 0.1, 0.2]))
def test_a_killed_down_is_finished_by_the_next(beowulf: Beowulf, delay_s: float) -> None:
    beowulf("up", "--nodes", "2")
    interrupted = beowulf.start("down")
    time.sleep(delay_s)
    interrupted.kill()
    interrupted.wait()
    beowulf("down")
    nothing_runs(beowulf)
    assert not beowulf.state.exists()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("number", "turns"),
    first(1, [(signal.SIGKILL, 2), (signal.SIGKILL, 12), (signal.SIGINT, 8), (signal.SIGTERM, 8)]),
)
def test_an_up_that_is_interrupted_at_any_moment_leaves_nothing_that_up_or_down_trips_over(
    beowulf: Beowulf, number: signal.Signals, turns: int
) -> None:
    before = traces(beowulf)
    began = time.monotonic()
    beowulf("up")
    whole_s = time.monotonic() - began
    beowulf("down")
    dice = random.Random(int(number))
    for turn in range(turns):
        moment_s = dice.uniform(0, whole_s)
        interrupted = beowulf.start("up")
        time.sleep(moment_s)
        if number != signal.SIGKILL:  # a signal while Python itself starts is Python's to answer
            wait_until(lambda up=interrupted: answers_to_hangup(up), "the command has begun")
        interrupted.send_signal(number)
        said, _ = interrupted.communicate(timeout=PATIENCE_S)
        if interrupted.returncode == 1:
            assert "beowulf: stopped." in said
            nothing_runs(beowulf)
        if turn % 2:
            assert "4 nodes are up" in beowulf("up"), f"interrupted after {moment_s:.3f} s"
            said = beowulf("ssh", "node00", "ssh node03 hostname")
            assert said.strip() == "node03", f"interrupted after {moment_s:.3f} s"
        beowulf("down")
        wait_until(lambda: not beowulf.processes(), f"interrupted after {moment_s:.3f} s")
        assert not beowulf.state.exists()
    assert traces(beowulf) == before


def answers_to_hangup(command: subprocess.Popen[str]) -> bool:
    """Whether the command has ended, or its own answer to a hang-up, and so to all signals, is in place."""
    if command.poll() is not None:
        return True
    status = Path(f"/proc/{command.pid}/status").read_text()
    caught = int(status.partition("SigCgt:")[2].split()[0], 16)
    return bool(caught & 1 << signal.SIGHUP - 1)
