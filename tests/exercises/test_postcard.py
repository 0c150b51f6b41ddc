"""Lab 06's own captures: is every message of a postcard kept, and are a learner's counts held against ours?"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from solutions import ACKS, COST, OVERHEAD

from beowulf import paths
from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.cluster.recorded import RecordedCluster
from beowulf.errors import LabError, UsageError
from beowulf.exercises.lab_06 import capture_run, count_packets, postcard
from beowulf.record import Point

pytestmark = pytest.mark.cluster

LAB = paths.root() / "labs" / "06-protocol-analysis"


@pytest.fixture
def lab_folder(
    tmp_path: Path, cluster: NamespaceCluster, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A learner's copies of the programs; what they capture is kept there."""
    for name in ("postcard.c", "conversation.c", "tally.py"):
        shutil.copy(LAB / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    cluster.records = tmp_path / "records"
    yield tmp_path
    cluster.records = None


def solved(lab_folder: Path, *bodies: str) -> Path:
    """The exercise with these bodies, in the order of its functions."""
    source = lab_folder / "tally.py"
    head, *rest = source.read_text().split("    return ...\n")
    assert len(rest) == len(count_packets.OURS)
    source.write_text(
        head + "".join(body + after for body, after in zip(bodies, rest, strict=True))
    )
    return source


def kept(lab_folder: Path) -> set[str]:
    return {path.suffix for path in (lab_folder / "records").glob("*")}


def test_a_card_and_its_thanks_are_points_and_the_capture_lies_beside(
    lab_folder: Path, cluster: NamespaceCluster
) -> None:
    text = "Greetings from node00"
    record = postcard.send(cluster, text)
    card, thanks = record.points
    assert (card.at["from_rank"], thanks.at["from_rank"]) == (0, 1)
    assert (card.facts["bytes"], thanks.facts["bytes"]) == (len(text), 0)
    headers = sum(card.facts[f"{name}_header_bytes"] for name in ("ethernet", "ip", "tcp"))
    assert card.facts["frame_bytes"] == headers + card.facts["payload_bytes"]
    assert card.facts["packets_before"] >= 5  # two handshakes
    file = capture_run.capture(cluster, record)
    assert text.encode() in file.read_bytes()
    again = postcard.send(RecordedCluster(lab_folder / "records"), "another text")
    assert again == record
    assert capture_run.capture(RecordedCluster(lab_folder / "records"), again) == file
    file.unlink()
    with pytest.raises(LabError, match="does not lie"):
        capture_run.capture(cluster, record)


def test_the_eager_limit_can_be_determined_to_the_byte(
    lab_folder: Path, cluster: NamespaceCluster
) -> None:
    record = postcard.send(cluster, "x", 131_040, 131_041, name="limit")
    cards = postcard.table(record)
    cards = cards[cards["from_rank"] == 0]
    assert cards["protocol"].tolist() == ["eager", "rendezvous"]
    assert cards["control_packets"].tolist() == [0, 2]


def test_a_card_without_a_text_is_refused_and_nothing_is_kept(
    lab_folder: Path, cluster: NamespaceCluster
) -> None:
    with pytest.raises(LabError, match="What is on the card") as refused:
        postcard.send(cluster, "")
    assert "postcard.c" in str(refused.value)
    with pytest.raises(UsageError, match="postcard, sizes, limit"):
        postcard.send(cluster, "x", name="letter")
    assert kept(lab_folder) == set()


def test_the_exercise_is_counted_as_handed_out_and_when_it_is_right(
    lab_folder: Path, cluster: NamespaceCluster
) -> None:
    record = count_packets.measure(cluster)
    assert (record.study, record.variant, record.complete) == ("A12", "tally", True)
    assert [point.facts["yours"] for point in record.points] == [None] * 3
    assert all("not written yet" in line for line in count_packets.lines(record.points))
    assert count_packets.measure(RecordedCluster(lab_folder / "records")) == record

    mine = count_packets.measure(cluster, solved(lab_folder, ACKS, OVERHEAD, COST))
    assert [point.facts["right"] for point in mine.points] == [True] * 3
    assert all(line.endswith("right") for line in count_packets.lines(mine.points))

    file = capture_run.capture(cluster, mine)
    done = subprocess.run(
        [sys.executable, "tally.py", file],
        cwd=lab_folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == count_packets.lines(mine.points)


def test_what_is_wrong_with_a_count_is_reported_and_costs_only_that_count(
    lab_folder: Path, cluster: NamespaceCluster
) -> None:
    bodies = ("    return packets['nothing']\n", "    return 'much'\n", "    return 1e9\n")
    record = count_packets.measure(cluster, solved(lab_folder, *bodies))
    said = "\n".join(count_packets.lines(record.points))
    line = 1 + (lab_folder / "tally.py").read_text().splitlines().index(
        "    return packets['nothing']"
    )
    for why in (f"KeyError in line {line}", "no number, but str", "too large"):
        assert why in said
    assert not any(point.facts["right"] for point in record.points)


def test_a_share_in_per_cent_is_too_large_and_it_says_what_a_share_is() -> None:
    share, cost = (
        Point({"count": name}, facts={"yours": 700.0, "ours": ours, "right": False, "why": ""})
        for name, ours in (("overhead", 0.07), ("bytes_a_message", 70.0))
    )
    assert ["between 0 and 1" in line for line in count_packets.lines([share, cost])] == [
        True,
        False,
    ]


def test_what_was_right_for_one_conversation_is_wrong_for_the_next(
    lab_folder: Path, cluster: NamespaceCluster
) -> None:
    first = count_packets.measure(cluster, chance=random.Random(1))
    copied = [f"    return {point.facts['ours']}\n" for point in first.points]
    second = count_packets.measure(cluster, solved(lab_folder, *copied), chance=random.Random(2))
    assert first.program["arguments"] != second.program["arguments"]
    # How many acknowledgements there are is up to chance, and may be the same again; the bytes are not.
    right = {point.at["count"]: point.facts["right"] for point in second.points}
    assert not right["bytes_a_message"]


@pytest.mark.parametrize(
    ("text", "said"),
    [("def ack_share(packets:\n", "SyntaxError"), ("import nothing_of_this_name\n", "nothing_of")],
)
def test_an_exercise_that_is_no_program_is_refused_before_anything_runs(
    lab_folder: Path, cluster: NamespaceCluster, text: str, said: str
) -> None:
    (lab_folder / "tally.py").write_text(text)
    with pytest.raises(LabError, match=said):
        count_packets.measure(cluster)
    assert kept(lab_folder) == set()


@pytest.mark.parametrize("words", [[], ["missing.pcapng"], ["tally.py"]])
def test_without_a_capture_the_exercise_ends_with_a_sentence(
    lab_folder: Path, words: list[str]
) -> None:
    done = subprocess.run(
        [sys.executable, "tally.py", *words],
        cwd=lab_folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("tally.py: ")
    assert "Traceback" not in done.stderr
