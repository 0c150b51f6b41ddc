"""What C1 and C2 share: tokens of the program tokens.c between two nodes, on one network and on two.

The simulated machine of 1995 has three networks as well, for its first eight nodes, as the paper says that it tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from beowulf import papers, paths
from beowulf.cluster import Cluster
from beowulf.cluster.common.config import RATE_BITS_PER_S, SIMULATED
from beowulf.cluster.simulated.platform import of_plain
from beowulf.errors import LabError
from beowulf.labs.lab_08.machine_1995 import ethernet, launching_on, several
from beowulf.measure.judgement import Span, quotient
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.statistics import Pairs, Ratio, Summary
from beowulf.measure.table import summary_of
from beowulf.record import Point, Record
from beowulf.studies.quantity import Quantity
from beowulf.studies.study import Plan
from beowulf.this_machine.progress import aside
from beowulf.tuning import knob_places
from beowulf.tuning.change import changing
from beowulf.tuning.knobs import ALL

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

PROGRAM = paths.lab("08") / "tokens.c"
QUANTITY = "token_s"
SIZES = (4, 16, 64, 256, 512, 1024, 2048, 4096, 8192, 16384)
LARGEST = 8192  # of the paper's: the longest one shows whether the rate still grows there
DEMANDS, QUICK_DEMANDS, STRIPED_DEMANDS = tuple(range(1, 9)), (1, 2, 4, 8), (1, 2, 4, 5, 8)
MOST_DEMAND = max(DEMANDS)
THREE, MOST_OF_THREE = 3, 4  # networks, and the pairs that 8 processors make
# Where the kernel takes the networks in turn: tokens of one frame, which the program sends by the first one.
STRIPED_SIZES = (4, 16, 64, 256, 512, 1024)
STRIPING = "striping"  # the knob
SATURATED = 0.8  # of the highest rate
PLACE = ["networks", "demand", "size_bytes"]
TWO_NETWORKS = (
    "`beowulf up --networks 2 --rate 10mbit` boots a cluster with two; then measure again."
)
Key = tuple[int, int, int]  # of such places

# Launches, passes, ms at each place of the sweep. Launches differ, so C1 has many; C2 changes a knob for each.
FULL, STRIPED, QUICK = (6, 5, 60), (3, 10, 60), (2, 6, 25)
SIMULATION_MS = 400  # one launch and pass: every run gives the same
PUBLISHED, NEAR = "C-tokens", 0.2


def plan(cluster: Cluster, *, quick: bool, striped: bool = False) -> Plan:
    """Tokens of all sizes and demands between two nodes, in turns on one network and on both where there are two.

    With `striped` also tokens of one frame whose packets the kernel sends by both networks in turn.
    """
    if cluster.can.simulated:
        return _simulation(cluster)
    launches, passes, ms = QUICK if quick else STRIPED if striped else FULL
    demands, hosts = QUICK_DEMANDS if quick else DEMANDS, cluster.nodes[:2]
    networks = (1, 2) if int(cluster.describe().get("networks", 1)) > 1 else (1,)
    # The size beyond the paper's takes longest, and one demand is enough.
    places = ((demands, SIZES[:-1]), ((MOST_DEMAND,), SIZES[-1:]))
    cases: list[tuple[dict[str, Any], list[str | int]]] = [
        ({}, ["--networks", count, *sweep(of, ms, sizes)])
        for count in networks
        for of, sizes in places
    ]
    absent = ""
    if striped and len(networks) > 1:
        read = knob_places.read(cluster, [ALL[STRIPING]], hosts)[STRIPING].values()
        absent = next((each.absent for each in read if each.absent), "")
        if not absent:
            of = QUICK_DEMANDS if quick else STRIPED_DEMANDS
            cases.append(({STRIPING: "on"}, sweep(of, ms, STRIPED_SIZES)))

    def steps(measurement: Measurement) -> None:
        if absent:
            measurement.points.append(Point({STRIPING: "on"}, facts={"absent": absent}))
        if len(networks) < 2:
            measurement.warnings.append(f"This cluster has one network. {TWO_NETWORKS}")
            print(measurement.warnings[-1], file=aside(), flush=True)
        for number, (at, words) in product(range(launches), cases):
            own = ["--way", "sockets", *words, "--passes", passes]
            with ExitStack() as knob:
                if at:
                    knob.enter_context(changing(cluster, [(ALL[STRIPING], "on", hosts)]))(True)
                measurement.launch(PROGRAM, 2 * MOST_DEMAND, own, hosts=hosts, launch=number, at=at)

    about: dict[str, Any] = {"sizes": list(SIZES), "demands": list(demands)}
    about |= {"networks": list(networks), "launches": launches, "passes": passes, "ms": ms}
    return Plan(launches * len(cases), about, steps)


def sweep(demands: Sequence[int], ms: int, sizes: Sequence[int] = SIZES) -> list[str | int]:
    """The words for the program."""
    return [
        "--lines",
        "--sizes",
        ",".join(map(str, sizes)),
        "--demand",
        ",".join(map(str, demands)),
        "--ms",
        ms,
    ]


def _simulation(cluster: Cluster) -> Plan:
    """The same by MPI on simulated nodes, a pair of them for each token; more networks where times are given."""
    one = of_plain(cluster.describe()["platform"])
    machines = {n: several(one, n) for n in ((1, 2, THREE) if one.times_us else (1,))}
    demands = [each for each in DEMANDS if 2 * each <= len(cluster.nodes)]

    def steps(measurement: Measurement) -> None:
        for count, machine in machines.items():
            few = [each for each in demands if count < THREE or each <= MOST_OF_THREE]
            words, at = sweep(few, SIMULATION_MS), {"networks": count}
            with launching_on(measurement, machine):
                measurement.launch(PROGRAM, 2 * max(few), words, at=at)

    about = {"sizes": list(SIZES), "demands": demands, "networks": list(machines)}
    return Plan(len(machines), about | {"launches": 1, "passes": 1, "ms": SIMULATION_MS}, steps)


@dataclass(frozen=True)
class Tokens:
    """The samples of a Record, the seconds of a token, by networks, demand and size."""

    record: Record
    points: Mapping[Key, list[Point]]
    striped: Mapping[Key, list[Point]]  # those that the kernel sent by two networks in turn

    @classmethod
    def of(cls, record: Record) -> Tokens:
        """What a Record holds; LabError without tokens."""
        points: dict[Key, list[Point]] = {}
        striped: dict[Key, list[Point]] = {}
        for point in record.points:
            if point.quantity == QUANTITY and point.samples:
                networks, demand, size = (int(point.at[name]) for name in PLACE)
                of = striped if STRIPING in point.at else points
                of.setdefault((networks, demand, size), []).append(point)
        if not points:
            raise LabError("There are no samples of tokens.", "Measure again.")
        return cls(record, points, striped)

    @property
    def absent(self) -> str:
        """Why the kernel did not alternate between the networks; empty where it did."""
        said = [p.facts["absent"] for p in self.record.points if "absent" in p.facts]
        return str(said[0]) if said else ""

    def need_two(self, networks: int = 2) -> None:
        """LabError where only one network was measured, and so many are asked for."""
        if networks > 1 and not {1, 2} <= {networks for networks, *_ in self.points}:
            raise LabError("Only one network was measured.", TWO_NETWORKS)

    def rate(self, networks: int, demand: int, size: int) -> Summary:
        """MB/s of all pairs together."""
        self.need_two(networks)
        return self._rate(self.points, (networks, demand, size))

    def striped_rate(self, demand: int, size: int) -> Summary:
        """The same where the kernel alternated, packet by packet."""
        return self._rate(self.striped, (1, demand, size))

    def _rate(self, of: Mapping[Key, list[Point]], place: Key) -> Summary:
        points = [
            replace(point, samples=[place[-1] / each / 1e6 for each in point.samples])
            for point in of.get(place, ())
        ]
        return summary_of(points, busy=self.record.busy)

    def gain(self, demand: int, size: int) -> Ratio:
        """How many times faster two networks are than one."""
        self.need_two()
        return self._over_one(self.points, (2, demand, size))

    def striped_gain(self, demand: int, size: int) -> Ratio:
        """The same where the kernel alternated, packet by packet."""
        return self._over_one(self.striped, (1, demand, size))

    def _over_one(self, others: Mapping[Key, list[Point]], place: Key) -> Ratio:
        one = {p.at.get("launch"): p.samples for p in self.points.get((1, *place[1:]), ())}
        pairs = Pairs(busy=self.record.busy)
        for point in others.get(place, ()):
            launch = point.at.get("launch")
            pairs.add(int(launch or 0), one.get(launch, ()), point.samples)
        return pairs.ratio()

    def spread(self, networks: int, size: int) -> Span:
        """Of the demands of two and more, the highest rate over the lowest one; LabError without two of them."""
        self.need_two(networks)
        demands = [d for n, d, s in self.points if (n, s) == (networks, size) and d > 1]
        if len(demands) < 2:
            raise LabError("There are fewer than two demands of 2 or more.", "Measure again.")
        rates = [self.rate(networks, demand, size) for demand in demands]
        lows, highs = [each.low for each in rates], [each.high for each in rates]
        return quotient(Span(max(lows), max(highs)), Span(min(lows), min(highs)))

    def highest(self, networks: int) -> Summary:
        """The highest MB/s of any of the paper's sizes."""
        self.need_two(networks)
        sizes = self._sizes(networks, LARGEST)
        if not sizes:
            raise LabError("There are no samples for this number of networks.", "Measure again.")
        rates = (self.rate(networks, MOST_DEMAND, size) for size in sizes)
        return max(rates, key=lambda each: each.median)

    def saturated_at(self, networks: int) -> int:
        """The smallest token with which the rate is at least 80 % of the highest."""
        self.need_two(networks)
        sizes = self._sizes(networks, max(SIZES))
        rates = {size: self.rate(networks, MOST_DEMAND, size).median for size in sizes}
        most = max(rates.values())
        return next(size for size, rate in rates.items() if rate >= SATURATED * most)

    def _sizes(self, networks: int, most: int) -> list[int]:
        return sorted(
            size for n, d, size in self.points if (n, d) == (networks, MOST_DEMAND) and size <= most
        )

    def peak_mb_per_s(self) -> float:
        """What one network can carry: the rate of a shared cable; twice that with cables to a switch, one each way."""
        cluster = self.record.cluster
        if cluster.get("rate") not in RATE_BITS_PER_S:
            raise LabError("The rate of the network is not known.", "`beowulf up` sets one.")
        ways = 1 if cluster.get("platform", {}).get("backplane_mbit") else 2
        return ways * RATE_BITS_PER_S[cluster["rate"]] / 8e6


