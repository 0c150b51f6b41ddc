"""What happens behind a notebook's cells: a study saves its Record, an answer is checked for its form."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beowulf.cluster import Cluster
from beowulf.cluster.faults import PUZZLES
from beowulf.errors import LabError, UsageError
from beowulf.learner import learner
from beowulf.progress import Progress, no_progress
from beowulf.record import Record
from beowulf.studies import STUDIES, by_kind, find

# It becomes part of a file's name.
VARIANT = re.compile(r"\w[\w-]*")


def study(
    name: str,
    cluster: Cluster,
    *,
    variant: str = "",
    quick: bool = False,
    progress: bool = True,
) -> Record:
    """Measure and save beside the notebook; a recorded cluster gives what was saved."""
    if recorded := cluster.replay(find(name).ID, variant):
        return recorded
    from beowulf.progress import bar

    folder = cluster.records or Path("records")
    with bar(find(name).TITLE, shown=progress) as told:
        record, _ = measure_and_save(name, cluster, folder, variant=variant, quick=quick, told=told)
    return record


def measure_and_save(
    name: str,
    cluster: Cluster,
    folder: Path,
    *,
    variant: str = "",
    quick: bool = False,
    adaptive: bool = False,
    more: Mapping[str, object] | None = None,
    told: Progress = no_progress,
) -> tuple[Record, Path]:
    """Measure a study, say whose Record it is, and save it in `folder`; the Record and its file.

    `adaptive` is for the studies that can find sizes between their own; UsageError for the others. `more` has what
    only this study's measure() takes.
    """
    if adaptive and not getattr(find(name), "ADAPTIVE", False):
        able = [each for each in STUDIES if getattr(find(each), "ADAPTIVE", False)]
        raise UsageError(
            f"The sizes of study {find(name).ID} cannot be refined.",
            f"`--adaptive` is for {' and '.join(sorted(able))}.",
        )
    if variant and not VARIANT.fullmatch(variant):
        raise UsageError(
            f"A variant is a word of letters, digits and hyphens, not {variant!r}.",
            "`broken-a` is one.",
        )
    try:  # before the measurement, which would be lost otherwise
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(
            f"The folder {folder} for your Records cannot be made: {error.strerror}.",
            "Name another one, or work in a folder that you may write to.",
        ) from error
    by_kind.refuse_unseen(find(name).ID, cluster)
    _refuse_a_false_name(cluster.broken, variant)
    options: dict[str, Any] = {**(more or {}), **({"adaptive": True} if adaptive else {})}
    record = find(name).measure(cluster, folder, quick=quick, progress=told, **options)
    record.learner = learner()
    record.variant = variant
    return record, record.save_in(folder)


def _refuse_a_false_name(broken: str, variant: str) -> None:
    """A Record of a broken cluster must not pass for that of a whole one, or of another broken one."""
    named = variant.removeprefix("broken-") if variant.startswith("broken-") else ""
    if broken and not variant:
        raise LabError(
            f"The cluster is broken ({broken}), and this Record would pass for that of a whole one.",
            f"Name it by `--variant broken-{broken}`, or heal the cluster first: `beowulf up`.",
        )
    if named in PUZZLES and broken != named:
        state = f"broken ({broken})" if broken else "not broken"
        raise LabError(
            f"The cluster is {state}, but this Record is to be of cluster {named}.",
            f"`beowulf break {named}` breaks it so; `beowulf up` heals it.",
        )


class NotAnAnswerError(AssertionError):
    """An answer has not the form that was asked for; a notebook shows the sentence and nothing of our code."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def form(value: object, kind: str) -> None:
    """Say in a NotAnAnswerError what is wrong with the form of an answer; whether it is right is not checked here.

    `kind` is text, number, node (such as "node02"), or choice:a,b,c.
    """
    if value is None or value is Ellipsis:
        raise NotAnAnswerError("This answer is still empty.")
    if kind == "number":
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
        ):
            raise NotAnAnswerError(f"The answer is a number, such as 3 or 0.25, not {value!r}.")
        return
    if not isinstance(value, str) or not value.strip():
        raise NotAnAnswerError(f"The answer is a text in quotes, not {value!r}.")
    word = " ".join(value.lower().split())  # as the rubrics read it
    if kind == "node" and not re.fullmatch(r"node\d\d", word):
        raise NotAnAnswerError(
            f'The answer is the name of a node, such as "node02", not {value!r}.'
        )
    if kind.startswith("choice:"):
        choices = kind.removeprefix("choice:").split(",")
        if word not in [choice.lower() for choice in choices]:
            raise NotAnAnswerError(f"The answer is one of {', '.join(choices)}, not {value!r}.")
