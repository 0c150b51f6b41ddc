"""A13: are buffers and collectives measured as they were set, counted on the wire, and judged both ways?"""

from __future__ import annotations

import os
import signal
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from made import decided, named, outcomes
from running import first, warned

from beowulf import paths
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError
from beowulf.labs.lab_06 import a13_buffers_and_collectives as a13
from beowulf.labs.lab_06 import buffer_sizes, collectives
from beowulf.labs.lab_06.buffer_sizes import (
    COPIED,
    EARLY,
    KB,
    LATE,
    MIDDLE,
    OWN,
    SETTINGS,
    SMALL,
    Setting,
)
from beowulf.labs.lab_06.collectives import OPERATION, OPERATIONS
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import HALF
from beowulf.record import Point, Record
from beowulf.studies import draw, judge
from tests.studies.null_records import Noise, assert_told_apart
from tests.studies.overlap_records import around, record

PROGRAM = paths.root() / "labs" / "06-protocol-analysis" / "collectives.c"
LOOP_MESSAGES = dict.fromkeys(OPERATIONS, 3) | {"alltoall": 12, "allreduce": 6}
CAPTURE = {"sha256": "", "packets": 100, "dropped": 0, "segments_not_understood": 0}
COUNTS = ("messages", "message_bytes", "segments", "packets", "wire_bytes")
RARE = ("ack_packets", "zero_window_packets", "retransmitted_packets", "control_packets")


