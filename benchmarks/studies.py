"""How long does each study take with `--quick`?

The whole command with Python's start, the launches, the Record and its Verdicts, on a cluster of four nodes at
100 Mbit/s that runs already. Each study begins with an empty folder for its Records.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import commands
from benchmarks.result import Findings, Question
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import Side, interleave
from beowulf import paths
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.errors import LabError
from beowulf.this_machine.progress import Progress

TITLE = "`beowulf study ID --quick` for every study"
ROUNDS = 3

# Beyond this a study is ended, so that the benchmark ends by itself.
LONGEST_S = 300.0


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """Every study in each round; one that fails is reported and does not end the others."""
    failed: dict[str, str] = {}
    with scratch_folder() as folder:
        progress(0, 1, "booting the cluster")
        namespaces.up(ClusterConfig(), folder=folder / STATE)

        def side(study: str) -> Side:
            def run() -> Mapping[str, float]:
                try:
                    return {study: timed(study, folder, "--quick", longest_s=LONGEST_S)[0]}
                except LabError as trouble:
                    failed[study] = " ".join(str(trouble).split())
                    return {}

            return run

        sides = {study: side(study) for study in paths.ours().studies}
        findings = interleave(sides, rounds, seed, progress, warm_up=0)
    findings.questions = [
        Question(f"{study} --quick", study, missing=failed.get(study, ""))
        for study in paths.ours().studies
    ]
    return findings


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
    # Warnings may come before the JSON.
    return took_s, json.loads(printed[printed.find("[\n") :])
