"""A heated plate, step by step. This program is yours from lab 02 on.

The plate has rows and columns of numbers (float64). Its first row is held at 1.0, its other three edges at 0.
In one step each inner point becomes the mean of its four neighbours: above, below, left and right.
`old` is the plate before a step and `new` the plate after it, both with their edges.
"""

import numpy as np
from mpi4py import MPI

# ---- Lab 02: one step, on one node


def step_loops(old, new):
    """Fill the inner points of `new` from `old`: two loops, one point at a time. Edges stay as they are."""
    ...


def step_numpy(old, new):
    """The same without loops: numpy adds whole parts of the plate."""
    ...


# ---- Lab 03: the rows are shared out over the ranks


def my_rows(rows, ranks, rank):
    """The rows of a rank: the number of its first one, and how many they are.

    Of `rows` rows the first and the last are edges, which no rank owns. All others are shared out, in the order
    of the ranks; no rank has two more than another. my_rows(8, 2, 1) is (4, 3).
    """
    ...


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
    ...


# ---- Lab 04: three ways to fill the ghost rows; each does what `exchange` does


def exchange_send_first(world, plate):
    """With Send and Recv: each rank sends to all its neighbours first, and only then receives."""
    ...


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
    ...


# ---- Lab 05: compute while the ghost rows travel


def overlapped_step(world, old, new):
    """Exchange the ghost rows of `old` and make a step, in one: what needs no ghost row is computed meanwhile."""
    ...
