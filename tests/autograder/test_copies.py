"""Are measurements that several students handed in laid side by side, and honest ones left alone?"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.evidence import near_copies, shared_records, variants
from autograder.evidence.near_copies import Resemblance
from autograder.results import copies
from beowulf.course import personal_code
from beowulf.record import Point, Record
from tests.gold import lab_01, lab_04
from tests.gold.hand_in import hand_in, released
from tests.gold.measured import as_handed_in
from tests.gold.real_records import of_study


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("originals")
    notebook = released(lab_04.SLUG)
    for name in ("ada", "grace", "linus"):
        hand_in(place / name, notebook, lab_04.records(), "sending", student=name)
    return place


@pytest.fixture
def hand_ins(originals: Path, tmp_path: Path) -> dict[str, Path]:
    """Three students, each with measurements of their own."""
    shutil.copytree(originals, tmp_path, dirs_exist_ok=True)
    return {path.name: tmp_path / path.name for path in sorted(originals.iterdir())}


def records(folder: Path, study: str) -> list[Path]:
    return sorted((folder / "records").glob(f"{study}-*.json"))


def test_honest_hand_ins_have_nothing_in_common(hand_ins: dict[str, Path]) -> None:
    assert copies.suspected(hand_ins) == []


def test_a_copied_record_is_found_though_its_name_and_owner_were_changed(
    hand_ins: dict[str, Path],
) -> None:
    record = Record.load(records(hand_ins["ada"], "E1")[0])
    for path in records(hand_ins["grace"], "E1"):
        path.unlink()
    stolen = replace(record, learner="grace", started="2026-01-07T08:00:00.000Z")
    stolen.save_in(hand_ins["grace"] / "records")
    (found,) = copies.suspected(hand_ins)
    assert (found.students, found.kind) == (("ada", "grace"), "record")
    assert "ada and grace" in found.what
    assert [name.partition(":")[0] for name in found.files] == ["ada", "grace"]


def test_the_same_capture_in_two_hand_ins_is_found(hand_ins: dict[str, Path]) -> None:
    for name in ("ada", "linus"):
        (hand_ins[name] / "records" / f"{name}.pcapng").write_bytes(b"packets" * 1000)
    (hand_ins["grace"] / "records" / "empty.pcapng").write_bytes(b"header")
    (hand_ins["ada"] / "records" / "empty.pcapng").write_bytes(b"header")
    (found,) = copies.suspected(hand_ins)
    assert (found.kind, found.files) == ("capture", ("ada: ada.pcapng", "linus: linus.pcapng"))


def test_a_whole_copied_hand_in_is_one_suspicion_that_names_each_file_once(
    hand_ins: dict[str, Path],
) -> None:
    for name in ("ada", "linus"):
        (hand_ins[name] / "records" / "A5.pcapng").write_bytes(name.encode() * 1000)
    shutil.rmtree(hand_ins["grace"])
    shutil.copytree(hand_ins["ada"], hand_ins["grace"])
    (found,) = copies.suspected(hand_ins)
    number = len(lab_04.records())
    assert (found.students, found.kind) == (("ada", "grace"), "whole")
    assert [each.kind for each in found.shared] == ["whole", "capture"]
    assert f"{number} Records of ada and grace are the same from end to end" in found.what
    assert "1 capture of ada and grace is the same" in found.what
    assert len(found.files) == len(set(found.files)) == 2 * (number + 1)


def test_a_whole_record_is_compared_though_it_has_hardly_a_timed_value(
    hand_ins: dict[str, Path],
) -> None:
    """Of an idle wire there are some counts; that two began in the same millisecond says enough."""
    record = as_handed_in(lab_01.idle(), "ada")
    for name in ("ada", "linus"):
        replace(record, learner=name).save_in(hand_ins[name] / "records")
    as_handed_in(lab_01.idle(first_to_last_s=47.0), "grace").save_in(hand_ins["grace"] / "records")
    (found,) = copies.suspected(hand_ins)
    assert (found.students, found.kind) == (("ada", "linus"), "whole")
    later = replace(record, learner="linus", started="2024-01-05T10:05:00.001Z")
    later.save(records(hand_ins["linus"], "A5")[0])
    assert copies.suspected(hand_ins) == []


def test_what_two_of_three_share_stands_with_the_three(hand_ins: dict[str, Path]) -> None:
    e1 = Record.load(records(hand_ins["ada"], "E1")[0])
    a7 = Record.load(records(hand_ins["ada"], "A7")[0])
    for name in ("grace", "linus"):
        replace(e1, learner=name).save(records(hand_ins[name], "E1")[0])
    path = records(hand_ins["linus"], "A7")[0]
    own = Record.load(path)
    half = len(own.points) // 2
    replace(own, points=[*a7.points[:half], *own.points[half:]]).save(path)
    (found,) = copies.suspected(hand_ins)
    assert found.students == ("ada", "grace", "linus")
    assert [(each.kind, each.students) for each in found.shared] == [
        ("whole", ("ada", "grace", "linus")),
        ("samples", ("ada", "linus")),
        ("near", ("ada", "linus")),
    ]


def test_records_that_the_course_gave_are_no_copies(
    hand_ins: dict[str, Path], tmp_path: Path
) -> None:
    source = tmp_path / "measured"
    source.mkdir()
    as_handed_in(lab_01.validation()).save_in(source)
    gifts = shared_records.prepare(tmp_path / "course", lab_04.SLUG, source, "spring")
    for folder in hand_ins.values():
        shutil.copy(gifts[0], folder / "records")
    assert copies.suspected(hand_ins, tmp_path / "course") == []


def test_a_record_made_under_another_students_word_is_named(
    hand_ins: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / variants.KEY).write_text("0123")
    variants.issue(tmp_path, hand_ins)
    path = records(hand_ins["grace"], "E1")[0]
    record = Record.load(path)
    mark = personal_code.mark(personal_code.of("0123", "ada"))
    replace(record, cluster={**record.cluster, "mark": mark}).save(path)
    (found,) = copies.suspected(hand_ins, tmp_path)
    assert (found.kind, found.students) == ("mark", ("ada", "grace"))
    assert found.files == (f"grace: {path.name}",)


def test_files_that_cannot_be_read_are_passed_over(hand_ins: dict[str, Path]) -> None:
    folder = hand_ins["ada"] / "records"
    (folder / "E1-cut.json").write_text('{"kind": "record"')
    (folder / "E1-link.json").symlink_to("/etc/passwd")
    (folder / "E1-folder.json").mkdir()
    (folder / "A5-link.pcapng").symlink_to("/etc/passwd")
    (folder / "deep.json").write_text("[" * 90_000)
    missing = hand_ins | {"nobody": folder / "nowhere"}
    assert copies.suspected(missing) == []


def changed(source: Record, change: Callable[[Point], Point]) -> Record:
    return replace(source, points=[change(point) for point in source.points])


def shared_by(*of_students: Record) -> list[Resemblance]:
    """What Records of as many learners share."""
    steps = [near_copies.steps(record) for record in of_students]
    return list(near_copies.resembling(steps, [f"learner-{n}" for n in range(len(steps))]))


def scaled(point: Point) -> Point:
    return replace(point, samples=[1.07 * each for each in point.samples])


def rounded(point: Point) -> Point:
    return replace(point, samples=[float(f"{each:.4g}") for each in point.samples])


def renamed(last: int) -> Callable[[Point], Point]:
    """Scaled, sorted, and of the last launch first."""

    def change(point: Point) -> Point:
        at = {**point.at, "launch": last - point.at["launch"]}
        return replace(point, at=at, samples=sorted(scaled(point).samples))

    return change


def test_a_copy_is_found_that_was_scaled_sorted_and_its_launches_renamed() -> None:
    source = max(of_study("A7"), key=lambda record: len(record.points))
    last = max(point.at["launch"] for point in source.points)
    copy = changed(source, renamed(last))
    (found,) = shared_by(source, copy)
    assert found.like > 0.99
    assert found.places > 50
    steps = [near_copies.steps(each) for each in (source, copy)]
    assert not list(near_copies.resembling(steps, ["ada", "ada"]))


@pytest.mark.parametrize("change", [scaled, rounded])
def test_a_copy_of_one_launch_is_found_by_its_passes(change: Callable[[Point], Point]) -> None:
    source = next(r for r in of_study("A3") if not any(p.at.get("launch") for p in r.points))
    assert shared_by(source, changed(source, change))


@pytest.mark.parametrize("study", ["A3", "A7", "D2", "D1", "B2"])
def test_two_measurements_of_a_study_are_no_near_copies(study: str) -> None:
    real = of_study(study)
    assert len(real) > 1
    assert shared_by(*real) == []


def test_a_near_copy_is_named_with_both_files_and_an_exact_one_only_as_such(
    hand_ins: dict[str, Path],
) -> None:
    source = as_handed_in(of_study("D2")[0], "ada")
    source.save_in(hand_ins["ada"] / "records")
    path = changed(replace(source, learner="grace"), scaled).save_in(hand_ins["grace"] / "records")
    (found,) = copies.suspected(hand_ins)
    assert (found.students, found.kind) == (("ada", "grace"), "near")
    assert "rise and fall at the same places in the same launches" in found.what
    assert found.files == (f"ada: {path.name}", f"grace: {path.name}")
    replace(source, learner="grace").save(path)
    (found,) = copies.suspected(hand_ins)
    assert {each.kind for each in found.shared} == {"whole"}
    unfinished = changed(replace(source, learner="grace", complete=False), scaled)
    unfinished.save(path)
    assert copies.suspected(hand_ins) == []
