"""Hand-ins whose files are broken: what cannot be graded gets a sentence, what can be gets its points."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from autograder.evidence.record_files import MOST_RECORDS, RECORDS
from autograder.intake.inspection import LARGEST_NOTEBOOK_BYTES
from tests.gold import lab_01, lab_05
from tests.gold.case import Case
from tests.gold.hand_in import answered, file_name, hand_in, released
from tests.gold.measured import as_handed_in

SLUG = lab_01.SLUG
FILE = file_name(SLUG)
FULL = lab_01.WORTH
# Without the Records A2 of the whole cluster, these rest on nothing.
OF_A2 = ("a2-record", "hosts-first-line", "ordered-pairs", "ring-messages")


def whole(folder: Path, name: str = "broken") -> Path:
    """A perfect hand-in, to be broken."""
    notebook = answered(released(SLUG), lab_01.RIGHT)
    return hand_in(folder, notebook, lab_01.records(), Path(FILE).stem, student=name)


def cases() -> list[Case]:
    """Every kind of broken file that we know."""
    return [*_notebooks(), *_records()]


def _broken(name: str, change: Callable[[Path], object], problem: str) -> Case:
    def write(folder: Path) -> None:
        change(whole(folder, name) / FILE)

    return Case(SLUG, name, write, problem=problem)


def _notebooks() -> list[Case]:
    def text(path: Path) -> str:
        return path.read_text(encoding="utf-8")

    def changed(**parts: object) -> Callable[[Path], object]:
        return lambda path: path.write_text(json.dumps(json.loads(text(path)) | parts))

    def huge(path: Path) -> None:
        os.truncate(path, LARGEST_NOTEBOOK_BYTES + 1)  # a hole takes no room on the disk

    def folder(path: Path) -> None:
        path.unlink()
        path.mkdir()

    def link(path: Path) -> None:
        path.unlink()
        path.symlink_to("/etc/hostname")

    unread = f"{FILE} is not a notebook that can be read"
    return [
        _broken("no notebook", Path.unlink, f"There is no notebook {FILE}"),
        _broken("renamed", lambda p: p.rename(p.with_name("my.ipynb")), "there is my.ipynb"),
        _broken("empty file", lambda p: p.write_text(""), "is empty"),
        _broken("a list", lambda p: p.write_text("[]"), unread),
        _broken("truncated", lambda p: p.write_text(text(p)[:2000]), "breaks off"),
        _broken("latin-1", lambda p: p.write_bytes(b'{"caf\xe9": 1}'), "not text in UTF-8"),
        _broken("utf-16", lambda p: p.write_bytes(text(p).encode("utf-16")), "not text in UTF-8"),
        _broken("too large", huge, "more than 20 MB"),
        _broken("a newer version", changed(nbformat=99), "it is of version 99"),
        _broken("no cells", changed(cells={}), "it has no cells"),
        _broken("cells of numbers", changed(cells=[1, 2, 3]), "it has no cells"),
        _broken("a deep nest", lambda p: p.write_text('{"a":' * 90_000), unread),
        _broken("a folder", folder, f"There is no notebook {FILE}"),
        _broken("a link", link, f"There is no notebook {FILE}"),
    ]


def _damaged(
    name: str, change: Callable[[Path], object], lost: tuple[str, ...], **said: str
) -> Case:
    """A hand-in of which `change` damages records/."""

    def write(folder: Path) -> None:
        change(whole(folder, name) / RECORDS)

    points = {question: worth for question, worth in FULL.items() if question not in lost}
    return Case(SLUG, name, write, points, {key.replace("_", "-"): v for key, v in said.items()})


def _records() -> list[Case]:
    def a2(folder: Path) -> Path:
        return next(path for path in folder.glob("A2-2*.json"))

    def a5(folder: Path) -> Path:
        return next(folder.glob("A5-*.json"))

    def rewritten(**parts: object) -> Callable[[Path], object]:
        def change(folder: Path) -> None:
            content = json.loads(a2(folder).read_text())
            a2(folder).write_text(json.dumps(content | parts))

        return change

    def linked(folder: Path) -> None:
        path = a2(folder)
        path.unlink()
        path.symlink_to("/etc/hostname")

    def many(folder: Path) -> None:
        for number in range(MOST_RECORDS + 20):
            (folder / f"Z9-{number:04}.json").write_text("no Record")

    def nan(folder: Path) -> None:
        path = a5(folder)
        path.write_text(path.read_text().replace('"samples": []', '"samples": [NaN]'))

    def notes(folder: Path) -> None:
        (folder / "notes.json").write_text('{"my": "notes"}')
        (folder / "answers.json").write_text("what cluster.ask() remembers, edited")

    def another_lab(folder: Path) -> None:
        shutil.rmtree(folder)
        folder.mkdir()
        for record in lab_05.records()[:2]:
            as_handed_in(record).save_in(folder)

    everything = tuple(FULL)
    of_a5 = ("a5-record", "idle-mbit")
    return [
        _damaged("no records", shutil.rmtree, everything, a2_record="records/ was not handed in"),
        _damaged("records of lab 05", another_lab, everything, a2_record="D1, D2"),
        _damaged(
            "a Record truncated",
            lambda f: a2(f).write_text(a2(f).read_text()[:500]),
            OF_A2,
            a2_record="it was truncated",
        ),
        _damaged("a Record of a newer schema", rewritten(schema=99), OF_A2, a2_record="newer"),
        _damaged("a Record of no schema", rewritten(schema="one"), OF_A2, a2_record="no schema"),
        _damaged("a Verdict", rewritten(kind="verdict"), OF_A2, a2_record="it is a verdict"),
        _damaged(
            "a Record with one key more", rewritten(points_wanted=20), OF_A2, a2_record="schema"
        ),
        _damaged("a Record begun never", rewritten(started="yesterday"), OF_A2, a2_record="schema"),
        _damaged(
            "a Record in latin-1",
            lambda f: a2(f).write_bytes(b'{"x": "\xe9"}'),
            OF_A2,
            a2_record="UTF-8",
        ),
        _damaged("an empty Record", lambda f: a2(f).write_text(""), OF_A2, a2_record="empty"),
        _damaged("a Record that is a link", linked, OF_A2, a2_record="is not a file"),
        _damaged("a deep Record", lambda f: a2(f).write_text("[" * 90_000), OF_A2),
        _damaged("a Record with NaN", nan, of_a5, a5_record="There is no Record A5"),
        _damaged("hundreds of files", many, ()),
        _damaged("notes among the Records", notes, ()),
    ]
