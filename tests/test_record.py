"""Is a Record kept whole, read back the same, and refused with a sentence when it is not one?"""

from __future__ import annotations

import errno
import json
import math
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from IPython.lib.pretty import pretty

from beowulf import schemas
from beowulf.record import Point, Record, RecordError, newest

finite = st.floats(allow_nan=False, allow_infinity=False)
names = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=8)
scalars = st.none() | st.booleans() | st.integers() | finite | st.text()
facts = st.dictionaries(
    st.text(max_size=8),
    st.recursive(
        scalars,
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
        ),
        max_leaves=8,
    ),
    max_size=4,
)
quantities = st.sampled_from(["transfer_s", "round_trip_ms", "rate_bytes_per_s"])
points = st.builds(Point, at=st.dictionaries(names, scalars), facts=facts) | st.builds(
    Point,
    at=st.dictionaries(names, scalars),
    quantity=quantities,
    samples=st.lists(finite),
    facts=facts,
)
moments = st.datetimes(datetime(1970, 1, 1), datetime(9000, 1, 1)).map(
    lambda when: when.isoformat() + "Z"
)
records = st.builds(
    Record,
    study=st.from_regex(r"[A-E][0-9]{1,2}", fullmatch=True),
    sweep=facts,
    points=st.lists(points, max_size=4),
    cluster=facts,
    circumstances=st.fixed_dictionaries({"before": facts, "after": facts}),
    versions=facts,
    learner=st.text(),
    started=moments,
    warnings=st.lists(st.text(), max_size=3),
    complete=st.booleans(),
)


def small(**changes: Any) -> Record:
    """A Record with one point, as a test needs it."""
    given: dict[str, Any] = {
        "study": "A2",
        "points": [Point({"node": "node00", "peer": "node01"}, "round_trip_ms", [0.1, 0.25])],
        "cluster": {"kind": "namespaces", "nodes": ["node00", "node01"]},
        "started": "2026-01-02T03:04:05.006Z",
        "ended": "2026-01-02T03:04:06.000Z",
    }
    return Record(**{**given, **changes})


def refusal(path: Path) -> str:
    """The sentence with which the file is refused."""
    with pytest.raises(RecordError) as caught:
        Record.load(path)
    sentence = str(caught.value)
    assert str(path) in sentence, "the sentence names the file"
    assert caught.value.hint, "and says what to do"
    return sentence


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(record=records)
def test_what_is_saved_is_what_is_loaded(
    record: Record, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = record.save(tmp_path_factory.mktemp("records") / "A2.json")
    again = Record.load(path)
    assert again == record
    assert again.digest == record.digest
    assert again.save(path).read_bytes() == path.read_bytes()


def test_numpy_values_and_tuples_become_plain_ones(tmp_path: Path) -> None:
    point = Point({"bytes": np.int64(8)}, "transfer_s", list(np.array([1, 2])), {"ok": np.True_})
    samples: Any = np.array([0.5, 0.25])
    other = Point({"bytes": 16}, "transfer_s", samples, {"range": (1, 2)})
    again = Record.load(small(points=[point, other]).save(tmp_path / "r.json"))
    assert again.points[0] == Point({"bytes": 8}, "transfer_s", [1.0, 2.0], {"ok": True})
    assert again.points[1] == Point({"bytes": 16}, "transfer_s", [0.5, 0.25], {"range": [1, 2]})
    assert all(type(sample) is float for point in again.points for sample in point.samples)


@pytest.mark.parametrize(
    "wrong",
    [
        {"study": "validation"},
        {"points": [Point({"n": 1}, "transfer_s", [1.0, math.nan])]},
        {"points": [Point({"n": 1}, facts={"deep": [{"er": -math.inf}]})]},
        {"ended": "2026-99-99T99:99:99Z"},
        {"variant": "../up"},
        {"cluster": {"nodes": [{"node00": 1}]}},
        {"circumstances": {"before": {"cores": "many"}, "after": {}}},
        {"points": [Point({"n": 1}, "transfer_s", [True])]},
        {"points": [Point({"n": 1}, "unitless", [1.0])]},
        {"points": [Point({"n": 1}, "transfer_s", [10**400])]},
        {"points": [Point({"n": 1}, facts={"a": object()})]},
    ],
)
def test_what_the_schema_forbids_is_not_written(wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"^r\.json was not written: "):
        small(**wrong).save(tmp_path / "r.json")
    assert list(tmp_path.iterdir()) == []


def damaged(content: dict[str, Any], **changes: Any) -> bytes:
    return json.dumps({**content, **changes}).encode()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda c: b" \n ", "it is empty"),
        (lambda c: json.dumps(c).encode()[:-40], "truncated"),
        (lambda c: json.dumps(c).encode() * 2, "it is not JSON"),
        (lambda c: b"\x89PNG\r\n\x1a\n\xff\xfe", "not UTF-8"),
        (lambda c: b"[" * 100_000, "it is not JSON"),
        (lambda c: json.dumps(c).encode().replace(b"0.25", b"NaN"), "NaN is not a finite number"),
        (lambda c: json.dumps(c).encode().replace(b"0.25", b"9" * 5000), "it is not JSON"),
        (lambda c: json.dumps(c).encode().replace(b"0.25", b'"0.25"'), "samples/1"),
        (lambda c: b'{"study": "A1", ' + json.dumps(c).encode()[1:], "same key occurs twice"),
        (lambda c: damaged(c, extra=1), "extra"),
        # Its pattern would try all ways of cutting it into words.
        (
            lambda c: json.dumps(c).encode().replace(b"round_trip_ms", b"x_" * 50 + b"ms"),
            "quantity",
        ),
        (lambda c: damaged(c, schema=schemas.VERSION + 1), "a newer version"),
        (lambda c: damaged(c, schema=True), "names no schema version"),
        (lambda c: damaged(c, kind="verdict"), "it says that it is a verdict"),
        (lambda c: b'{"kind": "record", "schema": 1}', "does not follow schema record-1"),
    ],
)
def test_a_file_that_is_not_a_record_is_refused_by_a_sentence(
    spoil: Any, says: str, tmp_path: Path
) -> None:
    path = small().save(tmp_path / "A2.json")
    path.write_bytes(spoil(json.loads(path.read_text())))
    assert says in refusal(path)


