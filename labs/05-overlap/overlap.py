"""message_workload.c in Python: a message, some work, and both at once.

    mpiexec -n 2 python overlap.py --sizes 10240,66560

It prints the same lines. Python adds some microseconds to each MPI call, which shows in `message`
of a short message and is lost in `both`; study D3 runs the two in turns and says by how much they
differ. The work is a loop of Python, so it is slower work of the same length.
"""

import argparse
import json
import os
import random
import sys
import time

import numpy as np
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.Get_rank(), WORLD.Get_size()
PARTS = ("message", "work", "both")
WARM_UPS = 10
HEARD_S = 1.0  # until the messages are passed on: then mpiexec may end all ranks
# Of memory, for each byte of a message: its data are made and verified as whole numbers.
BYTES_A_BYTE = 30


def compute(rounds):
    """A loop in which each round needs the one before."""
    value = 1.0
    for _ in range(rounds):
        value = value * 0.999999 + 0.000001
    return value


def rounds_per_s():
    """How fast compute() is when nothing disturbs it, the same number on both ranks."""
    best = 0.0
    for _ in range(30):
        began = MPI.Wtime()
        compute(5000)
        best = max(best, 5000 / (MPI.Wtime() - began))
    return WORLD.allreduce(best, MPI.MAX)


def work(asked, seconds, request=None):
    """Work so long, in slices with a Test of `request` after each, if any are asked for."""
    slices = asked.tests if request and asked.tests else 1
    for _ in range(slices):
        if asked.work == "delay":
            time.sleep(seconds / slices)
        else:
            compute(round(seconds / slices * asked.rounds_per_s))
        if request and asked.tests:
            request.Test()


def run_one(asked, part, buffer):
    """One operation; the seconds from the barrier to its end on this rank."""
    WORLD.Barrier()
    start = MPI.Wtime()
    if RANK == 0:
        sending = WORLD.Isend(buffer, 1) if part != "work" else None
        if part != "message":
            work(asked, asked.seconds, sending)
        if sending:
            sending.Wait()
    elif part != "work":
        if part == "both":
            work(asked, asked.seconds * asked.share)
        WORLD.Recv(buffer, 0)
    return MPI.Wtime() - start


def measure(asked, part, size, number):
    """Run one operation with data of its own, verify them, and tell the times of both ranks."""
    expected = ((np.arange(size) * 31 + number) % 251).astype(np.uint8)
    buffer = expected if RANK == 0 else np.zeros(size, dtype=np.uint8)
    times = WORLD.gather(run_one(asked, part, buffer))
    if part != "work" and not np.array_equal(buffer, expected):
        print(f"wrong data: {size} bytes at rank {RANK}", file=sys.stderr, flush=True)
        time.sleep(HEARD_S)
        WORLD.Abort(3)
    for rank in range(RANKS if part != "work" else 1):
        if RANK == 0:
            at = {"pass": number, "size_bytes": size, "rank": rank, "part": part}
            tell("sample", quantity="duration_s", repetitions=1, seconds=times[rank], **at)


def tell(kind, **values):
    """One line of JSON from rank 0."""
    if RANK == 0:
        print(json.dumps({"kind": kind, **values}))


def refuse(sentence):
    """End both ranks; rank 0 says why, and ends last, because its code makes mpiexec end the other."""
    if RANK == 0:
        print(f"refused: {sentence}", file=sys.stderr, flush=True)
    MPI.Finalize()
    if RANK == 0:
        time.sleep(HEARD_S)
    sys.exit(2 if RANK == 0 else 0)


def refuse_more_memory(each):
    """End all ranks when `each` bytes of every rank are too much for a machine that they run on.

    Nodes on one machine share its memory (BEOWULF_SHARED_CORES is set); else each node answers for its own ranks.
    """
    shared = int(os.environ.get("BEOWULF_SHARED_CORES") or 0)
    here = RANKS if shared else int(os.environ.get("MPI_LOCALNRANKS", RANKS))
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if each * here <= 0.8 * memory:
        return
    where = "this machine" if shared else MPI.Get_processor_name()
    message = (
        f"That needs {each * here / 1e9:.1f} GB on {here} ranks; {where} has {memory / 1e9:.1f} GB."
    )
    if shared:
        refuse(message)
    print(f"refused: {message}", file=sys.stderr, flush=True)
    time.sleep(HEARD_S)
    WORLD.Abort(2)


def arguments():
    """What the words after the program's name ask for."""
    reader = argparse.ArgumentParser(description=__doc__, exit_on_error=False)
    reader.add_argument("--sizes", default="10240,66560")
    reader.add_argument("--work", choices=["delay", "loop"], default="loop")
    reader.add_argument("--seconds", type=float, default=377e-6)
    reader.add_argument("--share", type=float, default=0.25)
    for name, otherwise in (("tests", 0), ("passes", 1000), ("seed", 1)):
        reader.add_argument(f"--{name}", type=int, default=otherwise)
    try:
        asked, unknown = reader.parse_known_args()
        if unknown:
            refuse(f"There is no argument {unknown[0]}.")
        asked.sizes = [int(size) for size in asked.sizes.split(",")]
    except (argparse.ArgumentError, ValueError) as problem:
        refuse(f"{problem}.")
    if RANKS != 2:
        refuse(f"This program takes two ranks (mpiexec -n 2), not {RANKS}.")
    if min(asked.sizes) < 0 or max(asked.sizes) >= 2**31:
        refuse("--sizes takes numbers from 0 to 2147483647.")
    refuse_more_memory(BYTES_A_BYTE * max(asked.sizes))
    if not (1e-6 <= asked.seconds <= 3600 and 0 <= asked.share <= 1):
        refuse("--seconds takes numbers from 1e-06 to 3600, and --share from 0 to 1.")
    if asked.passes < 1 or asked.tests < 0:
        refuse("--passes is at least 1, and --tests at least 0.")
    asked.rounds_per_s = rounds_per_s()
    return asked


def main():
    """Warm up, then go round all sizes and parts in a new order each pass."""
    asked = arguments()
    places = [(part, size) for size in asked.sizes for part in PARTS]
    tell(
        "about",
        program="overlap.py",
        ranks=RANKS,
        hosts=WORLD.gather(MPI.Get_processor_name()),
        patient_ranks=WORLD.reduce(int(os.environ.get("BEOWULF_POLLING") == "patient")),
        clock_resolution_s=MPI.Wtick(),
        mpi_library=MPI.Get_library_version().split("\n")[0],
        samples=asked.passes * len(asked.sizes) * (2 * len(PARTS) - 1),
        work=asked.work,
        work_s=asked.seconds,
        tests=asked.tests,
        share=asked.share,
        synchronised="MPI_Barrier before each measured operation",
    )
    for size in asked.sizes:
        for _ in range(WARM_UPS):
            run_one(asked, "message", np.zeros(size, dtype=np.uint8))
    for number in range(asked.passes):
        random.Random(asked.seed * 1_000_003 + number).shuffle(places)
        for part, size in places:
            measure(asked, part, size, number)
    tell("end")


if __name__ == "__main__":
    main()
