"""Knobs that are a file on a node: a word in it, or no such file."""

from __future__ import annotations

from beowulf.tuning.knob import Knob


class NodeFile(Knob):
    """A knob whose first value is that there is no file."""

    file: str

    def look(self, place: str) -> str:
        return f"[ ! -e {self.file} ] || cat {self.file}"

    def value(self, state: str) -> str:
        return state.strip() or self.values[0]

    def set(self, value: str, place: str) -> str:
        if value == self.values[0]:
            return f"rm -f {self.file}"
        return f"mkdir -p /run/beowulf\necho {value} >{self.file}"
