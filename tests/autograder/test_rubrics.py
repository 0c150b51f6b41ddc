"""What every lab's rubric must do, whatever it asks: score each question once, say why, and say where to read."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from typing import Any

import pytest
from nbformat.v4 import new_notebook

from autograder import rubrics
from autograder.course import release
from autograder.rubrics import questions
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission
from beowulf import lab_file, paths
from beowulf.exercises.own_plot import Wants
from tests.gold.hand_in import answered
from tests.gold.labs import LABS, Gold

SLUGS = sorted(paths.labs())


def empty_hand_in(slug: str) -> dict[str, Score]:
    rubric = rubrics.find(slug)
    assert rubric is not None
    return rubric(Submission([], [], {}, {}, new_notebook()))


def solutions(slug: str) -> list[Any]:
    notebook = release.student_version(release.sources()[slug])
    return [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("solution")]


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


@pytest.mark.parametrize("gold", LABS, ids=lambda gold: gold.slug)
def test_a_notebook_asks_for_every_name_that_the_rubric_reads(gold: Gold) -> None:
    notebook = answered(release.student_version(release.sources()[gold.slug]), dict(gold.right))
    found = Submission.read(paths.root() / "nothing-here", notebook).answers
    assert {name: found.get(name) for name in gold.right} == gold.right


@pytest.mark.parametrize("gold", LABS, ids=lambda gold: gold.slug)
def test_a_whole_hand_in_gets_every_point(gold: Gold) -> None:
    rubric = rubrics.find(gold.slug)
    assert rubric is not None
    found = rubric(Submission(gold.records(), [], dict(gold.right), {}, new_notebook()))
    assert {name: score.points for name, score in found.items()} == gold.worth


@pytest.mark.parametrize("slug", SLUGS)
def test_an_empty_hand_in_gets_nothing_and_each_question_says_why(slug: str) -> None:
    found = empty_hand_in(slug)
    assert {score.points for score in found.values()} == {0}
    missing = ("There is no", "was not sealed", "no answer", "No card in your Records")
    other = [score.found for score in found.values() if not any(m in score.found for m in missing)]
    assert not other


@pytest.mark.parametrize("slug", SLUGS)
def test_a_notebook_asks_of_each_plot_what_the_rubric_looks_for(slug: str) -> None:
    notebook = release.student_version(release.sources()[slug])
    calls = [
        node
        for cell in notebook.cells
        if cell.cell_type == "code" and "own_plot.Wants(" in cell.source
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "own_plot.Wants"
    ]
    asked = [{str(each.arg): ast.literal_eval(each.value) for each in c.keywords} for c in calls]
    rubric = import_module(f"{rubrics.__name__}.{slug.replace('-', '_')}")
    wanted = [each for each in vars(rubric).values() if isinstance(each, Wants)]
    assert [Wants(**each) for each in asked] == wanted


@pytest.mark.parametrize("slug", SLUGS)
def test_a_lost_point_sends_the_learner_to_a_section_that_the_handout_has(slug: str) -> None:
    for score in empty_hand_in(slug).values():
        handout, _, heading = score.read.partition(", ")
        text = (paths.root() / handout).read_text()
        assert re.search(rf"^## .*{re.escape(heading)}$", text, re.MULTILINE), score.read
