"""The Record: one measurement with its circumstances, as a learner keeps it and hands it in."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from beowulf import schemas
from beowulf.schemas import RecordError as RecordError
from beowulf.this_machine import host_state

GIVEN = "given"  # the variant of Records that come with the labs (beowulf/studies/given.py)


def moment() -> str:
    """Now, as ISO 8601 in UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def stamp(started: str) -> str:
    """A moment as a part of a file's name."""
    return "".join(letter for letter in started if letter.isalnum() or letter == ".")


@dataclass(frozen=True)
class Point:
    """One place of a sweep: coordinates `at`, raw `samples` of a `quantity`, and `facts`.

    The quantity's name ends in its unit, as in transfer_s; it is empty when there are only facts.
    """

    at: dict[str, Any]
    quantity: str = ""
    samples: list[float] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def as_plain(self, where: str = "") -> dict[str, Any]:
        """The Point as JSON knows it; ValueError, with the place below `where`, for what cannot be kept."""
        samples = schemas.plain(self.samples, f"{where}samples")
        # True would pass for 1.0, so it stays what it is and the schema refuses it.
        samples = [float(each) if type(each) is int else each for each in samples]
        return {
            "at": schemas.plain(self.at, f"{where}at"),
            "quantity": self.quantity,
            "samples": samples,
            "facts": schemas.plain(self.facts, f"{where}facts"),
        }


@dataclass
class Record:
    """A measurement: the study, what ran, what was varied, the points, all circumstances."""

    study: str
    program: dict[str, Any] = field(default_factory=dict)
    sweep: dict[str, Any] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list)
    cluster: dict[str, Any] = field(default_factory=dict)
    circumstances: dict[str, Any] = field(default_factory=lambda: {"before": {}, "after": {}})
    versions: dict[str, Any] = field(default_factory=dict)
    learner: str = ""
    variant: str = ""
    started: str = field(default_factory=moment)
    ended: str = field(default_factory=moment)
    captures: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    complete: bool = True

    def as_plain(self) -> dict[str, Any]:
        """The Record as JSON knows it, with its kind and schema version."""
        content: dict[str, Any] = {"kind": "record", "schema": schemas.VERSION}
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name == "points":
                content["points"] = [
                    point.as_plain(f"points/{place}/") for place, point in enumerate(value)
                ]
            else:
                content[each.name] = schemas.plain(value, each.name)
        return content

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON: the same before saving and after loading."""
        return hashlib.sha256(schemas.canonical(self.as_plain())).hexdigest()

    @property
    def file_name(self) -> str:
        """The name of its file: study, variant, start."""
        parts = (self.study, self.variant, stamp(self.started))
        return "-".join(part for part in parts if part) + ".json"

    @property
    def of_exercise(self) -> bool:
        """Whether an exercise measured it, mostly a learner's own program, under the name of its study."""
        return "exercise" in self.sweep or any("own" in point.at for point in self.points)

    @property
    def load_before(self) -> list[str]:
        """What else the machine did before the measurement, a reason each; a load makes simulated time no longer."""
        simulated = self.cluster.get("kind") == "simulated"
        return [] if simulated else host_state.busy(self.circumstances.get("before", {}))

    @property
    def busy(self) -> bool:
        """Whether intervals of its times are wider, because the machine did something else as well."""
        return bool(self.load_before)

    @property
    def patience(self) -> str:
        """How ranks waited for messages, by the programs' own lines; empty where no program prints that.

        Patient ranks leave their core to others meanwhile (beowulf/native/patient_poll.c).
        """
        abouts = [p.facts for p in self.points if p.at.get("about")]
        waits = [
            (facts["patient_ranks"], facts.get("ranks"))
            for facts in abouts
            if "patient_ranks" in facts
        ]
        if not waits:
            return ""
        if all(patient == ranks for patient, ranks in waits):
            return "patiently"
        if not any(patient for patient, _ in waits):
            return "spinning"
        crowded = sum(patient > 0 for patient, _ in waits)
        return f"patiently in {crowded} of {len(waits)} launches, at least at some ranks, else spinning"

    def select(self, **at: object) -> list[Point]:
        """The points whose coordinates have all these values, in the order of the Record."""
        return [
            point
            for point in self.points
            if all(name in point.at and point.at[name] == value for name, value in at.items())
        ]

    def save(self, path: Path | str) -> Path:
        """Write it to `path` whole or not at all; RecordError for a bad value or a full disk."""
        try:
            content = self.as_plain()
            _time(self.started), _time(self.ended)
        except (ValueError, OverflowError, RecursionError) as problem:
            raise RecordError(
                f"{Path(path).name} was not written: the record cannot be written, {problem}.",
                "Leave out a sample that could not be taken and say so in the warnings.",
                Path(path),
            ) from None
        return schemas.write(path, content)

    def save_in(self, folder: Path | str) -> Path:
        """Write it into `folder` under its own name, never over another Record; gives the path."""
        path = reserve(Path(folder) / self.file_name)
        try:
            return self.save(path)
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    @classmethod
    def load(cls, path: Path | str) -> Record:
        """The Record in `path`; RecordError for what is not one."""
        content = schemas.read(path)
        del content["kind"], content["schema"]
        try:
            content["points"] = [_read_point(point) for point in content["points"]]
            _time(content["started"]), _time(content["ended"])
        except (OverflowError, ValueError) as problem:
            raise RecordError(
                f"{path} is not a record that can be read: {problem}.",
                "Measure again, or bring back an older copy of the file.",
                Path(path),
            ) from None
        return cls(**content)

    def _described(self) -> dict[str, str]:
        samples = sum(len(point.samples) for point in self.points)
        return {
            "study": self.study
            + (f" ({self.variant})" if self.variant else "")
            + (", an exercise" if self.of_exercise else ""),
            "cluster": _cluster(self.cluster),
            **({"not shown": str(lacks)} if (lacks := self.cluster.get("cannot_show")) else {}),
            **(
                {"nodes differ": differences} if (differences := _differences(self.cluster)) else {}
            ),
            "ranks waited": self.patience or "not recorded",
            "when": f"{self.started} to {self.ended}",
            "points": f"{len(self.points)}, with {samples} samples",
            "complete": "yes" if self.complete else "no: it was cut short",
            "warnings": "; ".join(self.warnings) or "none",
        }

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What `ipython` prints in a terminal, where every sample would fill the screen."""
        lines = (f"{name}: {text}" for name, text in self._described().items())
        printer.text("\n".join(["Record of a measurement", *lines]))

    def _repr_html_(self) -> str:
        body = "".join(
            f'<tr><th scope="row" style="text-align:left">{name}</th>'
            f'<td style="text-align:left">{escape(text)}</td></tr>'
            for name, text in self._described().items()
        )
        return f"<table><caption>Record of a measurement</caption>{body}</table>"


def _read_point(point: dict[str, Any]) -> Point:
    return Point(**{**point, "samples": [float(sample) for sample in point["samples"]]})


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text} is not a date") from None


def _cluster(description: dict[str, Any]) -> str:
    nodes, kind = description.get("nodes", ()), str(description.get("kind", "not described"))
    return f"{kind}, {len(nodes)} nodes" if nodes else kind


def _differences(description: dict[str, Any]) -> str:
    """In what the nodes differ, as the cluster's description has it."""
    differ = description.get("differ", {})
    return "; ".join(
        f"{what}: {', '.join(f'{value} on {node}' for node, value in by_node.items())}"
        for what, by_node in differ.items()
    )


