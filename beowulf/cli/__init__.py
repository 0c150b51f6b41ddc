"""`beowulf …`: parse, call, print. Each file here is a group of commands."""

from __future__ import annotations

import signal
import sys
from types import FrameType

import typer

from beowulf.cli import classroom, cluster, lab, machine, programs, studies
from beowulf.errors import LabError

app = typer.Typer(
    name="beowulf",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A four-node Beowulf cluster on this machine, and the labs on it.\n\n"
    "[bold]beowulf up[/bold], then [bold]beowulf ssh node00[/bold]; [bold]beowulf down[/bold] takes it away.",
)
for group in (machine, cluster, programs, studies, lab):
    group.add_to(app)
app.add_typer(classroom.app, name="class", rich_help_panel="Teaching")


def main() -> None:
    """Run a command; a mistake that a person can mend becomes a sentence, without a traceback."""
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGHUP, _stop)
    try:
        app()
    except LabError as trouble:
        print(f"beowulf: {trouble}", file=sys.stderr)
        sys.exit(trouble.exit_code)
    except KeyboardInterrupt:
        print("beowulf: stopped.", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        # The reader of our output, such as `head`, has seen enough.
        sys.stderr.close()
        sys.exit(0)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
