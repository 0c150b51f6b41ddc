"""Does each hand-in come to its learner, whole, from a folder or a zip, and does a bad one harm no other?"""

from __future__ import annotations

import os
import stat
import subprocess
import time
import zipfile
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.course.roster import Directory, Student
from autograder.intake import submissions as room
from autograder.intake.submissions import Collected, Wanted
from beowulf.errors import LabError
from tests.gold import lab_01

SLUG = "01-validation"
NAME = "validation.ipynb"
CLASS = [
    Student("ab12", "One", "Tree", "", "71"),
    Student("cd34", "Two", "Stone", "", "72"),
    Student("ef56", "Three", "River", "", "73"),
]
WANTED = Wanted(SLUG, [NAME], {"a2-record", "hosts-first-line"})


def notebook(grade_id: str = "a2-record", source: str = "") -> bytes:
    cell = new_code_cell(source, metadata={"nbgrader": {"grade_id": grade_id}}, id="a")
    return nbformat.writes(new_notebook(cells=[cell])).encode()


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


def put(tmp_path: Path, files: Mapping[str, bytes]) -> Path:
    """The folder `in`, from which is collected, with these files in it."""
    place = tmp_path / "in"
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return place


def collected(tmp_path: Path, files: Mapping[str, bytes]) -> dict[str, Collected]:
    """What is said of each learner, when these files are put into `in` and collected."""
    return collect(put(tmp_path, files), tmp_path / "to")


def taken(to: Path, student: str) -> dict[str, bytes]:
    folder = to / student / SLUG
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != room.TIMESTAMP)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def outcomes(found: Mapping[str, Collected]) -> dict[str, str]:
    return {name: each.outcome for name, each in found.items()}


def nothing_half_written(to: Path) -> bool:
    return not [path for path in to.rglob(".*") if path.name.startswith(".")]


# ---------------------------------------------------------------- whose is it?


def test_clones_of_a_kit_come_to_the_learners_as_a_classroom_names_them(tmp_path: Path) -> None:
    learners = ("ab12", "CD34", "ef56", "nobody")
    files = {f"labs-{each}/notebooks/release/{SLUG}/{NAME}": notebook() for each in learners}
    own = {NAME: notebook(source="own"), "records/A2-x.json": b"{}"}
    for work in (f"labs-ab12/work/{SLUG}", f"labs-CD34/kit/work/{SLUG}"):
        files |= {f"{work}/{name}": content for name, content in own.items()}
    place = put(tmp_path, files).rename(tmp_path / "labs-submissions")
    subprocess.run(["git", "init", "-q", place / "labs-ab12"], check=True)
    found = collect(place, tmp_path / "to")
    assert outcomes(found) == {"ab12": "new", "cd34": "new", "ef56": "refused", "nobody": "unknown"}
    assert f"This clone of a kit has no folder work/{SLUG}." in found["ef56"].notes
    assert taken(tmp_path / "to", "ab12") == taken(tmp_path / "to", "cd34") == own
    assert not (tmp_path / "to" / "ef56").exists()


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
    known = dict.fromkeys(("ab12", "cd34", "ef56"), "new")
    assert outcomes(found) == known | {"Four Cloud": "unknown"}
    assert "no learner on the roster" in found["Four Cloud"].notes[0]
    assert found["ab12"].sender == "One Tree"
    assert set(taken(tmp_path / "to", "cd34")) == {NAME, "records/A2-x.json"}
    assert taken(tmp_path / "to", "ef56") == {NAME: notebook()}
    assert nothing_half_written(tmp_path / "to")


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
    assert outcomes(found) == {"ab12": "new", "cd34": "new", "nobody": "unknown"}
    assert [name for name, each in found.items() if each.late] == ["cd34"]
    assert set(taken(tmp_path / "to", "ab12")) == {NAME, "records/A2-20260105T100000.000Z.json"}
    assert "validation-1.ipynb is taken as validation.ipynb." in found["ab12"].notes


