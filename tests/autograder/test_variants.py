"""Has each student variants of their own, which the rubric knows, and which give nothing of another's away?"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.evidence import shared_records, variants
from autograder.evidence.finding import IMPOSSIBLE
from autograder.evidence.variants import Own
from beowulf.cluster import state
from beowulf.cluster.namespaces import faults
from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.cluster.namespaces.faults import PUZZLES, solution
from beowulf.course import personal_code
from beowulf.errors import LabError, UsageError
from beowulf.record import Point, Record
from tests.gold import lab_01, lab_04, trial
from tests.gold.hand_in import answered, file_name, hand_in, released
from tests.gold.measured import as_handed_in

KEY = "b3" * 32
CLASS = ("ada", "grace", "linus", "barbara", "edsger")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    folder = tmp_path / "course"
    folder.mkdir()
    (folder / variants.KEY).write_text(KEY + "\n")
    variants.issue(folder, CLASS)
    return folder


@pytest.fixture
def no_word(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A learner who has no word, in a folder of their own."""
    monkeypatch.delenv(personal_code.VARIABLE, raising=False)
    monkeypatch.setenv("BEOWULF_WORK", str(tmp_path / "work"))
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


def own(course: Path, student: str) -> Own:
    found = variants.of(course, student)
    assert found is not None
    return found


# ---------------------------------------------------------------- the learner's side


def test_who_learns_alone_has_no_word_and_gets_what_is_usual(no_word: Path) -> None:
    assert personal_code.word() == ""
    assert personal_code.mark("") == ""
    assert personal_code.asked_bytes() == personal_code.USUAL_ASKED_BYTES


