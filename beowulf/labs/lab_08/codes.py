"""What C4, C5 and C6 share: the programs, a Record's results, and how many ranks have a core to themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from beowulf import papers
from beowulf.cluster import Cluster
from beowulf.cluster.description import on_one_machine
from beowulf.errors import LabError
from beowulf.labs.lab_08.machine_1995 import MOST_NODES, NODES, TABLE
from beowulf.measure.measurement import Measurement
from beowulf.measure.statistics import Summary
from beowulf.measure.table import summary_of
from beowulf.record import Point, Record
from beowulf.studies.quantity import Quantity, scaled
from beowulf.studies.study import Claim, Judgement

GAS, GALAXY = (Path(__file__).with_name(f"{name}_complete.c") for name in ("gas", "galaxy"))
FIXED, SCALED, BODIES = "gas, fixed size", "gas, scaled size", "galaxy"
SCALING = "'Performance Scaling'"  # a section of paper C
NEAR = 0.2


def printed(code: str, processors: int = MOST_NODES, column: str = "mflops") -> float:
    """A number that the text of paper C has for a point of figure 3 or 4."""
    return papers.figure(TABLE, column, code=code, processors=processors)


def cores_for_ranks(description: dict[str, Any]) -> int:
    """How many ranks, one on each node, have a core to themselves."""
    nodes = len(description["nodes"])
    cores = [int(each) for each in description.get("node_cores", {}).values()]
    return min(nodes, *cores) if cores and on_one_machine(description) else nodes


def counts(cluster: Cluster) -> list[int]:
    """On how many nodes a speed-up can be measured: those of NODES that leave each rank a core."""
    return [n for n in NODES if n <= cores_for_ranks(dict(cluster.describe()))]


def most_ranks(cluster: Cluster) -> int:
    """The largest of NODES that the cluster has, whatever its cores."""
    return max(n for n in NODES if n <= len(cluster.nodes))


def run(
    measurement: Measurement,
    program: Path,
    ranks: int,
    words: list[str | int],
    at: dict[str, Any],
    launch: int = 0,
) -> None:
    """Launch, and keep what the program says of the whole run as well."""
    hosts = measurement.cluster.nodes[:ranks]
    rows = measurement.launch(
        program, ranks, [*words, "--lines"], at=at, launch=launch, hosts=hosts
    )
    for row in rows:
        if row.get("kind") == "result":
            facts = {name: value for name, value in row.items() if name != "kind"}
            place = {**at, "ranks": ranks, "launch": launch, "result": True}
            measurement.points.append(Point(place, facts=facts))


class Known(dict[Any, Any]):
    """What a Record has; LabError for what is missing, as after Ctrl-C."""

    def __missing__(self, key: object) -> Any:
        raise LabError("The Record has no such run.", "Measure again.")


def results(record: Record, **at: Any) -> Iterator[Known]:
    """What the programs said of whole runs with these coordinates."""
    for point in record.points:
        row = Known({**point.at, **point.facts})
        if "result" in point.at and all(row.get(name) == each for name, each in at.items()):
            yield row


def result(record: Record, **at: Any) -> Known:
    """The first of them; LabError without."""
    if (found := next(results(record, **at), None)) is None:
        raise LabError("The Record has no such run.", "Measure again.")
    return found


def seconds(record: Record, quantity: str, **at: Any) -> Summary:
    """A time of the runs with these coordinates; LabError without."""
    points = [point for point in record.select(**at) if point.quantity == quantity]
    return summary_of(points, busy=record.busy)


def computed(right: bool, evidence: str, numbers: Mapping[str, float] | None = None) -> Judgement:
    """A Judgement on a number that is the same each time."""
    return Judgement("holds" if right else "contradicted", evidence, numbers or {})


def same_bits(name: str) -> Claim:
    """Whether a run on one node and on several ends with the same bits."""

    def judge(record: Record) -> Judgement:
        bits = {row["ranks"]: row["bits"] for row in results(record, what="bits") if "bits" in row}
        if len(bits) < 2:
            raise LabError(
                "The Record has no runs on two different numbers of nodes.", "Measure again."
            )
        same = len(set(bits.values())) == 1
        which = "the same" if same else "other"
        return computed(same, f"{which} bits on {' and '.join(map(str, bits))} nodes")

    says = f"the {name} has the same bits on any number of nodes"
    return Claim("same-bits", says, judge, "samples")


def one_processor(code: str, makes: Quantity) -> Claim:
    """Whether one processor makes as many MFLOPS as the paper's: a processor of today was put in."""
    mflops = printed(code, 1)
    says, judge = f"one processor makes {mflops:g} MFLOPS", makes.within(*around(mflops))
    return Claim("one-processor", says, judge, place=SCALING, rests_on="demonstration")


def step(ranks: int, work: int = 1, **at: Any) -> Quantity:
    """How long so many nodes take for a step, a node's share of the `work`."""
    return Quantity(
        f"a step on {ranks} node{'s' * (ranks > 1)}{f', a part of {work}' * (work > 1)}",
        lambda record: scaled(seconds(record, "step_s", ranks=ranks, what="speed", **at), 1 / work),
        "s",
    )


def on_sixteen(name: str, says: str, code: str, **at: Any) -> Claim:
    """How many times as fast 16 nodes are as one, compared with the paper."""
    grown = MOST_NODES if code == SCALED else 1
    times = step(1) / step(MOST_NODES, grown, **at)
    judge = times.within(*around(printed(code) / printed(code, 1)))
    return Claim(name, says, judge, place="figure 3")


def with_a_core_each(
    claims: Sequence[Claim], on_16: Sequence[Claim], record: Record
) -> list[Claim]:
    """The claims, with those of 16 nodes where each has a core; ranks that share one show no speed-up (C6 does)."""
    return [*claims, *(on_16 if cores_for_ranks(record.cluster) >= MOST_NODES else ())]


def around(published: float) -> tuple[float, float]:
    """What lies within 20 % of a published number."""
    return (1 - NEAR) * published, (1 + NEAR) * published
