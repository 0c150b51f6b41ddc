"""The studies, one file each: who looks for a row of the papers finds it here, measured, judged and drawn."""

from __future__ import annotations

import importlib
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from beowulf import places
from beowulf.errors import LabError, UsageError
from beowulf.progress import Progress as Progress  # every file of a study names them
from beowulf.progress import no_progress as no_progress

if TYPE_CHECKING:
    from beowulf.cluster import Cluster
    from beowulf.figures import Figure
    from beowulf.record import Record
    from beowulf.verdict import Verdict, Verdicts

STUDIES = {
    "A2": "a2_validation",
    "A3": "a3_node_benchmarks",
    "A4": "a4_parallel_benchmarks",
    "A5": "a5_no_load",
    "A6": "a6_measuring_program",
    "A7": "a7_rate_by_nodes",
    "B1": "b1_round_trip",
    "B2": "b2_time_difference",
    "B3": "b3_bandwidth_difference",
    "B4": "b4_cpu_use",
    "B5": "b5_unlike_nodes",
    "A8": "a8_small_messages_overlap",
    "A9": "a9_overlap_sizes",
    "D1": "d1_synchronisation",
    "D2": "d2_message_size_sweep",
    "D3": "d3_message_and_workload",
    "D4": "d4_both_sides",
    "D5": "d5_improvement",
    "A10": "a10_short_messages",
    "A11": "a11_long_messages",
    "A12": "a12_side_by_side",
    "A13": "a13_buffers_and_collectives",
    "E1": "e1_latency_model",
    "E2": "e2_pingpong",
    "E3": "e3_hpl",
    "E4": "e4_hpcc",
    "E5": "e5_application",
    "E6": "e6_knobs",
    "E7": "e7_procedure",
    "L1": "l1_latency_budget",
    "L2": "l2_applications",
}


class Study(Protocol):
    """What every file of a study has."""

    ID: str
    TITLE: str

    def measure(
        self,
        cluster: Cluster,
        folder: Path,
        *,
        quick: bool = False,
        progress: Progress = no_progress,
    ) -> Record:
        """Measure on `cluster`; files that belong to the Record, such as captures, go into `folder`."""

    def claims(self, record: Record) -> list[Verdict]:
        """What the paper claims, each held against the Record."""

    def picture(self, record: Record) -> Figure:
        """What the Record shows."""


def find(name: str) -> Study:
    """The study with this ID (`A2`, `a2`)."""
    module = STUDIES.get(name.upper())
    if module is None:
        raise UsageError(f"There is no study {name!r}.", f"There are:\n{listing()}")
    found: Study = importlib.import_module(f"beowulf.studies.{module}")
    return found


def titles() -> dict[str, str]:
    """The title of every study, read from its file: to import them all takes seconds."""
    found = {}
    for name, module in STUDIES.items():
        text = (Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8")
        title = re.search(r'^TITLE = "(.*)"$', text, re.MULTILINE)
        found[name] = title[1] if title else ""
    return found


def listing() -> str:
    """A line for each study, with its title, below the lab in which a learner meets it first."""
    left, lines = titles(), []
    for slug, folder in places.labs().items():
        lab = tomllib.loads((folder / "lab.toml").read_text(encoding="utf-8"))
        lines.append(f"Lab {slug.partition('-')[0]}: {lab['title']}")
        lines += [f"  {name:<4}{left.pop(name)}" for name in lab["studies"] if name in left]
    return "\n".join([*lines, *(f"  {name:<4}{title}" for name, title in left.items())])


def judge(record: Record) -> Verdicts:
    """What the claims of its study make of a Record; LabError when the Record lacks what they look at.

    A Record that was cut short may lack it: then nothing is decided.
    """
    from beowulf.verdict import Verdict, Verdicts

    study = find(record.study)
    try:
        with _reading(record):
            return Verdicts(study.claims(record))
    except LabError as error:
        if record.complete:
            raise
        evidence = "the measurement was cut short before there was enough to judge"
        if error.__cause__ is None:  # a sentence of the study's own, not a mistake of Python's
            evidence += f": {error}"
        advice = f"`beowulf study {study.ID}` measures again; let it run to its end."
        undecided = Verdict(
            study.ID,
            "cut-short",
            study.TITLE,
            "inconclusive",
            evidence,
            advice,
            {},
            [record.digest],
        )
        return Verdicts([undecided])


def draw(record: Record) -> Figure:
    """The figure of a Record; LabError when the Record lacks what it shows."""
    with _reading(record):
        return find(record.study).picture(record)


@contextmanager
def _reading(record: Record) -> Iterator[None]:
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise LabError(
            f"The Record of study {record.study} that was started at {record.started} is not whole:"
            f" what the study looks at is missing or of another kind ({error}).",
            f"`beowulf study {record.study}` measures a new one.",
        ) from error
