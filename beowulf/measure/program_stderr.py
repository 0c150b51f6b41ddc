"""What a measuring program prints on stderr."""

from __future__ import annotations

from collections.abc import Callable

LIBRARYS_OWN = ("Abort(", "application called MPI_Abort", "[", "mpiexec:")
REFUSED = "refused: "  # how labs/include/measure/check.h begins the sentence of a program


class ProgramStderr:
    """What a program prints on stderr, passed on line by line, but for the sentence with which it refuses.

    `with` it, the last line counts even where the program did not end it.
    """

    def __init__(self, pass_on: Callable[[str], object]) -> None:
        self.refused = ""
        self.message = ""  # the first line that is not the library's own
        self._pass_on = pass_on
        self._rest = ""

    def __enter__(self) -> ProgramStderr:
        return self

    def __exit__(self, *_: object) -> None:
        if self._rest:
            self.write("\n")

    def write(self, text: str) -> None:
        """Take some text, and look at what lines it ends."""
        *whole, self._rest = (self._rest + text).split("\n")
        for line in whole:
            if line.startswith(REFUSED):
                self.refused = line.removeprefix(REFUSED)
                continue
            if line.strip() and not line.startswith(LIBRARYS_OWN):
                self.message = self.message or line.strip()
            self._pass_on(line + "\n")
