"""What a plot shows, in whatever style: its lines in the units that are asked for, and what it lacks.

Sizes in KiB, times in ms, logarithms taken by hand, categories, several panels, axes the other way round and names
beside the lines in place of a legend show as much as what the question's own words would give.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

from beowulf.figures import number_text

KI, MI, GI = 2**10, 2**20, 2**30
_TIMES = {
    **dict.fromkeys(("ns", "nanoseconds"), 1e-3),
    **dict.fromkeys(("µs", "us", "microseconds"), 1.0),
    **dict.fromkeys(("ms", "milliseconds"), 1e3),
    **dict.fromkeys(("s", "sec", "seconds"), 1e6),
}
_RATES = {
    **dict.fromkeys(("bit/s", "bits/s", "bps"), 1e-6),
    **dict.fromkeys(("kbit/s", "kbits/s", "kbps"), 1e-3),
    **dict.fromkeys(("mbit/s", "mbits/s", "mbps", "megabit/s"), 1.0),
    **dict.fromkeys(("gbit/s", "gbits/s", "gbps"), 1e3),
    **dict.fromkeys(("bytes/s", "byte/s", "b/s"), 8e-6),
    **{"kb/s": 8e-3, "kib/s": 8e-6 * KI, "mb/s": 8.0, "mbyte/s": 8.0, "mbytes/s": 8.0},
    **{"mib/s": 8e-6 * MI, "gb/s": 8e3, "gib/s": 8e-6 * GI},
}
# How a unit may be written, without regard to capitals, and how many of the asked unit one of it is.
UNITS: Mapping[str, Mapping[str, float]] = {
    "bytes": {
        **dict.fromkeys(("bytes", "byte", "b"), 1.0),
        **dict.fromkeys(("kib", "kibibytes", "ki"), KI),
        **dict.fromkeys(("kb", "kbyte", "kbytes", "kilobytes"), 1e3),
        **dict.fromkeys(("mib", "mebibytes"), MI),
        **dict.fromkeys(("mb", "mbyte", "mbytes", "megabytes"), 1e6),
    },
    "µs": _TIMES,
    "mbit/s": _RATES,
    "mb/s": {name: factor / 8 for name, factor in _RATES.items()},
    "%": {"%": 1.0, "percent": 1.0, "cent": 1.0, "fraction": 100.0, "ratio": 100.0},
}
# What else the same letters are used for.
AMBIGUOUS = {"kb": KI / 1e3, "mb": MI / 1e6, "mb/s": 1 / 8, "kb/s": KI / 1e3}
LOGARITHM = re.compile(r"log|\bl[nbg]\b", re.IGNORECASE)
BASES, LARGEST_EXPONENT = (2.0, 10.0, math.e), 60
# A tick's text: a number, a power, and perhaps a unit.
TICK = re.compile(
    r"([-+]?[\d.,]+(?:e[-+]?\d+)?)(?:\^\{?([-+]?\d+)\}?)?\s*([A-Za-zµ%][\w/%]*)?", re.I
)
# A plot's parts, by which it is remarked on and graded.
PARTS = LABELS, SCALES, LINES = "labels", "scales", "lines"

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Wants:
    """What a plot has to have: what is along its axes (`size in bytes`), where a log scale is due, lines and points.

    `lines` counts those with at least so many `points`; so many of them have `intervals`.
    """

    x: str
    y: str
    log_x: bool = False
    log_y: bool = False
    lines: int = 1
    points: int = 2
    intervals: int = 0


@dataclass(frozen=True)
class View:
    """Some pairs of axes of a plot, looked at together, and what they lack, in sentences by part."""

    panels: Sequence[Facts]
    lacks: Mapping[str, Sequence[str]]

    @property
    def lines(self) -> list[Facts]:
        """All lines; those that have one name in several panels are one line as well."""
        return _lines(self.panels)

    def drawn(self, wants: Wants) -> Iterator[tuple[list[float], list[float]]]:
        """Each line in the units that are asked for, in every way that its axes can be understood."""
        for panel in self.panels:
            for line in _lines([panel]):
                yield from _understood(panel, line, wants)
        if len(self.panels) > 1:
            for line in self.lines:
                yield from _understood(self.panels[0], line, wants)


def views(points: Sequence[Facts], wants: Wants) -> list[View]:
    """The ways to look at a plot: each pair of axes, all of them together, and those with x and y exchanged."""
    used = [panel for panel in points if panel["lines"]] or list(points[:1])
    groups = [[panel] for panel in used] + ([_sharing(used)] if len(used) > 1 else [])
    found = [View(group, _lacks(group, wants)) for group in groups]
    turned = [[_turned(panel) for panel in view.panels] for view in found if view.lacks[LABELS]]
    others = [View(group, _lacks(group, wants)) for group in turned]
    # Its labels say that it is the other way round.
    return found + [view for view in others if not view.lacks[LABELS]]


def best(points: Sequence[Facts], wants: Wants) -> View:
    """The way to look at a plot in which it lacks least."""
    return min(views(points, wants), key=lambda view: sum(map(len, view.lacks.values())))


def has_unit(label: str, unit: str) -> bool:
    """Whether an axis' label has this unit, or one that it can be converted from."""
    return bool(_factors(label, unit))


