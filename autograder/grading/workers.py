"""Processes that each work on one submission at a time; one that dies or hangs costs its submission alone."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType

from autograder.grading.one_submission import Outcome

LOOK_EVERY_S = 1.0
# Forks share what the parent has read.
_FORK = multiprocessing.get_context("fork")
Work = Callable[[str], Outcome]


@dataclass
class Worker:
    """A process, the pipe to it, and the submission that it grades."""

    process: BaseProcess
    pipe: Connection
    student: str = ""
    ends: float = 0.0


class Workers:
    """So many processes that do `work`, which takes no longer than `most_s`; `lost` begins the sentence if it fails."""

    def __init__(
        self, work: Work, count: int, most_s: float, lost: str = "It could not be graded"
    ) -> None:
        self.work, self.count, self.most_s, self.lost = work, count, most_s, lost
        self.all: list[Worker] = []

    def __enter__(self) -> Workers:
        self.all = [self._start() for _ in range(self.count)]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in self.all:
            _kill(worker)

    def run(self, students: list[str]) -> Iterator[Outcome]:
        """The outcome of each submission as it ends."""
        waiting = deque(students)
        while waiting or any(worker.student for worker in self.all):
            for worker in self.all:
                if waiting and not worker.student:
                    worker.student = waiting.popleft()
                    worker.ends = time.monotonic() + self.most_s
                    with suppress(OSError):  # its end is seen below
                        worker.pipe.send(worker.student)
            busy = {worker.pipe: worker for worker in self.all if worker.student}
            ready = wait(list(busy), LOOK_EVERY_S)
            for pipe, worker in busy.items():
                if pipe in ready:
                    yield self._receive(worker)
                elif time.monotonic() > worker.ends:
                    yield self._replace(worker, f"it took more than {self.most_s:g} s")

    def _receive(self, worker: Worker) -> Outcome:
        try:
            outcome: Outcome = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join()
            return self._replace(worker, f"its process ended with {worker.process.exitcode}")
        worker.student = ""
        return outcome

    def _replace(self, worker: Worker, why: str) -> Outcome:
        student = worker.student
        _kill(worker)
        self.all[self.all.index(worker)] = self._start()
        return Outcome(student, problem=f"{self.lost}: {why}.")

    def _start(self) -> Worker:
        ours, its = _FORK.Pipe()
        process = _FORK.Process(target=_serve, args=(its, self.work), daemon=True)
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
