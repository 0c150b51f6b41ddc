"""HPL alone: the rate at which the nodes together solve one system of linear equations.

Debian has HPL as a part of hpcc only, and hpcc has no switch for one of its tests. So all of hpcc is run, with
b_eff's long messages cut short (beowulf/native/short_beff_messages.c), and HPL solves its problem several times
in that run.
What the other tests cost grows with the problem: RandomAccess is given up to a minute, twice.

HPL spends its time in DGEMM of the BLAS library that Debian's alternatives choose. The plain libblas3 is not made for
one processor, as libopenblas0 is; every Record says which.
"""

from __future__ import annotations

from beowulf.cluster import Cluster
from beowulf.errors import UsageError
from beowulf.measure.measurement import need_a_node_each
from beowulf.suites.problem import Problem, of_size

DEFAULT_SIZE, QUICK_SIZE = 2400, 960
PLAIN_BLAS = ("/blas/libblas", "/libblas.so.3.")


def choose(
    cluster: Cluster,
    ranks: int,
    *,
    size: int = 0,
    quick: bool = False,
    runs: int = 1,
) -> Problem:
    """The problem for this many nodes: of `size` equations, or of the usual size.

    The usual one is solved within a minute or two. HPL is at its best with a problem that fills the memory, which
    takes hours on a slow network.
    """
    if ranks < 1:
        raise UsageError(f"HPL runs on at least 1 node, not {ranks}.")
    need_a_node_each(cluster, ranks)
    return of_size(size or (QUICK_SIZE if quick else DEFAULT_SIZE), ranks, runs=runs)


def plain(blas: str) -> bool:
    """Whether a BLAS library is the plain one, which nobody has tuned."""
    return any(mark in blas for mark in PLAIN_BLAS) and "openblas" not in blas
