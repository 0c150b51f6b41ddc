"""What is wrong with a function of heat.py, in a sentence; an empty text where nothing is. It need not be changed.

The plates are drawn by chance, the same on every rank, so that each rank knows by itself what its rows should be.
"""

from functools import lru_cache
from itertools import pairwise

import numpy as np

TOLERANCE = 1e-12  # what another order of the same sum may change
NOTHING = np.nan  # stands where a step is to write
UNFILLED = -100.0  # stands where an exchange is to write, less the number of the rank
LATE = -5.0  # written over the border rows as soon as an exchange has returned


def random_plate(rows, columns, seed):
    """A plate of random numbers between its edges."""
    plate = np.zeros((rows, columns))
    plate[0] = 1.0
    plate[1:-1, 1:-1] = np.random.default_rng(seed).random((rows - 2, columns - 2))
    return plate


@lru_cache(maxsize=8)
def cold_plate(rows, columns, steps):
    """A plate that is cold at first, after so many steps."""
    plate = np.zeros((rows, columns))
    plate[0] = 1.0
    for _ in range(steps):
        plate = after_step(plate)
    return plate


def after_step(plate):
    """The plate after one more step."""
    new = plate.copy()
    new[1:-1, 1:-1] = (plate[:-2, 1:-1] + plate[2:, 1:-1]) * 0.25
    new[1:-1, 1:-1] += (plate[1:-1, :-2] + plate[1:-1, 2:]) * 0.25
    return new


