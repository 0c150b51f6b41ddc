"""Knobs that no node has, because every program has its own."""

from __future__ import annotations

from beowulf.tuning.knob import Knob


class ProgramsOwn(Knob):
    """A setting of each connection or process: to be read about, not to be turned from outside."""

    values = ()
    tuned = ""
    shows = ""
    lacking: str

    def accepted(self, value: str) -> str:
        return value  # the error message says why it cannot be turned

    def look(self, place: str) -> str:
        return f"echo '{self.lacking}'; exit 1"

    def value(self, state: str) -> str:
        return ""

    def set(self, value: str, place: str) -> str:
        return self.look(place)

    def back(self, state: str, place: str) -> str:
        return self.look(place)
