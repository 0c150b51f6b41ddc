"""The stream and the exchange of lab 06: are they those of osu_bw and IMB, and are their data verified?"""

from __future__ import annotations

from pathlib import Path

import pytest
from running import first

from beowulf import paths
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError, UsageError
from beowulf.measure.measurement import Measurement

PROGRAM = paths.root() / "labs" / "06-protocol-analysis" / "patterns.c"
FEW = ["--passes", "2", "--repetitions", "3", "--window", "5"]

pytestmark = pytest.mark.cluster


def test_both_patterns_run_on_any_number_of_ranks_and_verify_their_data(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    with Measurement("NPB", cluster, tmp_path) as session:
        lines = session.launch(PROGRAM, 3, ["--sizes", "0,1,100000", *FEW])
    samples = [line for line in lines if line["kind"] == "sample"]
    assert len(samples) == 2 * 3 * 2
    for line in samples:
        stream = line["pattern"] == "stream"
        assert line["quantity"] == ("message_us" if stream else "exchange_us")
        # Messages of a stream are counted one by one; an exchange has four.
        assert line["repetitions"] == (3 * 5 if stream else 3)
        assert line["seconds"] > 0


@pytest.mark.nightly
def test_a_stream_is_no_faster_than_its_cable(cluster: NamespaceCluster, tmp_path: Path) -> None:
    words = ["--patterns", "stream", "--sizes", "65536", "--passes", "1"]
    with Measurement("NPB", cluster, tmp_path) as session:
        lines = session.launch(PROGRAM, 2, words)
    for line in (each for each in lines if each["kind"] == "sample"):
        mb_per_s = 65536 * line["repetitions"] / line["seconds"] / 1e6
        assert mb_per_s < 12.5


@pytest.mark.parametrize(
    ("right", "wrong", "pattern"),
    first(1, [
        ("MPI_Isend(outgoing, size, MPI_BYTE, 1,", "MPI_Isend(from_upper, size, MPI_BYTE, 1,", 0),
        ("MPI_BYTE, lower, TO_LOWER, COMM, &requests[1]", "MPI_BYTE, upper, TO_LOWER, COMM, &requests[1]", 1),
    ]),
    ids=["stream", "exchange"],
)  # fmt: skip
def test_wrong_data_are_noticed(
    cluster: NamespaceCluster, tmp_path: Path, right: str, wrong: str, pattern: int
) -> None:
    text = PROGRAM.read_text()
    assert text.count(right) == 1
    program = tmp_path / "wrong.c"
    if pattern:  # each takes what comes from the other side
        text = text.replace(
            "MPI_BYTE, upper, TO_LOWER, COMM, IGNORE", "MPI_BYTE, lower, TO_LOWER, COMM, IGNORE"
        )
    program.write_text(text.replace(right, wrong))
    with (
        pytest.raises(LabError, match="wrong data: byte 0"),
        Measurement("NPB", cluster, tmp_path) as session,
    ):
        session.launch(program, 4, ["--sizes", "1000", *FEW])


@pytest.mark.parametrize(
    ("ranks", "words", "why"),
    [
        (1, [], "runs on 2 ranks or more"),
        (2, ["--patterns", "streams"], "stream, exchange, not"),
    ],
)
def test_what_it_cannot_do_is_refused(
    cluster: NamespaceCluster, tmp_path: Path, ranks: int, words: list[str], why: str
) -> None:
    with (
        pytest.raises(UsageError, match=why),
        Measurement("NPB", cluster, tmp_path) as session,
    ):
        session.launch(PROGRAM, ranks, words)
