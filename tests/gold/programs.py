"""Programs of learners in many styles: right ones, and plausible mistakes, each with its share of the points."""

from __future__ import annotations

import random
import statistics
from collections import Counter, namedtuple
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Text:
    """A program as text: the question, which share of its points it gets, and a part of what is said."""

    question: str
    text: str
    share: float = 1.0
    says: str = ""


@dataclass(frozen=True)
class Called:
    """The same of a function of a notebook's cell."""

    question: str
    function: Any
    share: float = 1.0
    says: str = ""


PING_PONG = """
def half_round_trip_us(buffer):
    trips = max(1, 20_000 // (100 + buffer.size))
    began = MPI.Wtime()
    for _ in range(trips):
        if rank == 0:
            world.Send(buffer, dest=1)
            world.Recv(buffer, source=1)
        elif rank == 1:
            world.Recv(buffer, source=0)
            world.Send(buffer, dest=0)
    seconds = MPI.Wtime() - began
    return seconds / trips / 2 * 1e6 if rank == 0 else None
"""
HELPER = """
def there(buffer, to):
    world.Send(buffer, dest=to)

def back(buffer, whence):
    world.Recv(buffer, source=whence)

def half_round_trip_us(buffer):
    '''Beowulf-style: Isend and Irecv are not used here.'''
    if rank not in (0, 1): return
    steps = (there, back) if rank == 0 else (back, there)
    t0 = MPI.Wtime()
    [step(buffer, 1 - rank) for step in steps]
    return np.float64((MPI.Wtime() - t0) * 1e6) / 2 if not rank else None
"""
CLASS = """
class PingPong:
    def __init__(self, comm, n=3):
        self.comm, self.n = comm, n
    def __call__(self, data):
        from time import perf_counter
        me, times = self.comm.rank, []
        for i in range(self.n):
            start = perf_counter()
            getattr(self, ("first", "second")[me])(data) if me < 2 else None
            times.append(perf_counter() - start)
        return float(np.median(times)) / 2 / 1e-6 if me == 0 else None
    def first(self, data):
        self.comm.Ssend([data, MPI.BYTE], 1, tag=5)
        self.comm.Recv([data, MPI.BYTE], 1, tag=5)
    def second(self, data):
        self.comm.Recv([data, MPI.BYTE], 0, tag=5)
        self.comm.Ssend([data, MPI.BYTE], 0, tag=5)

pinger = PingPong(MPI.COMM_WORLD)

def half_round_trip_us(buffer):
    return pinger(buffer)
"""
LAMBDAS = """
from functools import partial
to = {0: partial(MPI.COMM_WORLD.Send, dest=1), 1: partial(MPI.COMM_WORLD.Send, dest=0)}
fro = {0: lambda b: MPI.COMM_WORLD.Recv(b, 1), 1: lambda b: MPI.COMM_WORLD.Recv(b, 0)}

def half_round_trip_us(buffer):
    match rank:
        case 0:
            a = MPI.Wtime(); to[0](buffer); fro[0](buffer); b = MPI.Wtime()
            return round((b - a) * 500_000, 3)
        case 1:
            fro[1](buffer)
            to[1](buffer)
"""
OBJECTS = """
def half_round_trip_us(buffer):
    if rank == 0:
        t = -MPI.Wtime()
        world.send(buffer, 1)
        buffer[...] = world.recv(source=1)
        return 1e6 * (t + MPI.Wtime()) / 2
    if rank == 1:
        buffer[...] = world.recv(source=0)
        world.send(buffer, 0)
"""
NOT_THERE = """
def half_round_trip_us(buffer):
    other = np.empty_like(buffer)
    t = MPI.Wtime()
    if rank == 0:
        world.Send(buffer, 1); world.Recv(other, 1)
        return (MPI.Wtime() - t) / 2 * 1e6
    if rank == 1:
        world.Recv(other, 0); world.Send(other, 0)
"""
NOT_BLOCKING = """
def half_round_trip_us(buffer):
    t = MPI.Wtime()
    if rank < 2:
        for sends in ((True, False) if rank == 0 else (False, True)):
            (world.Isend if sends else world.Irecv)(buffer, 1 - rank).Wait()
    return (MPI.Wtime() - t) / 2 * 1e6 if rank == 0 else None
"""

