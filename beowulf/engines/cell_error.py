"""What a cell on engines raises."""

from __future__ import annotations

from collections.abc import Sequence

from beowulf.errors import LabError


class CellError(LabError):
    """A cell that went wrong on an engine, in sentences; those that the notebook has shown already are not repeated."""

    def __init__(self, shown: Sequence[str], sentences: Sequence[str], hint: str = "") -> None:
        super().__init__("\n".join([*shown, *sentences]), hint)
        self._rest = [*sentences, *([hint] if hint else [])]

    def _render_traceback_(self) -> list[str]:
        return self._rest
