"""What run_heat.py can be asked for: each task checks functions of heat.py, and gives what is to be timed.

What is wrong is found by heat_checks.py. Half of the ranks come late to each exchange that is checked, and each rank
writes over its border rows as soon as its exchange has returned: so a receive that nobody waited for shows every time,
and a send only where the kernel has not taken the row yet.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import heat_checks as checks
from heat_checks import Part
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.Get_rank(), WORLD.Get_size()
FEW_ROWS, FEW_COLUMNS = 3, 8  # of a rank
OVERLAPPED_ROWS = (
    1,
    2,
    3,
    32,
)  # of a rank: one is both of its border rows, and many leave work to do meanwhile
ANNOUNCED_COLUMNS = 20_000  # 160 kB, so many that the library asks before it sends a row
TRIALS, LATE_S = 4, 0.03
SLOW_BYTES_PER_S = 1e6  # with a slower cable a long exchange would pass for a deadlock
_kept = []  # what a message may still come from or go to


def nothing():
    """No preparation."""


@dataclass
class Operation:
    """It is made `ready`; then it goes, which is timed; then its `fault` is looked for in what it gave."""

    function: str
    at: dict
    go: Callable
    fault: Callable
    ready: Callable = nothing
    quantity: str = "step_s"
    steps: int = 1  # of one call
    count: int = 1  # calls of a sample
    warm_up: bool = True


def steps(harness, asked, tell):
    """Steps on one rank, by the functions step_WAY; the loops only up to `--most` rows."""
    for way in asked.ways:
        name, at = f"step_{way}", {"way": way}
        harness.timed(Operation(name, at, checked_step(harness, name, at), str))
        for rows in asked.rows:
            if way != "loops" or rows <= (asked.most or rows):
                yield step(harness, name, Part(rows, rows, 0, 1), way)


def needed_step(harness):
    """Check the step that what comes now needs."""
    name = "step_numpy"
    harness.timed(Operation(name, {}, checked_step(harness, name, {}), str))


def checked_step(harness, name, at):
    """What finds a fault in a step of a small plate."""
    return lambda: checks.step_fault(lambda *plates: harness.call(name, at, *plates))


def run(harness, asked, tell):
    """`--steps` steps by the function run."""
    at = {"way": "run"}

    def shared():
        return checks.shares_fault(lambda *numbers: harness.call("my_rows", at, *numbers))

    harness.timed(Operation("my_rows", at, shared, str))
    for number in (1, 5):
        harness.timed(whole_run(harness, 2 * RANKS + 3, FEW_COLUMNS, number))
    for rows in asked.rows:
        yield whole_run(harness, rows, rows, asked.steps)


def whole_run(harness, rows, columns, number):
    """One call of the function run."""
    at = {"way": "run", "rows": rows, "columns": columns}

    def fault(part):
        mine = harness.call("my_rows", at, rows, RANKS, RANK)
        return checks.run_fault(part, rows, columns, number, RANKS, *map(int, mine))

    def go():
        return harness.call("run", at, WORLD, rows, columns, number)

    return Operation("run", at, go, fault, steps=number)


def exchange(harness, asked, tell):
    """Exchanges by the functions exchange_WAY, alone and before a step; send_first only up to `--most` columns."""
    needed_step(harness)
    for way in asked.ways:
        name, first = f"exchange_{way}", way == "send_first"
        for columns in (FEW_COLUMNS,) if first else (FEW_COLUMNS, ANNOUNCED_COLUMNS):
            for trial in range(TRIALS):
                harness.timed(late_exchange(harness, name, way, columns, trial))
        for columns in asked.columns:
            if not first or columns <= (asked.most or columns):
                mine = part(asked.rows[0], columns)
                yield exchanged(harness, name, mine, way)
                yield exchange_and_step(harness, name, mine, way)


def overlap(harness, asked, tell):
    """An exchange alone, a step alone, the one after the other, and overlapped_step."""
    needed_step(harness)
    for columns in (FEW_COLUMNS, ANNOUNCED_COLUMNS):
        for trial in range(TRIALS):
            harness.timed(late_overlap(harness, columns, trial))
    for columns in asked.columns:
        mine = part(asked.rows[0], columns)
        yield exchanged(harness, "exchange_nonblocking", mine, "exchange")
        yield step(harness, "step_numpy", mine, "compute", "compute_s")
        yield exchange_and_step(harness, "exchange_nonblocking", mine, "before")
        yield overlapped(harness, mine)


def wire(harness, asked, tell):
    """`--steps` steps, and no other message between neighbours: for a capture, or a timeline."""
    needed_step(harness)
    way, mine = asked.ways[0], part(asked.rows[0], asked.columns[0])
    overlaps = way == "overlapped"
    name = "overlapped_step" if overlaps else f"exchange_{way}"
    at, plates = place(mine, way), [mine.old, mine.new]
    wanted = mine.whole
    for _ in range(asked.steps):
        wanted = checks.after_step(wanted)
    wanted = wanted[mine.first : mine.first + mine.count]

    def go():
        for _ in range(asked.steps):
            if overlaps:
                harness.call(name, at, WORLD, *plates)
            else:
                harness.call(name, at, WORLD, plates[0])
                harness.call("step_numpy", at, *plates)
            plates.reverse()

    def fault(_):
        row = checks.first_wrong_row(plates[0][1:-1], wanted)
        return "" if row is None else f"row {mine.first + row} is wrong after {asked.steps} steps"

    yield Operation(name, at, go, fault, mine.reset, steps=asked.steps, warm_up=False)


def deadlock(harness, asked, tell):
    """Exchanges with longer and longer rows, until one does not come to its end."""
    way, limit_s = asked.ways[0], asked.limit
    for columns in asked.columns:
        harness.limit_s = limit_s + 8 * columns * 8 / SLOW_BYTES_PER_S
        harness.timed(exchanged(harness, f"exchange_{way}", part(RANKS + 2, columns), way))
        if RANK == 0:
            tell("result", way=way, columns=columns, ended=True)
    return ()


TASKS = {each.__name__: each for each in (steps, run, exchange, overlap, wire, deadlock)}


def part(rows, columns, seed=1):
    """This rank's part of a plate."""
    return Part(rows, columns, RANK, RANKS, seed)


