"""Does each hand-in come to its learner, whole, from a folder or a zip, and does a bad one harm no other?"""

from __future__ import annotations

import json
import os
import stat
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from autograder.course.roster import Directory, Student
from autograder.intake import submissions as room
from autograder.intake.submissions import Collected, Wanted
from beowulf.errors import LabError

SLUG = "01-validation"
NAME = "validation.ipynb"
CLASS = [
    Student("ab12", "One", "Tree", "", "71"),
    Student("cd34", "Two", "Stone", "", "72"),
    Student("ef56", "Three", "River", "", "73"),
]
WANTED = Wanted(SLUG, [NAME], {"a2-record", "hosts-first-line"})
CELL = {
    "cell_type": "code",
    "id": "a",
    "metadata": {},
    "source": "",
    "outputs": [],
    "execution_count": None,
}
NOTEBOOK: dict[str, Any] = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}


def notebook(grade_id: str = "a2-record", source: str = "") -> bytes:
    marks = {"nbgrader": {"grade_id": grade_id}}
    cell = CELL | {"metadata": marks, "source": source}
    return json.dumps(NOTEBOOK | {"cells": [cell]}).encode()


def zipped(path: Path, files: Iterable[tuple[str, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return path


def collect(
    place: Path, to: Path, wanted: Wanted = WANTED, roster: bool = True
) -> dict[str, Collected]:
    learners = Directory(CLASS if roster else [], complete=roster)
    return {each.student or each.sender: each for each in room.collect(place, wanted, to, learners)}


def taken(to: Path, student: str) -> dict[str, bytes]:
    folder = to / student / SLUG
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != room.TIMESTAMP)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def nothing_half_written(to: Path) -> bool:
    return not [path for path in to.rglob(".*") if path.name.startswith(".")]


def test_a_zip_from_moodle_comes_to_the_learners_by_their_names(tmp_path: Path) -> None:
    inner = zipped(
        tmp_path / "work.zip",
        [(f"{SLUG}/{NAME}", notebook()), (f"{SLUG}/records/A2-x.json", b"{}")],
    )
    place = zipped(
        tmp_path / "course-lab-1.zip",
        [
            (f"One Tree_900_assignsubmission_file_/{NAME}", notebook()),
            ("Two Stone_901_assignsubmission_file_/work.zip", inner.read_bytes()),
            (f"Three River_902_assignsubmission_file_{NAME}", notebook()),
            (f"Four Cloud_903_assignsubmission_file_/{NAME}", notebook()),
            ("Two Stone_901_assignsubmission_onlinetext_/onlinetext.html", b"<p>here it is</p>"),
        ],
    )
    found = collect(place, tmp_path / "to")
    assert {name: each.outcome for name, each in found.items()} == {
        "ab12": "new",
        "cd34": "new",
        "ef56": "new",
        "Four Cloud": "unknown",
    }
    assert "no learner on the roster has this name" in found["Four Cloud"].notes[0]
    assert found["ab12"].sender == "One Tree"
    assert set(taken(tmp_path / "to", "cd34")) == {NAME, "records/A2-x.json"}
    assert taken(tmp_path / "to", "ef56") == {NAME: notebook()}
    assert nothing_half_written(tmp_path / "to")


def test_a_file_that_is_packed_in_a_rare_way_is_left_out(tmp_path: Path) -> None:
    """LZMA's header names how much memory it wants: gigabytes, for a file of some bytes."""
    place = zipped(tmp_path / "hand-ins.zip", [(f"ab12/{NAME}", notebook()), ("cd34/x.txt", b"x")])
    with zipfile.ZipFile(place, "a") as archive:
        archive.writestr("ab12/large.txt", b"x" * 100, zipfile.ZIP_LZMA)
    found = collect(place, tmp_path / "to")["ab12"]
    assert found.notes[0] == "large.txt is packed in a rare way and is left out."
    assert set(taken(tmp_path / "to", "ab12")) == {NAME}


def test_a_zip_from_canvas_comes_to_the_learners_by_their_numbers(tmp_path: Path) -> None:
    place = zipped(
        tmp_path / "submissions.zip",
        [
            ("treeone_71_5001_validation-1.ipynb", notebook()),
            ("treeone_71_5002_A2-20260105T100000.000Z.json", b"{}"),
            ("stonetwo_LATE_72_5003_validation.ipynb", notebook()),
            ("nobody_99_5004_validation.ipynb", notebook()),
        ],
    )
    found = collect(place, tmp_path / "to")
    assert {name: each.outcome for name, each in found.items()} == {
        "ab12": "new",
        "cd34": "new",
        "nobody": "unknown",
    }
    assert {name: each.late for name, each in found.items()} == {
        "ab12": False,
        "cd34": True,
        "nobody": False,
    }
    assert set(taken(tmp_path / "to", "ab12")) == {NAME, "records/A2-20260105T100000.000Z.json"}
    assert "validation-1.ipynb is taken as validation.ipynb." in found["ab12"].notes


@pytest.mark.parametrize(
    "files",
    [
        [f"ab12/{NAME}", f"cd34/{NAME}"],
        [f"hand-ins/ab12/{NAME}", f"hand-ins/cd34/{SLUG}/{NAME}"],
        [f"ab12/work/{SLUG}/{NAME}", f"cd34/{SLUG}/{NAME}", "cd34/02-node-benchmarks/node.ipynb"],
        [f"ab12/{NAME}", f"__MACOSX/ab12/._{NAME}", f"cd34/{NAME}", "cd34/.DS_Store"],
    ],
)
def test_a_zip_or_a_folder_of_folders_comes_to_the_learners_by_their_ids(
    tmp_path: Path, files: list[str]
) -> None:
    place = zipped(tmp_path / "all.zip", [(name, notebook()) for name in files])
    found = collect(place, tmp_path / "to", roster=False)
    assert {name: each.outcome for name, each in found.items()} == {"ab12": "new", "cd34": "new"}
    with zipfile.ZipFile(place) as archive:
        archive.extractall(tmp_path / "folder")
    inside = tmp_path / "folder" / ("hand-ins" if files[0].startswith("hand-ins") else "")
    again = collect(inside, tmp_path / "to", roster=False)
    assert {name: each.outcome for name, each in again.items()} == dict.fromkeys(
        ("ab12", "cd34"), "unchanged"
    )
    assert all(set(taken(tmp_path / "to", name)) == {NAME} for name in ("ab12", "cd34"))


def test_names_in_a_zip_that_lead_out_of_it_are_left_out(tmp_path: Path) -> None:
    place = zipped(
        tmp_path / "evil.zip",
        [
            (f"ab12/{NAME}", notebook()),
            ("ab12/../../../escaped", b"x"),
            ("/absolute", b"x"),
            ("..", b"x"),
            ("ab12/records/..\\..\\escaped", b"x"),
            ("ab12/C:/escaped", b"x"),
            ("ab12/" + 300 * "long/", b""),
        ],
    )
    with zipfile.ZipFile(place, "a") as archive:
        link = zipfile.ZipInfo("ab12/link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    found = collect(place, tmp_path / "deep" / "to", roster=False)
    assert found["ab12"].outcome == "new"
    assert taken(tmp_path / "deep" / "to", "ab12") == {NAME: notebook()}
    said = " ".join(note for each in found.values() for note in each.notes)
    assert "points out of the hand-in" in said
    assert "is a link and is left out" in said
    assert "has a name that cannot be used" in said
    assert {path.name for path in tmp_path.iterdir()} == {"evil.zip", "deep"}
    assert not list(tmp_path.rglob("escaped"))


def test_a_zip_that_would_become_too_large_is_refused_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "LARGEST_FILE_KB", 1000)
    monkeypatch.setattr(room, "LARGEST_SUBMISSION_KB", 3000)
    monkeypatch.setattr(room, "MOST_FILES", 50)
    zeros = bytes(900_000)
    bomb = zipped(tmp_path / "bomb.zip", [(f"records/{n}.bin", zeros) for n in range(9)])
    assert bomb.stat().st_size < 20_000
    many = zipped(tmp_path / "many.zip", [(f"{n}.txt", b"") for n in range(60)])
    huge = zipped(tmp_path / "huge.zip", [("one.bin", bytes(2_000_000)), (NAME, notebook())])
    place = zipped(
        tmp_path / "all.zip",
        [
            (f"{student}/work.zip", made.read_bytes())
            for student, made in {"ab12": bomb, "cd34": many, "ef56": huge}.items()
        ],
    )
    found = collect(place, tmp_path / "to")
    assert {name: each.outcome for name, each in found.items()} == {
        "ab12": "refused",
        "cd34": "refused",
        "ef56": "new",
    }
    assert "more than the 3 MB that are allowed" in found["ab12"].notes[0]
    assert "more than 50 files" in found["cd34"].notes[0]
    assert "one.bin has more than 1 MB and is left out." in found["ef56"].notes
    assert [path.name for path in (tmp_path / "to").iterdir()] == ["ef56"]
    assert nothing_half_written(tmp_path / "to")


def test_a_damaged_or_locked_zip_costs_only_its_own_files(tmp_path: Path) -> None:
    good = zipped(tmp_path / "good.zip", [(NAME, notebook()), ("records/A2-x.json", b"{}" * 4000)])
    content = bytearray(good.read_bytes())
    content[content.index(b"A2-x.json") + 20] ^= 0xFF  # in the compressed bytes
    place = tmp_path / "in"
    for student, made in {
        "ab12": bytes(content),
        "cd34": b"PK no zip",
        "ef56": good.read_bytes(),
    }.items():
        (place / student).mkdir(parents=True)
        (place / student / "work.zip").write_bytes(made)
    found = collect(place, tmp_path / "to")
    assert (found["ab12"].outcome, found["ef56"].outcome) == ("new", "new")
    assert "cannot be unpacked" in " ".join(found["ab12"].notes)
    assert found["cd34"].outcome == "refused"
    assert "not a zip that can be read" in " ".join(found["cd34"].notes)
    assert set(taken(tmp_path / "to", "ef56")) == {NAME, "records/A2-x.json"}
    with pytest.raises(LabError, match="not a zip"):
        collect(place / "cd34" / "work.zip", tmp_path / "to")


def test_a_file_without_a_name_in_a_zip_is_left_out_and_ends_no_collection(tmp_path: Path) -> None:
    good = zipped(tmp_path / "good.zip", [(NAME, notebook()), ("x", b"")])
    nameless = bytearray(good.read_bytes())
    entry = nameless.rindex(room.ENTRY)
    nameless[entry + 28], nameless[entry + 30] = 0, 1  # the name's one letter is an extra field
    for student, made in {"ab12": bytes(nameless), "cd34": good.read_bytes()}.items():
        (tmp_path / "in" / student).mkdir(parents=True)
        (tmp_path / "in" / student / "work.zip").write_bytes(made)
    found = collect(tmp_path / "in", tmp_path / "to")
    assert [each.outcome for each in found.values()] == ["new", "new"]
    assert "is left out" in " ".join(found["ab12"].notes)
    assert set(taken(tmp_path / "to", "ab12")) == {NAME}


def test_zips_of_very_many_folders_are_refused_before_they_are_looked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "MOST_MEMBERS", 30)
    place = tmp_path / "in"
    for student, count in {"ab12": 20, "cd34": 4}.items():
        (place / student).mkdir(parents=True)
        for number in range(2):
            names = [(f"{number}/{each}/", b"") for each in range(count)]
            zipped(place / student / f"{number}.zip", [*names, (NAME, notebook())])
    found = collect(place, tmp_path / "to")
    assert (found["ab12"].outcome, found["cd34"].outcome) == ("refused", "new")
    assert "more than 30 files and folders in its zips" in " ".join(found["ab12"].notes)


def test_a_file_in_too_many_folders_is_left_out(tmp_path: Path) -> None:
    deep = "d/" * (room.MOST_FOLDERS + 1)
    made = zipped(tmp_path / "in.zip", [(f"ab12/{NAME}", notebook()), (f"ab12/{deep}x", b"x")])
    found = collect(made, tmp_path / "to")["ab12"]
    assert found.outcome == "new"
    assert "folders and is left out" in " ".join(found.notes)
    assert set(taken(tmp_path / "to", "ab12")) == {NAME}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "There is no notebook validation.ipynb"),
        (b"", "validation.ipynb is empty."),
        (b"\x89PNG\r\n\xff", "not text in UTF-8 (byte 0)"),
        ('{"cells": "ä"}'.encode("latin-1"), "not text in UTF-8"),
        (b"This is my notebook.", "its JSON breaks off or is wrong (Expecting value: line 1"),
        (notebook()[:60], "its JSON breaks off"),
        (b"[" * 100_000, "its JSON breaks off"),
        (b"[1, 2]", "it has no cells"),
        (json.dumps(NOTEBOOK | {"nbformat": 3}).encode(), "of version 3, and one of 4"),
        (json.dumps(NOTEBOOK | {"cells": [7]}).encode(), "it has no cells"),
        (notebook("another-question"), "has no question of this lab"),
    ],
)
def test_a_notebook_that_cannot_be_graded_gets_its_sentence(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    place = tmp_path / "in" / "ab12"
    (place / "records").mkdir(parents=True)
    (place / "records" / "A2-x.json").write_text("{}")
    if content is not None:
        (place / NAME).write_bytes(content)
    # It is there for the instructor to look at, and counts as refused each time it comes.
    for _ in range(2):
        (found,) = collect(tmp_path / "in", tmp_path / "to").values()
        assert found.outcome == "refused"
        assert any(said in note for note in found.notes), found.notes
    assert "records/A2-x.json" in taken(tmp_path / "to", "ab12")


def test_an_unreadable_hand_in_does_not_take_the_place_of_a_readable_one(tmp_path: Path) -> None:
    place = tmp_path / "in" / "ab12"
    place.mkdir(parents=True)
    (place / NAME).write_bytes(notebook())
    collect(tmp_path / "in", tmp_path / "to")
    (place / NAME).write_bytes(b"")
    (found,) = collect(tmp_path / "in", tmp_path / "to").values()
    assert found.outcome == "refused"
    assert "The hand-in that was there before stays." in found.notes[-1]
    assert taken(tmp_path / "to", "ab12") == {NAME: notebook()}


def test_a_huge_notebook_is_left_out_without_being_read(tmp_path: Path) -> None:
    place = tmp_path / "in" / "ab12"
    place.mkdir(parents=True)
    with (place / NAME).open("wb") as file:
        file.truncate(100_000_000)  # it takes no room on the disk
    (found,) = collect(tmp_path / "in", tmp_path / "to").values()
    assert found.outcome == "refused"
    assert found.notes == [
        "validation.ipynb has more than 50 MB and is left out.",
        "There is no file in it.",
    ]
    (place / "notes.txt").write_text("here it is")
    (found,) = collect(tmp_path / "in", tmp_path / "to").values()
    assert found.outcome == "refused"
    assert any("There is no notebook validation.ipynb" in note for note in found.notes)


def test_a_renamed_notebook_is_taken_only_when_there_is_no_doubt(tmp_path: Path) -> None:
    for student, names in {
        "ab12": {"validation (1).ipynb": "a2-record"},
        "cd34": {"mine.ipynb": "another-labs"},
        "ef56": {"one.ipynb": "a2-record", "two.ipynb": "a2-record"},
    }.items():
        (tmp_path / "in" / student).mkdir(parents=True)
        for name, grade_id in names.items():
            (tmp_path / "in" / student / name).write_bytes(notebook(grade_id))
    found = collect(tmp_path / "in", tmp_path / "to")
    assert set(taken(tmp_path / "to", "ab12")) == {NAME}
    assert "there is mine.ipynb" in " ".join(found["cd34"].notes)
    assert "there is one.ipynb, two.ipynb" in " ".join(found["ef56"].notes)


def test_records_of_another_lab_and_of_no_schema_are_reported(tmp_path: Path) -> None:
    import fabricated

    place = tmp_path / "in" / "ab12"
    place.mkdir(parents=True)
    (place / NAME).write_bytes(notebook())
    records = place / "records"
    fabricated.validation().save_in(records)
    other = fabricated.idle()
    other.study = "A3"
    other.save_in(records)
    (records / "A5-20260105T100000.000Z.json").write_text('{"kind": "record", "schema": 99}')
    (records / "broken.json").write_bytes(b"\xff{")
    (found,) = collect(tmp_path / "in", tmp_path / "to").values()
    said = " ".join(found.notes)
    assert "1 Record is of the study A3, which is not of this lab" in said
    assert "A5-20260105T100000.000Z.json" in said
    assert "broken.json" in said
    assert "Traceback" not in said


def test_of_two_hand_ins_of_one_learner_the_newest_counts(tmp_path: Path) -> None:
    for name, when in {"ab12": 1_700_000_000, "One Tree": 1_700_000_500}.items():
        path = tmp_path / "in" / name / NAME
        path.parent.mkdir(parents=True)
        path.write_bytes(notebook(source=name))
        os.utime(path, (when, when))
    (found,) = collect(tmp_path / "in", tmp_path / "to").values()
    assert taken(tmp_path / "to", "ab12") == {NAME: notebook(source="One Tree")}
    assert "“One Tree” is the newest of 2; left out: “ab12”." in found.notes


def test_a_collection_that_was_stopped_between_two_steps_loses_nothing(tmp_path: Path) -> None:
    place = tmp_path / "in" / "ab12"
    place.mkdir(parents=True)
    (place / NAME).write_bytes(notebook())
    collect(tmp_path / "in", tmp_path / "to")
    kept = tmp_path / "to" / "ab12" / SLUG
    # As it is when the old one was moved away and the new one is not there yet.
    kept.rename(kept.with_name(f".{SLUG}.old"))
    (kept.with_name(f".{SLUG}.new")).mkdir()
    (found,) = collect(tmp_path / "in", tmp_path / "to").values()
    assert found.outcome == "unchanged"
    assert nothing_half_written(tmp_path / "to")


def handed_in(tmp_path: Path, source: str, when: int) -> None:
    path = tmp_path / "in" / "ab12" / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook(source=source))
    os.utime(path, (when, when))


