"""The heat program as learners write it: right, and wrong in the usual ways, with what is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from beowulf.exercises.heat import program

RIGHT: Mapping[str, str] = {
    "step_loops": '''
def step_loops(old, new):
    """One point at a time."""
    for i in range(1, old.shape[0] - 1):
        for j in range(1, old.shape[1] - 1):
            new[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])
''',
    "step_numpy": '''
def step_numpy(old, new):
    """Whole parts of the plate."""
    around = old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]
    new[1:-1, 1:-1] = 0.25 * around
''',
    "my_rows": '''
def my_rows(rows, ranks, rank):
    """The first ranks have one more where it does not divide."""
    share, rest = (rows - 2) // ranks, (rows - 2) % ranks
    count = share + 1 if rank < rest else share
    return 1 + rank * share + min(rank, rest), count
''',
    "run": '''
def run(world, rows, columns, steps):
    """Exchange, step, swap."""
    first, count = my_rows(rows, world.size, world.rank)
    old = np.zeros((count + 2, columns))
    if world.rank == 0:
        old[0] = 1.0
    new = old.copy()
    for _ in range(steps):
        exchange(world, old)
        step_numpy(old, new)
        old, new = new, old
    return old
''',
    "exchange_send_first": '''
def exchange_send_first(world, plate):
    """All sends, then all receives."""
    if world.rank > 0:
        world.Send(plate[1], dest=world.rank - 1)
    if world.rank < world.size - 1:
        world.Send(plate[-2], dest=world.rank + 1)
    if world.rank > 0:
        world.Recv(plate[0], source=world.rank - 1)
    if world.rank < world.size - 1:
        world.Recv(plate[-1], source=world.rank + 1)
''',
    "exchange_nonblocking": '''
def exchange_nonblocking(world, plate):
    """Post all four, wait for all four."""
    up = world.rank - 1 if world.rank > 0 else MPI.PROC_NULL
    down = world.rank + 1 if world.rank < world.size - 1 else MPI.PROC_NULL
    requests = [
        world.Irecv(plate[0], source=up),
        world.Irecv(plate[-1], source=down),
        world.Isend(plate[1], dest=up),
        world.Isend(plate[-2], dest=down),
    ]
    MPI.Request.Waitall(requests)
''',
    "overlapped_step": '''
def overlapped_step(world, old, new):
    """Slices of the inner rows, with a look at the messages after each of them; then the two border rows."""
    up = world.rank - 1 if world.rank > 0 else MPI.PROC_NULL
    down = world.rank + 1 if world.rank < world.size - 1 else MPI.PROC_NULL
    requests = [
        world.Irecv(old[0], source=up),
        world.Irecv(old[-1], source=down),
        world.Isend(old[1], dest=up),
        world.Isend(old[-2], dest=down),
    ]
    last = len(old) - 2
    for begin in range(2, last, 16):
        end = min(begin + 16, last)
        step_numpy(old[begin - 1 : end + 1], new[begin - 1 : end + 1])
        MPI.Request.Testall(requests)
    MPI.Request.Waitall(requests)
    step_numpy(old[:3], new[:3])
    if last > 1:
        step_numpy(old[-3:], new[-3:])
''',
}
HEAT_STEP = """
static void heat_step(int rows, int columns, const double *old, double *new) {
    for (int i = 1; i < rows - 1; i++)
        for (int j = 1; j < columns - 1; j++) {
            const double *at = old + (long)i * columns + j;
            new[(long)i * columns + j] = 0.25 * (at[-columns] + at[columns] + at[-1] + at[1]);
        }
}
"""
POSTED = """
    int columns = plate->columns, rows = plate->rows, done;
    MPI_Request requests[4];
    check(MPI_Irecv(row_of(plate, 0), columns, MPI_DOUBLE, plate->above, TAG, MPI_COMM_WORLD,
                    &requests[0]));
    check(MPI_Irecv(row_of(plate, rows + 1), columns, MPI_DOUBLE, plate->below, TAG, MPI_COMM_WORLD,
                    &requests[1]));
    check(MPI_Isend(row_of(plate, 1), columns, MPI_DOUBLE, plate->above, TAG, MPI_COMM_WORLD,
                    &requests[2]));
    check(MPI_Isend(row_of(plate, rows), columns, MPI_DOUBLE, plate->below, TAG, MPI_COMM_WORLD,
                    &requests[3]));
