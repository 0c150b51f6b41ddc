"""roundtrip.c as mpptest: does each rank call and work in the order of mpptest's own loops, with whom and how fast?"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from beowulf import mpi, paths

TRIPS = 50  # of a run, as mpptest


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("order") / "order"
    return mpi.build(Path(__file__).with_name("order_of_calls.c"), output=output)


def run(program: Path, folder: Path, ranks: int, *words: str) -> str:
    mpiexec = paths.mpi_prefix("classic") / "bin" / "mpiexec"
    words = (
        "-n",
        str(ranks),
        str(program),
        *(("--passes", "1") if "--passes" not in words else ()),
        *words,
    )
    done = subprocess.run(
        [str(mpiexec), *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def orders(
    program: Path, folder: Path, ranks: int, *words: str
) -> tuple[list[list[str]], dict[str, Any], list[dict[str, Any]]]:
    """By rank, what it did in the one run that is timed, on this machine alone; what it says of itself; its samples."""
    said = run(program, folder, ranks, "--mode", "mpptest", *words)
    lines = [json.loads(line) for line in said.splitlines()]
    about = next(line for line in lines if "looks_on" in line)
    samples = [line for line in lines if line["kind"] == "sample"]
    whole = [(folder / f"order-{rank}").read_text().split("\n") for rank in range(ranks)]
    seen = [each.split() for each in (" ".join(one).split("Barrier")[-1] for one in whole)]
    return seen, about, samples


def words_of(loop: str, times: int) -> list[str]:
    return loop.split() * times


def test_beside_work_a_blocking_answer_is_received_and_sent_after_the_work(
    program: Path, tmp_path: Path
) -> None:
    seen, about, _ = orders(program, tmp_path, 3, "--overlap-bytes", "8", "--sizes", "100000")
    assert seen == [
        ["Recv", *words_of("Send 2 work Recv", TRIPS)],
        [],
        words_of("Send 0", 1) + words_of("work Recv Send 0", TRIPS),
    ]
    assert about["looks_on"] == "1"
    assert about["blocking_calls"] == "MPI_Send, the work, MPI_Recv"


def test_beside_work_a_non_blocking_answer_begins_after_the_work_and_the_message(
    program: Path, tmp_path: Path
) -> None:
    words = ("--overlap-bytes", "8", "--protocol", "async")
    seen, _, _ = orders(program, tmp_path, 2, *words)
    assert seen[0] == ["Recv", *words_of("Irecv Isend 1 work Wait Wait", TRIPS)]
    assert seen[1] == [*words_of("Irecv Isend 0 work Wait Wait", TRIPS), "Send", "0"]


def test_a_plain_pair_is_ranks_0_and_1_and_does_not_work(program: Path, tmp_path: Path) -> None:
    seen, about, _ = orders(program, tmp_path, 4, "--sizes", "8")
    blocking = [
        ["Recv", *words_of("Send 1 Recv", TRIPS)],
        ["Send", "0", *words_of("Recv Send 0", TRIPS)],
    ]
    assert seen == [*blocking, [], []]
    assert about["looks_on"] == "2, 3"
    seen, _, _ = orders(program, tmp_path, 2, "--sizes", "8", "--protocol", "async")
    assert seen[0] == ["Recv", *words_of("Irecv Send 1 Wait", TRIPS)]
    assert seen[1] == [
        *words_of("Send 0 Irecv", 1),
        *words_of("Wait Irecv Send 0", TRIPS - 1),
        *words_of("Wait Send 0", 1),
    ]


def test_less_than_eight_bytes_of_work_are_none_and_lengths_come_in_their_order(
    program: Path, tmp_path: Path
) -> None:
    """mpptest divides their number by the time all the same: that is no rate of anything."""
    for length, works in ((1, 0), (7, 0), (8, TRIPS), (15, TRIPS)):
        seen, _, (sample,) = orders(program, tmp_path, 2, "--overlap-bytes", str(length))
        assert [order.count("work") for order in seen] == [works, works]
        assert sample["bytes_per_s"] > 0
    words = ("--sizes", "8,1,64", "--passes", "2")
    _, _, samples = orders(program, tmp_path, 2, *words)
    assert [each["size_bytes"] for each in samples] == [8, 1, 64, 8, 1, 64]
    assert {each["repetitions"] for each in samples} == {TRIPS}
    _, _, (short,) = orders(program, tmp_path, 2, "--sizes", "4000000", "--chunk-us", "1000")
    assert short["repetitions"] < TRIPS


# Of each number of ranks and distance, who begins with whom: mpptest -debug prints the same.
PAIRS = {
    (2, 1): {0: 1},
    (3, 1): {0: 1},
    (3, 2): {0: 2},
    (4, 1): {0: 1, 2: 3},
    (4, 2): {0: 2, 1: 3},
    (4, 3): {0: 3, 2: 1},
    (6, 2): {0: 2, 1: 3},  # 4 and 5 want 0 and 1, which are taken
}


@pytest.mark.parametrize(("ranks", "distance"), PAIRS)
def test_bisect_pairs_by_distance_and_counts_a_rank_that_looks_on_as_half_a_pair(
    program: Path, tmp_path: Path, ranks: int, distance: int
) -> None:
    words = ("--bisect", "--sizes", "8", "--distance", str(distance))
    seen, about, samples = orders(program, tmp_path, ranks, *words)
    pairs = PAIRS[ranks, distance]
    expected: list[list[str]] = [[] for _ in range(ranks)]
    for one, other in pairs.items():
        expected[one] = ["Recv", *words_of(f"Send {other} Recv", TRIPS)]
        expected[other] = [*words_of(f"Send {one}", 1), *words_of(f"Recv Send {one}", TRIPS)]
    assert seen == expected
    alone = [str(rank) for rank in range(ranks) if rank not in {*pairs, *pairs.values()}]
    assert about["looks_on"] == (", ".join(alone) or "nobody")
    times = about["rate_times"]
    assert times == ranks / 2
    for line in samples:
        half_s = line["seconds"] / line["repetitions"] / 2
        assert line["bytes_per_s"] == pytest.approx(times * 8 / half_s)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--bisect", "--bisect is a way of mpptest"),
        ("--mode mpptest --overlap-bytes 8 --bisect", "leave out --bisect or"),
        ("--mode mpptest --overlap-bytes 8 --distance 1", "leave out --distance"),
        ("--mode mpptest --distance 4", "is the rank itself"),
        ("--distance 1", "are ways of mpptest"),
        ("--reps 5", "are ways of mpptest"),
        ("--mode mpptest --protocol ready", "are blocking and async, not ready"),
        ("--protocol sendrecv", "use it with --pattern ring or headtohead"),
    ],
)
def test_what_mpptest_cannot_do_is_refused_with_a_sentence(
    program: Path, tmp_path: Path, words: str, said: str
) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        run(program, tmp_path, 2, *words.split())
    assert said in refused.value.stderr


NONBLOCKING = "Irecv 1 Isend 1 {} Waitall"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "--compute-us 5 --protocol blocking,synchronous,async,nonblocking,persistent",
            {
                *("Send 1 Recv 1 us 5", "Ssend 1 Recv 1 us 5", "Irecv 1 Send 1 us 5 Wait"),
                *(NONBLOCKING.format("us 5"), "Start Start us 5 Waitall"),
            },
        ),
        (
            "--pattern headtohead --compute-us 5 --protocol blocking,sendrecv,nonblocking,persistent",
            {
                *("Send 1 Recv 1 us 5", "Sendrecv 1 us 5"),
                *(NONBLOCKING.format("us 5"), "Startall us 5 Waitall"),
            },
        ),
        (
            "--overlap-bytes 0,200 --protocol overlap",
            {"Irecv 1 Isend 1 Waitall", NONBLOCKING.format("bytes 200")},
        ),
    ],
    ids=["round trips", "exchanges", "bytes"],
)
def test_blocking_calls_work_after_the_message_and_others_while_it_travels(
    program: Path, tmp_path: Path, words: str, expected: set[str]
) -> None:
    run(program, tmp_path, 2, *words.split(), "--sizes", "8", "--chunk-us", "100")
    did = " ".join((tmp_path / "order-0").read_text().split())
    # A loop is measured between two barriers; of what it repeats, once.
    loops = {each.strip() for each in did.split("Barrier")} - {""}
    units = {re.sub(r"^(.+?)(?: \1)+$", r"\1", loop) for loop in loops}
    working = {each for each in units if "us" in each.split() or "bytes" in each.split()}
    assert working <= expected <= units
