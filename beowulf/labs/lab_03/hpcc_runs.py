"""Runs of hpcc within a measurement, shared by E3 and E4."""

from __future__ import annotations

from typing import Any

from beowulf.measure.measurement import Measurement
from beowulf.studies.states import States
from beowulf.suites import hpcc
from beowulf.suites.hpcc_results import SECTIONS, Results
from beowulf.suites.problem import Problem


def sweep(problem: Problem, states: States, launches: int) -> dict[str, Any]:
    """A Record's facts about the problem and the states in which it was solved."""
    size = {"n": problem.n, "nb": problem.nb, "p": problem.p, "q": problem.q, "runs": problem.runs}
    return {**size, "states": list(states), "launches": launches, "input": problem.text}


def run(
    measurement: Measurement, problem: Problem, *, brief: bool, launch: int, state: str
) -> tuple[Results, dict[str, Any]]:
    """Run hpcc once; its results, and the coordinates of their Points."""

    def progress(done: int, of: int, what: str) -> None:
        measurement.progress(
            measurement.done + done / of, measurement.planned, f"{measurement.study}: {what}"
        )

    at = {"state": state, "ranks": problem.ranks, "launch": launch}
    results, seconds = hpcc.run(measurement.cluster, problem, brief=brief, report=progress)
    master = measurement.cluster.nodes[0]
    if hpcc.HPCC not in measurement.programs:
        digest = measurement.cluster.run(master, f"sha256sum {hpcc.HPCC}").stdout.split(" ")[0]
        measurement.programs[hpcc.HPCC] = digest
    has = hpcc.machine(measurement.cluster, list(measurement.cluster.nodes[: problem.ranks]))
    version = measurement.cluster.run(master, f"{hpcc.MPIRUN} --version").stdout.partition("\n")[0]
    about = measurement.add({"suite": "hpcc", **at}, "", ())
    about.facts.update(
        {
            **results.fact(),
            "blas": has.blas,
            "mpi_library": f"Open MPI, {version}",
            "crowded": problem.ranks > has.cores,
            "bandwidth_left_out": brief,
        }
    )
    measurement.add(at, "launch_s", [seconds])
    for name in SECTIONS:
        if name in results.sections:
            measurement.add({**at, "section": name}, "section_s", [results.sections[name]])
    measurement.launched()
    return results, at
