"""The command that runs what others published: NPB, HPL, the HPC Challenge suite, and a search of sequences."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beowulf.cli.options import Wait
from beowulf.cli.running_measurement import report
from beowulf.errors import LabError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from beowulf.suites.hpcc_results import Results
    from beowulf.suites.npb import Run

HPL, HPCC, SEARCH = "hpl", "hpcc", "search"
HPL_RUNS = 3  # one solution alone says little
KEPT_NOWHERE = Path()  # a command shows what was measured; the studies A4, E3, E4 and E5 keep it
HOLDS = "`beowulf suite`"
WIDTH = 120  # of what is no terminal
NPB_WARNING = (
    "Mop/s are nominal: the operations that the specification counts, over the time; a program may do more or fewer. "
    "Paper A compares class A on its own cluster with class B on Grendel. These are other problems, of other sizes, so "
    "neither column says which cluster is the faster."
)
# The paper ran version 2.3; the sizes and constants here are those of 3.4, whose class W is another one.
OF_CLASS_W = (
    " Paper A ran NPB 2.3, whose class W has other sizes than this one, which is that of NPB 3.4."
)
PAPER_E = {
    HPL: "Paper E: N 37,326 on a grid of 15 x 16 ranks; tuning took 56 % of the time away.",
    HPCC: "Paper E: tuning took 29 % of the whole time away; what talks was impacted, what it calls local not greatly.",
    SEARCH: "Paper E: mpiBLAST took 11 % less time where the latency was 42 % lower.",
}


def suite(
    name: Annotated[
        str,
        typer.Argument(
            help="EP, IS, CG, MG, FT, LU, SP or BT; npb for all of these; hpl, hpcc, or search."
        ),
    ],
    ranks: Annotated[int, typer.Option("-n", help="How many nodes, a rank on each.")] = 4,
    letter: Annotated[
        str,
        typer.Option(
            "--class",
            help="NPB: how large the problem is: S (if left out), W, A, B or C.",
        ),
    ] = "",
    profile: Annotated[
        bool,
        typer.Option("--profile", help="NPB: print the share of time spent in MPI."),
    ] = False,
    size: Annotated[
        int, typer.Option(help="hpl and hpcc: the number of equations; 0: a small default.")
    ] = 0,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="hpl and hpcc: a small problem, and no bandwidth from b_eff."),
    ] = False,
    show: Annotated[
        bool,
        typer.Option("--show", help="hpl and hpcc: print the input file, and run nothing."),
    ] = False,
    timeout: Annotated[
        float, typer.Option(min=0, help="Stop a run after this many seconds; 0: never.")
    ] = 3600.0,
    wait: Wait = False,
) -> None:
    """Run a published benchmark: NPB, HPL, HPCC, or a search.

    NPB's results are printed with paper A's, and `hpl` solves a system of equations on all nodes. `hpcc` runs the seven
    benchmarks of the HPC Challenge; `search` looks for made-up DNA with BLAST, on one node and in parts on several.
    Each checks its results; a wrong one ends the command with exit code 1, after the figures.

    Example: beowulf suite MG --class W -n 4 --profile
    """
    from beowulf.suites.npb import BENCHMARKS

    word = name.lower()
    names = list(BENCHMARKS) if word == "npb" else [name.upper()]
    of_npb, of_hpl = names[0] in BENCHMARKS, word in (HPL, HPCC)
    if not of_npb and not of_hpl and word != SEARCH:
        known = ", ".join((*BENCHMARKS, "npb", HPL, HPCC, SEARCH))
        raise UsageError(f"There is no suite {name!r}.", f"There are: {known}.")
    for fits, whose, options in (
        (of_npb, "NPB", {"--class": letter, "--profile": profile}),
        (of_hpl, "hpl and hpcc", {"--size": size, "--quick": quick, "--show": show}),
    ):
        if wrong := [option for option, value in options.items() if value and not fits]:
            raise UsageError(
                f"`{wrong[0]}` is for {whose}.", "`beowulf suite -h` explains each option."
            )
    if of_npb:
        _npb(names, letter.upper() or "S", ranks, profile, timeout, wait)
    elif of_hpl:
        _hpcc(word, ranks, size, quick, show, timeout, wait)
    else:
        _search(ranks, timeout, wait)


def _npb(
    names: Sequence[str], letter: str, ranks: int, profiled: bool, timeout_s: float, wait: bool
) -> None:
    from rich.console import Console

    from beowulf import papers
    from beowulf.cluster import running
    from beowulf.measure.measurement import Measurement
    from beowulf.suites import npb
    from beowulf.this_machine.progress import bar

    cluster = running()
    names, skipped = npb.fitting(names, ranks)
    for sentence in skipped:
        report(sentence)
    npb.refuse(cluster, names, letter, ranks)
    runs: list[Run] = []
    trouble: LabError | None = None
    with (
        cluster.holding(HOLDS, wait=wait, report=report),
        bar("NAS Parallel Benchmarks") as progress,
        Measurement("NPB", cluster, KEPT_NOWHERE, launches=len(names)) as session,
    ):
        for number, each in enumerate(names):
            progress(number, len(names), f"{each} class {letter}, {ranks} ranks")
            try:
                how: dict[str, Any] = {"profiled": profiled, "timeout_s": timeout_s}
                runs.append(npb.run(session, each, letter, ranks, **how))
            except LabError as error:
                trouble = error
                break
    if runs:
        console = Console(width=None if Console().is_terminal else WIDTH)
        console.print(_npb_table(runs))
        for done in runs:
            if done.profile:
                console.print(f"\n{done.name}", markup=False)
                console.print(done.profile)
        console.print(f"\n{npb_warning(letter)}", markup=False)
        console.print(f"Published: {papers.table('A-table-5').attrs['source']}", markup=False)
    if trouble:
        raise trouble


def npb_warning(letter: str) -> str:
    """What to consider when runs of a class are compared with paper A's figures."""
    return NPB_WARNING + (OF_CLASS_W if letter == "W" else "")


