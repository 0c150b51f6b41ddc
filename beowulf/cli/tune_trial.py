"""What the commands of `beowulf tune` share: their options, one trial, and the questions to whoever types."""

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
Keep = Annotated[bool, typer.Option("--keep", help="Keep it, whatever comes out.")]
Revert = Annotated[bool, typer.Option("--revert", help="Put it back, whatever comes out.")]
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
        with bar(name, shown=not as_json) as told:
            found = trial.measure(cluster, changes, records, quick=quick, progress=told)
        kept = keep or (not revert and _wanted(f"{name}: {found}"))
        if kept:
            changes.keep()
    fate = "kept" if kept else "put back"
    if not as_json:
        print(f"{name}: {found}; {fate}.")
    decided = {"decision": found.decision, "ratio": vars(found.ratio)}
    return {"knobs": {knob.name: value for knob, value in turns}, **decided, "fate": fate}


def refuse_both(keep: bool, revert: bool) -> None:
    """UsageError when it is to be kept and put back."""
    if keep and revert:
        raise UsageError("Either keep it or put it back: --keep and --revert exclude each other.")


def show_first(cluster: Cluster, turns: Sequence[tuple[Knob, str]]) -> None:
    """Show all that is going to be changed on machines that are really apart; the end where somebody says no."""
    from beowulf.tuning import change_preview
    from beowulf.tuning.change import changing

    if change_preview.apart(cluster):
        with changing(cluster, turns, agree=agree):
            pass


def agree(text: str) -> None:
    """Show what is about to be changed; the end where somebody who can be asked says no."""
    from beowulf.tuning import change_preview

    change_preview.tell(text)
    if _somebody() and not typer.confirm("Change that?"):
        raise typer.Exit(1)


def allow(knob: Knob, value: str, host: bool) -> None:
    """List what is to be run on this machine; UsageError without `--host`, and the end where somebody says no."""
    lines = knob.set(value, knob.where[0])
    if not host:
        raise UsageError(
            f"{knob.name} belongs to this machine and not to the cluster; nothing was changed.",
            f"With `--host`, these lines are run here:\n{lines}",
        )
    print(f"On this machine are run:\n{lines}", file=sys.stderr)
    if _somebody() and not typer.confirm("Run them?"):
        raise typer.Exit(1)


def _wanted(found: str) -> bool:
    if not _somebody():
        return False
    print(found)
    return typer.confirm("Keep it?")


def _somebody() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
