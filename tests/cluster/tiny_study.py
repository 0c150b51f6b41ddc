"""A study of a second that waits in a phase for a line; `python tiny_study.py NAME` keeps its Record as a variant."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf import paths
from beowulf.cluster import Cluster, running
from beowulf.desk.notebook import measure_and_save
from beowulf.errors import LabError
from beowulf.measure import measurement as measurements
from beowulf.measure.measurement import Measurement
from beowulf.record import Record
from beowulf.studies.study import Plan, Study

if TYPE_CHECKING:
    from running import Beowulf

    from beowulf.figures import Figure

ID, TITLE = "X1", "A study that takes a second"
# Where it says `now` and waits for a line: so that something can happen there and nowhere else.
PHASES = ("before", "entered", "launch", "between", "last", "after")
PAUSE = os.environ.get("TINY_PAUSE", "")
PROGRAM = """#!/bin/bash
sleep ${1:-0}
printf '{"kind": "sample", "quantity": "asked_s", "seconds": 1, "repetitions": 1}\\n{"kind": "end"}\\n'
"""
LAUNCHES = 3


def pause(phase: str) -> None:
    if phase == PAUSE:
        print("now", flush=True)
        sys.stdin.readline()


class Pausing(Measurement):
    """A measurement that pauses when it is over and not yet kept."""

    def __exit__(self, *error: Any) -> bool:
        ended = super().__exit__(*error)
        pause("after")
        return ended


def plan(cluster: Cluster, *, quick: bool) -> Plan:
    def steps(measurement: Measurement) -> None:
        program = measurement.folder.absolute() / "program"
        pause("entered")
        for launch in range(LAUNCHES):
            seconds = 0
            if PAUSE == "launch" and launch == 1:
                seconds = 30
                threading.Timer(1.0, pause, ["launch"]).start()
            by_node = measurement.launch_separately(
                program, cluster.nodes, [seconds], launch=launch
            )
            for node in by_node:
                measurement.add({"node": node, "launch": launch}, "rate_s", [1.0])
            if launch == 0:
                pause("between")
        pause("last")

    pause("before")
    return Plan(LAUNCHES, {}, steps)


def no_picture(record: Record) -> Figure:
    raise LabError("This study draws nothing.")


STUDY = Study(id=ID, title=TITLE, plan=plan, judged=(), draw=no_picture)


def paused(learner: Beowulf, phase: str, name: str = "whole") -> subprocess.Popen[str]:
    """The study, started by a learner, once it waits in that phase for a line."""
    study = subprocess.Popen(
        [*learner.prefix, sys.executable, __file__, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=learner.here,
        env={**learner.environment, "TINY_PAUSE": phase},
    )
    assert study.stdout
    said = []
    while (line := study.stdout.readline()) != "now\n":
        said.append(line)
        assert line, "".join(said)
    return study


def main(variant: str) -> None:
    module = types.ModuleType("beowulf.labs.tiny")
    module.__dict__.update(STUDY=STUDY)
    sys.modules["beowulf.labs.tiny"] = module
    ours = paths.ours()
    ours.studies[ID] = ours.code / "tiny.py"
    measurements.Measurement = Pausing  # type: ignore[misc]
    folder = Path("records")
    folder.mkdir(exist_ok=True)
    program = folder / "program"
    if not program.exists():
        program.write_text(PROGRAM)
        program.chmod(0o755)
    try:
        record, path = measure_and_save(ID, running(), folder, variant=variant)
    except LabError as error:
        sys.exit(f"refused: {error}")
    print(path, record.complete, record.warnings)


if __name__ == "__main__":
    main(sys.argv[1])
