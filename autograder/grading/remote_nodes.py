"""A crew's engines at work on submissions; one that dies gives its submission to another one."""

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
    """An engine, where it is, and what it is at."""

    engine: int
    call: Any = None
    key: str = ""
    node: str = ""
    student: str = ""
    ends: float = math.inf
    well: bool = False  # it is ready, and can grade


class Nodes:
    """A crew that grades a lab; what goes wrong on nodes is in the crew's `said`."""

    def __init__(self, assignment: Assignment, crew: EnginePool, most_s: float) -> None:
        self.assignment, self.crew, self.most_s = assignment, crew, most_s
        self.hands: dict[int, NodeWorker] = {}
        self.left: set[int] = set()  # engines that the controller may take for alive still
        self.done: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        self.deaths: Counter[str] = Counter()
        self.tries: Counter[str] = Counter()
        self.news = time.monotonic()
        self._kit = b""

    def __enter__(self) -> Nodes:
        self._kit = remote_jobs.kit(self.assignment)
        self.crew.__enter__()
        self._say_who_is_absent()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.crew.__exit__(kind, problem, trace)

    def run(self, students: list[str]) -> Iterator[Outcome]:
        """The outcome of each submission, in the order in which they end; LabError when no engine is left."""
        waiting = deque(students)
        while waiting or any(hand.student for hand in self.hands.values()):
            self._greet()
            yield from self._bury(waiting)
            yield from self._hand_out(waiting)
            yield from self._hear(waiting)

    def _greet(self) -> None:
        """Make engines ready that have come."""
        for engine in self.crew.ids - self.hands.keys() - self.left:
            hand = NodeWorker(engine)
            with suppress(LabError):  # it has gone already
                self._call(hand, remote_jobs.prepare, remote_jobs.programs(), self._kit)
                self.hands[engine] = hand
                self.news = time.monotonic()

    def _call(self, hand: NodeWorker, *what: Any) -> None:
        call = self.crew.call(hand.engine, *what)
        hand.call = call
        call.add_done_callback(lambda _: self.done.put((hand.engine, call)))

    def _bury(self, waiting: deque[str]) -> Iterator[Outcome]:
        """What engines were at that have died goes back; their starts are tried again."""
        there = self.crew.ids
        for hand in [each for each in self.hands.values() if each.engine not in there]:
            self.crew.end(hand.key)
            yield from self._again(hand, waiting)
        for start in self.crew.ended():
            self.news = time.monotonic()
            for hand in [each for each in self.hands.values() if each.key == start.key]:
                yield from self._again(hand, waiting)
            self._start_again(start)
        self._refuse_to_wait()

    def _start_again(self, start: Start) -> None:
        where = self.crew.node(start.key)
        self.tries[start.key] += 1
        try:
            if self.tries[start.key] >= MOST_STARTS:
                raise LabError(f"{start.message}.", SAME_PLACE if start.at_once else "")
            self.crew.start(start.key)
            self._say_who_is_absent()
        except LabError as problem:
            self._say(f"No more is graded on {where}: {problem}")

    def _again(self, hand: NodeWorker, waiting: deque[str]) -> Iterator[Outcome]:
        del self.hands[hand.engine]
        self.left.add(hand.engine)
        student = hand.student
        if not student:
            return
        self.deaths[student] += 1
        if self.deaths[student] < MOST_DEATHS:
            waiting.append(student)
            return
        why = f"the engine that was at it died {MOST_DEATHS} times, at last on {hand.node}"
        yield Outcome(student, problem=f"It could not be graded: {why}.")

    def _refuse_to_wait(self) -> None:
        """LabError when no engine is there that can grade, and none will come."""
        if any(hand.well for hand in self.hands.values()):
            return
        to_come = sum(start.engines for start in self.crew.starts.values()) - len(self.hands)
        busy = any(not hand.node for hand in self.hands.values())
        waited_s = time.monotonic() - self.news
        if waited_s < LONGEST_START_S and (busy or to_come > 0):
            return
        raise LabError(
            "No node can grade: " + (" ".join(self.crew.messages) or "no engine came up."),
            "What was graded stands; `--jobs` without `--cluster` grades on this machine.",
        )

    def _hand_out(self, waiting: deque[str]) -> Iterator[Outcome]:
        for hand in self.hands.values():
            if not waiting:
                return
            if not hand.well or hand.student:
                continue
            student = waiting.popleft()
            try:
                errand = remote_jobs.pack(self.assignment, student)
            except OSError as problem:
                why = problem.strerror or str(problem)
                yield Outcome(student, problem=f"It cannot be read: {why}.")
                continue
            try:
                self._call(hand, remote_jobs.work, errand)
            except LabError:  # its end is seen in the next round
                waiting.append(student)
                continue
            hand.student, hand.ends = student, time.monotonic() + self.most_s

    def _hear(self, waiting: deque[str]) -> Iterator[Outcome]:
        with suppress(Empty):
            engine, call = self.done.get(timeout=LOOK_EVERY_S)
            hand = self.hands.get(engine)
            if hand is not None and hand.call is call:
                yield from self._take(hand, waiting)
        for hand in self.hands.values():
            if hand.student and time.monotonic() > hand.ends:
                student, hand.student, hand.well = hand.student, "", False
                self.crew.end(hand.key)
                why = f"it took more than {self.most_s:g} s on {hand.node}"
                yield Outcome(student, problem=f"It could not be graded: {why}.")

    def _take(self, hand: NodeWorker, waiting: deque[str]) -> Iterator[Outcome]:
        """What an engine said: that it is ready, or what came of a submission."""
        from ipyparallel.error import EngineError

        self.news = time.monotonic()
        try:
            said = hand.call.result()
        except EngineError:
            self.crew.end(hand.key)  # it died: _bury() has the rest
            return
        except Exception as problem:  # whatever was raised there
            self._complain(hand, problem)
            if hand.student:
                student, hand.student = hand.student, ""
                why = f"{type(problem).__name__} on {hand.node}: {problem}".splitlines()[0]
                yield Outcome(student, problem=f"It could not be graded ({why[:200]}).")
            return
        if not hand.node:
            hand.key, hand.node, why = said["key"], said["node"], said["problem"]
            hand.well = not why
            if why:
                self._say(f"{hand.node} cannot grade. {why}")
            return
        student, hand.student = hand.student, ""
        outcome = remote_jobs.receive(self.assignment, said)
        if outcome.stops_all:
            hand.well = False
            self._say(f"{hand.node} cannot grade any more. {outcome.problem}")
            waiting.append(student)
            return
        yield outcome

    def _complain(self, hand: NodeWorker, problem: Exception) -> None:
        if not hand.node:
            said = (str(problem).splitlines() or [type(problem).__name__])[0]
            hand.node = "a node"
            self._say(f"An engine cannot be made ready: {said[:300]}")

    def _say_who_is_absent(self) -> None:
        for problem in self.crew.absent.values():
            self._say(problem)

    def _say(self, what: str) -> None:
        if what not in self.crew.messages:
            self.crew.messages.append(what)
