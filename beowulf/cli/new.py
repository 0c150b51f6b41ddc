"""The commands that begin a lab or a study of an author's own (docs/authors.md)."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Begin a lab or a study of your own, as a package.")
Name = Annotated[
    str, typer.Argument(help="Its name, such as ring, or 30-ring for a lab with the number 30.")
]


@app.command()
def lab(name: Name) -> None:
    """Write a package with a lab: a study, a handout, points, a test, and a notebook with a question.

    Example: beowulf new lab ring
    """
    _write(name, lab=True)


@app.command()
def study(name: Name) -> None:
    """Write a package with a study: a program, a claim, the paper and a test.

    Example: beowulf new study ring
    """
    _write(name, lab=False)


def _write(name: str, *, lab: bool) -> None:
    from autograder.course import template
    from beowulf import paths

    made = template.write(name, paths.here(), lab=lab)
    what = f"lab {made.number} and study {made.letter}1" if lab else f"study {made.letter}1"
    print(f"{made.folder} has {what}. `beowulf` finds it once it is installed:")
    print(f"  pip install --no-build-isolation -e {made.folder.name}")
    print(f"Then: `beowulf study {made.letter}1 --quick`.")
