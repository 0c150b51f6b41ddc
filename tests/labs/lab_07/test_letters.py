"""Lab 07's exercise in C: does what is handed out run, is a right letter measured, and a wrong one named?"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from running import first
from solutions import APART

from beowulf import paths
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError, UsageError
from beowulf.labs.lab_07 import small_writes
from beowulf.record import newest
from beowulf.tuning import knob_places
from beowulf.tuning.knobs import ALL
from tests.gold.lab_07 import posted

LAB = paths.root() / "labs" / "07-latency-tuning"
AT_ONCE = "    at_once(line);\n    apart(line, letter);\n"
HEAD = "    send_all(line, letter->head, HEAD_BYTES);\n"
BODY = "    send_all(line, letter->body, letter->size);\n"


@pytest.fixture
def lab_folder(tmp_path: Path, records: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A learner's copies of the exercise, measured in a short time."""
    for source in (*LAB.glob("*.h"), LAB / "letters.c"):
        shutil.copy(source, tmp_path)
    monkeypatch.setattr(small_writes, "PASSES", 3)
    return tmp_path


def written(lab_folder: Path, body: str) -> Path:
    source = lab_folder / "letters.c"
    text = source.read_text()
    assert APART in text
    source.write_text(text.replace(APART, body))
    return source


@pytest.mark.cluster
def test_what_is_handed_out_runs_by_the_packages_own_harness_and_its_record_is_kept(
    lab_folder: Path, cluster: NamespaceCluster
) -> None:
    (lab_folder / "letters.h").write_text("#error this one is not compiled\n")
    knob = [ALL[small_writes.KNOB]]
    before = knob_places.read(cluster, knob)
    record = small_writes.measure(cluster, lab_folder / "letters.c")
    assert knob_places.read(cluster, knob) == before
    assert (record.study, record.variant, record.complete) == ("L1", "letters", True)
    assert list(small_writes.table(record)["n"]) == [3] * 4
    assert newest(lab_folder / "records", "L1", "letters") == record
    assert "times as fast" in small_writes.picture(record).title


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("body", "said"),
    first(1, [
        (BODY + HEAD, "wrong data: byte 0"),
        ("    put both into one envelope\n", "does not compile"),
        (HEAD + BODY.replace("letter->size", "letter->size - 1"), "is not whole"),
    ]),
    ids=["turned round", "no C", "cut short"],
)  # fmt: skip
def test_what_is_wrong_is_reported_and_nothing_is_kept(
    lab_folder: Path,
    cluster: NamespaceCluster,
    capfd: pytest.CaptureFixture[str],
    body: str,
    said: str,
) -> None:
    with pytest.raises(LabError) as caught:
        small_writes.measure(cluster, written(lab_folder, body))
    assert said in str(caught.value) + capfd.readouterr().err
    with pytest.raises(UsageError, match=r"There is no file .*note\.c"):
        small_writes.measure(cluster, lab_folder / "note.c")
    assert not list((lab_folder / "records").glob("*.json"))


def test_the_share_is_that_of_letters_sent_in_the_same_state() -> None:
    record = posted(0.1, 40.0)
    assert small_writes.times(record).median == pytest.approx(0.1 / 40)
    assert list(small_writes.table(record)["median_ms"]) == [40.0, 0.06, 0.1, 0.1]
    record.points = record.points[:1]
    with pytest.raises(LabError, match="has no letters of this kind: yours"):
        small_writes.times(record)
