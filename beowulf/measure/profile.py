"""Where the time of an MPI program goes: what profile.c of lab 03, loaded between it and the library, prints."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf import mpi, paths
from beowulf.errors import LabError

if TYPE_CHECKING:
    from rich.table import Table

SOURCE = paths.root() / "labs" / "03-parallel-benchmarks" / "profile.c"
BEGINS = '{"kind": "profile"'
# Behind what the cluster's mpiexec preloads already, and for the program alone, not for this shell.
LOAD = 'library=$1; shift; LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$library" exec "$@"'


def build(folder: Path, *, library: str = "classic") -> Path:
    """Compile profile.c for an MPI library, into a folder that all nodes see."""
    return mpi.build(
        SOURCE, library=library, output=folder / "profile.so", flags=("-shared", "-fPIC")
    )


def prefix(built: Path) -> list[str]:
    """The words before a program's own and load what `build` gave."""
    return ["sh", "-c", LOAD, "profile", str(built)]


@dataclass(frozen=True)
class Calls:
    """Calls of one kind, of all ranks together: how many, the seconds inside, and the bytes given to MPI to send."""

    count: int
    seconds: float
    bytes: int


@dataclass(frozen=True)
class Profile:
    """What all ranks of one run printed, in their order: a mapping each, as plain data of a Record."""

    ranks: tuple[Mapping[str, Any], ...]

    @property
    def share(self) -> float:
        """The part of all ranks' counted time that was spent inside of MPI, from 0 to 1."""
        counted = sum(float(rank["seconds"]) for rank in self.ranks)
        inside = sum(float(rank["communicating_s"]) for rank in self.ranks)
        return inside / counted if counted else 0.0

    @property
    def shares(self) -> list[float]:
        """The same for each rank."""
        return [Profile((rank,)).share for rank in self.ranks]

    @property
    def calls(self) -> dict[str, Calls]:
        """The calls of all ranks by name, those that took longest first."""
        calls: dict[str, Calls] = {}
        for rank in self.ranks:
            for name, one in rank["calls"].items():
                so_far = calls.get(name, Calls(0, 0.0, 0))
                calls[name] = Calls(
                    so_far.count + int(one["count"]),
                    so_far.seconds + float(one["seconds"]),
                    so_far.bytes + int(one["bytes"]),
                )
        return dict(sorted(calls.items(), key=lambda item: -item[1].seconds))

    @property
    def bytes(self) -> int:
        """What all ranks gave to MPI to send."""
        return sum(calls.bytes for calls in self.calls.values())

    def as_plain(self) -> list[dict[str, Any]]:
        """What a Record keeps."""
        return [dict(rank) for rank in self.ranks]

    def __rich__(self) -> Table:
        from rich.table import Table

        counted = sum(float(rank["seconds"]) for rank in self.ranks)
        shares = ", ".join(f"{share:.0%}" for share in self.shares)
        title = f"Inside of MPI: {self.share:.0%} of the counted time (rank by rank: {shares})"
        table = Table(title=title, title_justify="left")
        table.add_column("call", no_wrap=True)
        for head in ("calls", "seconds, all ranks", "share", "bytes sent", "bytes a call"):
            table.add_column(head, justify="right")
        for name, each in self.calls.items():
            table.add_row(
                name,
                f"{each.count:,}",
                f"{each.seconds:.4g}",
                f"{each.seconds / counted:.1%}" if counted else "–",
                f"{each.bytes:,}",
                f"{each.bytes / each.count:,.0f}" if each.bytes else "–",
            )
        return table


def profile(lines: Iterable[Mapping[str, Any]]) -> Profile:
    """The profile among the lines of a run; LabError where there is none."""
    profiles = [line for line in lines if line.get("kind") == "profile"]
    if not profiles:
        raise LabError(
            "No rank reached MPI_Finalize, so there is no profile.",
            "Is it an MPI program, and did it end normally?",
        )
    ranks = ({name: line[name] for name in line if name != "kind"} for line in profiles)
    return Profile(tuple(sorted(ranks, key=lambda rank: int(rank["rank"]))))


def printed(text: str) -> Profile:
    """The profile in what a program printed."""
    try:
        return profile(json.loads(line) for line in text.splitlines() if line.startswith(BEGINS))
    except ValueError as error:
        raise LabError(f"A profile is incomplete: {error}.", "Measure again.") from None


class Sieve:
    """Passes on what a program prints, as it comes, but for the lines of its profile."""

    def __init__(self, pass_on: Callable[[str], object]) -> None:
        self._pass_on = pass_on
        self._rest = ""  # the beginning of a line that may become one of a profile
        self._passing = False  # in the middle of a line that is passed on

    def write(self, text: str) -> None:
        """Take some text, and pass on what is no profile."""
        for part in text.splitlines(keepends=True):
            self._rest += part
            if not self._passing and self._rest.startswith(BEGINS):
                if self._rest.endswith("\n"):
                    self._rest = ""
                continue
            if self._passing or not BEGINS.startswith(self._rest):
                self._pass_on(self._rest)
                self._passing = not self._rest.endswith("\n")
                self._rest = ""
