"""Does an interrupted measurement say what it kept and what to do next, and does it go on after a machine's sleep?"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
from jupyter_client.manager import KernelManager
from running import PATIENCE_S, Beowulf, wait_until

from beowulf import paths
from beowulf.cluster.common import processes
from beowulf.cluster.common.processes import command_line
from beowulf.record import Record

pytestmark = pytest.mark.cluster
ENDED = "what no cell shows"  # wait for the end of a cell


class Kernel:
    """A notebook's kernel beside a cluster."""

    def __init__(self, learner: Beowulf) -> None:
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(env=learner.environment, cwd=str(learner.here))
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=PATIENCE_S)

    def until(self, word: str) -> str:
        """What a cell shows until it shows `word`, or has ended."""
        shown = ""
        while word not in shown:
            message = self.client.get_iopub_msg(timeout=PATIENCE_S)
            content = message["content"]
            shown += content.get("text", "") + "".join(content.get("traceback", ()))
            shown += content.get("data", {}).get("text/html", "")
            if content.get("execution_state") == "idle":
                break
        return shown

    def end(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel(at_cluster: Beowulf) -> Iterator[Kernel]:
    found = Kernel(at_cluster)
    yield found
    found.end()


def test_an_interrupted_cell_says_what_it_kept_and_what_to_do_next(
    kernel: Kernel, at_cluster: Beowulf
) -> None:
    kernel.client.execute("import beowulf; cluster = beowulf.connect()")
    kernel.until(ENDED)
    kernel.client.execute("record = beowulf.study('B1', cluster)")
    assert "<figure>" in kernel.until("<figure>"), "after the first launch"
    kernel.manager.interrupt_kernel()
    said = kernel.until(ENDED)
    assert "<figure>" in said
    [path] = (at_cluster.here / "records").glob("B1-*.json")
    record = Record.load(path)
    assert not record.complete
    samples = sum(len(point.samples) for point in record.points)
    assert samples
    assert "The measurement was cut short: it was stopped" in said
    assert f"Kept: {samples} samples of study B1, in records/{path.name}" in said
    assert "Run this cell again" in said
    kernel.client.execute("print(record.complete, *{v.outcome for v in beowulf.claims(record)})")
    assert "False inconclusive" in kernel.until(ENDED)


def test_a_cell_that_is_interrupted_before_its_first_sample_says_so(kernel: Kernel) -> None:
    # A study that has not measured anything yet, whatever the machine is doing.
    kernel.client.execute(
        "import beowulf, beowulf.desk.notebook as n, time\n"
        "n.measure_and_save = lambda *_, **__: (print('begun', flush=True), time.sleep(3600))\n"
        "beowulf.study('B1', beowulf.connect())"
    )
    assert "begun" in kernel.until("begun")
    kernel.manager.interrupt_kernel()
    said = kernel.until(ENDED)
    assert "Study B1 was stopped before it had measured anything" in said
    assert "measure_and_save" not in said, "none of our code is shown"


def test_an_interrupted_question_leaves_nothing_on_the_node(
    kernel: Kernel, at_cluster: Beowulf
) -> None:
    # A shell that waits for children: one in its own session, and one that ends by itself and comes again.
    asked = f"setsid sleep 7654321 & touch {at_cluster.here}/begun; while true; do sleep 0.1; done"
    kernel.client.execute(f"import beowulf; print(beowulf.connect().ask('node03', {asked!r}))")
    wait_until((at_cluster.here / "begun").exists, "the command runs")
    kernel.manager.interrupt_kernel()
    said = kernel.until(ENDED)
    assert "node03 had not finished" in said
    assert "when you stopped it" in said
    assert "BEOWULF_CALL" not in said
    wait_until(
        lambda: not [each for each in at_cluster.processes() if "7654321" in each],
        "what was asked is ended on the node",
    )


def test_ctrl_c_says_what_a_study_has_kept(at_cluster: Beowulf) -> None:
    script = "import sys; sys.argv[0] = 'beowulf'\nimport beowulf.measure.measurement as s\n"
    script += "keep = s.Measurement._keep\n"
    script += "def kept(*a):\n    keep(*a); raise KeyboardInterrupt\n"
    script += "s.Measurement._keep = kept\nfrom beowulf.cli import main\nmain()\n"
    at_cluster.command = (str(paths.python_bin() / "python"), "-c", script)
    said = at_cluster("study", "B1", "--quick", code=1)
    assert "beowulf: The measurement was cut short: it was stopped" in said
    assert re.search(r"beowulf: Kept: \d+ samples of study B1, in records/B1-.*json", said)
    assert "Run this command again" in said


ASLEEP_S = 2.0  # longer than any sample of the study


def _below(pid: int) -> list[int]:
    """A process and all that it has started, from the first one on."""
    return [pid, *(each for child in processes.children(pid) for each in _below(child))]


def _all(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@pytest.mark.nightly
def test_a_study_in_whose_middle_the_machine_slept_is_whole(at_cluster: Beowulf) -> None:
    """All processes of the cluster and of the command that measures on it stand still for a moment, and go on."""
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
        # An nsenter that sees its child stand still stops itself, also when it was to go on already.
        for _ in range(10):
            _all(frozen, signal.SIGCONT)
            time.sleep(0.1)
    said, _ = study.communicate(timeout=PATIENCE_S)
    assert study.returncode in (0, 1), said  # 1: a claim does not hold, or cannot be judged
    assert "Traceback" not in said
    (path,) = (at_cluster.here / "records").glob("B1-*.json")
    record = Record.load(path)
    assert record.complete, said
    assert any(point.samples for point in record.points)
    assert at_cluster("status")  # its exit code says that the cluster is whole