# By their numbers: as the roster has them, as Moodle names them, which leaves out apostrophes, and as Canvas does.
ABROAD = {
    "71": Student("ab12", "Öne", "Bäum", "", "71"),
    "72": Student("cd34", "Two", "O'Stone", "", "72"),
    "73": Student("ef56", "Three", "de la River, Jr.", "", "73"),
    "74": Student("gh78", "Four_A", "Cloud-Ø", "", "74"),
    "75": Student("ij90", "மலைத்தொடர்ச்சிமலை", "கடல்மலைத்தொடர்ச்சி", "", "75"),
}
IN_MOODLE = {
    "71": "Öne Bäum",
    "72": "Two OStone",
    "73": "de la River, Jr., Three",
    "74": "Four A Cloud-Ø",
    "75": "மலைத்தொடர்ச்சிமலை கடல்மலைத்தொடர்ச்சி",
}
IN_CANVAS = {
    "71": "bäumöne",
    "72": "ostonetwo",
    "73": "delariverjrthree",
    "74": "cloudøfour_a",
    "75": "கடல்மலைத்தொடர்ச்சிமலைத்தொடர்ச்சிமலை",
}


def without_the_mark_of_utf8(path: Path) -> None:
    """Take from a zip what says that its names are UTF-8, which a Mac leaves out."""
    content = bytearray(path.read_bytes())
    for mark, at in ((b"PK\3\4", 7), (room.ENTRY, 9)):
        place = content.find(mark)
        while place >= 0:
            content[place + at] &= ~0x08
            place = content.find(mark, place + 4)
    path.write_bytes(content)


@pytest.mark.parametrize("marked", [True, False], ids=["marked as UTF-8", "not marked"])
@pytest.mark.parametrize("numbers", ["", "9"], ids=["known numbers", "names alone"])
@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("{name}_{number}_assignsubmission_file/work.zip", IN_MOODLE),
        ("{name}_{number}_assignsubmission_file_/01-validation/work.zip", IN_MOODLE),
        ("{name}_{number}_assignsubmission_file_work.zip", IN_MOODLE),
        ("course-lab-1/{name}_{number}_assignsubmission_file_work.zip", IN_MOODLE),
        ("{name}_{number}_5001_01-validation-2.zip", IN_CANVAS),
        ("{name}_LATE_{number}_5001_my_zip_1_2_.zip", IN_CANVAS),
        ("submissions/{name}_{number}_5001_work.zip", IN_CANVAS),
    ],
)
def test_every_form_of_a_download_brings_every_name_to_its_learner(
    tmp_path: Path, form: str, names: dict[str, str], numbers: str, marked: bool
) -> None:
    records = "records/A2-20260105T100000.000Z.json"
    places, sent = [], []
    for number, name in names.items():
        work = zipped(tmp_path / f"{number}.zip", [(NAME, notebook(source=name)), (records, b"{}")])
        places.append(form.format(name=name, number=numbers + number))
        sent.append(work.read_bytes())
    place = zipped(tmp_path / "all.zip", zip(places, sent, strict=True))
    if not marked:
        without_the_mark_of_utf8(place)
    came = room.collect(place, WANTED, tmp_path / "to", Directory(ABROAD.values(), complete=True))
    assert {each.student: each.outcome for each in came} == {
        each.id: "new" for each in ABROAD.values()
    }
    for number, learner in ABROAD.items():
        expected = {NAME: notebook(source=names[number]), records: b"{}"}
        assert taken(tmp_path / "to", learner.id) == expected


def test_a_zip_that_was_written_as_a_stream_with_64_bit_sizes_is_read(tmp_path: Path) -> None:
    # As Moodle sends it: sizes come after the bytes that they are of.
    class Stream(BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: object) -> int:
            raise OSError

        def tell(self) -> int:
            raise OSError

    stream = Stream()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        name = f"One Tree_900_assignsubmission_file/{NAME}"
        with archive.open(name, "w", force_zip64=True) as file:
            file.write(notebook())
    (tmp_path / "all.zip").write_bytes(stream.getvalue())
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert archive.infolist()[0].flag_bits & 0x8
    assert outcomes(collect(tmp_path / "all.zip", tmp_path / "to")) == {"ab12": "new"}