def words(networks: int, demand: int, size: int) -> str:
    """A place of the sweep, as evidence names it."""
    pairs = f"{demand} pair{'s' * (demand > 1)}"
    return f"tokens of {size:,} bytes with {pairs} on {networks} network{'s' * (networks > 1)}"


def rate(networks: int, demand: int, size: int) -> Quantity:
    """What all pairs carry together."""
    return Quantity(
        words(networks, demand, size), lambda facts: facts.rate(networks, demand, size), "MB/s"
    )


def table(facts: Tokens) -> pd.DataFrame:
    """A row for each number of networks, demand and size: MB/s with its interval, and tokens a second."""
    import pandas as pd

    rows = []
    for networks, demand, size in sorted(facts.points):
        seen = facts.rate(networks, demand, size)
        row: dict[str, Any] = dict(zip(PLACE, (networks, demand, size), strict=True))
        row |= {"rate_mb_per_s": seen.median, "low": seen.low, "high": seen.high}
        rows.append(row | {"tokens_per_s": seen.median * 1e6 / size})
    return pd.DataFrame(rows)


def drawn(facts: Tokens, column: str, **how: Any) -> Figure:
    """A column over the size of a token, and the paper's points.

    Only the least and the most demand have lines, so that these can be distinguished.
    """
    import pandas as pd

    from beowulf.figures import lines

    def curve(row: pd.Series) -> str:
        networks = int(row["networks"])
        return f"{networks} network{'s' * (networks > 1)}, demand {row['demand']:.0f}"

    rows, paper = table(facts), papers.table(PUBLISHED)
    rows["curve"] = rows.apply(curve, axis="columns")
    few = rows[rows["demand"].isin([1, MOST_DEMAND]) & (rows["networks"] < THREE)]
    paper = paper[paper["networks"].isin(few["networks"])].assign(
        tokens_per_s=1e6 * paper["rate_mb_per_s"] / paper["size_bytes"],
        curve=paper["networks"].map(lambda n: f"paper C, {n} network{'s' * (n > 1)}"),
    )
    both = pd.concat([few, paper.drop(columns="text")], ignore_index=True)
    how |= {"x_title": "token (bytes)", "x_log": True, "marks": set(paper["curve"])}
    return lines(both, "size_bytes", column, "curve", **how)


def points(facts: Tokens) -> pd.DataFrame:
    """The points of figure 1 that follow from the paper's text, beside the same of a Record."""
    published = papers.table(PUBLISHED)
    seen = [facts.rate(*map(int, place)).median for place in published[PLACE].to_numpy(dtype=int)]
    return published.assign(here_mb_per_s=seen, times=seen / published["rate_mb_per_s"])


def is_of_1995(record: Record) -> bool:
    """Whether it is of the simulated machine of 1995."""
    return record.cluster.get("platform") == ethernet().as_dict()


def troubles(record: Record, quantity: str = QUANTITY) -> list[str]:
    """Why no claim may be decided; a simulation needs one sample."""
    simulated = record.cluster.get("kind") == SIMULATED
    return trouble(record, quantity, enough=int(simulated))
