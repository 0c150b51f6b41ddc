"""The commands that measure a study of the papers and judge their claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beowulf.errors import LabError

if TYPE_CHECKING:
    from beowulf.verdict import Verdicts

PANEL = "Programs and studies"
Folder = Annotated[Path, typer.Option("--records", help="The folder that keeps your Records.")]
Variant = Annotated[
    str,
    typer.Option(help="A word that tells this Record from others, such as broken-a."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print plain data for a script.")]
KEPT_IN = Path("records")


def add_to(app: typer.Typer) -> None:
    """Put this file's commands into `app`."""
    app.command(rich_help_panel=PANEL)(study)
    app.command(rich_help_panel=PANEL)(claims)


def study(
    name: Annotated[str, typer.Argument(help="The study's ID, such as A2.")],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and shorter samples.")] = False,
    records: Folder = KEPT_IN,
    variant: Variant = "",
    as_json: AsJson = False,
) -> None:
    """Measure a study on the running cluster, save its Record, and say what the claims make of it.

    Example: beowulf study A2
    """
    from beowulf.cluster import connect
    from beowulf.notebook import measure_and_save
    from beowulf.progress import bar
    from beowulf.studies import find
    from beowulf.verdict import Verdicts

    found = find(name)
    with bar(found.TITLE, shown=not as_json) as told:
        record, path = measure_and_save(
            name, connect(), records, variant=variant, quick=quick, told=told
        )
    show(Verdicts(found.claims(record)), as_json)
    if not as_json:
        print(f"The Record is in {path}.")


def claims(
    name: Annotated[str, typer.Argument(help="The study's ID, such as A2.")],
    records: Folder = KEPT_IN,
    variant: Variant = "",
    as_json: AsJson = False,
) -> None:
    """Hold the paper's claims against the newest Record of a study.

    Example: beowulf claims A2 --json
    """
    from beowulf.record import newest
    from beowulf.studies import find
    from beowulf.verdict import Verdicts

    found = find(name)
    record = newest(records, found.ID, variant)
    if record is None:
        which = f"{found.ID}, variant {variant}" if variant else found.ID
        raise LabError(
            f"There is no Record of study {which} in {records}.",
            f"`beowulf study {found.ID}` measures one; `--records` names another folder.",
        )
    show(Verdicts(found.claims(record)), as_json)


def show(verdicts: Verdicts, as_json: bool) -> None:
    """Print Verdicts as a table, or as JSON."""
    if as_json:
        print(json.dumps([verdict.as_plain() for verdict in verdicts], indent=1))
        return
    print(verdicts)
