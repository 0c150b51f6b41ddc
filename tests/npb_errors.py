"""Errors that one could make in the NAS Parallel Benchmarks, each as a replacement in a copy of a source.

They are of the kind that gives a plausible time: less work, a slip in a constant, a place that is never looked at.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from beowulf import mpi, paths

NPB = paths.root() / "labs" / "03-parallel-benchmarks" / "npb"


@dataclass(frozen=True)
class Planted:
    """An error: in which program, what it is, and the text of a file that is replaced."""

    program: str
    what: str
    file: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.program}: {self.what}"

    def built(self, folder: Path) -> Path:
        """The program with the error, compiled in `folder`."""
        sources = Path(shutil.copytree(NPB, folder / "npb"))
        text = (sources / self.file).read_text()
        assert text.count(self.old) == 1, self
        (sources / self.file).write_text(text.replace(self.old, self.new))
        return mpi.build(sources / f"{self.program}.c", output=folder / self.program)


TIMED_SCHEME = "    double began = begin_timing();\n    iterate(&solver, class->steps);"
HALF_SCHEME = (
    "    iterate(&solver, class->steps / 2);\n    double began = begin_timing();\n"
    "    iterate(&solver, class->steps - class->steps / 2);"
)

# One in each program.
ERRORS = [
    Planted(
        *("ep", "rings by one deviate", "ep.c"),
        "double larger = fabs(gauss_x) > fabs(gauss_y) ? fabs(gauss_x) : fabs(gauss_y);",
        "double larger = fabs(gauss_x);",
    ),
    Planted(
        *("is", "the second changed key off by one", "is.c"),
        "sort->highest - iteration;",
        "sort->highest - iteration - 1;",
    ),
    Planted("cg", "24 inner iterations", "cg.c", "INNER = 25", "INNER = 24"),
    Planted(
        *("mg", "another smoother", "mg.c"), "-3.0 / 8.0, 1.0 / 32.0", "-3.0 / 8.0, 1.0 / 31.0"
    ),
    Planted(
        *("ft", "columns that no checksum sees", "ft.c"),
        "        for (int i = 0; i < cube->x; i += WIDTH)\n",
        "        for (int i = direction > 0 && z == 1 ? WIDTH : 0; i < cube->x; i += WIDTH)\n",
    ),
    Planted(*("lu", "another relaxation", "lu.c"), "RELAXATION 1.2", "RELAXATION 1.20001"),
    Planted(
        *("sp", "half of the steps before the clock runs", "flow_lines.h"),
        TIMED_SCHEME,
        HALF_SCHEME,
    ),
    Planted(
        *("bt", "a wall as if there were points behind it", "flow_operator.h"),
        "return 5.0 * u[0] - 4.0 * u[1] + u[2];",
        "return 6.0 * u[0] - 4.0 * u[1] + u[2];",
    ),
]
