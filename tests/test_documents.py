"""Every command that the README shows prints what it says, and every name in a document is there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from beowulf import paths

ROOT = paths.root()
HANDOUTS = sorted(ROOT.glob("labs/*/README.md"))
DOCUMENTS = [ROOT / "README.md", *HANDOUTS]
TEXTS = [
    *DOCUMENTS,
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("slides/*.md")),
]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Of one command: a study that takes half a minute takes longer where others work, too.
LONGEST_S = 900.0
# What a Record says of the machine's load is no part of a document.
BUSY = re.compile(
    r"^(?:beowulf: (?:The load before the start|Programs had waited)|This machine is busy).*\n",
    re.M,
)


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


def surroundings(own: Path) -> dict[str, str]:
    """The environment of a reader who keeps everything in `own`."""
    return {
        **os.environ,
        "PATH": f"{paths.python_bin()}:{os.environ['PATH']}",
        "BEOWULF_STATE": str(own / "state"),
        "BEOWULF_WORK": str(own / "work"),
        "BEOWULF_LEARNER": "reader",
        "HOME": str(own / "home"),  # what a document puts into a reader's own folders
        "COLUMNS": "100",
    }


def followed(document: Path, folder: Path, environment: dict[str, str]) -> str:
    """What came otherwise than the document shows; nothing where all is as it says."""
    try:
        found = (typed(each, folder, environment) for each in shown(document))
        return next((said for said in found if said), "")
    finally:
        subprocess.run(
            ["beowulf", "down"], env=environment, check=True, capture_output=True, timeout=LONGEST_S
        )


def typed(each: Shown, folder: Path, environment: dict[str, str]) -> str:
    """Type a command; what it said, where that is not what it should."""
    done = subprocess.run(
        ["bash", "-c", each.command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    said = f"$ {each.command}\nexit code {done.returncode}\n{done.stdout}"
    if done.returncode != 0:
        return said
    if each.output and not pattern(each.output).fullmatch(BUSY.sub("", done.stdout)):
        return "\n".join([said, "the document says:", *each.output])
    return ""


@pytest.mark.cluster
@pytest.mark.nightly
def test_what_the_readme_shows_happens(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "labs", tmp_path / "checkout" / "labs")
    differs = followed(ROOT / "README.md", tmp_path / "checkout", surroundings(tmp_path))
    assert not differs, differs


def test_documents_name_only_targets_of_make_and_files_that_are_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    for document in TEXTS:
        text = document.read_text()
        if document.name == "CHANGELOG.md":  # which names what went, too
            continue
        made = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, flags=re.MULTILINE))
        assert made <= targets, f"{document} names make {made - targets}"
        for link in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (document.parent / link).exists(), f"{document} links to {link}"


def test_each_word_of_the_list_is_refused_with_the_standard_ones(tmp_path: Path) -> None:
    entries = (ROOT / "docs" / "words.txt").read_text().splitlines()
    text = tmp_path / "text.md"
    text.write_text("\n".join(entry.partition("->")[0] for entry in entries))
    command = [paths.python_bin() / "codespell", text]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    refused = [line.partition(": ")[2] for line in done.stdout.splitlines()]
    assert refused == [entry.replace("->", " ==> ").rstrip(",") for entry in entries]
