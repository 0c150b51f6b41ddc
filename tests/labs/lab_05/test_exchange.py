"""Lab 05's exercise: is a right exchange measured, and a wrong one named?"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from running import first
from solutions import ONE_AFTER_THE_OTHER, POST, QUARTER, REST, SLICES, WAIT

from beowulf import paths
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError
from beowulf.labs.lab_05 import exchange
from beowulf.record import newest

pytestmark = pytest.mark.cluster

LAB = paths.root() / "labs" / "05-overlap"


@pytest.fixture
def lab_folder(tmp_path: Path, records: Path) -> Path:
    """A learner's copies of the exercise."""
    for name in ("exchange.c", "exchange.h", "overlap.h"):
        shutil.copy(LAB / name, tmp_path)
    return tmp_path


def written(lab_folder: Path, body: str) -> Path:
    source = lab_folder / "exchange.c"
    text = source.read_text()
    assert ONE_AFTER_THE_OTHER in text
    source.write_text(text.replace(ONE_AFTER_THE_OTHER, body))
    return source


@pytest.mark.nightly
def test_a_right_exchange_is_measured_by_the_packages_own_harness(
    lab_folder: Path, cluster: NamespaceCluster
) -> None:
    header = lab_folder / "exchange.h"
    header.write_text(header.read_text().replace("double seconds = MPI_Wtime() - start;", "#error"))
    record = exchange.measure(cluster, written(lab_folder, QUARTER + POST + SLICES + WAIT))
    assert (record.study, record.variant, record.complete) == ("D4", "exchange", True)
    assert newest(lab_folder / "records", "D4", "exchange") == record
    assert list(exchange.passes(record)) == ["comm", "comp", "before", "during"]
    assert len(exchange.passes(record)) == 20 * exchange.LAUNCHES
    (source,) = record.select(source="exchange.c")
    assert "MPI_Testall" in source.facts["text"]


# Ways to get the time without the work, or the data without the messages.
CLAIMED = "    exchange->worked = 1.0;\n"
COUNTED = "    own_chain()->done = own_chain()->rounds;\n    own_chain()->share = 1.0;\n"
NOTHING_TO_DO = "    own_chain()->rounds = 1;\n    work_share(1.0);\n"
GUESSED = """
    for (int i = 0; i < exchange->size; i++)
        exchange->in[i] = (unsigned char)(exchange->out[i] + (exchange->other - my_rank()) * 101);
"""
HALF = """
    int half = exchange->size / 2;
    check(MPI_Sendrecv(exchange->out, half, MPI_BYTE, exchange->other, TAG, exchange->in, half,
                       MPI_BYTE, exchange->other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
"""
TO_ITSELF = "    memcpy(exchange->in, exchange->out, (size_t)exchange->size);\n"
SMALLER = "    exchange->size = 0;\n"


@pytest.mark.parametrize(
    ("body", "said"),
    first(1, [
        (QUARTER + POST + REST + WAIT + "    exchange->in[7] ^= 1;\n", "wrong data: byte 7"),
        (QUARTER + POST + REST, "a request is still open"),
        (QUARTER + POST + WAIT, "do not add up to 1"),
        (QUARTER + REST, "wrong data: byte 0"),
        ("    wait for both\n", "does not compile"),
        (CLAIMED + POST + WAIT, "does not compile"),
        (COUNTED + POST + WAIT, "the result of the work is wrong"),
        (NOTHING_TO_DO + POST + WAIT, "do not add up to 1"),
        (GUESSED + QUARTER + REST, "wrong data: byte"),
        (TO_ITSELF + QUARTER + REST, "wrong data: byte"),
        (HALF + QUARTER + REST, "wrong data: byte 10000"),
        (SMALLER + POST + WAIT + QUARTER + REST, "wrong data: byte 0"),
    ]),
    ids=[
        *("a changed byte", "no wait", "too little work", "no message", "no C"),
        *("work claimed in the struct", "work claimed by its count", "less work asked"),
        *("data guessed", "own data", "half of the data", "no size"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_reported_and_nothing_is_kept(
    lab_folder: Path,
    cluster: NamespaceCluster,
    capfd: pytest.CaptureFixture[str],
    body: str,
    said: str,
) -> None:
    with pytest.raises(LabError) as caught:
        exchange.measure(cluster, written(lab_folder, body))
    assert said in str(caught.value) + capfd.readouterr().err
    assert not list((lab_folder / "records").glob("*.json"))
