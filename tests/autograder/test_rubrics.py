"""What every lab's rubric must do, whatever it asks: score each question once, say why, and say where to read."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import nbformat
import pytest
from marked import Marked, earned
from nbformat.v4 import new_notebook

from autograder import rubrics, sandbox
from autograder.rubrics import questions
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission
from beowulf import paths, predictions
from beowulf.course import lab_file
from beowulf.exercises.plot_reading import Wants
from tests.gold import trial
from tests.gold.hand_in import answered, file_name, hand_in, plain_answers, released
from tests.gold.labs import LABS, Gold, wrong

SLUGS = sorted(paths.labs())
of_each_lab = pytest.mark.parametrize("gold", LABS, ids=lambda gold: gold.slug)


def empty_hand_in(slug: str) -> dict[str, Score]:
    rubric = rubrics.find(slug)
    assert rubric is not None
    return rubric(Submission([], [], {}, {}, new_notebook()))


# Per lab: the questions that need no measurement.
WITHOUT_RECORDS = {
    "02": {"paper-tables"},
    "03": {"paper-hpl", "cable-bound"},
    "04": {"other-limit"},
    "05": {"who-progresses", "table-minima"},
    "06": {"smpp", "swapped"},
    "07": {"waiting-share"},
    "08": {"slips"},
    "09": {"lower-bound"},
}


def marked(slug: str) -> Marked:
    return Marked(import_module(f"tests.gold.lab_{slug[:2]}"))


def solutions(slug: str) -> list[Any]:
    cells = released(slug).cells
    return [cell for cell in cells if cell.metadata.get("nbgrader", {}).get("solution")]


@pytest.mark.parametrize("slug", SLUGS)
def test_a_rubric_scores_each_question_but_those_that_an_instructor_reads(slug: str) -> None:
    worth = {name: score.of for name, score in empty_hand_in(slug).items()}
    lab = {name: each.points for name, each in lab_file.read(slug).questions.items()}
    by_hand = {
        cell.metadata.nbgrader["grade_id"]
        for cell in solutions(slug)
        if cell.metadata.nbgrader.get("grade")
    }
    assert worth == {name: points for name, points in lab.items() if name not in by_hand}
    assert by_hand <= set(lab)
    assert set(worth) == set(questions.scorers(slug))


@pytest.mark.parametrize("slug", SLUGS)
def test_an_empty_hand_in_gets_nothing_and_each_question_says_why(slug: str) -> None:
    found = empty_hand_in(slug)
    assert {score.points for score in found.values()} == {0}
    missing = ("There is no", "was not sealed", "no answer", "No card in your Records")
    other = [score.found for score in found.values() if not any(m in score.found for m in missing)]
    assert not other


@pytest.mark.parametrize("slug", SLUGS)
def test_a_notebook_asks_of_each_plot_what_the_rubric_looks_for(slug: str) -> None:
    calls = [
        node
        for cell in released(slug).cells
        if cell.cell_type == "code" and "own_plot.Wants(" in cell.source
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "lab.own_plot.Wants"
    ]
    asked = [{str(each.arg): ast.literal_eval(each.value) for each in c.keywords} for c in calls]
    rubric = import_module(f"{rubrics.__name__}.{slug.replace('-', '_')}")
    wanted = [each for each in vars(rubric).values() if isinstance(each, Wants)]
    assert [Wants(**each) for each in asked] == wanted


@of_each_lab
def test_answers_without_records_earn_only_what_papers_and_handouts_tell(gold: Gold) -> None:
    found, known = earned(marked(gold.slug).scores([])), WITHOUT_RECORDS.get(gold.slug[:2], set())
    assert known <= found <= known | answered_by_a_value(gold.slug)


def answered_by_a_value(slug: str) -> set[str]:
    """The questions that the author's own notebook answers by plain values, whatever was measured."""
    plain = plain_answers(slug)
    return {
        cell.metadata["nbgrader"]["grade_id"].removesuffix("-answer")
        for cell in released(slug).cells
        if (names := re.findall(r"^(\w+) = None", cell.source, re.MULTILINE))
        and all(name in plain for name in names)
        and "nbgrader" in cell.metadata
    }


@of_each_lab
def test_the_records_of_exercises_are_not_taken_for_a_study(gold: Gold) -> None:
    lab, exercises = marked(gold.slug), [each for each in gold.records() if each.variant]
    for question in filter(re.compile(r"[a-z]\d+-record").fullmatch, gold.worth):
        assert lab.one(question, exercises).points == 0


@of_each_lab
def test_a_prediction_that_was_sealed_after_its_measurement_earns_nothing(gold: Gold) -> None:
    lab, later = marked(gold.slug), "2099-01-01T00:00:00.000Z"
    sealed = [each for each in gold.records() if each.study[0] == predictions.LETTER]
    late = lab.instead(*(replace(each, started=later, ended=later) for each in sealed))
    lost = {name: score.points for name, score in lab.scores(late).items()}
    lost = {name: left for name, left in lost.items() if left != gold.worth[name]}
    assert (len(lost), set(lost.values())) == (len(sealed), {0})


@of_each_lab
def test_a_record_that_was_cut_short_or_emptied_is_no_whole_one(gold: Gold) -> None:
    lab = marked(gold.slug)
    for whole in gold.records():
        question = f"{whole.study.lower()}-record"
        if whole.variant or question not in gold.worth:
            continue
        for other in (replace(whole, complete=False), replace(whole, points=[])):
            found = lab.one(question, lab.instead(other))
            # A cluster that is not whole is worth a third.
            assert found.points == (gold.worth[question] / 3 if whole.study == "A2" else 0)
            assert other.file_name in found.found


SETS = 100


@pytest.mark.nightly
@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
def test_of_a_hundred_sets_of_wrong_answers_each_costs_its_own_questions_alone(
    lab: Gold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, file = tmp_path / "hand-in", file_name(lab.slug)
    # The sets have the same sources, which lab 09 would simulate for each, some 8 s.
    simulated = cache(partial(sandbox._run, longest_s=sandbox.LONGEST_S))
    monkeypatch.setattr(sandbox, "_run", lambda source, _: simulated(source))

    def points(of: Iterable[str]) -> dict[str, float]:
        answers = {**lab.right, **{name: wrong(lab.right[name]) for name in of}}
        notebook = answered(released(lab.slug), answers)
        if folder.exists():
            nbformat.write(notebook, folder / file)
        else:
            hand_in(folder, notebook, lab.records(), Path(file).stem, student="someone")
        return trial.graded(lab.slug, folder, "someone").points

    full = points(())
    alone = {name: points([name]) for name in lab.right}
    draw = random.Random(lab.slug)
    for _ in range(SETS):
        chosen = draw.sample(sorted(alone), draw.randint(2, min(6, len(alone))))
        for question, found in points(chosen).items():
            costly = [alone[name][question] for name in chosen]
            assert found <= min(costly) + 1e-9, (question, chosen)
            if min(costly) == full[question]:
                assert found == pytest.approx(full[question]), (question, chosen)
    assert all(found != full for found in alone.values())
