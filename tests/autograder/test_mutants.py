"""Is a notebook that was changed at random graded or refused with a sentence, and never for more than it earned?"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests import gold
from tests.gold import mutation, trial
from tests.gold.hand_in import file_name

MUTANTS = list(gold.mutants(2 * (len(mutation.OF_CELLS) + len(mutation.OF_TEXT)), seed=7))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.case.name}-{m.changes[0]}")
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


def test_a_seed_gives_the_same_mutants_again(tmp_path: Path) -> None:
    mutant = MUTANTS[0]
    mutant.case.write(tmp_path / "hand-in")
    content = (tmp_path / "hand-in" / file_name(mutant.case.slug)).read_bytes()
    assert mutant.changed(content) == mutant.changed(content) != content
    assert [each.changes for each in gold.mutants(50, 3)] == [
        each.changes for each in gold.mutants(50, 3)
    ]


def test_every_change_comes() -> None:
    names = {name for each in MUTANTS for name in each.changes}
    assert names == {*mutation.OF_CELLS, *mutation.OF_TEXT}
