"""The problem that HPL is given: how large a system of equations fits into the nodes, and how it is dealt out to them.

hpcc reads it from `hpccinf.txt`, of which the first 31 lines are an `HPL.dat`; all of its other tests take
their sizes from that of HPL. The format is described in hpcc's README and in HPL's own pages on tuning.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from beowulf.errors import LabError, UsageError

GRID_BLOCKS = 40  # with so many blocks a side, the larger block is dealt out evenly enough
SMALL_BLOCK = 80
PAPER_BLOCK = 168  # paper E, section 4.2
SMALLEST, LARGEST = 160, 400_000
# HPL's matrix is the largest piece; PTRANS has three of half the side, and every rank has what its library needs.
MATRIX_COPIES = 1.25
RANK_BYTES = 64 * 1024**2
MOST_SHARE = 0.8  # the rest is the system's
THRESHOLD = 16.0  # a scaled residual below it passes; HPL's own


# How HPL factors and sends a panel: the choices of the sample file that comes with hpcc.
INPUT = """\
HPLinpack benchmark input file
Made by beowulf from the number of nodes and their memory
HPL.out        output file name (hpcc ignores it)
8              device out (hpcc ignores it)
{runs:<14} # of problem sizes (N)
{sizes:<14} Ns: a solution for each
1              # of NBs
{nb:<14} NBs: the side of a block
0              PMAP process mapping (0=row-, 1=column-major)
1              # of process grids (P x Q)
{p:<14} Ps: rows of ranks
{q:<14} Qs: columns of ranks
{threshold:<14} threshold of the scaled residual
1              # of panel fact
2              PFACTs (0=left, 1=Crout, 2=right)
1              # of recursive stopping criteria
4              NBMINs (>= 1)
1              # of panels in recursion
2              NDIVs
1              # of recursive panel fact.
1              RFACTs (0=left, 1=Crout, 2=right)
1              # of broadcasts
1              BCASTs (0=1rg, 1=1rM, 2=2rg, 3=2rM, 4=Lng, 5=LnM)
1              # of lookahead depths
1              DEPTHs (>= 0)
2              SWAP (0=bin-exch, 1=long, 2=mix)
64             swapping threshold
0              L1 in (0=transposed, 1=no-transposed) form
0              U  in (0=transposed, 1=no-transposed) form
1              Equilibration (0=no, 1=yes)
8              memory alignment in double (> 0)
##### hpcc's own lines follow #####
0              # of further problem sizes for PTRANS
0              values of N
0              # of further block sizes for PTRANS
0              values of NB
"""


@dataclass(frozen=True)
class Problem:
    """`n` equations in blocks of `nb`, on a grid of `p` rows by `q` columns of ranks, solved `runs` times."""

    n: int
    nb: int
    p: int
    q: int
    runs: int = 1

    @property
    def ranks(self) -> int:
        """How many ranks the grid has."""
        return self.p * self.q

    @property
    def matrix_bytes(self) -> int:
        """The size of the matrix, over all ranks."""
        return 8 * self.n**2

    @property
    def needed_bytes(self) -> int:
        """The memory that a run takes, over all ranks."""
        return int(MATRIX_COPIES * self.matrix_bytes) + self.ranks * RANK_BYTES

    @property
    def text(self) -> str:
        """The file hpccinf.txt."""
        sizes = " ".join([str(self.n)] * self.runs)
        return INPUT.format(**asdict(self), sizes=sizes, threshold=THRESHOLD)


def grid(ranks: int) -> tuple[int, int]:
    """Rows and columns of ranks, as square as they can be, never more rows than columns."""
    rows = next(p for p in range(math.isqrt(ranks), 0, -1) if ranks % p == 0)
    return rows, ranks // rows


def block(n: int) -> int:
    """The side of a block: the paper's for a large matrix, a smaller one where every rank is to get some."""
    return PAPER_BLOCK if n >= GRID_BLOCKS * PAPER_BLOCK else SMALL_BLOCK


def of_size(n: int, ranks: int, *, runs: int = 1) -> Problem:
    """A problem of about `n` equations: whole pairs of blocks, as PTRANS, which takes half of n, wants them."""
    if not SMALLEST <= n <= LARGEST:
        raise UsageError(f"A problem has {SMALLEST} to {LARGEST:,} equations, not {n:,}.")
    nb = block(n)
    return Problem(n // (2 * nb) * (2 * nb), nb, *grid(ranks), runs)


def refuse_too_large(problem: Problem, memory_bytes: int) -> None:
    """LabError when a run would take more memory than there is."""
    if problem.needed_bytes > MOST_SHARE * memory_bytes:
        matrix_bytes = (MOST_SHARE * memory_bytes - problem.ranks * RANK_BYTES) / MATRIX_COPIES
        fits = math.isqrt(max(0, int(matrix_bytes / 8)))
        advice = f"`--size {fits}` fits." if fits >= SMALLEST else "Close other programs."
        raise LabError(
            f"{problem.n:,} equations on {problem.ranks} rank{'s' * (problem.ranks != 1)} take"
            f" {_mib(problem.needed_bytes)} of memory,"
            f" and at most {MOST_SHARE:.0%} of the {_mib(memory_bytes)} that the nodes have free may be taken.",
            advice,
        )


def _mib(size: float) -> str:
    return f"{size / 1024**2:,.0f} MiB"
