"""Does grading tell signed Records from unsigned and broken ones, and do only the asked-for ones cost points?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from nbformat.v4 import new_notebook

from autograder.course import limits
from autograder.evidence import signed
from autograder.evidence.finding import IMPOSSIBLE, INCONCLUSIVE
from autograder.grading.scoring import CONFIGURATION
from autograder.intake import inspection
from autograder.results import signed_records
from autograder.rubrics.submission import Submission
from beowulf import signature
from beowulf.errors import LabError
from beowulf.record import Point, Record
from beowulf.signature import BROKEN, SIGNED, UNSIGNED
from tests.gold import trial
from tests.gold.hand_in import answered, file_name, hand_in, released
from tests.gold.labs import LABS

STUDENT = "ada"
SLUG = "01-validation"
Change = Callable[[Record], Record]


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The key of a school."""
    made = tmp_path_factory.mktemp("school") / "key"
    signature.make_key(made)
    return made


def public(key: Path) -> list[str]:
    return signature.public_keys(key.with_suffix(".pub").read_text())


@pytest.fixture
def course(tmp_path: Path, key: Path) -> Path:
    """A course that knows the school's key."""
    folder = tmp_path / "course"
    folder.mkdir()
    (folder / CONFIGURATION).touch()
    (folder / signed.FILE).write_text(key.with_suffix(".pub").read_text())
    return folder


@pytest.fixture
def record() -> Record:
    return Record("A2", points=[Point({"ranks": 2}, "transfer_s", [1e-3, 1.1e-3])], learner=STUDENT)


def test_a_signed_record_is_signed_after_it_was_saved(
    record: Record, key: Path, tmp_path: Path
) -> None:
    path = signature.sign(record, key, STUDENT).save(tmp_path / "A2.json")
    checked = signed.check(Record.load(path), public(key), STUDENT)
    assert (checked.state, checked.why) == (SIGNED, "")
    assert signed.findings(Record.load(path), public(key), STUDENT, needed=True) == []


def _sample(record: Record) -> Record:
    point = replace(record.points[0], samples=[1e-3, 1.2e-3])
    return replace(record, points=[point])


def _about(name: str, value: object) -> Change:
    def change(record: Record) -> Record:
        about = {**record.cluster[signature.FIELD], name: value}
        return replace(record, cluster={**record.cluster, signature.FIELD: about})

    return change


@pytest.mark.parametrize(
    "change",
    [
        _sample,
        lambda record: replace(record, program={"sha256": "0" * 64}),
        lambda record: replace(record, started="2030-01-01T00:00:00.000Z"),
        lambda record: replace(record, learner="bob"),
        lambda record: replace(record, cluster={**record.cluster, "nodes": ["mine"]}),
        _about("account", "bob"),
        _about("host", "elsewhere"),
        _about("signed", "2030-01-01T00:00:00.000Z"),
        _about("text", "x" * 1_000_000),
        _about("text", "\ud800"),
        _about("text", None),
        _about("text", ""),
        lambda record: replace(record, cluster={signature.FIELD: "signed, really"}),
    ],
)
def test_what_was_altered_is_broken(record: Record, key: Path, change: Change) -> None:
    altered = change(signature.sign(record, key, STUDENT))
    assert signed.check(altered, public(key), STUDENT).state == BROKEN
    (found,) = signed.findings(altered, public(key), STUDENT)
    assert found.kind == IMPOSSIBLE


def test_anothers_record_is_broken(record: Record, key: Path) -> None:
    checked = signed.check(signature.sign(record, key, "bob"), public(key), STUDENT)
    assert checked.state == BROKEN
    assert checked.why == "It was signed for the account bob, and not for ada."


def test_a_learners_own_key_signs_nothing(record: Record, key: Path, tmp_path: Path) -> None:
    signature.make_key(tmp_path / "own")
    checked = signed.check(signature.sign(record, tmp_path / "own", STUDENT), public(key), STUDENT)
    assert checked.state == UNSIGNED
    assert "does not know" in checked.why


def test_after_a_change_of_keys_both_are_good(record: Record, key: Path, tmp_path: Path) -> None:
    before = signature.sign(record, key, STUDENT)
    signature.make_key(tmp_path / "new")
    after = signature.sign(record, tmp_path / "new", STUDENT)
    both = [*public(key), *public(tmp_path / "new")]
    assert [signed.check(each, both, STUDENT).state for each in (before, after)] == [SIGNED] * 2
    # Who takes the old line out does not believe the old key any more.
    assert signed.check(before, public(tmp_path / "new"), STUDENT).state == UNSIGNED


def test_a_key_that_is_there_is_not_made_again(key: Path) -> None:
    before = key.read_bytes()
    signature.make_key(key)
    assert key.read_bytes() == before


def test_without_a_service_nothing_changes(record: Record) -> None:
    assert signed.keys(None) == []
    assert signed.findings(record, [], STUDENT) == []


def test_only_studies_have_to_be_signed(record: Record, key: Path) -> None:
    (found,) = signed.findings(record, public(key), STUDENT, needed=True)
    assert "`beowulf study A2 --signed`" in found.says
    # Of a cluster that the learner broke or tuned, of their own program, of a prediction, of a plot.
    others = [replace(record, variant="broken-a")]
    others += [replace(record, study=study) for study in ("H1", "P1", "F1")]
    for other in others:
        assert not signed.findings(other, public(key), STUDENT, needed=True)


