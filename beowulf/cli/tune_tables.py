"""What `beowulf tune` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beowulf.report.before_after import Row
    from beowulf.tuning.checklist import Answers
    from beowulf.tuning.knob import Knob, Reading
    from beowulf.tuning.log import Entry


def now(readings: Mapping[str, Reading]) -> str:
    """How a knob is set: once where all places agree, else place by place."""
    return once({place: each.said for place, each in readings.items()})


def once(by_place: Mapping[str, str]) -> str:
    """The value of several places: once where they agree; else the most frequent, and the places that differ."""
    counted = Counter(by_place.values()).most_common()
    if len(counted) <= 1:
        return next(iter(by_place.values()), "not observable here")
    odd = [f"{place} {value}" for place, value in by_place.items() if value != counted[0][0]]
    return f"DIFFERS: {counted[0][0]}, but {', '.join(odd)}"


def overview(
    answers: Sequence[Answers],
    readings_by_knob: Mapping[Knob, Mapping[str, Reading]],
    changed: Sequence[Entry],
) -> list[str]:
    """The lines of `beowulf tune`: the checklist, the knobs, what is changed, and what to do next."""
    checklist = [("asked as in paper E", "answer", "wanted")]
    checklist += [
        (each.question.asks, once(each.by_node), each.question.wanted or "all equal")
        for each in answers
    ]
    knobs = [("knob", "now", "best for short messages")]
    knobs += [(knob.name, now(readings), knob.tuned) for knob, readings in readings_by_knob.items()]
    lines = [*table(checklist), "", *table(knobs), ""]
    if changed:
        names = ", ".join(dict.fromkeys(entry.knob for entry in changed))
        lines.append(
            f"Changed: {names}. `beowulf tune log` says how; `beowulf tune revert` puts all back."
        )
    next_ = "`beowulf tune show KNOB` explains one; `beowulf tune apply KNOB VALUE` tries it."
    return [*lines, next_]


def explained(knob: Knob, readings: Mapping[str, Reading]) -> list[str]:
    """The lines that explain a knob; with the commands that turn it."""
    from beowulf.tuning.change_preview import shortened
    from beowulf.tuning.knob import HOST

    parts = {
        knob.title: knob.what,
        "Why it matters": knob.why,
        "Here": knob.here,
        "Elsewhere": knob.elsewhere,
        "In the papers": knob.paper,
        "Values": f"{', '.join(knob.values)}; best for short messages: {knob.tuned}",
        "Noticed by": "new connections and programs only" if knob.relaunch else "",
        "Now": now(readings) if readings else "",
    }
    return [
        *(f"{heading}: {text}" for heading, text in parts.items() if text),
        f"Set to {knob.shows} with:",
        *shortened(knob.set(knob.shows, HOST if knob.on_host else "node00")),
    ]


def compared(rows: Mapping[str, Sequence[Row]]) -> list[str]:
    """The lines of `beowulf tune compare`, one part a program."""
    heads: tuple[str, ...] = ("", "before", "after", "time: median of pairs", "paper E")
    lines: list[tuple[str, ...]] = [heads]
    for row in (row for each in rows.values() for row in each):
        paper = "" if row.paper_percent is None else f"{row.paper_percent:+.0f} %"
        both = (f"{value:.4g} {row.unit}" for value in (row.before, row.after))
        lines.append(
            (row.what, *both, "{:+.1f} % ({:+.1f} to {:+.1f})".format(*row.percent), paper)
        )
    notes = [
        f"{row.what}: the two figures say otherwise. They are medians of each state; the pairs decide."
        for each in rows.values()
        for row in each
        if row.figures_say_otherwise
    ]
    return [*table(lines), *notes]


def table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows as lines, with their columns below each other."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
