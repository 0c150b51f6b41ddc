"""Pictures of the heat program's Records."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING

from beowulf.errors import LabError
from beowulf.exercises.heat import knob_worth, reading
from beowulf.exercises.heat.reading import PARTS
from beowulf.record import Record
from beowulf.tuning.ab_comparison import AFTER, BEFORE

if TYPE_CHECKING:
    from beowulf.figures import Figure


def picture(record: Record) -> Figure:
    """What a Record of the heat program shows; LabError where it has no samples, or is no such Record."""
    drawn = PICTURES.get(record.study)
    if drawn is None:
        raise LabError(
            f"There is no picture of a Record {record.study} here.",
            "A capture (H6) is looked at packet by packet: `beowulf packets FILE`."
            " `beowulf timeline FOLDER` draws the runs of T3 to T7, whose traces are in `timelines`.",
        )
    return drawn(record)


def _steps(record: Record) -> Figure:
    from beowulf import figures

    found = reading.table(record)
    series: dict[str, dict[str, float]] = {}
    for row in found.to_dict("records"):
        plate = f"{row['rows']} x {row['columns']}"
        series.setdefault(plate, {})[str(row["way"])] = float(f"{row['ns_a_point']:.3g}")
    drawn = figures.dots(series, title="One step of your plate", value_title="ns a point, median")
    return figures.Figure(drawn.drawing, drawn.title, drawn.alt, found)


def _speed_up(record: Record) -> Figure:
    from beowulf import figures

    found = reading.table(record)
    found["plate"] = [f"{rows} x {rows}" for rows in found["rows"]]
    return figures.lines(
        found,
        "ranks",
        "speed_up",
        "plate",
        low="speed_up_low",
        high="speed_up_high",
        title="Your plate on several ranks",
        y_title="times as fast as one rank",
    )


def _exchanges(record: Record) -> Figure:
    from beowulf import figures

    found = reading.table(record)
    alone = found[found["what"] == reading.QUANTITIES["exchange_s"]]
    return figures.lines(
        alone,
        "row_bytes",
        "median_ms",
        "way",
        low="low_ms",
        high="high_ms",
        x_log=True,
        y_log=True,
        title="Your exchanges alone",
        x_title="one ghost row (bytes)",
        y_title="an exchange of all ghost rows, median (ms)",
    )


def _overlap(record: Record) -> Figure:
    from beowulf import figures

    series: dict[str, dict[str, float]] = {}
    for columns in reading.columns_of(record.points):
        parts = reading.part_medians(record, columns)
        row = f"rows of {columns:,} columns: {reading.gain(record, columns).percent:+.0f} %"
        series[row] = {says: float(f"{1e3 * parts[way]:.3g}") for way, says in PARTS.items()}
        both = parts["exchange"], parts["compute"]
        hidden = max(parts["before"] - min(both), *both)  # never less than the longer one
        series[row]["at best, the lesser of both hidden"] = float(f"{1e3 * hidden:.3g}")
    return figures.bars(
        series,
        title="Your overlapped step, and its gain by equation 1",
        value_title="median of the slowest rank (ms)\nThe gain is the median of equation 1, pass by pass.",
    )


def _worth(record: Record) -> Figure:
    from beowulf import figures

    times, decision = knob_worth.worth(record)
    values: dict[str, dict[str, float]] = {BEFORE: {}, AFTER: {}}
    for state, quantity in product(values, ("exchange_s", "step_s")):
        launches = sorted(knob_worth.by_launch(record, quantity, state).values())
        middle = 1e6 * launches[len(launches) // 2]
        values[state][reading.QUANTITIES[quantity]] = float(f"{middle:.3g}")
    return figures.bars(
        values,
        title=f"{record.variant}: a step takes {times.median:.2f} times as long ({decision})",
        value_title="time (µs): the fastest tenth of each launch, median of the launches\n"
        "The title's ratio is the median of the pairs.",
    )


PICTURES: dict[str, Callable[[Record], Figure]] = {
    "H2": _steps,
    "H3": _speed_up,
    "H4": _exchanges,
    "H5": _overlap,
    "H7": _worth,
}
