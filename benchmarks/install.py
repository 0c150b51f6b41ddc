"""How long from a clean clone to MPI's hello on four nodes? Without cached Python packages, and with them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from benchmarks import commands
from benchmarks.result import Findings
from benchmarks.rows import Bar, Question
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import Side, interleave
from beowulf import doctor, paths
from beowulf.cluster import namespaces
from beowulf.errors import LabError
from beowulf.progress import Progress

TITLE = "From a clean clone to MPI's hello on four nodes"
ROUNDS = 3
FILLS_THE_CORES = True

COLD, WARM = "cold cache", "warm cache"
HELLO = "labs/01-validation/hello.c"
LONGEST_STEP_S = {
    "clone": 120.0,
    "bootstrap": 1800.0,
    "up": 60.0,
    "hello": 120.0,
}

NOTES = [
    "From `git clone` to hello's last line: clone from this checkout's folder, `cluster_setup/bootstrap.sh lab`, "
    "`beowulf up`, `beowulf run -n 4`. `beowulf down` comes after the measured time.",
    "Cold: the caches of pip and uv are empty folders, so every Python package comes over the network, and the figure "
    "holds for this machine's way to its package index. Warm: the caches that the cold run has filled; each warm run "
    "follows its cold one, so here the order is not drawn.",
    "The clone has what is committed, not what else was changed in the checkout.",
    "The Debian packages are already there on both sides, and so are the files that the kernel has in its cache.",
]


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Each round a cold install and, with what that one left in the caches, a warm one."""
    absent = [tool.name for tool in doctor.tools() if tool.group == "lab" and not tool.path]
    missing = f"{', '.join(absent)} must be there beforehand" if absent else ""
    questions = [
        Question("clean clone to hello, cold cache", COLD, bar=Bar(180.0), missing=missing),
        Question("clean clone to hello, warm cache", WARM, COLD, Bar(10.0), missing),
    ]
    if missing:
        return Findings(questions)
    kept_bytes: list[int] = []
    with scratch_folder() as folder:

        def one_round() -> Mapping[str, float]:
            seconds: dict[str, float] = {}
            for which in (COLD, WARM):
                seconds |= install(folder, which)
                if which == COLD:
                    kept_bytes.append(size_bytes(folder / "caches"))
            remove(folder / "caches")
            return seconds

        side: dict[str, Side] = {"a cold install, then a warm one": one_round}
        taken = interleave(side, rounds, seed, progress, warm_up=0)
    return Findings(
        questions,
        taken.samples,
        taken.busy_percent,
        taken.order,
        facts={"caches_after_a_cold_install_bytes": kept_bytes},
        notes=list(NOTES),
    )


def install(folder: Path, which: str) -> dict[str, float]:
    """One clone with all that follows; seconds in all, and of each step."""
    checkout, caches = folder / "checkout", folder / "caches"
    env = commands.environment(
        BEOWULF_STATE=str(folder / STATE),
        XDG_CACHE_HOME=str(caches),
        UV_CACHE_DIR=str(caches / "uv"),
        PIP_CACHE_DIR=str(caches / "pip"),
    )
    beowulf = str(checkout / ".venv" / "bin" / "beowulf")
    lines = {
        "clone": ["git", "clone", "--quiet", "--local", str(paths.root()), str(checkout)],
        "bootstrap": ["bash", "cluster_setup/bootstrap.sh", "lab"],
        "up": [beowulf, "up"],
        "hello": [beowulf, "run", "-n", "4", HELLO],
    }
    seconds: dict[str, float] = {}
    try:
        for step, command in lines.items():
            where = None if step == "clone" else checkout
            took_s, printed = commands.timed(
                command, env, folder=where, timeout_s=LONGEST_STEP_S[step]
            )
            seconds[f"{which}: {step}"] = took_s
        if printed.count(" of 4 on node") != 4:
            raise LabError(f"hello did not greet from four nodes but printed: {printed.strip()}")
        commands.timed([beowulf, "down"], env, folder=checkout)
    finally:
        namespaces.down(folder=folder / STATE)
        remove(checkout)
    return {which: sum(seconds.values())} | seconds


def size_bytes(folder: Path) -> int:
    """How much the files in a folder hold: the proof that a cold install has filled the caches."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def remove(folder: Path) -> None:
    """Remove one of our folders, if it exists."""
    shutil.rmtree(folder, ignore_errors=True)
