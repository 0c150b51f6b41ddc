"""What does a learner cost a hub: memory and cores with and without a cluster, and storage?

A learner is a JupyterLab server with one notebook's kernel, which has imported what the labs import; one who measures
has a cluster of four namespaces and an IPython engine on each node as well. Memory is the sum of the proportional
shares (PSS) of all processes of all learners: what each of them needs more than the first one is the difference,
divided by their number. Neither the browser nor JupyterHub with its proxy is counted. Records are those that were
measured for the test suite (tests/gold); the size of captures is that of one quick study, measured here.
"""

from __future__ import annotations

import json
import lzma
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from benchmarks import commands
from benchmarks.result import Findings, Question
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import busy_percent
from beowulf import paths
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.errors import LabError
from beowulf.this_machine.progress import Progress
from tests import gold
from tests.jupyter import Jupyter

TITLE = "What a learner costs a hub"
ROUNDS = 3

LEARNERS = 3  # at a time; the first one brings what all share
IDLE_S = 20.0
SETTLE_S = 1.0
LONGEST_START_S = 180.0
RECORDS = paths.root() / "tests" / "gold" / "real_records.json.xz"

READS, MEASURES = "a learner who reads", "a learner who measures"
FIRST = "the first learner, who reads"
CLUSTER, ENGINES = "a cluster of four nodes", "its four engines"
IDLE, BOOT = "a learner who does nothing, in a second", "booting a cluster"
CAPTURING = "A10"
NOTEBOOK = "a lab's notebook"
RECORD, CAPTURES = "a Record, {} study", f"captures beside a Record of {CAPTURING}, quick study"
IN_SECONDS = (IDLE, BOOT)

# What the labs' notebooks import, and a picture.
OPENED = """
import matplotlib.pyplot as plt
import numpy as np
from beowulf import check, claims, connect, picture, predict, prediction, start_engines, study
from beowulf.desk.notebook import form
plt.plot(np.arange(9)); plt.show()
"""
CONNECTED = "cluster = connect('records')"
STARTED = "engines = start_engines(cluster)"

Add = Callable[[str, float], None]


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Learners come, and go on from reading to measuring; then what they keep is weighed."""
    findings = Findings()

    def add(name: str, value: float) -> None:
        findings.samples.setdefault(name, []).append(value)

    for number in range(rounds):
        progress(number, rounds, "learners")
        findings.busy_percent.append(busy_percent())
        with scratch_folder() as folder:
            _learners(folder, add)
    with scratch_folder() as folder:
        _stored(folder, add)
    findings.questions = [
        Question(name, name, unit="s" if name in IN_SECONDS else "bytes")
        for name in findings.samples
    ]
    return findings


class _Learner:
    """A JupyterLab server, its kernel, and what that starts."""

    def __init__(self, folder: Path, ends: ExitStack) -> None:
        self.state = folder / "state"
        runtime, work = folder / "runtime", folder / "work"
        for each in (runtime, work):
            each.mkdir(parents=True)
        self.environment = commands.environment(
            BEOWULF_STATE=str(self.state),
            BEOWULF_LINE=str(folder),
            JUPYTER_RUNTIME_DIR=str(runtime),
            JUPYTER_CONFIG_DIR=str(folder / "config"),
            IPYTHONDIR=str(folder / "ipython"),
        )
        words = [sys.executable, "-m", "jupyterlab", "--no-browser", f"--ServerApp.root_dir={work}"]
        words += ["--ServerApp.port=0", "--ServerApp.log_level=ERROR", "--allow-root"]
        self.server = subprocess.Popen(
            words,
            env=self.environment,
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        ends.callback(commands.end, self.server)
        self.runtime = runtime

    def open(self, ends: ExitStack) -> None:
        """Let the server start a kernel, as a notebook that is opened does."""
        from jupyter_client.blocking.client import BlockingKernelClient

        about = json.loads(
            _await(lambda: next(self.runtime.glob("jpserver-*.json"), None)).read_text()
        )
        server = Jupyter(about["url"].rstrip("/"), about["token"])
        _await(lambda: server.code("api/status") == 200)
        kernel = server.ask("api/kernels", "POST", name="python3")["id"]
        connection = self.runtime / f"kernel-{kernel}.json"
        _await(connection.exists)
        self.kernel: Any = BlockingKernelClient(connection_file=str(connection))
        self.kernel.load_connection_file()
        self.kernel.start_channels()
        ends.callback(self.kernel.stop_channels)
        _await(self._answers)
        self.run(OPENED)

    def _answers(self) -> bool:
        try:
            self.kernel.wait_for_ready(timeout=LONGEST_START_S)
        except RuntimeError:  # one that is still starting is taken for dead
            return False
        return True

    def run(self, code: str) -> None:
        """Run a cell."""
        reply = self.kernel.execute_interactive(
            code, timeout=LONGEST_START_S, output_hook=lambda message: None
        )
        if reply["content"]["status"] != "ok":
            raise LabError(f"A cell failed: {reply['content'].get('evalue')}")

    def boot(self, ends: ExitStack) -> None:
        """A cluster of four nodes."""
        ends.callback(namespaces.down, folder=self.state)
        commands.timed([str(paths.python_bin() / "beowulf"), "up"], self.environment)

    def processes(self) -> list[psutil.Process]:
        """All of this learner's processes: those of the server, and those of the cluster."""
        cluster = namespaces.running(self.state)
        first = [self.server.pid, *([cluster.supervisor.process.pid] if cluster else [])]
        return [
            each
            for process in map(psutil.Process, first)
            for each in (process, *process.children(recursive=True))
        ]


