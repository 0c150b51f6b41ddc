"""What a Record of the heat program says: tables, sentences, gains."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from beowulf.errors import LabError
from beowulf.exercises import calls
from beowulf.measure.statistics import Ratio, ratio
from beowulf.measure.table import summary_of
from beowulf.record import Point, Record

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.measure.improvement import Improvement

STUDIES = ("H2", "H3", "H4", "H5", "H6", "H7")
BYTES = 8  # of a number
OF_PLATE = ("rows", "columns")
QUANTITIES = {"step_s": "a step", "exchange_s": "an exchange", "compute_s": "a step alone"}
PARTS = {
    "exchange": "the exchange alone",
    "compute": "the step alone",
    "before": "one after the other",
    "overlapped": "your overlapped step",
}
# How a ghost row is to be sent.
SENT_BY = {
    "exchange_send_first": "blocking",
    "exchange_in_turns": "blocking",
    "exchange_nonblocking": "nonblocking",
}
OVERLAPPED = ("overlapped_step", "overlapped")
# Of a plate of any size, a point takes numpy a hundredth of the time of two loops.
LEAST_TIMES_LOOPS = 3
# Of a rank's own work: 32 rows, of which 30 need no ghost row, beside whatever is done around them.
LEAST_MEANWHILE = 0.1


def functions(record: Record) -> dict[str, dict[str, Any]]:
    """What the Record says of each function of the learner's."""
    return {str(p.at["function"]): p.facts for p in record.points if "function" in p.at}


def not_asked(record: Record, name: str) -> str:
    """What a right function does otherwise than asked, as the Record shows it; empty where nothing is seen."""
    facts = functions(record).get(name, {})
    if name in SENT_BY and (other := calls.not_asked(facts.get("mpi_calls", ()), SENT_BY[name])):
        return f"a recording shows {other}, and this way does without"
    if name in OVERLAPPED and facts.get("meanwhile_share", 1.0) < LEAST_MEANWHILE:
        return "a recording shows that it computes next to nothing while its rows travel"
    if name == "step_numpy" and record.study == "H2":
        loops, numpy = (_step_s(record, way) for way in ("loops", "numpy"))
        if both := loops.keys() & numpy.keys():
            times = loops[min(both)] / numpy[min(both)]
            if times < LEAST_TIMES_LOOPS:
                return f"it is {times:.2g} times as fast as step_loops: does numpy add whole parts?"
    return ""


def _step_s(record: Record, way: str) -> dict[int, float]:
    """The median of a step by the rows of its plate."""
    samples: dict[int, list[float]] = {}
    for point in record.select(way=way):
        samples.setdefault(int(point.at["rows"]), []).extend(point.samples)
    return {rows: median(each) for rows, each in samples.items() if each}


def places(record: Record, *names: str) -> dict[tuple[Any, ...], list[Point]]:
    """The points with samples by quantity and these coordinates."""
    found: dict[tuple[Any, ...], list[Point]] = {}
    for point in record.points:
        if point.samples and point.quantity in QUANTITIES:
            key = (point.quantity, *(point.at.get(name) for name in names))
            found.setdefault(key, []).append(point)
    if not found:
        raise LabError(
            f"The Record {record.study} of the heat program has no samples.",
            "The functions that it was to measure were not right; fix them and measure again.",
        )
    return found


def table(record: Record) -> pd.DataFrame:
    """A row for each way and plate: the median of a step or an exchange in ms, its interval, and how many samples.

    With H3 the speed-up over one rank is beside it, with H5 what is gained. LabError without samples.
    """
    import pandas as pd

    names = _names(record)
    rows = []
    for key, points in places(record, *names).items():
        found = summary_of(points)
        ms = {name: 1e3 * getattr(found, name) for name in ("median", "low", "high")}
        place = dict(zip(names, key[1:], strict=True))
        rows.append(
            {
                **place,
                "what": QUANTITIES[key[0]],
                **{f"{name}_ms": value for name, value in ms.items()},
                "n": found.n,
                **_more(record, key[0], place, found.median),
            }
        )
    return pd.DataFrame(rows).sort_values(list(names), ignore_index=True)


def _names(record: Record) -> tuple[str, ...]:
    """The coordinates that distinguish a study's samples."""
    if record.study == "H3":
        return ("ranks", *OF_PLATE)
    if record.study == "H7":
        return ("state", *OF_PLATE)
    return ("way", *OF_PLATE)


