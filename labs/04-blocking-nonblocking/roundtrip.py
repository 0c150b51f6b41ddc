"""The ping-pong of roundtrip.c in Python: rank 0 sends to the last rank, which sends it back.

    mpiexec -n 2 python roundtrip.py --sizes 0,1024 --protocol blocking,nonblocking

It prints the same lines. Each MPI call costs some microseconds more than in C, at every size.
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
PARTNER = RANKS - 1 - RANK
TAKES_PART = RANK in (0, RANKS - 1)
WARM_UP = 10
FEWEST_TICKS = 100
HEARD_S = 1.0  # until the messages are passed on: then mpiexec may end all ranks
# Of memory, for each byte of a message: its data are made and verified as whole numbers.
BYTES_A_BYTE = 30


def blocking(outgoing, incoming, count):
    """`count` round trips with Send and Recv."""
    for _ in range(count):
        if RANK == 0:
            WORLD.Send(outgoing, PARTNER)
            WORLD.Recv(incoming, PARTNER)
        else:
            WORLD.Recv(incoming, PARTNER)
            WORLD.Send(outgoing, PARTNER)


def nonblocking(outgoing, incoming, count):
    """`count` round trips with Isend, Irecv and Wait."""
    for _ in range(count):
        receive = WORLD.Irecv(incoming, PARTNER)
        if RANK == 0:
            send = WORLD.Isend(outgoing, PARTNER)
            MPI.Request.Waitall([receive, send])
        else:
            receive.Wait()
            WORLD.Isend(outgoing, PARTNER).Wait()


PROTOCOLS = {"blocking": blocking, "nonblocking": nonblocking}


def chunk(protocol, size, count, lead_in=1):
    """Seconds that `count` round trips take together, the same on all ranks; the data are verified."""
    numbers = np.arange(size, dtype=np.int64)
    outgoing = ((numbers * 31 + RANK * 101 + count) % 251).astype(np.uint8)
    expected = ((numbers * 31 + PARTNER * 101 + count) % 251).astype(np.uint8)
    incoming = np.zeros(size, dtype=np.uint8)
    seconds = 0.0
    WORLD.Barrier()
    if TAKES_PART:
        PROTOCOLS[protocol](outgoing, incoming, lead_in)
        began = MPI.Wtime()
        PROTOCOLS[protocol](outgoing, incoming, count)
        seconds = MPI.Wtime() - began
        if not np.array_equal(incoming, expected):
            print(f"wrong data: {size} bytes from rank {PARTNER}", file=sys.stderr, flush=True)
            time.sleep(HEARD_S)
            WORLD.Abort(3)
    return WORLD.bcast(seconds)  # rank 0's: it sends first, and sees the whole way there and back


def repetitions(protocol, size, wanted_s):
    """How many round trips last about `wanted_s` together."""
    count, seconds = 1, chunk(protocol, size, 1, WARM_UP)
    while seconds < wanted_s / 2:
        count *= 2
        seconds = chunk(protocol, size, count)
    return max(1, round(count * wanted_s / seconds))


def tell(kind, **values):
    """One line of JSON from rank 0; samples are kept back until a pass is over, not to wake mpiexec meanwhile."""
    if RANK == 0:
        print(json.dumps({"kind": kind, **values}), flush=kind != "sample")


def refuse(sentence):
    """End all ranks; rank 0 says why, and ends last, because its code makes mpiexec end the others."""
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
    reader.add_argument("--sizes", default="0,1,1024,65536")
    reader.add_argument("--protocol", default="blocking")
    reader.add_argument("--pattern", choices=["pingpong"], default="pingpong")
    reader.add_argument("--mode", choices=["ours"], default="ours")
    for name, otherwise in (("passes", 10), ("chunks", 3), ("chunk-us", 500), ("seed", 1)):
        reader.add_argument(f"--{name}", type=int, default=otherwise)
    try:
        asked, unknown = reader.parse_known_args()
        if unknown:
            refuse(f"There is no argument {unknown[0]}.")
        asked.sizes = [int(size) for size in asked.sizes.split(",")]
    except (argparse.ArgumentError, ValueError) as problem:
        refuse(f"{problem}.")
    asked.protocol = asked.protocol.split(",")
    if unknown := [name for name in asked.protocol if name not in PROTOCOLS]:
        refuse(f"--protocol is one of {', '.join(PROTOCOLS)}, not '{unknown[0]}'.")
    if min(asked.sizes) < 0 or max(asked.sizes) >= 2**31:
        refuse("--sizes takes numbers from 0 to 2147483647.")
    refuse_more_memory(BYTES_A_BYTE * max(asked.sizes))
    if min(asked.passes, asked.chunks, asked.chunk_us) < 1:
        refuse("--passes, --chunks and --chunk-us are at least 1.")
    if RANKS < 2:
        refuse("A message needs two ranks or more: mpiexec -n 2.")
    return asked


def main():
    """Calibrate every place of the sweep, then go round them in a new order each pass."""
    asked = arguments()
    places = [(protocol, size) for size in asked.sizes for protocol in asked.protocol]
    tell(
        "about",
        program="roundtrip.py",
        ranks=RANKS,
        hosts=WORLD.gather(MPI.Get_processor_name()),
        patient_ranks=WORLD.reduce(int(os.environ.get("BEOWULF_POLLING") == "patient")),
        clock_resolution_s=MPI.Wtick(),
        mpi_library=MPI.Get_library_version().split("\n")[0],
        samples=asked.passes * asked.chunks * len(places),
        pattern="pingpong",
        seed=asked.seed,
    )
    wanted_s = max(asked.chunk_us * 1e-6, FEWEST_TICKS * MPI.Wtick())
    counts = WORLD.bcast({place: repetitions(*place, wanted_s) for place in places})
    for number in range(asked.passes):
        random.Random(asked.seed * 1_000_003 + number).shuffle(places)
        for protocol, size in places:
            count = counts[protocol, size]
            for _ in range(asked.chunks):
                tell(
                    "sample",
                    quantity="half_round_trip_us",
                    protocol=protocol,
                    size_bytes=size,
                    repetitions=count,
                    seconds=chunk(protocol, size, count),
                    **{"pass": number},
                )
        sys.stdout.flush()
    tell("end")


if __name__ == "__main__":
    main()