AROUND = """
def around(world, plate):
    sides = ((world.rank - 1, 1, 0), (world.rank + 1, -2, -1))
    return [(r, plate[i], plate[j]) for r, i, j in sides if 0 <= r < world.size]
"""
TURNS_BY_HELPER = f"""{AROUND}
def swap(world, other, mine, ghost):
    if world.rank < other:
        world.Send(mine, dest=other)
        world.Recv(ghost, source=other)
    else:
        world.Recv(ghost, source=other)
        world.Send(mine, dest=other)

def exchange_in_turns(world, plate):
    '''No Sendrecv, no Isend.'''
    pairs = around(world, plate)
    for parity in (0, 1):
        for other, mine, ghost in pairs:
            if min(world.rank, other) % 2 == parity:
                swap(world, other, mine, ghost)
"""
FIRST_BY_LAMBDAS = f"""{AROUND}
def exchange_send_first(world, plate):
    send, recv = (lambda r, mine, ghost: world.Send(mine, r)), (lambda r, mine, ghost: world.Recv(ghost, r))
    for call in (send, recv):
        for neighbour in around(world, plate):
            call(*neighbour)
"""
PERSISTENT = f"""{AROUND}
def exchange_nonblocking(world, plate):
    requests = []
    for r, mine, ghost in around(world, plate):
        requests += [world.Recv_init(ghost, r), world.Send_init(mine, r)]
    MPI.Prequest.Startall(requests)
    MPI.Request.Waitall(requests)
    for request in requests:
        request.Free()
"""
ONE_BY_ONE = """
class Exchange:
    def __init__(self, world, plate):
        up, down = world.rank - 1, world.rank + 1
        if down == world.size: down = MPI.PROC_NULL
        if up < 0: up = MPI.PROC_NULL
        self.open = [world.Irecv(plate[0], up), world.Irecv(plate[-1], down)]
        self.open += [world.Isend(plate[k], to) for k, to in ((1, up), (-2, down))]
    def wait(self):
        while MPI.Request.Waitany(self.open) != MPI.UNDEFINED:
            pass

def exchange_nonblocking(world, plate):
    Exchange(world, plate).wait()
"""
BOTH_WAYS = """
def exchange_in_turns(world, plate):
    up = world.rank - 1 if world.rank > 0 else MPI.PROC_NULL
    down = world.rank + 1 if world.rank + 1 < world.size else MPI.PROC_NULL
    move = world.Sendrecv
    move(plate[1], up, recvbuf=plate[-1], source=down)
    move(plate[-2], down, recvbuf=plate[0], source=up)
"""
HALF_NONBLOCKING = f"""{AROUND}
def exchange_nonblocking(world, plate):
    there = [world.Irecv(ghost, r) for r, _, ghost in around(world, plate)]
    for r, mine, _ in around(world, plate):
        world.Send(mine, r)
    MPI.Request.Waitall(there)
"""

