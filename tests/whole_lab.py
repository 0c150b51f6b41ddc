"""A lab as its author works through it: the notebook with the reference answers is run to its end and graded."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from other_user import give
from running import Beowulf, Learner
from solutions import solve

from autograder.course import release
from autograder.evidence import variants
from beowulf import paths
from beowulf.course import personal_code
from beowulf.desk import jupyter
from tests import heat_solutions
from tests.gold import trial
from tests.gold.hand_in import answered, released

LONGEST_CELL_S = 3600
MOST_RUNS = 2
STUDENT = "ada"
ANSWERS = "answers-of-the-author.json"
# A figure, and a function that only the engines have, are no answers to be typed.
LAST = """
import json


def plain(name):
    try:
        return json.loads(json.dumps(globals().get(name), default=lambda value: value.item()))
    except (AttributeError, TypeError, ValueError):
        return None


with open({file!r}, "w") as file:
    json.dump({{name: plain(name) for name in {names!r}}}, file)
"""


@dataclass(frozen=True)
class Graded:
    """The points of one lab, how long it took, and how often it was run."""

    points: float
    of: float
    minutes: float
    runs: int
    lost: Mapping[str, str]  # the questions that did not get all their points, with the reason

    def __str__(self) -> str:
        again = f" ({self.runs} runs)" if self.runs > 1 else ""
        return f"{self.points:g} of {self.of:g}, {self.minutes:.1f} min{again}"


def with_codes(folder: Path) -> Path:
    """A course, in `folder`, that gave its one learner a personal code, as `beowulf class init` does by default."""
    folder.mkdir()
    (folder / variants.KEY).write_text("b3" * 32 + "\n")
    variants.issue(folder, [STUDENT])
    return folder


def worked_through(
    learner: Beowulf,
    slug: str,
    folder: Path,
    allowed: Collection[str] = (),
    course: Path | None = None,
) -> Graded:
    """Lay a lab out in `folder`, run its notebook on the learner's cluster, hand in and grade.

    With a `course`, it is done and graded under the personal code of its learner. Where a question that is not
    `allowed` to lose points does, everything is measured once more, as a learner would on a busy machine: an answer
    counts when it fits one of the Records.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEOWULF_WORK", str(folder))
        notebook = jupyter.lay_out(slug)
    own = variants.of(course, STUDENT)
    solve(notebook.parent, own.word if own else "")
    heat_solutions.write(notebook.parent.parent / "heat", int(slug[:2]))
    if own:
        (notebook.parent / personal_code.FILE).write_text(own.word)
    author = _with_answers_kept(release.instructor_version(release.sources()[slug]), slug)
    began = time.monotonic()
    runs = 0
    while runs < MOST_RUNS:
        runs += 1
        nbformat.write(author, notebook)
        # A question that the kind does not allow stays empty, and its cells say so.
        run(learner, notebook, *(["--allow-errors"] if allowed else []))
        minutes = (time.monotonic() - began) / 60
        answers: dict[str, Any] = json.loads((notebook.parent / ANSWERS).read_text())
        nbformat.write(answered(released(slug), answers), notebook)
        outcome = trial.graded(slug, notebook.parent, STUDENT, course)
        assert not outcome.problem, outcome.problem
        lost = {name: s for name, s in outcome.scores.items() if s.points < s.of}
        if set(lost) <= set(allowed):
            break
    return Graded(
        points=sum(score.points for score in outcome.scores.values()),
        of=sum(score.of for score in outcome.scores.values()),
        minutes=round(minutes, 1),
        runs=runs,
        lost={
            name: f"{score.points:g} of {score.of:g}: {score.found}; expected: {score.expected}"
            for name, score in lost.items()
            if name not in allowed
        },
    )


def _with_answers_kept(notebook: NotebookNode, slug: str) -> NotebookNode:
    """The notebook with a last cell that writes what its answers have come to into a file."""
    names = [
        line.partition(" = ")[0]
        for cell in released(slug).cells
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("solution")
        for line in cell.source.splitlines()
        if " = None" in line
    ]
    notebook.cells.append(new_code_cell(LAST.format(file=ANSWERS, names=names)))
    return notebook


def unanswered(learner: Learner, slug: str, folder: Path) -> tuple[trial.Outcome, NotebookNode]:
    """Run a lab as it is handed out, all cells, whatever they say: its points, and the notebook as it ran."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEOWULF_WORK", str(folder))
        notebook = jupyter.lay_out(slug)
    give(learner)
    run(learner, notebook, "--allow-errors")
    ran: NotebookNode = nbformat.read(notebook, as_version=4)
    return trial.graded(slug, notebook.parent), ran


def run(learner: Beowulf, notebook: Path, *options: str) -> None:
    """Run a notebook to its end, each cell in turn; what the first one that fails printed."""
    words = [str(paths.python_bin() / "jupyter-execute"), "--inplace", *options]
    words += [f"--timeout={LONGEST_CELL_S}", notebook.name]
    done = subprocess.run(
        [*learner.prefix, "env", "-C", str(notebook.parent), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=learner.environment,
    )
    assert done.returncode == 0, done.stdout[-6000:]
