"""How fast is a class graded? Against nbgrader's own loop over some of the same hand-ins, in one run on two cores.

Each round grades all hand-ins of lab 04, alternately a perfect and an average one, with two jobs. Beside that,
nbgrader's own autograde runs some of them one after the other: its default preprocessors, a new kernel for each
notebook. No cluster runs meanwhile, so the cells that measure end at once: it is the least that its loop takes. Then
one hand-in of each lab is graded alone.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from unittest.mock import patch

from autograder.course.course import Course
from autograder.course.create import make_course
from autograder.grading import driver
from benchmarks.result import Bar, Findings, Question
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import Side, interleave
from beowulf.errors import LabError
from beowulf.progress import Progress
from tests import gold

TITLE = "A class graded, against nbgrader's own loop"
ROUNDS = 6

SLUG = "04-blocking-nonblocking"
CLASS = 200
CORES = JOBS = 2
BY_NBGRADER = 2  # a round
HONEST = ("perfect", "average")
OURS, NBGRADER = "ours, a hand-in", "nbgrader's loop, a hand-in"
MOST_S, LONGEST_S = 0.3, {"09-prediction": 3.0}


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Both on the same hand-ins, then one of each lab, in each round."""
    students = [f"student-{number:03}" for number in range(CLASS)]
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cores)[:CORES])
    try:
        with (
            scratch_folder() as folder,
            patch.dict(os.environ, BEOWULF_STATE=str(folder / STATE)),
        ):
            progress(0, 1, "making a course")
            course = make_course(folder / "ours")
            for slug in course.labs:
                course.release(slug)
                hand_in(course, slug, students if slug == SLUG else students[:1])
            labs = course.labs
            # As nbgrader does it by itself; its figures are of a course of its own.
            stock = Course(Path(shutil.copytree(course.folder, folder / "stock")))
            stock.api.config.Autograde.pop("autograde_preprocessors", None)
            sides: dict[str, Side] = {
                OURS: partial(ours, course, SLUG, OURS, students, JOBS),
                NBGRADER: partial(nbgrader, stock, students[:BY_NBGRADER]),
                **{slug: partial(ours, course, slug, slug, students[:1], 1) for slug in labs},
            }
            findings = interleave(sides, rounds, seed, progress)
    finally:
        os.sched_setaffinity(0, cores)
    findings.facts = {"hand-ins": CLASS, "jobs": JOBS, "by nbgrader in a round": BY_NBGRADER}
    findings.questions = [
        Question(f"{CLASS} hand-ins of lab 04 on {CORES} cores, each", OURS, bar=Bar(0.1)),
        Question("the same, against nbgrader's loop", OURS, NBGRADER, Bar(1 / 25, "ratio")),
        *(Question(f"one of {slug}", slug, bar=Bar(LONGEST_S.get(slug, MOST_S))) for slug in labs),
    ]
    return findings


def hand_in(course: Course, slug: str, students: list[str]) -> None:
    """Put hand-ins into submitted/."""
    cases = gold.hand_ins(slug)
    for number, student in enumerate(students):
        folder = course.folder / "submitted" / student / slug
        cases[HONEST[number % len(HONEST)]].write(folder)


def ours(
    course: Course, slug: str, name: str, students: list[str], jobs: int
) -> Mapping[str, float]:
    """The seconds of a hand-in, all of them graded again."""
    began = time.perf_counter()
    graded = list(driver.grade(course, slug, students, jobs=jobs, again=True))
    took_s = (time.perf_counter() - began) / len(students)
    if bad := [f"{each.student}: {each.problem}" for each in graded if each.problem]:
        raise LabError(f"Not everything was graded: {bad[0]}")
    return {name: took_s}


def nbgrader(course: Course, students: list[str]) -> Mapping[str, float]:
    """The same by nbgrader's own autograde."""
    began = time.perf_counter()
    for student in students:
        result = course.api.autograde(SLUG, student, force=True)
        if not result["success"]:
            raise LabError(f"nbgrader could not grade {student}: {result['log'][-500:]}")
    return {NBGRADER: (time.perf_counter() - began) / len(students)}
