"""What is wrong with functions of heat.py, found on this machine within seconds: with the checks of run_heat.py.

Three ranks talk over this machine's own loopback as they would over a network; no cluster is needed.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from beowulf import mpi, paths
from beowulf.errors import LabError
from beowulf.exercises.heat import program
from beowulf.exercises.heat.trial import Row, tried

RANKS = 3  # so that one of them has two neighbours
LONGEST_S, LIMIT_S = 60.0, 5.0
SMALL = ("--rows", "14", "--columns", "8")
TASKS = {2: ("steps", 1), 3: ("run", RANKS), 4: ("exchange", RANKS), 5: ("overlap", RANKS)}
WAYS = {
    2: {"loops": "step_loops", "numpy": "step_numpy"},
    3: {"run": "run"},
    4: {name.removeprefix("exchange_"): name for name in program.FUNCTIONS[4]},
    5: {"overlapped": "overlapped_step"},
}


def faults(lab: int, file: Path) -> dict[str, str]:
    """For each function that a lab asks for, what is wrong with it; empty texts for right ones.

    LabError when the file cannot be read, or no MPI program can be started here.
    """
    text = program.read(file)
    found = {name: program.function(text, name).why for name in program.FUNCTIONS[lab]}
    ways = {way: name for way, name in WAYS[lab].items() if not found[name]}
    if found.get("my_rows"):
        ways = {}
        found["run"] = found["run"] or "it was not tried, because my_rows is wrong"
    task, ranks = TASKS[lab]

    def start(left: Sequence[str]) -> list[Row]:
        return _start(file, ranks, [task, "--ways", ",".join(left), *SMALL])

    return found | tried(ways, start)


def _start(file: Path, ranks: int, words: Sequence[str]) -> list[Row]:
    run = program.ORIGINALS / program.RUN
    command = [str(_mpiexec()), "-n", str(ranks), str(paths.python_bin() / "python"), str(run)]
    command += [*words, "--heat", str(file.absolute()), "--limit", str(LIMIT_S)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=_environment(),
    )
    try:
        output, errors = process.communicate(timeout=LONGEST_S)
    except BaseException as problem:
        mpi.stop(process)
        if not isinstance(problem, subprocess.TimeoutExpired):
            raise
        raise LabError(f"The check of {file.name} did not end.", "Try again.") from None
    rows: list[Row] = [
        row for line in output.decode(errors="replace").splitlines() if (row := _row(line))
    ]
    if not any(row["kind"] in ("check", "end") for row in rows):
        last = (errors.decode(errors="replace").strip() or "it printed nothing").splitlines()[-1]
        raise LabError(f"{file.name} cannot be checked on this machine: {last}.")
    return rows


def _mpiexec() -> Path:
    for library in ("classic", "modern"):
        mpiexec = paths.mpi_prefix(library) / "bin" / "mpiexec"
        if mpiexec.exists():
            return mpiexec
    raise LabError("There is no mpiexec on this machine.", "`beowulf doctor --fix` installs MPI.")


def _environment() -> dict[str, str]:
    """As on a cluster's nodes: messages by TCP, and ranks that leave the cores to each other while they wait."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("HYDRA_")}
    library = _mpiexec().parent.parent / "lib" / "libmpi.so.12"
    patience = paths.native("patient_poll.so")
    preloaded = {"LD_PRELOAD": str(patience)} if patience.exists() else {}
    return {
        **ours,
        **preloaded,
        "BEOWULF_PATIENT": "always",
        "MPI4PY_LIBMPI": str(library),
        "MPIR_CVAR_NOLOCAL": "1",
        "FI_PROVIDER": "tcp",
        "HYDRA_LAUNCHER": "fork",
        # Else each rank asks for the address of this machine's name, which its /etc/hosts may not have.
        "HYDRA_IFACE": "lo",
    }


def _row(line: str) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and "kind" in row else None
