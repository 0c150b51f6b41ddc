"""The functions of heat.py as a later lab is given them, where the learner has none of their own.

They are right. They are written in a way of their own, so that a Record can tell them from a learner's.
"""

import numpy as np
from mpi4py import MPI

# ---- Lab 02: one step, on one node


def step_loops(old, new):
    """Fill the inner points of `new` from `old`: two loops, one point at a time. Edges stay as they are."""
    height, width = old.shape
    for down in range(1, height - 1):
        for across in range(1, width - 1):
            upright = old[down - 1, across] + old[down + 1, across]
            level = old[down, across - 1] + old[down, across + 1]
            new[down, across] = (upright + level) / 4


def step_numpy(old, new):
    """The same without loops: numpy adds whole parts of the plate."""
    inside = new[1:-1, 1:-1]
    np.add(old[:-2, 1:-1], old[2:, 1:-1], out=inside)
    inside += old[1:-1, :-2]
    inside += old[1:-1, 2:]
    inside *= 0.25


# ---- Lab 03: the rows are shared out over the ranks


def my_rows(rows, ranks, rank):
    """The rows of a rank: the number of its first one, and how many they are.

    Of `rows` rows the first and the last are edges, which no rank owns. All others are shared out, in the order
    of the ranks; no rank has two more than another. my_rows(8, 2, 1) is (4, 3).
    """
    each, left = divmod(rows - 2, ranks)
    before = each * rank + min(left, rank)
    return 1 + before, each + int(rank < left)


def exchange(world, plate):
    """Given: fill the ghost rows, the first and the last row of `plate`, from the neighbours' border rows.

    The first rank has an edge above and the last rank one below; these stay as they are.
    """
    above = world.rank - 1 if world.rank > 0 else MPI.PROC_NULL
    below = world.rank + 1 if world.rank < world.size - 1 else MPI.PROC_NULL
    world.Sendrecv(plate[1], dest=above, recvbuf=plate[-1], source=below)
    world.Sendrecv(plate[-2], dest=below, recvbuf=plate[0], source=above)


def run(world, rows, columns, steps):
    """So many steps of a plate that is cold (0) at first, but for its heated edge; gives this rank's part of it.

    A part is an array: the rank's own rows, a ghost row above and one below.
    """
    first, count = my_rows(rows, world.size, world.rank)
    plates = [np.zeros((count + 2, columns)) for _ in range(2)]
    for plate in plates:
        plate[0] = float(first == 1)
    for number in range(steps):
        before, after = plates[number % 2], plates[1 - number % 2]
        exchange(world, before)
        step_numpy(before, after)
    return plates[steps % 2]


# ---- Lab 04: three ways to fill the ghost rows; each does what `exchange` does


def neighbours(world, plate):
    """For each neighbour its rank, the row that it gets, and the ghost row that it fills."""
    both = [(world.rank - 1, plate[1], plate[0]), (world.rank + 1, plate[-2], plate[-1])]
    return [each for each in both if 0 <= each[0] < world.size]


def exchange_send_first(world, plate):
    """With Send and Recv: each rank sends to all its neighbours first, and only then receives."""
    for other, border, _ in neighbours(world, plate):
        world.Send(border, dest=other)
    for other, _, ghost in neighbours(world, plate):
        world.Recv(ghost, source=other)


def exchange_in_turns(world, plate):
    """Given, with Send and Recv: even ranks send while odd ones receive, and then the other way round."""
    above = world.rank - 1 if world.rank > 0 else MPI.PROC_NULL
    below = world.rank + 1 if world.rank < world.size - 1 else MPI.PROC_NULL
    for turn in (0, 1):
        if world.rank % 2 == turn:
            world.Send(plate[1], dest=above)
            world.Send(plate[-2], dest=below)
        else:
            world.Recv(plate[0], source=above)
            world.Recv(plate[-1], source=below)


def exchange_nonblocking(world, plate):
    """With Isend and Irecv: all messages are posted, then waited for."""
    MPI.Request.Waitall(posted(world, plate))


def posted(world, plate):
    """The requests of an exchange that has only begun."""
    around = neighbours(world, plate)
    coming = [world.Irecv(ghost, source=other) for other, _, ghost in around]
    return [*coming, *(world.Isend(border, dest=other) for other, border, _ in around)]


# ---- Lab 05: compute while the ghost rows travel


def overlapped_step(world, old, new):
    """Exchange the ghost rows of `old` and make a step, in one: what needs no ghost row is computed meanwhile."""
    underway = posted(world, old)
    step_numpy(old[1:-1], new[1:-1])
    MPI.Request.Waitall(underway)
    for border in (slice(3), slice(-3, None)):
        step_numpy(old[border], new[border])
