"""A learner's own loop over packets: are its counts held against ours, and is one that only copies a number caught?"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_notebook
from nodeless_cluster import Nodeless
from test_flows import A, B, opened
from test_mpi_messages import CALL, YES, eager

from autograder import evidence
from autograder.evidence import IMPOSSIBLE
from autograder.rubrics.submission import Submission
from beowulf.errors import LabError
from beowulf.labs.lab_06 import own_loop
from beowulf.packets.batches import CaptureError
from beowulf.packets.headers import ACK, FIN
from beowulf.packets.ladder import ladder
from beowulf.packets.table import read
from beowulf.record import Point, Record
from tests.gold import programs

RUBRIC = import_module("autograder.rubrics.06_protocol_analysis")
ROW = programs.ROW
OURS = {"handshake": 2, "data": 4, "bare_acks": 4, "ghost_rows": 1}
HALF = {"handshake": 2, "data": 2, "bare_acks": 1, "ghost_rows": 0}  # of the first five packets


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A connection between two ranks from its handshake to its end, with one row and one empty message."""
    talk = opened().send(A, B, 1001, CALL).send(B, A, 5001, YES, ack=1021)
    talk.send(A, B, 1021, flags=ACK, ack=5017).send(B, A, 5017, eager(5, ROW), ack=1021)
    talk.send(A, B, 1021, flags=ACK, ack=9193).send(B, A, 9193, eager(6, 0), ack=1021)
    talk.send(B, A, 9273, flags=FIN | ACK, ack=1021).send(A, B, 1021, flags=ACK, ack=9274)
    return talk.write(tmp_path)


@pytest.fixture
def cluster(tmp_path: Path) -> Nodeless:
    return Nodeless(tmp_path / "records")


def count(packets: Iterable[Any]) -> dict[str, int]:
    """As a learner would write it, with pyshark's names."""
    found = dict.fromkeys(OURS, 0)
    for packet in packets:
        if "tcp" not in packet:
            continue
        flags = packet.tcp.flags.showname_value
        found["handshake"] += "SYN" in flags
        found["data"] += int(packet.tcp.len) > 0
        opens_or_closes = any(name in flags for name in ("SYN", "FIN", "RST"))
        found["bare_acks"] += int(packet.tcp.len) == 0 and not opens_or_closes
        for layer in packet.get_multiple_layers("mpich"):
            found["ghost_rows"] += layer.get_field_value("bytes") == str(ROW)
    return found


def judged(points: list[Point]) -> dict[str, bool]:
    return {point.at["count"]: point.facts["right"] for point in points}


def test_our_counts_are_those_of_the_packets(file: Path) -> None:
    assert own_loop.ours(file, ROW) == OURS
    assert own_loop.ours(file, ROW, (1, 5)) == HALF
    for part, inside in (((2, 7), 1), ((8, 11), 0)):
        assert own_loop.ours(file, ROW, part)["ghost_rows"] == inside
        assert own_loop.ours(file, ROW, part, begun=True)["ghost_rows"] == inside
    flags = read(file)["flags"]
    assert flags.head(3).tolist() == ["SYN", "SYN, ACK", "ACK"]
    assert flags.loc[10] == "FIN, ACK"


def test_a_ladder_has_wiresharks_numbers_and_names_what_opens_and_closes(file: Path) -> None:
    figure = ladder(file, tag=6)
    assert figure.table["packet"].tolist() == [9, 11]
    assert {"9", "11", "packet"} <= {text.get_text() for text in figure.drawing.axes[0].texts}


def test_a_loop_that_counts_right_is_right_and_its_record_has_source_and_digest(
    file: Path, cluster: Nodeless
) -> None:
    record = own_loop.measure(cluster, count, file, row_bytes=ROW)
    assert (record.study, record.variant) == ("A12", "loop")
    assert judged(record.points) == dict.fromkeys(OURS, True)
    assert {p.at["count"]: p.facts["yours"] for p in record.points} == OURS
    assert "packet.tcp.len" in record.sweep["source"]
    assert len(record.program["sha256"]) == 64
    [capture] = record.captures
    assert (capture["file"], capture["packets"]) == (file.name, 11)
    assert all(line.endswith("right") for line in own_loop.lines(record.points))
    [saved] = cluster.records.glob("A12-loop-*.json")
    assert Record.load(saved) == record


def test_a_number_that_is_written_into_the_function_is_not_counted(file: Path) -> None:
    points = own_loop.counts(file, lambda packets: dict(OURS), ROW, random.Random(2))
    # The row may lie within the part.
    assert {**judged(points), "ghost_rows": False} == dict.fromkeys(OURS, False)
    assert "is it typed into the function?" in own_loop.lines(points)[1]


def by_ours(packets: Any) -> dict[str, int]:
    numbers = [int(packet.number) for packet in packets]
    read_by_them = own_loop.ours  # whatever it is called
    return read_by_them(Path(packets.input_filepath), ROW, (numbers[0], numbers[-1]))


