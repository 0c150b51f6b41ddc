"""Every command that a handout names, in a block or in a sentence, is typed in the order of the text, and works."""

from __future__ import annotations

import re
import shlex
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from test_documents import HANDOUTS, Shown, surroundings, typed
from test_every_lab import BOOTED
from test_named_commands import group

from beowulf import paths
from beowulf.course import lab_file
from beowulf.desk import jupyter
from tests import heat_solutions

ROOT = paths.root()
LEARNER = ROOT / "docs" / "learner.md"
DOCUMENTS = [*HANDOUTS, ROOT / "README.md", LEARNER]
# Blocks, and code within sentences, in the order of the text.
PART = re.compile(r"^```(?P<kind>\w*)\n(?P<block>.*?)^```$|`(?P<code>[^`]+)`", re.M | re.S)
# What a sentence changes holds to the end of its paragraph, item or row; one that ends in a colon goes on in its block.
PARAGRAPH = re.compile(r"(?<!:)\n\n|\n(?=[-|] )")
PROGRAMS = {
    *("beowulf", ".venv/bin/beowulf", "python", "export", "source", "cd", "mkdir", "cp", "mpicc", "make"),
    *("tshark", "wireshark", "sudo", "vagrant", "ethtool", "systemctl", "git", "ssh", "podman", "docker"),
}  # fmt: skip
# In a cell, a comment gives the same as a command.
IN_A_TERMINAL = re.compile(r"# (python -m .+)")
IN_A_CELL = "# in a cell"
CONTINUED = re.compile(r"\\\n\s*")
# Typed in the folder of the clone, or where JupyterLab's terminal begins; all else in the folder with the lab's copies.
IN_THE_CLONE = re.compile(r"\.venv/|source|cd work|mkdir|beowulf \S+ work/")
IN_ALL_COPIES = re.compile(r"cd \d\d-")
# What is not typed, and why; no other reason counts.
SKIPPED = {
    r"make |sudo (make|apt)|git ": "prepares the machine",
    r"beowulf doctor --fix": "prepares the machine",
    r"wireshark |(sudo )?(\.venv/bin/)?beowulf lab ": "opens a window and waits",
    r".*vagrant|ssh -L|cd beowulf-labs|podman|docker|ethtool|systemctl|beowulf setup": "is for other machines",
    r"(source|cd) ~/": "is for other machines",
    r"beowulf share FOLDER": "needs the folder of a class",
    r".* --host": "changes this machine itself",
}
# In a sentence it is a name: without a file it does something else, so its file is not required.
NAMES = {"beowulf packets"}
# What a reader puts in place of a word in capitals.
FILLED = {
    "NODE": "node01",
    "COMMAND": "hostname",
    "PROGRAM": "hello.c",
    "FOLDER": "plate.trace",
    "FILE.toml": "network.toml",
    "tcp.stream == N": "tcp.stream == 0",
}
# What the reader has made before, in a cell or by themselves: how a terminal makes as much of it.
MADE_BEFORE = {
    "beowulf report": "beowulf study A2",
    "report work/04": "beowulf study A2 --records ../04-blocking-nonblocking/records",
    "timelines/T4": "beowulf run -n 2 --trace -o timelines/T4/launch-01.trace headon.c --bytes 1000",
    "plate.trace": "beowulf run -n 2 --trace -o plate.trace plate.c --row-us 5",
    "show L1": "beowulf study L1 --quick",
    "a.toml": "cp network.toml a.toml",
    # A Record of a quiet machine, which this one may not be.
    "beowulf calibrate": f"PYTHONPATH={ROOT} python -c 'from tests.gold import lab_09;"
    ' lab_09.times().save_in("records")\'',
}
# What a sentence changes, as far as the next paragraph does not expect it.
CHANGES = re.compile(r"beowulf (up .+|down|break .+|tune apply .+)$")
SIMULATED = "export BEOWULF_STATE=~/simulated; "  # as the handouts have it for a second cluster
# A command fails where the text shows that it says so.
REFUSED = re.compile(r"Fix it, save it, and try again")


@dataclass(frozen=True)
class Command:
    """A command, where the text names it, and what the text shows below it."""

    words: str
    line: int
    paragraph: int
    literal: bool  # in a block, so typed as it is; else it may be made shorter
    output: tuple[str, ...] = ()

    @property
    def why_not(self) -> str:
        """Why it is not typed; empty where it is."""
        return next((why for what, why in SKIPPED.items() if re.match(what, self.words)), "")


def commands(document: Path) -> Iterator[Command]:
    """What a document tells its reader to type."""
    text = document.read_text(encoding="utf-8")
    for part in PART.finditer(text):
        before = text[: part.start()]
        at = before.count("\n") + 1, len(PARAGRAPH.findall(before))
        if part["block"] is None:
            if whole(words := " ".join(part["code"].split())):
                yield Command(words, *at, literal=False)
        elif part["block"].startswith("$ "):
            for shown in re.split(r"^\$ ", part["block"], flags=re.M)[1:]:
                words, *output = shown.rstrip("\n").split("\n")
                yield Command(words, *at, part["kind"] == "console", tuple(output))
        elif part["block"].split(None, 1)[0] in PROGRAMS:
            yield from script(part["block"], at)
        else:
            for words in IN_A_TERMINAL.findall(part["block"]):
                yield Command(words, *at, literal=True)


def script(block: str, at: tuple[int, int]) -> Iterator[Command]:
    """A block of commands is typed into one shell, but for those that are not typed."""
    lines = [line for line in CONTINUED.sub(" ", block).splitlines() if IN_A_CELL not in line]
    each = [Command(line.partition(" # ")[0].rstrip(), *at, literal=True) for line in lines]
    yield from (command for command in each if command.why_not)
    if left := [command.words for command in each if not command.why_not]:
        yield Command("\n".join(left), *at, literal=True)