def _npb_table(runs: Sequence[Run]) -> Table:
    from rich.table import Table

    from beowulf.labs.lab_03.parallel_tables import GRENDEL, PAPER, published

    paper = published()
    table = Table("benchmark", "class")
    in_mpi = ["in MPI"] if runs[0].profile else []
    for head in ("ranks", "seconds", "Mop/s", *in_mpi):
        table.add_column(head, justify="right")
    table.add_column("verified")
    for head in (PAPER, GRENDEL):
        table.add_column(head, justify="right")
    for each in runs:
        cells = [each.name, each.letter, str(each.ranks)]
        cells += [f"{each.seconds:.3g}", f"{each.mops:,.1f}"]
        cells += [f"{each.profile.share:.0%}"] if each.profile else []
        cells += [f"yes, {len(each.checks)} check{'s' if len(each.checks) != 1 else ''}"]
        values = paper.get(each.name, (math.nan, math.nan))
        table.add_row(*cells, *("–" if math.isnan(value) else f"{value:g}" for value in values))
    return table


def _hpcc(
    name: str, ranks: int, size: int, quick: bool, show: bool, timeout_s: float, wait: bool
) -> None:
    from beowulf.cluster import running
    from beowulf.measure.machine_queue import joined
    from beowulf.suites import hpcc
    from beowulf.suites import hpl as problems
    from beowulf.this_machine.progress import bar

    cluster, alone = running(), name == HPL
    problem = problems.choose(cluster, ranks, size=size, quick=quick, runs=HPL_RUNS if alone else 1)
    if show:
        print(problem.text, end="")
        return
    print(
        f"N {problem.n:,} in blocks of {problem.nb} on a grid of {problem.p} x {problem.q} ranks:"
        f" {problem.matrix_bytes / 1024**2:,.1f} MiB. `--show` prints the whole input."
    )
    with (
        cluster.holding(HOLDS, wait=wait, report=report),
        joined(cluster, report) as warnings,
        bar(name) as progress,
    ):
        for warning in warnings:
            report(warning)
        results, seconds = hpcc.run(
            cluster, problem, brief=alone or quick, timeout_s=timeout_s, report=progress
        )
    print(f"hpcc took {seconds:.0f} s in all.\n")
    print("\n".join(_solutions(results, problem.ranks) if alone else figure_lines(results)))
    blas = hpcc.machine(cluster, list(cluster.nodes[: problem.ranks])).blas
    more = ""
    if problems.plain(blas):
        more = "; `sudo apt-get install libopenblas0-serial` brings one made for this processor"
    print(f"Matrices are multiplied by {blas}{more}.")
    print(PAPER_E[name])
    if results.failures:
        raise LabError(f"A check has failed. {'; '.join(results.failures)}.")