def test_of_people_with_one_name_none_gets_the_work_of_another(tmp_path: Path) -> None:
    place = zipped(
        tmp_path / "all.zip",
        [
            (f"Two Stone_900_assignsubmission_file/{NAME}", notebook(source="one")),
            (f"Two Stone_901_assignsubmission_file/{NAME}", notebook(source="another")),
            (f"Three River_902_assignsubmission_file/{NAME}", notebook()),
        ],
    )
    found = collect(place, tmp_path / "to")
    both = dict.fromkeys(("Two Stone 900", "Two Stone 901"), "unknown")
    assert outcomes(found) == both | {"ef56": "new"}
    assert "2 people here have the name Two Stone." in found["Two Stone 900"].notes
    # The folder of one of them, named as the learner.
    with zipfile.ZipFile(place) as archive:
        archive.extractall(tmp_path / "in")
    (tmp_path / "in" / "Two Stone_901_assignsubmission_file").rename(tmp_path / "in" / "cd34")
    assert outcomes(collect(tmp_path / "in", tmp_path / "to"))["cd34"] == "new"
    assert taken(tmp_path / "to", "cd34") == {NAME: notebook(source="another")}


@pytest.mark.parametrize("roster", [True, False])
@pytest.mark.parametrize(
    ("files", "senders"),
    [
        (
            [f"Participant_{n}_assignsubmission_file/{NAME}" for n in (900, 901)],
            ["Participant 900", "Participant 901"],
        ),
        (
            ["anon_a1B2c_5001_validation.ipynb", "LATE_anon_34567_5002_validation.ipynb"],
            ["LATE_anon_34567", "anon_a1B2c"],
        ),
        (
            [f"Group 1_5_assignsubmission_file/{NAME}", f"No group_assignsubmission_file/{NAME}"],
            ["Group 1", "No group"],
        ),
    ],
    ids=["Moodle", "Canvas", "groups"],
)
def test_what_came_without_a_name_is_nobodys(
    tmp_path: Path, files: list[str], senders: list[str], roster: bool
) -> None:
    place = zipped(tmp_path / "all.zip", [(name, notebook()) for name in files])
    found = collect(place, tmp_path / "to", roster=roster)
    assert outcomes(found) == dict.fromkeys(senders, "unknown")
    assert not (tmp_path / "to").exists()


def test_a_text_or_a_link_in_canvas_is_a_hand_in_without_a_notebook(tmp_path: Path) -> None:
    names = ("treeone_71_text.html", "stonetwo_LATE_72_link.html")
    found = collect(zipped(tmp_path / "all.zip", [(n, b"<p>") for n in names]), tmp_path / "to")
    assert outcomes(found) == {"ab12": "refused", "cd34": "refused"}
    assert "There is no notebook" in found["cd34"].notes[0]


@pytest.mark.parametrize(
    "files",
    [
        [f"hand-ins/ab12/{NAME}", f"hand-ins/cd34/{SLUG}/{NAME}"],
        [f"ab12/work/{SLUG}/{NAME}", f"cd34/{SLUG}/{NAME}", "cd34/02-node-benchmarks/node.ipynb"],
        [f"ab12/{NAME}", f"__MACOSX/ab12/._{NAME}", f"cd34/{NAME}", "cd34/.DS_Store"],
    ],
    ids=["in one folder", "in folders of labs", "from a Mac"],
)
def test_a_zip_or_a_folder_of_folders_comes_to_the_learners_by_their_ids(
    tmp_path: Path, files: list[str]
) -> None:
    place = zipped(tmp_path / "all.zip", [(name, notebook()) for name in files])
    both = ("ab12", "cd34")
    found = collect(place, tmp_path / "to", roster=False)
    assert outcomes(found) == dict.fromkeys(both, "new")
    with zipfile.ZipFile(place) as archive:
        archive.extractall(tmp_path / "folder")
    inside = tmp_path / "folder" / ("hand-ins" if files[0].startswith("hand-ins") else "")
    again = collect(inside, tmp_path / "to", roster=False)
    assert outcomes(again) == dict.fromkeys(both, "unchanged")
    assert all(set(taken(tmp_path / "to", name)) == {NAME} for name in both)


# ---------------------------------------------------------------- what is left out or refused


