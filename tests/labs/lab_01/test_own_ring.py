"""Lab 01's ring of one's own: is a right one distinguished from a wrong one, with a sentence that names the symptom?"""

from __future__ import annotations

from pathlib import Path

import pytest

from beowulf.engines import Engines
from beowulf.errors import LabError
from beowulf.labs.lab_01 import own_ring
from beowulf.record import newest
from tests.gold.lab_01 import RING

HANGS_AFTER_S = 3
NODES = ("node00", "node01", "node02")
TOKEN = ["token 1"]


def ring() -> list[list[str] | str]:
    """What three ranks return that do it right."""
    return [[*TOKEN, *NODES], [*TOKEN, *NODES[:2]], [*TOKEN, *NODES]]


@pytest.mark.parametrize(
    ("rank", "returned", "said"),
    [
        (0, "None", "node00 (rank 0) returned None, not the token that came home"),
        (1, "None", "node01 (rank 1) returned None, not the list that it passed on"),
        (1, [*TOKEN, "node00"], "node01 (rank 1) did not append its node"),
        (1, [*TOKEN, "node01"], "node00 (rank 0) did not append its node"),
        (2, ["node00", "node01", "node02"], "does not begin with the token"),
        (0, [*TOKEN, "node00"], "returned what it passed on, not what came home"),
        (0, [*TOKEN, *NODES, "node00"], "appended its node a second time"),
        (
            0,
            [*TOKEN, "node00", "node02", "node01"],
            "token 1, node00, node01, node02 would be right",
        ),
    ],
)
def test_each_usual_mistake_has_its_sentence(
    rank: int, returned: list[str] | str, said: str
) -> None:
    given = ring()
    assert own_ring.wrong(TOKEN, NODES, given) == ""
    given[rank] = returned
    assert said in own_ring.wrong(TOKEN, NODES, given)


# ------------------------------------------------------------ on nodes


@pytest.mark.cluster
@pytest.mark.nightly
def test_a_right_ring_is_kept_with_its_source(engines: Engines, records: Path) -> None:
    engines.run(RING)
    record = own_ring.measure(engines)
    assert own_ring.right(record)
    assert (record.study, record.variant, record.complete) == ("A2", "own-ring", True)
    calls = [point.facts for point in record.points if "call" in point.at]
    assert len({call["given"][0] for call in calls}) == own_ring.CALLS
    assert calls[0]["returned"][0] == [*calls[0]["given"], *engines.nodes]
    (about,) = [point.facts for point in record.points if "own" in point.at]
    assert about["source"].strip() == RING.strip()
    assert about["mpi_calls"] == ["MPI_Mprobe", "MPI_Mrecv", "MPI_Send"]
    assert about["sha256"] == record.program["sha256"]
    assert newest(records, record.study, record.variant) == record


@pytest.mark.cluster
def test_a_wrong_ring_is_kept_with_the_reason(
    engines: Engines, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engines.run(RING.replace("        token.append(node)\n", "", 1))
    record = own_ring.measure(engines)
    assert not own_ring.right(record)
    said = "rank 0) did not append its node"
    assert said in "\n".join(own_ring.lines(record))
    assert said in capsys.readouterr().out
    assert newest(records, record.study, record.variant) == record


@pytest.mark.nightly
@pytest.mark.cluster
def test_a_deadlock_is_kept_with_the_line_in_which_it_waits(
    engines: Engines, records: Path
) -> None:
    engines.run(RING.replace("(rank + 1)", "(rank + 2)"))
    engines.timeout_s = HANGS_AFTER_S
    record = own_ring.measure(engines)
    assert "waits in line" in "\n".join(own_ring.lines(record))
    assert len(list(records.glob("A2-own-ring-*.json"))) == 1


@pytest.mark.cluster
def test_without_the_function_nothing_is_kept(engines: Engines, records: Path) -> None:
    with pytest.raises(LabError, match="there is no function pass_on"):
        own_ring.measure(engines, "pass_on")
    assert not list(records.glob("A2-*.json"))
