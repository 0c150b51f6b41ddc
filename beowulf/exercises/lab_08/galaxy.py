"""Lab 08's galaxy: a learner's partition of the particles by their cost, and how well it balances the ranks.

It is a Record of S8 with the variant `galaxy`, which keeps the source and the balance: the interactions of the rank
that has most, over the mean.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises.lab_08.gas import LONGEST_SOURCE, beside_headers
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record
from beowulf.user import learner

STUDY, VARIANT, SOURCE, FUNCTION = "S8", "galaxy", "galaxy.c", "partition"
RANKS, PARTICLES, STEPS = 4, 3000, 4


def measure(cluster: Cluster, source: Path | str = SOURCE) -> Record:
    """Run a few steps with the learner's partition; a recorded cluster gives what was kept.

    LabError when the file does not compile. What is wrong is in the Record, which is kept all the same.
    """
    if recorded := cluster.replay(STUDY, VARIANT):
        return recorded
    folder = cluster.records or Path("records")
    words: list[str | int] = [
        "--model",
        "plummer",
        "--particles",
        PARTICLES,
        "--steps",
        STEPS,
        "--lines",
    ]
    sweep = {"exercise": Path(source).name, "particles": PARTICLES, "steps": STEPS}
    facts: dict[str, Any] = {"right": False, "why": ""}
    with (
        beside_headers(Path(source)) as program,
        Measurement(STUDY, cluster, folder, timed=False, sweep=sweep) as session,
    ):
        try:
            rows = session.launch(program, RANKS, words, timeout_s=120)
            found = next(row for row in rows if row.get("quantity") == "steps")
            facts |= {"right": True, "balance": float(found["balance"])}
        except LabError as problem:
            if "does not compile" in problem.message:
                raise
            facts["why"] = problem.message
        text = program.read_text(encoding="utf-8", errors="replace")[:LONGEST_SOURCE]
        session.points.append(Point({"function": FUNCTION}, facts={"text": text, **facts}))
        record = session.record()
    record.learner, record.variant = learner(), VARIANT
    record.save_in(folder)
    print(says(record))
    return record


def function(record: Record) -> dict[str, Any]:
    """Source, balance, and whether it is right, of a Record; LabError without."""
    for point in record.points:
        if point.at.get("function") == FUNCTION:
            return point.facts
    raise LabError(f"{record.file_name} holds no {FUNCTION}.", "Measure again.")


def says(record: Record) -> str:
    """How well the partition balances, in a sentence."""
    facts = function(record)
    if not facts["right"]:
        return f"{FUNCTION}: {facts['why']}"
    return f"{FUNCTION} is right: the rank with most interactions has {facts['balance']:.3f} times the mean."
