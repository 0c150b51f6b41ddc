"""Does the recorder keep what each rank did, whole and true, also when the rank is killed or does too much?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from beowulf import mpi
from beowulf.errors import LabError
from beowulf.timeline import analysis, matching, recording, trace
from beowulf.timeline.trace import MARK, PART

if TYPE_CHECKING:
    from tests.timeline.conftest import Recorded


@pytest.mark.parametrize("ranks", [2, 4])
def test_every_way_of_sending_is_matched_with_its_receive(
    everything: dict[int, Path], ranks: int
) -> None:
    found = analysis.read(everything[ranks])
    assert found.trace.warnings == ()
    sends, receives = matching.unmatched(found.events, found.messages)
    assert sends.empty
    assert receives.empty
    messages = found.messages
    assert (messages["bytes"] == messages["got_bytes"]).all()
    # By tag: the ring, three non-blocking, three persistent, one by Mprobe in each half, one Ssend.
    halves = {2: 2} if ranks == 4 else {}
    expected = {7: 3 * ranks, 8: ranks, 9: ranks, 1: 3 * ranks, 3: 1} | halves
    assert Counter(messages["tag"]) == expected
    pairs = messages.groupby(messages["tag"] == 2)[["source", "to"]].apply(
        lambda rows: set(rows.itertuples(index=False, name=None))
    )
    assert pairs[False] <= {(rank, (rank + 1) % ranks) for rank in range(ranks)}
    # The first of each half, which is its highest rank, sends to its last one.
    assert pairs.get(True, set()) == ({(2, 0), (3, 1)} if halves else set())
    # Each collective call is one of all of its ranks.
    groups = found.collectives.assign(
        name=found.collectives["call"].map(found.trace.calls.__getitem__)
    )
    groups = groups.groupby("group").agg(names=("name", set), ranks=("rank", "nunique"))
    assert groups["names"].map(len).eq(1).all()
    sizes = groups.assign(name=groups["names"].map(min)).groupby("name")["ranks"].agg(set)
    assert sizes["MPI_Allreduce"] == {ranks // 2}
    assert sizes["MPI_Barrier"] == sizes["MPI_Ibcast"] == sizes["MPI_Comm_split"] == {ranks}


def of_two_ranks(record: Recorded, folder: Path, body: str) -> analysis.Analysis:
    """The run of a program in C, whose ranks are known by `rank`."""
    source = folder / "two.c"
    head = "int main(int count, char **words) { MPI_Init(&count, &words); int rank, data = 0;"
    source.write_text(f"#include <mpi.h>\n{head}{body}MPI_Finalize(); }}\n")
    return analysis.read(record([str(mpi.build(source))], 2))


def test_messages_that_lack_a_side_are_counted(record: Recorded, tmp_path: Path) -> None:
    found = of_two_ranks(
        record,
        tmp_path,
        """
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        PMPI_Send(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
""",
    )
    (warning,) = found.warnings
    assert warning.startswith("Sends without a receive: 0; receives without a send: 1.")


def test_a_message_that_a_cut_goes_through_is_no_warning(record: Recorded, tmp_path: Path) -> None:
    found = of_two_ranks(
        record,
        tmp_path,
        """
    MPI_Comm other;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    if (rank == 0) {
        MPI_Send(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(other);
        MPI_Recv(&data, 1, MPI_INT, 1, 0, other, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&data, 1, MPI_INT, 0, 0, other);
        MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Barrier(other);
    }
""",
    )
    part = analysis.between_messages(found)
    assert (len(found.messages), len(part.messages)) == (3, 2)
    assert not found.warnings
    assert not part.warnings


def test_the_parts_of_a_rank_are_its_run_and_marks_have_their_names(
    everything: dict[int, Path],
) -> None:
    found = analysis.read(everything[2])
    for each in found.trace.ranks:
        calls = each.events[(each.events["flags"] & PART) == 0]
        # No call begins before the one before it has ended.
        assert (calls["began_ns"][1:] >= calls["ended_ns"][:-1]).all()
        marks = each.events[(each.events["flags"] & MARK) != 0]
        assert list(zip(marks["bytes"], marks["tag"], strict=True)) == [(10, 1), (11, 1), (0, 0)]
        assert each.names == ("the end",)
    parts = found.parts
    assert (parts["computing"] + parts["in_mpi"] == parts["run"]).all()
    assert (parts["computing"] > 0).all()


def test_a_python_program_is_recorded_as_well(record: Recorded, tmp_path: Path) -> None:
    program = tmp_path / "letters.py"
    program.write_text(
        "from mpi4py import MPI\n"
        "from beowulf.timeline import mark\n"
        "world = MPI.COMM_WORLD\n"
        "if world.rank == 0:\n"
        "    world.send({'a': 1}, 1, tag=5)\n"
        "    world.Send(b'12345', 1, tag=6)\n"
        "else:\n"
        "    world.recv(source=0, tag=5)\n"
        "    world.Recv(bytearray(9), 0, tag=6)\n"
        "with mark('to all'):\n"
        "    world.bcast('all', 0)\n"
    )
    found = analysis.read(record([sys.executable, str(program)], 2))
    assert [(int(m.source), int(m.tag)) for m in found.messages.itertuples()] == [(0, 5), (0, 6)]
    assert found.messages["got_bytes"].iat[1] == 5
    assert replace(found, details={"program": "letters.py"}).program == "letters.py"
    between = analysis.between_messages(found)
    names = found.events["call"].map(found.trace.calls.__getitem__)
    sent = found.events[names.isin(["MPI_Send", "MPI_Mrecv", "MPI_Recv"])]
    window = (sent["began_ns"].min(), sent["ended_ns"].max())
    assert (between.trace.began_ns, between.trace.ended_ns) == window
    assert between.parts[["computing", "in_mpi"]].sum(axis=1).tolist() == [between.length_ns] * 2
    for each in found.trace.ranks:
        calls = [each.calls[event["call"]] for event in each.events]
        begin, end = (place for place, call in enumerate(calls) if call == "MPI_Pcontrol")
        assert set(calls[begin + 1 : end]) == {"MPI_Bcast"}
        assert calls[end + 1 :] == ["MPI_Finalize"]
        assert each.names == ("to all",)


def test_what_a_killed_rank_did_is_kept_up_to_its_last_call(record: Recorded) -> None:
    found = analysis.read(record("dies.c", 2, code=None))
    warnings = " ".join(found.trace.warnings)
    assert "Rank 1 did not reach the end of MPI_Finalize" in warnings
    victim = found.trace.ranks[1]
    assert victim.events.size == 10


def test_more_calls_than_there_is_room_for_are_counted(record: Recorded) -> None:
    folder = record("many.c", 2, "5000", environment={"BEOWULF_TRACE_MOST": "1000"})
    found = analysis.read(folder)
    for each in found.trace.ranks:
        assert each.events.size == 1000
        assert each.left_out == 5000 + 1 - 1000
    assert "4,001 events from" in " ".join(found.trace.warnings)
    assert "are counted and not shown" in " ".join(found.trace.warnings)


def test_what_several_threads_call_is_not_lost(record: Recorded) -> None:
    found = trace.read(record("threads.c", 2, "200"))
    for each in found.ranks:
        assert set(each.events["thread"]) >= {1, 2, 3}
    messages = matching.messages(matching.events(found))
    assert len(messages) == 2 * 200


def test_a_file_cut_short_is_read_as_far_as_it_goes(
    everything: dict[int, Path], tmp_path: Path
) -> None:
    folder = shutil.copytree(everything[2], tmp_path / "trace")
    file = folder / "rank-1.trace"
    content = file.read_bytes()
    for length in (10, 50_000):
        file.write_bytes(content[:length])
        with pytest.raises(LabError, match="is not a trace from this recorder, or is cut off"):
            trace.read(folder)
    whole = trace.read(everything[2]).ranks[1].events.size
    for missing, lost in ((24, 1), (48 * 3, 3)):
        file.write_bytes(content[:-missing])
        found = trace.read(folder)
        assert "The trace of rank 1 is cut short" in " ".join(found.warnings)
        assert found.ranks[1].events.size == whole - lost


def written(folder: Path, rank: int = 0, events: int = 1, **odd: int) -> Path:
    """A file as the recorder writes it, with one call; `odd` are values of its head or of its events."""
    head, event = np.zeros(1, trace.HEAD), np.zeros(events, trace.EVENT)
    head["magic"], head["version"], head["finished"] = trace.MAGIC, trace.VERSION, 1
    head["head_bytes"], head["event_bytes"] = trace.HEAD.itemsize, trace.EVENT.itemsize
    head["rank"], head["ranks"], head["events"], head["call_count"] = rank, 2, events, 1
    head["ended_ns"] = event["ended_ns"] = 10
    head["calls"][0][0] = b"MPI_Barrier"
    for name, value in odd.items():
        (event if name in trace.EVENT.names else head)[name] = value
    folder.mkdir(exist_ok=True)
    (folder / f"rank-{rank}.trace").write_bytes(head.tobytes() + event.tobytes())
    return folder


@pytest.mark.parametrize(
    "odd",
    [
        *({"ranks": each} for each in (2**31 - 1, 0, -1, trace.MOST_RANKS + 1)),
        {"rank": 2},
        *({"call": 1}, {"partner": 2}, {"partner": -4}, {"began_ns": -1}, {"ended_ns": 2**62}),
    ],
    ids=str,
)
def test_a_file_from_elsewhere_with_what_no_run_leaves_is_refused(
    odd: dict[str, int], tmp_path: Path
) -> None:
    folder = written(tmp_path / "trace")
    assert trace.read(folder).ranks[0].events.size == 1
    written(folder, **odd)
    with pytest.raises(LabError, match="contains what no run writes"):
        trace.read(folder)


def test_files_of_two_runs_are_not_read_as_one_and_many_missing_ranks_are_counted(
    tmp_path: Path,
) -> None:
    folder = written(tmp_path / "trace", ranks=60_000)
    (warning,) = trace.read(folder).warnings
    assert "of rank 1, 2, " in warning
    assert "and 59,979 more" in warning
    written(folder, rank=1)
    with pytest.raises(LabError, match="not from the ranks of one run"):
        trace.read(folder)


@pytest.mark.parametrize("text", ["[" * 5_000, "[]", '{"cluster": 3}', '{"stopped_ns": "now"}'])
def test_details_from_elsewhere_that_are_none_are_refused(text: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "trace")
    (folder / recording.DETAILS).write_text(text)
    with pytest.raises(LabError, match="is damaged, or has been edited"):
        analysis.read(folder)
    (folder / recording.DETAILS).write_text('{"program": "a\\u001b[2Jb"}')
    assert analysis.read(folder).program == "a [2Jb"


def test_the_calls_are_those_that_lab_03s_profile_counts(record: Recorded) -> None:
    """Of a program with every call in it; what it excludes from counting is excluded here, too."""
    from tests.measure.test_profile import EXPECTED

    found = trace.read(record("../measure/counted_calls.c", 4))
    counts: Counter[str] = Counter()
    for each in found.ranks:
        counting = True
        for event in each.events[(each.events["flags"] & PART) == 0]:
            if event["flags"] & MARK:
                counting = bool(event["bytes"] > 0)
            elif counting:
                counts[each.calls[event["call"]]] += 1
    assert {name: counts[name] for name in EXPECTED} == {
        name: count for name, (count, _) in EXPECTED.items()
    }


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    disk = folder / "trace"
    disk.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", disk], check=True)
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small disk")
def test_on_a_full_disk_the_program_ends_well_and_what_fits_is_kept(
    record: Recorded, tmp_path: Path
) -> None:
    with small_disk(tmp_path, "64k") as folder:  # without room for anything
        record("many.c", 1, "10")
        assert list(folder.iterdir()) == []
    # No room for a piece of 32,768 events; smaller ones are taken.
    with small_disk(tmp_path, "1200k"):
        found = analysis.read(record("many.c", 1, "40000"))
    assert "there was no room on the disk" in " ".join(found.trace.warnings)
    (rank,) = found.trace.ranks
    assert rank.left_out == 40_001 - rank.events.size  # MPI_Finalize is an event, too
    assert 20_000 < rank.events.size < 1_200 * 1024 / 48