def test_a_function_that_lets_our_reader_count_has_counted_nothing(file: Path) -> None:
    points = own_loop.counts(file, by_ours, ROW, random.Random(1))
    assert not any(judged(points).values())
    assert "it is to be your own" in own_loop.lines(points)[0]


def broken(packets: Iterable[Any]) -> dict[str, int]:
    return {"data": [][1]}


def leaves_early(packets: Iterable[Any]) -> dict[str, int]:
    return {"handshake": next(int(packet.number) for packet in packets)}


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda packets: None, "it is not written yet"),
        (lambda packets: 12, "it returns int, not a dict"),
        (lambda packets: {"data": 4}, "it is not in the dict"),
        (lambda packets: {"handshake": "2"}, "it is not a number, but str"),
        (lambda packets: {"handshake": math.nan}, "nothing is counted nan times"),
        (lambda packets: {"handshake": -2}, "nothing is counted -2 times"),
        (leaves_early, "too few"),
        (broken, "IndexError in line"),
        ("count", "it is not a function, but str"),
    ],
)
def test_what_is_wrong_with_a_loop_is_reported(
    function: Callable[..., Any], says: str, file: Path
) -> None:
    points = own_loop.counts(file, function, 0, random.Random(1))
    assert says in own_loop.lines(points)[0]
    assert not points[0].facts["right"]


def test_a_capture_that_is_still_being_written_is_a_sentence(file: Path, cluster: Nodeless) -> None:
    with file.open("ab"), pytest.raises(LabError, match="is still being written"):
        own_loop.measure(cluster, count, file)
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    with pytest.raises(LabError, match="ends within a packet: it is still being written"):
        own_loop.measure(cluster, count, file)
    file.write_bytes(whole)

    def and_more(packets: Iterable[Any]) -> dict[str, int]:
        found = count(packets)
        file.write_bytes(whole + whole)
        return found

    with pytest.raises(LabError, match="changed while it was being counted"):
        own_loop.measure(cluster, and_more, file)
    file.write_text("no packets, but long enough to be some\n")
    with pytest.raises(CaptureError, match="is not a capture"):
        own_loop.measure(cluster, count, file)
    assert not cluster.records.exists(), "nothing of it is kept"


@pytest.mark.parametrize("name", programs.LOOPS)
def test_a_loop_of_any_style_is_judged_by_what_it_counts(
    name: str, file: Path, cluster: Nodeless
) -> None:
    case = programs.LOOPS[name]
    made = own_loop.measure(cluster, case.function, file, row_bytes=programs.ROW)
    score = RUBRIC.SCORERS["packet-loop"](Submission([made], [], {}, {}, new_notebook()))
    assert score.points == pytest.approx(case.share * score.of), score.found
    assert case.says in score.found


def test_a_record_of_a_capture_beside_it_is_counted_and_graded(
    file: Path, cluster: Nodeless
) -> None:
    cluster.records.mkdir()
    file = file.rename(cluster.records / "taken.pcapng")
    taken = Record("A10", variant="postcard", captures=[{"file": "taken.pcapng"}])
    without = own_loop.measure(cluster, count, taken)
    assert without.captures[0]["file"] == "taken.pcapng"
    assert judged(without.points) == {name: True for name in OURS if name != "ghost_rows"}
    # No row is in a capture in which rows of another length are looked for, and a 0 is no count of them.
    zero = {"ghost_rows": 0}
    other = own_loop.measure(cluster, lambda packets: count(packets) | zero, file, row_bytes=7)
    for record in (without, other):
        score = RUBRIC.SCORERS["packet-loop"](Submission([record], [], {}, {}, new_notebook()))
        assert score.points == 3
    assert not [f for f in evidence.findings(other, cluster.records) if f.kind == IMPOSSIBLE]
    other.points[0].facts["ours"] = 7
    [found] = [f for f in evidence.findings(other, cluster.records) if f.kind == IMPOSSIBLE]
    assert "gives another handshake" in found.says


IN_A_NOTEBOOK = """
from beowulf.desk import notebook
notebook.prepare()
import pyshark
print("numbers", [packet.number for packet in pyshark.FileCapture({file!r})])
capture = pyshark.FileCapture({file!r}, display_filter="tcp.flags.syn == 1")
print("second", capture[1].tcp.flags.showname_value)
capture.close()
for packet in pyshark.FileCapture({file!r}, keep_packets=False):
    break
import asyncio
await asyncio.sleep(0)
"""


@pytest.mark.nightly
def test_pyshark_works_in_a_notebook_as_its_documentation_shows(file: Path) -> None:
    cells = [nbformat.v4.new_code_cell(IN_A_NOTEBOOK.format(file=str(file)))]
    cells.append(nbformat.v4.new_code_cell("print('and the next cell')"))
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=240, startup_timeout=240, kernel_name="python3").execute()
    outputs = [output for cell in cells for output in cell.outputs if "text" in output]
    assert "".join(output["text"] for output in outputs).splitlines() == [
        f"numbers {[str(number) for number in range(1, 12)]}",
        "second 0x012 (SYN, ACK)",
        "and the next cell",
    ]