def test_what_may_do_harm_in_a_zip_is_left_out(tmp_path: Path) -> None:
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
            ("ab12/" + "d/" * (room.MOST_FOLDERS + 1) + "x", b"x"),
        ],
    )
    with zipfile.ZipFile(place, "a") as archive:
        link = zipfile.ZipInfo("ab12/link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        # LZMA's header names how much memory it wants: gigabytes, for a file of some bytes.
        archive.writestr("ab12/large.txt", b"x" * 100, zipfile.ZIP_LZMA)
    found = collect(place, tmp_path / "deep" / "to", roster=False)
    assert found["ab12"].outcome == "new"
    assert taken(tmp_path / "deep" / "to", "ab12") == {NAME: notebook()}
    said = " ".join(note for each in found.values() for note in each.notes)
    for why in (
        *("points out of the hand-in", "is a link", "a name that cannot be used"),
        *("folders and is left out", "large.txt is packed in a rare way"),
    ):
        assert why in said
    assert {path.name for path in tmp_path.iterdir()} == {"evil.zip", "deep"}
    assert not list(tmp_path.rglob("escaped"))


def test_links_pipes_and_large_files_in_a_folder_are_left_out_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "LARGEST_FILE_KB", 10)
    monkeypatch.setattr(room, "LARGEST_SUBMISSION_KB", 15)
    files = {
        f"ab12/{NAME}": notebook(),
        "ab12/.ipynb_checkpoints/old.ipynb": b"{}",
        "ab12/large.bin": bytes(10_001),
        f"cd34/{SLUG}/a.bin": bytes(9_000),
        f"cd34/{SLUG}/b.bin": bytes(9_000),
    }
    one = put(tmp_path, files) / "ab12"
    (one / "secret.json").symlink_to("/etc/passwd")
    (one / "elsewhere").symlink_to("/etc")
    os.mkfifo(one / "pipe")
    (one.parent / "ef56").mkdir()
    found = collected(tmp_path, {})
    assert outcomes(found) == {"ab12": "new", "cd34": "refused", "ef56": "refused"}
    assert len([note for note in found["ab12"].notes if note.endswith("is left out.")]) == 4
    assert set(taken(tmp_path / "to", "ab12")) == {NAME}
    assert collected(tmp_path, {})["ab12"].outcome == "unchanged"


def test_a_zip_that_would_become_too_large_is_refused_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "LARGEST_FILE_KB", 1000)
    monkeypatch.setattr(room, "LARGEST_SUBMISSION_KB", 3000)
    monkeypatch.setattr(room, "MOST_FILES", 50)
    zeros = bytes(900_000)
    bomb = zipped(tmp_path / "bomb.zip", [(f"records/{n}.bin", zeros) for n in range(9)])
    many = zipped(tmp_path / "many.zip", [(f"{n}.txt", b"") for n in range(60)])
    huge = zipped(tmp_path / "huge.zip", [("one.bin", bytes(2_000_000)), (NAME, notebook())])
    made = {"ab12": bomb, "cd34": many, "ef56": huge}
    place = zipped(
        tmp_path / "all.zip",
        [(f"{name}/work.zip", each.read_bytes()) for name, each in made.items()],
    )
    found = collect(place, tmp_path / "to")
    assert outcomes(found) == {"ab12": "refused", "cd34": "refused", "ef56": "new"}
    assert "more than the 3 MB" in found["ab12"].notes[0]
    assert "more than 50 files" in found["cd34"].notes[0]
    assert "one.bin has more than 1 MB and is left out." in found["ef56"].notes
    assert [path.name for path in (tmp_path / "to").iterdir()] == ["ef56"]
    assert nothing_half_written(tmp_path / "to")


def test_a_damaged_or_locked_zip_costs_only_its_own_files(tmp_path: Path) -> None:
    good = zipped(tmp_path / "good.zip", [(NAME, notebook()), ("records/A2-x.json", b"{}" * 4000)])
    content = bytearray(good.read_bytes())
    content[content.index(b"A2-x.json") + 20] ^= 0xFF  # in the compressed bytes
    zips = {"ab12": bytes(content), "cd34": b"PK no zip", "ef56": good.read_bytes()}
    found = collected(tmp_path, {f"{name}/work.zip": each for name, each in zips.items()})
    assert outcomes(found) == {"ab12": "new", "cd34": "refused", "ef56": "new"}
    assert "cannot be unpacked" in " ".join(found["ab12"].notes)
    assert "not a zip" in " ".join(found["cd34"].notes)
    assert set(taken(tmp_path / "to", "ef56")) == {NAME, "records/A2-x.json"}
    with pytest.raises(LabError, match="not a zip"):
        collect(tmp_path / "in" / "cd34" / "work.zip", tmp_path / "to")


