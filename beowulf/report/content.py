"""What a report says, as plain data: the page shows it, and the JSON beside the page holds it."""

from __future__ import annotations

import base64
import io
import json
import multiprocessing
import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from beowulf import figures, papers, paths, predictions, studies
from beowulf.course import lab_file
from beowulf.errors import LabError, plain
from beowulf.record import Record, moment
from beowulf.report import built, picture_to_share
from beowulf.report.found import Found, Kept, of_paper
from beowulf.this_machine import host_state
from beowulf.verdict import SYMBOLS, heading

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

    from beowulf.figures import Figure

KIND, VERSION = "report", 1
BEGINS = f'"kind": "{KIND}"'  # the first line of its JSON
OF_A_PAPER = {"cite": papers.cite, "place": papers.place, "note": papers.note}
SEALED = "name study unit value low high sealed late".split()  # of a prediction
LABS_OWN = "Studies of the labs that are in no paper"
QUIET, BUSY, NOT_SAID = "quiet", "busy", "not recorded"
# A Record that was made by hand may hold texts and lists of any length.
LONGEST = 1_000
SHARED = "shared"  # the picture of all
COLOURS_OF_PNG = 64  # a picture of ours has a few, and their shades

Plain = dict[str, Any]
T = TypeVar("T")


def of(found: Found) -> tuple[Plain, dict[str, str]]:
    """The report as plain data, and its pictures as PNG in base64, by the names of its parts, and SHARED."""
    shown = [each for each in found.shown() if _can_be_judged(each, found.passed_over)]
    # On all cores, because to draw takes nearly all of the time.
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=fork) as pool:
        of_studies = list(pool.map(_section, shown))
        of_programs = pool.map(_program, built.PROGRAMS, map(found.of, built.PROGRAMS))
        right = [each for each in of_programs if each]
    pictures = {each["name"]: image for each, image in of_studies + right if image}
    sections, programs = ([each for each, _ in those] for those in (of_studies, right))
    measured = {each.record.study for each in shown}
    titles = studies.titles()
    hits, tried = predictions.calibration(found.folders)
    content = {
        "kind": KIND,
        "schema": VERSION,
        "made": moment(),
        "learners": sorted({each.record.learner for each in found.records} - {""}),
        "folders": [_named(folder) for folder in found.folders],
        "records": len(found.records),
        "programs": programs,
        "studies": sections,
        "not_measured": [
            {"study": name, "title": titles[name]}
            for name in sorted(titles, key=of_paper)
            if name not in measured
        ],
        "papers": _papers(sections),
        "published": {name: _published(name) for each in sections for name in each["published"]},
        "predictions": _predictions(found),
        "calibration": {"inside": hits, "of": tried, "says": predictions.in_words(hits, tried)},
        "others": found.others(len(sections) + len(programs)),
        "passed_over": found.passed_over,
    }
    content = _readable(content)
    return content, pictures | {SHARED: _png(picture_to_share.drawn(content, pictures), 256)}


def _can_be_judged(kept: Kept, passed_over: list[str]) -> bool:
    """Whether the study of a Record can be imported: that of another author's package may not."""
    try:
        studies.find(kept.record.study)
    except LabError as problem:
        passed_over.append(str(problem))
        return False
    return True


def _section(kept: Kept) -> tuple[Plain, str]:
    """A study: its Record, what the claims make of it, and what it looks like."""
    record, study = kept.record, studies.find(kept.record.study)
    problems: list[str] = []
    judged = _tried(studies.judge, record, problems) or ()
    verdicts = [each.as_plain() for each in judged]
    picture, image = _tried(lambda r: _seen(studies.draw(r)), record, problems) or (None, "")
    printed = _tried(studies.as_printed, record, [])
    return {
        "name": f"{study.id} on {kept.kind}",
        "title": study.title,
        "paper": study.id[0],
        "variant": record.variant,
        **_about(kept),
        "published": papers.measured_again_by(study.id),
        "outcomes": _outcomes(verdicts),
        "verdicts": verdicts,
        "why": study.reasons((each["outcome"] for each in verdicts), record.cluster),
        "picture": picture,
        "as_printed": None if printed is None else _table(printed),
        "problems": problems,
    }, image


def _about(kept: Kept) -> Plain:
    """Of what a Record is, in which file, and how it was measured."""
    record = kept.record
    return {
        "study": record.study,
        "kind": kept.kind,
        "record": {"file": _named(kept.path), "sha256": kept.sha256, "digest": record.digest},
        "started": record.started,
        "ended": record.ended,
        "complete": record.complete,
        "quick": bool(record.sweep.get("quick")),
        "circumstances": circumstances(record),
    }


def _program(name: str, kept: Sequence[Kept]) -> tuple[Plain, str] | None:
    """A program by the first of its Records in which it is right, and its picture; None without one."""
    for each in kept:
        if found := _tried(partial(_built, name), each.record, []):
            shown, image = found
            return {"name": name, "title": built.PROGRAMS[name][0], **shown, **_about(each)}, image
    return None


