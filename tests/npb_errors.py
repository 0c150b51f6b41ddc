"""Thirty errors that one could make in the NAS Parallel Benchmarks, each as a replacement in a copy of a source.

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
        return self.id

    @property
    def id(self) -> str:
        """A name for a test."""
        return f"{self.program}: {self.what}"

    def built(self, folder: Path) -> Path:
        """The program with the error, compiled in `folder`; AssertionError where the text is not there once."""
        sources = folder / "npb"
        shutil.copytree(NPB, sources)
        source = sources / self.file
        text = source.read_text()
        assert text.count(self.old) == 1, (
            f"{self.file} has {self.old!r} {text.count(self.old)} times"
        )
        source.write_text(text.replace(self.old, self.new))
        return mpi.build(sources / f"{self.program}.c", output=folder / self.program)


TIMED_SCHEME = "    double began = begin_timing();\n    iterate(&solver, class->steps);"
HALF_SCHEME = (
    "    iterate(&solver, class->steps / 2);\n    double began = begin_timing();\n"
    "    iterate(&solver, class->steps - class->steps / 2);"
)
UNTIMED_FIRST = (
    "    begin_state(&cube, (uint64_t)npb.seed); /* a warm-up */\n    double began = begin_timing();\n"
    "    begin_state(&cube, (uint64_t)npb.seed);"
)

ERRORS = [
    Planted(
        *("ep", "rings by one deviate", "ep.c"),
        "double larger = fabs(gauss_x) > fabs(gauss_y) ? fabs(gauss_x) : fabs(gauss_y);",
        "double larger = fabs(gauss_x);",
    ),
    Planted(
        *("ep", "a batch left out", "ep.c"),
        "for (long i = batches * rank / ranks;",
        "for (long i = batches * rank / ranks + (rank == 0);",
    ),
    Planted(*("ep", "a circle too small", "ep.c"), "t[kept] <= 1.0", "t[kept] <= 0.999999"),
    Planted(
        *("ep", "a ring too far out", "ep.c"), "rings[(int)larger]++", "rings[(int)larger + 1]++"
    ),
    Planted(
        *("is", "the second changed key off by one", "is.c"),
        "sort->highest - iteration;",
        "sort->highest - iteration - 1;",
    ),
    Planted(
        *("is", "a changed key at another place", "is.c"),
        "sort->keys[iteration + ITERATIONS]",
        "sort->keys[iteration + ITERATIONS + 1]",
    ),
    Planted(
        *("is", "one key not counted", "is.c"),
        "for (; counted < sort->count; counted++)",
        "for (; counted < sort->count - 1; counted++)",
    ),
    Planted(
        *("is", "keys of three numbers and a half", "is.c"),
        "            sum += draw(&state);",
        "            sum += j == 3 ? 0.5 * draw(&state) : draw(&state);",
    ),
    *(
        Planted("cg", f"{count} inner iterations", "cg.c", "INNER = 25", f"INNER = {count}")
        for count in (15, 20, 24)
    ),
    Planted(
        *("cg", "the residual is never computed", "cg.c"),
        "    multiply(s, s->z, s->q);\n",
        "",
    ),
    Planted(
        *("cg", "weights that fall too fast", "cg_matrix.h"),
        "weight[i] = weight[i - 1] * fall;",
        "weight[i] = weight[i - 1] * fall * (1.0 - 1e-9);",
    ),
    Planted(
        *("mg", "another smoother", "mg.c"), "-3.0 / 8.0, 1.0 / 32.0", "-3.0 / 8.0, 1.0 / 31.0"
    ),
    Planted(*("mg", "nine charges", "mg_start.h"), "CHARGES = 10", "CHARGES = 9"),
    Planted(
        *("mg", "no correction from the coarsest level", "mg.c"),
        "        if (k > 1) {\n            prolong",
        "        if (k > 2) {\n            prolong",
    ),
    Planted(
        *("mg", "all charges with the other sign", "mg_start.h"),
        "set_charges(box, level, list, sign, values);",
        "set_charges(box, level, list, -sign, values);",
    ),
    Planted(*("ft", "heat that spreads faster", "ft.c"), "ALPHA 1e-6", "ALPHA 1.00001e-6"),
    Planted(
        *("ft", "columns that no checksum sees", "ft.c"),
        "        for (int i = 0; i < cube->x; i += WIDTH)\n",
        "        for (int i = direction > 0 && z == 1 ? WIDTH : 0; i < cube->x; i += WIDTH)\n",
    ),
    Planted(
        *("ft", "the first transform before the clock runs", "ft.c"),
        UNTIMED_FIRST,
        "    begin_state(&cube, (uint64_t)npb.seed);\n    double began = begin_timing();",
    ),
    Planted(
        *("ft", "frequencies of the wrong sign", "ft.c"),
        "return k < n / 2 ? k : k - n;",
        "return k < n / 4 ? k : k - n;",
    ),
    Planted(*("lu", "another relaxation", "lu.c"), "RELAXATION 1.2", "RELAXATION 1.20001"),
    Planted(
        *("lu", "half of the steps before the clock runs", "lu.c"),
        "    double began = begin_timing();\n    iterate(&flow, steps, residuals);",
        "    iterate(&flow, steps / 2, residuals);\n    double began = begin_timing();\n"
        "    iterate(&flow, steps - steps / 2, residuals);",
    ),
    Planted(
        *("lu", "a plane that the upper sweep leaves out", "lu.c"),
        "        for (int z = flow->side - 2; z > 0; z--) {",
        "        for (int z = flow->side - 2; z > 1; z--) {",
    ),
    Planted(
        *("lu", "a surface of the whole cube", "lu_surface.h"),
        "flow->side - 2, flow->side - 3, flow->side - 2",
        "flow->side - 2, flow->side - 2, flow->side - 2",
    ),
    Planted(
        *("sp", "half of the steps before the clock runs", "flow_lines.h"),
        TIMED_SCHEME,
        HALF_SCHEME,
    ),
    Planted(
        *("sp", "a root of seven digits", "sp_waves.h"),
        "0.70710678118654752440",
        "0.7071068",
    ),
    Planted(
        *("bt", "a wall as if there were points behind it", "flow_operator.h"),
        "return 5.0 * u[0] - 4.0 * u[1] + u[2];",
        "return 6.0 * u[0] - 4.0 * u[1] + u[2];",
    ),
    Planted(
        *("bt", "half of the steps before the clock runs", "flow_lines.h"),
        TIMED_SCHEME,
        HALF_SCHEME,
    ),
    Planted(
        *("bt", "a formula that counts more operations", "bt.c"),
        "3478.8 * pow",
        "3578.8 * pow",
    ),
]
