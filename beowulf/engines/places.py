"""Where a rank is: the line of a cell that an engine is at, whatever it does there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from beowulf.cluster import Cluster
from beowulf.cluster.common import at_once
from beowulf.engines.on_engine import ASKS_WHERE, CELLS

LONGEST_ANSWER_S = 60.0
LONGEST_TEXT = 100
# The engine writes several times: first it has begun to, then a moment passes.
ASK = """\
size() {{ wc -c <{file}; }}
before=$(size); kill -{signal} {pid} || exit 1
for try in 1 2 3 4 5 6 7 8 9; do [ "$(size)" -gt "$before" ] && break; sleep 0.1; done
sleep 0.1; cat {file}
"""
THREAD = re.compile(r"^(?:Current thread|Thread) 0x([0-9a-f]+).*\n((?:  .*\n?)*)", re.MULTILINE)
FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)
# Calls that return when another rank has done something.
WAITS = re.compile(
    r"\.\s*(i?s?send|recv|mrecv|sendrecv|i?m?probe|wait|barrier|bcast|i?gather|scatter|reduce|all|scan|exscan)\w*\(",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Engine:
    """An engine as it was when it began: its rank, its node, its process there, and the file that it answers in."""

    rank: int
    node: str
    pid: int
    thread: int
    file: str

    def __str__(self) -> str:
        return f"{self.node} (rank {self.rank})"


@dataclass(frozen=True)
class Place:
    """A line of a cell, and the function that it is in; `line` is 0 where none is known."""

    line: int = 0
    function: str = ""
    text: str = ""
    elsewhere: bool = False  # in no line of a cell

    def __str__(self) -> str:
        inside = f" of {self.function}" if self.function else ""
        text = self.text if len(self.text) <= LONGEST_TEXT else f"{self.text[:LONGEST_TEXT]}…"
        return f"line {self.line}{inside}: {text}" if text else f"line {self.line}{inside}"

    @property
    def sentence(self) -> str:
        """What a rank does there that has not ended."""
        if not self.line:
            return "is in no line of yours" if self.elsewhere else "has not ended"
        return f"{'waits' if WAITS.search(self.text) else 'is'} in {self}"


def ask(
    cluster: Cluster, engines: Mapping[str, Engine], cells: Mapping[str, str]
) -> dict[str, Place]:
    """The place of each engine, by node; `cells` are the sources by the names of their files."""

    def one(node: str) -> Place:
        engine = engines[node]
        script = ASK.format(signal=int(ASKS_WHERE), pid=engine.pid, file=shlex.quote(engine.file))
        done = cluster.run(node, script, timeout_s=LONGEST_ANSWER_S)
        return read(done.stdout, engine.thread, cells)

    answers, failed = at_once.everywhere(list(engines), one)
    return {**answers, **{node: Place() for node in failed}}


def read(dump: str, thread: int, cells: Mapping[str, str]) -> Place:
    """Where `thread` is by the last of faulthandler's answers in `dump`."""
    frames = [block for ident, block in THREAD.findall(dump) if int(ident, 16) == thread]
    for file, line, function in FRAME.findall(frames[-1]) if frames else ():
        if CELLS in file:
            number, lines = int(line), cells.get(PurePath(file).name, "").splitlines()
            text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
            return Place(number, "" if function.startswith("<") else function, text)
    return Place(elsewhere=bool(frames))
