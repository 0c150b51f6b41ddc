"""Is a notebook that was changed at random graded or refused with a sentence, and never for more than it earned?"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from pathlib import Path

import nbformat
import pytest
from running import first

from tests import gold
from tests.gold import mutation, trial
from tests.gold.hand_in import answered, file_name, hand_in, released
from tests.gold.labs import LABS, wrong

MUTANTS = list(gold.mutants(2 * (len(mutation.OF_CELLS) + len(mutation.OF_TEXT)), seed=7))


@pytest.mark.parametrize(
    "mutant", first(12, MUTANTS), ids=lambda m: f"{m.case.name}-{m.changes[0]}"
)
def test_a_mutant_is_graded_or_refused_and_gains_nothing(
    mutant: gold.Mutant, tmp_path: Path
) -> None:
    mutant.write(tmp_path / "hand-in")
    found = trial.graded(mutant.case.slug, tmp_path / "hand-in")
    assert bool(found.problem) != bool(found.scores)
    for name, score in found.scores.items():
        assert score.found
        assert math.isfinite(score.points)
        assert 0 <= score.points <= mutant.case.points.get(name, 0) + 1e-9, name


SETS = 100


@pytest.mark.nightly
@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
def test_of_a_hundred_sets_of_wrong_answers_each_costs_its_own_questions_alone(
    lab: gold.labs.Gold, tmp_path: Path
) -> None:
    folder, file = tmp_path / "hand-in", file_name(lab.slug)

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