class Name(str):
    """A key that cannot become a part of another text."""

    __slots__ = ()

    def __format__(self, how: str) -> str:
        raise AssertionError("millions of letters would be copied for each value below them")


def test_where_a_value_is_becomes_no_text_while_nothing_is_wrong() -> None:
    # 100,000 values below a name of 10 million letters took minutes.
    assert schemas.plain({Name("x"): {Name("y"): [0, 1]}}, "sweep") == {"x": {"y": [0, 1]}}


def test_no_file_a_folder_and_a_pipe_are_refused(tmp_path: Path) -> None:
    assert "There is no file" in refusal(tmp_path / "none.json")
    assert "not a file" in refusal(tmp_path)
    os.mkfifo(tmp_path / "pipe.json")
    assert "not a file" in refusal(tmp_path / "pipe.json")


def test_saving_over_a_record_replaces_it_also_behind_a_link_and_leaves_nothing_else(
    tmp_path: Path,
) -> None:
    before = os.umask(0o022)
    try:
        path = small().save(tmp_path / "new" / "A2.json")
        (tmp_path / "latest.json").symlink_to(path)
        small(learner="Ada").save(tmp_path / "latest.json")
    finally:
        os.umask(before)
    assert (tmp_path / "latest.json").is_symlink()
    assert Record.load(path).learner == "Ada"
    assert [file.name for file in path.parent.iterdir()] == ["A2.json"]
    assert path.stat().st_mode & 0o777 == 0o644, "a group can read what the umask allows"


def test_a_full_disk_keeps_the_old_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = small().save(tmp_path / "A2.json")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RecordError, match="the disk is full") as caught:
        small(learner="Ada").save(path)
    assert str(path) in str(caught.value)
    monkeypatch.undo()
    assert Record.load(path) == small()
    assert [file.name for file in tmp_path.iterdir()] == ["A2.json"]


def test_an_interrupted_save_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        small().save(tmp_path / "A2.json")
    assert list(tmp_path.iterdir()) == []


def test_points_are_selected_by_their_coordinates() -> None:
    here = Point({"check": "ping", "node": "node00"}, "round_trip_ms", [1.0])
    back = Point({"check": "ping", "node": "node01"}, "round_trip_ms", [2.0])
    record = small(points=[here, back, Point({"check": "mpi-hello", "ranks": 4})])
    assert record.select(check="ping") == [here, back]
    assert record.select(check="ping", node="node01") == [back]
    assert record.select(peer=None) == [], "a coordinate that is not there is not None"


def test_the_newest_is_the_one_that_started_last(tmp_path: Path) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for hours, variant in ((3, ""), (9, "broken-a"), (5, ""), (7, "broken-b")):
        when = (start + timedelta(hours=hours)).isoformat()
        small(started=when, variant=variant).save_in(tmp_path)
    small(study="A5", started="2026-02-01T00:00:00Z").save_in(tmp_path)

    def hour(record: Record | None) -> int:
        assert record is not None
        return datetime.fromisoformat(record.started).hour

    assert hour(newest(tmp_path, "A2")) == 9
    assert hour(newest(tmp_path, "A2", "")) == 5
    assert hour(newest(tmp_path, "A2", "broken-b")) == 7
    assert newest(tmp_path, "A2", "broken-c") is None
    assert newest(tmp_path, "A7") is None
    assert newest(tmp_path / "none", "A2") is None


def test_newest_passes_over_what_is_no_record_and_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "A2-late.json").write_text("{")
    with pytest.raises(RecordError, match=r"A2-late\.json .* truncated"):
        newest(tmp_path, "A2")  # where there is no other
    assert newest(tmp_path, "A2", "broken-a") is None, "that file has another name"
    small().save_in(tmp_path)
    (tmp_path / "A2-notes.json").write_text('{"from": "somewhere else"}')
    (tmp_path / "A2-judged.json").write_text('{"kind": "verdict", "schema": 1}')
    capsys.readouterr()
    assert newest(tmp_path, "A2") is not None
    said = capsys.readouterr().err.splitlines()
    assert [f"A2-{name}.json" in line for name, line in zip(NAMES, said, strict=True)] == [True] * 3
    assert "says that it is a verdict" in said[0]


NAMES = ("judged", "late", "notes")


def test_records_of_the_same_moment_do_not_overwrite_each_other(tmp_path: Path) -> None:
    paths = [small().save_in(tmp_path), small().save_in(tmp_path), small().save_in(tmp_path)]
    assert len(set(paths)) == 3
    assert paths[0].name == "A2-20260102T030405.006Z.json"
    assert small(variant="broken-a").file_name == "A2-broken-a-20260102T030405.006Z.json"


def test_a_notebook_shows_a_summary_in_which_nothing_can_hide() -> None:
    page = small(variant="b", warnings=["<script>alert(1)</script>"])._repr_html_()
    assert "A2 (b)" in page
    assert "namespaces, 2 nodes" in page
    assert "1, with 2 samples" in page
    assert "<script>" not in page
    printed = pretty(small(variant="b"))
    assert "points: 1, with 2 samples" in printed
    assert "Point(" not in printed
