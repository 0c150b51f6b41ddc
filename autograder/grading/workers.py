"""Processes that each work on one submission at a time; one that dies or hangs costs its submission alone."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

import pandas  # noqa: F401, it is read before the forks

from autograder.grading.one_submission import Outcome

LOOK_EVERY_S = 1.0
# Forks share what the parent has read, as pandas, which most rubrics need.
_FORK = multiprocessing.get_context("fork")
Work = Callable[[str], Outcome]


@dataclass
class Worker:
    """A process, the pipe to it, and the submission that it grades."""

    process: BaseProcess
    pipe: Connection
    student: str = ""
    ends: float = 0.0


def run(
    work: Work,
    students: Sequence[str],
    jobs: int,
    most_s: float,
    lost: str = "It could not be graded",
) -> Iterator[Outcome]:
    """The outcome of each submission as it ends, by so many processes that do `work`.

    None may take longer than `most_s`; `lost` begins the sentence on one that does, or that dies.
    """
    waiting = deque(students)
    workers = [_start(work) for _ in range(min(jobs, len(students)))]
    try:
        while waiting or any(worker.student for worker in workers):
            for worker in workers:
                if waiting and not worker.student:
                    worker.student = waiting.popleft()
                    worker.ends = time.monotonic() + most_s
                    with suppress(OSError):  # its end is seen below
                        worker.pipe.send(worker.student)
            busy = [worker for worker in workers if worker.student]
            ready = wait([worker.pipe for worker in busy], LOOK_EVERY_S)
            for worker in busy:
                if worker.pipe in ready:
                    outcome, why = _received(worker)
                elif time.monotonic() > worker.ends:
                    outcome, why = None, f"it took more than {most_s:g} s"
                else:
                    continue
                student, worker.student = worker.student, ""
                if outcome is None:
                    _kill(worker)
                    workers[workers.index(worker)] = _start(work)
                yield outcome or Outcome(student, problem=f"{lost}: {why}.")
    finally:
        for worker in workers:
            _kill(worker)


def _received(worker: Worker) -> tuple[Outcome | None, str]:
    """What a process has sent, or how it has ended."""
    try:
        return worker.pipe.recv(), ""
    except (EOFError, OSError):
        worker.process.join()
        return None, f"its process ended with {worker.process.exitcode}"


def _start(work: Work) -> Worker:
    ours, its = _FORK.Pipe()
    process = _FORK.Process(target=_serve, args=(its, work), daemon=True)
    process.start()
    its.close()
    return Worker(process, ours)


def _kill(worker: Worker) -> None:
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()


def _serve(pipe: Connection, work: Work) -> None:
    # Ctrl-C is for the parent, which ends us; and what steps log does not belong in a terminal.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.disable(logging.WARNING)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    with suppress(EOFError, OSError):
        while True:
            pipe.send(work(pipe.recv()))