POSTS = """
class Ghosts:
    def __init__(self, world, plate):
        self.requests = []
        for r, mine, ghost in ((world.rank - 1, 1, 0), (world.rank + 1, -2, -1)):
            if 0 <= r < world.size:
                self.requests.append(world.Irecv(plate[ghost], source=r))
                self.requests.append(world.Isend(plate[mine], dest=r))
    def __enter__(self):
        return self.requests
    def __exit__(self, *_):
        MPI.Request.Waitall(self.requests)
"""
IN_A_CONTEXT = f"""{POSTS}
def overlapped_step(world, old, new):
    with Ghosts(world, old) as requests:
        for rows in np.array_split(np.arange(2, len(old) - 2), 8):
            if len(rows):
                a, b = rows[0] - 1, rows[-1] + 2
                step_numpy(old[a:b], new[a:b])
            for request in requests: request.Test()
    for edge in (slice(0, 3), slice(-3, None)):
        step_numpy(old[edge], new[edge])
"""
RECEIVES_LATE = """
def overlapped_step(world, old, new):
    sides = [(world.rank - 1, 1, 0), (world.rank + 1, -2, -1)]
    sides = [each for each in sides if 0 <= each[0] < world.size]
    sends = [world.Isend(old[mine], r) for r, mine, _ in sides]
    compute = lambda part: step_numpy(old[part], new[part])
    compute(slice(1, -1))
    for r, _, ghost in sides:
        world.Recv(old[ghost], r)
    MPI.Request.Waitall(sends)
    compute(slice(None, 3)); compute(slice(-3, None))
"""
NO_OVERLAP = f"""{POSTS}
def overlapped_step(world, old, new):
    with Ghosts(world, old):
        pass
    step_numpy(old, new)
"""
SPINS = f"""{POSTS}
def overlapped_step(world, old, new):
    requests = Ghosts(world, old).requests
    while not MPI.Request.Testall(requests):
        pass
    step_numpy(old, new)
"""


def changed(old: str, new: str) -> str:
    """The usual ping-pong with one change."""
    assert PING_PONG.count(old) == 1
    return PING_PONG.replace(old, new)


TREE = """
static void give(unsigned char *data, int bytes, int rank, int first, int last) {
    if (last - first < 2)
        return;
    int middle = first + (last - first + 1) / 2;
    if (rank == first)
        MPI_Send(data, bytes, MPI_BYTE, middle, TAG, MPI_COMM_WORLD);
    if (rank == middle)
        MPI_Recv(data, bytes, MPI_BYTE, first, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank < middle)
        give(data, bytes, rank, first, middle);
    else
        give(data, bytes, rank, middle, last);
}
void broadcast_tree(unsigned char *data, int bytes, int rank, int ranks) {
    give(data, bytes, rank, 0, ranks); /* no MPI_Bcast */
}
"""
HALO = """
void halo_step(struct halo *halo, int rank, int ranks) {
    int of[2] = {(rank + ranks - 1) % ranks, (rank + 1) % ranks};
    unsigned char *out[2] = {halo->first, halo->last}, *in[2] = {halo->before, halo->after};
    MPI_Request requests[4], *next = requests;
    for (int side = 0; side < 2; side++, next += 2) {
        MPI_Irecv(in[side], halo->bytes, MPI_BYTE, of[side], TAG + 1 - side, MPI_COMM_WORLD, next);
        MPI_Isend(out[side], halo->bytes, MPI_BYTE, of[side], TAG + side, MPI_COMM_WORLD, next + 1);
    }
    compute_inner_rows();
    for (int each = 0; each < 4; each++)
        MPI_Wait(&requests[each], MPI_STATUS_IGNORE);
    compute_border_rows();
}
"""
RIGHT = {
    "helper functions around Send": Text("own-blocking", HELPER),
    "a class, single trips": Text("own-blocking", CLASS),
    "partial and lambda": Text("own-blocking", LAMBDAS),
    "objects": Text("own-blocking", OBJECTS),
    "turns by a helper": Text("exchange", TURNS_BY_HELPER),
    "first by lambdas": Text("exchange", FIRST_BY_LAMBDAS),
    "persistent requests": Text("exchange", PERSISTENT),
    "a class that waits for one by one": Text("exchange", ONE_BY_ONE),
    "a context and Test": Text("overlap-python", IN_A_CONTEXT),
    "receives when it has computed": Text("overlap-python", RECEIVES_LATE),
    "a tree by recursion": Text("tree", TREE),
    "a halo with arrays": Text("halo", HALO),
}
WRONG = {
    "seconds": Text("own-blocking", changed(" * 1e6", ""), 0.5, "times as long as C"),
    "milliseconds": Text("own-blocking", changed("1e6", "1e3"), 0.5, "times as long as C"),
    "nanoseconds": Text("own-blocking", changed("1e6", "1e9"), 0, "at most"),
    "a whole round trip": Text("own-blocking", changed(" / 2 * 1e6", " * 1e6"), 0, "at most"),
    "another buffer": Text("own-blocking", NOT_THERE, 0, "rank 1 does not hold"),
    "not blocking": Text("own-blocking", NOT_BLOCKING, 0.5, "MPI_Irecv and MPI_Isend"),
    "turns by Sendrecv": Text("exchange", BOTH_WAYS, 2.5 / 4, "MPI_Sendrecv"),
    "only one side non-blocking": Text("exchange", HALF_NONBLOCKING, 2.5 / 4, "MPI_Send,"),
    "no overlap": Text("overlap-python", NO_OVERLAP, 0, "next to nothing"),
    "a loop of tests, then the step": Text("overlap-python", SPINS, 0, "next to nothing"),
    "a tree that is none": Text("tree", TREE.replace("+ (last - first + 1) / 2", "+ 1"), 0, "ms"),
    "a halo without overlap": Text(
        "halo",
        HALO.replace("    compute_inner_rows();\n", "").replace(
            "    compute_border_rows();", "    compute_inner_rows();\n    compute_border_rows();"
        ),
        0,
        "ms",
    ),
}


