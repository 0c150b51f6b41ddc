"""One trial of `beowulf tune`, and the questions to the user."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from beowulf.cli.running_measurement import at_terminal
from beowulf.errors import UsageError

if TYPE_CHECKING:
    from beowulf.cluster import Cluster
    from beowulf.tuning.knob import Knob

PING_PONG = 2  # nodes that measure


def measured(
    cluster: Cluster,
    knob: Knob,
    value: str,
    keep: bool,
    revert: bool,
    quick: bool,
    records: Path,
    as_json: bool,
) -> dict[str, Any]:
    """Measure a change, keep it or put it back, and say so; the same as plain data."""
    from beowulf.this_machine.progress import bar
    from beowulf.tuning import trial
    from beowulf.tuning.change import changing

    name, nodes = f"{knob.name} {value}", cluster.nodes[:PING_PONG]
    with changing(cluster, [(knob, value)], nodes=nodes, agree=agree) as changes:
        [change] = changes.each
        with bar(name, shown=not as_json) as progress:
            comparison = trial.measure(cluster, change, records, quick=quick, progress=progress)
        keeps = keep or (not revert and _wanted(f"{name}: {comparison}"))
        if keeps:
            change.keep()
    fate = "kept" if keeps else "put back"
    if not as_json:
        print(f"{name}: {comparison}; {fate}.")
    decided = {"decision": comparison.decision, "ratio": vars(comparison.ratio)}
    return {"knobs": {knob.name: value}, **decided, "fate": fate}


def agree(text: str) -> None:
    """Show what is about to be changed; at a terminal, end the command when the user says no."""
    from beowulf.tuning import change_preview

    change_preview.show(text)
    if at_terminal() and not typer.confirm("Change that?"):
        raise typer.Exit(1)


def allow(knob: Knob, value: str, host: bool) -> None:
    """List what will be run on this machine; UsageError without `--host`; ends the command when the user says no."""
    from beowulf.cluster import HOST

    lines = knob.set(value, HOST)
    if not host:
        raise UsageError(
            f"{knob.name} belongs to this machine and not to the cluster; nothing was changed.",
            f"With `--host`, these lines are run here:\n{lines}",
        )
    print(f"These lines are run on this machine:\n{lines}", file=sys.stderr)
    if at_terminal() and not typer.confirm("Run them?"):
        raise typer.Exit(1)


def _wanted(outcome: str) -> bool:
    if not at_terminal():
        return False
    print(outcome)
    return typer.confirm("Keep it?")
