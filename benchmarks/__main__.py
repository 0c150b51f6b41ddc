"""`python -m benchmarks [NAME]`: measure, print a table, save it under benchmarks/results."""

from __future__ import annotations

import argparse
import importlib
import secrets
import signal
import sys
import time
from pathlib import Path
from types import FrameType, ModuleType

from rich.console import Console
from rich.table import Table

from benchmarks.checkout import commit
from benchmarks.result import Result
from benchmarks.rows import HEADINGS, answer, cells
from benchmarks.turns import noise
from beowulf import host_state
from beowulf.errors import LabError, UsageError
from beowulf.progress import bar
from beowulf.record import moment

RESULTS = Path(__file__).with_name("results")
# In this order: the last one leaves a load behind that would spoil what follows.
BENCHMARKS = (
    "help",
    "up_down",
    "roundtrip",
    "saturation",
    "c_vs_python",
    "node_bench",
    "capture",
    "machines",
    "patience",
    "recorder",
    "tuning",
    "studies",
    "mutants",
    "grading",
    "hub",
    "deadline",
    "install",
    "npb",
    "allreduce",
)
# These take hours, so they run by their names alone.
LONG = ("full_studies",)
# What the last one did still shows in the load and in the pressure, which look ten seconds back and more.
REST_S = 20.0
EPILOG = (
    "A result is written when a benchmark is through; Ctrl-C leaves the old one, and the machine as it was. "
    "full_studies writes what it has by then."
)


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen benchmarks; 0: all measured, 1: one failed, 2: the arguments are wrong."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    try:
        return _run(_read(arguments))
    except LabError as trouble:
        print(f"benchmarks: {trouble}", file=sys.stderr)
        return trouble.exit_code
    except KeyboardInterrupt:
        print("benchmarks: stopped; no result is written.", file=sys.stderr)
        return 1


def _read(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__, epilog=EPILOG)
    parser.add_argument(
        "name", nargs="?", default="", help="one benchmark; if left out, all but the long ones"
    )
    parser.add_argument("--list", action="store_true", help="list the benchmarks")
    parser.add_argument("--rounds", type=int, help="how many; each benchmark has its own number")
    parser.add_argument(
        "--seed", type=int, help="draws the order and the intervals; saved in the result"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder for the results")
    return parser.parse_args(arguments)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.list:
        for name in (*BENCHMARKS, *LONG):
            module = find(name)
            hours = "; hours, by its name alone" if name in LONG else ""
            print(f"{name:<12} {module.TITLE} ({module.ROUNDS} rounds{hours})")
        return 0
    if arguments.rounds is not None and arguments.rounds < 1:
        raise UsageError(f"It takes at least 1 round, not {arguments.rounds}.")
    names = [chosen(arguments.name)] if arguments.name else list(BENCHMARKS)
    worst = 0
    for number, name in enumerate(names):
        if number:
            time.sleep(REST_S)
        try:
            result = measure(name, arguments.rounds, arguments.seed)
            files = result.save(arguments.results)
        except LabError as trouble:
            print(f"benchmarks: {name}: {trouble}", file=sys.stderr)
            worst = 1
            continue
        show(result)
        print(f"Saved in {' and '.join(str(path) for path in files)}.\n")
    return worst


def chosen(name: str) -> str:
    """The benchmark of this name; the beginning of the name is enough where only one begins so."""
    names = (*BENCHMARKS, *LONG)
    matching = [each for each in names if each.startswith(name)]
    if len(matching) != 1:
        raise UsageError(f"There is no benchmark {name!r}.", f"There are: {', '.join(names)}.")
    return matching[0]


def find(name: str) -> ModuleType:
    """The file of a benchmark: TITLE, ROUNDS, FILLS_THE_CORES and measure()."""
    return importlib.import_module(f"benchmarks.{name}")


def measure(name: str, rounds: int | None = None, seed: int | None = None) -> Result:
    """Run one benchmark and judge its rows by what the machine did meanwhile."""
    module = find(name)
    rounds = rounds or module.ROUNDS
    seed = secrets.randbits(32) if seed is None else seed
    started, before = moment(), host_state.now()
    with bar(module.TITLE) as progress:
        findings = module.measure(rounds, seed, progress)
    after, ended = host_state.now(), moment()
    noisy = noise(before, after, findings.busy_percent, fills_the_cores=module.FILLS_THE_CORES)
    return Result(
        name=name,
        title=module.TITLE,
        started=started,
        ended=ended,
        rounds=rounds,
        seed=seed,
        noise=noisy,
        rows=[answer(question, findings.samples, noisy, seed) for question in findings.questions],
        samples_s=findings.samples,
        order=findings.order,
        raw_samples_s=findings.raw,
        facts=findings.facts,
        notes=findings.notes,
        circumstances={
            "before": before,
            "after": after,
            "pauses_busy_percent": findings.busy_percent,
        },
        versions={**host_state.versions(), "commit": commit()},
    )


def show(result: Result) -> None:
    """Print the table."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    table = Table(*HEADINGS, title=result.title, title_justify="left")
    for row in result.rows:
        table.add_row(*cells(row))
    console.print(table, markup=False)
    if result.noise:
        print(f"The machine was noisy: {result.noise}.")


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
