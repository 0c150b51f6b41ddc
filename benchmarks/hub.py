"""What does a learner cost a hub: memory and cores with and without a cluster, grading, and storage?"""

from __future__ import annotations

import json
import lzma
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from autograder.course.course import Course
from autograder.course.create import make_course
from autograder.grading import driver
from autograder.sandbox import kernel
from benchmarks import commands
from benchmarks.result import Findings
from benchmarks.rows import Question
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import busy_percent
from beowulf import paths
from beowulf.cluster import namespaces
from beowulf.cluster.config import ClusterConfig
from beowulf.engines import starters
from beowulf.errors import LabError
from beowulf.progress import Progress
from tests import gold, school
from tests.jupyter import Jupyter

TITLE = "What a learner costs a hub"
ROUNDS = 3
FILLS_THE_CORES = True

LEARNERS = 3  # at a time; the first one brings what all share
IDLE_S = 20.0
LONGEST_START_S = 180.0
HAND_INS = 2  # of each lab, graded one after the other
BY_ENGINES = 8
HONEST = ("perfect", "average")
TICKS = os.sysconf("SC_CLK_TCK")
LONGEST_STUDY_S = 600.0
RECORDS = paths.root() / "tests" / "gold" / "real_records.json.xz"
SETTLE_S = 1.0

READS, MEASURES = "a learner who reads", "a learner who measures"
FIRST = "the first learner, who reads"
CLUSTER, ENGINES = "a cluster of four nodes", "its four engines"
IDLE, BOOT = "a learner who does nothing, in a second", "booting a cluster"
ENGINES_GRADE = "grading 01-validation by ipyparallel, start included"
SLURM_GRADES = "grading 01-validation by Slurm, start included"
GRADED, NOTEBOOK = "grading {}", "a lab's notebook"
QUICK, FULL, CAPTURING = "quick", "full", "A10"
RECORD, CAPTURES = "a Record, {} study", f"captures beside a Record of {CAPTURING}, quick study"

# What the labs' notebooks import, and a picture.
OPENED = """
import matplotlib.pyplot as plt
import numpy as np
from beowulf import check, claims, connect, picture, predict, prediction, start_engines, study
from beowulf.notebook import form
plt.plot(np.arange(9)); plt.show()
"""
CONNECTED = "cluster = connect('records')"
STARTED = "engines = start_engines(cluster)"

NOTES = [
    "A learner is a JupyterLab server of their own with one notebook's kernel, which has imported what the labs import;"
    f" one who measures has a cluster of four namespaces and an IPython engine on each node as well. {LEARNERS} are"
    " there at the same time. Memory is the sum of the proportional shares (PSS) of all processes of all learners: what"
    " each of them needs more than the first one is the difference, divided by their number. The browser is not on the"
    " hub, and JupyterHub with its proxy is not counted.",
    f"Doing nothing is the processor time that all learners took together in {IDLE_S:g} s, divided by both.",
    f"Grading is the processor time of {HAND_INS} hand-ins of each lab, a perfect and an average one alternating, one"
    " after the other, sandbox included. Processor time stays nearly the same on a busy machine.",
    f"By ipyparallel, {BY_ENGINES} hand-ins of lab 01 are graded by an engine on each of two nodes, which a login"
    " starts; their starting is counted. By Slurm, as many by `beowulf class grade --cluster slurm` in a job of two"
    " nodes of simulated PCs: the command, its engines and Slurm's own daemons are counted, from the command on.",
    "Records are those that were measured for the test suite (tests/gold), some quick and some full; the size of"
    " captures is that of one quick study, measured here. A full study captures more.",
]


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Learners come, and go on from reading to measuring; then a class is graded."""
    samples: dict[str, list[float]] = {}
    busy: list[float] = []

    def add(name: str, value: float) -> None:
        samples.setdefault(name, []).append(value)

    for number in range(rounds):
        progress(number, rounds + 1, "learners")
        busy.append(busy_percent())
        with scratch_folder() as folder:
            _learners(folder, add)
    progress(rounds, rounds + 1, "grading")
    with scratch_folder() as folder:
        _stored(folder, add)
    with scratch_folder() as folder:
        _graded(folder, rounds, add, progress)
    return Findings(_questions(samples), samples, busy, notes=list(NOTES))


Add = Callable[[str, float], None]


def _questions(samples: Mapping[str, list[float]]) -> list[Question]:
    in_bytes = (FIRST, READS, MEASURES, CLUSTER, ENGINES, NOTEBOOK, CAPTURES)

    def unit(name: str) -> str:
        return "bytes" if name in in_bytes or name.startswith("a Record") else "s"

    return [Question(name, name, unit=unit(name)) for name in samples]


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

    def processes(self) -> list[int]:
        """All of this learner's processes: those of the server, and those of the cluster."""
        cluster = namespaces.running(self.state)
        return family([self.server.pid, *([cluster.supervisor.process.pid] if cluster else [])])


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
    return float(sum(pss_bytes(pid) for each in learners for pid in each.processes()))


