"""Timing loops of lab 02 as learners write them: a right one, and wrong ones of the usual kinds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

Function, Clock = Callable[[], object], Callable[[], float]
SAMPLES = 11


def step_of(clock: Clock) -> float:
    """The clock's step."""
    began = clock()
    while (now := clock()) == began:
        pass
    first = now
    while (now := clock()) == first:
        pass
    return now - first


def interval(function: Function, clock: Clock, calls: int) -> float:
    """The seconds of so many calls."""
    began = clock()
    for _ in range(calls):
        function()
    return clock() - began


def right(function: Function, clock: Clock) -> list[float]:
    """Doubles the calls until an interval lasts a hundred steps."""
    least, calls = 100 * step_of(clock), 1
    samples: list[float] = []
    while len(samples) < SAMPLES:
        seconds = interval(function, clock, calls)
        if seconds < least:
            calls, samples = 2 * calls, []
        else:
            samples.append(1e6 * seconds / calls)
    return samples


def one_call(function: Function, clock: Clock) -> list[float]:
    """Times single calls: on a coarse clock that is nothing, or a whole step."""
    return [1e6 * interval(function, clock, 1) for _ in range(SAMPLES)]


def fixed_calls(function: Function, clock: Clock) -> list[float]:
    """As many calls as are enough on a usual clock."""
    return [1e6 * interval(function, clock, 1000) / 1000 for _ in range(SAMPLES)]


def own_clock(function: Function, clock: Clock) -> list[float]:
    """Reads another clock than the one that it is given: on this one each call takes a tenth of a second."""
    ticks = count()

    def other() -> float:
        return next(ticks) / 10

    def call() -> None:
        function()
        next(ticks)

    return right(call, other)


def clock_in_the_loop(function: Function, clock: Clock) -> list[float]:
    """Looks at the clock after each call."""
    least, samples = 100 * step_of(clock), []
    for _ in range(SAMPLES):
        began, calls = clock(), 0
        while clock() - began < least:
            function()
            calls += 1
        samples.append(1e6 * (clock() - began) / calls)
    return samples


def seconds(function: Function, clock: Clock) -> list[float]:
    """Gives seconds."""
    return [sample / 1e6 for sample in right(function, clock)]


def one_mean(function: Function, clock: Clock) -> list[float]:
    """Gives a mean in place of samples."""
    samples = right(function, clock)
    return [sum(samples) / len(samples)]


def equal_means(function: Function, clock: Clock) -> list[float]:
    """The mean of all, written as often as samples are asked for."""
    samples = right(function, clock)
    samples[0] *= 1.001
    return [sum(samples) / len(samples)] * SAMPLES


def text(function: Function, clock: Clock) -> Any:
    """Gives a text."""
    return "0.3 µs"


def no_number(function: Function, clock: Clock) -> list[float]:
    """Gives NaN."""
    return [float("nan")] * SAMPLES


def nothing(function: Function, clock: Clock) -> Any:
    """Forgets its return."""
    right(function, clock)


def failing(function: Function, clock: Clock) -> list[float]:
    """Raises an exception."""
    return [1 / 0]


def endless(function: Function, clock: Clock) -> list[float]:
    """Doubles on and on."""
    while True:
        function()
