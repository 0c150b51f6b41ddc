"""The command that runs the NAS Parallel Benchmarks, and puts what paper A published beside."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beowulf.cli.way import Wait, report
from beowulf.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from beowulf.cluster import Cluster
    from beowulf.suites.npb import Run

PANEL = "Programs and studies"
MOST_SEED = 2**46 - 1  # as in labs/03-parallel-benchmarks/npb/npb.h
WIDTH = 120  # of what is no terminal
PAPER, GRENDEL = "paper A (class A)", "Grendel (class B)"
WARNING = (
    "Mop/s are nominal: the operations that the specification counts, over the time; a program may do more or fewer. "
    "Paper A compares class A on its own cluster with class B on Grendel. These are other problems, of other sizes, so "
    "neither column says which cluster is the faster."
)
# The paper ran version 2.3; the sizes and constants here are those of 3.4, whose class W is another one.
OF_CLASS_W = (
    " Paper A ran NPB 2.3, whose class W has other sizes than this one, which is that of NPB 3.4."
)


def add_to(app: typer.Typer) -> None:
    """Put this file's command into `app`."""
    app.command(rich_help_panel=PANEL)(npb)


def npb(
    name: Annotated[
        str, typer.Argument(help="EP, IS, CG, MG, FT, LU, SP or BT; all runs one after the other.")
    ],
    letter: Annotated[
        str, typer.Option("--class", help="How large the problem is: S, W, A, B or C.")
    ] = "S",
    ranks: Annotated[int, typer.Option("-n", help="How many nodes, a rank on each.")] = 4,
    profile: Annotated[
        bool, typer.Option("--profile", help="Say how much of the time was spent inside of MPI.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=MOST_SEED,
            help="Draw other random numbers than the published ones: its check must fail.",
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0, help="Stop a benchmark after this many seconds; 0: never.")
    ] = 3600.0,
    wait: Wait = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print plain data for a script.")] = False,
) -> None:
    """Run NAS Parallel Benchmarks on the cluster, check their results, and put paper A's figures beside.

    A result that is not the published one ends the command with exit code 1 and the figures.

    Example: beowulf npb all --class W -n 4 --profile
    """
    from beowulf.cluster import running
    from beowulf.suites import npb as suite

    names, cluster = suite.chosen(name), running()
    if seed is not None:
        suite.refuse_seed(names)
    names, skipped = suite.fitting(names, ranks)
    for sentence in skipped:
        typer.echo(f"beowulf: {sentence}", err=True)
    suite.refuse(cluster, names, letter.upper(), ranks)
    with cluster.holding("`beowulf npb`", wait=wait, report=report):
        runs, trouble = _runs(
            cluster,
            names,
            letter.upper(),
            ranks,
            shown=not as_json,
            profiled=profile,
            seed=seed,
            timeout_s=timeout,
        )
    if as_json:
        print(json.dumps(_plain(runs), indent=1))
    elif runs:
        _show(runs)
    if trouble:
        raise trouble


def _runs(
    cluster: Cluster, names: Sequence[str], letter: str, ranks: int, *, shown: bool, **how: Any
) -> tuple[list[Run], LabError | None]:
    """The runs up to the first that failed, and how it failed."""
    from pathlib import Path

    from beowulf.measure.measurement import Measurement
    from beowulf.progress import bar
    from beowulf.suites import npb as suite

    runs: list[Run] = []
    with (
        bar("NAS Parallel Benchmarks", shown=shown) as progress,
        Measurement("NPB", cluster, Path(), launches=len(names)) as session,
    ):
        for number, name in enumerate(names):
            progress(number, len(names), f"{name} class {letter}, {ranks} ranks")
            try:
                runs.append(suite.run(session, name, letter, ranks, **how))
            except LabError as error:
                return runs, error
    return runs, None


def _published() -> dict[str, dict[str, float | None]]:
    """By benchmark, the Mop/s of table 5: of the paper's own cluster and of Grendel."""
    from beowulf import papers

    by_benchmark = {}
    for row in papers.table("A-table-5").to_dict("records"):
        both = [float(row[column]) for column in ("this_cluster_mops", "g_cluster_mops")]
        mops = [None if math.isnan(value) else value for value in both]
        by_benchmark[str(row["benchmark"])] = dict(zip((PAPER, GRENDEL), mops, strict=True))
    return by_benchmark


def _plain(runs: Sequence[Run]) -> dict[str, Any]:
    from beowulf import papers

    published = _published()
    rows = []
    for each in runs:
        paper = published.get(each.name, {PAPER: None, GRENDEL: None})
        beside = {"paper_mops": paper[PAPER], "grendel_mops": paper[GRENDEL]}
        share = {"communication_share": each.profile.share} if each.profile else {}
        rows.append({**each.as_plain(), **share, **beside})
    return {
        "runs": rows,
        "source": papers.table("A-table-5").attrs["source"],
        "warning": warning(runs),
    }


def warning(runs: Sequence[Run]) -> str:
    """What to consider when these runs are compared with paper A's figures."""
    return WARNING + (OF_CLASS_W if any(each.letter == "W" for each in runs) else "")


def _show(runs: Sequence[Run]) -> None:
    from rich.console import Console

    from beowulf import papers

    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    console.print(_table(runs))
    for each in runs:
        if each.profile:
            console.print(f"\n{each.name}", markup=False)
            console.print(each.profile)
    console.print(f"\n{warning(runs)}", markup=False)
    console.print(f"Published: {papers.table('A-table-5').attrs['source']}", markup=False)


def _table(runs: Sequence[Run]) -> Table:
    from rich.table import Table

    published = _published()
    table = Table()
    table.add_column("benchmark")
    table.add_column("class")
    heads = ["ranks", "seconds", "Mop/s"]
    heads += ["in MPI"] if any(each.profile for each in runs) else []
    for head in heads:
        table.add_column(head, justify="right")
    table.add_column("verified")
    for head in (PAPER, GRENDEL):
        table.add_column(head, justify="right")
    for each in runs:
        paper = published.get(each.name, {})
        cells = [each.name, each.letter, str(each.ranks)]
        cells += [f"{each.seconds:.3g}", f"{each.mops:,.1f}"]
        cells += [f"{each.profile.share:.0%}"] if each.profile else []
        cells += [f"yes, {len(each.checks)} check{'s' if len(each.checks) != 1 else ''}"]
        values = [paper.get(head) for head in (PAPER, GRENDEL)]
        table.add_row(*cells, *("–" if value is None else f"{value:g}" for value in values))
    return table