def _await(ready: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + LONGEST_START_S
    while time.monotonic() < deadline:
        with suppress(OSError):
            if there := ready():
                return there
        time.sleep(0.1)
    raise LabError("JupyterLab does not start.")


def _learners(folder: Path, add: Add) -> None:
    with ExitStack() as ends:
        learners: list[_Learner] = []
        reading = []
        for number in range(LEARNERS):
            learners.append(_Learner(folder / f"learner-{number}", ends))
            learners[-1].open(ends)
            reading.append(_memory_bytes(learners))
        one_more = (reading[-1] - reading[0]) / (LEARNERS - 1)
        add(FIRST, reading[0])
        add(READS, one_more)
        before_s = _cores_s(learners)
        time.sleep(IDLE_S)
        add(IDLE, (_cores_s(learners) - before_s) / IDLE_S / LEARNERS)
        before_s = _cores_s(learners) + _children_s()
        for each in learners:
            each.boot(ends)
            each.run(CONNECTED)
        add(BOOT, (_cores_s(learners) + _children_s() - before_s) / LEARNERS)
        booted = _memory_bytes(learners)
        add(CLUSTER, (booted - reading[-1]) / LEARNERS)
        for each in learners:
            each.run(STARTED)
        all_there = _memory_bytes(learners)
        add(ENGINES, (all_there - booted) / LEARNERS)
        add(MEASURES, one_more + (all_there - reading[-1]) / LEARNERS)


def _memory_bytes(learners: Sequence[_Learner]) -> float:
    time.sleep(SETTLE_S)
    return _summed(learners, lambda process: process.memory_full_info().pss)


def _cores_s(learners: Sequence[_Learner]) -> float:
    def used_s(process: psutil.Process) -> float:
        used = process.cpu_times()
        return float(used.user + used.system + used.children_user + used.children_system)

    return _summed(learners, used_s)


def _summed(learners: Sequence[_Learner], value: Callable[[Any], float]) -> float:
    total = 0.0
    for process in (each for learner in learners for each in learner.processes()):
        with suppress(psutil.Error):  # it has ended
            total += value(process)
    return total


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _stored(folder: Path, add: Add) -> None:
    """What Records and notebooks take, and the captures of a study."""
    for record in json.loads(lzma.decompress(RECORDS.read_bytes())):
        how = next(each for each in ("quick", "full") if each in record["where"])
        add(RECORD.format(how), float(len(json.dumps(record))))
    for slug in paths.labs():
        gold.hand_ins(slug)["perfect"].write(folder / slug)
        add(NOTEBOOK, float(max(each.stat().st_size for each in (folder / slug).glob("*.ipynb"))))
    namespaces.up(ClusterConfig(), folder=folder / STATE)
    environment = commands.environment(BEOWULF_STATE=str(folder / STATE), BEOWULF_LINE=str(folder))
    words = ("study", CAPTURING, "--quick", "--records", str(folder / "records"))
    commands.timed([str(paths.python_bin() / "beowulf"), *words], environment, timeout_s=600.0)
    captures = (folder / "records").glob("*.pcapng")
    add(CAPTURES, float(sum(each.stat().st_size for each in captures)))