def whole(words: str) -> bool:
    """Whether code in a sentence is a command to type, and not the name of a program or of one that needs more."""
    program, _, rest = words.partition(" ")
    if (
        program not in PROGRAMS
        or not rest
        or words in NAMES
        or "…" in words
        or (program == "mpicc" and ".c" not in rest)
    ):
        return False
    if not program.endswith("beowulf") or rest.startswith("-"):
        return not words.endswith("-m beowulf.exercises.heat")
    command: click.Command | None = group()
    left = rest.split()
    while isinstance(command, click.Group) and left and not left[0].startswith("-"):
        command = command.commands.get(left.pop(0))
    return bool(command) and (bool(left) or not any(each.required for each in command.params))


def shorter(words: str) -> str:
    """The rule for what takes long: with `--quick` where the command knows that, and the smallest class of NPB."""
    words = re.sub(r"--class [A-W]", "--class S", words)
    command: click.Command | None = group()
    for word in words.split()[1:]:
        if not isinstance(command, click.Group) or word not in command.commands:
            break
        command = command.commands[word]
    known = {name for each in command.params for name in each.opts} if command else set()
    # Not every suite has a small problem.
    measured = "--quick" in known and not re.search("--unmeasured|--quick|beowulf suite", words)
    return f"{words} --quick" if measured else words


class Reader:
    """Who types what a document says, in a clone and with a cluster of their own."""

    def __init__(self, document: Path, own: Path) -> None:
        handout = document in HANDOUTS
        self.lab = document.parent.name if handout else paths.lab("01").name
        self.clone = own / "clone"
        self.environment = surroundings(own) | {"BEOWULF_WORK": str(self.clone / "work")}
        self.clone.mkdir()
        (self.clone / ".venv").symlink_to(ROOT / ".venv")
        for part in ("labs", "notebooks/release"):
            shutil.copytree(ROOT / part, self.clone / part)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("BEOWULF_WORK", self.environment["BEOWULF_WORK"])
            for slug in (self.lab, *(() if handout else paths.labs())):
                jupyter.lay_out(slug)
        self.work = self.clone / "work" / self.lab
        self.home = self.work if handout or document == LEARNER else self.clone
        (own / "home").mkdir()
        write(self.work, int(self.lab[:2]))
        self.options = shlex.join(BOOTED.get(self.lab, []))
        self.changed = 0  # the paragraph whose sentence has changed the cluster
        self.made: set[str] = set()

    def follow(self, asked: Command) -> str:
        """Type a command; what is wrong with what came."""
        if self.changed and asked.paragraph != self.changed:
            self.restore()
        words = self.filled(asked.words)
        words = words if asked.literal else shorter(words)
        for name, making in MADE_BEFORE.items():
            if name in words and name not in self.made and not (self.work / name).exists():
                self.made.add(name)
                if said := self.type(making):
                    return said
        if not asked.literal and CHANGES.match(words):
            self.changed = asked.paragraph
        other = "--target" in words and not asked.literal
        return self.type(f"{SIMULATED if other else ''}{words}", asked.output)

    def filled(self, words: str) -> str:
        """The command with what a reader puts in place of a word in capitals."""
        asked = lab_file.read(self.lab).questions
        question = next(name for name, each in asked.items() if each.hints)
        for name, value in {**FILLED, "QUESTION": question}.items():
            words = re.sub(rf"\b{re.escape(name)}(?![\w.])", value, words)
        return words

    def type(self, words: str, output: tuple[str, ...] = ()) -> str:
        """Type it as it is; what it said, where that is not what it should."""
        began = time.monotonic()
        folder = self.clone if IN_THE_CLONE.match(words) else self.home
        folder = self.work.parent if IN_ALL_COPIES.match(words) else folder
        asked = (
            words if "$?" in words else f"set -e; {words}"
        )  # one that asks how it ended may fail
        asked = f"! {words}" if REFUSED.search("\n".join(output)) else asked
        said = typed(Shown(asked, list(output)), folder, self.environment)
        print(f"{time.monotonic() - began:6.1f} s  {words}", flush=True)
        return said

    def restore(self) -> None:
        """The cluster as the lab asks for it."""
        self.changed = 0
        for words in ("beowulf up", "beowulf tune revert", "beowulf down"):
            self.type(words)
        assert not (said := self.type(f"beowulf up {self.options}")), said

    def leave(self) -> None:
        """Take down what runs, in either state folder."""
        for before in ("", SIMULATED):
            self.type(f"{before}beowulf down --force")


def write(folder: Path, lab: int) -> None:
    """What a learner has written before the text runs it: heat.py, and gas.c as the notebook's author has it."""
    heat_solutions.write(folder.parent / "heat", lab)
    (source,) = (ROOT / "notebooks" / "source" / folder.name).glob("*.py")
    solved = re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", source.read_text(), re.S)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for block in solved:
            if 'Path("gas.c")' in block:
                exec(block, {"Path": Path})


@pytest.mark.cluster
@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)).replace("/README.md", "")
)
def test_every_command_that_a_document_names_works(
    document: Path, namespaces_work: None, tmp_path: Path
) -> None:
    reader = Reader(document, tmp_path)
    wrong = []
    try:
        reader.type(f"beowulf up {reader.options}")
        for command in commands(document):
            if not command.why_not and (said := reader.follow(command)):
                wrong.append(f"{document.relative_to(ROOT)}, line {command.line}\n{said}")
                print(wrong[-1], flush=True)
    finally:
        reader.leave()
    assert not wrong, "\n\n".join(wrong)