def _more(record: Record, quantity: str, place: dict[str, Any], seconds: float) -> dict[str, Any]:
    if record.study == "H2":
        points = (place["rows"] - 2) * (place["columns"] - 2)
        return {"ns_a_point": 1e9 * seconds / points}
    if record.study == "H3":
        times = speed_up(record, int(place["ranks"]), int(place["rows"]))
        return {"speed_up": times.median, "speed_up_low": times.low, "speed_up_high": times.high}
    if record.study == "H4":
        return {"row_bytes": BYTES * int(place["columns"])}
    if record.study == "H5" and quantity == "step_s" and place["way"] == "overlapped":
        seen = gain(record, int(place["columns"]))
        return {"gain_percent": seen.percent, "gain_low": seen.low, "gain_high": seen.high}
    return {}


def pairs(
    record: Record, quantity: str, one: dict[str, Any], other: dict[str, Any]
) -> tuple[list[tuple[float, float]], list[int]]:
    """The samples of two places that were taken in the same pass of the same launch, and the launches."""
    times: list[dict[tuple[int, int], float]] = []
    for at in (one, other):
        found: dict[tuple[int, int], float] = {}
        for point in record.select(**at):
            if point.quantity == quantity:
                launch = int(point.at["launch"])
                found |= {
                    (launch, int(number)): sample
                    for number, sample in zip(point.facts["pass"], point.samples, strict=True)
                }
        times.append(found)
    both = sorted(set(times[0]) & set(times[1]))
    return [(times[0][key], times[1][key]) for key in both], [launch for launch, _ in both]


def speed_up(record: Record, ranks: int, rows: int) -> Ratio:
    """How many times as fast so many ranks are as one, pass by pass."""
    found, launches = pairs(
        record, "step_s", {"ranks": 1, "rows": rows}, {"ranks": ranks, "rows": rows}
    )
    return ratio(found, launches=launches)


def gain(record: Record, columns: int) -> Improvement:
    """Equation 1 of paper D: the overlapped step against one after the other, pass by pass; negative is better."""
    from beowulf.measure.improvement import improvement

    found, launches = pairs(
        record,
        "step_s",
        {"way": "overlapped", "columns": columns},
        {"way": "before", "columns": columns},
    )
    if not found:
        raise LabError("The Record has no overlapped step.", "Write it, and measure again.")
    return improvement([a for a, _ in found], [b for _, b in found], launches)


def bound_percent(record: Record, columns: int) -> float:
    """The most that overlap can gain by equation 1: the lesser of exchange and step, of one after the other."""
    parts = part_medians(record, columns)
    return -100 * min(parts["exchange"], parts["compute"]) / parts["before"]


def part_medians(record: Record, columns: int) -> dict[str, float]:
    """The median seconds of the four parts of H5."""
    found = {
        str(key[1]): summary_of(points).median
        for key, points in places(record, "way", "columns").items()
        if key[2] == columns
    }
    if missing := [way for way in PARTS if way not in found]:
        raise LabError(
            f"There are no samples for: {', '.join(PARTS[way] for way in missing)}.",
            "Measure again.",
        )
    return found


def deadlock(record: Record) -> dict[str, Any]:
    """The longest row in columns with which exchange_send_first ended, the shortest with which it did not (0: none)."""
    for point in record.select(search="deadlock"):
        return dict(point.facts)
    raise LabError(
        "The Record does not say at what row length exchange_send_first no longer ends.",
        "Measure it again.",
    )


def lines(record: Record) -> list[str]:
    """What is right and what is not, a sentence for each function; and what was looked for besides."""
    said = []
    for name, facts in functions(record).items():
        right = "right (the given version)" if facts.get("given") else "right"
        said.append(f"{name:<20} {facts.get('why') or not_asked(record, name) or right}")
    for point in record.select(search="deadlock"):
        said.append(_deadlock_sentence(point.facts))
    return said


def _deadlock_sentence(facts: dict[str, Any]) -> str:
    ends, hangs = int(facts["ends_columns"]), int(facts["hangs_columns"])
    if not hangs:
        return (
            f"exchange_send_first ends even with rows of {ends:,} columns ({BYTES * ends:,} bytes):"
            " does every rank send to all its neighbours before it receives?"
        )
    return (
        f"exchange_send_first ends with rows of {ends:,} columns ({BYTES * ends:,} bytes), and not with {hangs:,}:"
        f" {facts['waits']}."
    )


def columns_of(points: Sequence[Point]) -> list[int]:
    """The different lengths of rows."""
    return sorted({int(point.at["columns"]) for point in points if "columns" in point.at})
