"""Lab 04's round trip of one's own: is it measured beside C, and does each mistake get a sentence and no sample?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autograder import evidence
from beowulf.engines import Engines
from beowulf.errors import LabError, UsageError
from beowulf.exercises import calls
from beowulf.labs.lab_04 import own_roundtrip
from beowulf.measure.roundtrips import HALF
from beowulf.record import Point, Record, newest
from tests.gold.measured import LABEL

BLOCKING = """
def half_round_trip_us(buffer):
    if rank > 1:
        return None
    partner = 1 - rank
    began = MPI.Wtime()
    if rank == 0:
        world.Send(buffer, partner)
        world.Recv(buffer, partner)
        return (MPI.Wtime() - began) / 2 * 1e6
    world.Recv(buffer, partner)
    world.Send(buffer, partner)
"""
NONBLOCKING = BLOCKING.replace("world.Send(buffer, partner)", "world.Isend(buffer, partner).Wait()")
SMALL = (8, 1024)
HANGS_AFTER_S = 5


def call(**what: Any) -> dict[str, Any]:
    right = {"value": 50.0, "kind": "a float", "elapsed_us": 120.0, "wrong": -1}
    return {**right, "sent": 1200, "received": 1200, **what}


@pytest.mark.parametrize(
    ("zero", "one", "said"),
    [
        ({"value": None, "kind": "a str"}, {}, "it returned a str on rank 0, not a number"),
        ({"value": float("nan")}, {}, "it returned nan"),
        ({"value": 0.0}, {}, "it returned 0 µs"),
        ({}, {"wrong": 7}, "rank 1 does not hold what rank 0 sent: byte 7"),
        ({"wrong": 0}, {}, "rank 0 no longer holds what it sent: byte 0"),
        ({"sent": 999}, {}, "did not travel there and back"),
        ({"received": 0}, {}, "did not travel there and back"),
        ({"value": 61.0}, {}, "at most 60.0 µs"),
    ],
)
def test_each_fault_of_a_call_is_a_sentence(
    zero: dict[str, Any], one: dict[str, Any], said: str
) -> None:
    assert own_roundtrip.fault(1000, call(), call(value=None, kind="nothing")) is None
    found = own_roundtrip.fault(1000, call(**zero), call(**one))
    assert found
    assert said in found[1]


def made(times: float, faults: tuple[str, ...] = ()) -> Record:
    """A Record that nobody measured, in which the function takes so many times as long as C."""
    points = [Point({"own": True}, facts={"faults": list(faults), "right": not faults})]
    for launch in range(3):
        for size, us in ((8, 10.0), (1_048_576, 90_000.0)):
            at = {"protocol": "blocking", "size_bytes": size, "pattern": "pingpong"}
            at |= {"ranks": 2, "launch": launch}
            c = [us * (1 + 0.001 * n) for n in range(10)]
            points.append(Point({**at, "language": "C"}, HALF, c))
            points.append(Point({**at, "language": "own"}, HALF, [times * each for each in c]))
    return Record("E2", variant="own", points=points, warnings=[LABEL])


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (1.5, "Every message arrived"),
        (1e-6, "look like seconds"),
        (0.5, "shorter than the cable allows"),
    ],
)
def test_the_ratio_is_that_of_pairs_and_a_wrong_unit_is_noticed(times: float, said: str) -> None:
    record = made(times)
    table = own_roundtrip.table(record)
    assert table["size_bytes"].tolist() == [8, 1_048_576]
    assert table["ratio"].tolist() == pytest.approx([times, times])
    assert any(said in line for line in own_roundtrip.lines(record))
    assert "roundtrip.c" in str(own_roundtrip.picture(record).table["line"].tolist())


def test_faults_come_first_and_a_record_without_samples_has_its_sentence() -> None:
    assert own_roundtrip.lines(made(1.5, ("It is wrong.",)))[0] == "It is wrong."
    empty = Record("E2", variant="own", points=[Point({"own": True}, facts={"faults": []})])
    assert "no samples of your function" in own_roundtrip.lines(empty)[0]
    with pytest.raises(LabError, match="no samples of your function"):
        own_roundtrip.table(empty)


# ------------------------------------------------------------ on nodes


@pytest.mark.nightly
@pytest.mark.cluster
@pytest.mark.parametrize(
    ("protocol", "text"), [("blocking", BLOCKING), ("nonblocking", NONBLOCKING)]
)
def test_a_right_function_is_measured_beside_the_c_program(
    engines: Engines, records: Path, protocol: str, text: str
) -> None:
    engines.run(text)
    sizes = (8, 65_536) if protocol == "nonblocking" else (8, 65_536, 1_048_576)
    record = own_roundtrip.measure(engines, protocol=protocol, sizes=sizes)
    facts = own_roundtrip.own(record)
    assert facts["faults"] == []
    assert facts["right"] is True
    assert "half_round_trip_us" in facts["source"]
    assert "MPI_Recv" in facts["mpi_calls"]
    assert bool(calls.not_asked(facts["mpi_calls"], "blocking")) == (protocol == "nonblocking")
    assert (record.study, record.variant) == ("E2", own_roundtrip.VARIANTS[protocol])
    assert record.complete
    for size in sizes:
        for language in ("own", "C"):
            points = record.select(size_bytes=size, language=language, protocol=protocol)
            assert sum(len(point.samples) for point in points) >= 30
    # Both wait for messages in the same way.
    abouts = [point.facts for point in record.points if point.at.get("about")]
    assert {about["patient_ranks"] for about in abouts} == {2 * engines.patient}
    table = own_roundtrip.table(record).set_index("size_bytes")
    assert table["ratio"][8] > 1  # Python has something to do, too
    if 1_048_576 in sizes:  # the wire decides
        assert table["low"][1_048_576] < 1.03
        assert table["high"][1_048_576] > 0.97
    assert not evidence.findings(record)
    assert newest(records, record.study, record.variant) == record


def replaced(old: str, new: str) -> str:
    assert old in BLOCKING
    return BLOCKING.replace(old, new)


TIME = "(MPI.Wtime() - began) / 2 * 1e6"


@pytest.mark.nightly
@pytest.mark.cluster
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (replaced(TIME, "'fast'"), "returned a str on rank 0"),
        (
            replaced("    world.Recv(buffer, partner)\n    world.Send(buffer, partner)\n",
                     "    world.send(world.recv(source=partner), partner)\n")
            .replace("world.Send(buffer", "world.send(buffer")
            .replace("world.Recv(buffer, partner)", "buffer[:] = world.recv(source=partner)"),
            "receive into `buffer`",
        ),
        ("def half_round_trip_us(buffer):\n    return 5.0 if rank == 0 else None\n", "rank 1 does not hold"),
    ],
    ids=["text", "not into buffer", "nothing sent"],
)  # fmt: skip
def test_a_wrong_function_is_kept_with_its_faults_and_gives_no_sample(
    engines: Engines, records: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    engines.run(text)
    record = own_roundtrip.measure(engines, sizes=SMALL)
    assert any(said in each for each in own_roundtrip.own(record)["faults"])
    assert said in capsys.readouterr().out
    assert not record.select(language="own")
    assert own_roundtrip.own(record)["right"] is False
    assert list(records.glob("E2-own-*.json"))


@pytest.mark.nightly
@pytest.mark.cluster
def test_a_function_that_is_wrong_sometimes_keeps_its_right_samples_and_says_how_often(
    engines: Engines, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = replaced("    began = MPI.Wtime()\n", "    began = MPI.Wtime()\n    calls.append(1)\n")
    text = "calls = []\n" + text.replace(TIME, f"-1 if len(calls) % 5 == 0 else {TIME}")
    engines.run(text)
    record = own_roundtrip.measure(engines, sizes=SMALL)
    (fault,) = own_roundtrip.own(record)["faults"]
    assert "returned -1 µs" in fault
    assert " of 66 calls)" in fault
    assert fault in capsys.readouterr().out
    assert list(records.glob("E2-own-*.json"))
    assert len(own_roundtrip.table(record)) == len(SMALL)


@pytest.mark.nightly
@pytest.mark.cluster
def test_a_function_that_never_returns_says_where_each_rank_waits(engines: Engines) -> None:
    engines.run(replaced("        world.Send(buffer, partner)\n", ""))
    engines.timeout_s = HANGS_AFTER_S
    record = own_roundtrip.measure(engines, sizes=SMALL)
    (fault,) = own_roundtrip.own(record)["faults"]
    assert "node00 (rank 0) waits in line" in fault
    assert "of half_round_trip_us: world.Recv(buffer, partner)" in fault
    assert not record.complete


@pytest.mark.nightly
@pytest.mark.cluster
def test_what_cannot_be_measured_is_refused(engines: Engines) -> None:
    with pytest.raises(UsageError, match="blocking or nonblocking"):
        own_roundtrip.measure(engines, protocol="persistent")
    with pytest.raises(LabError, match="there is no function half_of_it"):
        own_roundtrip.measure(engines, "half_of_it")