def test_an_older_hand_in_takes_the_place_of_a_newer_one_only_when_asked_to(tmp_path: Path) -> None:
    to, when = tmp_path / "to", 1_700_000_000
    handed_in(tmp_path, "newer", when)
    collect(tmp_path / "in", to)
    handed_in(tmp_path, "older", when - 3600)
    (found,) = collect(tmp_path / "in", to).values()
    assert found.outcome == "unchanged"
    assert "is of 2023-11-14 21:13 UTC; the one that is here, of 2023-11-14 22:13" in found.notes[0]
    assert "--older" in found.notes[0]
    assert taken(to, "ab12") == {NAME: notebook(source="newer")}
    everybody = Directory(CLASS, complete=True)
    (asked,) = room.collect(tmp_path / "in", WANTED, to, everybody, older=True)
    assert asked.outcome == "updated"
    assert taken(to, "ab12") == {NAME: notebook(source="older")}
    # Newer than what was graded before, so that it is graded again.
    stamp = room.timestamp(to / "ab12" / SLUG / room.TIMESTAMP)
    assert stamp
    assert stamp.timestamp() == when + 1


def test_a_hand_in_of_the_same_time_is_taken_for_a_newer_one(tmp_path: Path) -> None:
    for source in ("first", "second"):
        handed_in(tmp_path, source, 1_700_000_000)
        (found,) = collect(tmp_path / "in", tmp_path / "to").values()
    assert found.outcome == "updated"
    assert taken(tmp_path / "to", "ab12") == {NAME: notebook(source="second")}


def test_a_file_in_a_zip_is_as_old_as_the_same_file_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        handed_in(tmp_path, "mine", 1_700_000_000)
        with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
            archive.write(tmp_path / "in" / "ab12" / NAME, f"ab12/{NAME}")
        stamps = []
        for place in ("in", "all.zip"):
            collect(tmp_path / place, tmp_path / f"to-{place}")
            stamps.append(room.timestamp(tmp_path / f"to-{place}" / "ab12" / SLUG / room.TIMESTAMP))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert stamps[0] == stamps[1]
