"""`python -m benchmarks [NAME]`: measure, print a table, keep the result in benchmarks/results/NAME.json.

A result is kept when a benchmark is through; Ctrl-C leaves the old one (but `full_studies` keeps each study).
"""

from __future__ import annotations

import argparse
import importlib
import secrets
import signal
import subprocess
import sys
import time
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.result import HEADINGS, Findings, answer, cells, save
from benchmarks.turns import noise
from beowulf import paths
from beowulf.errors import LabError
from beowulf.record import moment
from beowulf.this_machine import host_state
from beowulf.this_machine.progress import bar

# In this order: the last ones leave a load behind that would spoil what follows.
BENCHMARKS = ("recorder", "capture", "tuning", "hub", "studies", "deadline")
LONG = ("full_studies",)  # takes hours, so it runs by its name alone
# What the last one did still shows in the load and in the pressure, which look ten seconds back and more.
REST_S = 20.0


def main() -> int:
    """Run the chosen benchmarks; 0: all measured, 1: one failed."""
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument(
        "name", nargs="?", choices=BENCHMARKS + LONG, help="if left out, all but full_studies"
    )
    parser.add_argument("--rounds", type=int, help="how many; each benchmark has its own number")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32), help="draws the order")
    arguments = parser.parse_args()
    worst = 0
    for number, name in enumerate([arguments.name] if arguments.name else BENCHMARKS):
        time.sleep(REST_S if number else 0)
        try:
            result = measure(name, arguments.rounds, arguments.seed)
        except LabError as trouble:
            print(f"benchmarks: {name}: {trouble}", file=sys.stderr)
            worst = 1
            continue
        show(result)
        print(f"Kept in {save(result)}.\n")
    return worst


def measure(name: str, rounds: int | None, seed: int) -> dict[str, Any]:
    """Run one benchmark, and say what else the machine did meanwhile."""
    module = importlib.import_module(f"benchmarks.{name}")
    rounds = rounds or module.ROUNDS
    started, before = moment(), host_state.now()
    with bar(module.TITLE) as progress:
        findings: Findings = module.measure(rounds, seed, progress)
    noisy = noise(before, findings.busy_percent)
    return {
        "name": name,
        "title": module.TITLE,
        "started": started,
        "ended": moment(),
        "rounds": rounds,
        "seed": seed,
        "noise": noisy,
        "rows": [answer(each, findings.samples, seed) for each in findings.questions],
        "samples": findings.samples,
        "facts": findings.facts,
        "circumstances": {"before": before, "pauses_busy_percent": findings.busy_percent},
        "versions": {**host_state.versions(), "commit": commit()},
    }


def commit() -> str:
    """The commit of the checkout, marked when files differ from it."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(paths.root()), *arguments]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "-uno", "--", ".", ":!benchmarks/results")
    return git("rev-parse", "HEAD") + (" with changes" if changed else "")


def show(result: dict[str, Any]) -> None:
    """Print the table."""
    console = Console() if sys.stdout.isatty() else Console(width=160)
    table = Table(*HEADINGS, title=result["title"], title_justify="left")
    for row in result["rows"]:
        table.add_row(*cells(row))
    console.print(table, markup=False)
    if result["noise"]:
        print(f"The machine was noisy: {result['noise']}.")


if __name__ == "__main__":
    sys.exit(main())
