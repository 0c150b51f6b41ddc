"""A part of a benchmark that fails is reported in its row; the other rows are still measured."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.turns import Side
from beowulf.errors import LabError


class Failures(dict[str, str]):
    """Why sides failed, by name."""

    def spare(self, name: str, side: Side) -> Side:
        """The side; after it has failed, its reason is stored here, and it is not run again."""

        def run() -> Mapping[str, float]:
            if name in self:
                return {}
            try:
                return side()
            except LabError as trouble:
                self[name] = " ".join(str(trouble).split())
                return {}

        return run
