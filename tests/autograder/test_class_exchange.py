"""nbgrader's exchange: does a folder there count only for the user to whom it belongs, and a bad one harm no other?"""

from __future__ import annotations

import os
import pwd
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from autograder.course.course import Course
from autograder.intake import archives, collection, exchange, submissions
from autograder.intake.submissions import EXCHANGE, Collected
from beowulf.errors import LabError
from tests.gold import hand_in as hands

SLUG = "01-validation"
ME = pwd.getpwuid(os.getuid()).pw_name
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root gives a file to another user")
NO_NAME = 54_321


@dataclass
class Inbound:
    """The folder of a course's exchange into which learners submit."""

    course: Course
    released: Any

    @property
    def folder(self) -> Path:
        return Path(self.course.api.exchange_root) / "beowulf" / "inbound"

    def put(
        self, student: str, owner: str | int | None = None, minutes: float = 0, text: str = ""
    ) -> Path:
        """A hand-in as `nbgrader submit` puts it there, so many minutes from now; `text` is a file in it."""
        stamp = submissions.as_stamp(datetime.now(UTC) + timedelta(minutes=minutes))
        number = len(list(self.folder.iterdir()))
        folder = self.folder / f"{student}+{SLUG}+{stamp}+{number}"
        hands.hand_in(folder, self.released, [])
        (folder / submissions.TIMESTAMP).write_text(stamp)
        (folder / "text").write_text(text)
        if owner is not None:
            for path in (folder, *folder.rglob("*")):
                shutil.chown(path, owner)
        return folder

    def collect(self, **how: Any) -> dict[str, Collected]:
        found = collection.collect(self.course, "01", **how)
        return {each.student or each.sender: each for each in found}

    def kept(self, student: str) -> str | None:
        """The text in what was collected of a learner; None when nothing was."""
        file = self.course.folder / "submitted" / student / SLUG / "text"
        return file.read_text() if file.is_file() else None


@pytest.fixture
def inbound(course: Course, released: Any) -> Iterator[Inbound]:
    made = Inbound(course, released)
    yield made
    for place in (*made.folder.iterdir(), *(course.folder / "submitted").glob("*")):
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()
    shutil.rmtree(course.folder / "reports", ignore_errors=True)


@pytest.mark.parametrize(
    ("owner", "named"),
    [
        pytest.param(None, ME, id="who collects"),
        pytest.param(NO_NAME, "user number 54321, who has no name here", marks=as_root),
    ],
)
def test_a_folder_that_another_user_owns_is_reported_and_not_collected(
    inbound: Inbound, owner: str | int | None, named: str
) -> None:
    folder = inbound.put("ab12", owner)
    found = inbound.collect()["ab12"]
    assert (found.outcome, inbound.kept("ab12")) == ("refused", None)
    assert f"{folder.name} in the exchange belongs to {named}, not to ab12" in found.notes[0]
    assert "FOLDER/ab12" in found.notes[1]


def test_a_name_that_is_not_on_the_roster_is_no_learner_of_the_report(inbound: Inbound) -> None:
    roster = inbound.course.folder / "roster.csv"
    roster.write_text("id\n")
    try:
        inbound.put("nobody1")
        (found,) = inbound.collect().values()
    finally:
        roster.unlink()
    assert (found.student, found.sender, found.outcome) == ("", "nobody1", "unknown")
    assert "not to nobody1" in found.notes[0]


def test_a_folder_of_its_own_learner_is_collected_once(inbound: Inbound) -> None:
    folder = inbound.put(ME)
    found = inbound.collect()[ME]
    assert (found.outcome, found.by) == ("new", EXCHANGE)
    assert not [note for note in found.notes if "exchange" in note]
    stamp = inbound.course.folder / "submitted" / ME / SLUG / submissions.TIMESTAMP
    assert stamp.read_text() == (folder / submissions.TIMESTAMP).read_text()
    # What its learner writes into it now has the time of before.
    (folder / "text").write_text("more")
    assert inbound.collect()[ME].outcome == "unchanged"
    assert inbound.kept(ME) == ""
    inbound.put(ME, minutes=1, text="newer")
    assert inbound.collect()[ME].outcome == "updated"
    assert inbound.kept(ME) == "newer"


@as_root
def test_of_two_owners_the_learner_counts_though_the_other_one_is_newer(inbound: Inbound) -> None:
    honest = inbound.put("daemon", "daemon", text="honest")
    inbound.put("daemon", "nobody", minutes=2, text="forged")
    for outcome in ("new", "unchanged"):
        found = inbound.collect()["daemon"]
        assert (found.outcome, inbound.kept("daemon")) == (outcome, "honest")
        assert "belongs to nobody, not to daemon" in found.notes[0]
    # Nor when it is alone, over what was collected before.
    shutil.rmtree(honest)
    found = inbound.collect(older=True)["daemon"]
    assert (found.outcome, inbound.kept("daemon")) == ("unchanged", "honest")
    assert "belongs to nobody, not to daemon" in found.notes[0]


@as_root
def test_a_folder_with_a_file_of_another_user_is_not_collected(inbound: Inbound) -> None:
    folder = inbound.put("daemon", "daemon")
    shutil.chown(folder / "text", "nobody")
    found = inbound.collect()["daemon"]
    assert found.outcome == "refused"
    assert "(text belongs to nobody)" in found.notes[0]