# ------------------------------------------------------------ lab 07: intervals of a change

Change = namedtuple("Change", "percent interval")


def by_names(before: list[float], after: list[float]) -> dict[str, float]:
    """A dict, in the order of its ends; no function of beowulf is in it."""
    quotients = np.divide(after, before)
    medians = [np.median(np.random.choice(quotients, len(quotients))) for _ in range(3000)]
    low, high = np.quantile(medians, [0.025, 0.975])
    return {
        "low": 100 * low - 100,
        "high": 100 * high - 100,
        "median": 100 * np.median(quotients) - 100,
    }


def plain_python(before: list[float], after: list[float]) -> Any:
    """Without numpy, and the two ends as one."""
    ratios = [b / a - 1 for a, b in zip(before, after, strict=True)]
    draws = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(2000))
    return Change(100 * statistics.median(ratios), (100 * draws[50], 100 * draws[1949]))


def of_ranks(before: list[float], after: list[float]) -> Any:
    """The ends are single ratios, by the binomial distribution."""
    change = np.sort(np.array(after) / before * 100 - 100)
    n, reach = len(change), 1.96 * np.sqrt(len(change)) / 2
    return np.array([np.median(change), change[int(n / 2 - reach)], change[int(n / 2 + reach)]])


def accelerated(before: list[float], after: list[float]) -> Any:
    """As scipy.stats.bootstrap does it by itself: corrected for bias and skewness."""
    normal = statistics.NormalDist()
    change = 100 * (np.array(after) / before - 1)
    middle = float(np.median(change))
    draws = np.median(np.random.default_rng(2).choice(change, (4000, len(change))), axis=1)
    below = float(np.mean(draws < middle) + np.mean(draws == middle) / 2)
    left_out = np.array([np.median(np.delete(change, place)) for place in range(len(change))])
    away = left_out.mean() - left_out
    skew = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
    bias = normal.inv_cdf(below)
    ends = []
    for share in (0.025, 0.975):
        z = bias + normal.inv_cdf(share)
        ends.append(float(np.quantile(draws, normal.cdf(bias + z / (1 - skew * z)))))
    return [middle, *ends]


def _drawn(change: Any, share: float) -> Any:
    draws = np.median(np.random.default_rng(3).choice(change, (4000, len(change))), axis=1)
    return np.quantile(draws, [(1 - share) / 2, (1 + share) / 2])


def of_90(before: list[float], after: list[float]) -> Any:
    """5 % on either side."""
    change = 100 * (np.array(after) / before - 1)
    return [np.median(change), *_drawn(change, 0.9)]


def of_99(before: list[float], after: list[float]) -> Any:
    """Half a per cent on either side."""
    change = 100 * (np.array(after) / before - 1)
    return [np.median(change), *_drawn(change, 0.99)]


def of_means(before: list[float], after: list[float]) -> Any:
    """A mean, with twice its standard error."""
    change = 100 * (np.array(after) / before - 1)
    error = 2 * change.std(ddof=1) / np.sqrt(len(change))
    return change.mean(), change.mean() - error, change.mean() + error


