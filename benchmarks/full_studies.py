"""How long does each study take with all of its launches, sizes and passes, and what do its claims come to?

All of them together take hours. Those that were measured longest ago come first, and Ctrl-C keeps what was measured
until then: so they may be measured in several parts. Kept are the last runs of each study, at whatever times they were
made, each with its date, load, machine and kernel: up to KEPT of them, as long as cluster and claims are the same.
"""

from __future__ import annotations

import json
import platform
import random
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import commands
from benchmarks.result import Findings, Question, kept
from benchmarks.scratch_cluster import STATE, scratch_folder
from benchmarks.turns import busy_percent
from beowulf import paths
from beowulf.cluster.common.config import ClusterConfig
from beowulf.cluster.namespaces import cluster as namespaces
from beowulf.cluster.simulated import cluster as simulated
from beowulf.errors import LabError
from beowulf.measure import machine_queue
from beowulf.record import moment
from beowulf.report import before_after
from beowulf.this_machine import host_state
from beowulf.this_machine.progress import Progress

TITLE = "`beowulf study ID` in full, for every study"
ROUNDS = 1  # runs of each
KEPT = 3  # runs of each study, the last ones

LONGEST_S = 1800.0
# A study that begins while the load of the one before is seen judges nothing: so long it waits for a quiet machine.
REST_S = 150.0
# Where the Records of the last run of each study are kept, for a closer look; docs/results.md has its Verdicts.
RECORDS = paths.root() / "build" / "full-studies"
CLUSTER = ClusterConfig()
# What paper C measured on.
FIRST_BEOWULF = ClusterConfig(nodes=16, rate="10mbit", networks=2)
# What is simulated as well, as a run of its own: the same on the simulated machine of 1995.
ON_1995 = "-1995"
NAMES = (*paths.ours().studies, *(f"{study}{ON_1995}" for study in ("C1", "C2", "C7")))
MACHINE_OF_1995 = paths.lab("09") / "networks" / "ethernet-1995.toml"
# What paper E measured before its changes and after them: the programs of `beowulf tune compare`, by study.
BEFORE_AND_AFTER = {
    program.STUDY.id: name
    for name, program in before_after.PROGRAMS.items()
    if name != before_after.KERNELS  # L2 makes both states itself
}
OF_A_VERDICT = ("claim", "says", "outcome", "evidence", "rests_on", "place")
OF_A_RUN = ("started", "took_s", "before", "on")


def measure(rounds: int, seed: int, progress: Progress) -> Findings:
    """So many runs of each study, round by round, until Ctrl-C."""
    earlier = kept("full_studies")
    runs: dict[str, list[dict[str, Any]]] = {}
    failed: dict[str, str] = {}
    busy: list[float] = []
    wanted = rounds * order(earlier["facts"]["runs"], seed)
    with scratch_folder() as folder, suppress(KeyboardInterrupt):
        for number, study in enumerate(wanted):
            progress(number, len(wanted), study)
            cluster = boot(study, folder / STATE)
            machine_queue.rest(partial(progress, number, len(wanted)), REST_S)
            busy.append(busy_percent())
            run: dict[str, Any] = {"started": moment(), "before": host_state.now(), "on": machine()}
            try:
                run["took_s"], run["verdicts"] = timed(study, folder)
            except LabError as trouble:
                failed[study] = " ".join(str(trouble).split())
                continue
            runs.setdefault(study, []).append({**run, "cluster": cluster})
    return findings(runs, failed, busy, earlier)


def machine() -> dict[str, str]:
    """On what a run is made."""
    # A virtual machine may hide the name, so the numbers count as well.
    of_all = re.findall(
        r"^(model name|model|stepping)\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M
    )
    said = "{model name}, model {model}, stepping {stepping}"
    processor = said.format_map(dict(of_all)) if of_all else platform.machine()
    return {"processor": processor, "kernel": platform.release()}


def order(earlier: Mapping[str, Any], seed: int) -> list[str]:
    """All studies, in an order that is drawn; but those that were measured longest ago, or never, come first."""
    drawn = random.Random(seed).sample(NAMES, len(NAMES))
    return sorted(drawn, key=lambda study: str(earlier.get(study, {}).get("started", ""))[:10])


