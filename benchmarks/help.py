"""How long does `beowulf --help` take? Against a Python of the same environment that does nothing."""

from __future__ import annotations

import sys

from benchmarks import commands
from benchmarks.result import Findings
from benchmarks.rows import Bar, Question
from benchmarks.turns import interleave
from beowulf import paths
from beowulf.progress import Progress

TITLE = "`beowulf --help` against a Python that does nothing"
ROUNDS = 30
FILLS_THE_CORES = False

OURS, OTHER = "beowulf --help", "python -c pass"


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Both in turns; the warm-up compiles what Python stores compiled."""
    env = commands.environment()
    beowulf = str(paths.python_bin() / "beowulf")
    commands_by_name = {OURS: [beowulf, "--help"], OTHER: [sys.executable, "-c", "pass"]}
    sides = {
        name: lambda name=name, line=line: {name: commands.timed(line, env)[0]}
        for name, line in commands_by_name.items()
    }
    taken = interleave(sides, rounds, seed, progress, warm_up=2)
    return Findings(
        [Question("`beowulf --help`", OURS, OTHER, Bar(0.3))],
        taken.samples,
        taken.busy_percent,
        taken.order,
        notes=[
            "Wall clock of the whole command, as a shell sees it; what it prints goes into a file.",
            "Files are in the page cache: after a cold start of the machine the first one takes longer.",
        ],
    )
