"""What the commands of `beowulf tune` share: their options, one trial, and the questions to the user."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beowulf.errors import UsageError

if TYPE_CHECKING:
    from beowulf.cluster import Cluster
    from beowulf.tuning.knob import Knob

AsJson = Annotated[bool, typer.Option("--json", help="Print plain data for a script.")]
Folder = Annotated[Path, typer.Option("--records", help="The folder that keeps your Records.")]
Keep = Annotated[bool, typer.Option("--keep", help="Keep it, whatever the result.")]
Revert = Annotated[bool, typer.Option("--revert", help="Put it back, whatever the result.")]
Quick = Annotated[bool, typer.Option("--quick", help="Fewer and shorter samples.")]
Host = Annotated[
    bool,
    typer.Option("--host", help="Allow a change of this machine itself; what changes is listed."),
]
KEPT_IN = Path("records")
PING_PONG = 2  # nodes that measure


def measured(
    cluster: Cluster,
    turns: list[tuple[Knob, str]],
    keep: bool,
    revert: bool,
    quick: bool,
    records: Path,
    as_json: bool,
) -> dict[str, Any]:
    """Measure these changes, keep them or put them back, and say so; the same as plain data."""
    from beowulf.progress import bar
    from beowulf.tuning import trial
    from beowulf.tuning.change import changing

    name = ", ".join(f"{knob.name} {value}" for knob, value in turns)
    with changing(cluster, turns, nodes=cluster.nodes[:PING_PONG], agree=agree) as changes:
        with bar(name, shown=not as_json) as progress:
            comparison = trial.measure(cluster, changes, records, quick=quick, progress=progress)
        keeps = keep or (not revert and _wanted(f"{name}: {comparison}"))
        if keeps:
            changes.keep()
    fate = "kept" if keeps else "put back"
    if not as_json:
        print(f"{name}: {comparison}; {fate}.")
    decided = {"decision": comparison.decision, "ratio": vars(comparison.ratio)}
    return {"knobs": {knob.name: value for knob, value in turns}, **decided, "fate": fate}


def refuse_both(keep: bool, revert: bool) -> None:
    """UsageError for `--keep` together with `--revert`."""
    if keep and revert:
        raise UsageError("Either keep it or put it back: --keep and --revert exclude each other.")


def show_first(cluster: Cluster, turns: Sequence[tuple[Knob, str]]) -> None:
    """Show all that is going to be changed on separate machines; ends the command when the user says no."""
    from beowulf.tuning import change_preview
    from beowulf.tuning.change import changing

    if change_preview.shown_first(cluster):
        with changing(cluster, turns, agree=agree):
            pass


def agree(text: str) -> None:
    """Show what is about to be changed; at a terminal, end the command when the user says no."""
    from beowulf.tuning import change_preview

    change_preview.show(text)
    if _at_terminal() and not typer.confirm("Change that?"):
        raise typer.Exit(1)


def allow(knob: Knob, value: str, host: bool) -> None:
    """List what will be run on this machine; UsageError without `--host`; ends the command when the user says no."""
    lines = knob.set(value, knob.where[0])
    if not host:
        raise UsageError(
            f"{knob.name} belongs to this machine and not to the cluster; nothing was changed.",
            f"With `--host`, these lines are run here:\n{lines}",
        )
    print(f"On this machine are run:\n{lines}", file=sys.stderr)
    if _at_terminal() and not typer.confirm("Run them?"):
        raise typer.Exit(1)


def _wanted(outcome: str) -> bool:
    if not _at_terminal():
        return False
    print(outcome)
    return typer.confirm("Keep it?")


def _at_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