def _factors(label: str, unit: str) -> list[float]:
    """How many of a unit one of the label's is, by each way to read it; none where the label has no such unit."""
    plain = re.sub(r"\$?\\mu\$?", "µ", label).replace("μ", "µ").replace(" / ", "/").lower()
    words = set(re.split(r"[^\w/%]+", plain))
    words |= {each.partition("/")[2] for each in words}  # size/bytes, as physicists write it
    wanted, *others = unit.lower().split()
    if not all(other in words for other in others):
        return []
    known = UNITS.get(wanted, {wanted: 1.0})
    found = words & known.keys()
    # The unit itself comes before one that it could be converted from.
    if same := {word for word in found if known[word] == 1}:
        found = same
    both = [(known[word], AMBIGUOUS.get(word, 1.0)) for word in found]
    return sorted({factor * other for factor, more in both for other in (1.0, more)})


def _lacks(panels: Sequence[Facts], wants: Wants) -> dict[str, list[str]]:
    lines = [each for each in _lines(panels) if each.get("places", each["points"]) >= wants.points]
    labels, scales = [], []
    for axis, wanted, log in (("x", wants.x, wants.log_x), ("y", wants.y, wants.log_y)):
        for panel in panels:
            label = str(panel[f"{axis}_label"]).strip()
            labels += _of_label(axis, label, panel, wanted)
            scales += _of_scale(axis, label, panel, log)
    return {
        LABELS: list(dict.fromkeys(labels)),
        SCALES: list(dict.fromkeys(scales)),
        LINES: _of_lines(panels, lines, wants),
    }


def _of_label(axis: str, label: str, panel: Facts, wanted: str) -> list[str]:
    if not label:
        return [f"The {axis} axis has no label: it shows the {wanted}."]
    unit = _unit(wanted)
    if unit and not has_unit(label, unit) and not any(t[2] for t in _ticks(panel, axis, unit)):
        return [f"The label of the {axis} axis, {label!r}, has no unit: {unit}."]
    return []


def _of_scale(axis: str, label: str, panel: Facts, wanted: bool) -> list[str]:
    scale = panel[f"{axis}_scale"]
    if not wanted or scale in ("log", "symlog") or LOGARITHM.search(label):
        return []
    if any(_of_ticks(panel, axis, line[axis], "") for line in panel["lines"]):
        return []  # each category has the same room
    values = [value for line in panel["lines"] for value in line[axis] if value > 0]
    span = ""
    if values and max(values) > min(values):
        low, high = number_text(min(values)), number_text(max(values))
        span = f", from {low} to {high}, so that the small ones lie on top of each other"
    return [f"The {axis} axis is {scale}{span}: on a log scale each factor has the same length."]


def _of_lines(panels: Sequence[Facts], lines: Sequence[Facts], wants: Wants) -> list[str]:
    said, drawn = [], [line for panel in panels for line in panel["lines"]]
    if len(lines) < wants.lines:
        most = max((each["points"] for each in drawn), default=0)
        if len(drawn) >= wants.lines:
            said.append(f"A line has {most} points, and needs {wants.points} or more.")
        else:
            said.append(f"{counted(len(drawn), 'line')} drawn; {wants.lines} belong in it.")
    names = {name for panel in panels for name in (*panel["legend"], *panel.get("texts", ()))}
    names |= {panel["title"] for panel in panels if len(panels) > 1 and panel["title"]}
    if len(drawn) > 1 and len(names) < min(len(drawn), wants.lines):
        said.append("There are several lines, and no legend says which is which.")
    with_interval = sum(each["kind"] == "errorbar" for each in lines)
    with_interval += sum(panel.get("bands", 0) for panel in panels)
    if with_interval < wants.intervals:
        said.append(
            f"{counted(with_interval, 'line')} drawn with intervals; {wants.intervals} have some: axes.errorbar."
        )
    return said


