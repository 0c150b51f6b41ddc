"""Notebooks changed at random: is each graded, or refused with a sentence, and never for more than it earned?"""

from __future__ import annotations

import math
import shutil
import time
from pathlib import Path

from benchmarks.result import Findings
from benchmarks.rows import Bar, Question
from benchmarks.scratch_cluster import scratch_folder
from beowulf.progress import Progress
from tests import gold
from tests.gold import trial
from tests.gold.hand_in import file_name
from tests.gold.mutation import Mutant

TITLE = "1,000 notebooks changed at random"
ROUNDS = 1000  # mutants
FILLS_THE_CORES = True

ANSWERED = "graded, or refused with a sentence"
WHOLE = "without an error of the grader"
NO_MORE = "no points above what the unchanged hand-in gets"
TIME = "reading and scoring one of them"
# What a rubric writes for a question that it could not score; a changed notebook is no reason for that.
UNSCORED = "could not be scored"


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """A round is a mutant of the gold class, graded without a kernel."""
    samples: dict[str, list[float]] = {name: [] for name in (ANSWERED, WHOLE, NO_MORE, TIME)}
    failed: list[str] = []
    changes: dict[str, int] = {}
    with scratch_folder() as folder:
        for number, mutant in enumerate(gold.mutants(rounds, seed)):
            progress(number, rounds, mutant.case.slug)
            place = _laid_out(mutant, folder)
            began = time.perf_counter()
            answers = _graded(mutant, place)
            samples[TIME].append(time.perf_counter() - began)
            for name, well in answers.items():
                samples[name].append(float(well))
            if not all(answers.values()):
                failed.append(f"{mutant.case.slug}, {mutant.case.name}: {mutant.changes}")
            for change in mutant.changes:
                changes[change] = changes.get(change, 0) + 1
    bar = Bar(ROUNDS, "count", least=ROUNDS)
    return Findings(
        [
            *(Question(name, name, bar=bar, unit="trials") for name in (ANSWERED, WHOLE, NO_MORE)),
            Question(TIME, TIME),
        ],
        samples,
        facts={f"with {name}": count for name, count in sorted(changes.items())},
        notes=[
            "The hand-ins that are changed are those of the gold class: a perfect, an average, an empty and a"
            " wrong one of each lab. Nothing in a notebook is run: the points come from outside of its kernel.",
            *(f"Not as it should be: {each}" for each in failed[:20]),
        ],
    )


def _laid_out(mutant: Mutant, folder: Path) -> Path:
    """The hand-in with its changed notebook; its Records are written once for all its mutants."""
    case = mutant.case
    base, place = folder / f"{case.slug}-{case.name}", folder / "mutant"
    if not base.exists():
        case.write(base)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    (place / "records").symlink_to(base / "records")
    name = file_name(case.slug)
    (place / name).write_bytes(mutant.changed((base / name).read_bytes()))
    return place


def _graded(mutant: Mutant, place: Path) -> dict[str, bool]:
    """The checks of a mutant, each passed or not."""
    try:
        graded = trial.graded(mutant.case.slug, place)
    except Exception:  # whatever it is: this is what is looked for
        return {ANSWERED: False, WHOLE: False, NO_MORE: True}
    earned = mutant.case.points
    scores = graded.scores.items()
    return {
        ANSWERED: bool(graded.problem) != bool(graded.scores) and all(s.found for _, s in scores),
        WHOLE: not any(UNSCORED in score.found for _, score in scores),
        NO_MORE: all(
            math.isfinite(s.points) and 0 <= s.points <= earned.get(name, 0) + 1e-9
            for name, s in scores
        ),
    }
