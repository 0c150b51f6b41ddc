"""All commands, put together."""

from __future__ import annotations

from copy import copy
from importlib import import_module
from typing import Any

import click
import typer
from typer.core import TyperCommand
from typer.main import get_command_name

STUDIES, TEACHING = "Studies", "Teaching"
# In the order in which a learner needs them: the file and the function of each.
PANELS = {
    "Begin": "demo.demo lab.lab doctor.doctor",
    "The cluster": "cluster.up cluster.status cluster.validate cluster.ssh cluster.break_ cluster.down target.setup",
    "Programs and packets": "programs.run programs.timeline packets.capture packets.packets",
    STUDIES: "studies.study studies.claims studies.show suites.suite studies.calibrate",
    "Your work": "check.check check.progress check.share report.report",
}
# Those that have commands of their own: each with its module, and its panel.
GROUPS = {
    "tune": ("beowulf.cli.tune", STUDIES),
    "class": ("autograder.commands", TEACHING),
    "new": ("beowulf.cli.new", TEACHING),
}


class WithStudies(TyperCommand):
    """A command whose help ends with the list of the studies."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Print the help, and below it the studies by lab, with their titles."""
        from beowulf.studies import listing

        super().format_help(ctx, formatter)
        typer.echo(listing())


# What follows a node or a program is the command's own, options too.
ITS_OWN = {"context_settings": {"allow_interspersed_args": False}}
SETTINGS: dict[str, dict[str, Any]] = {
    "ssh": ITS_OWN,
    "run": ITS_OWN,
    "capture": ITS_OWN,
    "study": {"cls": WithStudies, "no_args_is_help": True},
}


def put_together(words: list[str] | None = None) -> typer.Typer:
    """All commands; or only the one that these words name, if they do: to load all takes longer than most commands."""
    group = typer.Typer(
        name="beowulf",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        help="A four-node Beowulf cluster on this machine, and the labs on it.\n\n"
        "[bold]beowulf up[/bold], then [bold]beowulf ssh node00[/bold]; [bold]beowulf down[/bold] takes it away.",
    )
    places = {
        function.rstrip("_"): (file, function, panel)
        for panel, functions in PANELS.items()
        for file, _, function in (each.partition(".") for each in functions.split())
    }
    first = words[0] if words else ""
    wanted = {first} if first in {*places, *GROUPS} else {*places, *GROUPS}
    for name, (file, function, panel) in places.items():
        if name in wanted:
            callback = getattr(import_module(f"beowulf.cli.{file}"), function)
            group.command(name, rich_help_panel=panel, **SETTINGS.get(name, {}))(callback)
    for name, (module, panel) in GROUPS.items():
        if name in wanted:
            its_own = _named(import_module(module).app, words[1:] if words else [])
            group.add_typer(its_own, name=name, rich_help_panel=panel)
    return group


def command(words: list[str]) -> click.Command:
    """The command line, ready to be called with these words."""
    group = typer.main.get_group(put_together(words))
    return _without_variables(
        click.version_option(package_name="beowulf-labs", prog_name="Beowulf Labs")(group)
    )


def _named(group: typer.Typer, words: list[str]) -> typer.Typer:
    """A group with only the command that the words name, if they do."""
    only = copy(group)
    only.registered_commands = [
        each
        for each in group.registered_commands
        if words
        and each.callback
        and words[0] == (each.name or get_command_name(each.callback.__name__))
    ]
    return only if only.registered_commands else group


def _without_variables(command: click.Command) -> click.Command:
    """No option is read from an environment variable; else a bad value is reported with `(env var: 'None')`."""
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            parameter.show_envvar = False
    for each in getattr(command, "commands", {}).values():
        _without_variables(each)
    return command
