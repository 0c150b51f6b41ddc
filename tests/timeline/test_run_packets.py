"""Do packets and calls of one run fit together?"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import PATIENCE_S

from beowulf import mpi
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError
from beowulf.exercises import timelines
from beowulf.packets import table
from beowulf.timeline import analysis, picture, recording
from beowulf.timeline import waits as waits_of

pytestmark = pytest.mark.cluster
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def pair(
    tmp_path_factory: pytest.TempPathFactory, namespaces_work: None
) -> Iterator[NamespaceCluster]:
    folder = tmp_path_factory.mktemp("wire") / "state"
    yield namespaces.up(ClusterConfig(nodes=2, rate="100mbit"), folder=folder)
    namespaces.down(folder=folder)


@pytest.fixture(scope="module")
def rendezvous(pair: NamespaceCluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The traces and the capture of a rendezvous whose sender was computing."""
    return recorded(pair, tmp_path_factory.mktemp("rendezvous"), "rendezvous")


def recorded(cluster: NamespaceCluster, folder: Path, case: str, times: int = 2) -> Path:
    program = mpi.build(HERE / "cases.c", output=folder / "cases")
    into = folder / "run.trace"
    done = recording.launch(cluster, [str(program)], 2, [case, str(times)], into=into, capture=True)
    assert done.returncode == 0, done.stderr
    return into


def test_each_packet_of_the_capture_is_there_once(rendezvous: Path) -> None:
    found = analysis.read(rendezvous)
    assert found.wire
    packets = found.wire.packets
    assert packets["number"].tolist() == list(
        range(1, len(table.read(rendezvous / "wire.pcapng")) + 1)
    )
    assert found.warnings == []


def test_a_request_leaves_and_the_data_wait_until_the_sender_calls_again(rendezvous: Path) -> None:
    found = analysis.read(rendezvous)
    assert found.wire
    events = found.events
    assert len(found.messages) == 2
    for message in found.messages.itertuples():
        mine = found.wire.packets[found.wire.packets["message"] == message.Index]
        first = {kind: int(rows["time_ns"].min()) for kind, rows in mine.groupby("kind")}
        isend, wait = events.loc[int(message.send)], events.loc[int(message.sent)]
        assert found.name(int(message.send)) == "MPI_Isend"
        assert isend["began_ns"] <= first["request to send"]
        assert first["request to send"] < first["clear to send"] < first["data"]
        # Nothing of the data leaves while the sender is outside of MPI.
        assert first["data"] >= wait["began_ns"]
        carried = mine[mine["kind"] == "data"]["payload_bytes"].sum()
        assert carried >= message.bytes
        # Acknowledged by the receiver.
        acks = mine[mine["kind"] == "ACK"]
        assert set(acks["src"]) <= {
            int(mine[mine["kind"] == "data"]["dst"].iat[0]),
            int(mine["src"].iat[0]),
        }


def test_a_message_that_nagle_keeps_until_a_delayed_ack_is_named(
    pair: NamespaceCluster, tmp_path: Path
) -> None:
    found = analysis.read(recorded(pair, tmp_path, "nagle", 8))
    waits = found.waits[found.waits["kind"] == waits_of.NAGLE]
    # Messages of the other tag, to and fro, are kept now and then, too.
    waits = waits[(found.messages.loc[waits["message"], "tag"] == 0).to_numpy()]
    # The second of each two messages is kept, unless its sender, or its receiver, has no core for 40 ms.
    assert 0 < len(waits) <= 8
    assert set(waits["rank"]) == {1}
    assert set(waits["cause"]) == {0}
    calls = found.events.loc[waits["event"]]
    lengths = (calls["ended_ns"] - calls["began_ns"]).to_numpy()
    assert (waits["waited_ns"].to_numpy() <= lengths).all()
    assert {found.name(int(event)) for event in waits["event"]} == {"MPI_Recv"}


