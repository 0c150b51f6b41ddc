"""Does every command and every option exist that a message, a docstring, a notebook or a document names?"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import typer
from running import app

from beowulf import paths
from beowulf.tuning import knobs

ROOT = paths.root()
SOURCES = [
    file
    for pattern in ("beowulf/**/*.py", "autograder/**/*.py", "notebooks/source/*/*.py")
    for file in sorted(ROOT.glob(pattern))
]
TEXTS = [
    file
    for pattern in ("*.md", "docs/*.md", "slides/*.md", "labs/*/README.md")
    for file in sorted(ROOT.glob(pattern))
    if file.name != "CHANGELOG.md"  # which names what went, too
]
NAMED = re.compile(r"(?:`(?:sudo )?|^\$ )beowulf ([^`\n]+)", re.MULTILINE)
OF_A_KNOB = re.compile(r"tune (?:apply|show) ([a-z][a-z-]*)\b")
ANYTHING = "VALUE"  # what is in a message where its code puts something in


def texts_in(source: str) -> Iterator[str]:
    """All texts of a Python file: strings, with ANYTHING for what is put into them, and comments."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            parts = [
                str(part.value) if isinstance(part, ast.Constant) else ANYTHING
                for part in node.values
            ]
            yield "".join(parts)
    yield from re.findall(r"#.*", source)


def named_in(file: Path) -> set[str]:
    """What follows `beowulf` wherever the file names a command, but for halves of messages that are put together."""
    source = file.read_text(encoding="utf-8")
    texts = texts_in(source) if file.suffix == ".py" else [source]
    return {words for text in texts for words in NAMED.findall(text)}


@cache
def group() -> click.Group:
    command = typer.main.get_command(app)
    assert isinstance(command, click.Group)
    return command


def wrong(words: str) -> str:
    """What of a named command there is not; nothing where all of it exists."""
    command: click.Command = group()
    if (knob := OF_A_KNOB.match(words)) and knob[1] not in knobs.ALL:
        return f"there is no knob {knob[1]}"
    ours = re.sub("'.*'", "", re.split(r" --(?= |$)", words)[0])  # what a node is to run is not
    for word in ours.rstrip("\\").split():
        if word.endswith((".c", ".py")):
            break  # what comes after a program is its own
        if isinstance(command, click.Group):
            if word.startswith("-") or ANYTHING in word or not word.islower():
                return ""  # `beowulf COMMAND`, `beowulf --help`
            if (below := command.commands.get(word)) is None:
                return f"{command.name or 'beowulf'} has no command {word}"
            command = below
        elif word.startswith("--") and ANYTHING not in word:
            option = word.partition("=")[0].rstrip(".,;:")
            known = {
                name for param in command.params for name in (*param.opts, *param.secondary_opts)
            }
            if option not in known | {"--help"}:
                return f"{command.name} has no option {option}"
    return ""


def test_commands_and_options_that_are_named_exist() -> None:
    assert [
        f"{file.relative_to(ROOT)}: `beowulf {words}`: {why}"
        for file in (*SOURCES, *TEXTS)
        for words in sorted(named_in(file))
        if (why := wrong(words))
    ] == []
