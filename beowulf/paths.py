"""Where things are: the checkout, packages with labs, virtual environments, the folder that remembers the cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf.errors import LabError, UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PROJECT = "beowulf-labs"
GROUP = "beowulf.labs"  # of the entry points by which other packages bring labs


def root() -> Path:
    """The checkout that this package runs from."""
    return Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Package:
    """What brings labs, studies and papers: this project, or an author's own package (docs/authors.md)."""

    name: str
    folder: Path  # with labs/ and notebooks/
    module: str  # whose files x1_what_it_is.py are studies
    code: Path  # its folder
    rubrics: str  # a module for each lab
    papers: Path  # papers.toml and the tables

    @property
    def labs(self) -> dict[str, Path]:
        """Every lab: its NN-slug and its folder."""
        files = sorted(self.folder.glob("labs/*/lab.toml"))
        return {file.parent.name: file.parent for file in files}

    @property
    def notebooks(self) -> dict[str, Path]:
        """The notebook that a learner of each lab gets."""
        files = sorted(self.folder.glob("notebooks/release/*/*.ipynb"))
        return {file.parent.name: file for file in files}

    @property
    def studies(self) -> dict[str, Path]:
        """By ID, each study's file: `lab_05/d1_synchronisation.py` is study D1."""
        return _studies(self.code)

    @property
    def catalogue(self) -> dict[str, dict[str, Any]]:
        """The papers by their letters, and their tables."""
        return _catalogue(self.papers / "papers.toml")

    @contextmanager
    def importing(self) -> Iterator[None]:
        """Import a module of this package within: an error in another author's is a LabError that names its line."""
        try:
            yield
        except Exception as problem:
            if self.name == PROJECT or isinstance(problem, LabError):
                raise
            from traceback import extract_tb

            lines = [
                f"{each.filename}, line {each.lineno}"
                for each in extract_tb(problem.__traceback__)
                if Path(each.filename).is_relative_to(self.code)
            ]
            at = lines[-1] if lines else str(self.code)
            raise LabError(
                f"{at}: {type(problem).__name__}: {problem}.",
                f"This is in the package {self.name}: repair it there, or `pip uninstall {self.name}`.",
            ) from None

    def names(self) -> dict[str, Path]:
        """What no other package may have, each with the file that has it."""
        return {
            **{f"lab {slug[:2]}": folder for slug, folder in self.labs.items()},
            **{f"notebook {file.name}": file for file in self.notebooks.values()},
            **{f"study {study}": file for study, file in self.studies.items()},
            **{f"paper {each}": self.papers / "papers.toml" for each in self.catalogue["papers"]},
        }


@cache
def _studies(code: Path) -> dict[str, Path]:
    files = [*code.glob("[a-z][0-9]*_*.py"), *code.glob("lab_*/[a-z][0-9]*_*.py")]
    found = {file.name.partition("_")[0].upper(): file for file in files}
    order = sorted(found, key=lambda each: (found[each].parent.name, each[0], int(each[1:])))
    return {study: found[study] for study in order}


@cache
def _catalogue(file: Path) -> dict[str, dict[str, Any]]:
    import tomllib

    try:
        content = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    except tomllib.TOMLDecodeError as problem:
        raise LabError(f"{file} is not valid TOML: {problem}.") from None
    return {"papers": {}, "tables": {}} | content


def ours() -> Package:
    """What this project brings."""
    here = Path(__file__).resolve().parent
    return Package(
        PROJECT, root(), "beowulf.labs", here / "labs", "autograder.rubrics", here / "papers"
    )


def packages() -> Iterator[Package]:
    """This project, then the other packages: to look for these takes a moment, and few commands need them."""
    yield ours()
    yield from others()[0]


@cache
def others() -> tuple[list[Package], dict[str, str]]:
    """The packages of other authors that are installed, and of each that is left out a sentence why."""
    from importlib import metadata

    found: list[Package] = []
    left_out: dict[str, str] = {}
    for entry in sorted(metadata.entry_points(group=GROUP), key=lambda each: each.value):
        name = entry.dist.name if entry.dist else entry.value
        try:
            found.append(_other(name, entry, [ours(), *found]))
        except LabError as problem:
            left_out[name] = str(problem)
            print(f"beowulf: {problem}", file=sys.stderr)
    return found, left_out


