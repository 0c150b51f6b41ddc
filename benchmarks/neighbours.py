"""Well-known programs that time a ping-pong: where they are, how they are started, and what they print."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import commands
from benchmarks.rows import Bar
from beowulf import paths
from beowulf.errors import LabError

LARGEST = 1024
NETPIPE_TRIALS = 7
NETPIPE_REPETITIONS = 1000

# What of our chunks is compared with a neighbour's figure: the same of as many.
MEAN, LEAST_OF_7, LEAST_OF_5, AS_IMB = "mean", "least of 7", "least of 5", "as IMB"

NOT_SLOWER = Bar(1.0, "ratio", "not slower")
WITHIN_A_TENTH = Bar(1.1, "ratio", "within 10 %", least=0.9)


@dataclass(frozen=True)
class Neighbour:
    """A program by others. `command` starts it for the sizes up to `largest`; it writes to `output` or prints.

    `read` returns the seconds of half a round trip by size; the least of `launches` launches is taken.
    """

    name: str
    ours: str
    bar: Bar
    command: list[str]
    read: Callable[[str], dict[int, float]]
    missing: str = ""
    launches: int = 1
    largest: int = LARGEST
    output: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def taken(self, printed: str) -> dict[int, float]:
        """The seconds by size that one launch printed; LabError when there are none."""
        seconds_by_size = self.read(self.output.read_text() if self.output else printed)
        if self.output:
            self.output.unlink()
        seconds_by_size = {size: s for size, s in seconds_by_size.items() if size <= self.largest}
        if not seconds_by_size:
            last = " / ".join(printed.strip().splitlines()[-3:])
            raise LabError(f"{self.name} printed no times: {last}")
        return seconds_by_size


def all_of_them(folder: Path) -> list[Neighbour]:
    """Every neighbour, with the reason in `missing` where one cannot be measured here."""
    return [mpi4py_bench(), netpipe(folder), mpptest(folder), imb(), imb_its_way()]


def mpi4py_bench() -> Neighbour:
    """From PyPI, on the library of this environment; a mean of 10,000, each timed by itself."""
    sizes = ["-m", "1", "-n", str(LARGEST)]
    command = [str(paths.python_bin() / "python"), "-m", "mpi4py.bench", "pingpong", *sizes]
    return Neighbour("mpi4py.bench", MEAN, NOT_SLOWER, command, read_mpi4py)


def netpipe(folder: Path) -> Neighbour:
    """Debian's netpipe-mpich2, on the library of this environment in place of Debian's own."""
    program, output = shutil.which("NPmpich2") or "", folder / "netpipe.out"
    shim = folder / "netpipe"
    # MPICH's libraries keep one binary interface since 3.1; only Debian's name of the file differs.
    shim.mkdir()
    library = paths.mpi_prefix("classic") / "lib" / "libmpi.so.12"
    (shim / "libmpich.so.12").symlink_to(library)
    settings = {"LD_LIBRARY_PATH": str(shim)}
    missing = "NPmpich2 (Debian's netpipe-mpich2) is not in PATH"
    if program:
        env = commands.environment(**settings)
        loads = subprocess.run(["ldd", program], capture_output=True, text=True, env=env).stdout
        missing = "" if str(shim) in loads else "NPmpich2 does not take our MPI library"
    options = f"-l 1 -u {LARGEST} -p 0 -n {NETPIPE_REPETITIONS} -o {output}".split()
    return Neighbour(
        "NetPIPE",
        LEAST_OF_7,
        NOT_SLOWER,
        [program, *options],
        read_netpipe,
        missing,
        output=output,
        settings=settings,
    )


def mpptest(folder: Path) -> Neighbour:
    """Argonne's mpptest, built by hand with this environment's mpicc."""
    program, output = shutil.which("mpptest") or "", folder / "mpptest.out"
    command = [program, *f"-logscale -size 0 {LARGEST} 1 -fname {output}".split()]
    missing = "" if program else "mpptest is not in PATH"
    return Neighbour(
        "mpptest", LEAST_OF_5, WITHIN_A_TENTH, command, read_mpptest, missing, 5, output=output
    )


def imb() -> Neighbour:
    """Intel's IMB-MPI1 up to 1 KiB; a mean of 1000 a launch, and the least of five launches."""
    return _imb("IMB-MPI1", LEAST_OF_5, 10, 5)


def imb_its_way() -> Neighbour:
    """The same up to 4 MiB, against our program in IMB's way; one mean a launch of both."""
    return _imb("IMB-MPI1, its way", AS_IMB, 22, 1)


def _imb(name: str, ours: str, log_of_largest: int, launches: int) -> Neighbour:
    program = shutil.which("IMB-MPI1") or ""
    command = [program, "PingPong", "-msglog", f"0:{log_of_largest}"]
    # Intel's own build asks for its library by the name that ours has, too.
    library = paths.mpi_prefix("classic") / "lib"
    return Neighbour(
        name,
        ours,
        WITHIN_A_TENTH,
        command,
        read_imb,
        "" if program else "IMB-MPI1 is not in PATH (the wheel impi-rt from PyPI has one)",
        launches,
        1 << log_of_largest,
        settings={"LD_LIBRARY_PATH": str(library)},
    )


def read_mpi4py(text: str) -> dict[int, float]:
    """Lines such as `    1024    1463.18 | 6.9984567e-07 ± 2.3e-07    10000`."""
    rows = re.findall(r"^\s*(\d+)\s+[\d.]+ \| (\S+) ±", text, re.MULTILINE)
    return {int(size): float(seconds) for size, seconds in rows}


def read_netpipe(text: str) -> dict[int, float]:
    """Lines of bytes, Mbit/s of 2^20 bits, seconds; of seconds only two digits are printed, so rates are read."""
    rows = [line.split() for line in text.splitlines()]
    return {int(size): 8 * int(size) / (float(rate) * 2**20) for size, rate, _ in rows}


def read_mpptest(text: str) -> dict[int, float]:
    """Lines of the two ranks, their distance, bytes, microseconds, rate; numbers as 0.34 or 190.095e+3."""
    number = r"\d+(?:\.\d+)?(?:e[-+]?\d+)?"
    row = rf"^\d+\s+\d+\s+\d+\s+(\d+)\s+({number})\s+{number}\s*$"
    rows = re.findall(row, text, re.MULTILINE)
    return {int(size): float(us) * 1e-6 for size, us in rows}


def read_imb(text: str) -> dict[int, float]:
    """Lines of bytes, repetitions, microseconds, rate."""
    rows = re.findall(r"^\s*(\d+)\s+\d+\s+([\d.]+)\s+[\d.]+\s*$", text, re.MULTILINE)
    return {int(size): float(us) * 1e-6 for size, us in rows}
