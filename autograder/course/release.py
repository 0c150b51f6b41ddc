"""From the notebook that an author edits to a learner's: `python -m autograder.course.release`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbformat import NotebookNode
from traitlets.config import Config

from autograder.cells import identify, node
from autograder.course import points_in_texts
from autograder.rubrics import questions
from beowulf import paths
from beowulf.errors import LabError

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
PLAIN_MARKS = {"grade": False, "solution": False, "locked": False, "task": False}
SCHEMA_VERSION = 3
AGAIN = "Run `python -m autograder.course.release` and commit what it writes."


# A stub that raises would stop a learner's "Run all", and the points do not come from it.
CODE_STUB = "# YOUR ANSWER HERE"
TEXT_STUB = "YOUR ANSWER HERE"


def set_stubs(c: Any) -> None:
    """Tell nbgrader's configuration `c` what a learner gets in place of an answer."""
    c.ClearSolutions.code_stub = {"python": CODE_STUB}
    c.ClearSolutions.text_stub = TEXT_STUB


def companions(slug: str) -> list[Path]:
    """The files of a lab that go to a learner beside the notebook: its handout and programs."""
    folder = paths.labs().get(slug)
    files = sorted(folder.iterdir()) if folder else []
    return [file for file in files if file.is_file() and file.suffix in {".c", ".h", ".py", ".md"}]


def sources() -> dict[str, Path]:
    """The source of every lab's notebook: its NN-slug and the file."""
    folders = [package.folder for package in paths.packages()]
    files = [file for each in folders for file in sorted(each.glob("notebooks/source/*/*.py"))]
    return {file.parent.name: file for file in files}


def pages() -> list[Path]:
    """The sources of notebooks without questions, which belong to no lab."""
    return sorted(_notebooks().glob("source/*.py"))


def released(slug: str, source: Path) -> Path:
    """Where a learner finds the notebook that is built from `source`."""
    return source.parents[2] / "release" / slug / source.with_suffix(".ipynb").name


def _notebooks() -> Path:
    return paths.root() / "notebooks"


def instructor_version(source: Path) -> NotebookNode:
    """The notebook in the text `source`, with answers and hidden tests."""
    notebook: NotebookNode = jupytext.reads(source.read_text(encoding="utf-8"), fmt="py:percent")
    # What every learner gets: no pairing with a text file, no trace of the author's machine.
    notebook.metadata = node({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    for cell in notebook.cells:
        if marks := cell.metadata.get("nbgrader"):
            for name, usual in (PLAIN_MARKS | {"schema_version": SCHEMA_VERSION}).items():
                marks.setdefault(name, usual)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    identify(notebook)
    return notebook


def student_version(source: Path) -> NotebookNode:
    """The notebook in `source` as a learner gets it, by nbgrader's steps without its database."""
    from nbgrader import preprocessors as steps

    c = Config()
    set_stubs(c)
    notebook = instructor_version(source)
    for step in (
        steps.LockCells,
        steps.ClearSolutions,
        steps.ClearOutput,
        steps.CheckCellMetadata,
        steps.ComputeChecksums,
        steps.ClearHiddenTests,
        steps.ClearMarkScheme,
        steps.ComputeChecksums,
        steps.CheckCellMetadata,
    ):
        try:
            notebook, _ = step(config=c).preprocess(notebook, {})
        except Exception as problem:
            # nbgrader hides what is wrong with the metadata behind a general sentence.
            reason = (str(problem.__context__ or problem).splitlines() or [""])[0].rstrip(".")
            raise LabError(f"{source}: {step.__name__} refuses it: {reason}.") from None
    return notebook


def as_text(notebook: NotebookNode) -> str:
    """A notebook as nbformat writes it, with a line end at the end."""
    write: Callable[..., str] = nbformat.writes
    text = write(notebook)
    return text.rstrip("\n") + "\n"


def build(check: bool = False) -> list[str]:
    """Write the released notebooks and what texts say of points, or with `check` compare; what differs, in sentences.

    LabError when a source is wrong, or a lab.toml that contradicts it.
    """
    messages: list[str] = []
    wanted: dict[Path, str] = {}
    for slug, source in sources().items():
        notebook = instructor_version(source)
        questions.check(slug, [cell.metadata.get("nbgrader", {}) for cell in notebook.cells])
    _put(points_in_texts.texts(sources()), check, messages)
    for slug, source in sources().items():
        wanted[released(slug, source)] = as_text(student_version(source))
    for source in pages():
        path = _notebooks() / "release" / source.with_suffix(".ipynb").name
        wanted[path] = as_text(instructor_version(source))
    _put(wanted, check, messages)
    folders = [package.folder for package in paths.packages()]
    for path in (file for each in folders for file in each.glob("notebooks/release/*/*.ipynb")):
        if path not in wanted:
            messages.append(f"{_name(path)} has no source.")
    return messages


def _put(wanted: Mapping[Path, str], check: bool, messages: list[str]) -> None:
    """Write these files where they differ, or only say which do."""
    for path, text in wanted.items():
        there = path.read_text(encoding="utf-8") if path.exists() else None
        if there == text:
            continue
        name = _name(path)
        if check:
            messages.append(
                f"{name} is not {'there' if there is None else 'what its source gives'}."
            )
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        messages.append(f"{name} is written.")


def _name(path: Path) -> Path:
    return path.relative_to(paths.root()) if path.is_relative_to(paths.root()) else path


def main(arguments: list[str] | None = None) -> int:
    """Build or check the released notebooks; 1 when one differs or a source is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m autograder.course.release", description=__doc__
    )
    parser.add_argument("--check", action="store_true", help="only compare with what is there")
    check = parser.parse_args(arguments).check
    try:
        messages = build(check)
    except LabError as problem:
        print(problem, file=sys.stderr)
        return 1
    print("\n".join(messages) or "The released notebooks are what their sources give.")
    if check and messages:
        print(AGAIN, file=sys.stderr)
    return 1 if check and messages else 0


if __name__ == "__main__":
    sys.exit(main())