def _solutions(results: Results, ranks: int) -> list[str]:
    lines = [f"{'solution':>8}  {'seconds':>8}  {'Gflop/s':>8}  {'residual':>9}  check"]
    lines += [
        f"{number:>8}  {each.seconds:>8.2f}  {each.gflops:>8.3f}  {each.residual:>9.2e}"
        f"  {'passed' if each.passed else 'FAILED'}"
        for number, each in enumerate(results.solutions, 1)
    ]
    multiplied = results.figures["dgemm_gflops"] * ranks
    share = results.figures["hpl_gflops"] / multiplied
    return [
        *lines,
        f"\nThe best is {share:.1%} of {multiplied:.3g} Gflop/s, at which the {ranks} ranks"
        " multiply matrices when nobody talks (DGEMM).",
    ]


def figure_lines(results: Results) -> list[str]:
    """A line for each result of hpcc: its test, the figure or why there is none, and what it is; and what took long."""
    from beowulf.suites.hpcc_results import RESULTS

    lines = []
    for each in RESULTS:
        value = results.figures.get(each.key)
        figure = "not measured" if value is None else f"{value:.4g} {each.unit}"
        why = f" ({results.left_out[each.key]})" if each.key in results.left_out else ""
        lines.append(f"{each.test:<13} {figure:<24} {each.what}{why}")
    longest = sorted(results.sections.items(), key=lambda part: -part[1])[:3]
    times = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in longest)
    return [*lines, f"\nLongest: {times}."]


def _search(parts: int, timeout_s: float, wait: bool) -> None:
    from beowulf.cluster import running
    from beowulf.measure.measurement import Measurement, need_a_node_each
    from beowulf.suites import blast
    from beowulf.suites.sequences import Collection
    from beowulf.this_machine.progress import bar

    cluster = running()
    if parts < 1:
        raise UsageError(f"A database has at least 1 part, not {parts}.")
    need_a_node_each(cluster, parts)
    counts = sorted({1, parts})
    with (
        cluster.holding(HOLDS, wait=wait, report=report),
        bar(SEARCH) as progress,
        blast.files(Collection()) as (database, queries),
        Measurement(
            "E5", cluster, KEPT_NOWHERE, progress=progress, launches=len(counts)
        ) as session,
    ):
        results = [
            blast.run(session, database, queries, count, timeout_s=timeout_s) for count in counts
        ]
    if not session.complete:
        raise LabError(session.warnings[-1])
    print("parts  " + "".join(f"{step:>9}" for step in blast.STEPS) + "   hits")
    for each in results:
        seconds = "".join(f"{each.seconds[step]:>7.2f} s" for step in blast.STEPS)
        print(f"{each.parts:>5}  {seconds}  {each.hits:>5}")
    if any(each.digest != results[0].digest for each in results):
        raise LabError("The parts do not find what a search of the whole database finds.")
    if len(results) > 1:
        faster = results[0].seconds["total"] / results[-1].seconds["total"]
        print(f"\n{parts} parts find the same as the whole, {faster:.2f} times as fast.")
    print(PAPER_E[SEARCH])
