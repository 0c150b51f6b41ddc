"""MPI programs with the recorder in between, on this machine alone: no cluster is needed for what ranks do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest
from running import PATIENCE_S

from beowulf import mpi, paths
from beowulf.timeline import recording

HERE = Path(__file__).parent
Recorded = Callable[..., Path]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("programs")
    done: dict[str, Path] = {}

    def build(name: str) -> Path:
        if name not in done:
            if name == "recorder":
                done[name] = recording.recorder()
            else:
                done[name] = mpi.build(HERE / name, output=folder / Path(name).stem)
        return done[name]

    return build


@pytest.fixture(scope="session")
def record_into(built: Callable[[str], Path]) -> Recorded:
    """Run a program of this folder, or any words, with some ranks; the folder with their traces."""

    def run(
        folder: Path,
        program: str | list[str],
        ranks: int,
        *arguments: str,
        code: int | None = 0,
        environment: Mapping[str, str] | None = None,
    ) -> Path:
        folder.mkdir(exist_ok=True)
        words = [str(built(program))] if isinstance(program, str) else program
        preload = f"{paths.native('patient_poll.so')}:{built('recorder')}"
        done = subprocess.run(
            [
                str(Path(sys.executable).with_name("mpiexec")),
                *("-n", str(ranks), "-genv", "LD_PRELOAD", preload),
                *("-genv", "BEOWULF_TRACE", str(folder), "-genv", "BEOWULF_PATIENT", "always"),
                # By TCP, as between nodes.
                *("-genv", "MPIR_CVAR_NOLOCAL", "1"),
                *words,
                *arguments,
            ],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            env={**os.environ, **(environment or {})},
        )
        if code is not None:
            assert done.returncode == code, done.stdout + done.stderr
        return folder

    return run


@pytest.fixture
def record(record_into: Recorded, tmp_path: Path) -> Recorded:
    """The same, into a folder of the test's own."""
    return partial(record_into, tmp_path / "trace")


@pytest.fixture(scope="session")
def everything(record_into: Recorded, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Traces of everything.c by their number of ranks; who changes one takes a copy."""
    folder = tmp_path_factory.mktemp("everything")
    return {ranks: record_into(folder / str(ranks), "everything.c", ranks) for ranks in (2, 4)}
