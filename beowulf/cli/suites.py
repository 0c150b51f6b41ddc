"""The commands that run what others published: HPL, the HPC Challenge suite, and a search of sequences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beowulf.cli.way import Wait, report

if TYPE_CHECKING:
    from beowulf.suites.hpcc_results import Results
    from beowulf.suites.problem import Problem

PANEL = "Programs and studies"
KEPT_NOWHERE = Path()  # a command shows what a search took; study E5 keeps it
Ranks = Annotated[int, typer.Option("-n", help="How many nodes, a rank on each.")]
Size = Annotated[int, typer.Option("--size", help="How many equations HPL solves.")]
Memory = Annotated[
    float, typer.Option("--memory", help="Size it to this share of the free memory instead.")
]
Show = Annotated[
    bool, typer.Option("--show", help="Print the input file that is made, and run nothing.")
]
Timeout = Annotated[float, typer.Option(min=0, help="Stop it after this many seconds; 0: never.")]


def add_to(app: typer.Typer) -> None:
    """Put this file's commands into `app`."""
    app.command(rich_help_panel=PANEL)(hpl)
    app.command(rich_help_panel=PANEL)(hpcc)
    app.command(rich_help_panel=PANEL)(search)


def hpl(
    ranks: Ranks = 4,
    size: Size = 0,
    memory: Memory = 0.0,
    runs: Annotated[int, typer.Option("--runs", help="How often it is solved.")] = 3,
    show: Show = False,
    timeout: Timeout = 3600.0,
    wait: Wait = False,
) -> None:
    """Solve one system of linear equations on all nodes with HPL, and check the solution.

    Example: beowulf hpl --size 1200
    """
    problem = _chosen(ranks, size, memory, runs=runs)
    if show:
        print(problem.text, end="")
        return
    results = _ran(problem, brief=True, timeout_s=timeout, wait=wait)
    print(f"{'solution':>8}  {'seconds':>8}  {'Gflop/s':>8}  {'residual':>9}  check")
    for number, each in enumerate(results.solutions, 1):
        word = "passed" if each.passed else "FAILED"
        print(
            f"{number:>8}  {each.seconds:>8.2f}  {each.gflops:>8.3f}  {each.residual:>9.2e}  {word}"
        )
    multiplied = results.figures["dgemm_gflops"] * problem.ranks
    share = results.figures["hpl_gflops"] / multiplied
    print(
        f"\nThe best is {share:.1%} of {multiplied:.3g} Gflop/s, at which the {problem.ranks} ranks"
        " multiply matrices when nobody talks (DGEMM)."
    )
    _name_the_library(problem)
    print("Paper E: N 37,326 on a grid of 15 x 16 ranks; tuning took 56 % of the time away.")
    _refuse_failures(results)


def hpcc(
    ranks: Ranks = 4,
    size: Size = 0,
    memory: Memory = 0.0,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small problem, and no bandwidth from b_eff.")
    ] = False,
    show: Show = False,
    timeout: Timeout = 3600.0,
    wait: Wait = False,
) -> None:
    """Run the seven benchmarks of the HPC Challenge on all nodes, and check each.

    Example: beowulf hpcc --quick
    """
    problem = _chosen(ranks, size, memory, quick=quick)
    if show:
        print(problem.text, end="")
        return
    results = _ran(problem, brief=quick, timeout_s=timeout, wait=wait)
    print("\n".join(figure_lines(results)))
    longest = sorted(results.sections.items(), key=lambda part: -part[1])[:3]
    print("\nLongest: " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in longest) + ".")
    _name_the_library(problem)
    print(
        "Paper E: tuning took 29 % of the whole time away; what talks gained, what is local did not."
    )
    _refuse_failures(results)


def figure_lines(results: Results) -> list[str]:
    """A line for each result of hpcc: its test, the figure or why there is none, and what it is."""
    from beowulf.suites.hpcc_results import RESULTS

    lines = []
    for each in RESULTS:
        value = results.figures.get(each.key)
        figure = "not measured" if value is None else f"{value:.4g} {each.unit}"
        why = f" ({results.left_out[each.key]})" if each.key in results.left_out else ""
        lines.append(f"{each.test:<13} {figure:<24} {each.what}{why}")
    return lines


def search(
    parts: Annotated[int, typer.Option("-n", help="Into how many parts, a node for each.")] = 4,
    megabases: Annotated[
        float, typer.Option("--size", help="How many million bases the database has.")
    ] = 8.0,
    queries: Annotated[int, typer.Option("--queries", help="How many sequences to look for.")] = 40,
    seed: Annotated[int, typer.Option("--seed", help="Which sequences are made.")] = 1,
    wait: Wait = False,
) -> None:
    """Search a database of made-up DNA with BLAST: whole on one node, then in parts on several.

    Example: beowulf search -n 4 --size 2
    """
    from beowulf.cluster import running
    from beowulf.errors import LabError, UsageError
    from beowulf.measure.measurement import Measurement, need_a_node_each
    from beowulf.progress import bar
    from beowulf.suites import blast
    from beowulf.suites.sequences import Collection

    cluster = running()
    if parts < 1:
        raise UsageError(f"A database has at least 1 part, not {parts}.")
    need_a_node_each(cluster, parts)
    made = Collection(bases=round(megabases * 1e6), queries=queries, seed=seed)
    counts = sorted({1, parts})
    with (
        cluster.holding("`beowulf search`", wait=wait, report=report),
        bar("search") as progress,
        blast.files(made) as (database, looked_for),
        Measurement(
            "E5", cluster, KEPT_NOWHERE, progress=progress, launches=len(counts)
        ) as session,
    ):
        results = [blast.run(session, database, looked_for, count) for count in counts]
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
    print("Paper E: mpiBLAST took 11 % less time where the latency was 42 % lower.")


def _chosen(ranks: int, size: int, memory: float, *, quick: bool = False, runs: int = 1) -> Problem:
    from beowulf.cluster import running
    from beowulf.suites import hpl as suite

    return suite.choose(running(), ranks, size=size, memory=memory, quick=quick, runs=runs)


def _ran(problem: Problem, *, brief: bool, timeout_s: float, wait: bool) -> Results:
    from beowulf.cluster import running
    from beowulf.measure.line import joined
    from beowulf.progress import bar
    from beowulf.suites import hpcc as suite

    print(
        f"N {problem.n:,} in blocks of {problem.nb} on a grid of {problem.p} x {problem.q} ranks:"
        f" {problem.matrix_bytes / 1024**2:,.1f} MiB. `--show` prints the whole input."
    )
    cluster = running()
    with (
        cluster.holding("`beowulf hpcc`", wait=wait, report=report),
        joined(cluster, report) as warnings,
        bar("hpcc") as progress,
    ):
        for warning in warnings:
            report(warning)
        results, seconds = suite.run(
            cluster, problem, brief=brief, timeout_s=timeout_s, report=progress
        )
    print(f"hpcc took {seconds:.0f} s in all.\n")
    return results


def _name_the_library(problem: Problem) -> None:
    from beowulf.cluster import running
    from beowulf.suites import hpcc as suite
    from beowulf.suites import hpl

    cluster = running()
    blas = suite.machine(cluster, list(cluster.nodes[: problem.ranks])).blas
    plain = hpl.plain(blas)
    more = (
        "; `sudo apt-get install libopenblas0-serial` brings one made for this processor"
        if plain
        else ""
    )
    print(f"Matrices are multiplied by {blas}{more}.")


def _refuse_failures(results: Results) -> None:
    from beowulf.errors import LabError

    if results.failures:
        raise LabError(f"A check has failed. {'; '.join(results.failures)}.")