def test_a_file_without_a_name_in_a_zip_is_left_out_and_ends_no_collection(tmp_path: Path) -> None:
    good = zipped(tmp_path / "good.zip", [(NAME, notebook()), ("x", b"")])
    nameless = bytearray(good.read_bytes())
    entry = nameless.rindex(room.ENTRY)
    nameless[entry + 28], nameless[entry + 30] = 0, 1  # the name's one letter is an extra field
    made = {"ab12": bytes(nameless), "cd34": good.read_bytes()}
    found = collected(tmp_path, {f"{name}/work.zip": each for name, each in made.items()})
    assert [each.outcome for each in found.values()] == ["new", "new"]
    assert "is left out" in " ".join(found["ab12"].notes)
    assert set(taken(tmp_path / "to", "ab12")) == {NAME}


def test_zips_of_very_many_folders_are_refused_before_they_are_looked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "MOST_MEMBERS", 30)
    for student, count in {"ab12": 20, "cd34": 4}.items():
        (tmp_path / "in" / student).mkdir(parents=True)
        for number in range(2):
            names = [(f"{number}/{each}/", b"") for each in range(count)]
            zipped(tmp_path / "in" / student / f"{number}.zip", [*names, (NAME, notebook())])
    found = collected(tmp_path, {})
    assert outcomes(found) == {"ab12": "refused", "cd34": "new"}
    assert "more than 30 files and folders" in " ".join(found["ab12"].notes)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "validation.ipynb is empty."), (notebook("another"), "has no question of this lab")],
    ids=["empty", "another lab's"],
)
def test_a_notebook_that_cannot_be_graded_gets_its_sentence(
    tmp_path: Path, content: bytes, said: str
) -> None:
    files = {"ab12/records/A2-x.json": b"{}", f"ab12/{NAME}": content}
    # It is there for the instructor to look at, and counts as refused each time it comes.
    for _ in range(2):
        (found,) = collected(tmp_path, files).values()
        assert found.outcome == "refused"
        assert any(said in note for note in found.notes), found.notes
    assert "records/A2-x.json" in taken(tmp_path / "to", "ab12")
    # Nor does it take the place of a readable one.
    collected(tmp_path, {f"ab12/{NAME}": notebook()})
    (found,) = collected(tmp_path, {f"ab12/{NAME}": content}).values()
    assert "that was there before stays" in found.notes[-1]
    assert taken(tmp_path / "to", "ab12")[NAME] == notebook()


def test_a_full_disk_does_not_cost_the_hand_in_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    collected(tmp_path, {f"ab12/{NAME}": notebook()})
    monkeypatch.setattr(room.shutil, "copyfileobj", full)
    (found,) = collected(tmp_path, {f"ab12/{NAME}": notebook(source="newer")}).values()
    assert found.outcome == "refused"
    assert "No space left" in found.notes[0]
    assert taken(tmp_path / "to", "ab12") == {NAME: notebook()}
    assert [path.name for path in (tmp_path / "to" / "ab12").iterdir()] == [SLUG]


def test_a_renamed_notebook_is_taken_only_when_there_is_no_doubt(tmp_path: Path) -> None:
    ours = notebook()
    files = {
        "ab12/validation (1).ipynb": ours,
        "cd34/mine.ipynb": notebook("another-labs"),
        **{"ef56/one.ipynb": ours, "ef56/two.ipynb": ours},
    }
    found = collected(tmp_path, files)
    assert set(taken(tmp_path / "to", "ab12")) == {NAME}
    assert "there is mine.ipynb" in " ".join(found["cd34"].notes)
    assert "there is one.ipynb, two.ipynb" in " ".join(found["ef56"].notes)