def place(mine, way):
    """The coordinates of a sample."""
    rows, columns = mine.whole.shape
    return {"way": way, "rows": rows, "columns": columns}


def step(harness, name, mine, way, quantity="step_s"):
    """A step of this rank's rows, without any message."""
    at = place(mine, way)

    def ready():
        mine.reset()
        mine.old[:] = mine.before

    def go():
        harness.call(name, at, mine.old, mine.new)

    return Operation(name, at, go, lambda _: mine.step_fault(), ready, quantity)


def exchanged(harness, name, mine, way):
    """An exchange alone."""
    at = place(mine, way)

    def go():
        harness.call(name, at, WORLD, mine.old)

    return Operation(name, at, go, lambda _: mine.ghosts_fault(), mine.reset, "exchange_s")


def exchange_and_step(harness, name, mine, way):
    """An exchange, then a step."""
    at = place(mine, way)

    def go():
        harness.call(name, at, WORLD, mine.old)
        harness.call("step_numpy", at, mine.old, mine.new)

    return Operation(name, at, go, lambda _: mine.step_fault(), mine.reset)


def overlapped(harness, mine):
    """overlapped_step."""
    at = place(mine, "overlapped")

    def go():
        harness.call("overlapped_step", at, WORLD, mine.old, mine.new)

    return Operation("overlapped_step", at, go, lambda _: mine.step_fault(), mine.reset)


def late_exchange(harness, name, way, columns, trial):
    """An exchange to which every other rank comes late; what it gives is a copy of the plate."""
    mine = part(FEW_ROWS * RANKS + 2, columns, trial)
    at = place(mine, way)
    _kept.append(mine)

    def go():
        if (RANK + trial) % 2:
            time.sleep(LATE_S)
        harness.call(name, at, WORLD, mine.old)
        got = mine.old.copy()
        mine.old[1:-1] = checks.LATE
        return got

    return Operation(name, at, go, mine.ghosts_fault, mine.reset)


def late_overlap(harness, columns, trial):
    """The same with overlapped_step."""
    mine = part(OVERLAPPED_ROWS[trial] * RANKS + 2, columns, trial)
    operation = overlapped(harness, mine)
    _kept.append(mine)

    def go(on_time=operation.go):
        if (RANK + trial) % 2:
            time.sleep(LATE_S)
        on_time()
        mine.old[1:-1] = checks.LATE

    operation.go = go
    return operation