"""
INNER_ROWS = """
    for (int row = 2; row < rows; row++) {
        step_rows(plate, row, row);
        check(MPI_Testall(4, requests, &done, MPI_STATUSES_IGNORE));
    }
"""
WAITED = "    check(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));\n"
BORDER_ROWS = "    step_rows(plate, 1, 1);\n    step_rows(plate, rows, rows);\n"
UNCHANGED = "    one_after_the_other(plate); /* in place of this line */\n"


def overlapped(*parts: str) -> str:
    """heat_overlap.c with these parts."""
    text = (program.ORIGINALS / program.OVERLAP_C).read_text()
    assert UNCHANGED in text
    return text.replace(UNCHANGED, "".join(parts))


def heat_step(function: str = HEAT_STEP) -> str:
    """heat_step.c with this function."""
    text = (program.ORIGINALS / program.STEP_C).read_text()
    head, _, rest = text.partition("static void heat_step(")
    return f"{head}{function.strip()}\n\nint main{rest.partition('int main')[2]}"


OVERLAP = overlapped(POSTED, INNER_ROWS, WAITED, BORDER_ROWS)


GIVEN = {3: ("exchange",), 4: ("exchange_in_turns",)}  # by lab


def heat(lab: int = 9, **functions: str) -> str:
    """heat.py as it is when a lab is done, with these functions in place of the right ones."""
    text = program.composed(2).partition("# ---- Lab")[0]
    for number, names in program.FUNCTIONS.items():
        if number <= lab:
            text += "".join(f"\n{given(name)}\n" for name in GIVEN.get(number, ()))
            text += "\n".join(functions.get(name, RIGHT[name]) for name in names)
    return text


def given(name: str) -> str:
    """A function that nobody has to write, as heat.py has it."""
    return program.function((program.ORIGINALS / program.FILE).read_text(), name).source


def source(name: str) -> str:
    """The right source of a function, as a Record keeps it."""
    in_c = {"heat_step": heat_step(), "overlapped": OVERLAP}
    return in_c.get(name) or RIGHT.get(name, "").strip() or given(name)


def write(folder: Path, lab: int = 9, **functions: str) -> Path:
    """The learner's files in a folder, done up to a lab; heat.py."""
    program.lay_out(folder)
    (folder / program.STEP_C).write_text(heat_step())
    (folder / program.OVERLAP_C).write_text(OVERLAP)
    file = folder / program.FILE
    file.write_text(heat(lab, **functions))
    return file


# What is said of a function that never returns.
HANGING = (
    "it does not finish",
    "compare neighbours, tags and numbers of messages",
    "Every rank that waits is sending",
)


@dataclass(frozen=True)
class Wrong:
    """A function with a usual mistake: from the right one, what is replaced by what; and what is to be said of it."""

    lab: int
    name: str
    before: str
    after: str
    said: str

    @property
    def hangs(self) -> bool:
        """Whether it is known by not coming to its end."""
        return self.said in HANGING

    @property
    def function(self) -> str:
        """The wrong function."""
        right = RIGHT[self.name]
        assert self.before in right, self
        return right.replace(self.before, self.after)


