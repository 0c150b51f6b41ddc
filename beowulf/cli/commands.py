"""All commands, put together."""

from __future__ import annotations

from copy import copy

import click
import typer
from typer.main import get_command_name

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


def command(words: list[str]) -> click.Command:
    """The command line, ready to be called with these words."""
    return _without_variables(typer.main.get_group(_named(app, words)))


def _named(group: typer.Typer, words: list[str]) -> typer.Typer:
    """The group with only the command that the words name, if they do: to build all takes longer than most commands."""
    name = words[0] if words else ""
    only = copy(group)
    only.registered_commands = [
        each
        for each in group.registered_commands
        if each.callback and name == (each.name or get_command_name(each.callback.__name__))
    ]
    only.registered_groups = [copy(each) for each in group.registered_groups if each.name == name]
    for each in only.registered_groups:
        if each.typer_instance:
            each.typer_instance = _named(each.typer_instance, words[1:])
    return only if only.registered_commands or only.registered_groups else group


def _without_variables(command: click.Command) -> click.Command:
    """No option is read from an environment variable; else a bad value is reported with `(env var: 'None')`."""
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            parameter.show_envvar = False
    for each in getattr(command, "commands", {}).values():
        _without_variables(each)
    return command
