"""Does a simulated run, replayed, compute as long as it did, and does another network take what it takes?"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from beowulf import mpi
from beowulf.cluster.simulated import cluster as simulated
from beowulf.cluster.simulated import replay
from beowulf.cluster.simulated.platform import Platform
from beowulf.errors import LabError

# A message of n bytes takes 30 + 0.085 n µs, as on a link of 100 Mbit/s.
HERE_US = ((0, 30.0), (1000, 115.0), (1_000_000, 85_030.0))
FAST = Platform(times_us=HERE_US)
SLOW = Platform(
    rate_mbit=10.0, times_us=tuple((size, 10 * time) for size, time in HERE_US), latency_us=250.0
)


# Along a line, the last rank sends to nobody; rank 0 computes first. With ANY, receives take from anybody.
A_LINE = """
#include "measure.h"
int main(int argc, char **argv) {
    static char text[5000];
    start_mpi(&argc, &argv);
    int me = my_rank(), next = me + 1 < all_ranks() ? me + 1 : MPI_PROC_NULL;
    volatile double sum = 0.0;
    for (long i = 0; me == 0 && i < 20000000; i++)
        sum = sum + 1.0;
    if (me)
        MPI_Recv(text, 5000, MPI_CHAR, ANY ? MPI_ANY_SOURCE : me - 1, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Send(text, 5000, MPI_CHAR, next, 0, MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""


def simulated_line(folder: Path, *, anybody: bool = False) -> Path:
    """What SimGrid has kept of the program on four nodes."""
    (folder / "line.c").write_text(A_LINE)
    place, kept = simulated.beside(FAST, folder / "cluster"), folder / f"kept-{anybody}"
    program = mpi.build(
        folder / "line.c",
        library=place.mpi,
        output=folder / "line",
        flags=[f"-DANY={int(anybody)}"],
    )
    done = mpi.launch(place, [*replay.written_to(kept, FAST), str(program)], 4)
    assert done.returncode == 0, done.stderr
    return kept


@pytest.mark.simgrid
@pytest.mark.skipif(not shutil.which(simulated.SMPIRUN), reason="SimGrid is not installed here")
def test_a_simulated_run_is_replayed_with_its_computing_unless_it_receives_from_anybody(
    tmp_path: Path,
) -> None:
    with pytest.raises(LabError, match="sends and 0 receives that name their partner"):
        replay.replayed_ms(simulated_line(tmp_path, anybody=True), [FAST])
    fast, again, slow = replay.replayed_ms(simulated_line(tmp_path), [FAST, FAST, SLOW])
    assert fast == again
    message_ms = 0.455  # 5000 bytes, by HERE_US
    assert fast > 5 + 3 * message_ms, "it computes for some ms"
    # Three messages follow one another, and take ten times as long; computing does not.
    assert slow - fast == pytest.approx(9 * 3 * message_ms, rel=0.05)