# By what is wrong, as a person says it.
WRONG: Mapping[str, Wrong] = {
    "not divided": Wrong(2, "step_numpy", "0.25 * around", "around", "not divided by 4"),
    "the point itself": Wrong(
        2, "step_numpy", "0.25 * around", "0.2 * (around + old[1:-1, 1:-1])", "only its four neighbours",
    ),
    "in place": Wrong(
        2, "step_loops", "old[i - 1, j] + old[i + 1, j] + old[i, j - 1]",
        "new[i - 1, j] + old[i + 1, j] + new[i, j - 1]", "read `old` alone",
    ),
    "one row short": Wrong(
        2, "step_loops", "range(1, old.shape[0] - 1)", "range(1, old.shape[0] - 2)",
        "row 5, column 1 of `new` is not filled",
    ),
    "edges overwritten": Wrong(
        2, "step_numpy", "new[1:-1, 1:-1] = 0.25 * around", "new[1:-1, 1:-1] = 0.25 * around\n    new[0] = 0.0",
        "the edge of `new` is overwritten: its first row",
    ),
    "returned": Wrong(
        2, "step_numpy", "new[1:-1, 1:-1] = 0.25 * around",
        "done = old.copy()\n    done[1:-1, 1:-1] = 0.25 * around\n    return done", "it returns a plate",
    ),
    "old changed": Wrong(
        2, "step_numpy", "new[1:-1, 1:-1] = 0.25 * around",
        "new[1:-1, 1:-1] = 0.25 * around\n    old[1:-1] = new[1:-1]", "row 1 of `old` is changed",
    ),
    "an index": Wrong(
        2, "step_loops", "range(1, old.shape[1] - 1)", "range(1, old.shape[1] + 1)", "IndexError in line",
    ),
    "endless": Wrong(
        2, "step_loops", "            new[i, j] =",
        "            while True:\n                pass\n            new[i, j] =", "it does not finish",
    ),
    "rest for the last": Wrong(
        3, "my_rows",
        "count = share + 1 if rank < rest else share\n    return 1 + rank * share + min(rank, rest), count",
        "return 1 + rank * share, share + (rest if rank == ranks - 1 else 0)", "differ by more than one",
    ),
    "from zero": Wrong(3, "my_rows", "return 1 + rank", "return rank", "begins at row 0, and row 1 is the next one"),
    "one number": Wrong(3, "my_rows", ", count\n", "\n", "does not give two numbers"),
    "a step less": Wrong(3, "run", "range(steps)", "range(steps - 1)", "those after 0 steps, not after 1"),
    "no exchange": Wrong(3, "run", "        exchange(world, old)\n", "", "is exchange called before each step?"),
    "cold edge": Wrong(3, "run", "old[0] = 1.0", "old[1] = 1.0", "is wrong after 1 step"),
    "without ghosts": Wrong(3, "run", "return old", "return old[1:-1]", "two ghost rows"),
    "off by one": Wrong(4, "exchange_nonblocking", "world.Isend(plate[-2]", "world.Isend(plate[-3]", "off by one"),
    "own ghost sent": Wrong(4, "exchange_nonblocking", "world.Isend(plate[1]", "world.Isend(plate[0]", "the ghost row"),
    "wait forgotten": Wrong(
        4, "exchange_nonblocking", "    MPI.Request.Waitall(requests)\n", "",
        "is not filled when the exchange returns",
    ),
    "swapped": Wrong(
        4, "exchange_nonblocking", "world.Irecv(plate[0], source=up),\n        world.Irecv(plate[-1], source=down)",
        "world.Irecv(plate[-1], source=up),\n        world.Irecv(plate[0], source=down)", "the ghost rows are swapped",
    ),
    "wrong tag": Wrong(
        4, "exchange_nonblocking", "world.Irecv(plate[0], source=up)", "world.Irecv(plate[0], source=up, tag=3)",
        "compare neighbours, tags and numbers of messages",
    ),
    "edge overwritten": Wrong(
        4, "exchange_nonblocking", "    MPI.Request.Waitall(requests)\n",
        "    MPI.Request.Waitall(requests)\n    plate[0] = 0.0\n", "row 0 is an edge, and the exchange overwrites it",
    ),
    "all send": Wrong(
        4, "exchange_nonblocking", "".join(RIGHT["exchange_nonblocking"].partition("    requests = [")[1:]),
        "    world.Send(plate[1], dest=up)\n    world.Send(plate[-2], dest=down)\n"
        "    world.Recv(plate[0], source=up)\n    world.Recv(plate[-1], source=down)\n",
        "Every rank that waits is sending",
    ),
    "borders too early": Wrong(
        5, "overlapped_step", "    MPI.Request.Waitall(requests)\n    step_numpy(old[:3], new[:3])\n",
        "    step_numpy(old[:3], new[:3])\n    MPI.Request.Waitall(requests)\n",
        "is computed before the ghost row beside it",
    ),
    "borders forgotten": Wrong(
        5, "overlapped_step", "    step_numpy(old[:3], new[:3])\n", "", "a border row, is not filled",
    ),
}  # fmt: skip
