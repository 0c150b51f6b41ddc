"""roundtrip.c as mpptest, and its blocking exchanges, on a real cluster: who talks, who works, and what is printed?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from running import first

from beowulf import paths
from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.errors import UsageError
from beowulf.measure import mpptest
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import EXCHANGE
from beowulf.record import Record

pytestmark = pytest.mark.cluster

PROGRAM = paths.root() / "labs" / "04-blocking-nonblocking" / "roundtrip.c"


def launched(
    cluster: NamespaceCluster, folder: Path, ranks: int, *words: str
) -> tuple[Record, list[dict[str, Any]]]:
    """A launch of the program: its Record, and the lines that it printed."""
    with Measurement("A7", cluster, folder) as measurement:
        lines = measurement.launch(PROGRAM, ranks, list(words))
    record = measurement.record()
    assert record.complete, record.warnings
    return record, lines


def about(lines: list[dict[str, Any]]) -> dict[str, Any]:
    return next(line for line in lines if line["kind"] == "about")


def samples(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines if line["kind"] == "sample"]


def test_bisect_multiplies_one_pairs_rate_by_half_of_three_and_the_third_looks_on(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    words = ("--mode", "mpptest", "--bisect", "--sizes", "0,1000", "--protocol", "blocking,async")
    record, lines = launched(cluster, tmp_path, 3, *words)
    assert about(lines)["looks_on"] == "the last rank"
    assert about(lines)["rate_times"] == 1.5
    assert {line["rank"] for line in lines if line["kind"] == "first"} == {0}
    for line in samples(lines):
        half_s = line["seconds"] / line["repetitions"] / 2
        assert line["bytes_per_s"] == pytest.approx(1.5 * line["size_bytes"] / half_s)
    # All 30 runs are kept; the rate is derived, and no coordinate.
    points = [point for point in record.points if point.quantity == mpptest.QUANTITY]
    assert [len(point.samples) for point in points] == [30] * 4
    assert all("bytes_per_s" not in point.at for point in points)
    rows = mpptest.printed(record)
    best = max(line["bytes_per_s"] for line in samples(lines) if line["protocol"] == "async")
    assert rows.loc[rows["protocol"] == "async", "best_mbit_per_s"].max() == pytest.approx(
        8e-6 * best
    )


def test_beside_work_the_work_is_swept_and_no_work_has_the_rate_0(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    words = ("--mode", "mpptest", "--overlap-bytes", "0,2,8000", "--passes", "2")
    record, lines = launched(cluster, tmp_path, 3, *words, "--protocol", "blocking,async")
    assert about(lines)["looks_on"] == "every rank but the first and the last"
    assert about(lines)["pairs"] == "0 and the last rank"
    assert about(lines)["blocking_calls"] == "MPI_Send, the work, MPI_Recv"
    assert "no work, no rate" in about(lines)["rate"]
    assert {line["size_bytes"] for line in samples(lines)} == {0}
    assert {line["repetitions"] for line in samples(lines)} == {50}
    rates = {line["overlap_bytes"]: line["bytes_per_s"] for line in samples(lines)}
    assert rates[0] == 0
    assert rates[2] > 0  # bytes of work that nobody did
    assert mpptest.troubles(record) == trouble(record, mpptest.QUANTITY)


def test_blocking_exchanges_end_in_every_ring_and_pair_with_long_messages(
    cluster: NamespaceCluster, tmp_path: Path
) -> None:
    for pattern in ("ring", "headtohead"):
        record, _ = launched(
            *(cluster, tmp_path, 3, "--pattern", pattern, "--sizes", "8,300000"),
            *("--protocol", "blocking,synchronous,sendrecv,async", "--passes", "1"),
        )
        seen = {point.at["protocol"] for point in record.points if point.quantity == EXCHANGE}
        assert seen == {"blocking", "synchronous", "sendrecv", "async"}


@pytest.mark.parametrize(
    ("words", "message"),
    first(
        1,
        [
            (["--bisect"], "--bisect is a way of mpptest"),
            (["--mode", "mpptest", "--overlap-bytes", "8", "--bisect"], "leave out --bisect or"),
            (["--mode", "mpptest", "--protocol", "ready"], "are blocking and async, not ready"),
            (["--protocol", "sendrecv"], "use it with --pattern ring or headtohead"),
        ],
    ),
)
def test_what_mpptest_cannot_do_is_refused_with_a_sentence(
    cluster: NamespaceCluster, tmp_path: Path, words: list[str], message: str
) -> None:
    with pytest.raises(UsageError) as refused:
        launched(cluster, tmp_path, 2, *words)
    assert message in str(refused.value)
