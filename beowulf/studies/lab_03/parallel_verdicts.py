"""What a Record of A4 makes of paper A's table 5, and of what four nodes are to be good for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from beowulf.cluster.description import on_one_machine
from beowulf.errors import LabError
from beowulf.measure import quality
from beowulf.measure.judgement import rising, unmeasured, verdict
from beowulf.measure.speedup import karp_flatt
from beowulf.measure.statistics import Ratio, ratio
from beowulf.record import Record
from beowulf.studies.lab_03.parallel_tables import (
    DURATION,
    PAPERS,
    RANKS,
    mops,
    points,
    shares,
    table,
)
from beowulf.suites.npb import BENCHMARKS
from beowulf.verdict import Outcome, Verdict

FEWEST, FEWEST_QUICK = 3, 2
FLOWS = ("LU", "SP", "BT")
SLOW = ("MG", "FT")
# Table 5, column of the paper's own cluster, from the fewest Mop/s to the most.
ORDER = ("FT", "MG", "BT", "SP", "LU")
CHEAP = 1.05
# Spearman's rank correlation of 8 pairs reaches this by chance once in twenty times (one-sided).
CORRELATED = 0.643
CLASS_NOTE = "the paper's class is A"


def claims(record: Record) -> list[Verdict]:
    """All claims; one on a benchmark that was not measured is inconclusive."""
    plain = replace(record, points=[p for p in record.points if p.at.get("profiled") is not True])
    fewest = FEWEST_QUICK if record.sweep.get("quick") else FEWEST
    bad = quality.trouble(plain, DURATION, enough=fewest)
    return [
        _verified(record),
        *(_faster(record, name, bad) for name in BENCHMARKS),
        *(_communicates_more(record, name, bad) for name in SLOW),
        _communicates_least(record, bad),
        _slowest(record, bad),
        _order(record, bad),
        _share_slows(record, bad),
        _cheap(record, bad),
    ]


def _verified(record: Record) -> Verdict:
    claim, says = (
        "all-verified",
        "Every benchmark gives the published results on every number of nodes",
    )
    found = [point for point in record.points if point.quantity == DURATION and point.samples]
    names = {str(point.at["benchmark"]) for point in found}
    if names != set(BENCHMARKS):
        return unmeasured(record, claim, says)
    wrong = [point for point in found if not all(point.facts["verified"])]
    outcome: Outcome = "contradicted" if wrong else "holds"
    evidence = f"{len(found) - len(wrong)} of {len(found)} places of the sweep are verified"
    return verdict(record, claim, says, outcome, evidence, numbers={"wrong": len(wrong)})


def _speedup(record: Record, name: str) -> Ratio:
    """One node's time over four nodes', of the same launch; LabError without both."""
    ones = {point.at["launch"]: point.samples for point in points(record, name, 1)}
    pairs = [
        pair
        for point in points(record, name, RANKS)
        for pair in zip(ones.get(point.at["launch"], ()), point.samples, strict=False)
    ]
    return ratio(pairs)


def _faster(record: Record, name: str, bad: Sequence[str]) -> Verdict:
    claim, says = f"{name.lower()}-faster-on-4", f"{name} is faster on four nodes than on one"
    try:
        found = _speedup(record, name)
    except LabError:
        return unmeasured(record, claim, says)
    outcome: Outcome = "inconclusive"
    if found.low > 1:
        outcome = "holds"
    elif found.high < 1:
        outcome = "contradicted"
    serial = karp_flatt(found.median, RANKS)
    evidence = f"{found.median:.2f} times as fast ({found.low:.2f} to {found.high:.2f})"
    evidence += f", Karp and Flatt's serial part {serial:.2f}{_shared(record)}"
    numbers = {"speed_up": found.median, "low": found.low, "high": found.high, "n": found.n}
    numbers["karp_flatt"] = serial
    return verdict(record, claim, says, outcome, evidence, numbers=numbers, trouble=bad)


def _shared(record: Record) -> str:
    cores = record.circumstances.get("before", {}).get("cores")
    if not on_one_machine(record.cluster) or not cores or cores >= RANKS:
        return ""
    return f"; the four nodes share {cores} cores"


def _communicates_more(record: Record, name: str, bad: Sequence[str]) -> Verdict:
    claim = f"{name.lower()}-communicates-more"
    says = (
        f"{name} spends a larger part of its time inside of MPI than LU, SP and BT, on four nodes"
    )
    return _above(record, claim, says, [name], FLOWS, bad)


def _communicates_least(record: Record, bad: Sequence[str]) -> Verdict:
    claim = "ep-communicates-least"
    says = "EP spends a smaller part of its time inside of MPI than any other, on four nodes"
    others = [name for name in BENCHMARKS if name != "EP"]
    return _above(record, claim, says, others, ["EP"], bad)


def _above(
    record: Record,
    claim: str,
    says: str,
    high: Sequence[str],
    low: Sequence[str],
    bad: Sequence[str],
) -> Verdict:
    """Whether the shares of all of `high` lie above those of all of `low`, in every launch."""
    found = {name: shares(record, name) for name in (*high, *low)}
    if not all(found.values()):
        return unmeasured(record, claim, says)
    outcome = _apart([found[name] for name in high], [found[name] for name in low])
    told = ", ".join(f"{name} {_range(values, 100)} %" for name, values in found.items())
    numbers = {name: sum(values) / len(values) for name, values in found.items()}
    return verdict(record, claim, says, outcome, told, numbers=numbers, trouble=bad)


def _apart(high: Sequence[Sequence[float]], low: Sequence[Sequence[float]]) -> Outcome:
    """Holds if every launch of each of `high` is above every launch of each of `low`."""
    if min(map(min, high)) > max(map(max, low)):
        return "holds"
    if any(max(upper) < min(lower) for upper in high for lower in low):
        return "contradicted"
    return "inconclusive"


def _range(values: Sequence[float], factor: float = 1.0) -> str:
    least, most = (f"{factor * value:,.3g}" for value in (min(values), max(values)))
    return least if least == most else f"{least} to {most}"


def _rates(record: Record) -> dict[str, list[float]]:
    """The Mop/s on four nodes of the paper's benchmarks; empty unless all were measured."""
    found = {name: mops(record, name, RANKS) for name in PAPERS}
    return found if all(found.values()) else {}


