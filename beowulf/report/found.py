"""Which Records a report is about: those in a learner's folders, and of each study and kind of cluster the newest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from beowulf import paths, predictions
from beowulf.cluster import state
from beowulf.errors import LabError, UsageError
from beowulf.record import Record, RecordError
from beowulf.studies import OF_EXERCISES, known

KEPT, PLAY = "records", "play"
# The folder itself may keep the Records, or a lab's folder for work, or the folder with those of all labs.
PLACES = (KEPT, f"*/{KEPT}")
NAMES = "[A-Z]*.json"
UNKNOWN = "a cluster of unknown kind"


@dataclass(frozen=True)
class Kept:
    """A Record, and the file that keeps it."""

    path: Path
    record: Record
    sha256: str  # of the file

    @property
    def kind(self) -> str:
        """The kind of the cluster that it was measured on; of a Record that was made by hand it may be any text."""
        kind = str(self.record.cluster.get("kind"))
        return kind if kind in state.KINDS else UNKNOWN

    @property
    def worth(self) -> tuple[bool, bool, bool, datetime]:
        """What puts it before others of its study: no variant, measured to its end, not quick, newer."""
        record, started = self.record, datetime.fromisoformat(self.record.started)
        return not record.variant, record.complete, not record.sweep.get("quick"), started


@dataclass
class Found:
    """What folders keep: all Records, and a sentence for each file that is none."""

    folders: list[Path]
    records: list[Kept] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)

    def shown(self) -> list[Kept]:
        """Of each study and kind of cluster the newest whole Record, in the order of the papers.

        One that was cut short, or with a variant, such as of a broken cluster, is only shown where there is no other.
        One of an exercise holds samples of the learner's own program, of which no paper claims anything.
        """
        best = {
            (each.record.study, each.kind): each
            for each in sorted(self.records, key=lambda kept: kept.worth)
            if each.record.study in known() and not each.record.of_exercise
        }
        return sorted(best.values(), key=lambda kept: (*of_paper(kept.record.study), kept.kind))

    def of(self, name: str) -> list[Kept]:
        """The Records of a study and a variant, such as `E2 own`, the one to show first."""
        those = [k for k in self.records if f"{k.record.study} {k.record.variant}".strip() == name]
        return sorted(those, key=lambda kept: kept.worth, reverse=True)

    def others(self, shown: int) -> int:
        """How many Records are not among those `shown`; predictions have a table of their own."""
        sealed = [k for k in self.records if predictions.STUDY.fullmatch(k.record.study)]
        return len(self.records) - shown - len(sealed)


def own_folders() -> list[Path]:
    """Where a learner's Records are: those of each lab's folder for work, and those that a terminal keeps here."""
    those = [paths.work(slug) / KEPT for slug in (*paths.labs(), PLAY)]
    return [folder for folder in (*those, paths.here() / KEPT) if folder.is_dir()]


def read(folders: Sequence[Path]) -> Found:
    """The Records in these folders, or in a learner's own where none is named; LabError where there is none."""
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(
                f"There is no folder {folder}.", "Name a folder with Records, or no folder."
            )
    places = list(folders) or own_folders()
    found = Found([place for folder in places for place in _with_records(folder)])
    for path in _files(found.folders):
        try:
            record = Record.load(path)
        except RecordError as problem:
            if not problem.foreign:
                found.passed_over.append(problem.message)
            continue
        found.records.append(Kept(path, record, hashlib.sha256(path.read_bytes()).hexdigest()))
        if of_nothing_known(record.study):
            found.passed_over.append(
                f"{path} is a Record of study {record.study}, which this version does not know."
            )
    if not found.records:
        raise _nothing(places, found)
    return found


def of_nothing_known(study: str) -> bool:
    """Whether neither a study nor an exercise has Records of this name."""
    return study not in known() and study[0] not in OF_EXERCISES and study != "ask"


def of_paper(study: str) -> tuple[str, int]:
    """The letter of a study's paper, and its number there."""
    return study[0], int(study[1:])


def _with_records(folder: Path) -> list[Path]:
    """This folder and those below it, as far as they keep Records."""
    those = [folder, *(each for place in PLACES for each in sorted(folder.glob(place)))]
    return [each for each in those if each.is_dir() and any(each.glob(NAMES))]


def _files(folders: Iterable[Path]) -> list[Path]:
    """Every file once, whichever way it is named."""
    every = {path.resolve(): path for folder in folders for path in sorted(folder.glob(NAMES))}
    return list(every.values())


def _nothing(places: Sequence[Path], found: Found) -> LabError:
    where = ", ".join(map(str, places)) or f"{paths.work('*').parent} and {paths.here() / KEPT}"
    broken = f" Passed over: {' '.join(found.passed_over)}" if found.passed_over else ""
    return LabError(
        f"There are no Records yet in {where}.{broken}",
        "`beowulf study A2` measures one; a folder after `beowulf report` names another place.",
    )