def _built(name: str, record: Record) -> tuple[Plain, str]:
    found = built.shown(name, record)
    picture, image = _seen(found.figure) if found.figure else (None, "")
    said = {"number": found.number, "what": found.what, "says": found.says, "picture": picture}
    return {**said, "source": built.source(record), "variant": ""}, image


def _tried(read: Callable[[Record], T], record: Record, problems: list[str]) -> T | None:
    """What is made of a Record; None and one more problem if that fails: the others are shown all the same."""
    try:
        return read(record)
    except LabError as problem:
        said = str(problem)
    except Exception as error:  # a page says in a line what a terminal gets whole
        traceback.print_exception(error)
        said = f"This Record of {record.study} caused an error: {type(error).__name__}: {error}."
    if said not in problems:
        problems.append(said)
    return None


def _seen(figure: Figure) -> tuple[Plain, str]:
    """A figure in words and with its data, and as a picture."""
    shown = {"title": figure.title, "alt": figure.alt, "table": _table(figure.table)}
    return shown, _png(figure.drawing)


def _outcomes(verdicts: Sequence[Plain]) -> dict[str, int]:
    """How many of the paper's claims came out how; own checks and arithmetic do not count among them."""
    measured = [each["outcome"] for each in verdicts if not heading(each)]
    return {outcome: measured.count(outcome) for outcome in SYMBOLS}


def circumstances(record: Record) -> Plain:
    """On what, beside what else and how a Record was measured."""
    before = record.circumstances.get("before", {})
    cluster = record.cluster
    reasons = host_state.busy(before)
    state = (BUSY if reasons else QUIET) if "load_1min" in before else NOT_SAID
    known = {
        "nodes": len(cluster["nodes"]) if "nodes" in cluster else None,
        "rate": cluster.get("rate"),
        "mpi": cluster.get("mpi"),
        "cores": cluster.get("cores"),
        "given by": cluster.get(predictions.GIVEN),
        "kernel": record.versions.get("kernel"),
        "version of the labs": record.versions.get("beowulf-labs"),
        "ranks waited": record.patience or None,
    }
    return {
        "machine": state,
        "busy": reasons,
        "learner": record.learner,
        **{
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in known.items()
            if value is not None
        },
        "warnings": record.warnings,
    }


def _named(path: Path) -> str:
    """A path, named as briefly as possible: from here, or from the checkout."""
    whole = path.resolve()
    for folder in (paths.here().resolve(), paths.root().resolve()):
        if whole.is_relative_to(folder):
            return str(whole.relative_to(folder))
    return str(path)


def _papers(sections: Sequence[Plain]) -> list[Plain]:
    """The papers of these studies, each with its citation, where to get it, and where it errs."""
    known = papers.letters()
    return [
        {
            "paper": letter,
            "heading": f"Paper {letter}" if letter in known else LABS_OWN,
            **{what: of(letter) if letter in known else "" for what, of in OF_A_PAPER.items()},
        }
        for letter in sorted({each["paper"] for each in sections})
    ]


def _published(name: str) -> Plain:
    table = papers.table(name)
    return {**{key: table.attrs[key] for key in ("title", "source", "note")}, **_table(table)}


def _predictions(found: Found) -> list[Plain]:
    """What was sealed in each folder, beside what it was held against."""
    rows = []
    for folder in found.folders:
        measured = predictions.measured_in(folder)
        for each in predictions.sealed_in(folder):
            value = measured.get(each.name)
            row = {name: getattr(each, name) for name in SEALED} | {"asks": _asks(each)}
            inside = None if value is None else each.holds(value)
            rows.append({**row, "measured": value, "inside": inside})
    return rows


def _asks(sealed: predictions.Prediction) -> str:
    """The question of a lab.toml that a prediction answers; empty where no lab asks it."""
    number = f"{sealed.lab:02}-"
    slug = next((slug for slug in paths.labs() if slug.startswith(number)), "")
    asked = lab_file.read(slug).predictions.get(sealed.name) if slug else None
    return asked.asks if asked else ""


def _table(table: pd.DataFrame) -> Plain:
    """A table's columns and rows, as JSON knows them."""
    split = json.loads(table.to_json(orient="split", index=False, default_handler=str))
    return {"columns": [str(name) for name in split["columns"]], "rows": split["data"]}


def _png(drawing: Drawing, colours: int = COLOURS_OF_PNG) -> str:
    """The picture, in as many colours as it needs and as few bytes."""
    # `savefig` would draw it twice, once for the layout.
    canvas: Any = FigureCanvasAgg(drawing)
    file = io.BytesIO()
    with figures.style():
        canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    image.quantize(colours).save(file, format="png", optimize=True)
    return base64.b64encode(file.getvalue()).decode("ascii")


def _readable(value: Any) -> Any:
    """The same without control characters, and without what is too long for a reader."""
    if isinstance(value, str):
        return plain(value if len(value) <= LONGEST else f"{value[:LONGEST]} … (cut off)")
    if isinstance(value, Mapping):
        return {_readable(str(key)): _readable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_readable(each) for each in value]
    return value
