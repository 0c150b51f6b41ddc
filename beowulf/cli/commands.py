"""All commands, put together."""

from __future__ import annotations

import click
import typer

from autograder import commands
from beowulf.cli import (
    check,
    cluster,
    lab,
    machine,
    node_bench,
    npb,
    programs,
    report,
    studies,
    suites,
    tune,
    wire,
)

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
for group in (
    machine,
    cluster,
    programs,
    studies,
    node_bench,
    npb,
    suites,
    wire,
    lab,
    check,
    report,
):
    group.add_to(app)
app.add_typer(tune.app, name="tune", rich_help_panel="Programs and studies")
app.add_typer(commands.app, name="class", rich_help_panel="Teaching")


def command() -> click.Command:
    """The whole command line, ready to be called."""
    return _without_variables(typer.main.get_command(app))


def _without_variables(command: click.Command) -> click.Command:
    """No option is read from an environment variable; else a bad value is reported with `(env var: 'None')`."""
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            parameter.show_envvar = False
    for each in getattr(command, "commands", {}).values():
        _without_variables(each)
    return command
