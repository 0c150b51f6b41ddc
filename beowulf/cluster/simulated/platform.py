"""The machines and the network of a simulated cluster: a few lines of TOML, and SimGrid's own description of them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from beowulf.errors import UsageError

FEWEST_NODES, MOST_NODES, MOST_CORES = 2, 100_000, 1024
KINDS = {int: "a whole number", float: "a number", tuple: "a list of numbers"}
FASTEST = 2.0  # times the rate of a link: SimGrid lets no message be faster
USUAL_EAGER_BYTES = 131_072  # of MPICH over TCP
HEADER_BYTES = 16  # what SimGrid's MPI adds to each message on the way
# SimGrid's names: of MPI_Send, MPI_Isend, and of a receive.
HEAD = (
    '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
    '<platform version="4.1">\n'
)


@dataclass(frozen=True)
class Platform:
    """So many nodes, what each computes and what its link carries; the links meet in one switch.

    `times_us` are bytes and the µs that a message of so many takes between two
    nodes, as measured; without them it takes SimGrid's usual times. A message of `eager_bytes` or more leaves when its
    receiver asks for it. A `backplane_mbit` of 0 is a switch that carries whatever its links bring. A message keeps its
    sender busy for `send_us`, and a short one its receiver for `receive_us`; both are part of `times_us`. An empty one
    takes as long, and keeps nobody busy.
    """

    nodes: int = 4
    cores: int = 1
    gflops: float = 1.0
    rate_mbit: float = 100.0
    latency_us: float = 25.0
    backplane_mbit: float = 0.0
    times_us: tuple[tuple[int, float], ...] = ()
    eager_bytes: int = USUAL_EAGER_BYTES
    send_us: float = 0.0
    receive_us: float = 0.0

    def __post_init__(self) -> None:
        for name, low, high in (
            ("nodes", FEWEST_NODES, MOST_NODES),
            ("cores", 1, MOST_CORES),
            ("gflops", 1e-6, 1e9),
            ("rate_mbit", 1e-3, 1e9),
            ("latency_us", 1e-3, 1e9),
            ("backplane_mbit", 0, 1e12),
            ("eager_bytes", 0, 1 << 30),
            ("send_us", 0, 1e6),
            ("receive_us", 0, 1e6),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise UsageError(
                    f"In a simulated cluster, {name} must be {low:g} to {high:g}, not {value:g}."
                )
        busy = self.send_us + self.receive_us
        if busy and (not self.times_us or busy >= self.times_us[0][1]):
            raise UsageError(
                f"send_us and receive_us, together {busy:g} µs, must be less than the shortest message's"
                f" time in `times_us`.",
                "Give `times_us`, or smaller overheads.",
            )

    @property
    def names(self) -> tuple[str, ...]:
        """node00, node01, …"""
        return tuple(f"node{number:02}" for number in range(self.nodes))

    def factors(self) -> list[str]:
        """The options by which SimGrid's messages take `times_us`: on each stretch of sizes a straight line."""
        if not self.times_us:
            return []
        latencies: list[str] = []
        rates: list[str] = []
        # SimGrid's factors are of the narrowest link on the way.
        narrowest = min(self.rate_mbit, self.backplane_mbit or self.rate_mbit)
        points = self._points()
        ends = [*points[1:], None]
        slope = least = 8 / self.rate_mbit / FASTEST
        for (size, time), after in zip(points, ends, strict=True):
            if after is not None:
                slope = max((after[1] - time) / (after[0] - size), least)
            on_the_way = time - self._busy_us(size)
            start = on_the_way - slope * size
            if start <= 0:
                start, slope = 0.0, on_the_way / size
            # A factor is for what is longer; the first one is for all that is shorter than the second's.
            at = size + HEADER_BYTES - 1 if latencies else 0
            latencies.append(f"{at}:{start / (2 * self.latency_us)!r}")
            rates.append(f"{at}:{8 / slope / narrowest!r}")
        return [
            f"--cfg=smpi/lat-factor:{';'.join(latencies)}",
            f"--cfg=smpi/bw-factor:{';'.join(rates)}",
            *(
                f"--cfg=smpi/{name}:0:0:0;0:{busy_us * 1e-6!r}:0"
                for name, busy_us in (
                    ("os", self.send_us),
                    ("ois", self.send_us),  # codespell:ignore ois
                    ("or", self.receive_us),
                )
                if busy_us
            ),
        ]

    def _busy_us(self, size: int) -> float:
        """How much of a message's time its sender and its receiver are busy."""
        if size == 0:
            return (
                0.0  # SimGrid before 4.0 would take the overhead of what is longer, later ones none
            )
        # A message that waits for its receiver keeps that one busy anyway.
        return self.send_us + (self.receive_us if size < self.eager_bytes else 0)

    def _points(self) -> list[tuple[int, float]]:
        """`times_us`, and where an empty message keeps nobody busy, the time of one byte as well."""
        points = list(self.times_us)
        if self.send_us + self.receive_us and points[0][0] == 0 and points[1][0] > 1:
            (_, shortest), (size, time) = points[:2]
            points.insert(1, (1, shortest + (time - shortest) / size))
        return points

    def as_dict(self) -> dict[str, Any]:
        """As plain data for a Record or a file."""
        return asdict(self) | {"times_us": [list(each) for each in self.times_us]}

    def toml(self, comment: str) -> str:
        """The file that read() takes."""
        lines = [f"# {line}" for line in comment.splitlines()]
        for name, value in self.as_dict().items():
            if value != Platform().as_dict()[name]:
                lines.append(f"{name} = {json.dumps(value)}")
        return "\n".join(lines) + "\n"

    def xml(self) -> str:
        """What SimGrid reads."""
        link = f'bandwidth="{self.rate_mbit * 1e6 / 8!r}Bps" latency="{self.latency_us * 1e-6!r}s"'
        lines = [f'{HEAD}<zone id="cluster" routing="Cluster">']
        for name in self.names:
            lines += [
                f'<host id="{name}" speed="{self.gflops!r}Gf" core="{self.cores}"/>',
                f'<link id="{name}-link" {link} sharing_policy="SPLITDUPLEX"/>',
                f'<host_link id="{name}" up="{name}-link_UP" down="{name}-link_DOWN"/>',
            ]
        if self.backplane_mbit:
            lines.append(
                f'<backbone id="backplane" bandwidth="{self.backplane_mbit * 1e6 / 8!r}Bps" latency="0s"/>'
            )
        return "\n".join([*lines, "</zone>", "</platform>", ""])


