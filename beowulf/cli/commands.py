"""All commands, put together."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import click
import typer
from typer.main import get_command_name

from autograder import commands
from beowulf.cli import (
    check,
    cluster,
    demo,
    doctor,
    lab,
    new,
    packets,
    programs,
    report,
    studies,
    suites,
    target,
    tune,
)

STUDIES = "Studies"
# In the order in which a learner needs them.
PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "Begin": (demo.demo, lab.lab, doctor.doctor),
    "The cluster": (
        *(cluster.up, cluster.status, cluster.validate, cluster.ssh, cluster.break_),
        *(cluster.down, target.setup),
    ),
    "Programs and packets": (programs.run, programs.timeline, packets.capture, packets.packets),
    STUDIES: (
        *(studies.study, studies.claims, studies.show),
        *(suites.suite, studies.calibrate),
    ),
    "Your work": (check.check, check.progress, check.share, report.report),
}
# What follows a node or a program is the command's own, options too.
ITS_OWN = {"context_settings": {"allow_interspersed_args": False}}
SETTINGS: dict[Callable[..., None], dict[str, Any]] = {
    cluster.ssh: ITS_OWN,
    programs.run: ITS_OWN,
    packets.capture: ITS_OWN,
    cluster.break_: {"name": "break"},
    studies.study: {"cls": studies.WithStudies, "no_args_is_help": True},
}

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
for panel, functions in PANELS.items():
    for function in functions:
        app.command(rich_help_panel=panel, **SETTINGS.get(function, {}))(function)
app.add_typer(tune.app, name="tune", rich_help_panel=STUDIES)
app.add_typer(commands.app, name="class", rich_help_panel="Teaching")
app.add_typer(new.app, name="new", rich_help_panel="Teaching")


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
