"""A lab or a study of an author's own: a package, written from the one in examples/template (docs/authors.md)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from string import ascii_uppercase

from autograder.course import release
from beowulf import paths
from beowulf.errors import LabError, UsageError
from beowulf.studies import OF_EXERCISES

WANTED = re.compile("(?:([0-9]{2})-)?([a-z][a-z0-9]*(?:-[a-z0-9]+)*)")
OF_A_LAB = {"labs", "notebooks", "rubrics"}  # the folders that a package with a study alone has not
NOT_COPIED = {"__pycache__", "build", "dist"}


@dataclass(frozen=True)
class Begun:
    """A new package: where it is, the number of its lab, and the letter of its paper."""

    folder: Path
    number: str
    letter: str


def write(wanted: str, place: Path, *, lab: bool) -> Begun:
    """Write a package with a lab or with a study alone into a new folder of `place`.

    `wanted` is its name, with the number of the lab in front of it or without. Free is a number that no lab has, and a
    letter that no study has.
    """
    template = paths.root() / "examples" / "template"
    if not template.is_dir():
        raise LabError("This copy of the labs has no template.", "A clone of the project has one.")
    parts = WANTED.fullmatch(wanted)
    if not parts:
        raise UsageError(
            f"{wanted!r} cannot be the name of a package.",
            "Use small letters, digits and hyphens, for example ring; 30-ring gives the lab the number 30.",
        )
    taken = [name for package in paths.packages() for name in package.names()]
    free = (str(each) for each in range(10, 100) if f"lab {each}" not in taken)
    number, name = parts[1] or next(free), parts[2]
    if f"lab {number}" in taken:
        raise UsageError(f"There is a lab {number} already.", f"{next(free)} is free.")
    letters = {each.split()[1][0] for each in taken if each.startswith(("study", "paper"))}
    letter = next(each for each in ascii_uppercase if each not in letters | set(OF_EXERCISES))
    folder = place / name
    if folder.exists():
        raise LabError(f"{folder} exists already.", "Choose another name, or remove that folder.")

    def filled(text: str) -> str:
        text = text.replace("77-template", f"{number}-{name}")
        text = text.replace("beowulf-template", f"beowulf-{name}")
        text = re.sub(rf"(?<={paths.PROJECT}>=)[0-9.]+", version(paths.PROJECT), text)
        text = text.replace("template", name.replace("-", "_")).replace("77", number)
        text = text.replace("x1", f"{letter.lower()}1")
        return re.sub(r"\bX(?=1|-|\])", letter, text)

    for file in sorted(template.rglob("*")):
        inside = file.relative_to(template)
        left_out = NOT_COPIED if lab else NOT_COPIED | OF_A_LAB
        if file.is_file() and not left_out & set(inside.parts):
            copy = folder / filled(str(inside))
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(filled(file.read_text(encoding="utf-8")), encoding="utf-8")
    for source in folder.rglob("notebooks/source/*/*.py"):
        notebook = release.released(source.parent.name, source)
        notebook.parent.mkdir(parents=True)
        notebook.write_text(release.as_text(release.student_version(source)), encoding="utf-8")
    return Begun(folder, number, letter)
