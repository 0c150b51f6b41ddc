"""How fast is a class graded, the sandbox on? Against nbgrader's own loop over the same submissions, without one.

And how long a submission of each lab takes, and report and feedback of a large class.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy.exc import SAWarning

from autograder.course.course import Course, Graded
from autograder.course.create import make_course
from autograder.grading import driver
from autograder.grading.gradebook import Entries
from autograder.grading.one_submission import Assignment, Outcome
from autograder.results import feedback, report
from autograder.sandbox import kernel
from benchmarks import commands
from benchmarks.commands import Talk
from benchmarks.result import Findings
from benchmarks.rows import Bar, Question
from benchmarks.scratch_cluster import scratch_folder
from benchmarks.turns import Side, Taken, interleave
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
OF_EACH_LAB = 4  # a round
LARGE_CLASS, BACK_ROUNDS = 300, 3
HONEST = ("perfect", "average")
LOOK_EVERY_S = 0.5

OURS, STOCK = "ours, a submission", "nbgrader's loop, a submission"
MEMORY, SAME, START = "memory, most at a time", "same points", "start of a run, once"
BACK, PAGE = f"report and feedback of {LARGE_CLASS}", "largest page"
LONGEST_SUBMISSION_S = 300.0

NOTES = [
    f"{CLASS} hand-ins of lab 01, alternating a perfect and an average one, made from code. Ours grades a part of them "
    f"in each round with {JOBS} jobs, all of them in all rounds; nbgrader's loop grades {STOCK_A_ROUND} of that part "
    "one after the other, and its figure is taken to hold for the rest.",
    "nbgrader's loop is NbGraderAPI.autograde in a process that has imported everything beforehand: its own Execute "
    "with a new kernel for each notebook, no sandbox, our scoring from the Records, so that the points are comparable.",
    "nbgrader's kernel draws our pictures of Records; ours shows a sentence for each, unless a course asks for them"
    " (`c.ExecuteOnRecords.pictures`).",
    f"Ours has a fresh bubblewrap sandbox for each notebook. What a run needs to start (a row of its own) is spread"
    f" over {CLASS} submissions and counted. Both are bound to {CORES} cores.",
    f"Of each lab, {OF_EACH_LAB} hand-ins a round, as of lab 01, with {JOBS} jobs, without what a run needs to start.",
    f"Report and feedback are of {LARGE_CLASS} learners of lab 01, with {JOBS} jobs: those who were graded, and copies"
    " of them. All have the same Records, so that the report finds as many copies as there can be.",
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
        labs = _each_lab(course, rounds, seed, progress)
        same = [
            float(course.graded(name, SLUG).questions == stock.graded(name, SLUG).questions)
            for name in chosen
        ]
        back = _handed_back(course, students, seed, progress)
    return Findings(
        _questions(len(same), sorted(labs.samples)),
        taken.samples
        | {MEMORY: memory, SAME: same, START: [start_s]}
        | labs.samples
        | back.samples,
        [*taken.busy_percent, *labs.busy_percent, *back.busy_percent],
        [*taken.order, *labs.order, *back.order],
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
    _all_well(graded)
    return {OURS: took_s}


def _stock(talk: Talk, part: list[str]) -> Mapping[str, float]:
    began = time.perf_counter()
    for student in part:
        talk.send()
        reply = talk.hear(LONGEST_SUBMISSION_S)
        if reply["student"] != student or not reply["well"]:
            raise LabError(f"nbgrader's loop could not grade {student}: {reply['log']}")
    return {STOCK: (time.perf_counter() - began) / len(part)}


def _each_lab(course: Course, rounds: int, seed: int, progress: Progress) -> Taken:
    """A few hand-ins of each lab in each round."""

    def side(slug: str) -> Side:
        cases = gold.hand_ins(slug)
        left = iter(range(rounds))

        def grade() -> Mapping[str, float]:
            turn = next(left)
            part = [f"of-{slug[:2]}-{turn}-{number}" for number in range(OF_EACH_LAB)]
            for number, student in enumerate(part):
                case = cases[HONEST[number % len(HONEST)]]
                case.write(course.folder / "submitted" / student / slug)
            began = time.perf_counter()
            graded = list(driver.grade(course, slug, part, jobs=JOBS))
            took_s = (time.perf_counter() - began) / len(part)
            _all_well(graded)
            return {slug: took_s}

        return grade

    for slug in course.labs:
        if slug != SLUG:
            course.release(slug)
    return interleave({slug: side(slug) for slug in course.labs}, rounds, seed, progress, warm_up=0)


def _handed_back(course: Course, students: list[str], seed: int, progress: Progress) -> Taken:
    """The report and all pages of feedback of a class to which copies of its learners came."""
    assignment = Assignment.of(course, SLUG)
    with course.gradebook() as book, warnings.catch_warnings():
        warnings.simplefilter("ignore", SAWarning)  # nbgrader's own way of adding
        entries = Entries(book, assignment)
        for number in range(LARGE_CLASS - len(course.graded_students(SLUG))):
            twin, student = students[number % len(students)], f"twin-{number:03}"
            for place in (assignment.submitted, assignment.autograded):
                shutil.copytree(place(twin), place(student))
            points = dict(entries.graded(twin).questions)
            entries.enter(Outcome(student, dict.fromkeys(assignment.notebooks, points)))
    if (there := len(course.graded_students(SLUG))) != LARGE_CLASS:
        raise LabError(f"The class has {there} learners, not {LARGE_CLASS}.")

    def hand_back() -> Mapping[str, float]:
        began = time.perf_counter()
        index = report.write(course, SLUG)
        pages = list(feedback.generate(course, SLUG, jobs=JOBS))
        took_s = time.perf_counter() - began
        if bad := [f"{page.student}: {page.problem}" for page in pages if page.problem]:
            raise LabError(f"Not every page was made: {bad[0]}")
        files = [*index.parent.glob("*.html"), *(file for page in pages for file in page.files)]
        return {BACK: took_s, PAGE: float(max(file.stat().st_size for file in files))}

    return interleave({BACK: hand_back}, BACK_ROUNDS, seed, progress, warm_up=0)


def _all_well(graded: list[Graded]) -> None:
    if bad := [f"{each.student}: {each.problem}" for each in graded if each.problem]:
        raise LabError(f"Not everything was graded: {bad[0]}")


def _questions(trials: int, labs: Iterable[str]) -> list[Question]:
    return [
        Question(
            f"{CLASS} submissions on {CORES} cores, a submission",
            OURS,
            STOCK,
            Bar(1 / 6, "ratio", "6 times faster"),
        ),
        *(Question(f"{slug}, a submission", slug, bar=Bar(1.0)) for slug in labs),
        Question(
            f"memory, {CLASS} submissions", MEMORY, bar=Bar(1e9, says="below 1 GB"), unit="bytes"
        ),
        Question(f"report and feedback of {LARGE_CLASS} learners", BACK, bar=Bar(60.0)),
        Question("the largest page of these", PAGE, bar=Bar(3e6, says="below 3 MB"), unit="bytes"),
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
