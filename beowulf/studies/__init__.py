"""The studies of the papers, found, judged and drawn: each is a file of this project or of another package."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from beowulf import paths
from beowulf.course import lab_file
from beowulf.errors import LabError, UsageError
from beowulf.record import GIVEN

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure
    from beowulf.record import Record
    from beowulf.studies.study import Study
    from beowulf.verdict import Verdict, Verdicts


# Records that no claim of a paper judges, by the letter of their IDs.
OF_EXERCISES = {
    "H": "the heat program",
    "T": "runs on a timeline",
    "P": "predictions",
    "F": "a learner's own plots",
    "S": "what was simulated of a learner's own programs",
}


def known() -> dict[str, Path]:
    """By ID, the file of every study."""
    return {study: file for package in paths.packages() for study, file in package.studies.items()}


def find(name: str) -> Study:
    """The study with this ID (`A2`, `a2`); LabError where its package is another author's and cannot be imported."""
    if what := of_exercise(name):
        raise UsageError(
            f"{name.upper()} has Records of {what}; it is not a study of a paper, so no claim judges it.",
            f"`beowulf show {name.upper()}` prints what the newest one holds.",
        )
    for package in paths.packages():
        if file := package.studies.get(name.upper()):
            parts = file.relative_to(package.code).with_suffix("").parts
            with package.importing():
                study: Study = import_module(".".join((package.module, *parts))).STUDY
            return study
    raise UsageError(f"There is no study {name!r}.", f"The studies are:\n{listing()}")


def of_exercise(name: str) -> str:
    """What Records with this ID are of, where it is no study's but that of an exercise of every lab; else empty."""
    found = re.fullmatch(f"([{''.join(OF_EXERCISES)}])[0-9]{{0,3}}", name.upper())
    return OF_EXERCISES[found[1]] if found else ""


def titles() -> dict[str, str]:
    """The title of every study, read from its file: to import them all takes seconds."""
    found = {}
    for name, file in known().items():
        text = file.read_text(encoding="utf-8")
        # A picture's title stands above the study's.
        given = re.findall(r'^(?:    title=|TITLE = )"(.*)",?$', text, re.MULTILINE)
        found[name] = given[-1] if given else ""
    return found


def listing() -> str:
    """A line for each study, with its title, below the lab in which a learner meets it first."""
    left, lines = titles(), []
    for slug in paths.labs():
        lab = lab_file.read(slug)
        lines.append(f"Lab {slug.partition('-')[0]}: {lab.title}")
        lines += [f"  {name:<4}{left.pop(name)}" for name in lab.studies if name in left]
    return "\n".join([*lines, *(f"  {name:<4}{title}" for name, title in left.items())])


def judge(record: Record) -> Verdicts:
    """What the claims of its study make of a Record; LabError when it is not one that they can judge.

    Of a Record that is not complete, no claim is decided: each is inconclusive, with a sentence. That of an exercise
    is refused, because the paper claims nothing of a learner's own program.
    """
    from beowulf.verdict import Verdicts

    study = find(record.study)
    if record.of_exercise:
        raise UsageError(
            f"This Record of {record.study}, variant {record.variant}, is of an exercise, in most cases of your own"
            " program: no claim of a paper is judged by it.",
            f"`beowulf show {record.study} --variant {record.variant}` prints what it holds.",
        )
    if record.complete:
        with _reading(record):
            found = [_with_numbers(each, study) for each in study.claims(record)]
    else:
        found = list(_undecided(study, record))
    if record.variant == GIVEN:
        said = "of a Record that is given, not yours"
        found = [replace(each, evidence=f"{each.evidence}; {said}") for each in found]
    of = [record.digest]
    return Verdicts(replace(each, records=of) for each in found)


def _with_numbers(each: Verdict, study: Study) -> Verdict:
    """The Verdict, inconclusive where what it compares is no number: the samples for it are missing."""
    if not any(map(_is_no_number, each.numbers.values())):
        return each
    missing = "the Record lacks samples that this claim compares"
    advice = f"`beowulf study {study.id}` measures a new one."
    return replace(each, outcome="inconclusive", evidence=missing, advice=advice, numbers={})


def _is_no_number(value: object) -> bool:
    """Whether a number that an outcome rests on, or one in a list or table of them, is the mean of nothing."""
    if isinstance(value, Mapping):
        return any(map(_is_no_number, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_is_no_number, value))
    return isinstance(value, float) and math.isnan(value)


def _undecided(study: Study, record: Record) -> Iterator[Verdict]:
    from beowulf.measure.quality import cut_short
    from beowulf.verdict import Verdict

    why = cut_short(record)
    advice = f"`beowulf study {study.id}` measures again; let it run to its end."
    # What the claims are called is seen where nothing was measured at all, if they cannot say more.
    for seen in (record, replace(record, points=[])):
        try:
            with _reading(seen):
                found = [_with_numbers(each, study) for each in study.claims(seen)]
        except LabError:
            continue
        if found:
            break
    else:
        found = [Verdict(study.id, "cut-short", study.title, "inconclusive", why, advice)]
    for each in found:
        bare = seen is not record or not each.evidence
        evidence = why if bare else each.evidence
        if why not in evidence:
            evidence = f"{evidence}; but {why}"
        yield replace(
            each,
            outcome="inconclusive",
            evidence=evidence,
            advice=each.advice if each.outcome == "inconclusive" and not bare else advice,
        )


def draw(record: Record) -> Figure:
    """The figure of a Record; LabError when the Record lacks what it shows."""
    with _reading(record):
        figure = find(record.study).picture(record)
    if record.variant == GIVEN:
        return replace(
            figure, title=f"{figure.title} (given)", alt=f"Given, not yours: {figure.alt}"
        )
    return figure


def as_printed(record: Record) -> pd.DataFrame | None:
    """The Record in the form of the paper's table; None where its study declares none."""
    study = find(record.study)
    with _reading(record):
        return study.as_printed(record) if study.as_printed else None


@contextmanager
def _reading(record: Record) -> Iterator[None]:
    """Judge or draw within this: an error of ours goes on as it is, with a note that names the Record.

    LabError for one of a Record without points, or of one that was cut short before everything was measured.
    """
    which = f"The Record of study {record.study} that was started at {record.started}"
    hint = f"`beowulf study {record.study}` measures a new one."
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy's, of a mean of nothing
            yield
    except LabError:
        raise
    except Exception as error:
        # What such a Record lacks shows in many ways.
        if not record.points:
            raise LabError(f"{which} has no points.", hint) from error
        if not record.complete:
            raise LabError(
                f"{which} was cut short, and lacks what is needed here.", hint
            ) from error
        error.add_note(f"{which} led to this error. If it was edited by hand, {hint}")
        raise
