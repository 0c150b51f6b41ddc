"""The command that does as paper E did: it measures programs before and after."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beowulf.cli import running_measurement, tune_tables, tune_trial
from beowulf.cli.options import KEPT_IN, Folder, Force
from beowulf.cli.studies import report_incomplete
from beowulf.errors import LabError

if TYPE_CHECKING:
    from beowulf.record import Record


def compare(
    programs: Annotated[
        list[str] | None,
        typer.Argument(help="Of kernels, search, hpl and hpcc; all of them if left out."),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Small problems, few runs; kernels and search, unless you name others."
        ),
    ] = False,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw it as well, as .png or .svg.")
    ] = None,
    records: Folder = KEPT_IN,
    force: Force = False,
) -> None:
    """Measure what programs gain when latency is tuned.

    They are the ping-pong beside NPB's kernels, a search, HPL, and hpcc.

    Before: with interrupt moderation and a firewall on every node, as paper E's nodes came with. After: without. Both
    take turns; at the end everything is as it was. Programs are kernels, search, hpl and hpcc; all of them if left out.

    Example: beowulf tune compare kernels --quick
    """
    from beowulf.cluster import running
    from beowulf.report import before_after as both
    from beowulf.this_machine.progress import bar
    from beowulf.tuning import change_preview, paper_e_baseline
    from beowulf.tuning.change import changing, clear
    from beowulf.tuning.knobs import ALL

    names, cluster = both.chosen(programs or (), quick=quick), running()
    running_measurement.ask_before("beowulf tune compare", force)
    clear(cluster)
    if change_preview.shown_first(cluster):
        parts = paper_e_baseline.parts(cluster).items()
        turns = [(ALL[name], value) for name, value in parts]
        with changing(cluster, turns, agree=tune_trial.agree):
            pass  # shown, and agreed on
    by_program: dict[str, Record] = {}
    left_out: list[str] = []
    for name in names:
        try:
            with bar(name) as progress:
                by_program[name], _ = both.measure(
                    name, cluster, records, quick=quick, progress=progress
                )
        except LabError as error:
            if programs:  # the user asked for this one
                raise
            left_out.append(f"{name}: {error}")
            continue
        if not by_program[name].complete:  # Ctrl-C is meant for all of it
            break
    rows = {name: both.rows(record) for name, record in by_program.items()}
    every = [row for each in rows.values() for row in each]
    if not every:
        raise LabError(
            " ".join(["Nothing could be measured before and after.", *left_out]),
            "`beowulf status` and `beowulf doctor` say what is missing.",
        )
    print("\n".join(tune_tables.compared(rows)))
    print("\n".join(["", both.conclusion(every), *(f"Left out: {each}" for each in left_out)]))
    if reasons := both.doubts(list(by_program.values())):
        print(f"Do not rely on it: {'; '.join(reasons)}.")
    print(f"The Records are in {records}.")
    if picture is not None:
        drawn = both.picture(every).save(picture)
        print(f"Written: {', '.join(map(str, drawn))}.")
    for record in by_program.values():
        report_incomplete(record)
