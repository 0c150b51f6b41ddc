"""How long does each study take with all of its launches, sizes and passes? `beowulf study ID`."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import studies
from benchmarks.failures import Failures
from benchmarks.parts import Parts
from benchmarks.result import Findings, Result
from benchmarks.rows import Bar, Question
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import Side, busy_percent
from beowulf import host_state, paths
from beowulf.cluster import namespaces
from beowulf.cluster.config import ClusterConfig
from beowulf.progress import Progress
from beowulf.record import moment
from beowulf.studies import STUDIES

TITLE = "`beowulf study ID` in full, for every study"
ROUNDS = 3  # runs of each
FILLS_THE_CORES = True

BAR = Bar(600.0)
LONGEST_S = 1800.0

NOTES = [
    *studies.NOTES,
    "All of them together take hours, so they may be made in several parts: the studies with the fewest runs come "
    "first, and before them those that were never measured, in an order that is drawn. Ctrl-C ends a part; what was "
    "measured until then is in the table. The circumstances below are those of the last part.",
    "A study that was not measured this time keeps the run of the file before, with its date, its load and its code.",
]


# A study that begins while the load of the one before is seen judges nothing: so long it waits for a quiet machine.
REST_S = 150.0
# Where the Records of the last run of each study are kept, for a closer look; docs/results.md has its Verdicts.
RECORDS = paths.root() / "build" / "full-studies"
CLUSTER = ClusterConfig()
# What paper C measured on.
FIRST_BEOWULF = ClusterConfig(nodes=16, rate="10mbit", networks=2)
KEPT = paths.root() / "benchmarks" / "results" / "full_studies.json"


@dataclass(frozen=True)
class Run:
    """One run of a study: when it began, how long it took, on how busy a machine, and its Verdicts."""

    study: str
    started: str
    took_s: float
    before: Mapping[str, Any]
    verdicts: Sequence[Mapping[str, Any]]
    cluster: Mapping[str, Any] = field(default_factory=dict)


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """At most `rounds` more runs of each study, until each has three."""
    parts = Parts("full-studies", of())
    runs = earlier_runs(parts)
    before = kept()
    known = before.facts["runs"] if before else {}
    wanted = sorted(order(runs, rounds, seed), key=known.__contains__)
    busy: list[float] = []
    failed = Failures()
    with scratch_folder() as folder:

        def a_run(study: str) -> Side:
            def run() -> Mapping[str, float]:
                boot(cluster_of(study), folder / STATE)
                rest()
                started, before = moment(), host_state.now()
                took_s, verdicts = studies.timed(
                    study, folder, longest_s=LONGEST_S, keep=RECORDS / study
                )
                cluster = cluster_of(study).as_dict()
                runs.append(Run(study, started, took_s, before, verdicts, cluster))
                parts.add(asdict(runs[-1]))
                return {study: runs[-1].took_s}

            return failed.spare(study, run)

        try:
            for number, study in enumerate(wanted):
                progress(number, len(wanted), study)
                busy.append(busy_percent())
                a_run(study)()
        except KeyboardInterrupt:
            wanted = wanted[: len(busy)]
    return beside(before, findings(runs, failed, busy, wanted))


def cluster_of(study: str) -> ClusterConfig:
    """The cluster that a study is measured on: sixteen nodes on two slow networks for paper C's."""
    return FIRST_BEOWULF if study.startswith("C") else CLUSTER


def boot(config: ClusterConfig, folder: Path) -> None:
    """This cluster, in place of another one that runs."""
    running = namespaces.running(folder)
    if running and not running.is_whole(config):
        namespaces.down(folder=folder)
    namespaces.up(config, folder=folder)


def kept() -> Result | None:
    """What was measured before, if it is there."""
    return Result.load(KEPT) if KEPT.exists() else None


def beside(before: Result | None, found: Findings) -> Findings:
    """The findings, and of what was measured before those studies that were not measured now."""
    if before is None:
        return found
    runs = found.facts["runs"]
    for study, run in before.facts["runs"].items():
        if study in STUDIES and study not in runs and not _failed(found, study):
            runs[study] = run
            found.samples[study] = before.samples_s[study]
            found.facts[f"{study}: claims"] = studies.outcomes(run["verdicts"])
    return found


def _failed(found: Findings, study: str) -> bool:
    return any(question.missing for question in found.questions if question.ours == study)


def rest() -> None:
    """Wait until the load of what ran before is hardly seen, but not for ever."""
    until = time.monotonic() + REST_S
    while time.monotonic() < until:
        state = host_state.now()
        if state["load_1min"] <= state["cores"] / 2 and not host_state.busy(state):
            return
        time.sleep(1.0)


def earlier_runs(parts: Parts) -> list[Run]:
    """The runs of earlier parts; none, when they were a whole benchmark."""
    runs = [Run(**each) for each in parts.read()]
    if order(runs, ROUNDS, 0):
        return runs
    parts.forget()
    return []


def order(runs: Sequence[Run], rounds: int, seed: int) -> list[str]:
    """The studies that still want a run, each as often as it does: round by round, within one as drawn."""
    draw = random.Random(seed)
    done = [run.study for run in runs]
    turns = []
    for turn in range(ROUNDS):
        left = [
            study for study in STUDIES if done.count(study) <= turn < done.count(study) + rounds
        ]
        turns += draw.sample(left, len(left))
    return turns


def of() -> str:
    """The digest of all code that a study runs, in Python and in C."""
    made = hashlib.sha256()
    for path in sorted(_sources()):
        made.update(path.read_bytes())
    return made.hexdigest()


def _sources() -> Iterator[Path]:
    for folder, suffixes in (("beowulf", ("py", "c", "h")), ("labs", ("c", "h"))):
        for suffix in suffixes:
            yield from (paths.root() / folder).rglob(f"*.{suffix}")


def findings(
    runs: Sequence[Run], failed: Mapping[str, str], busy: list[float], wanted: list[str]
) -> Findings:
    """What all runs came to, those of earlier parts as well."""
    samples: dict[str, list[float]] = {}
    for run in runs:
        samples.setdefault(run.study, []).append(run.took_s)
    # A study that failed has no time, even if it went well in another run.
    return Findings(
        [
            Question(f"{study} in full", study, bar=BAR, missing=failed.get(study, ""))
            for study in STUDIES
        ],
        {study: times for study, times in samples.items() if study not in failed},
        busy,
        wanted,
        facts={
            **{f"{run.study}: claims": studies.outcomes(run.verdicts) for run in runs},
            "cluster": CLUSTER.as_dict(),
            "runs": last_runs(runs),
        },
        notes=NOTES,
    )


def last_runs(runs: Sequence[Run]) -> dict[str, dict[str, Any]]:
    """By study, its last run, with what each claim came to in it and, as `outcomes`, in all runs in turn."""
    last = {}
    for study in STUDIES:
        own = [run for run in runs if run.study == study]
        if own:
            verdicts = [_kept(verdict, own) for verdict in own[-1].verdicts]
            last[study] = {**asdict(own[-1]), "runs": len(own), "verdicts": verdicts}
    return last


def _kept(verdict: Mapping[str, Any], runs: Sequence[Run]) -> dict[str, Any]:
    """What a reader needs of a Verdict: its Record stays in build/."""
    outcomes = [
        each["outcome"]
        for run in runs
        for each in run.verdicts
        if each["claim"] == verdict["claim"]
    ]
    names = ("claim", "says", "outcome", "evidence", "rests_on")
    return {**{name: verdict[name] for name in names if name in verdict}, "outcomes": outcomes}
