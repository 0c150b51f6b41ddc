"""Where things are: the checkout, its labs, its virtual environments, and the folder that remembers the cluster."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from beowulf.errors import LabError


def root() -> Path:
    """The checkout that this package runs from."""
    return Path(__file__).resolve().parent.parent


def labs() -> dict[str, Path]:
    """Every lab that is there: its NN-slug and its folder."""
    return {folder.parent.name: folder.parent for folder in sorted(root().glob("labs/*/lab.toml"))}


def lab(name: str) -> Path:
    """The folder of a lab, asked for by number (`1`, `01`) or by its whole NN-slug."""
    wanted = f"{int(name):02}" if name.isdigit() else name
    for slug, folder in labs().items():
        if wanted in (slug, slug.partition("-")[0]):
            return folder
    raise LabError(f"There is no lab {name!r}.", f"There are: {', '.join(labs())}.")


def work(slug: str) -> Path:
    """The folder in which a learner works on a lab: copies, never the originals."""
    return Path(os.environ.get("BEOWULF_WORK") or root() / "work") / slug


def state() -> Path:
    """The folder that remembers this user's cluster; `BEOWULF_STATE` chooses another."""
    if chosen := os.environ.get("BEOWULF_STATE"):
        return Path(chosen).absolute()
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "beowulf"


def python_bin() -> Path:
    """The folder with this virtual environment's own commands."""
    return Path(sys.executable).parent


def mpi_prefix(library: str) -> Path:
    """Where an MPI library is installed: `classic` in the virtual environment itself, `modern` in one of its own."""
    return Path(sys.prefix) if library == "classic" else root() / ".mpi" / "modern"


def native(name: str) -> Path:
    """A shared library that `make programs` builds from beowulf/native/."""
    return root() / "beowulf" / "native" / "build" / name