def shares(rows, ranks):
    """For each rank its first row and how many it has."""
    bounds = [1 + (rows - 2) * rank // ranks for rank in range(ranks + 1)]
    return [(low, high - low) for low, high in pairwise(bounds)]


def near(one, other):
    """Whether two arrays are equal, as far as the order of a sum allows."""
    return bool(np.all(np.abs(one - other) <= TOLERANCE))


def first_wrong_row(got, wanted):
    """The first row that is not as it should be; None when all are."""
    wrong = ~(np.abs(got - wanted) <= TOLERANCE).all(axis=1)
    return int(np.argmax(wrong)) if wrong.any() else None


def step_fault(step, rows=7, columns=9):
    """What is wrong with a step from `old` to `new`."""
    before = random_plate(rows, columns, 1)
    old, new = before.copy(), before.copy()
    new[1:-1, 1:-1] = NOTHING
    given = step(old, new)
    if fault := filled_fault(before, old, new):
        returned = isinstance(given, np.ndarray) and np.isnan(new[1:-1, 1:-1]).all()
        return f"it returns a plate, but {fault}" if returned else fault
    return ""


def filled_fault(before, old, new):
    """What is wrong with `new`, the plate after `before`, and with `old`, which was not to change."""
    inner = new[1:-1, 1:-1]
    if np.isnan(inner).all():
        return "no inner point of `new` is filled"
    if (row := first_wrong_row(old, before)) is not None:
        return f"row {row} of `old` is changed; only `new` is to be written"
    for edge, there in (("first row", 0), ("last row", -1)):
        if not near(new[there], before[there]):
            return f"the edge of `new` is overwritten: its {edge}"
    for edge, there in (("first column", 0), ("last column", -1)):
        if not near(new[:, there], before[:, there]):
            return f"the edge of `new` is overwritten: its {edge}"
    if np.isnan(inner).any():
        row, column = np.argwhere(np.isnan(inner))[0] + 1
        last = f"rows 1 to {len(new) - 2} and columns 1 to {len(new[0]) - 2} are inner points"
        return f"row {row}, column {column} of `new` is not filled; {last}"
    wanted = after_step(before)
    if near(new, wanted):
        return ""
    for says, other in other_steps(before):
        if np.allclose(new, other, atol=1e-9):
            return says
    row, column = np.argwhere(np.abs(new - wanted) > TOLERANCE)[0]
    is_now, is_right = new[row, column], wanted[row, column]
    return f"row {row}, column {column} of `new` is {is_now:.6g}; the mean of its neighbours in `old` is {is_right:.6g}"


def other_steps(before):
    """Usual mistakes, each with the plate that it gives."""
    middle = before[1:-1, 1:-1]
    right = after_step(before)

    def plate(inner):
        new = before.copy()
        new[1:-1, 1:-1] = inner
        return new

    yield (
        "each point is four times too large: the sum is not divided by 4",
        plate(4 * right[1:-1, 1:-1]),
    )
    yield (
        "the point itself is in the mean; only its four neighbours are",
        plate((4 * right[1:-1, 1:-1] + middle) / 5),
    )
    corners = before[:-2, :-2] + before[:-2, 2:] + before[2:, :-2] + before[2:, 2:]
    yield "the neighbours are taken across the corners", plate(corners / 4)
    yield "each point keeps its old value", plate(middle)
    mixed = before.copy()
    for row in range(1, len(before) - 1):
        for column in range(1, len(before[0]) - 1):
            around = mixed[row - 1, column] + mixed[row + 1, column]
            mixed[row, column] = (around + mixed[row, column - 1] + mixed[row, column + 1]) / 4
    yield "neighbours that are new already are taken for old ones: read `old` alone", mixed


def shares_fault(my_rows):
    """What is wrong with the sharing of rows."""
    for rows, ranks in ((8, 2), (6, 1), (11, 3), (12, 4), (13, 4), (402, 4), (5, 3), (21, 16)):
        due, counts = 1, []
        for rank in range(ranks):
            call = f"my_rows({rows}, {ranks}, {rank})"
            try:
                first, count = my_rows(rows, ranks, rank)
                whole = int(first) == first and int(count) == count
            except (TypeError, ValueError):
                return f"{call} does not give two numbers"
            if not whole:
                return f"{call} gives ({first}, {count}); rows are whole numbers"
            if first != due:
                return (
                    f"{call} begins at row {first}, and row {due} is the next one that no rank has"
                )
            due += count
            counts.append(count)
        if due != rows - 1:
            return f"{ranks} ranks get rows 1 to {due - 1}, and the inner rows of {rows} are 1 to {rows - 2}"
        if max(counts) - min(counts) > 1:
            return f"of {rows} rows, {ranks} ranks get {', '.join(map(str, counts))}: they differ by more than one"
    return ""


class Part:
    """A rank's rows of a plate that every rank knows as a whole, between two ghost rows."""

    def __init__(self, rows, columns, rank, ranks, seed=1):
        self.whole = random_plate(rows, columns, seed)
        self.first, self.count = shares(rows, ranks)[rank]
        self.has_above, self.has_below = rank > 0, rank < ranks - 1
        self.unfilled = UNFILLED - rank
        self.before = self.whole[self.first - 1 : self.first + self.count + 1]
        self.wanted = after_step(self.before)
        self.old, self.new = self.before.copy(), self.before.copy()

    def reset(self):
        """The rows of before; nothing in the ghost rows that a neighbour fills, and in what a step fills."""
        self.old[1:-1] = self.before[1:-1]
        self.new[1:-1, 1:-1] = NOTHING
        if self.has_above:
            self.old[0] = self.unfilled
        if self.has_below:
            self.old[-1] = self.unfilled

    def ghosts_fault(self, plate=None):
        """What is wrong with the ghost rows and the own rows after an exchange."""
        plate = self.old if plate is None else plate
        for says, place, has_neighbour in (
            ("above", 0, self.has_above),
            ("below", -1, self.has_below),
        ):
            row = self.first - 1 if place == 0 else self.first + self.count
            if np.array_equal(plate[place], self.before[place]):
                continue
            if not has_neighbour:
                what = self._what(plate[place], row)
                swapped = ": the ghost rows are swapped" if "swapped" in what else ""
                return f"row {row} is an edge, and the exchange overwrites it{swapped}"
            return f"the ghost row {says} (row {row}) {self._what(plate[place], row)}"
        if (own := first_wrong_row(plate[1:-1], self.before[1:-1])) is not None:
            return f"row {self.first + own}, one of its own, is changed by the exchange"
        return ""

    def _what(self, ghost, row):
        """What a ghost row holds that is not the row that it should be."""
        if (ghost == self.unfilled).all():
            return "is not filled when the exchange returns: no message for it, or nobody waited for the message"
        if (ghost == LATE).any():
            return "holds what its owner wrote after the exchange had returned: wait for the sends, too"
        if (ghost <= UNFILLED).all():
            return "holds a ghost row of the neighbour: a border row is to be sent, plate[1] or plate[-2]"
        same = [number for number, each in enumerate(self.whole) if np.array_equal(each, ghost)]
        if not same:
            part = (ghost <= UNFILLED).any()
            return "is filled in part only" if part else "holds no row of the plate"
        number = same[0]
        own = self.first <= number < self.first + self.count
        if own:
            return f"holds row {number}, a row of this rank itself"
        if abs(number - row) == 1:
            return f"holds row {number} of the plate: off by one"
        swapped = number in (self.first - 1, self.first + self.count)
        return f"holds row {number}{': the ghost rows are swapped' if swapped else ' of the plate'}"

    def step_fault(self):
        """What is wrong with the new rows after a step that needed the ghost rows."""
        if (row := first_wrong_row(self.new[1:-1], self.wanted[1:-1])) is None:
            edges = (self.new[:, 0], self.before[:, 0]), (self.new[:, -1], self.before[:, -1])
            return (
                ""
                if all(near(*pair) for pair in edges)
                else "the edge of `new` is overwritten: a column"
            )
        number, border = self.first + row, row in (0, self.count - 1)
        if self.count > 2 and np.isnan(self.new[1:-1, 1:-1]).all():
            return "no row of `new` is filled"
        if np.isnan(self.new[1 + row, 1:-1]).any():
            return f"row {number}{', a border row,' if border else ''} is not filled"
        if border and (self.old[[0, -1]] == LATE).any():
            return f"row {number} is made of what a neighbour wrote afterwards: wait for the sends, too"
        if border:
            return f"row {number}, a border row, is computed before the ghost row beside it has arrived"
        return f"row {number} is wrong"


def run_fault(part, rows, columns, steps, ranks, first, count):
    """What is wrong with the part that `run` gave, of which `my_rows` says the first row and how many there are."""
    shape = (count + 2, columns)
    if not isinstance(part, np.ndarray):
        return (
            f"run returns {type(part).__name__}, and not an array: its rows between two ghost rows"
        )
    if part.shape != shape:
        return f"run returns {part.shape} numbers; {count} rows and two ghost rows of {columns} columns are {shape}"
    own = slice(first, first + count)
    wanted = cold_plate(rows, columns, steps)[own]
    row = first_wrong_row(part[1:-1], wanted)
    if row is None:
        return ""
    number = first + row
    for other in (steps - 1, steps + 1):
        if np.allclose(part[1:-1], cold_plate(rows, columns, other)[own], atol=1e-9):
            return f"its rows are those after {other} steps, not after {steps}"
    if first == 1 and not part[1:-1].any() and steps:
        return "its rows are still cold: the heated edge is row 0, above the first rank's rows"
    hint = ""
    if number == 1:
        hint = "; has each plate that your steps use the heated edge, row 0?"
    elif row in (0, count - 1) and ranks > 1:
        hint = "; is exchange called before each step?"
    return f"row {number} is wrong after {steps} step{'s' * (steps != 1)}{hint}"
