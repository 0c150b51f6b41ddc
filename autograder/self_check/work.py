"""A learner's work on one lab, as it lies in its folder: notebook, answers, Records."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from nbformat import NotebookNode

from autograder.cells import KnownCell, known_in, restored
from autograder.course import limits
from autograder.course.limits import Limits
from autograder.evidence.variants import Own
from autograder.intake import inspection
from autograder.intake.inspection import HandInError
from autograder.rubrics.submission import Submission
from beowulf import paths
from beowulf.course import lab_file, personal_code
from beowulf.course.lab_file import LabFile, QuestionTable, nearest
from beowulf.errors import LabError
from beowulf.this_machine.user import learner

LONGEST_SAVE_S = 2.0


@dataclass(frozen=True)
class Work:
    """One lab in a learner's folder."""

    slug: str
    folder: Path
    file: str  # the notebook's name
    released: Mapping[str, KnownCell]  # the cells of the released notebook that have names
    notebook: NotebookNode

    @property
    def number(self) -> str:
        """The lab as commands call it."""
        return self.slug.partition("-")[0]

    @cached_property
    def lab(self) -> LabFile:
        """The lab's questions, as the course asks them; those that this notebook has."""
        lab = lab_file.read(self.slug, self.course)
        asked = {name: each for name, each in lab.questions.items() if name in self.released}
        return replace(lab, questions=asked)

    @property
    def course(self) -> Path | None:
        """The folder with the course's file that counts here."""
        return limits.place_of(self.folder)

    @cached_property
    def limits(self) -> Limits:
        """How much may be said today."""
        return limits.of_lab(self.slug, self.folder)

    @cached_property
    def submission(self) -> Submission:
        """The hand-in that it would be now."""
        word = personal_code.word()
        own = Own(learner(), word, {personal_code.mark(word): learner()}) if word else None
        return Submission.read(self.folder, self.notebook, own=own)

    def question(self, name: str) -> QuestionTable:
        """A question by its name; LabError when the lab does not have it."""
        if name not in self.lab.questions:
            what = f"Lab {self.number} has no question {name!r}."
            raise LabError(what, nearest(name, self.lab.questions))
        return self.lab.questions[name]

    def cell(self, name: str) -> str | None:
        """The text of the learner's cell of this name; None when it is as it was released."""
        for cell in self.notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("grade_id") == name:
                source = str(cell.source)
                return source if source.strip() != self.released[name].source.strip() else None
        return None

    def written(self) -> dict[str, str]:
        """What the notebook's file assigns to the answers, by name, each in one spelling."""
        found = self.submission
        return {
            name: repr(found.answers[name]) for name in found.kinds if name in found.answers
        } | {
            name: found.unread_answers[name] for name in found.kinds if name in found.unread_answers
        }


def find(name: str, folder: Path | None = None) -> Work:
    """A lab by number or name, in `folder`, else here where its notebook is here, else in the folder for work.

    LabError when there is none, or no notebook that can be read.
    """
    slug = paths.lab(name).name
    original = paths.notebooks().get(slug)
    if original is None:
        raise LabError(f"Lab {slug} has no notebook.", "Perhaps your course leaves it out.")
    if folder is None:
        here = paths.here()
        folder = here if (here / original.name).is_file() else paths.work(slug)
    path = folder / original.name
    if not path.is_file():
        raise LabError(
            f"There is no notebook {original.name} in {folder}.",
            f"`beowulf lab {slug[:2]}` puts it there; or go into the folder that has yours.",
        )
    try:
        notebook = _read(path)
    except HandInError as fault:
        hint = "Open it in JupyterLab and save it, or begin with a fresh copy."
        raise LabError(fault.message, hint) from None
    cells = known_in(json.loads(original.read_text(encoding="utf-8"))["cells"])
    # As grading restores them.
    notebook.cells = restored(notebook.cells, cells)
    return Work(slug, folder, original.name, cells, notebook)


def _read(path: Path) -> NotebookNode:
    """The notebook as it was saved last; HandInError for one that cannot be read, and is not just being saved."""
    try:
        return inspection.read(path)
    except HandInError:
        # JupyterLab saves in place, and keeps the notebook of before beside it until the new one is whole.
        before, until = path.with_name(f".~{path.name}"), time.monotonic() + LONGEST_SAVE_S
        while before.exists() and time.monotonic() < until:
            time.sleep(0.05)
        return inspection.read(path)
