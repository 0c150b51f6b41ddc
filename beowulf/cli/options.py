"""The options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print plain data for a script.")]
Quick = Annotated[bool, typer.Option("--quick", help="Fewer and shorter samples.")]
Folder = Annotated[Path, typer.Option("--records", help="The folder that keeps your Records.")]
KEPT_IN = Path("records")
Force = Annotated[
    bool,
    typer.Option("--force", help="End a measurement that is under way; it keeps what it has."),
]
Wait = Annotated[
    bool, typer.Option("--wait", help="Wait until no other process measures on the cluster.")
]
