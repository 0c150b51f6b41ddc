"""Tests a learner's functions on a node: calls of known length on clocks of known step, and copies of arrays.

The text of this module runs on a node's engine, because a node need not have this project. `names` are the names that
the learner has defined there.
"""

from __future__ import annotations

import inspect
import math
import os
import random
import time
import timeit
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

READ_NS = 60  # how long reading the clock takes, as with a real one
MOST_CALLS, MOST_READS = 2_000_000, 5_000_000
MOST_SAMPLES = 200
CLOSE = 1e-6  # a sample is the quotient of two observed numbers
# The node's own clock: the learner's loop and timeit, alternating.
ROUNDS, REPEATS, CALLS = 3, 11, 5000
PASSES, COPY_REPEATS = 3, 7
COPIES_S = 5e-4  # total time of our copies of one size


class TooManyError(Exception):
    """The loop calls its function, or reads its clock, far more often than necessary."""


class KnownCall:
    """A function that takes `length_ns`, and a clock with steps of `step_ns`.

    Their time is artificial: it passes only when one of them is called, so a busy machine changes nothing.
    """

    def __init__(self, length_ns: int, step_ns: int, began_ns: int) -> None:
        self.length_ns, self.step_ns, self.now_ns = length_ns, step_ns, began_ns
        self.calls = self.reads = 0
        self.intervals: list[
            tuple[int, int]
        ] = []  # calls, and the steps that the clock showed for them
        self._pending, self._shown = 0, began_ns // step_ns

    def __call__(self) -> None:
        """Let the time of a call pass."""
        self.now_ns += self.length_ns
        self.calls += 1
        self._pending += 1
        if self.calls > MOST_CALLS:
            raise TooManyError(f"it called its function more than {MOST_CALLS:,} times")

    def clock(self) -> float:
        """Seconds, on a clock that stands still between two steps."""
        self.now_ns += READ_NS
        self.reads += 1
        if self.reads > MOST_READS:
            raise TooManyError(f"it read its clock more than {MOST_READS:,} times")
        shown = self.now_ns // self.step_ns
        if self._pending:
            self.intervals.append((self._pending, shown - self._shown))
            self._pending = 0
        self._shown = shown
        return shown * self.step_ns * 1e-9

    def steps_of(self, sample_us: float) -> int | None:
        """The number of steps of the longest interval that gives this sample; None if no interval does."""
        us = self.step_ns / 1000
        fitting = [
            steps
            for calls, steps in self.intervals
            if math.isclose(sample_us, steps * us / calls, rel_tol=CLOSE)
        ]
        return max(fitting, default=None)


def samples_of(function: Any, *arguments: Any) -> tuple[list[float], str]:
    """The numbers that a learner's function returns, or why it returns none."""
    if not callable(function):
        return [], "it is not written yet"
    try:
        given = function(*arguments)
    except TooManyError as problem:
        return [], f"{problem}"
    except Exception as problem:
        return [], f"{type(problem).__name__}: {problem}"
    if given is None:
        return [], "it returns nothing: it is not written yet, or its `return` is missing"
    try:
        numbers = [float(each) for each in given]
    except (TypeError, ValueError):
        return [], f"it returns {type(given).__name__}, not a list of numbers"
    for each in numbers:
        if not math.isfinite(each) or each < 0:
            return [], f"one of its samples is {each:g}"
    return numbers[:MOST_SAMPLES], ""


def asked(function: Any, trials: list[list[int]]) -> list[dict[str, Any]]:
    """What the function returns for calls of known length (ns) on clocks of known step (ns), one dict per trial."""
    answers = []
    for length_ns, step_ns, began_ns in trials:
        call = KnownCall(length_ns, step_ns, began_ns)
        samples, why = samples_of(function, call, call.clock)
        answers.append(
            {
                **{"length_us": length_ns / 1000, "step_us": step_ns / 1000},
                **{"samples": samples, "steps": [call.steps_of(each) for each in samples]},
                **{"calls": call.calls, "intervals": len(call.intervals), "why": why},
            }
        )
    return answers


def beside_timeit(function: Any, call: Callable[[], object]) -> list[dict[str, Any]]:
    """The same real call, timed alternately by the learner's loop and by timeit: samples in µs, one dict per round."""
    rounds = []
    for _ in range(ROUNDS):
        samples, why = samples_of(function, call, time.perf_counter)
        seconds = timeit.repeat(call, number=CALLS, repeat=REPEATS)
        rounds.append({"own": samples, "timeit": [1e6 * s / CALLS for s in seconds], "why": why})
    return rounds


def source_of(names: Mapping[str, Any], name: str) -> str:
    """The text of a learner's function; "" if there is none."""
    try:
        return inspect.getsource(names[name])
    except (KeyError, OSError, TypeError):
        return ""


def looked_at(names: Mapping[str, Any], name: str, trials: list[list[int]]) -> dict[str, Any]:
    """Everything that a Record keeps about a timing loop."""
    answers = asked(names.get(name), trials)
    real = []
    if not any(each["why"] for each in answers):
        real = beside_timeit(names.get(name), os.getppid)
    return {"source": source_of(names, name), "trials": answers, "real": real}


def compared(
    names: Mapping[str, Any], name: str, sizes: Sequence[int], seed: int
) -> dict[str, Any]:
    """The learner's copies and numpy's, by pass and size, in shuffled order: samples (µs), or why there are none."""
    source, passes = source_of(names, name), list[dict[str, Any]]()
    for number in range(PASSES):
        order = list(sizes)
        random.Random(seed + number).shuffle(order)
        for size in order:
            samples, why = samples_of(names.get(name), size)
            if why or not samples:
                why = why or "it returns an empty list"
                return {"source": source, "passes": passes, "why": why}
            passes.append({"size_bytes": size, "own": samples, "numpy": copies_us(size)})
    return {"source": source, "passes": passes, "why": ""}


def copies_us(size: int) -> list[float]:
    """How long numpy takes to copy `size` bytes between two existing arrays: samples in µs."""
    source, target = np.ones(size, np.uint8), np.zeros(size, np.uint8)
    timer = timeit.Timer(lambda: np.copyto(target, source))
    once = min(timer.repeat(3, 1))
    number = max(1, round(COPIES_S / max(once, 1e-7)))
    return [1e6 * seconds / number for seconds in timer.repeat(COPY_REPEATS, number)]
