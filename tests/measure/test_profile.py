"""Does profile.c count every call with its bytes, and does what it prints come back whole, and apart from the rest?"""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beowulf import mpi, paths
from beowulf.errors import LabError
from beowulf.measure import profile
from beowulf.measure.profile import BEGINS, Sieve

PATIENCE_S = 400.0
INT, RANKS = 4, 4
# By call, of all four ranks together: how many, and the bytes that they give to MPI to send.
EXPECTED = {
    "MPI_Send": (2, 2 * 10 * INT),
    "MPI_Ssend": (2, 2 * 3 * INT),
    "MPI_Rsend": (2, 2 * 2 * INT),
    "MPI_Probe": (2, 0),
    "MPI_Recv": (4, 0),
    "MPI_Irecv": (2 + 4, 0),
    "MPI_Isend": (4, 4 * 5),
    "MPI_Wait": (2, 0),
    "MPI_Waitall": (8, 0),
    "MPI_Waitany": (4, 0),
    "MPI_Sendrecv": (8, 4 * 7 * INT),  # nothing is sent to MPI_PROC_NULL
    "MPI_Start": (4, 0),
    "MPI_Startall": (4, 0),
    "MPI_Test": (4, 0),
    "MPI_Testall": (4, 0),
    "MPI_Iprobe": (4, 0),
    "MPI_Barrier": (4, 0),  # and not those between MPI_Pcontrol(0) and (1)
    "MPI_Bcast": (4, 6 * INT),
    "MPI_Reduce": (4, 3 * 2 * INT),
    "MPI_Allreduce": (8, 8 * 3 * INT),
    "MPI_Scan": (4, 4 * INT),
    "MPI_Exscan": (4, 4 * INT),
    "MPI_Gather": (4, 3 * 3 * INT),
    "MPI_Gatherv": (4, (2 + 3 + 4) * INT),
    "MPI_Scatter": (4, 3 * 4 * INT),
    "MPI_Scatterv": (4, (2 + 3 + 4) * INT),
    "MPI_Allgather": (4, 4 * 2 * INT),
    "MPI_Allgatherv": (4, (1 + 2 + 3 + 4) * INT),
    "MPI_Alltoall": (8, 8 * 3 * 5 * INT),
    "MPI_Alltoallv": (4, 3 * (1 + 2 + 3 + 4) * INT),
}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What counted_calls.c prints with profile.c between it and MPI, on this machine alone."""
    folder = tmp_path_factory.mktemp("profile")
    program = mpi.build(Path(__file__).with_name("counted_calls.c"), output=folder / "counted")
    mpiexec = paths.mpi_prefix("classic") / "bin" / "mpiexec"
    settings = {
        "MPIR_CVAR_NOLOCAL": "1",
        "BEOWULF_PATIENT": "always",
        "LD_PRELOAD": str(paths.native("patient_poll.so")),
    }
    words = [word for name, value in settings.items() for word in ("-genv", name, value)]
    layer = profile.prefix(profile.build(folder))
    done = subprocess.run(
        [str(mpiexec), *words, "-n", str(RANKS), *layer, str(program)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(
    ("mode", "least", "most"),
    [
        # One repetition, then as many as count or as fit a second, which on a busy machine are fewer.
        ("imb", 1 + 1 + 1000, 1 + 2 * 1000),
        ("osu", 100 + 10_000, 100 + 10_000),
    ],
)
def test_in_the_ways_of_others_as_many_messages_go_before_that_do_not_count(
    mode: str, least: int, most: int, tmp_path: Path
) -> None:
    program = mpi.build(paths.lab("04") / "roundtrip.c", output=tmp_path / "roundtrip")
    layer = profile.prefix(profile.build(tmp_path))
    mpiexec = str(paths.mpi_prefix("classic") / "bin" / "mpiexec")
    words = [mpiexec, "-n", "2", *layer, str(program), "--sizes", "8", "--mode", mode]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S)
    counted = profile.printed(done.stdout).calls
    assert 2 * least <= counted["MPI_Send"].count <= 2 * most


def test_every_call_is_counted_with_its_bytes_and_no_rank_is_longer_in_mpi_than_it_ran(
    text: str,
) -> None:
    passed = io.StringIO()
    Sieve(passed.write).write(text)
    assert passed.getvalue() == "all calls were made\n"
    found = profile.printed(text)
    counted = {name: (each.count, each.bytes) for name, each in found.calls.items()}
    assert counted == EXPECTED
    assert [rank["rank"] for rank in found.ranks] == list(range(RANKS))
    for rank, share in zip(found.ranks, found.shares, strict=True):
        inside = sum(call["seconds"] for call in rank["calls"].values())
        assert inside == pytest.approx(rank["communicating_s"], rel=1e-6)
        assert 0 < share <= 1
    assert min(found.shares) <= found.share <= max(found.shares)
    assert found.bytes == sum(count for _, count in EXPECTED.values())


LINES = st.lists(
    st.sampled_from(
        [f"{BEGINS}, 1}}\n", '{"kind": "end"}\n', "{\n", "\n", "words\n", '{"kind": "prof\n']
    )
)


@given(LINES, st.lists(st.integers(1, 30)), st.sampled_from(["", "no line's end", "{"]))
def test_however_text_comes_only_lines_of_a_profile_are_kept_back(
    lines: list[str], cuts: list[int], last: str
) -> None:
    passed, rest = io.StringIO(), "".join(lines) + last
    sieve = Sieve(passed.write)
    for cut in cuts:
        sieve.write(rest[:cut])
        rest = rest[cut:]
    sieve.write(rest)
    wanted = "".join(line for line in lines if not line.startswith(BEGINS)) + last
    # What may still become a line of a profile waits for its end.
    assert passed.getvalue() in (wanted, wanted.removesuffix("{"))


def test_a_run_without_a_profile_and_a_broken_one_are_sentences() -> None:
    with pytest.raises(LabError, match="No rank reached MPI_Finalize"):
        profile.printed("words\n")
    with pytest.raises(LabError, match="A profile is incomplete"):
        profile.printed(BEGINS + ', "rank": 0, "sec\n')