def _deep(record: Record) -> Record:
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    return replace(record, cluster={**record.cluster, "deep": deep})


def test_a_record_without_a_digest_stops_nothing(record: Record, key: Path) -> None:
    (found,) = signed.findings(_deep(signature.sign(record, key, STUDENT)), public(key), STUDENT)
    assert "what no measurement leaves" in found.says


def test_without_ssh_keygen_it_is_undecided(
    record: Record,
    key: Path,
    course: Path,
    folders: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = signature.sign(record, key, STUDENT)
    monkeypatch.setenv("PATH", str(course))
    (found,) = signed.findings(made, public(key), STUDENT, needed=True)
    assert found.kind == INCONCLUSIVE
    says = signed_records.sentence(folders[SIGNED], course, STUDENT)
    assert "cannot be checked: There is no ssh-keygen" in says


def points(folder: Path, course: Path) -> float:
    return sum(trial.graded(SLUG, folder, STUDENT, course).points.values())


def handed_in(folder: Path, change: Change) -> Path:
    """Lab 01 as a good learner hands it in with one study, its Record changed."""
    lab = next(each for each in LABS if each.slug == SLUG)
    notebook = answered(released(SLUG), lab.right)
    records = [each for each in lab.records() if each.study == "A2"]
    hand_in(folder, notebook, records, Path(file_name(SLUG)).stem, STUDENT)
    for path in (folder / "records").glob("*.json"):
        try:
            kept = Record.load(path)
        except LabError:
            continue
        if signed.can_be(kept):
            change(kept).save(path)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, key: Path) -> dict[str, Path]:
    """The same hand-in unsigned, signed, and signed for someone else."""
    place = tmp_path_factory.mktemp("handed-in")
    return {
        UNSIGNED: handed_in(place / "plain", lambda record: record),
        SIGNED: handed_in(place / "good", lambda record: signature.sign(record, key, STUDENT)),
        BROKEN: handed_in(place / "bad", lambda record: signature.sign(record, key, "bob")),
    }


@pytest.mark.nightly
def test_points_follow_the_signature(course: Path, folders: dict[str, Path]) -> None:
    full = points(folders[SIGNED], course)
    assert points(folders[UNSIGNED], course) == full
    assert points(folders[BROKEN], course) < full
    (course / limits.FILE).write_text("signed = true\n")
    assert points(folders[SIGNED], course) == full
    assert points(folders[UNSIGNED], course) == points(folders[BROKEN], course) < full
    # Another lab may be different.
    (course / limits.FILE).write_text("signed = true\n[labs.01]\nsigned = false\n")
    assert points(folders[UNSIGNED], course) == full


@pytest.mark.parametrize(
    ("needed", "doubted"), [(False, {BROKEN}), (True, {BROKEN, UNSIGNED})], ids=["free", "asked"]
)
def test_only_what_is_broken_or_lacks_what_is_asked_is_doubted(
    course: Path, folders: dict[str, Path], needed: bool, doubted: set[str]
) -> None:
    found = {
        state
        for state, folder in folders.items()
        if Submission.read(folder, new_notebook(), STUDENT, course, needs_signature=needed).doubts
    }
    assert found == doubted


def test_a_course_that_asks_for_signatures_and_knows_no_key_says_so(tmp_path: Path) -> None:
    (tmp_path / limits.FILE).write_text("signed = true\n")
    with pytest.raises(LabError, match="has no key to check them"):
        limits.of_course(SLUG, tmp_path)
    (tmp_path / limits.FILE).write_text("signed = true\n[labs.01]\nsigned = false\n")
    assert not limits.of_course(SLUG, tmp_path).signed


def test_collecting_names_them(course: Path, folders: dict[str, Path]) -> None:
    (course / limits.FILE).write_text("signed = true\n")
    assert not inspection.record_notes(folders[SIGNED], SLUG, STUDENT, course)
    for state, why in ((UNSIGNED, "asks for signed ones"), (BROKEN, "for the account bob")):
        notes = inspection.record_notes(folders[state], SLUG, STUDENT, course)
        assert any(why in note for note in notes)


def test_report_and_feedback_count_them(course: Path, folders: dict[str, Path]) -> None:
    good, plain, bad = folders[SIGNED], folders[UNSIGNED], folders[BROKEN]
    section = signed_records.section({STUDENT: good, "bob": good, "cyd": plain}, course)
    rows = section.table.set_index("learner")
    assert rows.loc[STUDENT, SIGNED] == rows.loc["cyd", UNSIGNED] == 1
    assert rows.loc["bob", BROKEN] >= 1
    assert "1 learner with a broken signature: bob" in section.urgent
    says = signed_records.sentence(good, course, STUDENT)
    assert (
        says == "Your Records that the signing service can measure: 1 signed, 0 unsigned, 0 broken."
    )
    assert "signed for the account bob" in signed_records.sentence(bad, course, STUDENT)
    (course / signed.FILE).unlink()
    assert signed_records.sentence(good, course, STUDENT) == ""
    assert "no signing service" in signed_records.section({STUDENT: good}, course).text


def test_the_setting_is_true_or_false(course: Path) -> None:
    assert not limits.of_course(SLUG, course).signed
    (course / limits.FILE).write_text('signed = "yes"\n')
    with pytest.raises(LabError, match="`signed` is true or false"):
        limits.of_course(SLUG, course)