def of_single_pairs(before: list[float], after: list[float]) -> Any:
    """Where 95 % of the pairs lie, not their median."""
    change = 100 * (np.array(after) / before - 1)
    return np.median(change), *np.quantile(change, [0.025, 0.975])


def upside_down(before: list[float], after: list[float]) -> Any:
    """Before over after."""
    change = 100 * (np.array(before) / after - 1)
    return [np.median(change), *_drawn(change, 0.95)]


INTERVALS = {
    "a dict": Called("own-interval", by_names),
    "plain Python, a pair of ends": Called("own-interval", plain_python),
    "by ranks": Called("own-interval", of_ranks),
    "as scipy does": Called("own-interval", accelerated),
    "90 %": Called("own-interval", of_90, 1 / 3, "times as wide"),
    "99 %": Called("own-interval", of_99, 1 / 3, "w"),
    "a mean": Called("own-interval", of_means, 0, "a mean"),
    "single pairs": Called("own-interval", of_single_pairs, 1 / 3, "too wide"),
    "upside down": Called("own-interval", upside_down, 0, "divides before by after"),
}


# ------------------------------------------------------------ lab 06: loops over packets

ROW = 4096  # bytes of a row in the capture that they count


def of_a_list(packets: Iterable[Any]) -> dict[str, int]:
    """Everything at once, by comprehensions."""
    tcp = [(int(p.length), p.tcp, p) for p in list(packets) if hasattr(p, "tcp")]
    flags = [int(t.flags, 16) for _, t, _ in tcp]
    sizes = [int(t.len) for _, t, _ in tcp]
    rows = [m for *_, p in tcp for m in p.layers if m.layer_name == "mpich"]
    return {
        "handshake": sum(bool(f & 2) for f in flags),
        "data": sum(size > 0 for size in sizes),
        "bare_acks": sum(not size and not f & 7 for size, f in zip(sizes, flags, strict=True)),
        "payload_bytes": sum(sizes),
        "wire_bytes": sum(length for length, *_ in tcp),
        "ghost_rows": sum(m.get_field_value("bytes") == str(ROW) for m in rows),
    }


class Counting:
    """A packet at a time, into a Counter."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()

    def __call__(self, packet: Any) -> None:
        """Take one packet."""
        try:
            size, names = int(packet.tcp.len), packet.tcp.flags.showname_value
        except AttributeError:
            return
        self.found["payload_bytes"] += size
        self.found["wire_bytes"] += int(packet.frame_info.len)
        if "SYN" in names:
            self.found["handshake"] += 1
        if size:
            self.found["data"] += 1
        elif not any(each in names for each in ("SYN", "FIN", "RST")):
            self.found["bare_acks"] += 1
        for layer in packet.get_multiple_layers("mpich"):
            self.found["ghost_rows"] += int(getattr(layer, "bytes", -1)) == ROW


def by_a_class(packets: Any) -> Counter[str]:
    """By the loop that pyshark has itself."""
    counting = Counting()
    packets.apply_on_packets(counting)
    return counting.found


def in_ip(packets: Iterable[Any]) -> dict[str, int]:
    """The length that IP says for the bytes on the wire."""
    packets = list(packets)
    ip = sum(int(p.ip.len) for p in packets if "tcp" in p)
    return {**of_a_list(packets), "wire_bytes": ip}


def acks_of_all(packets: Iterable[Any]) -> dict[str, int]:
    """Every packet without data for an acknowledgement."""
    packets = list(packets)
    empty = sum(int(p.tcp.len) == 0 for p in packets if "tcp" in p)
    return {**of_a_list(packets), "bare_acks": empty}


LOOPS = {
    "comprehensions": Called("packet-loop", of_a_list),
    "a class": Called("packet-loop", by_a_class),
    "the length in IP": Called("packet-loop", in_ip, 5 / 6, "wire_bytes"),
    "all that is empty": Called("packet-loop", acks_of_all, 5 / 6, "bare_acks"),
}
