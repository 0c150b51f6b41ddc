"""The command that looks whether this machine can run the labs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from beowulf.cli.options import AsJson

if TYPE_CHECKING:
    from beowulf.desk.doctor import Check


def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Fix what can be fixed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check what the other commands need, with a hint for each gap.

    Exit code 0: all that is needed is there; 1: something is missing.

    Example: beowulf doctor --fix
    """
    from beowulf.desk import doctor as room

    checks = []
    for check in room.examine():
        checks.append(check)
        if not as_json:
            print(line(check), flush=True)
    if fix and any(not check.well for check in checks):
        if not room.fix(checks):
            raise typer.Exit(1)
        checks = list(room.examine())
        if not as_json:
            print("After fixing:")
            print("\n".join(line(check) for check in checks if not check.well) or "all is well")
    ill = [check for check in checks if check.needed and not check.well]
    if as_json:
        print(json.dumps([asdict(check) for check in checks], indent=1))
    elif not ill:
        print("This machine can run the labs: `make lab` or `beowulf up`.")
    raise typer.Exit(1 if ill else 0)


def line(check: Check) -> str:
    """One line for one check: well or not, what is there, and a hint how to fix it."""
    mark = "ok     " if check.well else ("MISSING" if check.needed else "absent ")
    hint = f"  ->  {check.hint}" if check.hint and not check.well else ""
    return f"{mark}  {check.name}: {check.found}{hint}"
