"""Is a recorded run replayed as it was, and does another network make it take what that network takes?"""

from __future__ import annotations

import re
import shutil
from dataclasses import replace as changed
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from running import PATIENCE_S, Beowulf, first

from beowulf import mpi, paths
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.cluster.simulated import cluster as simulated
from beowulf.cluster.simulated.platform import Platform
from beowulf.errors import LabError, UsageError
from beowulf.timeline import analysis, recording, replay
from beowulf.timeline.analysis import Analysis
from beowulf.timeline.trace import (
    COLLECTIVE,
    COMPLETES,
    EVENT,
    FAILED,
    NOBODY,
    PART,
    RECEIVES,
    SENDS,
    WAITS,
    RankTrace,
    Trace,
)

if TYPE_CHECKING:
    from tests.timeline.conftest import Recorded

# A message of n bytes takes 30 + 0.085 n µs, as on a link of 100 Mbit/s.
HERE_US = ((0, 30.0), (1000, 115.0), (1_000_000, 85_030.0))
FAST = Platform(times_us=HERE_US)
SLOW = Platform(
    rate_mbit=10.0, times_us=tuple((size, 10 * time) for size, time in HERE_US), latency_us=250.0
)
MS = 1_000_000
needs_simgrid = pytest.mark.skipif(
    not shutil.which(simulated.SMPIRUN), reason="SimGrid is not installed here"
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


@needs_simgrid
def test_a_simulated_run_is_replayed_with_its_computing_unless_it_receives_from_anybody(
    tmp_path: Path,
) -> None:
    with pytest.raises(LabError, match="name their partner differ in number"):
        replay.simgrids_own(simulated_line(tmp_path, anybody=True), [FAST])
    fast, again, slow = replay.simgrids_own(simulated_line(tmp_path), [FAST, FAST, SLOW])
    assert fast == again
    message_ms = 0.455  # 5000 bytes, by HERE_US
    assert fast > 5 + 3 * message_ms, "it computes for some ms"
    # Three messages follow one another, and take ten times as long; computing does not.
    assert slow - fast == pytest.approx(9 * 3 * message_ms, rel=0.05)


def event(
    call: str, began_us: float, ended_us: float, flags: int = 0, **more: int
) -> dict[str, Any]:
    """An event of a hand-made trace."""
    values = {"partner": NOBODY, "thread": 1, **more}
    return {
        "call": call,
        "flags": flags,
        "began_ns": int(began_us * 1000),
        "ended_ns": int(ended_us * 1000),
        **values,
    }


def run(*ranks: list[dict[str, Any]], **of_all: Any) -> Analysis:
    """A run of so many ranks, each with its events."""
    names = tuple(dict.fromkeys(each["call"] for events in ranks for each in events))
    made = []
    for rank, events in enumerate(ranks):
        rows = np.zeros(len(events), EVENT)
        for row, each in zip(rows, events, strict=True):
            for name, value in each.items():
                row[name] = names.index(value) if name == "call" else value
        clocks = np.zeros(0, dtype=[("monotonic_ns", "<i8"), ("real_ns", "<i8")])
        comms = ((0, 0, len(ranks)), (7, 0, len(ranks)))
        made.append(
            RankTrace(rank, len(ranks), "node", "made", 0, 10 * MS, rows, names, comms, clocks, ())
        )
    return Analysis(Trace(tuple(made), **of_all), {})


def of(found: Analysis) -> list[list[str]]:
    """What the ranks do, with messages numbered from 0 by their own tags."""
    return replay.actions(found, replay.read(found))


def one_message(kind: str = "MPI_Send", size: int = 1000, *, late_us: float = 50) -> Analysis:
    """Rank 0 sends to rank 1, which computes before it receives."""
    sends = event(kind, 100, 101, SENDS, partner=1, tag=5, bytes=size)
    receives = event("MPI_Recv", 100 + late_us, 300, RECEIVES | COMPLETES, partner=0, tag=5)
    return run([sends], [receives | {"bytes": size}])


def test_what_a_rank_does_between_its_calls_lasts_as_long() -> None:
    sender, receiver = of(one_message())
    assert sender == ["send 1 0 1000"]
    assert receiver == ["sleep 0.000050000", "recv 0 0 1000"]


def test_a_synchronous_send_waits_for_an_answer_and_a_buffered_one_for_nothing() -> None:
    sender, receiver = of(one_message("MPI_Ssend"))
    assert sender == ["send 1 0 1000", "recv 1 1 1"]
    assert receiver[1:] == ["recv 0 0 1000", "send 0 1 1"]
    assert of(one_message("MPI_Bsend"))[0] == ["isend 1 0 1000"]
    assert of(one_message(size=0))[0] == ["send 1 0 1"], "0 would be an unknown length"


@pytest.mark.parametrize(
    ("kind", "waits"),
    [
        ("MPI_Isend", ["wait 0 1 2", "wait 0 1 0"]),
        ("MPI_Issend", ["wait 0 1 2", "wait 1 0 3", "wait 0 1 0", "wait 1 0 1"]),
        ("MPI_Ibsend", []),
    ],
)
def test_a_wait_is_for_what_it_completed(kind: str, waits: list[str]) -> None:
    """Two messages with the same tag on their way at once: each wait is for one of them."""
    answers = kind == "MPI_Issend"
    both = {"tag": 3, "bytes": 8}
    sender = [
        event(kind, 0, 1, SENDS, partner=1, request=1, **both),
        event(kind, 1, 2, SENDS, partner=1, request=2, **both),
        event("MPI_Wait", 12, 20, COMPLETES | WAITS, partner=1, request=2, **both),
        event("MPI_Wait", 20, 30, COMPLETES | WAITS, partner=1, request=1, **both),
    ]
    receiver = [
        event("MPI_Irecv", 0, 1, RECEIVES, partner=-2, request=1, tag=-1, bytes=99),
        event("MPI_Irecv", 1, 2, RECEIVES, partner=0, request=2, **both),
        event("MPI_Waitall", 2, 30, WAITS),
        event("MPI_Waitall", 2, 30, COMPLETES | PART, partner=0, request=1, **both),
        event("MPI_Waitall", 2, 30, COMPLETES | PART, partner=0, request=2, **both),
    ]
    there, here = of(run(sender, receiver))
    assert [each for each in there if "isend" in each] == ["isend 1 0 8", "isend 1 2 8"]
    assert [each for each in there if "wait" in each] == waits
    assert "sleep 0.000010000" in there
    first, second = (["send 0 1 1"], ["send 0 3 1"]) if answers else ([], [])
    began = ["irecv 0 0 8", "irecv 0 2 8"]
    assert here == [*began, "wait 0 1 0", *first, "wait 0 1 2", *second]


def sendrecv(to: int = NOBODY, got_from: int = NOBODY) -> list[dict[str, Any]]:
    at = {"tag": 1, "bytes": 10}
    return [
        event("MPI_Sendrecv", 0, 5, SENDS, partner=to, **at),
        event("MPI_Sendrecv", 0, 5, RECEIVES | COMPLETES | PART, partner=got_from, **at),
    ]


def test_a_send_and_receive_in_one_call_go_both_at_once_or_at_an_edge_alone() -> None:
    first, second = of(run(sendrecv(1, 1), sendrecv(0, 0)))
    assert first == ["isend 1 0 10", "recv 1 2 10", "wait 0 1 0"]
    assert second == ["isend 0 2 10", "recv 0 0 10", "wait 1 0 2"]
    last, first = of(run(sendrecv(got_from=1), sendrecv(to=0)))
    assert last == ["recv 1 0 10"]
    assert first == ["isend 0 0 10", "wait 1 0 0"]


def test_asking_again_and_again_is_waiting_and_work_in_between_is_work() -> None:
    at = {"tag": 1, "bytes": 10}
    receiver = [event("MPI_Irecv", 0, 1, RECEIVES, partner=0, request=1, **at)]
    receiver += [
        event("MPI_Test", began, began + 1, partner=0, request=1, **at) for began in (11, 13, 64)
    ]
    receiver += [event("MPI_Test", 66, 67, COMPLETES, partner=0, request=1, **at)]
    sender = [event("MPI_Send", 0, 1, SENDS, partner=1, **at)]
    slept = ["sleep 0.000010000", "sleep 0.000050000"]
    assert of(run(sender, receiver))[1] == ["irecv 0 0 10", *slept, "wait 0 1 0"]


@pytest.mark.parametrize(
    ("call", "root", "sizes", "words"),
    [
        ("Bcast", 1, (16_000,) * 4, "bcast 16000 1"),
        ("Bcast", 1, (16_000,) * 8, "scatter 2000 2000 1, allgather 2000 2000"),
        ("Reduce", 2, (800,) * 4, "reduce 800 0 2"),
        ("Reduce", 0, (8000,) * 4, "reducescatter 2000 2000 2000 2000 0, gather 2000 2000 0"),
        ("Allreduce", -1, (8000,) * 4, "reducescatter 2000 2000 2000 2000 0, allgather 2000 2000"),
        ("Gather", 1, (8,) * 2, "gather 8 8 1"),
        ("Gatherv", 1, (8, 0, 4), "gatherv 8 8 1 4 1"),
        ("Scatterv", 1, (8, 0, 4), "scatterv 8 1 4 8 1"),
        ("Allgatherv", -1, (8, 0, 4), "allgatherv 8 8 1 4"),
        ("Alltoall", -1, (80,) * 4, "alltoall 20 20"),
        ("Alltoallv", -1, (80, 400, 0, 40), "alltoallv 80 20 20 20 20 131 20 100 1 10"),
        ("Reduce_scatter", -1, (80,) * 2, "reducescatter 40 40 0"),
    ],
)
def test_a_collective_call_has_the_bytes_that_its_ranks_gave(
    call: str, root: int, sizes: tuple[int, ...], words: str
) -> None:
    calls = (event(f"MPI_{call}", 0, 9, COLLECTIVE, partner=root, bytes=size) for size in sizes)
    assert of(run(*([each] for each in calls)))[0] == words.split(", ")


def test_what_goes_before_the_first_data_and_after_the_last_is_left_out() -> None:
    """The second rank is late at the first barrier, and both only meet in the last one."""

    def rank(late_us: float) -> list[dict[str, Any]]:
        return [
            event("MPI_Barrier", late_us, 110, COLLECTIVE),
            event("MPI_Pcontrol", 111, 112, 1 << 5),
            event("MPI_Allreduce", 120, 150, COLLECTIVE, bytes=8),
            event("MPI_Barrier", 160, 170, COLLECTIVE),
            event("MPI_Allreduce", 190, 200, COLLECTIVE, bytes=8),
            event("MPI_Barrier", 205 + late_us, 330, COLLECTIVE),
            event("MPI_Finalize", 340, 400),
        ]

    expected = ["allreduce 8 0", "sleep 0.000010000", "barrier", "sleep 0.000020000"]
    for lines in of(run(rank(0), rank(100))):
        assert lines == [*expected, "allreduce 8 0"]


def stops(found: Analysis, sentence: str, kind: type[LabError] = LabError) -> LabError:
    with pytest.raises(kind, match=sentence) as caught:
        replay.replay(found, FAST)
    return caught.value


def test_what_cannot_be_replayed_is_named() -> None:
    data = event("MPI_Allreduce", 0, 5, COLLECTIVE, bytes=8)
    other = event("MPI_Bcast", 0, 5, COLLECTIVE, bytes=8)
    send = event("MPI_Send", 6, 7, SENDS, partner=1, bytes=8)
    receive = event("MPI_Recv", 6, 7, RECEIVES | COMPLETES, partner=0, bytes=8)
    begun = event("MPI_Irecv", 6, 7, RECEIVES, partner=0, request=1)
    ended = event("MPI_Wait", 6, 7, COMPLETES | WAITS, partner=0, request=1)
    stops(run([data], []), "MPI_Allreduce on rank 0 .*: not all ranks")
    stops(run([data], [other]), "MPI_Allreduce on rank 0 .*: other ranks")
    stops(run([send], [data]), "MPI_Send on rank 0 .*: its receive is not known")
    stops(run([], [receive]), "MPI_Recv on rank 1 .*: its send is not known")
    stops(run([], [begun, ended]), "MPI_Irecv on rank 1 .*: its send is not known")
    stops(
        run([data | {"call": "MPI_Iallreduce", "request": 1}]),
        "MPI_Iallreduce on rank 0 .*: it goes on in",
    )
    stops(run([send | {"flags": SENDS | FAILED}], [receive]), "MPI_Send on rank 0 .*: it failed")
    stops(run([data, data | {"thread": 2}]), "Several threads")
    stops(run([event("MPI_Finalize", 0, 5)]), "nothing to replay")
    problem = stops(run(*[[data]] * 5), "5 ranks, more than the platform has cores", UsageError)
    assert "nodes" in problem.hint


def test_only_a_whole_run_is_replayed(record: Recorded) -> None:
    short = stops(
        analysis.read(record("many.c", 2, "5000", environment={"BEOWULF_TRACE_MOST": "1000"})),
        "Only a whole run can be replayed. Rank 0: more than 1,000 events",
    )
    assert short.hint == "Record it again."


def test_without_simgrid_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert "libsimgrid-dev" in stops(one_message(), "SimGrid, which simulates clusters,").hint


@needs_simgrid
def test_a_message_takes_what_the_platform_says() -> None:
    there = replay.replay(one_message(), FAST)
    assert there.recorded_ms == 0.2
    assert there.ms == pytest.approx(0.115, rel=0.06)
    assert replay.replay(one_message(), SLOW).ms == pytest.approx(1.15, rel=0.06)
    late = replay.replay(one_message(late_us=150), FAST)
    assert late.ms == pytest.approx(0.150, rel=0.06)


@needs_simgrid
def test_a_run_that_counts_on_a_buffer_has_no_end_without_one() -> None:
    """Both send before they receive: with an eager message that goes well."""

    def rank(other: int) -> list[dict[str, Any]]:
        at = {"partner": other, "tag": 1, "bytes": 1000}
        return [
            event("MPI_Send", 0, 1, SENDS, **at),
            event("MPI_Recv", 1, 100, RECEIVES | COMPLETES, **at),
        ]

    found = run(rank(1), rank(0))
    assert replay.replay(found, FAST).ms == pytest.approx(0.115, rel=0.06)
    with pytest.raises(LabError, match=r"the run never ends.*deadlock") as caught:
        replay.replay(found, changed(FAST, eager_bytes=1000))
    assert "1,000 bytes or more" in caught.value.hint


COLLECTIVES = [
    *("Barrier", "Bcast", "Reduce", "Allreduce", "Scan", "Exscan", "Gather", "Gatherv", "Scatter"),
    *("Scatterv", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Reduce_scatter"),
]


@needs_simgrid
@pytest.mark.parametrize("ranks", first(3, [1, 8, 5, 2, 3, 13]))
def test_simgrid_replays_every_collective_call(ranks: int) -> None:
    """Its own choices after MPICH crash in some of them."""
    events = []
    for turn, call in enumerate(COLLECTIVES * 2):
        size = 0 if call == "Barrier" else 8 if turn < len(COLLECTIVES) else 100_000
        at = {"bytes": size * ranks if "to" in call or "_" in call else size, "partner": ranks - 1}
        events.append(event(f"MPI_{call}", turn, turn + 1, COLLECTIVE, **at))
    platform = Platform(nodes=max(ranks, 2), times_us=HERE_US)
    there = replay.replay(run(*[events] * ranks), platform).ms
    assert there > 10 if ranks > 1 else there < 1


# The first one waits for its cables and delays alone; others also for cores, which tests of a machine share.
NPB = paths.lab("03") / "npb"
PROGRAMS = {
    "plate": (paths.lab("09") / "plate.c", ("--row-us", "5", "--rows", "400"), 4),
    "IS": (NPB / "is.c", ("S",), 4),
    "CG": (NPB / "cg.c", ("S",), 4),
}


@needs_simgrid
@pytest.mark.cluster
@pytest.mark.parametrize("name", first(1, list(PROGRAMS)))
def test_a_real_run_is_replayed_always_alike_and_takes_longer_on_a_slow_network(
    name: str, cluster: NamespaceCluster, tmp_path: Path
) -> None:
    source, arguments, ranks = PROGRAMS[name]
    words, into = mpi.prepare(source, library=cluster.mpi), tmp_path / "trace"
    done = recording.launch(cluster, words, ranks, arguments, into=into, timeout_s=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    found = analysis.read(into)
    there = replay.replay(found, FAST)
    # The same run takes the same time, to the last digit.
    assert replay.replay(found, FAST) == there
    assert replay.replay(found, SLOW).ms > there.ms
    assert any(line.startswith("sleep") for lines in of(found) for line in lines)


@needs_simgrid
@pytest.mark.cluster
@pytest.mark.nightly
def test_a_learner_asks_for_another_network(at_cluster: Beowulf, tmp_path: Path) -> None:
    ring = paths.lab("01") / "ring.c"
    at_cluster("run", "--trace", "-n", "4", ring)
    (tmp_path / "slow.toml").write_text(SLOW.toml("ten times as slow"))
    said = " ".join(at_cluster("timeline", "ring.trace", "--on", "slow.toml").split())
    numbers = re.search(
        r"the run took ([\d.,]+) ms\. On the network of slow.toml it would take ([\d.,]+) ms: ([\d.]+)",
        said,
    )
    assert numbers, said
    took, takes, ratio = (float(each.replace(",", "")) for each in numbers.groups())
    assert takes / took == pytest.approx(ratio, rel=0.01)
    (tmp_path / "wrong.toml").write_text("nodes = 1\n")
    assert "wrong.toml" in at_cluster("timeline", "ring.trace", "--on", "wrong.toml", code=2)
