"""Does a script that measures nothing earn no more than reading does, and does an honest Record lose nothing?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from running import first

from autograder import evidence
from autograder.evidence import invented, variants
from autograder.intake import inspection
from beowulf.course import personal_code
from beowulf.record import Record
from tests.gold import lab_01, lab_04, trial
from tests.gold.hand_in import answered, file_name, hand_in, released
from tests.gold.labs import LABS, Gold
from tests.gold.measured import as_handed_in, as_measured

KEY, STUDENT = "c4" * 32, "ada"
Change = Callable[[Record], Record]


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course that gave out words."""
    folder = tmp_path / "course"
    folder.mkdir()
    (folder / variants.KEY).write_text(KEY)
    variants.issue(folder, [STUDENT])
    return folder


def made_up(lab: Gold, folder: Path, *, with_program: bool = False) -> None:
    """What a script makes of the checkout alone: all answers, and Records that fit them.

    One that knows grading names a program of ours with its digest, and leaves out the label.
    """
    place = hand_in(
        folder, answered(released(lab.slug), lab.right), [], Path(file_name(lab.slug)).stem
    )
    measured = as_handed_in if with_program else as_measured
    for record in lab.records():
        measured(record, STUDENT).save_in(place / "records")


def reading(lab: Gold, folder: Path, course: Path | None = None) -> Mapping[str, float]:
    """The points for the same answers without a Record: what needs no measurement."""
    hand_in(folder, answered(released(lab.slug), lab.right), [], Path(file_name(lab.slug)).stem)
    return trial.graded(lab.slug, folder, STUDENT, course).points


def more(earned: Mapping[str, float], than: Mapping[str, float]) -> set[str]:
    """The questions that earned more."""
    return {name for name in earned if earned[name] > than[name] + 1e-9}


@pytest.mark.parametrize("lab", first(2, LABS), ids=lambda lab: lab.slug)
def test_a_script_earns_what_reading_earns(lab: Gold, tmp_path: Path) -> None:
    made_up(lab, tmp_path / "made-up")
    found = trial.graded(lab.slug, tmp_path / "made-up", STUDENT)
    assert not more(found.points, reading(lab, tmp_path / "read"))


@pytest.mark.parametrize("lab", first(2, LABS), ids=lambda lab: lab.slug)
def test_with_codes_a_script_without_the_mark_earns_predictions_at_most(
    lab: Gold, tmp_path: Path, course: Path
) -> None:
    made_up(lab, tmp_path / "made-up", with_program=True)
    found = trial.graded(lab.slug, tmp_path / "made-up", STUDENT, course)
    earned = more(found.points, reading(lab, tmp_path / "read", course))
    sealed = {name for name in lab.worth if name.startswith("predict-")} | {"heat-prediction"}
    # Lab 04's limit is known, and any Record names the library.
    assert earned <= sealed | {"eager-limit"}


def named(**program: str) -> Change:
    return lambda record: replace(record, program={**record.program, **program})


def other_source(record: Record) -> Record:
    record.points[0].facts["source"] += "# faster"
    return record


@pytest.mark.parametrize(
    ("record", "change", "says"),
    [
        (lab_04.a7, lambda r: replace(r, warnings=["Fabricated."]), "says itself"),
        (lab_04.a7, named(name="mine.c"), "mine.c, which is none of the labs' programs"),
        (lab_04.a7, named(sha256=""), "no digest of message_sweep.c"),
        (lab_04.a7, named(sha256="0" * 64), "not that of this version's program"),
        (lab_04.a7, lambda r: replace(r, program={}), "names no program"),
        (lab_04.own, named(name="mine.c"), "mine.c, which is none of the labs' programs"),
        (lab_04.own, named(sha256="0" * 64), "not that of this version's program"),
        (lab_01.ring, other_source, "not that of its text"),
    ],
)
def test_what_a_made_up_record_lacks_is_named(
    record: Callable[[], Record], change: Change, says: str
) -> None:
    honest = as_handed_in(record())
    assert evidence.made_up(honest) == []
    (found,) = evidence.made_up(change(honest))
    assert says in found.says
    assert found.kind == evidence.IMPOSSIBLE


def test_several_programs_have_one_digest() -> None:
    names = ("processes.c", "latencies.c")
    digests = [min(invented.known()[name]) for name in names]
    together = hashlib.sha256("".join(digests).encode()).hexdigest()
    record = named(name=", ".join(names), sha256=together)(as_handed_in(lab_04.a7()))
    assert evidence.made_up(record) == []
    assert evidence.made_up(named(name="latencies.c, processes.c")(record))
    # A file that the learner edits may have any.
    exercise = replace(record, variant="own")
    assert evidence.made_up(named(name="own_rows.c", sha256="0" * 64)(exercise)) == []
    assert evidence.made_up(named(name="roundtrip.c", sha256="0" * 64)(exercise))


def test_a_course_accepts_the_programs_of_the_versions_that_it_was_released_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = as_handed_in(lab_04.a7())
    invented.remember(tmp_path)
    before = (tmp_path / invented.FILE).read_text()
    invented.remember(tmp_path)
    assert (tmp_path / invented.FILE).read_text() == before
    changed = {**invented.known(), "message_sweep.c": frozenset({"1" * 64})}
    monkeypatch.setattr(invented, "known", lambda: changed)
    assert evidence.made_up(record)
    assert evidence.made_up(record, accepted=invented.accepted(tmp_path)) == []
    invented.remember(tmp_path)
    assert (tmp_path / invented.FILE).read_text() == f"{before}{'1' * 64} message_sweep.c\n"


def test_collecting_names_what_was_not_measured(tmp_path: Path, course: Path) -> None:
    mark = personal_code.mark(personal_code.of(KEY, STUDENT))
    honest, other = as_handed_in(lab_01.validation()), as_measured(lab_01.idle())
    honest.cluster["mark"] = mark
    for record in (honest, other):
        record.save_in(tmp_path / "records")
    (note,) = inspection.record_notes(tmp_path, lab_01.SLUG, STUDENT, course)
    assert note.startswith(other.file_name)
    assert "says itself" in note
    assert "without your personal code" in note