def counted(number: int, what: str) -> str:
    """So many of something: `1 line`, `2 lines`."""
    return f"{number} {what}{'s' * (number != 1)}"


def _lines(panels: Sequence[Facts]) -> list[Facts]:
    lines = [line for panel in panels for line in panel["lines"]]
    if len(panels) == 1:
        return lines
    by_name: dict[str, list[Facts]] = {}
    for line in lines:
        by_name.setdefault(str(line["label"]), []).append(line)
    for name, parts in by_name.items():
        if name and len(parts) > 1:
            whole = {axis: [value for part in parts for value in part[axis]] for axis in ("x", "y")}
            count = sum(part["points"] for part in parts)
            lines.append({**parts[0], **whole, "points": count, "places": count})
    return lines


def _sharing(panels: Sequence[Facts]) -> list[Facts]:
    """Panels that share an axis have its label once: here each has it."""
    shared = {
        name: next((panel[name] for panel in panels if str(panel[name]).strip()), "")
        for name in ("x_label", "y_label")
    }
    return [
        {**panel, **{name: panel[name] or label for name, label in shared.items()}}
        for panel in panels
    ]


def _turned(panel: Facts) -> Facts:
    """A pair of axes with x and y exchanged."""
    lines = [{**line, "x": line["y"], "y": line["x"]} for line in panel["lines"]]
    turned = {**panel, "lines": lines}
    for name in ("scale", "label", "ticks"):
        turned[f"x_{name}"], turned[f"y_{name}"] = (panel.get(f"{a}_{name}", []) for a in "yx")
    return turned


def _understood(
    panel: Facts, line: Facts, wants: Wants
) -> Iterator[tuple[list[float], list[float]]]:
    ways = (_values(panel, axis, line[axis], getattr(wants, axis)) for axis in ("x", "y"))
    yield from product(*ways)


def _values(panel: Facts, axis: str, values: Sequence[float], wanted: str) -> list[list[float]]:
    """The numbers along an axis in the unit that is asked for, by each way to read its label and its ticks."""
    unit, label = _unit(wanted), str(panel[f"{axis}_label"])
    factors = (_factors(label, unit) if unit else []) or [1.0]
    plain = [list(values)]
    if LOGARITHM.search(label) and max(map(abs, values), default=0) <= LARGEST_EXPONENT:
        plain += [[base**value for value in values] for base in BASES]
    found = [[factor * value for value in each] for each in plain for factor in factors]
    for factor in factors:
        if named := _of_ticks(panel, axis, values, unit, factor):
            found.append(named)
    return found


def _of_ticks(
    panel: Facts, axis: str, values: Sequence[float], unit: str, factor: float = 1.0
) -> list[float]:
    """The numbers that the ticks name at these places; none where they name no other ones, or not all."""
    ticks = _ticks(panel, axis, unit)
    if len(ticks) < 2 or all(math.isclose(place, number) for place, number, _ in ticks):
        return []
    room = min(b[0] - a[0] for a, b in pairwise(ticks)) / 2
    found = []
    for value in values:
        place, number, own = min(ticks, key=lambda tick: abs(tick[0] - value))
        if abs(place - value) > room:
            return []
        found.append(number * (own or factor))
    return found


def _ticks(panel: Facts, axis: str, unit: str) -> list[tuple[float, float, float]]:
    """Ticks that a learner has named by numbers: where, the number, and its own unit's factor, or 0."""
    found = []
    for place, text in panel.get(f"{axis}_ticks", ()):
        match = TICK.fullmatch(str(text).replace("$", "").replace("\\mathdefault", "").strip(" {}"))
        if match is None:
            continue
        try:
            number = float(match[1].replace(",", ""))
            number = number ** int(match[2]) if match[2] else number
        except (ValueError, OverflowError):
            continue
        factors = _factors(match[3], unit) if match[3] and unit else []
        found.append((float(place), number, factors[0] if factors else 0.0))
    return sorted(found)


def _unit(wanted: str) -> str:
    what, _, unit = wanted.rpartition(" in ")
    return unit if what else ""
