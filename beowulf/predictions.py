"""What a learner predicts before measuring: sealed as a Record beside the notebook, then held against the measurement.

A prediction is a number with a range. Which ones a lab asks for is in its lab.toml, each with a study: sealed after the
first Record of that study, a prediction is late. The first one that was sealed stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, TypeGuard, cast

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.course import lab_file
from beowulf.course.answers import number_hint
from beowulf.course.lab_file import PredictionTable
from beowulf.errors import UsageError
from beowulf.figures import number_text
from beowulf.record import Point, Record, moment, readable
from beowulf.this_machine import host_state
from beowulf.this_machine.user import learner

# P4 has those of lab 04, one Record each, which has the prediction's name as variant; P is any of them.
LETTER, STUDY = "P", re.compile("P[0-9]{0,3}")
MEASURED = ".measured"  # behind that name: what it was held against
LARGEST = 1e300  # beyond it, and for no number at all, nothing can be compared
# In the cluster's description of a Record that the course gave: nobody has measured before that one.
GIVEN = "given_by"


@dataclass(frozen=True)
class Prediction:
    """A number that was sealed, with its range."""

    name: str
    value: float
    low: float
    high: float
    unit: str
    study: str  # as in lab.toml, such as A7
    late: bool  # a Record of that study was there already
    sealed: str  # when
    lab: int

    def holds(self, measured: float) -> bool:
        """Whether what was measured lies in the range."""
        return self.low <= measured <= self.high

    def __str__(self) -> str:
        value, low, high = map(number_text, (self.value, self.low, self.high))
        return f"{value} ({low} to {high}) {self.unit}"


def predict(
    cluster: Cluster,
    name: str,
    *,
    value: float | None = None,
    low: float | None = None,
    high: float | None = None,
    lab: str = "",
) -> None:
    """Seal a prediction of the lab, and say so; nothing is sealed while one of the numbers is None.

    `low` and `high` are the ends of a range around `value` in which you expect the measurement. The lab is the one in
    whose folder the notebook is, unless `lab` names another. UsageError for what is no number, or no range.
    """
    numbers: dict[str, Any] = {"value": value, "low": low, "high": high}
    empty = [key for key, each in numbers.items() if each is None or each is Ellipsis]
    if earlier := prediction(cluster, name):
        print(_stays(earlier, numbers if not empty else {}))
        return
    number, table = _declared(cluster, name, lab)
    if empty:
        print(
            f"{name} is not sealed yet: {table.asks}"
            f" Write {_listed(empty)} in {table.unit}, before you measure {table.study}."
        )
        return
    _refuse(numbers, table.unit)
    print(_seal(cluster, number, table, {key: float(each) for key, each in numbers.items()}))


def prediction(cluster: Cluster, name: str) -> Prediction | None:
    """What was sealed under this name, to be drawn; None where nothing was."""
    return next((each for each in sealed_in(_folder(cluster)) if each.name == name), None)


def outcome(
    cluster: Cluster, name: str, measured: float, *, lab: str = "", way: str = "measured"
) -> str:
    """What was predicted beside what was measured, in a sentence; kept for `beowulf progress`.

    `way` is another word than measured, where that is right: simulated.
    """
    if (found := prediction(cluster, name)) is None:
        unit = _declared(cluster, name, lab)[1].unit
        _refuse({"measured": measured}, unit)
        return f"You sealed no prediction of {name}; {way}: {number_text(measured)} {unit}."
    _refuse({"measured": measured}, found.unit)
    _keep(_folder(cluster), found, float(measured))
    where = "inside" if found.holds(measured) else "above" if measured > found.high else "below"
    said = f"You predicted {found}; {way}: {number_text(measured)}, {where} your range."
    return f"{said} It was sealed after the first Record of {found.study}." if found.late else said


def sealed_in(folder: Path) -> list[Prediction]:
    """All predictions that were sealed beside a notebook, in that order: the first one of each name."""
    first: dict[str, Prediction] = {}
    for record in sorted(readable(folder, "P*.json")[0], key=lambda each: each.started):
        if (found := of_record(record)) is not None:
            first.setdefault(found.name, found)
    return list(first.values())


def calibration(folders: Iterable[Path]) -> tuple[int, int]:
    """Of all predictions here that were in time and have a measurement beside them: how many hold, of how many."""
    hits: list[bool] = []
    for folder in folders:
        measured = measured_in(folder)
        in_time = [each for each in sealed_in(folder) if not each.late]
        hits += [each.holds(measured[each.name]) for each in in_time if each.name in measured]
    return sum(hits), len(hits)


def measured_in(folder: Path) -> dict[str, float]:
    """What the predictions here were last held against, by their names."""
    found: dict[str, float] = {}
    for record in readable(folder, f"P*{MEASURED}.json")[0]:
        found |= result_in(record)
    return found


def result_in(record: Record) -> dict[str, float]:
    """What a prediction was held against, by its name, in a Record that keeps that; nothing in any other one."""
    if STUDY.fullmatch(record.study) and record.variant.endswith(MEASURED) and record.points:
        value = record.points[0].facts.get("measured")
        if _is_number(value):
            return {record.variant.removesuffix(MEASURED): float(value)}
    return {}


def in_words(inside: int, judged: int) -> str:
    """How well the ranges were chosen, in a sentence: so many hold, of so many."""
    if not judged:
        return "No sealed prediction has been held against a measurement yet."
    share = 100 * inside / judged
    return (
        f"Sealed predictions that were measured: {judged}; of these, the measurement is inside"
        f" the predicted range in {inside} ({share:.0f} %)."
    )


def of_record(record: Record) -> Prediction | None:
    """The prediction in a Record; None where there is no whole one."""
    if not STUDY.fullmatch(record.study) or record.variant.endswith(MEASURED) or not record.points:
        return None
    facts = record.points[0].facts
    value, low, high = (facts.get(key) for key in ("value", "low", "high"))
    if not (_is_number(value) and _is_number(low) and _is_number(high) and low <= value <= high):
        return None
    return Prediction(
        name=record.variant,
        value=float(value),
        low=float(low),
        high=float(high),
        unit=str(facts.get("unit", "")),
        study=str(facts.get("study", "")),
        late=facts.get("late") is not False,
        sealed=record.started,
        lab=int(record.study[1:] or 0),
    )


def _folder(cluster: Cluster) -> Path:
    return cluster.records or Path("records")


def _declared(cluster: Cluster, name: str, lab: str) -> tuple[int, PredictionTable]:
    """The lab's number, and what its lab.toml has of this prediction."""
    slug = paths.lab(lab).name if lab else paths.lab_of(_folder(cluster))
    if not slug:  # a notebook that was moved: the name may tell
        those = [each for each in paths.labs() if name in lab_file.read(each).predictions]
        if len(those) != 1:
            raise UsageError(
                f"Which lab is {name!r} a prediction of? The folder of this notebook does not say.",
                'Name the lab, for example `lab="04"`.',
            )
        slug = those[0]
    found = lab_file.read(slug)
    if name not in found.predictions:
        raise UsageError(
            f"{found.name} has no table [predictions.{name}].",
            lab_file.nearest(name, found.predictions),
        )
    return int(slug.partition("-")[0]), found.predictions[name]


