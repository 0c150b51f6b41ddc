"""What a measuring program says on stderr."""

from __future__ import annotations

import io
from typing import IO

LIBRARYS_OWN = ("Abort(", "application called MPI_Abort", "[", "mpiexec:")
REFUSED = "refused: "  # how labs/include/measure/check.h begins the sentence of a program


class ProgramStderr(io.TextIOBase):
    """What a program says on stderr: passed on, but for the sentence with which it refuses."""

    def __init__(self, passed_on_to: IO[str]) -> None:
        self.refused = ""
        self.said = ""  # the first line that is not the library's own
        self._to = passed_on_to
        self._rest = ""
        # A progress bar that is drawn on stderr meanwhile goes round us: rich asks for this name.
        self.rich_proxied_file = getattr(passed_on_to, "rich_proxied_file", passed_on_to)

    def writable(self) -> bool:
        """It can be written to."""
        return True

    def write(self, text: str) -> int:
        """Take some text, and look at what lines it ends."""
        *whole, self._rest = (self._rest + text).split("\n")
        for line in whole:
            if line.startswith(REFUSED):
                self.refused = line.removeprefix(REFUSED)
                continue
            if line.strip() and not line.startswith(LIBRARYS_OWN):
                self.said = self.said or line.strip()
            self._to.write(line + "\n")
        return len(text)

    def close(self) -> None:
        """The program has ended: its last line counts even where it did not end that."""
        if not self.closed and self._rest:
            self.write("\n")
        super().close()