def test_the_still_picture_has_the_packets_of_its_time_between_nodes(
    rendezvous: Path, tmp_path: Path
) -> None:
    found = analysis.read(rendezvous)
    assert found.wire
    figure = picture.picture(found)
    packets = found.wire.packets[found.wire.packets["mpi"]]
    assert f"Below, {len(packets):,} packets between 2 nodes:" in figure.alt
    assert "2 request to send" in figure.alt
    svg = figure.save(tmp_path / "t.svg")[0].read_text()
    assert "<!-- node01 -->" in svg
    nothing = picture.picture(found, from_s=found.length_ns / 1e9 - 1e-9)
    assert "packets" not in nothing.alt


def test_a_trace_without_its_capture_has_no_packets_and_a_capture_without_one_is_named(
    rendezvous: Path, tmp_path: Path
) -> None:
    alone = tmp_path / "alone.trace"
    shutil.copytree(rendezvous, alone)
    (alone / "wire.pcapng").rename(tmp_path / "wire.pcapng")
    found = analysis.read(alone)
    assert found.wire is None
    assert len(found.messages) == 2
    with pytest.raises(LabError, match="no trace in"):
        analysis.read(tmp_path)


def test_a_notebook_shows_the_run_of_a_terminal_or_says_how_to_record_one(
    rendezvous: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = timelines.of_run(str(rendezvous))
    assert page is not None
    assert len(page.found.messages) == 2
    assert timelines.of_run(str(tmp_path)) is None
    assert "`beowulf run --trace PROGRAM` records one" in capsys.readouterr().out


def test_a_capture_of_another_time_is_refused(
    rendezvous: Path, pair: NamespaceCluster, tmp_path: Path
) -> None:
    time.sleep(1.2)
    later = recorded(pair, tmp_path, "barrier")
    shutil.copy(rendezvous / "wire.pcapng", later / "wire.pcapng")
    with pytest.raises(LabError, match="captured at a different time"):
        _ = analysis.read(later).wire


def _waiting(folder: Path) -> analysis.Analysis | None:
    """The run, where two ranks were in a call when it was stopped."""
    try:
        found = analysis.read(folder)
    except LabError:  # no rank had begun
        return None
    stuck = found.waits[found.waits["kind"] == "never ended"]
    names = [found.name(int(event)) for event in stuck["event"]]
    return found if names == ["MPI_Recv"] * 2 else None


def test_a_deadlock_is_named_with_the_ranks_that_wait_for_each_other(
    pair: NamespaceCluster, tmp_path: Path
) -> None:
    program = mpi.build(HERE / "deadlock.c", output=tmp_path / "deadlock")
    into = tmp_path / "run.trace"
    # A busy machine may not have both ranks in their receives by then.
    for limit_s in (1, 10, PATIENCE_S):
        with pytest.raises(LabError, match=f"did not end within {limit_s:g} s"):
            recording.launch(pair, [str(program)], 2, [], into=into, timeout_s=limit_s)
        found = _waiting(into)
        if found:
            break
    assert found, "no deadlock"
    assert "A deadlock: rank 0 waits for rank 1 waits for rank 0, and none" in " ".join(
        found.warnings
    )
    never = found.waits[found.waits["kind"] == "never ended"]
    assert sorted(zip(never["rank"], never["cause"], strict=True)) == [(0, 1), (1, 0)]
    assert {found.name(int(event)) for event in never["event"]} == {"MPI_Recv"}
    rows = picture.table(found, 0.0, found.length_ns / 1e9, [0, 1])
    assert set(rows[rows["call"] == "MPI_Recv"]["category"]) == {"receiving"}
    # They waited until the run was stopped.
    assert set(never["since_ns"] + never["waited_ns"]) == {found.trace.ended_ns}
    # Where ranks have clocks of their own, nobody knows when it was stopped.
    details = json.loads((into / recording.DETAILS).read_text())
    del details["stopped_ns"]
    (into / recording.DETAILS).write_text(json.dumps(details))
    again = analysis.between_messages(analysis.read(into))
    stuck = again.waits[again.waits["kind"] == "never ended"]
    assert sorted(zip(stuck["rank"], stuck["cause"], strict=True)) == [(0, 1), (1, 0)]
