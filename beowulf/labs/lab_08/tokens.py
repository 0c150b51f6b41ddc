"""What C1 and C2 share: tokens of the program tokens.c between two nodes, on one network and on two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from beowulf import papers, paths
from beowulf.cluster import Cluster
from beowulf.cluster.common.config import SIMULATED
from beowulf.cluster.simulated.platform import of_plain
from beowulf.errors import LabError
from beowulf.labs.lab_08.machine_1995 import doubled, ethernet, launching_on
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.statistics import Ratio, Summary, ratio
from beowulf.measure.table import summary_of
from beowulf.record import Point, Record
from beowulf.studies.study import Plan

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

PROGRAM = paths.lab("08") / "tokens.c"
QUANTITY = "token_s"
SIZES = (4, 16, 64, 256, 512, 1024, 2048, 4096, 8192)
DEMANDS = (1, 2, 4, 8)
MOST_DEMAND, LARGEST = max(DEMANDS), max(SIZES)
SATURATED = 0.8  # of the highest rate
PLACE = ["networks", "demand", "size_bytes"]
Key = tuple[int, int, int]  # of such places

FULL, QUICK = (3, 12, 60), (2, 6, 25)  # launches, passes, ms at each place of the sweep
SIMULATION_MS = 400  # one launch and pass: every run gives the same
PUBLISHED, NEAR = "C-tokens", 0.2


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    """Tokens of all sizes and demands between two nodes, in turns on one network and on both where there are two."""
    if cluster.can.simulated:
        return _simulation(cluster)
    launches, passes, ms = QUICK if quick else FULL
    networks = (1, 2) if int(cluster.describe().get("networks", 1)) > 1 else (1,)

    def steps(measurement: Measurement) -> None:
        words = ["--way", "sockets", *sweep(DEMANDS, ms), "--passes", passes]
        for number in range(launches):
            for count in networks:
                own, hosts = [*words, "--networks", count], cluster.nodes[:2]
                measurement.launch(PROGRAM, 2 * MOST_DEMAND, own, hosts=hosts, launch=number)

    about: dict[str, Any] = {"sizes": list(SIZES), "demands": list(DEMANDS)}
    about |= {"networks": list(networks), "launches": launches, "passes": passes, "ms": ms}
    return Plan(launches * len(networks), about, steps)


def sweep(demands: Sequence[int], ms: int, sizes: Sequence[int] = SIZES) -> list[str | int]:
    """The words for the program."""
    return [
        "--sizes",
        ",".join(map(str, sizes)),
        "--demand",
        ",".join(map(str, demands)),
        "--ms",
        ms,
    ]


def _simulation(cluster: Cluster) -> Plan:
    """The same by MPI on simulated nodes, a pair of them for each token; a second network where times are given."""
    one = of_plain(cluster.describe()["platform"])
    machines = {1: one, 2: doubled(one)} if one.times_us else {1: one}
    demands = [each for each in DEMANDS if 2 * each <= len(cluster.nodes)]
    words = sweep(demands, SIMULATION_MS)

    def steps(measurement: Measurement) -> None:
        for count, machine in machines.items():
            with launching_on(measurement, machine):
                measurement.launch(PROGRAM, 2 * max(demands), words, at={"networks": count})

    about = {"sizes": list(SIZES), "demands": demands, "networks": list(machines)}
    return Plan(len(machines), about | {"launches": 1, "passes": 1, "ms": SIMULATION_MS}, steps)


@dataclass(frozen=True)
class Tokens:
    """The samples of a Record, the seconds of a token, by networks, demand and size."""

    record: Record
    points: Mapping[Key, list[Point]]

    @classmethod
    def of(cls, record: Record) -> Tokens:
        """What a Record holds; LabError without tokens."""
        points: dict[Key, list[Point]] = {}
        for point in record.points:
            if point.quantity == QUANTITY and point.samples:
                networks, demand, size = (int(point.at[name]) for name in PLACE)
                points.setdefault((networks, demand, size), []).append(point)
        if not points:
            raise LabError("There are no samples of tokens.", "Measure again.")
        return cls(record, points)

    def need_two(self) -> None:
        """LabError where only one network was measured."""
        if {networks for networks, *_ in self.points} != {1, 2}:
            raise LabError(
                "Only one network was measured.",
                "`beowulf up --networks 2` boots a cluster with two.",
            )

    def rate(self, networks: int, demand: int, size: int) -> Summary:
        """MB/s of all pairs together."""
        points = [
            replace(point, samples=[size / each / 1e6 for each in point.samples])
            for point in self.points.get((networks, demand, size), ())
        ]
        return summary_of(points, busy=self.record.busy)

    def gain(self, demand: int, size: int) -> Ratio:
        """How many times faster two networks are than one."""
        self.need_two()
        one, two = (
            [sample for point in self.points.get((n, demand, size), ()) for sample in point.samples]
            for n in (1, 2)
        )
        return ratio(list(zip(one, two, strict=False)), busy=self.record.busy)

    def highest(self, networks: int) -> Summary:
        """The highest MB/s of any size."""
        rates = (self.rate(networks, MOST_DEMAND, size) for size in SIZES)
        return max(rates, key=lambda each: each.median)

    def saturated_at(self, networks: int) -> int:
        """The smallest token with which the rate is at least 80 % of the highest."""
        rates = {size: self.rate(networks, MOST_DEMAND, size).median for size in SIZES}
        most = max(rates.values())
        return next(size for size, rate in rates.items() if rate >= SATURATED * most)


def table(facts: Tokens) -> pd.DataFrame:
    """A row for each number of networks, demand and size: MB/s with its interval, and tokens a second."""
    import pandas as pd

    rows = []
    for networks, demand, size in sorted(facts.points):
        seen = facts.rate(networks, demand, size)
        row: dict[str, Any] = dict(zip(PLACE, (networks, demand, size), strict=True))
        row |= {"rate_mb_per_s": seen.median, "low": seen.low, "high": seen.high}
        row |= {"tokens_per_s": seen.median * 1e6 / size}
        rows.append(row | {"curve": f"{networks} network{'s' * (networks > 1)}, demand {demand}"})
    return pd.DataFrame(rows)


def drawn(facts: Tokens, column: str, **how: Any) -> Figure:
    """A column over the size of a token; lines of the least and the most demand alone can still be distinguished."""
    from beowulf.figures import lines

    rows = table(facts)
    few = rows[rows["demand"].isin([1, MOST_DEMAND])]
    return lines(few, "size_bytes", column, "curve", x_title="token (bytes)", x_log=True, **how)


def points(facts: Tokens) -> pd.DataFrame:
    """What the paper's text says of points of its figures 1 and 2, beside the same of a Record."""
    published = papers.table(PUBLISHED)
    seen = [facts.rate(*map(int, place)).median for place in published[PLACE].to_numpy(dtype=int)]
    found = published.assign(here_mb_per_s=seen)
    found["times"] = found["here_mb_per_s"] / found["rate_mb_per_s"]
    for name, rate in (("tokens_per_s", "rate_mb_per_s"), ("here_tokens_per_s", "here_mb_per_s")):
        found[name] = 1e6 * found[rate] / found["size_bytes"]
    return found


def is_of_1995(record: Record) -> bool:
    """Whether it is of the simulated machine of 1995."""
    return record.cluster.get("platform") == ethernet().as_dict()


def troubles(record: Record) -> list[str]:
    """Why no claim may be decided; a simulation needs one sample."""
    simulated = record.cluster.get("kind") == SIMULATED
    return trouble(record, QUANTITY, enough=int(simulated))
