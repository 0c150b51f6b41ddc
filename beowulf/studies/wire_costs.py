"""What the parts of A13 share: launches under a capture that is read, counted and thrown away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf.errors import LabError
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import cut_short
from beowulf.measure.statistics import Pairs, Ratio
from beowulf.measure.table import summary_of
from beowulf.packets.costs import COLUMNS, costs
from beowulf.record import Point, Record, reserve, stamp
from beowulf.studies.study import Judgement, undecided
from beowulf.studies.wire_shares import kept, uncut

if TYPE_CHECKING:
    import pandas as pd

# Whole frames: where two of MPICH's packets share a segment, the second header is anywhere in it.
WHOLE_FRAME_BYTES = 1514
# Two times, or counts, that differ by less are called alike.
ALIKE = 0.05


@dataclass
class Observed:
    """What was seen of launches: a table of their messages, and the capture's digest, packets and drops."""

    messages: pd.DataFrame
    capture: dict[str, Any]


@contextmanager
def observed(
    measurement: Measurement, read: Callable[[Path], pd.DataFrame] = costs
) -> Iterator[Observed]:
    """A capture of the wire around this block; what `read` made of it is there afterwards, and the file is gone."""
    import pandas as pd

    seen = Observed(pd.DataFrame(), {})
    file = reserve(
        measurement.folder / f"{measurement.study}-{stamp(measurement.started)}-now.pcapng"
    )
    try:
        with measurement.cluster.capture(file, snap_bytes=WHOLE_FRAME_BYTES) as wire:
            yield seen
        measurement.warnings += [each for each in wire.warnings if each not in measurement.warnings]
        seen.messages = read(file)
        seen.capture = kept(wire)
        seen.capture["segments_not_understood"] = seen.messages.attrs["lost_segments"]
    finally:
        file.unlink(missing_ok=True)


def each(rows: pd.DataFrame, count: int) -> dict[str, float]:
    """Messages, their bytes and segments, and the COLUMNS of these rows, divided by `count`."""
    sums = {name: int(rows[name].sum()) for name in ("bytes", "segments", *COLUMNS)}
    sums = {"messages": len(rows), "message_bytes": sums.pop("bytes"), **sums}
    return {name: value / count for name, value in sums.items()}


def measured(record: Record, quantity: str, **at: Any) -> list[Point]:
    """The launches at these coordinates, those with samples."""
    return [p for p in record.select(**at) if p.quantity == quantity and p.samples]


def paired(record: Record, one: Sequence[Point], other: Sequence[Point]) -> Ratio:
    """The times of one as multiples of the other's of the same launch and pass; LabError without samples."""
    others = {point.at["launch"]: point.samples for point in other}
    pairs = Pairs(busy=record.busy)
    for point in one:
        pairs.add(point.at["launch"], point.samples, others.get(point.at["launch"], ()))
    return pairs.ratio()


def cost(points: Sequence[Point], name: str) -> float:
    """What each message or operation cost, averaged over the launches; LabError where nothing was captured."""
    costs_each = [point.facts["each"][name] for point in points if "each" in point.facts]
    if not costs_each:
        raise LabError("There is no capture of a case that is needed here.", "Measure again.")
    return float(sum(costs_each) / len(costs_each))


def table(
    record: Record, quantity: str, cases: Iterable[tuple[Mapping[str, Any], Sequence[Point]]]
) -> pd.DataFrame:
    """One row a case that was measured: time with its interval, and what each cost on the wire, by the mean."""
    import pandas as pd

    rows = []
    for case, launches in cases:
        if launches:
            seen = summary_of(launches, busy=record.busy)
            each = pd.DataFrame(p.facts["each"] for p in launches if "each" in p.facts).mean()
            row = {**case, "n": seen.n, quantity: seen.median}
            row |= {"low_us": seen.low, "high_us": seen.high}
            row |= {str(name): value for name, value in each.items()}
            rows.append({**row, **case})
    if not rows:
        raise LabError("The Record lacks samples that are needed here.", "Measure again.")
    return pd.DataFrame(rows)


def unseen(record: Record, part: str) -> list[str]:
    """Why nothing can be counted in the captures of this part, a sentence each; empty when it can."""
    reasons = [] if record.complete else [cut_short(record)]
    captures = [p.facts["capture"] for p in record.select(part=part) if "capture" in p.facts]
    if any(each["dropped"] for each in captures):
        reasons.append("packets were dropped from a capture")
    if any(each["segments_not_understood"] for each in captures):
        reasons.append("some segments could not be read")
    return reasons + uncut(record)


def counting(judge: Callable[[Record], Judgement]) -> Callable[[Record], Judgement]:
    """A judge of what was counted in captures; nothing is decided where the library speaks otherwise."""

    def judge_if_readable(record: Record) -> Judgement:
        if record.cluster.get("mpi", "classic") == "classic":
            return judge(record)
        return undecided(
            "what this cluster's MPI library writes into its connections is not known",
            "`beowulf up --mpi classic` boots a cluster whose messages can be read on the wire.",
        )

    return judge_if_readable


def size_text(size_bytes: int) -> str:
    """1024 as 1 KB, of 1024 bytes."""
    return f"{size_bytes // 1024} KB" if size_bytes % 1024 == 0 else f"{size_bytes} B"