def _told(record: Record, rates: Mapping[str, Sequence[float]]) -> tuple[str, dict[str, Any]]:
    letter = points(record, "MG", RANKS)[0].at["class"]
    told = ", ".join(f"{name} {_range(values)}" for name, values in rates.items())
    numbers = {name: sum(values) / len(values) for name, values in rates.items()}
    return f"Mop/s at class {letter} ({CLASS_NOTE}): {told}", numbers


def _slowest(record: Record, bad: Sequence[str]) -> Verdict:
    claim = "mg-ft-slowest"
    says = "MG and FT do fewer Mop/s than LU, SP and BT on four nodes, as in table 5"
    rates = _rates(record)
    if not rates:
        return unmeasured(record, claim, says)
    outcome = _apart([rates[name] for name in FLOWS], [rates[name] for name in SLOW])
    told, numbers = _told(record, rates)
    return verdict(record, claim, says, outcome, told, numbers=numbers, trouble=bad)


def _order(record: Record, bad: Sequence[str]) -> Verdict:
    claim = "table-5-order"
    says = "On four nodes the Mop/s come in the order of table 5: LU, SP, BT, MG, FT"
    rates = _rates(record)
    if not rates:
        return unmeasured(record, claim, says)
    outcome = rising([(min(rates[name]), max(rates[name])) for name in ORDER])
    told, numbers = _told(record, rates)
    return verdict(record, claim, says, outcome, told, numbers=numbers, trouble=bad)


def _share_slows(record: Record, bad: Sequence[str]) -> Verdict:
    claim = "share-slows"
    says = "The larger the part inside of MPI, the smaller the speed-up from one node to four"
    try:
        found = table(record)[["communication_percent", "speed_up"]].dropna()
    except LabError:
        return unmeasured(record, claim, says)
    if len(found) < len(BENCHMARKS):
        return unmeasured(record, claim, says)
    ranked = float(found.communication_percent.rank().corr(found.speed_up.rank()))
    outcome: Outcome = "inconclusive"
    if abs(ranked) >= CORRELATED:
        outcome = "holds" if ranked < 0 else "contradicted"
    evidence = f"the rank correlation over {len(found)} benchmarks is {ranked:.2f}"
    return verdict(record, claim, says, outcome, evidence, numbers={"rho": ranked}, trouble=bad)


def _cheap(record: Record, bad: Sequence[str]) -> Verdict:
    """Of our instrument, not of the paper: the shares mean little if counting takes long itself."""
    claim, says = "profile-is-cheap", "Counting its calls makes a run at most 5 % longer"
    pairs = []
    for name in BENCHMARKS:
        plain = {p.at["launch"]: p.samples for p in points(record, name, RANKS)}
        for point in points(record, name, RANKS, profiled=True):
            pairs += list(zip(point.samples, plain.get(point.at["launch"], ()), strict=False))
    if not pairs:
        return unmeasured(record, claim, says)
    found = ratio(pairs)
    outcome: Outcome = "inconclusive"
    if found.high <= CHEAP:
        outcome = "holds"
    elif found.low > CHEAP:
        outcome = "contradicted"
    evidence = f"{found.median:.3f} times as long ({found.low:.3f} to {found.high:.3f})"
    numbers = {"times": found.median, "low": found.low, "high": found.high, "n": found.n}
    return verdict(record, claim, says, outcome, evidence, numbers=numbers, trouble=bad)