def boot(study: str, folder: Path) -> dict[str, Any]:
    """The cluster that a study is measured on, in place of another one that runs; what it is."""
    if study.endswith(ON_1995):
        namespaces.down(folder=folder)
        simulated.up(str(MACHINE_OF_1995), folder=folder)
        return {"kind": simulated.TARGET}
    config = FIRST_BEOWULF if study.startswith("C") else CLUSTER
    simulated.down(folder=folder)
    running = namespaces.running(folder)
    if running and not running.is_whole(config):
        namespaces.down(folder=folder)
    namespaces.up(config, folder=folder)
    return {"kind": namespaces.NamespaceCluster.kind, **config.as_dict()}


def timed(study: str, folder: Path) -> tuple[float, list[dict[str, Any]]]:
    """The seconds that a study's command takes, and its Verdicts; its Records go to RECORDS."""
    records = folder / "records"
    env = commands.environment(BEOWULF_STATE=str(folder / STATE))
    beowulf = str(paths.python_bin() / "beowulf")
    kept_in = ["--records", str(records)]
    command = [beowulf, "study", study.removesuffix(ON_1995), "--json", *kept_in]
    if study in BEFORE_AND_AFTER:
        command = [beowulf, "tune", "compare", BEFORE_AND_AFTER[study], *kept_in]
    try:
        took_s, printed = commands.timed(command, env, folder=folder, timeout_s=LONGEST_S)
        if study in BEFORE_AND_AFTER:
            judge = [beowulf, "claims", study, "--variant", before_after.VARIANT, "--json"]
            _, printed = commands.timed([*judge, *kept_in], env, folder=folder, timeout_s=LONGEST_S)
        if records.exists():
            shutil.copytree(records, RECORDS / study, dirs_exist_ok=True)
    finally:
        shutil.rmtree(records, ignore_errors=True)
    # Warnings may come before the JSON.
    return took_s, json.loads(printed[printed.find("[\n") :])


def findings(
    runs: Mapping[str, Sequence[Mapping[str, Any]]],
    failed: Mapping[str, str],
    busy: list[float],
    earlier: Mapping[str, Any],
) -> Findings:
    """What the runs came to, and of what was measured earlier those studies that were not measured now."""
    samples, last = {}, {}
    for study in NAMES:
        if study in failed:
            continue
        before = earlier["facts"]["runs"].get(study)
        for run in runs.get(study, ()):
            before = with_run(before, run)
        if before is not None:
            last[study] = before
            samples[study] = [float(run["took_s"]) for run in before["each"]]
    questions = [
        Question(f"{study} in full", study, missing=failed.get(study, "")) for study in NAMES
    ]
    facts = {"cluster": CLUSTER.as_dict(), "runs": last, "failed": dict(failed)}
    return Findings(questions, samples, busy, facts)


def with_run(before: Mapping[str, Any] | None, run: Mapping[str, Any]) -> dict[str, Any]:
    """A study's last run, what each claim came to in it and, as `outcomes`, in `each` of the runs that are kept."""
    verdicts = [
        {name: verdict[name] for name in OF_A_VERDICT if name in verdict}
        for verdict in run["verdicts"]
    ]
    outcomes: dict[str, list[str]] = {}
    each: list[Mapping[str, Any]] = []
    if before is not None and asked(before) == asked(run):
        outcomes = {verdict["claim"]: verdict["outcomes"] for verdict in before["verdicts"]}
        each = before["each"]
    for verdict in verdicts:
        earlier = outcomes.get(verdict["claim"], [])
        verdict["outcomes"] = [*earlier, verdict["outcome"]][-KEPT:]
    each = [*each, {name: run[name] for name in OF_A_RUN if name in run}][-KEPT:]
    return {**run, "verdicts": verdicts, "each": each}


def asked(run: Mapping[str, Any]) -> tuple[object, ...]:
    """What must be the same of two runs, so that their outcomes can be counted together."""
    return run.get("cluster"), [(v["claim"], v["says"]) for v in run["verdicts"]]
