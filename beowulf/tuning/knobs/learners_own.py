"""A learner's own knob, as the log has it: the lines that read it and those that put it back, written beforehand."""

from __future__ import annotations

from collections.abc import Mapping

from beowulf.errors import UsageError
from beowulf.tuning.knob import Knob


class Written(Knob):
    """It is turned by the learner's file (beowulf/labs/lab_07/own_knob.py); from here it can be put back."""

    title = "a knob of your own"
    elsewhere = "A new cluster has none of it: `beowulf down`, `beowulf up`."

    def __init__(self, name: str, look: str, again: Mapping[str, str]) -> None:
        self.name, self._look, self._again = name, look, again

    def look(self, place: str) -> str:
        return self._look

    def set(self, value: str, place: str) -> str:
        raise UsageError(f"{self.name} can be turned only by the file that it is written in.")

    def back(self, state: str, place: str) -> str:
        return self._again[place]
