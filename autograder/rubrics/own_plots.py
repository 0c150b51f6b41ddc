"""Points for a learner's own plot: what its axes and lines have, and whether it shows the learner's own Records."""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from autograder.rubrics.record_facts import MOST_RECORDS, attempt, each_read
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission, is_number
from beowulf.exercises.own_plot import LETTER
from beowulf.exercises.plot_reading import PARTS, View, Wants, views
from beowulf.record import Record

# A line that should be in a plot: y by x. By the Record that has them, several for one plot.
Curve = Mapping[float, float]
Curves = Sequence[Curve]
Data = Callable[[Submission], Iterator[tuple[str, Curves]]]

OF_NUMBERS = 3  # points, beside one for each of the parts that `remarks` looks at
MOSTLY = 0.9  # of what is drawn at measured places has to be what was measured
SAME_X = 1e-3
# Lines that are drawn, times points that were measured: 10 lines beside 20 full Records have a third of it.
MOST_COMPARED = 300_000


def of_records(study: str, *reads: Callable[[Record], Curves], variant: str = "") -> Data:
    """The lines that each of `reads` finds in the learner's newest complete Records of a study."""

    def data(submission: Submission) -> Iterator[tuple[str, Curves]]:
        whole = [each for each in submission.measured(study, variant) if each.complete]
        for read in reads:
            for record, curves in each_read(read, whole):
                if curves:
                    yield record.file_name, curves

    return data


@dataclass(frozen=True)
class Plot:
    """Scores the learner's plots of a name by the best of them; `data` has the lines that they should show.

    Half of the points are for the numbers; where no line shows what was measured, the other half counts half.
    """

    name: str
    wants: Wants
    data: Data

    def __call__(self, submission: Submission, *, tolerance_percent: float = 5) -> Score:
        """The Score of the best plot; a value counts within `tolerance_percent` of what was measured."""
        expected = f"{self.wants.y} over {self.wants.x}, {self.wants.lines} or more lines of {self.wants.points} points"
        of = len(PARTS) + OF_NUMBERS
        kept = submission.measured(LETTER, self.name)
        if not kept:
            return Score(0, of, f"There is no plot {self.name}.", expected)
        data = list(self.data(submission))
        room, newest = tolerance_percent / 100, kept[:MOST_RECORDS]
        scores = [self._one(record, data, of, expected, room) for record in newest]
        return max(scores, key=lambda score: score.points)

    def _one(
        self,
        record: Record,
        data: Sequence[tuple[str, Curves]],
        of: float,
        expected: str,
        room: float,
    ) -> Score:
        read, why = attempt(self._read, record)
        if read is None:
            return Score(0, of, f"{record.file_name}: {why}.", expected)
        scores = [self._seen(record, *each, data, of, expected, room) for each in read]
        return max(scores, key=lambda score: score.points)

    def _seen(
        self,
        record: Record,
        view: View,
        drawn: Sequence[Curve],
        data: Sequence[tuple[str, Curves]],
        of: float,
        expected: str,
        room: float,
    ) -> Score:
        """The Score of a plot that is looked at in one way."""
        parts = view.lacks
        said = [str(each) for part in parts.values() for each in part]
        if not drawn:
            return Score(0, of, f"{record.file_name}: nothing is drawn.", expected)
        points = float(sum(not part for part in parts.values()))
        share, why = _best_share(drawn, data, self.wants.points, room)
        # A plot of other numbers than the learner's own is hardly one, however well it is labelled.
        points = points + OF_NUMBERS * share if share else points / 2
        return Score(points, of, " ".join([f"{record.file_name}:", *said, why]), expected)

    def _read(self, record: Record) -> list[tuple[View, list[Curve]]]:
        """Each way to look at the plot, with its lines in the units that are asked for."""
        seen = views([point.facts for point in record.points], self.wants)
        return [
            (each, [_by_x(*line) for line in each.drawn(self.wants) if line[0]]) for each in seen
        ]


def _best_share(
    drawn: Sequence[Curve], data: Sequence[tuple[str, Curves]], points: int, room: float
) -> tuple[float, str]:
    """Which share of the lines that should be there is drawn, by the Record that fits best; and that in words."""
    if not data:
        return 0.0, "There is no whole Record that its numbers could be of."
    if len(drawn) * sum(len(curve) for _, curves in data for curve in curves) > MOST_COMPARED:
        return 0.0, "It has more lines, or your Records have more points, than can be compared."

    def is_drawn(curve: Curve) -> bool:
        return any(_shows(line, curve, min(points, len(curve)), room) for line in drawn)

    shares = [(sum(map(is_drawn, curves)) / len(curves), name, curves) for name, curves in data]
    share, name, curves = max(shares, key=lambda each: each[0])
    right = round(share * len(curves))
    return share, f"{right} of {len(curves)} lines show what was measured (by {name})."


def _shows(line: Curve, curve: Curve, points: int, room: float) -> bool:
    # Of what may be 0 or below, as a gain in per cent, a share of the value itself would be no room at all.
    values = list(curve.values())
    least = 0.0 if min(values, default=0.0) > 0 else max(map(abs, values), default=0.0)
    there = list(line)
    both = []
    for x, wanted in curve.items():
        place = bisect(there, x)
        at = min(there[max(place - 1, 0) : place + 1], key=lambda each: abs(each - x))
        if math.isclose(at, x, rel_tol=SAME_X, abs_tol=1e-9):
            both.append((line[at], wanted))
    hits = sum(abs(y - wanted) <= room * max(abs(wanted), least) for y, wanted in both)
    return hits >= points and hits >= MOSTLY * len(both)


def _by_x(across: Sequence[float], up: Sequence[float]) -> dict[float, float]:
    """The middle of what is drawn at each x, in their order."""
    at: dict[float, list[float]] = {}
    for x, y in zip(across, up, strict=True):
        if not (is_number(x) and is_number(y)):
            raise ValueError("a place that is not a number")
        at.setdefault(float(x), []).append(float(y))
    return {x: median(at[x]) for x in sorted(at)}
