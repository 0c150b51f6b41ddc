"""One measurement in several states of a cluster, and what paper E says became of it: E3, E4 and E5 share this.

Paper E measured an application before its changes and after them. A state has a name and a function that brings the
cluster into it. States take turns within each launch, and every other launch goes round the other way, so that
a slow drift of the machine falls on all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from beowulf.errors import LabError
from beowulf.measure.judgement import verdict
from beowulf.measure.statistics import Ratio, ratio
from beowulf.record import Record
from beowulf.verdict import Outcome, Verdict

States = Mapping[str, Callable[[], None]]


def _as_it_is() -> None:
    """Change nothing."""


FOUND, BEFORE, AFTER = "as found", "before", "after"
AS_FOUND: States = {FOUND: _as_it_is}
FEWEST_PAIRS = 3
ENOUGH = 0.5  # of the paper's gain; its cluster is another one
TUNE = "`beowulf tune compare` measures it before and after paper E's changes (lab 07)."


def turns(states: States, launches: int) -> Iterator[tuple[int, str]]:
    """Each launch in each state, which the cluster is in when it is given."""
    for launch in range(launches):
        names = list(states)
        for name in names if launch % 2 == 0 else reversed(names):
            states[name]()
            yield launch, name


def measured(record: Record) -> list[str]:
    """The states that the Record has, in the order in which they were given."""
    return [str(name) for name in record.sweep.get("states", [])]


def samples(record: Record, quantity: str, **at: object) -> list[float]:
    """All samples of a quantity at these coordinates."""
    return [s for p in record.select(**at) if p.quantity == quantity for s in p.samples]


def pairs(record: Record, quantity: str, **at: object) -> list[tuple[float, float]]:
    """After beside before, sample by sample of the same launch."""
    found = []
    for point in record.select(state=BEFORE, **at):
        if point.quantity != quantity:
            continue
        later = samples(record, quantity, **{**point.at, "state": AFTER})
        found += list(zip(later, point.samples, strict=False))
    return found


def gain(record: Record, quantity: str, *, rate: bool = False, **at: object) -> Ratio | None:
    """The time after as a share of the time before, of a `rate` the other way round; None without both states."""
    found = pairs(record, quantity, **at)
    if rate:
        found = [(before, after) for after, before in found]
    try:
        return ratio(found) if found else None
    except LabError:
        return None


def tuned(
    record: Record,
    claim: str,
    says: str,
    quantity: str,
    published: float,
    *,
    rate: bool = False,
    trouble: Sequence[str] = (),
    **at: object,
) -> Verdict:
    """The paper's before and after: `published` is the time that it has after, as a share of before.

    It holds when at least half of the paper's gain is there.
    """
    found = gain(record, quantity, rate=rate, **at)
    if found is None or found.n < FEWEST_PAIRS:
        seen = (
            "the Record has one state of the cluster: as it was found"
            if found is None
            else f"there are {found.n} pairs of before and after, and {FEWEST_PAIRS} are needed"
        )
        return verdict(record, claim, says, "inconclusive", seen, advice=TUNE)
    limit = 1 - ENOUGH * (1 - published)
    outcome: Outcome = "inconclusive"
    if found.high <= limit:
        outcome = "holds"
    elif found.low > limit:
        outcome = "contradicted"
    return verdict(
        record,
        claim,
        says,
        outcome,
        f"the time after is {found.median:.2f} times that before"
        f" ({found.low:.2f} to {found.high:.2f}, {found.n} pairs), and {published:.2f} in the paper",
        numbers={"times": found.median, "low": found.low, "high": found.high, "n": found.n},
        trouble=trouble,
    )