def _cores_s(learners: Sequence[_Learner]) -> float:
    return sum(time_s(pid) for each in learners for pid in each.processes())


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _graded(folder: Path, rounds: int, add: Add, progress: Progress) -> None:
    course = make_course(folder / "course")
    kernel.shared().await_ready()
    for number, slug in enumerate(course.labs):
        progress(rounds + number / len(course.labs), rounds + 1, f"grading {slug}")
        course.release(slug)
        cases = gold.hand_ins(slug)
        perfect = folder / slug
        cases["perfect"].write(perfect)
        add(NOTEBOOK, float(max(each.stat().st_size for each in perfect.glob("*.ipynb"))))
        for turn in range(rounds):
            part = [f"{slug[:2]}-{turn}-{each}" for each in range(HAND_INS)]
            for each, student in enumerate(part):
                cases[HONEST[each % len(HONEST)]].write(
                    course.folder / "submitted" / student / slug
                )
            before_s = _own_s()
            graded = list(driver.grade(course, slug, part))
            add(GRADED.format(slug), (_own_s() - before_s) / len(part))
            if bad := [f"{each.student}: {each.problem}" for each in graded if each.problem]:
                raise LabError(f"Not everything was graded: {bad[0]}")
    _graded_by_engines(course, folder, add)
    if os.geteuid() == 0 and school.installed():
        _graded_by_slurm(folder / "login", add)


def _stored(folder: Path, add: Add) -> None:
    """What Records take that were measured for the tests, and the captures of a study measured now."""
    for record in json.loads(lzma.decompress(RECORDS.read_bytes())):
        how = next(each for each in (QUICK, FULL) if each in record["where"])
        add(RECORD.format(how), float(len(json.dumps(record))))
    namespaces.up(ClusterConfig(), folder=folder / STATE)
    environment = commands.environment(BEOWULF_STATE=str(folder / STATE), BEOWULF_LINE=str(folder))
    words = ("study", CAPTURING, "--quick", "--records", str(folder / "records"))
    command = [str(paths.python_bin() / "beowulf"), *words]
    commands.timed(command, environment, timeout_s=LONGEST_STUDY_S)
    captures = (folder / "records").glob("*.pcapng")
    add(CAPTURES, float(sum(each.stat().st_size for each in captures)))


def _graded_by_engines(course: Course, folder: Path, add: Add) -> None:
    slug = course.lab("01")
    cases = gold.hand_ins(slug)
    part = [f"engines-{each}" for each in range(BY_ENGINES)]
    for each, student in enumerate(part):
        cases[HONEST[each % len(HONEST)]].write(course.folder / "submitted" / student / slug)
    cluster = namespaces.up(ClusterConfig(nodes=2), folder=folder / STATE)

    def used_s() -> float:
        return sum(map(time_s, family([os.getpid(), cluster.supervisor.process.pid])))

    before_s = used_s()
    with starters.ByLogin(cluster) as pool:
        graded = list(driver.grade(course, slug, part, pool=pool))
        add(ENGINES_GRADE, (used_s() - before_s) / len(part))
    if bad := [f"{each.student}: {each.problem}" for each in graded if each.problem]:
        raise LabError(f"Not everything was graded: {bad[0]}")


def _graded_by_slurm(login: Path, add: Add) -> None:
    login.mkdir()
    course = make_course(login / "course")
    slug = course.lab("01")
    course.release(slug)
    cases = gold.hand_ins(slug)
    for each in range(BY_ENGINES):
        cases[HONEST[each % len(HONEST)]].write(
            course.folder / "submitted" / f"slurm-{each}" / slug
        )
    with school.opened(login) as opened:
        opened.bring_checkout()
        instructor = opened.root
        instructor("up", "--target", "slurm", "--nodes", "2", "--minutes", "20")
        instructor.here = course.folder

        def used_s() -> float:
            return _own_s() + sum(map(time_s, family([opened.pcs.process.pid])))

        before_s = used_s()
        instructor("class", "grade", "01", "--cluster", "slurm")
        add(SLURM_GRADES, (used_s() - before_s) / BY_ENGINES)


def _own_s() -> float:
    return sum(time_s(pid) for pid in family([os.getpid()]))


def time_s(pid: int) -> float:
    """The processor time of a process and of those of its children that have ended."""
    with suppress(OSError, ValueError, IndexError):
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, words[11:15])) / TICKS
    return 0.0


def pss_bytes(pid: int) -> int:
    """The proportional share of memory that a process has."""
    with suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def family(pids: Sequence[int]) -> list[int]:
    """These processes and all that descend from them."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    found = list(pids)
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found
