"""Beowulf Labs: boot a cluster, measure on it, read the packets, judge what the papers claim.

What a notebook needs is here; everything else is in the rooms of this package.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beowulf.cluster import Cluster
    from beowulf.course.checklist import Checklist
    from beowulf.engines import Engines
    from beowulf.figures import Figure
    from beowulf.predictions import Prediction
    from beowulf.record import Record
    from beowulf.verdict import Verdicts

__all__ = [
    "check",
    "claims",
    "connect",
    "picture",
    "predict",
    "prediction",
    "start_engines",
    "study",
]


def connect(records: str | Path = "records") -> Cluster:
    """The running cluster; its Records are kept in the folder `records` beside the notebook."""
    from beowulf import cluster

    connected = cluster.running()
    connected.records = Path(records)
    if "IPython" in sys.modules:
        from beowulf.desk import notebook
        from beowulf.engines import px

        notebook.prepare()
        px.announce()
    return connected


def start_engines(cluster: Cluster, timeout_s: float = 60.0) -> Engines:
    """One IPython engine a node, in one MPI world: `%%px` runs a cell on all of them; the same again while they live.

    A cell that does not end within `timeout_s` seconds is ended, with a sentence that says where each rank was.
    """
    from beowulf import engines

    return engines.start_engines(cluster, timeout_s)


def study(
    name: str,
    cluster: Cluster,
    *,
    variant: str = "",
    quick: bool = False,
    progress: bool = True,
    when: str = "now",
) -> Record:
    """Measure a study such as `A2` and save its Record; `when="quiet"` waits on a busy machine, at most 3 minutes."""
    from beowulf.desk import notebook

    return notebook.study(name, cluster, variant=variant, quick=quick, progress=progress, when=when)


def claims(record: Record) -> Verdicts:
    """What the paper's claims say of a Record: holds, contradicted or inconclusive, each with its evidence."""
    from beowulf.studies import judge

    return judge(record)


def picture(record: Record) -> Figure:
    """The figure of a Record, with its data table and a sentence that says what it shows."""
    from beowulf.studies import draw

    return draw(record)


def predict(
    cluster: Cluster,
    name: str,
    *,
    value: float | None = None,
    low: float | None = None,
    high: float | None = None,
    lab: str = "",
) -> None:
    """Seal a prediction of the lab, a number with its range, before it is measured; the first one stays."""
    from beowulf import predictions

    predictions.predict(cluster, name, value=value, low=low, high=high, lab=lab)


def prediction(cluster: Cluster, name: str) -> Prediction | None:
    """What you sealed under this name, to be drawn beside the result; None where you sealed nothing."""
    from beowulf import predictions

    return predictions.prediction(cluster, name)


def check(lab: str, *, hint: str = "", solution: str = "") -> Checklist | None:
    """What is open in a lab such as `04` before you hand it in; or one more hint for a question, or its solution.

    It runs `beowulf check`, which reads the notebook's file, so that the notebook has to be saved.
    """
    from beowulf.course import checklist

    return checklist.of_notebook(lab, hint=hint, solution=solution)
