"""How fast is a class graded, the sandbox on? Against nbgrader's own loop over the same submissions, without one."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from autograder.course.course import Course
from autograder.course.create import make_course
from autograder.grading import driver
from autograder.sandbox import kernel
from benchmarks import commands
from benchmarks.commands import Talk
from benchmarks.result import Findings
from benchmarks.rows import Bar, Question
from benchmarks.scratch_cluster import scratch_folder
from benchmarks.turns import Side, interleave
from beowulf.errors import LabError
from beowulf.progress import Progress
from tests import gold

TITLE = "A class graded in the sandbox, against nbgrader's own loop without one"
ROUNDS = 6
FILLS_THE_CORES = True

SLUG = "01-validation"
CLASS = 200
CORES = JOBS = 2
# In each of the six rounds: ours grades all 200 in them, stock a part of these, which it takes as long for.
STOCK_A_ROUND = 6
HONEST = ("perfect", "average")
LOOK_EVERY_S = 0.5

OURS, STOCK = "ours, a submission", "nbgrader's loop, a submission"
MEMORY, SAME, START = "memory, most at a time", "same points", "start of a run, once"
LONGEST_SUBMISSION_S = 300.0

NOTES = [
    f"{CLASS} hand-ins of lab 01, alternating a perfect and an average one, made from code. Ours grades a part of them "
    f"in each round with {JOBS} jobs, all of them in all rounds; nbgrader's loop grades {STOCK_A_ROUND} of that part "
    "one after the other, and its figure is taken to hold for the rest.",
    "nbgrader's loop is NbGraderAPI.autograde in a process that has imported everything beforehand: its own Execute "
    "with a new kernel for each notebook, no sandbox, our scoring from the Records, so that the points are comparable.",
    f"Ours has a fresh bubblewrap sandbox for each notebook. What a run needs to start (a row of its own) is spread"
    f" over {CLASS} submissions and counted. Both are bound to {CORES} cores.",
    "Memory is the sum of the proportional shares (PSS) of all our processes, read twice a second.",
]


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Both in turns on the same submissions."""
    with scratch_folder() as folder, _on_two_cores():
        progress(0, 1, "making a course")
        course, students = _a_class(folder / "ours", rounds)
        stock = Course(shutil.copytree(course.folder, folder / "stock"))
        began = time.perf_counter()
        kernel.shared().await_ready()
        start_s = time.perf_counter() - began
        parts = [students[number::rounds] for number in range(rounds)]
        few = [part[:STOCK_A_ROUND] for part in parts]
        chosen = [name for part in few for name in part]
        command = [sys.executable, "-m", "benchmarks.stock_grading", str(stock.folder), SLUG]
        with commands.talking([*command, *chosen], commands.environment(), STOCK) as talk:
            talk.hear(LONGEST_SUBMISSION_S)
            memory: list[float] = []
            ours, theirs = iter(parts), iter(few)
            sides: dict[str, Side] = {
                "ours": lambda: _ours(course, next(ours), start_s, memory, talk.process.pid),
                "nbgrader's loop": lambda: _stock(talk, next(theirs)),
            }
            taken = interleave(sides, rounds, seed, progress, warm_up=0)
        same = [
            float(course.graded(name, SLUG).questions == stock.graded(name, SLUG).questions)
            for name in chosen
        ]
    return Findings(
        _questions(len(same)),
        taken.samples | {MEMORY: memory, SAME: same, START: [start_s]},
        taken.busy_percent,
        taken.order,
        facts={
            "submissions": len(students),
            "graded_by_nbgraders_loop": len(same),
            "jobs": JOBS,
            "ours_of_200_s": sum(taken.samples[OURS]) / rounds * CLASS,
            "nbgraders_loop_of_200_s": sum(taken.samples[STOCK]) / rounds * CLASS,
        },
        notes=list(NOTES),
    )


def _ours(
    course: Course, part: list[str], start_s: float, memory: list[float], not_ours: int
) -> Mapping[str, float]:
    with _memory(not_ours) as used_bytes:
        began = time.perf_counter()
        graded = list(driver.grade(course, SLUG, part, jobs=JOBS))
        took_s = (time.perf_counter() - began) / len(part) + start_s / CLASS
    memory.append(max(used_bytes))
    if bad := [f"{each.student}: {each.problem}" for each in graded if each.problem]:
        raise LabError(f"Not everything was graded: {bad[0]}")
    return {OURS: took_s}


def _stock(talk: Talk, part: list[str]) -> Mapping[str, float]:
    began = time.perf_counter()
    for student in part:
        talk.send()
        reply = talk.hear(LONGEST_SUBMISSION_S)
        if reply["student"] != student or not reply["well"]:
            raise LabError(f"nbgrader's loop could not grade {student}: {reply['log']}")
    return {STOCK: (time.perf_counter() - began) / len(part)}


def _questions(trials: int) -> list[Question]:
    return [
        Question(
            f"{CLASS} submissions on {CORES} cores, a submission",
            OURS,
            STOCK,
            Bar(0.2, "ratio", "5 times faster"),
        ),
        Question("memory", MEMORY, bar=Bar(4e9, says="below 4 GB"), unit="bytes"),
        Question(
            "submissions with the same points as by nbgrader's loop",
            SAME,
            bar=Bar(trials, "count", least=trials),
            unit="trials",
        ),
        Question("what starts once in a run", START),
    ]


def _a_class(folder: Path, rounds: int) -> tuple[Course, list[str]]:
    """A course with lab 01 released and the hand-ins in submitted/."""
    course = make_course(folder)
    course.release("01")
    cases = gold.hand_ins(SLUG)
    students = [f"student-{number:03}" for number in range(max(CLASS, rounds))]
    for number, student in enumerate(students):
        cases[HONEST[number % len(HONEST)]].write(folder / "submitted" / student / SLUG)
    return course, students


@contextmanager
def _on_two_cores() -> Iterator[None]:
    all_cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(all_cores)[:CORES])
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_cores)


@contextmanager
def _memory(not_ours: int) -> Iterator[list[float]]:
    """Sums of the PSS of this process and its descendants but one, taken now and then until the block ends."""
    used_bytes: list[float] = []
    over = threading.Event()

    def look() -> None:
        while True:
            used_bytes.append(float(sum(map(_pss_bytes, _family(not_ours)))))
            if over.wait(LOOK_EVERY_S):
                return

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield used_bytes
    finally:
        over.set()
        watcher.join()


def _family(but: int) -> list[int]:
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    pids = [os.getpid()]
    for pid in pids:
        pids += [child for child, parent in parents.items() if parent == pid and child != but]
    return pids


def _pss_bytes(pid: int) -> int:
    with suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0