def reserve(path: Path) -> Path:
    """Make an empty file of that name, or of one with a number behind it, that did not exist."""
    free, number = path, 2
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            try:
                free.touch(exist_ok=False)
                return free
            except FileExistsError:
                free = path.with_name(f"{path.stem}-{number}{path.suffix}")
                number += 1
    except OSError as error:
        raise RecordError(
            f"{path.name} cannot be written: {(error.strerror or str(error)).lower()}.",
            "Free some space, or choose a folder that you may write to.",
            path,
        ) from None


def newest(folder: Path | str, study: str, variant: str | None = None) -> Record | None:
    """The Record of `study` (and `variant`, if one is named) in `folder` started last, or None.

    A file that is no Record, or cannot be read, is passed over with a sentence on stderr; RecordError when it may have
    been the one, because no other is there.
    """
    records, strange = readable(Path(folder), f"{study}-*.json")
    wanted = [r for r in records if r.study == study and variant in (None, r.variant)]
    named = f"{study}-{variant}-" if variant else f"{study}-"
    for error in strange:
        if not wanted and not error.foreign and error.path and error.path.name.startswith(named):
            raise error
        print(f"beowulf: passed over: {error.message}", file=sys.stderr)
    return max(wanted, key=lambda record: _time(record.started), default=None)


def readable(folder: Path, pattern: str) -> tuple[list[Record], list[RecordError]]:
    """The Records in these files of a folder, and what is wrong with each file that is none."""
    records: list[Record] = []
    strange: list[RecordError] = []
    for path in sorted(folder.glob(pattern)):
        try:
            records.append(Record.load(path))
        except RecordError as error:
            strange.append(error)
    return records, strange
