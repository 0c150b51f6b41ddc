"""How long does each study take with `--quick`?"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import commands
from benchmarks.failures import Failures
from benchmarks.result import Findings
from benchmarks.rows import Bar, Question
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import Side, interleave
from beowulf import paths
from beowulf.cluster import namespaces
from beowulf.cluster.config import ClusterConfig
from beowulf.errors import LabError
from beowulf.progress import Progress
from beowulf.studies import STUDIES

TITLE = "`beowulf study ID --quick` for every study"
ROUNDS = 3
FILLS_THE_CORES = True

BAR = Bar(60.0)
# Beyond this a study is ended, so that the benchmark ends by itself.
LONGEST_S = 300.0

NOTES = [
    "The whole command with Python's start, the launches, the Record and its Verdicts, on a cluster of four nodes at "
    "100 Mbit/s that runs already. What the claims came to in the last run is below.",
    "Each study begins with an empty folder for its Records.",
    "A study that begins directly after another still finds that one's load and, as it should, judges nothing: here an "
    "inconclusive claim means little for the study.",
]


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Every study in turns on one cluster of four nodes; one that fails is reported and does not end the others."""
    failed = Failures()
    outcomes_by_study: dict[str, str] = {}
    with scratch_folder() as folder:
        progress(0, 1, "booting the cluster")
        namespaces.up(ClusterConfig(), folder=folder / STATE)
        sides = {
            sample(study): failed.spare(sample(study), a_study(study, folder, outcomes_by_study))
            for study in STUDIES
        }
        taken = interleave(sides, rounds, seed, progress, warm_up=0)
    # A study that failed once has no time, even if it went well in another round.
    return Findings(
        [
            Question(name, name, bar=BAR, missing=failed.get(name, ""))
            for name in map(sample, STUDIES)
        ],
        {name: times for name, times in taken.samples.items() if name not in failed},
        taken.busy_percent,
        taken.order,
        facts=outcomes_by_study,
        notes=NOTES,
    )


def sample(study: str) -> str:
    """The name of a study's samples."""
    return f"{study} --quick"


def a_study(study: str, folder: Path, outcomes_by_study: dict[str, str]) -> Side:
    """One quick run of a study's command; what its claims came to goes into `outcomes_by_study`."""
    name = sample(study)

    def run() -> Mapping[str, float]:
        took_s, verdicts = timed(study, folder, "--quick", longest_s=LONGEST_S)
        outcomes_by_study[f"{name}: claims"] = outcomes(verdicts)
        return {name: took_s}

    return run


def timed(
    study: str, folder: Path, *options: str, longest_s: float, keep: Path | None = None
) -> tuple[float, list[dict[str, Any]]]:
    """The seconds that a study's command takes, and its Verdicts; its Records go to `keep`, if that is given."""
    records = folder / "records"
    env = commands.environment(BEOWULF_STATE=str(folder / STATE))
    beowulf = str(paths.python_bin() / "beowulf")
    command = [beowulf, "study", study, *options, "--json", "--records", str(records)]
    try:
        took_s, printed = commands.timed(command, env, folder=folder, timeout_s=longest_s)
        if keep is not None and records.exists():
            shutil.copytree(records, keep, dirs_exist_ok=True)
    finally:
        shutil.rmtree(records, ignore_errors=True)
    return took_s, read_verdicts(printed)


def read_verdicts(printed: str) -> list[dict[str, Any]]:
    """The Verdicts in the JSON that a study prints (warnings may come before it)."""
    start = printed.find("[\n")
    try:
        verdicts: list[dict[str, Any]] = json.loads(printed[start:])
        outcomes(verdicts)
    except (ValueError, KeyError, TypeError) as problem:
        raise LabError(f"The study printed no Verdicts: {problem}.") from problem
    return verdicts


def outcomes(verdicts: Sequence[Mapping[str, Any]]) -> str:
    """How many claims held, were contradicted and were inconclusive."""
    outcomes = [verdict["outcome"] for verdict in verdicts]
    return ", ".join(f"{outcomes.count(word)} {word}" for word in sorted(set(outcomes)))