def _other(name: str, entry: EntryPoint, known: list[Package]) -> Package:
    """The package behind an entry point; LabError where it is not there, or does not fit to those that are `known`."""
    from importlib.metadata import version
    from importlib.util import find_spec

    from packaging.requirements import Requirement

    spec = find_spec(entry.module)
    if spec is None or not spec.submodule_search_locations:
        raise LabError(
            f"The package {name} is left out: its module {entry.module} is not there.",
            f"Install it again, or run `pip uninstall {name}`.",
        )
    folder = Path(spec.submodule_search_locations[0]).resolve()
    for line in (entry.dist.requires if entry.dist else None) or ():
        needed, here = Requirement(line), version(PROJECT)
        if needed.name == PROJECT and here not in needed.specifier:
            raise LabError(
                f"{folder}: the package {name} is left out, because it needs {needed}, but this is version {here}.",
                f"Update {PROJECT}, or install a version of {name} that fits it.",
            )
    rubrics, papers = f"{entry.module}.rubrics", folder / "papers"
    package = Package(name, folder, entry.module, folder, rubrics, papers)
    names = package.names()
    for other in known:
        if both := [each for each in names if each in other.names()]:
            raise LabError(
                f"{names[both[0]]}: {other.name} has {both[0]} already, so the package {name} is left out.",
                f"Rename it there, or `pip uninstall {name}`.",
            )
    return package


def labs() -> dict[str, Path]:
    """Every lab that is there: its NN-slug and its folder."""
    return {slug: folder for package in packages() for slug, folder in package.labs.items()}


def notebooks() -> dict[str, Path]:
    """The notebook that a learner of each lab gets: what a class is given may leave some out."""
    return {slug: file for package in packages() for slug, file in package.notebooks.items()}


def offered() -> dict[str, Path]:
    """The labs that this copy has a notebook of."""
    there = notebooks()
    return {slug: folder for slug, folder in labs().items() if slug in there}


def package_of(slug: str) -> Package | None:
    """What brings a lab; None where there is no such lab."""
    return next((package for package in packages() if slug in package.labs), None)


def lab(name: str) -> Path:
    """The folder of a lab, by number (`1`, `01`) or by its whole NN-slug."""
    wanted = f"{int(name):02}" if name.isdigit() else name
    for package in packages():
        for slug, folder in package.labs.items():
            if wanted in (slug, slug.partition("-")[0]):
                return folder
    raise UsageError(f"There is no lab {name!r}.", f"The labs are: {', '.join(labs())}.")


def lab_of(folder: Path) -> str:
    """The NN-slug of the lab in whose folder this one lies; empty where none of the folders around it is a lab's."""
    known = labs()
    return next((part for part in reversed(folder.resolve().parts) if part in known), "")


def work(slug: str) -> Path:
    """The folder in which a learner works on a lab: copies, never the originals."""
    return Path(os.environ.get("BEOWULF_WORK") or root() / "work") / slug


def state() -> Path:
    """The folder that remembers this user's cluster; `BEOWULF_STATE` chooses another."""
    chosen, base = os.environ.get("BEOWULF_STATE"), os.environ.get("XDG_STATE_HOME")
    folder = Path(chosen or Path(base or Path.home() / ".local" / "state") / "beowulf")
    # The one true name: by it, any process finds the supervisor.
    folder = folder.resolve()
    if forbidden := [mark for mark in (":", "\n", "${") if mark in str(folder)]:
        raise LabError(
            f"The folder {folder} for the cluster's files has {forbidden[0]!r} in its name,"
            " which neither PATH nor ssh's files can contain.",
            "Set BEOWULF_STATE to a folder with another name.",
        )
    return folder


def here() -> Path:
    """The folder that we are in; LabError when it has been removed meanwhile."""
    try:
        return Path.cwd()
    except OSError as error:
        raise LabError(
            "The folder that you are in is gone.", "Go to another one with `cd`."
        ) from error


def python_bin() -> Path:
    """The folder with this virtual environment's own commands."""
    return Path(sys.executable).parent


def mpi_prefix(library: str) -> Path:
    """Where an MPI library is installed: `classic` in the virtual environment itself, `modern` in one of its own.

    LabError where the checkout's name has a mark that MPICH's own scripts do not quote.
    """
    prefix = Path(sys.prefix) if library == "classic" else root() / ".mpi" / "modern"
    if forbidden := [mark for mark in str(prefix) if mark.isspace() or mark in '"$`']:
        raise LabError(
            f"MPICH cannot work in {prefix}, because that path contains {forbidden[0]!r}.",
            "Move the checkout to a folder without it, then run `make distclean lab`.",
        )
    return prefix


def native(name: str) -> Path:
    """A shared library that `make programs` builds from beowulf/native/."""
    return root() / "beowulf" / "native" / "build" / name