def test_records_of_another_lab_and_of_no_schema_are_reported(tmp_path: Path) -> None:
    files = {
        NAME: notebook(),
        "records/A5-20260105T100000.000Z.json": b'{"kind": "record", "schema": 99}',
        "records/broken.json": b"\xff{",
    }
    place = put(tmp_path, {f"ab12/{name}": content for name, content in files.items()})
    other = lab_01.idle()
    other.study = "A3"
    for record in (lab_01.validation(), other):
        record.save_in(place / "ab12" / "records")
    (found,) = collected(tmp_path, {}).values()
    said = " ".join(found.notes)
    assert "1 Record is of the study A3, which is not of this lab" in said
    assert "A5-20260105T100000.000Z.json" in said
    assert "broken.json" in said
    assert "Traceback" not in said


# ---------------------------------------------------------------- which of several counts?


def handed_in(tmp_path: Path, source: str, when: int, folder: str = "ab12") -> None:
    path = put(tmp_path, {f"{folder}/{NAME}": notebook(source=source)}) / folder / NAME
    os.utime(path, (when, when))


def test_of_two_hand_ins_of_one_learner_the_newest_counts(tmp_path: Path) -> None:
    handed_in(tmp_path, "by the ID", 1_700_000_000)
    handed_in(tmp_path, "by the name", 1_700_000_500, "One Tree")
    (found,) = collected(tmp_path, {}).values()
    assert taken(tmp_path / "to", "ab12") == {NAME: notebook(source="by the name")}
    assert "“One Tree” is the newest of 2; left out: “ab12”." in found.notes


def test_a_newer_hand_in_that_cannot_be_graded_keeps_no_older_one_out(tmp_path: Path) -> None:
    handed_in(tmp_path, "readable", 1_700_000_000, "One Tree")
    put(tmp_path, {f"ab12/{NAME}": b"{"})
    (found,) = collected(tmp_path, {}).values()
    assert (found.outcome, found.sender) == ("new", "One Tree")
    assert found.handed_in.startswith("2023-11-14")
    assert found.notes[0].startswith("“ab12” is newer, and left out: validation.ipynb is not")
    assert taken(tmp_path / "to", "ab12") == {NAME: notebook(source="readable")}
    (found,) = collected(tmp_path, {}).values()
    assert found.outcome == "unchanged"
    # Nor does one that was collected before, when there was none that can be read.
    later = tmp_path / "later"
    assert outcomes(collect(put(tmp_path / "first", {f"ab12/{NAME}": b"{"}), later)) == {
        "ab12": "refused"
    }
    assert taken(later, "ab12") == {NAME: b"{"}
    assert outcomes(collect(tmp_path / "in", later)) == {"ab12": "updated"}
    assert taken(later, "ab12") == {NAME: notebook(source="readable")}


@pytest.mark.parametrize("name", ["ab12.tar.gz", "ab12/my work.7z", "ab12.TGZ"])
def test_an_archive_that_is_no_zip_is_refused_with_a_sentence(tmp_path: Path, name: str) -> None:
    found = collected(tmp_path, {name: b"packed", f"cd34/{NAME}": notebook()})
    assert outcomes(found) == {"ab12": "refused", "cd34": "new"}
    (said,) = (note for note in found["ab12"].notes if "There is no notebook" in note)
    assert f"; there is {Path(name).name}. Only a zip is unpacked" in said


def test_a_collection_that_was_stopped_between_two_steps_loses_nothing(tmp_path: Path) -> None:
    collected(tmp_path, {f"ab12/{NAME}": notebook()})
    kept = tmp_path / "to" / "ab12" / SLUG
    # As it is when the old one was moved away and the new one is not there yet.
    kept.rename(kept.with_name(f".{SLUG}.old"))
    (kept.with_name(f".{SLUG}.new")).mkdir()
    (found,) = collected(tmp_path, {}).values()
    assert found.outcome == "unchanged"
    assert nothing_half_written(tmp_path / "to")


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
    stamp = room.timestamp(to / "ab12" / SLUG)
    assert stamp
    assert stamp.timestamp() == when + 1


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
            stamps.append(room.timestamp(tmp_path / f"to-{place}" / "ab12" / SLUG))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert stamps[0] == stamps[1]