def counts(size: float, messages: float = 1, **others: float) -> dict[str, float]:
    """What one message or operation cost: each segment has headers, and an acknowledgement of as many bytes."""
    segments = others.get("segments", max(1.0, size // 1448 + 1))
    seen = dict.fromkeys(COUNTS, segments) | dict.fromkeys(RARE, 0.0)
    wire_bytes = size + 132 * segments
    return {**seen, "messages": messages, "message_bytes": size, "wire_bytes": wire_bytes, **others}


def conversation(setting: Setting, size: int, **changes: float) -> Point:
    """The Point of a setting and size; `times` as long as the usual, with other counts if named."""
    times = changes.pop("times", 1.0)
    launch = int(changes.pop("launch", 0))
    at = {"protocol": "blocking", "message_bytes": size, **setting.at, "ranks": 2, "launch": launch}
    control = 2.0 if setting.asks_first(size) else 0.0
    each = counts(size, **{"control_packets": control, **changes})
    facts = {"each": each, "sent": 20, "matched": True, "capture": dict(CAPTURE)}
    return Point(at, HALF, around(times * (50 + size / 12), 0.002), facts)


def operation(name: str, way: str, size: int, **changes: float) -> Point:
    """The Point of an operation: the loop's, or the call's that is `times` as long."""
    times = changes.pop("times", 1.0)
    at = {"operation": name, "way": way, "size_bytes": size, "part": "collectives", "launch": 0}
    messages = LOOP_MESSAGES[name]
    facts = {"each": counts(messages * size, messages, **changes), "capture": dict(CAPTURE)}
    return Point({**at, "ranks": 4}, OPERATION, around(times * (100 + size / 6), 0.002), facts)


def usual() -> Record:
    """A Record in which every claim holds."""
    points = []
    for setting, size in product(SETTINGS, buffer_sizes.SIZES):
        few, changes = counts(size)["segments"], {}
        if setting == SMALL:
            changes = {"times": 1.3, "segments": 2 * few}
        elif setting == MIDDLE:
            changes = {"segments": 1.5 * few}
        elif setting == EARLY and size == 64 * KB:
            changes = {"times": 1.2}
        points.append(conversation(setting, size, **changes))
    for name, size in product(OPERATIONS, collectives.QUICK_SIZES):
        points += [operation(name, "call", size, times=0.7), operation(name, "loop", size)]
    return record("A13", points)


def changed(found: Point) -> Record:
    """The usual Record with one Point in place of the one at its coordinates."""
    made = usual()
    (place,) = [place for place, point in enumerate(made.points) if point.at == found.at]
    made.points[place] = found
    return made


# Claims


def test_each_claim_holds_where_the_record_shows_it() -> None:
    found = decided(usual())
    assert set(found.values()) == {"holds"}
    assert len(found) == 10 + 1 + len(OPERATIONS) * (len(collectives.QUICK_SIZES) + 1)


@pytest.mark.parametrize(
    ("point", "claim"),
    [
        (conversation(COPIED, 256 * KB, times=1.2), "copy-no-difference-256kb"),
        (conversation(COPIED, 256 * KB, times=0.8), "copy-no-difference-256kb"),
        (conversation(SMALL, KB, times=0.9, segments=2), "small-buffers-slow-1kb"),
        (conversation(EARLY, 64 * KB, times=1.01), "asking-first-slow-64kb"),
        (conversation(SMALL, 8 * KB, times=1.3, wire_bytes=1e4), "small-buffers-more-segments"),
        (conversation(MIDDLE, 8 * KB), "16kb-buffers-more-overhead"),
        (conversation(LATE, 256 * KB, control_packets=2.0), "limit-decides-control-messages"),
        (operation("broadcast", "call", 16 * KB), "broadcast-16kb-saves-time-not-bytes"),
        (operation("scatter", "call", KB, times=1.4), "scatter-1kb-not-slower"),
        (operation("gather", "call", KB, times=0.7, message_bytes=4096), "gather-no-more-bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_claim_is_contradicted_where_the_record_shows_the_opposite(
    point: Point, claim: str
) -> None:
    found = decided(changed(point))
    assert {name for name, outcome in found.items() if outcome == "contradicted"} == {claim}


def buffers_of(segments: float, noise: Noise = np.ones) -> Record:
    """Three rounds of 4 KB buffers, in which a message takes so many times the segments."""
    points = []
    for size, (setting, times) in product(buffer_sizes.SIZES, ((OWN, 1.0), (SMALL, segments))):
        for launch, factor in enumerate(noise(buffer_sizes.LAUNCHES)):
            cut = counts(size)["segments"] * times * factor
            points.append(conversation(setting, size, segments=cut, launch=launch))
    return record("A13", points)


OVERHEAD = "4kb-buffers-more-overhead"


def test_rounds_that_disagree_leave_the_overhead_open() -> None:
    made = buffers_of(2.0)
    (at_launch_1,) = made.select(**SMALL.at, message_bytes=64 * KB, launch=1)
    at_launch_1.facts["each"]["wire_bytes"] = counts(64 * KB)["wire_bytes"]
    assert named(made, OVERHEAD).outcome == "inconclusive"


@pytest.mark.nightly
def test_noise_alone_rarely_raises_the_overhead_and_twice_the_segments_mostly() -> None:
    assert_told_apart(a13.STUDY, OVERHEAD, buffers_of, 1.0, 2.0)


def test_a_broadcast_that_sends_more_bytes_saves_none() -> None:
    made = changed(operation("broadcast", "call", 16 * KB, times=0.7, message_bytes=65_536))
    found = decided(made)
    assert found["broadcast-16kb-saves-time-not-bytes"] == "contradicted"
    assert found["broadcast-no-more-bytes"] == "contradicted"
    assert found["broadcast-16kb-not-slower"] == "holds"


def test_a_ratio_around_the_tolerance_is_not_decided() -> None:
    point = operation("reduce", "call", KB)
    loop = operation("reduce", "loop", KB)
    factors = [1.0, 1.1] * (len(loop.samples) // 2)
    point.samples[:] = [a * b for a, b in zip(loop.samples, factors, strict=True)]
    assert named(changed(point), "reduce-1kb-not-slower").outcome == "inconclusive"


def test_a_capture_that_lost_packets_decides_nothing_that_is_counted() -> None:
    made = usual()
    for point in made.points:
        point.facts["capture"] = {**CAPTURE, "dropped": 3}
    found = decided(made)
    assert found["scatter-no-more-bytes"] == "inconclusive"
    assert found["limit-decides-control-messages"] == "inconclusive"
    assert found["scatter-1kb-not-slower"] == "holds"


def test_another_library_has_no_such_limit_and_messages_that_are_not_known() -> None:
    made = usual()
    made.cluster["mpi"] = "modern"
    for point in made.points:
        point.facts.pop("each")
        if "matched" in point.facts:
            point.facts["matched"] = False
    verdicts = judge(made)
    found = outcomes(verdicts)
    assert all("--mpi classic" in v.advice for v in verdicts if v.outcome == "inconclusive")
    assert found["small-buffers-slow-256kb"] == "holds"
    assert found["limit-decides-control-messages"] == "inconclusive"
    assert found["every-message-captured"] == "inconclusive"
    assert found["alltoall-no-more-bytes"] == "inconclusive"
    assert draw(made).alt


def test_half_a_record_is_drawn_as_far_as_it_goes() -> None:
    made = usual()
    made.points = [point for point in made.points if point.at["part"] == "collectives"]
    figure = draw(made)
    assert len(figure.table) == 2 * len(OPERATIONS) * len(collectives.QUICK_SIZES)
    assert "Messages between two ranks" not in figure.alt


# The program


@pytest.mark.cluster
def test_the_program_verifies_every_operation_of_three_ranks(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    with Measurement("A13", cluster, tmp_path) as session:
        lines = session.launch(PROGRAM, 3, ["--sizes", "0,1,5000", "--passes", "2"])
    samples = [line for line in lines if line["kind"] == "sample"]
    assert len(samples) == len(OPERATIONS) * 3 * 2 * 2
    assert {line["way"] for line in samples} == {"call", "loop"}


WRONG = {
    "reduce": ("incoming[i] + part[i]", "incoming[i] ^ part[i]"),
    "alltoall": ("block(outgoing, p, to), p->size, MPI", "block(outgoing, p, me), p->size, MPI"),
    "scatter": ("send_to(p, block(outgoing, p, rank), rank)", "send_to(p, outgoing, rank)"),
    "gather": ("receive_from(p, block(incoming, p, rank), rank)", "receive_from(p, part, rank)"),
    "broadcast": ("MPI_Bcast(me == ROOT ? outgoing : incoming, n", "MPI_Bcast(outgoing, n"),
    "allreduce": ("send_to(p, incoming, rank)", "send_to(p, outgoing, rank)"),
}


@pytest.mark.cluster
@pytest.mark.parametrize("operation", first(1, WRONG))
def test_the_program_notices_wrong_data(
    cluster: NamespaceCluster, tmp_path: Path, operation: str
) -> None:
    text = PROGRAM.read_text()
    assert text.count(WRONG[operation][0]) == 1
    program = tmp_path / "wrong.c"
    program.write_text(text.replace(*WRONG[operation]))
    with (
        pytest.raises(LabError, match=r"It printed: wrong data: byte 0"),
        Measurement("A13", cluster, tmp_path) as session,
    ):
        session.launch(program, 4, ["--sizes", "1000", "--passes", "1"])


# Measured


@pytest.mark.nightly
@pytest.mark.cluster
def test_the_study_measures_judges_and_draws_and_each_message_is_whole_on_the_wire(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With few settings, sizes and samples: asked is what is counted, not how long it takes."""
    monkeypatch.setattr(buffer_sizes, "SETTINGS", (OWN, SMALL, EARLY, LATE, COPIED))
    monkeypatch.setattr(buffer_sizes, "SIZES", (KB, 64 * KB, 256 * KB))
    monkeypatch.setattr(buffer_sizes, "QUICK_CHUNKS", 3)
    monkeypatch.setattr(collectives, "QUICK_PASSES", 3)
    made = a13.STUDY.measure(cluster, tmp_path, quick=True)
    made = Record.load(made.save_in(tmp_path))
    assert made.complete, made.warnings
    assert warned(made) == []
    assert draw(made).alt
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"], "no capture stays behind"
    verdicts = judge(made)
    assert all(verdict.evidence for verdict in verdicts)
    for counted in (
        *("every-message-captured", "limit-decides-control-messages"),
        *("small-buffers-more-segments", "alltoall-no-more-bytes"),
    ):
        assert verdicts.named(counted).outcome == "holds", "a busy machine changes no count"
    for size in buffer_sizes.sizes(made):
        assert buffer_sizes.counted(made, COPIED, size, "message_bytes") == size
        asked = 2.0 if COPIED.asks_first(size) else 0.0
        assert buffer_sizes.counted(made, COPIED, size, "control_packets") == asked
    # 1448 bytes fit into a full frame; MPICH's own header of 80 comes with the first. On a busy machine there may be
    # more: frames that are not full where the sender's buffer was, and retransmissions.
    needed = (256 * KB + 80) / 1448
    assert buffer_sizes.counted(made, LATE, 256 * KB, "segments") >= needed
    for name, size in product(OPERATIONS, collectives.QUICK_SIZES):
        loop = partial(collectives.counted, made, name, "loop", size)
        assert loop("messages") == LOOP_MESSAGES[name]
        assert loop("message_bytes") == LOOP_MESSAGES[name] * size
        # Every byte of a message is in some frame, with headers.
        assert loop("wire_bytes") > loop("message_bytes")
        # A tree of four ranks has three edges, over one of which two blocks have to go.
        if blocks := {"broadcast": 3, "scatter": 4, "gather": 4}.get(name):
            assert collectives.counted(made, name, "call", size, "message_bytes") == blocks * size


@pytest.mark.cluster
def test_ctrl_c_keeps_what_was_measured_and_puts_the_buffers_back(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = "cat /proc/sys/net/ipv4/tcp_rmem"
    before = [cluster.administer(node, ask).stdout for node in cluster.nodes]
    stopped_at: list[str] = []

    def report(done: float, of: float, what: str) -> None:  # in the thread that reads the program
        now = cluster.administer("node01", ask).stdout
        if now != before[1] and not stopped_at:
            stopped_at.append(now)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(buffer_sizes, "SETTINGS", (OWN, SMALL))
    monkeypatch.setattr(buffer_sizes, "SIZES", (KB,))
    monkeypatch.setattr(collectives, "OPERATIONS", {"broadcast": "broadcast"})
    monkeypatch.setattr(collectives, "QUICK_PASSES", 2)
    made = a13.STUDY.measure(cluster, tmp_path, quick=True, progress=report)
    assert stopped_at, "it was stopped while the buffers were small"
    assert not made.complete
    assert made.points
    assert [cluster.administer(node, ask).stdout for node in cluster.nodes] == before
    assert list(tmp_path.iterdir()) == []