def _refuse(numbers: dict[str, Any], unit: str) -> None:
    """UsageError for what is no number, and for a range that does not hold its value."""
    for key, each in numbers.items():
        if not _is_number(each):
            within = f" in {unit}" if unit else ""
            what = f"{key} is a number{within}, such as 8000 or 0.25, not {each!r}."
            raise UsageError(what, number_hint(each))
    if "low" in numbers and not numbers["low"] <= numbers["value"] <= numbers["high"]:
        value, low, high = (number_text(numbers[key]) for key in ("value", "low", "high"))
        raise UsageError(
            f"A range from {low} to {high} does not contain {value}.",
            "low must be at most the value, and high at least the value.",
        )


def _is_number(value: object) -> TypeGuard[float]:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return abs(cast("float", value)) < LARGEST  # of an int of any length, too


def _seal(cluster: Cluster, number: int, table: PredictionTable, numbers: dict[str, float]) -> str:
    late = _measured_already(_folder(cluster), table.study)
    facts = {**numbers, "unit": table.unit, "study": table.study, "late": late, "asks": table.asks}
    record = noted(
        f"P{number}", table.name, [Point({"prediction": table.name}, facts=facts)], cluster
    )
    record.save_in(_folder(cluster))
    found = of_record(record)
    said = f"Sealed: {table.name} is {found}."
    if not late:
        return said
    return f"{said} It is late: you have a Record of {table.study} already, so it gives no points."


def _stays(earlier: Prediction, numbers: dict[str, Any]) -> str:
    own = {"value": earlier.value, "low": earlier.low, "high": earlier.high}
    when = f"{earlier.sealed[:16].replace('T', ' ')} UTC"
    if numbers and numbers != own:
        return f"Your first prediction of {earlier.name} stays: {earlier}, sealed at {when}."
    return f"Sealed at {when}: {earlier.name} is {earlier}."


def _measured_already(folder: Path, study: str) -> bool:
    """Whether there is a Record of this study, or of this variant of it, that the learner measured."""
    name, _, variant = study.partition("-")
    records, _ = readable(folder, f"{name}-*.json")
    return any(
        (each.study, each.variant) == (name, variant) and GIVEN not in each.cluster
        for each in records
    )


def _keep(folder: Path, found: Prediction, measured: float) -> None:
    """Keep what a prediction was held against, in place of what it was held against before."""
    facts = {"measured": measured, "inside": found.holds(measured), "unit": found.unit}
    at = {"prediction": found.name}
    record = noted(f"P{found.lab}", found.name + MEASURED, [Point(at, facts=facts)])
    record.save(folder / f"{record.study}-{record.variant}.json")


def noted(study: str, variant: str, points: list[Point], cluster: Cluster | None = None) -> Record:
    """A Record of what was not measured, but noted now."""
    now = host_state.now()
    return Record(
        study,
        variant=variant,
        points=points,
        cluster=dict(cluster.describe()) if cluster else {},
        circumstances={"before": now, "after": now},
        versions=host_state.versions(),
        learner=learner(),
        started=(when := moment()),
        ended=when,
    )


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
