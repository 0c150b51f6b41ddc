"""Lab 02's exercise: does what is handed out run, are right rows measured, and is a wrong one named?"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from solutions import CLOCK, EMPTY_ROW, LIBRARY, PIPE, READ, SYSTEM_CALL, WRITE, loop

from beowulf import paths
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError
from beowulf.labs.lab_02 import own_rows
from beowulf.record import newest

pytestmark = pytest.mark.cluster

TWICE = "syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);" * 2
LAB = paths.root() / "labs" / "02-node-benchmarks"


@pytest.fixture
def lab_folder(tmp_path: Path, records: Path) -> Path:
    """A learner's copies of the exercise."""
    for source in (*LAB.glob("*.h"), LAB / "own_rows.c"):
        shutil.copy(source, tmp_path)
    return tmp_path


def written(lab_folder: Path, *bodies: str) -> Path:
    """The learner's file, its three functions filled in order."""
    source = lab_folder / "own_rows.c"
    parts = source.read_text().split(EMPTY_ROW)
    assert len(parts) == len(own_rows.YOURS) + 1
    filled = (*bodies, *(EMPTY_ROW for _ in range(len(own_rows.YOURS) - len(bodies))))
    text = parts[0] + "".join(body + part for body, part in zip(filled, parts[1:], strict=True))
    source.write_text(text)
    return source


def test_what_is_handed_out_runs_and_says_what_is_missing(
    lab_folder: Path, cluster: NamespaceCluster
) -> None:
    record = own_rows.measure(cluster, lab_folder / "own_rows.c")
    assert (record.study, record.variant, record.complete) == ("A3", "own", True)
    assert list(own_rows.best_us(record)) == [own_rows.EXAMPLE]
    assert newest(lab_folder / "records", "A3", "own") == record


def test_right_rows_are_measured_beside_the_null_call(
    lab_folder: Path, cluster: NamespaceCluster
) -> None:
    record = own_rows.measure(cluster, written(lab_folder, LIBRARY, SYSTEM_CALL, PIPE))
    table = own_rows.table(record)
    assert list(table["row"]) == [own_rows.EXAMPLE, *own_rows.YOURS]
    assert (table["best_us"] <= table["median_us"]).all()
    us = own_rows.best_us(record)
    # No machine does it in less, and a busy one takes longer: a look at the clock, one system call, and two.
    least = dict(zip((own_rows.EXAMPLE, *own_rows.YOURS), (0.01, 0.002, 0.01, 0.02), strict=True))
    assert all(us[row] > least[row] for row in least)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("bodies", "said"),
    [
        ((loop(CLOCK, "clock_gettime(CLOCK_MONOTONIC, &now);", until="10"),), "hardly longer"),
        (("    (void)nothing;\n    return 1.0 * repetitions;\n",), "other seconds than those"),
        ((LIBRARY, SYSTEM_CALL, loop("int word = 1;", READ)), "read failed"),
        (
            (LIBRARY, SYSTEM_CALL, loop("char word = 1;", f"if (i % 10 == 0) {WRITE}")),
            "left in the pipe",
        ),
        (("    read the clock\n",), "does not compile"),
        ((LIBRARY, LIBRARY), "1000 repetitions make 0 system calls clock_gettime"),
        ((LIBRARY, loop(CLOCK, TWICE)), "1000 repetitions make 2000 system calls clock_gettime"),
        ((loop("volatile long sum = 0;", "sum += i;"),), "less than to read the clock once"),
    ],
    ids=[
        *("no loop", "false seconds", "empty pipe", "unread words", "no C"),
        *("by the library", "twice", "no clock"),
    ],
)
def test_what_is_wrong_is_reported_and_nothing_is_kept(
    lab_folder: Path,
    cluster: NamespaceCluster,
    capfd: pytest.CaptureFixture[str],
    bodies: tuple[str, ...],
    said: str,
) -> None:
    with pytest.raises(LabError) as caught:
        own_rows.measure(cluster, written(lab_folder, *bodies))
    found = str(caught.value) + capfd.readouterr().err
    # A clock that a busy machine let us read slowly is complained of first.
    assert said in found or "less than to read the clock once" in found
    assert not list((lab_folder / "records").glob("*.json"))
