"""Does each hand-in of the gold class get exactly its points, with its reason?"""

from __future__ import annotations

from pathlib import Path

import pytest
from small_class import expected, grade, hand_in, reached

from autograder.course.course import Course
from tests import gold
from tests.gold import trial

CASES = gold.hand_ins()
LEARNERS = [f"{lab.slug}: {case.name}" for lab in gold.LABS for case in lab.cases()]
# Of the broken, hostile and doubtful ones every third is in each run; lab 09's programs are simulated, which is slow.
OTHERS = [name for name in CASES if name not in LEARNERS]
SIMULATED = {f"09-prediction: {name}" for name in ("perfect", "average", "wrong")}
SLOW = SIMULATED.union(OTHERS[1::3], OTHERS[2::3])


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.nightly if name in SLOW else ()) for name in CASES],
)
def test_a_hand_in_gets_exactly_its_points_and_reasons(name: str, tmp_path: Path) -> None:
    case, folder = CASES[name], tmp_path / "hand-in"
    case.write(folder)
    found = trial.graded(case.slug, folder, "someone")
    if case.problem:
        assert case.problem in found.problem
        assert not found.scores
        return
    assert found.problem == ""
    assert set(case.points) <= set(found.points)
    assert found.points == pytest.approx(dict.fromkeys(found.points, 0.0) | dict(case.points))
    for question, said in case.said.items():
        score = found.scores[question]
        assert said in f"{score.found} {score.expected}"
    assert all(score.found for score in found.scores.values())


def test_grading_with_the_gradebook_gives_a_handful_of_them_the_same(
    class_of_guests: Course,
) -> None:
    names = ("perfect", "ends its process", "a wire of no machine", "truncated")
    names += ("edited tests", "outputs with points", "removed tests", "copied tests")
    chosen = {f"gold-{name.replace(' ', '-')}": CASES[f"01-validation: {name}"] for name in names}
    hand_in(class_of_guests, chosen)
    found = grade(class_of_guests, *chosen)
    for student, case in chosen.items():
        assert case.problem in found[student].problem
        assert bool(case.problem) == bool(found[student].problem)
        assert reached(found[student]) == expected(case)
