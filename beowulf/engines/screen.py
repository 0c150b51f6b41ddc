"""What ranks print and draw, shown in a notebook as it comes: every line begins with the name of its node."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, TextIO

MOST_SHOWN = 1_000_000  # characters of a cell
CUT = "Cut here: this cell has printed more than 1 MB."


class Screen:
    """The output of one cell; `nodes` are the names by rank."""

    def __init__(self, nodes: Mapping[int, str]) -> None:
        self.nodes = nodes
        self.width = max(map(len, nodes.values()))
        self._shown: dict[tuple[int, str], int] = defaultdict(int)
        self._printed = 0
        self._cut = False

    def show(self, parts: Mapping[int, Any], *, last: bool = False) -> None:
        """Show what is new in each rank's result; what is no whole line yet only when it is the `last` time."""
        for rank, part in parts.items():
            for name, file in (("stdout", sys.stdout), ("stderr", sys.stderr)):
                self._stream(rank, name, str(part[name] or ""), file, last)
            drawn, result = list(part["outputs"] or ()), part["execute_result"]
            for content in drawn[self._shown[rank, "outputs"] :]:
                self._rich(rank, content)
            self._shown[rank, "outputs"] = len(drawn)
            if result and not self._shown[rank, "result"]:
                self._shown[rank, "result"] = 1
                self._rich(rank, result)

    def _stream(self, rank: int, name: str, text: str, file: TextIO, last: bool) -> None:
        # A carriage return takes back what was printed before it in its line.
        known = min(self._shown[rank, name], len(text))
        end = len(text) if last else text.rfind("\n") + 1
        if end > known:
            self._shown[rank, name] = end
            self._lines(rank, text[known:end], file)

    def _lines(self, rank: int, text: str, file: TextIO) -> None:
        if self._cut:
            return
        room = MOST_SHOWN - self._printed
        self._printed += len(text)
        label = f"{self.nodes[rank]:<{self.width}} │ "
        print(*(label + line for line in text[:room].splitlines()), sep="\n", file=file, flush=True)
        if self._printed > MOST_SHOWN:
            self._cut = True
            print(CUT, file=sys.stderr, flush=True)

    def _rich(self, rank: int, content: Mapping[str, Any]) -> None:
        data = content["data"]
        if set(data) <= {"text/plain"}:
            self._lines(rank, str(data.get("text/plain", "")), sys.stdout)
            return
        from IPython import display

        self._lines(rank, "\n", sys.stdout)
        room: Any = display  # it has no types
        room.display(data, metadata=content.get("metadata") or {}, raw=True)