@pytest.mark.parametrize(
    ("text", "asks"), [("codes = true", True), ("codes = false", False), ("", False)]
)
def test_a_learner_of_a_course_with_codes_is_asked_for_one_that_is_missing(
    text: str, asks: bool, no_word: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir(exist_ok=True)
    (tmp_path / "work" / "course.toml").write_text(text)
    assert personal_code.missing().startswith("Put your personal code") == asks
    monkeypatch.setenv(personal_code.VARIABLE, personal_code.of(KEY, "ada"))
    assert not personal_code.missing()


@pytest.mark.parametrize("place", ["environment", "here", "work"])
def test_a_word_is_found_where_a_learner_put_it(
    place: str, no_word: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    word = personal_code.of(KEY, "ada")
    typed = f" {word[:4].lower()}-{word[4:8]} {word[8:]}\n"
    if place == "environment":
        monkeypatch.setenv(personal_code.VARIABLE, typed)
    else:
        folder = no_word if place == "here" else tmp_path / "work"
        folder.mkdir(exist_ok=True)
        (folder / personal_code.FILE).write_text(typed)
    assert personal_code.word() == word
    assert personal_code.asked_bytes() in personal_code.ASKED_BYTES


@pytest.mark.parametrize("typed", ["ada", "0123456789ABCDEF", "ÄÖÜß" * 4])
def test_what_no_course_gives_is_refused(
    typed: str, no_word: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(personal_code.VARIABLE, typed)
    with pytest.raises(UsageError, match="is not a personal code"):
        personal_code.word()


def test_a_word_draws_the_same_each_time_and_another_word_something_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def first(question: str, word: str) -> float:
        monkeypatch.setenv(personal_code.VARIABLE, word)
        return personal_code.chance(question).random()

    words = [personal_code.of(KEY, student) for student in CLASS]
    assert len(set(words)) == len(words)
    draws = [first("q", word) for word in words]
    assert draws == [first("q", word) for word in words]
    assert len(set(draws)) == len(words)
    assert first("q", words[0]) != first("r", words[0])
    many = {personal_code.asked_bytes(personal_code.of(KEY, f"student {n}")) for n in range(200)}
    assert many == set(personal_code.ASKED_BYTES)


@pytest.mark.cluster
def test_a_cluster_is_broken_and_marked_by_the_word(
    cluster: NamespaceCluster, no_word: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without setting the fault up: which one, and where, is all that the word decides."""
    assert "mark" not in cluster.describe()
    word = personal_code.of(KEY, "grace")
    monkeypatch.setenv(personal_code.VARIABLE, word)
    assert cluster.describe()["mark"] == personal_code.mark(word)
    chosen = []
    monkeypatch.setattr(NamespaceCluster, "heal", lambda self: None)
    monkeypatch.setattr(faults, "apply", lambda *each: chosen.append(each[2:]))
    monkeypatch.setattr(state, "write", lambda *_: None)
    for name in PUZZLES:
        cluster.break_it(name)
    assert chosen == [solution(name, cluster.nodes, word) for name in PUZZLES]


# ---------------------------------------------------------------- the course's side


def test_words_are_kept_from_others_and_stay_when_students_come(course: Path) -> None:
    path = course / variants.WORDS
    assert path.stat().st_mode & 0o077 == 0
    before = path.read_text().splitlines()
    variants.issue(course, ["margaret", "ada"])
    after = path.read_text().splitlines()
    assert set(before) < set(after)
    assert len(after) == len(before) + 1
    assert f"ada,{personal_code.of(KEY, 'ada')}," in after
    assert own(course, "margaret").word == personal_code.of(KEY, "margaret")


def test_without_words_or_for_a_stranger_there_are_no_variants(
    course: Path, tmp_path: Path
) -> None:
    assert variants.of(None, "ada") is None
    assert variants.of(course, "stranger") is None
    assert variants.of(tmp_path, "ada") is None
    with pytest.raises(LabError, match=r"no course\.key"):
        variants.issue(tmp_path, ["ada"])


def test_a_lost_key_takes_no_learner_the_word_that_was_given_out(course: Path) -> None:
    before = variants.of(course, "ada")
    (course / variants.KEY).unlink()
    assert before
    assert variants.of(course, "ada") == before
    with pytest.raises(LabError, match="is gone, and a new one would give other codes") as problem:
        variants.issue(course, ["ada", "margaret"])
    assert "Restore it from a backup" in problem.value.hint
    # A line that holds no word is as none.
    words = course / variants.WORDS
    words.write_text(words.read_text().replace(before.word, "A WORD"))
    assert variants.of(course, "ada") is None


def marked(record: Record, student: str) -> Record:
    """The Record as this student's word makes it."""
    mark = personal_code.mark(personal_code.of(KEY, student))
    return replace(as_handed_in(record, student), cluster={**record.cluster, "mark": mark})


def puzzled(student: str) -> list[Record]:
    """Lab 01's Records with the broken clusters of this student's word."""
    found = []
    for name in PUZZLES:
        fault, node = solution(name, lab_01.NODES, personal_code.of(KEY, student))
        found.append(marked(lab_01.broken(name, fault, node), student))
    others = [each for each in lab_01.records() if not each.variant.startswith("broken-")]
    return [*(marked(each, student) for each in others), *found]


def right(student: str) -> dict[str, Any]:
    answers = dict(lab_01.RIGHT)
    for name in PUZZLES:
        fault, node = solution(name, lab_01.NODES, personal_code.of(KEY, student))
        answers |= {f"fault_{name}": fault, f"node_{name}": node}
    del answers["fault_d"]  # nobody asks for it
    rank = lab_01.NODES.index(answers["node_d"])
    # All from this one on wait, and the first one, unless it is the one that sends.
    answers |= {"sender_rank": rank - 1, "receiving_ranks": 4 - rank + (rank > 1)}
    return answers


def graded(
    course: Path, slug: str, student: str, answers: dict[str, Any], records: list[Record]
) -> trial.Outcome:
    folder = course / "submitted" / student / slug
    notebook = answered(released(slug), answers)
    hand_in(folder, notebook, [], Path(file_name(slug)).stem)
    for record in records:
        if record.study == "A5":
            content = record.started.encode()
            digest = hashlib.sha256(content).hexdigest()
            record.captures = [{"file": "A5.pcapng", "sha256": digest}]
            (folder / "records" / "A5.pcapng").write_bytes(content)
        record.save_in(folder / "records")
    return trial.graded(slug, folder, student, course)


def test_own_broken_clusters_give_all_points(course: Path) -> None:
    found = graded(course, lab_01.SLUG, "ada", right("ada"), puzzled("ada"))
    assert found.points["broken-a"] == found.points["broken-d"] == 1
    assert found.points == pytest.approx(lab_01.WORTH)
    assert not any(score.outcome for score in found.scores.values())


def test_broken_clusters_of_another_learner_are_noticed(course: Path) -> None:
    found = graded(course, lab_01.SLUG, "grace", right("ada"), puzzled("ada"))
    score = found.scores["broken-b"]
    assert score.points == 0
    assert "with another learner's personal code" in score.found
    assert "ada" not in score.found  # copies reports it to the instructor


def test_what_was_measured_without_a_word_counts_for_nothing(course: Path) -> None:
    plain = [as_handed_in(record) for record in lab_01.records()]
    found = graded(course, lab_01.SLUG, "linus", lab_01.RIGHT, plain)
    for name in ("broken-a", "a2-record", "idle-mbit"):
        assert found.points[name] == 0
        assert personal_code.FILE in found.scores[name].found
    # They may have been sealed before the word was there.
    assert found.points["predict-idle"] == 0.5


def seeded(record: Record, seed: int, launch: int = 0, program: str = "roundtrip") -> Record:
    """The Record with what a program printed of its seed."""
    about = Point({"about": True, "launch": launch}, facts={"program": program, "seed": seed})
    return replace(record, points=[*record.points, about])


def test_the_order_of_a_study_follows_from_the_word(course: Path) -> None:
    mine, record = own(course, "ada"), marked(lab_04.a7(), "ada")
    seed = personal_code.seed(own=mine.word)
    right = seeded(seeded(record, seed), seed + 2, launch=2)
    assert variants.findings(right, mine) == []
    # Of some programs the seed is published.
    assert variants.findings(seeded(right, 314159265, program="CG"), mine) == []
    silent = replace(record, program={**record.program, "name": "roundtrip.c"})
    (found,) = variants.findings(silent, mine)
    assert "lacks the line in which roundtrip.c prints the seed" in found.says
    for last, fine in ((seed + 2, True), (1, False), ("x", False)):
        started = {**right.program, "arguments": ["--passes", "3", "--seed", str(last)]}
        assert (variants.findings(replace(right, program=started), mine) == []) is fine
    for wrong in (seeded(record, 1), seeded(record, seed, launch=1), seeded(record, float("nan"))):
        (found,) = variants.findings(wrong, mine)
        assert "seed of its order does not follow" in found.says
    (found,) = variants.findings(replace(right, sweep={"seed": 1}), mine)
    assert found.kind == IMPOSSIBLE
    # An exercise draws its own.
    assert variants.findings(replace(seeded(record, 1), variant="own"), mine) == []


def test_what_counts_in_a_capture_names_it(course: Path) -> None:
    mine, record = own(course, "ada"), marked(lab_01.idle(), "ada")
    (found,) = variants.findings(replace(record, captures=[]), mine)
    assert "names no capture" in found.says
    named = replace(record, captures=[{"file": "A5.pcapng", "sha256": "0" * 64}])
    assert variants.findings(named, mine) == []


def test_the_models_time_is_asked_for_the_size_of_ones_own(course: Path) -> None:
    sizes = {name: personal_code.asked_bytes(personal_code.of(KEY, name)) for name in CLASS}
    one = "ada"
    other = next(name for name in CLASS if sizes[name] != sizes[one])
    records = [marked(record, one) for record in lab_04.records()]
    times = {name: lab_04.model_us(size) for name, size in sizes.items()}
    mine = graded(course, lab_04.SLUG, one, lab_04.RIGHT | {"model_time_us": times[one]}, records)
    assert mine.points["model-time"] == 1
    records = [marked(record, other) for record in lab_04.records()]
    theirs = graded(
        course, lab_04.SLUG, other, lab_04.RIGHT | {"model_time_us": times[one]}, records
    )
    assert theirs.points["model-time"] == 0


# ---------------------------------------------------------------- Records that the course gives


@pytest.fixture
def gifts(course: Path, tmp_path: Path) -> list[Record]:
    source = tmp_path / "measured"
    source.mkdir()
    for record in lab_01.records():
        as_handed_in(record, "the instructor").save_in(source)
    made = shared_records.prepare(course, lab_01.SLUG, source, "spring")
    return [Record.load(path) for path in made]


@pytest.mark.parametrize("labelled", [True, False])
def test_what_is_read_off_given_records_counts_and_measuring_does_not(
    course: Path, gifts: list[Record], labelled: bool
) -> None:
    (course / variants.WORDS).unlink()
    for record in gifts:
        assert record.cluster[shared_records.LABEL] == "spring"
        assert any("spring gave this Record" in said for said in record.warnings)
        if not labelled:
            del record.cluster[shared_records.LABEL]
            record.warnings = []
    found = graded(course, lab_01.SLUG, "ada", lab_01.RIGHT, gifts)
    assert found.points["a2-record"] == found.points["a5-record"] == 0
    assert "the course gave" in found.scores["a2-record"].found
    read_off = {name: points for name, points in found.points.items() if points}
    assert read_off == {n: of for n, of in lab_01.WORTH.items() if n not in lab_01.MEASURED}


def test_a_record_of_ones_own_beside_given_ones_counts_in_full(
    course: Path, gifts: list[Record]
) -> None:
    mine = [marked(lab_01.validation(), "ada"), marked(lab_01.idle(first_to_last_s=47.0), "ada")]
    mine[0].points[0].facts["processes"] = 7
    found = graded(course, lab_01.SLUG, "ada", lab_01.RIGHT, [*gifts, *mine])
    assert found.points["a2-record"] == found.points["a5-record"] == 1


def test_a_label_on_values_that_the_course_did_not_give_is_noticed(
    course: Path, gifts: list[Record]
) -> None:
    gifts[0].points[0].facts["hosts_first_line"] = "192.168.0.99 node99"
    known = shared_records.fingerprints_of(course)
    (found,) = shared_records.findings(gifts[0], known)
    assert "not those that the course gave" in found.says
    assert shared_records.findings(gifts[1], known) == []
