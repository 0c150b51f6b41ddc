"""How long does it take to set four PCs up, and what does our ssh cost? Against plain ssh to four nodes at once.

The PCs are namespaces, each with a root file system of its own, an overlay over this machine's (pcs.py).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from benchmarks import commands
from benchmarks.four_nodes import COMMANDS
from benchmarks.result import Findings
from benchmarks.rows import Bar, Question
from benchmarks.scratch_cluster import scratch_folder
from benchmarks.turns import Side, Taken, interleave
from beowulf import paths
from beowulf.errors import LabError
from beowulf.progress import Progress
from tests.simulated_pcs import Hall, hall

TITLE = "`beowulf setup` on four fresh PCs, and ssh.py against plain ssh"
ROUNDS = 20
SETUPS = 3
FILLS_THE_CORES = True

FIRST, SECOND = "beowulf setup, fresh PCs", "beowulf setup once more"
OURS, PLAIN = "a command on four nodes by ssh.py", "four plain ssh at once"
LONGEST_SETUP_S = 600.0


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Set fresh PCs up, twice each, some times; then commands on the last of them, in turns."""
    questions = [
        Question("four fresh PCs are set up", FIRST, bar=Bar(300.0)),
        Question("the second run, which changes nothing", SECOND, bar=Bar(60.0)),
        Question(
            "a command on four nodes, shared connections on both sides",
            OURS,
            PLAIN,
            Bar(1.1, "ratio", "at most 10 % more"),
        ),
    ]
    if os.geteuid() != 0:
        raise LabError("Making PCs with root file systems of their own needs root.")
    samples: dict[str, list[float]] = {FIRST: [], SECOND: []}
    taken: Taken | None = None
    for number in range(SETUPS):
        progress(number, SETUPS, FIRST)
        with scratch_folder() as folder, hall() as pcs:
            inventory = pcs.inventory(folder / "pcs.yml")
            env = commands.environment(BEOWULF_STATE=str(folder / "s"))
            for name in (FIRST, SECOND):
                command = [*pcs.enter, str(paths.python_bin() / "beowulf"), "setup", str(inventory)]
                seconds, _ = commands.timed(command, env, timeout_s=LONGEST_SETUP_S)
                samples[name].append(seconds)
            if number == SETUPS - 1:
                taken = _commands(pcs, inventory, env, rounds, seed, progress)
    assert taken
    samples |= taken.samples
    return Findings(questions, samples, taken.busy_percent, taken.order, notes=NOTES)


NOTES = [
    "Fresh PCs have all Debian packages already, as after an installation from a warm cache: what is timed is that the "
    "playbook finds them, and names, logins, programs and rights. Both runs are the whole command.",
    f"A sample is {COMMANDS} times `true` on all four nodes at once, over connections that are open. Our side is "
    "cluster.run() in a thread for each node; the plain side is a shell that starts four ssh and waits for them.",
    "All PCs and the machine that sets them up share the processors of this one.",
]


def _commands(
    pcs: Hall, inventory: Path, env: Mapping[str, str], rounds: int, seed: int, progress: Progress
) -> Taken:
    beowulf = [*pcs.enter, str(paths.python_bin() / "beowulf")]
    commands.timed([*beowulf, "up", "--target", str(inventory)], env)
    sides: dict[str, Side] = {}
    with ExitStack() as talks:
        for name, which in ((OURS, "ours"), (PLAIN, "plain")):
            command = [*pcs.enter, sys.executable, "-m", "benchmarks.four_nodes", which]
            program = talks.enter_context(commands.talking(command, env, "four_nodes.py"))
            program.hear()
            sides[name] = _side(name, program)
            assert program.process.stdin
            talks.callback(program.process.stdin.close)  # it ends when its input ends
        taken = interleave(sides, rounds, seed, progress)
    commands.timed([*beowulf, "down"], env)
    return taken


def _side(name: str, program: commands.Talk) -> Side:
    return lambda: {name: float(program.turn()[1]["seconds"])}