def read(file: Path) -> Platform:
    """What a TOML file describes; UsageError with its name when it cannot be."""
    try:
        return of_plain(tomllib.loads(file.read_text(encoding="utf-8")))
    except (UsageError, ValueError) as problem:
        raise UsageError(f"{file}: {problem}") from None


def of_plain(content: Mapping[str, Any], base: Platform | None = None) -> Platform:
    """A Platform from plain data; UsageError for a key or a value that it cannot have."""
    base = base or Platform()
    known = {each.name: type(getattr(base, each.name)) for each in fields(base)}
    values: dict[str, Any] = {}
    for name, value in content.items():
        if name not in known:
            raise UsageError(
                f"`{name}` is not part of a platform.", f"Its parts are {', '.join(known)}."
            )
        kind = {float: int | float, tuple: list}.get(known[name], known[name])
        if not isinstance(value, kind):
            raise UsageError(f"`{name}` is {KINDS[known[name]]}, not {value!r}.")
        values[name] = known[name](value)
    if "times_us" in content:
        values["times_us"] = _times(content["times_us"])
    return replace(base, **values)


def _times(value: list[Any]) -> tuple[tuple[int, float], ...]:
    try:
        made = tuple((int(size), float(time)) for size, time in value)
    except (ValueError, TypeError):
        raise UsageError(
            "`times_us` must be a list of pairs: bytes, and the µs that they take."
        ) from None
    rises = all(a[0] < b[0] and 0 < a[1] <= b[1] for a, b in pairwise(made))
    if made and (len(made) < 2 or not rises):
        raise UsageError("`times_us` must have at least two pairs, whose bytes and times rise.")
    return made
