"""Lab 08's galaxy: a learner's partition of the particles by their cost, and how well it balances the ranks.

It is a Record of S8 with the variant `galaxy`, which keeps the source and the balance: the interactions of the rank
that has most, over the mean.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from beowulf import mpi
from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises.exercise import Exercise
from beowulf.exercises.gas import beside_headers, function_of, own_function, shown_film
from beowulf.measure.measurement import Measurement
from beowulf.record import Record

STUDY, VARIANT, SOURCE, FUNCTION = "S8", "galaxy", "galaxy.c", "partition"
EXERCISE = Exercise(STUDY, VARIANT)
RANKS, PARTICLES, STEPS = 4, 3000, 4
FILM_PARTICLES, FILM_STEPS, FILM_EVERY, FILM_SQUARES = 5000, 240, 6, 120


def measure(cluster: Cluster, source: Path | str = SOURCE) -> Record:
    """Run a few steps with the learner's partition.

    LabError when the file does not compile. What is wrong is in the Record, which is kept all the same.
    """
    words: list[str | int] = ["--model", "plummer", "--particles", PARTICLES]
    words += ["--steps", STEPS, "--lines"]
    sweep = {"exercise": Path(source).name, "particles": PARTICLES, "steps": STEPS}
    with beside_headers(Path(source)) as program:

        def steps(session: Measurement) -> None:
            facts: dict[str, Any] = {"right": False, "why": ""}
            try:
                rows = session.launch(program, RANKS, words, timeout_s=120)
                found = next(row for row in rows if row.get("quantity") == "steps")
                facts |= {"right": True, "balance": float(found["balance"])}
            except LabError as problem:
                if "does not compile" in problem.message:
                    raise
                facts["why"] = problem.message
            session.points.append(own_function(FUNCTION, program, **facts))

        record = EXERCISE.measure(cluster, steps, half=True, timed=False, sweep=sweep)
    print(says(record))
    return record


def film(cluster: Cluster, source: Path | str = SOURCE, *, steps: int = FILM_STEPS) -> Any:
    """Two galaxies that meet, on four ranks: a picture for a notebook, and galaxy.gif beside the Records."""
    with beside_headers(Path(source)) as program:
        built = mpi.build(program, library=cluster.mpi)
        file = built.with_name("positions")
        words = ["--model", "galaxies", "--particles", str(FILM_PARTICLES), "--steps", str(steps)]
        words += ["--every", str(FILM_EVERY), "--positions", file.name]
        done = mpi.launch(cluster, [str(built)], RANKS, words, folder=built.parent, timeout_s=300)
        if done.returncode or not file.is_file():
            why = done.stderr.strip() or "no positions came back from the first node"
            raise LabError(f"The galaxy could not be drawn: {why}.")
        places = np.fromfile(file, dtype=np.float32).reshape(-1, FILM_PARTICLES, 3)
    alt = f"A film of {len(places)} pictures: two galaxies of {FILM_PARTICLES:,} particles pass through each other."
    return shown_film(cluster, seen_from_above(places), "galaxy.gif", alt)


def seen_from_above(places: Any) -> Any:
    """How many particles are in each square of a plane, by frames; a logarithm, so that single ones are seen."""
    most = float(np.percentile(np.abs(places[:, :, :2]), 99))
    edges = np.linspace(-most, most, FILM_SQUARES + 1)
    counts = [np.histogram2d(each[:, 1], each[:, 0], bins=(edges, edges))[0] for each in places]
    return np.log1p(np.array(counts))


def function(record: Record) -> dict[str, Any]:
    """Source of the partition, balance, and whether it is right; LabError without."""
    return function_of(record, FUNCTION)


def says(record: Record) -> str:
    """How well the partition balances, in a sentence."""
    facts = function(record)
    if not facts["right"]:
        return f"{FUNCTION}: {facts['why']}"
    return f"{FUNCTION} is right: the rank with most interactions has {facts['balance']:.3f} times the mean."
