"""The engines of a pool grade submissions. If an engine dies, its submission is reassigned."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any

from autograder.grading import remote_jobs
from autograder.grading.one_submission import Assignment, Outcome
from beowulf.engines.pool import EnginePool, Start
from beowulf.errors import LabError

LOOK_EVERY_S = 1.0
# For an engine to come up and import everything, on nodes that may share a core.
LONGEST_START_S = 300.0
# How often the engines of a key are started at most, and how many engines may die of one submission.
MOST_STARTS, MOST_DEATHS = 5, 3
SAME_PLACE = "This checkout has to be there too, in the same place, with `make lab` done in it."


@dataclass
class NodeWorker:
    """An engine, its node, and the submission that it grades."""

    engine: int
    call: Any = None
    key: str = ""
    node: str = ""
    student: str = ""
    ends: float = math.inf
    ready: bool = False  # it is ready, and can grade


class Nodes:
    """An engine pool that grades a lab; problems of nodes are in the pool's `said`."""

    def __init__(self, assignment: Assignment, pool: EnginePool, most_s: float) -> None:
        self.assignment, self.pool, self.most_s = assignment, pool, most_s
        self.workers: dict[int, NodeWorker] = {}
        self.ended_engines: set[int] = set()  # engines that the controller may take for alive still
        self.done: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        self.deaths: Counter[str] = Counter()
        self.tries: Counter[str] = Counter()
        self.last_event_s = time.monotonic()
        self._packed_lab = b""

    def __enter__(self) -> Nodes:
        self._packed_lab = remote_jobs.pack_lab(self.assignment)
        self.pool.__enter__()
        self._report_absent_nodes()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.pool.__exit__(kind, problem, trace)

    def run(self, students: list[str]) -> Iterator[Outcome]:
        """The outcome of each submission, in the order in which they end; LabError when no engine is left."""
        waiting = deque(students)
        while waiting or any(worker.student for worker in self.workers.values()):
            self._prepare_new_engines()
            yield from self._requeue_lost(waiting)
            yield from self._assign(waiting)
            yield from self._receive(waiting)

    def _prepare_new_engines(self) -> None:
        """Make engines ready that have come."""
        for engine in self.pool.ids - self.workers.keys() - self.ended_engines:
            worker = NodeWorker(engine)
            with suppress(LabError):  # it has gone already
                self._submit(worker, remote_jobs.prepare, remote_jobs.programs(), self._packed_lab)
                self.workers[engine] = worker
                self.last_event_s = time.monotonic()

    def _submit(self, worker: NodeWorker, *what: Any) -> None:
        call = self.pool.call(worker.engine, *what)
        worker.call = call
        call.add_done_callback(lambda _: self.done.put((worker.engine, call)))

    def _requeue_lost(self, waiting: deque[str]) -> Iterator[Outcome]:
        """If an engine dies, its submission waits again, and the engine is started again."""
        there = self.pool.ids
        for worker in [each for each in self.workers.values() if each.engine not in there]:
            self.pool.end(worker.key)
            yield from self._requeue(worker, waiting)
        for start in self.pool.ended():
            self.last_event_s = time.monotonic()
            for worker in [each for each in self.workers.values() if each.key == start.key]:
                yield from self._requeue(worker, waiting)
            self._start_again(start)
        self._refuse_to_wait()

    def _start_again(self, start: Start) -> None:
        where = self.pool.node(start.key)
        self.tries[start.key] += 1
        try:
            if self.tries[start.key] >= MOST_STARTS:
                raise LabError(f"{start.message}.", SAME_PLACE if start.at_once else "")
            self.pool.start(start.key)
            self._report_absent_nodes()
        except LabError as problem:
            self._report(f"No more is graded on {where}: {problem}")

    def _requeue(self, worker: NodeWorker, waiting: deque[str]) -> Iterator[Outcome]:
        del self.workers[worker.engine]
        self.ended_engines.add(worker.engine)
        student = worker.student
        if not student:
            return
        self.deaths[student] += 1
        if self.deaths[student] < MOST_DEATHS:
            waiting.append(student)
            return
        why = f"the engine that graded it died {MOST_DEATHS} times, at last on {worker.node}"
        yield Outcome(student, problem=f"It could not be graded: {why}.")

    def _refuse_to_wait(self) -> None:
        """LabError when no engine can grade, and none will start."""
        if any(worker.ready for worker in self.workers.values()):
            return
        to_come = sum(start.engines for start in self.pool.starts.values()) - len(self.workers)
        busy = any(not worker.node for worker in self.workers.values())
        waited_s = time.monotonic() - self.last_event_s
        if waited_s < LONGEST_START_S and (busy or to_come > 0):
            return
        raise LabError(
            "No node can grade: " + (" ".join(self.pool.messages) or "no engine came up."),
            "What was graded is kept; `--jobs` without `--cluster` grades on this machine.",
        )

    def _assign(self, waiting: deque[str]) -> Iterator[Outcome]:
        for worker in self.workers.values():
            if not waiting:
                return
            if not worker.ready or worker.student:
                continue
            student = waiting.popleft()
            try:
                job = remote_jobs.pack(self.assignment, student)
            except OSError as problem:
                why = problem.strerror or str(problem)
                yield Outcome(student, problem=f"It cannot be read: {why}.")
                continue
            try:
                self._submit(worker, remote_jobs.work, job)
            except LabError:  # its end is seen in the next round
                waiting.append(student)
                continue
            worker.student, worker.ends = student, time.monotonic() + self.most_s

    def _receive(self, waiting: deque[str]) -> Iterator[Outcome]:
        with suppress(Empty):
            engine, call = self.done.get(timeout=LOOK_EVERY_S)
            worker = self.workers.get(engine)
            if worker is not None and worker.call is call:
                yield from self._handle_result(worker, waiting)
        for worker in self.workers.values():
            if worker.student and time.monotonic() > worker.ends:
                student, worker.student, worker.ready = worker.student, "", False
                self.pool.end(worker.key)
                why = f"it took more than {self.most_s:g} s on {worker.node}"
                yield Outcome(student, problem=f"It could not be graded: {why}.")

    def _handle_result(self, worker: NodeWorker, waiting: deque[str]) -> Iterator[Outcome]:
        """Take an engine's message: that it is ready, or the result of a submission."""
        from ipyparallel.error import EngineError

        self.last_event_s = time.monotonic()
        try:
            result = worker.call.result()
        except EngineError:
            self.pool.end(worker.key)  # it died: _requeue_lost() does the rest
            return
        except Exception as problem:  # whatever was raised there
            self._report_unprepared(worker, problem)
            if worker.student:
                student, worker.student = worker.student, ""
                why = f"{type(problem).__name__} on {worker.node}: {problem}".splitlines()[0]
                yield Outcome(student, problem=f"It could not be graded ({why[:200]}).")
            return
        if not worker.node:
            worker.key, worker.node, why = result["key"], result["node"], result["problem"]
            worker.ready = not why
            if why:
                self._report(f"{worker.node} cannot grade. {why}")
            return
        student, worker.student = worker.student, ""
        outcome = remote_jobs.receive(self.assignment, result)
        if outcome.stops_all:
            worker.ready = False
            self._report(f"{worker.node} cannot grade any more. {outcome.problem}")
            waiting.append(student)
            return
        yield outcome

    def _report_unprepared(self, worker: NodeWorker, problem: Exception) -> None:
        if not worker.node:
            message = (str(problem).splitlines() or [type(problem).__name__])[0]
            worker.node = "a node"
            self._report(f"An engine cannot be made ready: {message[:300]}")

    def _report_absent_nodes(self) -> None:
        for problem in self.pool.absent.values():
            self._report(problem)

    def _report(self, message: str) -> None:
        if message not in self.pool.messages:
            self.pool.messages.append(message)
