"""Where things are: the checkout, its labs, its virtual environments, and the folder that remembers the cluster."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from beowulf.errors import LabError, UsageError


def root() -> Path:
    """The checkout that this package runs from."""
    return Path(__file__).resolve().parent.parent


def labs() -> dict[str, Path]:
    """Every lab that is there: its NN-slug and its folder."""
    return {folder.parent.name: folder.parent for folder in sorted(root().glob("labs/*/lab.toml"))}


def offered() -> dict[str, Path]:
    """The labs that this copy has a notebook of: what a class is given may leave some out."""
    notebooks = {path.parent.name for path in root().glob("notebooks/release/*/*.ipynb")}
    return {slug: folder for slug, folder in labs().items() if slug in notebooks}


def lab(name: str) -> Path:
    """The folder of a lab, by number (`1`, `01`) or by its whole NN-slug."""
    wanted = f"{int(name):02}" if name.isdigit() else name
    for slug, folder in labs().items():
        if wanted in (slug, slug.partition("-")[0]):
            return folder
    raise UsageError(f"There is no lab {name!r}.", f"There are: {', '.join(labs())}.")


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
            " which the files of ssh and PATH cannot hold.",
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
            f"MPICH cannot work in {prefix}, because there is {forbidden[0]!r} in that name.",
            "Move the checkout to a folder without it, then `make distclean lab`.",
        )
    return prefix


def native(name: str) -> Path:
    """A shared library that `make programs` builds from beowulf/native/."""
    return root() / "beowulf" / "native" / "build" / name