def test_where_owners_say_nothing_the_course_says_so(inbound: Inbound) -> None:
    for student in ("ab12", "cd34"):
        inbound.put(student)
    with pytest.raises(LabError, match="None of the 2 folders in the exchange") as refused:
        inbound.collect()
    assert "c.ExchangeCollect.check_owner = False" in str(refused.value)
    copied = Inbound(Course(inbound.course.folder), inbound.released)
    copied.course.api.config.ExchangeCollect.check_owner = False
    found = copied.collect()
    assert {name: each.outcome for name, each in found.items()} == {"ab12": "new", "cd34": "new"}


def test_a_time_that_is_still_to_come_is_reported_and_loses_against_one_of_now(
    inbound: Inbound,
) -> None:
    ahead = inbound.put(ME, minutes=600, text="ahead")
    found = inbound.collect()[ME]
    said = f"{ahead.name} in the exchange has a time that is still to come"
    assert f"{said}: it counts as handed in now." in found.notes
    when = submissions.as_time(found.handed_in)
    assert when is not None
    assert when <= datetime.now(UTC)
    # So it is in nobody's way.
    inbound.put(ME, minutes=1, text="now")
    found = inbound.collect()[ME]
    assert (found.outcome, inbound.kept(ME)) == ("updated", "now")
    assert any(note.startswith(f"{said}, and is left out") for note in found.notes)


def test_a_newer_hand_in_that_cannot_be_graded_keeps_no_older_one_out(inbound: Inbound) -> None:
    inbound.put(ME, minutes=-60, text="oldest")
    readable = inbound.put(ME, minutes=-30, text="readable")
    broken = inbound.put(ME, minutes=-10, text="broken")
    (broken / "validation.ipynb").write_text("{")
    found = inbound.collect()[ME]
    assert (found.outcome, found.by, inbound.kept(ME)) == ("new", EXCHANGE, "readable")
    assert submissions.as_time(found.handed_in) == submissions.timestamp(readable)
    assert any(note.startswith(f"“{broken.name}” is newer, and left out: ") for note in found.notes)
    found = inbound.collect()[ME]
    assert (found.outcome, inbound.kept(ME)) == ("refused", "readable")
    assert any("The hand-in that was there before stays." in note for note in found.notes)
    # One that can be graded again takes its place.
    inbound.put(ME, minutes=-1, text="fixed")
    assert (inbound.collect()[ME].outcome, inbound.kept(ME)) == ("updated", "fixed")


def test_what_is_no_hand_in_costs_nobody_else_theirs(inbound: Inbound) -> None:
    now, place = submissions.as_stamp(datetime.now(UTC)), inbound.folder
    honest = inbound.put(ME)
    os.mkfifo(place / f"ab12+{SLUG}+{now}+a")
    (place / f"cd34+{SLUG}+{now}+a").symlink_to(honest)
    (place / f"..+{SLUG}+{now}+a").mkdir()
    (place / f"{ME}+{SLUG}+yesterday or so+a").mkdir()
    (place / f"{ME}+{SLUG}+9999-12-31 23:59:59.9 UTC+a").mkdir()
    (place / "a note").write_text("hello")
    (place / f"ef56+another-lab+{now}").mkdir()
    found = inbound.collect()
    assert {name: each.outcome for name, each in found.items()} == {
        **{ME: "new", "ab12": "refused", "cd34": "refused", "..": "unknown"}
    }
    assert all("is not a folder" in found[name].notes[0] for name in ("ab12", "cd34"))
    assert "names no learner" in found[".."].notes[0]
    assert sum("has no time in its name" in note for note in found[ME].notes) == 2


def test_a_link_to_the_instructors_files_is_left_out(inbound: Inbound) -> None:
    folder = inbound.put(ME)
    (folder / "key.txt").symlink_to(inbound.course.folder / "course.key")
    (folder / "all").symlink_to(inbound.course.folder)
    found = inbound.collect()[ME]
    assert {f"{name} is a link and is left out." for name in ("key.txt", "all")} <= set(found.notes)
    place = inbound.course.folder / "submitted" / ME / SLUG
    assert not {"key.txt", "all"} & {path.name for path in place.iterdir()}


def test_a_folder_that_becomes_a_link_while_it_is_collected_leads_to_nobody_elses(
    tmp_path: Path,
) -> None:
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "x.json").write_text("{}")
    for owner, may in ((os.getuid(), True), (os.getuid() + 1, False), (None, True)):
        (piece,) = archives.of_folder(tmp_path, "ab12", owner).pieces
        if may:
            piece.open().close()
        else:
            with pytest.raises(PermissionError, match="belongs to another user"):
                piece.open()


def test_a_file_that_is_changed_after_its_time_is_reported(
    inbound: Inbound, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, course = inbound.put(ME), inbound.course
    (before,) = exchange.hand_ins(course, SLUG)[ME]
    latest = max(path.stat().st_ctime for path in (folder, *folder.rglob("*")))
    allowed = datetime.fromtimestamp(latest, UTC) - before.when
    monkeypatch.setattr(exchange, "CHANGED_LATER", allowed)
    assert exchange.hand_ins(course, SLUG)[ME] == [before]
    notebook = folder / "validation.ipynb"
    while notebook.stat().st_ctime <= latest:
        notebook.write_text("{}")  # which changes no time of the folder itself
    assert any("was changed at" in note for note in inbound.collect()[ME].notes)


def test_nbgraders_own_collect_goes_by_the_same_rules(inbound: Inbound) -> None:
    inbound.put("ab12", text="forged")
    inbound.put(ME, text="honest")
    result = inbound.course.api.collect(SLUG)
    assert result["success"], result
    assert (inbound.kept("ab12"), inbound.kept(ME)) == (None, "honest")
    assert "not to ab12" in result["log"]
