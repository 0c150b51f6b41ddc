"""nbgrader's exchange: does a folder there count only for the user to whom it belongs, and a bad one harm no other?"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import fabricated
import pytest
from nbgrader.exchange import ExchangeError

from autograder.course.course import Course
from autograder.intake import collection, exchange, submissions
from autograder.intake.submissions import EXCHANGE, Collected
from beowulf.errors import LabError

SLUG = "01-validation"
ME = pwd.getpwuid(os.getuid()).pw_name
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root gives a file to another user")
NO_NAME = 54_321


@pytest.fixture
def inbound(course: Course) -> Iterator[Path]:
    folder = Path(course.api.exchange_root) / "beowulf" / "inbound"
    yield folder
    for place in (*folder.iterdir(), *(course.folder / "submitted").glob("*")):
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()
    shutil.rmtree(course.folder / "reports", ignore_errors=True)


def put(
    inbound: Path,
    student: str,
    notebook: Any,
    owner: str | int | None = None,
    minutes: float = 0,
    text: str = "",
) -> Path:
    """A hand-in as `nbgrader submit` puts it there, so many minutes from now; `text` is a file in it."""
    stamp = submissions.as_stamp(datetime.now(UTC) + timedelta(minutes=minutes))
    folder = inbound / f"{student}+{SLUG}+{stamp}+{len(list(inbound.iterdir()))}"
    fabricated.hand_in(folder, notebook, [])
    (folder / submissions.TIMESTAMP).write_text(stamp)
    (folder / "text").write_text(text)
    if owner is not None:
        for path in (folder, *folder.rglob("*")):
            shutil.chown(path, owner)
    return folder


def collect(course: Course, **how: Any) -> dict[str, Collected]:
    return {each.student or each.sender: each for each in collection.collect(course, "01", **how)}


def kept(course: Course, student: str) -> str | None:
    """The text in what was collected of a learner; None when nothing was."""
    file = course.folder / "submitted" / student / SLUG / "text"
    return file.read_text() if file.is_file() else None


@pytest.mark.parametrize(
    ("owner", "named"),
    [
        pytest.param(None, ME, id="who collects"),
        pytest.param("nobody", "nobody", marks=as_root),
        pytest.param(0, "root", marks=as_root),
        pytest.param("daemon", "daemon", marks=as_root),
        pytest.param(NO_NAME, "user number 54321, who has no name here", marks=as_root),
    ],
)
def test_a_folder_that_another_user_owns_is_reported_and_not_collected(
    course: Course, inbound: Path, released: Any, owner: str | int | None, named: str
) -> None:
    folder = put(inbound, "ab12", released, owner)
    found = collect(course)["ab12"]
    assert (found.outcome, kept(course, "ab12")) == ("refused", None)
    said = f"{folder.name} in the exchange belongs to {named}, not to ab12, and is not collected."
    assert found.notes[0] == said
    assert "FOLDER/ab12" in found.notes[1]


def test_a_name_that_is_not_on_the_roster_is_no_learner_of_the_report(
    course: Course, inbound: Path, released: Any
) -> None:
    roster = course.folder / "roster.csv"
    roster.write_text("id\n")
    try:
        put(inbound, "nobody1", released)
        (found,) = collection.collect(course, "01")
    finally:
        roster.unlink()
    assert (found.student, found.sender, found.outcome) == ("", "nobody1", "unknown")
    assert "not to nobody1" in found.notes[0]


def test_a_folder_of_its_own_learner_is_collected_once(
    course: Course, inbound: Path, released: Any
) -> None:
    folder = put(inbound, ME, released)
    found = collect(course)[ME]
    assert (found.outcome, found.by) == ("new", EXCHANGE)
    assert not [note for note in found.notes if "exchange" in note]
    stamp = course.folder / "submitted" / ME / SLUG / submissions.TIMESTAMP
    assert stamp.read_text() == (folder / submissions.TIMESTAMP).read_text()
    # What its learner writes into it now has the time of before.
    (folder / "text").write_text("more")
    assert collect(course)[ME].outcome == "unchanged"
    assert kept(course, ME) == ""
    put(inbound, ME, released, minutes=1, text="newer")
    assert collect(course)[ME].outcome == "updated"
    assert kept(course, ME) == "newer"


@as_root
def test_of_two_owners_the_learner_counts_though_the_other_one_is_newer(
    course: Course, inbound: Path, released: Any
) -> None:
    honest = put(inbound, "daemon", released, "daemon", text="honest")
    put(inbound, "daemon", released, "nobody", minutes=2, text="forged")
    for outcome in ("new", "unchanged"):
        found = collect(course)["daemon"]
        assert (found.outcome, kept(course, "daemon")) == (outcome, "honest")
        assert "belongs to nobody, not to daemon" in found.notes[0]
    # Nor when it is alone, over what was collected before.
    shutil.rmtree(honest)
    found = collect(course, older=True)["daemon"]
    assert (found.outcome, kept(course, "daemon")) == ("unchanged", "honest")
    assert "belongs to nobody, not to daemon" in found.notes[0]


@as_root
def test_a_folder_with_a_file_of_another_user_is_not_collected(
    course: Course, inbound: Path, released: Any
) -> None:
    folder = put(inbound, "daemon", released, "daemon")
    shutil.chown(folder / "text", "nobody")
    found = collect(course)["daemon"]
    assert found.outcome == "refused"
    assert "has a file of another user in it (text belongs to nobody)" in found.notes[0]


def test_the_instructor_accepts_a_folder_by_a_copy_of_it(
    course: Course, inbound: Path, released: Any, hand_ins: Path
) -> None:
    folder = put(inbound, "ab12", released, text="theirs")
    collect(course)
    shutil.copytree(folder, hand_ins / "ab12")
    (found,) = collection.collect(course, "01", hand_ins)
    assert (found.outcome, kept(course, "ab12")) == ("new", "theirs")


def test_where_owners_say_nothing_the_course_says_so(
    course: Course, inbound: Path, released: Any
) -> None:
    for student in ("ab12", "cd34"):
        put(inbound, student, released)
    with pytest.raises(LabError, match="Of 2 folders in the exchange none") as refused:
        collect(course)
    assert "c.ExchangeCollect.check_owner = False" in str(refused.value)
    copied = Course(course.folder)
    copied.api.config.ExchangeCollect.check_owner = False
    assert {name: each.outcome for name, each in collect(copied).items()} == dict.fromkeys(
        ("ab12", "cd34"), "new"
    )


def test_a_time_that_is_still_to_come_is_reported_and_loses_against_one_of_now(
    course: Course, inbound: Path, released: Any
) -> None:
    ahead = put(inbound, ME, released, minutes=600, text="ahead")
    found = collect(course)[ME]
    said = f"{ahead.name} in the exchange has a time that is still to come"
    assert f"{said}: it counts as handed in now." in found.notes
    when = submissions.as_time(found.handed_in)
    assert when is not None
    assert when <= datetime.now(UTC)
    # So it is in nobody's way.
    put(inbound, ME, released, minutes=1, text="now")
    found = collect(course)[ME]
    assert (found.outcome, kept(course, ME)) == ("updated", "now")
    assert any(note.startswith(f"{said}, and is left out") for note in found.notes)


def test_what_is_no_hand_in_costs_nobody_else_theirs(
    course: Course, inbound: Path, released: Any
) -> None:
    now = submissions.as_stamp(datetime.now(UTC))
    honest = put(inbound, ME, released)
    os.mkfifo(inbound / f"ab12+{SLUG}+{now}+a")
    (inbound / f"cd34+{SLUG}+{now}+a").symlink_to(honest)
    (inbound / f"..+{SLUG}+{now}+a").mkdir()
    (inbound / f"{ME}+{SLUG}+yesterday or so+a").mkdir()
    (inbound / f"{ME}+{SLUG}+9999-12-31 23:59:59.9 UTC+a").mkdir()
    (inbound / "a note").write_text("hello")
    (inbound / f"ef56+another-lab+{now}").mkdir()
    found = collect(course)
    assert {name: each.outcome for name, each in found.items()} == {
        **{ME: "new", "ab12": "refused", "cd34": "refused", "..": "unknown"}
    }
    assert all("is no folder" in found[name].notes[0] for name in ("ab12", "cd34"))
    assert "names no learner" in found[".."].notes[0]
    assert sum("has no time in its name" in note for note in found[ME].notes) == 2


@pytest.mark.skipif(os.getuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_read_is_named(
    course: Course, inbound: Path, released: Any
) -> None:
    folder = put(inbound, ME, released)
    folder.chmod(0)
    try:
        found = collect(course)[ME]
    finally:
        folder.chmod(0o700)
    assert "cannot be read" in found.notes[0]


def test_a_link_to_the_instructors_files_is_left_out(
    course: Course, inbound: Path, released: Any
) -> None:
    folder = put(inbound, ME, released)
    (folder / "key.txt").symlink_to(course.folder / "course.key")
    (folder / "all").symlink_to(course.folder)
    found = collect(course)[ME]
    assert {f"{name} is a link and is left out." for name in ("key.txt", "all")} <= set(found.notes)
    place = course.folder / "submitted" / ME / SLUG
    assert not {"key.txt", "all"} & {path.name for path in place.iterdir()}


def test_a_file_that_is_changed_after_its_time_is_reported(
    course: Course, inbound: Path, released: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(inbound, ME, released)
    (before,) = exchange.hand_ins(course, SLUG)[ME]
    latest = max(path.stat().st_ctime for path in (folder, *folder.rglob("*")))
    allowed = datetime.fromtimestamp(latest, UTC) - before.when
    monkeypatch.setattr(exchange, "CHANGED_LATER", allowed)
    assert exchange.hand_ins(course, SLUG)[ME] == [before]
    notebook = folder / "validation.ipynb"
    while notebook.stat().st_ctime <= latest:
        notebook.write_text("{}")  # which changes no time of the folder itself
    assert any("was changed at" in note for note in collect(course)[ME].notes)


def test_nobody_else_can_put_another_course_in_the_place_of_this_one(course: Course) -> None:
    root = Path(course.api.exchange_root)
    assert stat.S_IMODE(root.stat().st_mode) == 0o1777


def test_nbgraders_own_collect_goes_by_the_same_rules(
    course: Course, inbound: Path, released: Any
) -> None:
    put(inbound, "ab12", released, text="forged")
    put(inbound, ME, released, text="honest")
    result = course.api.collect(SLUG)
    assert result["success"], result
    assert (kept(course, "ab12"), kept(course, ME)) == (None, "honest")
    assert "not to ab12" in result["log"]


def test_an_option_of_nbgraders_that_would_be_ignored_is_refused(course: Course) -> None:
    api = course.api
    app = api.exchange.Collect(
        coursedir=api.coursedir, authenticator=api.authenticator, parent=api, before_duedate=True
    )
    with pytest.raises(ExchangeError, match="before_duedate is not known here"):
        app.init_src()
