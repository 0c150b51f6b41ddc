"""Every command that a document shows is run from the document itself, and prints what the document says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from beowulf import desk, places
from beowulf.cli.commands import app

ROOT = places.root()
HANDOUTS = sorted(ROOT.glob("labs/*/README.md"))
DOCUMENTS = [ROOT / "README.md", *HANDOUTS]
TEXTS = [
    *DOCUMENTS,
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("slides/*.md")),
]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LONGEST_S = 120


@dataclass(frozen=True)
class Shown:
    """A command as a document shows it, and what it is to print."""

    command: str
    output: list[str]


def shown(document: Path) -> list[Shown]:
    found = []
    for block in BLOCK.findall(document.read_text()):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *output = part.rstrip("\n").split("\n")
            found.append(Shown(command, output))
    return found


def pattern(output: list[str]) -> re.Pattern[str]:
    """A line `...` stands for any lines, `...` within a line for any letters."""
    pieces = []
    for line in output:
        if line.strip() == "...":
            pieces.append(r"(?:.*\n)*?")
        else:
            words = [re.escape(part.rstrip()) for part in line.split("...")]
            pieces.append(".*".join(words) + r"[ \t]*\n")
    return re.compile("".join(pieces))


@pytest.fixture
def surroundings(tmp_path: Path) -> Iterator[dict[str, str]]:
    environment = {
        **os.environ,
        "PATH": f"{places.python_bin()}:{os.environ['PATH']}",
        "BEOWULF_STATE": str(tmp_path / "state"),
        "BEOWULF_WORK": str(tmp_path / "work"),
        "BEOWULF_LEARNER": "reader",
        "COLUMNS": "100",
    }
    yield environment
    subprocess.run(
        ["beowulf", "down"], env=environment, check=True, capture_output=True, timeout=60
    )


@pytest.mark.cluster
@pytest.mark.timeout(600)
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_shows_happens(
    document: Path, surroundings: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BEOWULF_WORK", surroundings["BEOWULF_WORK"])
    if document in HANDOUTS:
        folder = desk.lay_out(document.parent.name).parent
    else:
        folder = tmp_path / "checkout"
        shutil.copytree(ROOT / "labs", folder / "labs")
    commands = shown(document)
    assert commands, f"{document} shows no command"
    for each in commands:
        done = subprocess.run(
            ["bash", "-c", each.command],
            cwd=folder,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
        said = f"$ {each.command}\nexit code {done.returncode}\n{done.stdout}"
        assert done.returncode == 0, said
        if each.output:
            expected = "\n".join(each.output)
            assert pattern(each.output).fullmatch(done.stdout), (
                f"{said}\nthe document says:\n{expected}"
            )


@pytest.mark.parametrize(
    "document", sorted(set(TEXTS)), ids=lambda path: str(path.relative_to(ROOT))
)
def test_a_document_names_only_commands_and_files_that_are_there(document: Path) -> None:
    text = document.read_text()
    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    known |= {group.name for group in app.registered_groups}
    named = set(re.findall(r"(?:^\$ |`|\| )beowulf ([a-z][a-z-]*)", text, flags=re.MULTILINE))
    assert named <= known, f"{document} names {named - known}"
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    made = set(re.findall(r"(?:^|`)make ([a-z]+)", text, flags=re.MULTILINE))
    assert made <= targets, f"{document} names make {made - targets}"
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (document.parent / link).exists(), f"{document} links to {link}, which is not there"


def test_the_pattern_of_an_output_accepts_what_differs_and_nothing_else() -> None:
    wanted = pattern(["one ... three", "...", "last"])
    assert wanted.fullmatch("one two three\nlast\n")
    assert wanted.fullmatch("one 2 three\nanything\nat all\nlast\n")
    assert not wanted.fullmatch("one two\nlast\n")
    assert not wanted.fullmatch("one two three\nlast\nand more\n")
