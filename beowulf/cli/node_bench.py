"""The command that measures single nodes and puts paper A's figures beside."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beowulf.cli.studies import KEPT_IN, AsJson, Folder, Variant, report_incomplete
from beowulf.cli.way import Wait, report
from beowulf.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from beowulf.record import Record

PANEL = "Programs and studies"
STUDY = "A3"
WIDTH = 160  # of what is no terminal


def add_to(app: typer.Typer) -> None:
    """Put this file's command into `app`."""
    app.command(rich_help_panel=PANEL)(node_bench)


def node_bench(
    nodes: Annotated[
        list[str] | None, typer.Argument(help="Which nodes; node00 if none is named.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="All nodes, and which of them differs from the others.")
    ] = False,
    together: Annotated[
        bool,
        typer.Option(
            "--together",
            help="All at the same time, also where they share the cores of one machine and disturb each other.",
        ),
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and shorter samples.")] = False,
    records: Folder = KEPT_IN,
    variant: Variant = "",
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Measure single nodes: system calls, processes, local messages, bandwidths, memory; beside paper A's figures.

    It is study A3, and keeps its Record. Nodes that share one machine's cores take turns.

    Example: beowulf node-bench --all --quick
    """
    from beowulf.cluster import running
    from beowulf.notebook import measure_and_save
    from beowulf.progress import bar
    from beowulf.studies import find, judge

    if nodes and every:
        raise UsageError("Either name the nodes or say `--all`, not both.")
    cluster = running()
    chosen = list(cluster.nodes) if every else nodes or [cluster.nodes[0]]
    with bar(find(STUDY).title, shown=not as_json) as progress:
        record, path = measure_and_save(
            STUDY,
            cluster,
            records,
            variant=variant,
            quick=quick,
            wait=wait,
            report=report,
            progress=progress,
            more={"nodes": chosen, "together": together},
        )
    verdicts = judge(record)
    if as_json:
        print(json.dumps(plain(record, path, verdicts), indent=1))
    else:
        show(record)
        print(verdicts)
        print(f"The Record is in {path}.")
    report_incomplete(record)


def plain(record: Record, path: Path, verdicts: Any) -> dict[str, Any]:
    """The tables as JSON knows them: None where there is no figure."""
    from dataclasses import asdict

    from beowulf.studies.lab_02.node_comparison import compared, neighbours, odd_nodes, off_rows

    return {
        "record": str(path),
        "nodes": record.sweep["nodes"],
        "turns": record.sweep["turns"],
        "rows": _lines(compared(record)),
        "beside": _lines(neighbours(record)),
        "tools": record.sweep.get("beside", {}),
        "odd": list(odd_nodes(record)),
        "off": [asdict(each) for each in off_rows(record)],
        "warnings": record.warnings,
        "verdicts": [verdict.as_plain() for verdict in verdicts],
    }


def _lines(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            str(name): None if isinstance(value, float) and math.isnan(value) else value
            for name, value in line.items()
        }
        for line in frame.to_dict("records")
    ]


def show(record: Record) -> None:
    """Print the tables of a Record of A3, and remarks on them."""
    from rich.console import Console

    from beowulf.studies.lab_02.node_comparison import compared, neighbours

    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    one = len(record.sweep["nodes"]) == 1
    console.print(single(record) if one else of_nodes(compared(record)), markup=False)
    beside = neighbours(record)
    if not beside.empty:
        console.print(of_tools(beside), markup=False)
    for sentence in [how_it_ran(record), *missing_tools(record)]:
        if sentence:
            print(sentence)


def single(record: Record) -> Table:
    """One node: the median with its interval, the best, and paper A's two columns."""
    from rich.table import Table

    from beowulf.studies.lab_02.node_comparison import compared
    from beowulf.studies.lab_02.node_rows import rows

    [node] = record.sweep["nodes"]
    by_name = rows(record, node)
    title = "LMBench's rows on one node; median with its 95 % interval"
    table = Table("row", "unit", title=title, title_justify="left")
    for heading in (node, "best", "paper A", "Grendel", "times as fast as paper A"):
        table.add_column(heading, justify="right")
    for line in compared(record).to_dict("records"):
        row = by_name[line["row"]]
        interval = f"{amount(row.median)} ({amount(row.low)} to {amount(row.high)})"
        ours = [interval, amount(row.best)]
        others = [amount(line[name]) for name in ("paper A", "Grendel", "times as fast")]
        table.add_row(row.name, row.unit, *ours, *others)
    return table


def of_nodes(frame: pd.DataFrame) -> Table:
    """Several nodes side by side: their medians, and paper A's two columns."""
    from rich.table import Table

    title = "LMBench's rows on each node, medians; times as fast: the first node and paper A's"
    figures = [str(name) for name in frame.columns[2:]]
    table = Table("row", "unit", title=title, title_justify="left")
    for heading in figures:
        table.add_column(heading, justify="right")
    for line in frame.to_dict("records"):
        table.add_row(line["row"], line["unit"], *(amount(line[name]) for name in figures))
    return table


def of_tools(frame: pd.DataFrame) -> Table:
    """Ours beside the tools of others, alternating in the same run."""
    from rich.table import Table

    title = "Beside the tools of others, alternating in the same run; ratio: ours to theirs"
    table = Table("node", "row", "tool", "unit", title=title, title_justify="left")
    for heading in ("ours", "theirs", "ratio", "pairs"):
        table.add_column(heading, justify="right")
    for line in frame.to_dict("records"):
        span = f"{line['ratio']:.3f} ({line['low']:.3f} to {line['high']:.3f})"
        ratio = span if line["launches"] > 1 else f"{line['ratio']:.3f}"
        names = [line[name] for name in ("node", "row", "tool", "unit")]
        figures = [amount(line["ours"]), amount(line["theirs"]), ratio, str(line["launches"])]
        table.add_row(*names, *figures)
    return table


def how_it_ran(record: Record) -> str:
    """Whether the nodes took turns, and why; empty for one node."""
    turns = record.sweep["turns"]
    if len(record.sweep["nodes"]) == 1:
        return ""
    if len(turns) == 1:
        return (
            "All nodes ran at the same time. Nodes that share the cores of one machine measure how they disturb each"
            " other, and the tools of others were left out."
        )
    alone = "One node at a time" if all(len(turn) == 1 for turn in turns) else "In turns"
    return f"{alone}: nodes that share the cores of one machine would measure each other."


def missing_tools(record: Record) -> list[str]:
    """A sentence for each tool of others that a node lacks, and how to get it."""
    from beowulf.studies.lab_02.node_neighbours import ABSENT

    lacking: dict[tuple[str, str], list[str]] = {}
    for node, tools in record.sweep.get("beside", {}).items():
        for tool, state in tools.items():
            if state.startswith(ABSENT):
                lacking.setdefault((tool, state.removeprefix(f"{ABSENT}: ")), []).append(node)
    return [
        f"{tool} is not on {', '.join(nodes)}: {how}." for (tool, how), nodes in lacking.items()
    ]


def amount(value: float) -> str:
    """A figure with three digits; a dash where there is none."""
    if math.isnan(value):
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
