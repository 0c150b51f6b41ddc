"""What a learner lets the class see of a lesson: the section, the same error again, what `beowulf check` says, Records.

Nothing is written until `beowulf share FOLDER`, in a folder of the machine that the instructor made. From then on each
cell that is run and each check bring the learner's folder in it up to date; no process looks for changes.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from beowulf import paths
from beowulf.errors import LabError
from beowulf.this_machine import user

CHOSEN = "share.txt"  # in the folder for work: which folder the learner shares in
NOW, CHECKED, RECORDS = "now.json", "checked.json", "records"
WRITTEN = (
    "the lab and the section of the cell that you ran last; how long you have been working; how often the same error"
    " occurred, by its type and without its text; what `beowulf check` says is done; your Records and sealed"
    " predictions, without captures"
)
HEADING = re.compile(r"## (?:\d+ )?(.+)")


def start(folder: Path) -> Path:
    """Share in this folder of a class from now on, beginning with what is there; the learner's own folder in it."""
    if not folder.is_dir():
        raise LabError(
            f"There is no folder {folder}.", "`beowulf class live` prints the one for your class."
        )
    own = folder.absolute() / user.name()
    if place() not in (None, own):
        stop()
    try:
        with _for_the_group():
            own.mkdir(exist_ok=True)
        paths.work("").mkdir(parents=True, exist_ok=True)
        paths.work(CHOSEN).write_text(f"{own}\n", encoding="utf-8")
        for slug in paths.labs():
            _records(own / slug, paths.work(slug) / RECORDS)
    except OSError as problem:
        raise LabError(
            f"You cannot share in {folder}: {problem.strerror}.", "Ask your instructor."
        ) from None
    return own


def stop() -> Path | None:
    """Stop sharing, and delete what was shared; returns the deleted folder, or None when nothing was shared."""
    if own := place():
        paths.work(CHOSEN).unlink()
        shutil.rmtree(own, ignore_errors=True)
    return own


def place() -> Path | None:
    """The folder in which this learner shares; None for one who does not."""
    with suppress(FileNotFoundError):
        return Path(paths.work(CHOSEN).read_text(encoding="utf-8").strip())
    return None


def checked(slug: str, folder: Path, symbols: Mapping[str, str]) -> None:
    """Share what a check of a lab found, by question, if its learner shares."""
    _share(slug, folder, f"{slug}/{CHECKED}", symbols)


class Runs:
    """What each cell that a kernel runs shows: where its learner is, and how often which error occurred."""

    def __init__(self) -> None:
        self.error, self.cell, self.times, self.section = "", "", 0, ""
        self.began = time.monotonic()

    def after(self, result: Any) -> None:
        """Share it; called by IPython after each cell."""
        cell = str(getattr(result.info, "cell_id", None) or "")
        if place() is None or not (slug := paths.lab_of(here := Path.cwd())):
            return
        problem = result.error_before_exec or result.error_in_exec
        if problem:
            said = f"{type(problem).__name__}: {problem}"
            self.times = self.times + 1 if said == self.error else 1
            self.error, self.cell = said, cell
        elif cell == self.cell:
            self.error, self.times = "", 0
        self.section = section(here, cell) or self.section
        now = {
            "lab": slug,
            "section": self.section,
            "minutes": int((time.monotonic() - self.began) / 60),
            "error": self.error.partition(":")[0],
            "times": self.times,
        }
        _share(slug, here, NOW, now)


runs = Runs()


def section(folder: Path, cell_id: str) -> str:
    """The heading above a cell of a notebook in this folder, as it was saved last; "" for a cell that is not in it."""
    for notebook in folder.glob("*.ipynb"):
        heading = ""
        try:
            cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        except (ValueError, KeyError):  # it is just being written, or no notebook
            continue
        for cell in cells:
            if cell["cell_type"] == "markdown":
                found = map(HEADING.fullmatch, "".join(cell["source"]).splitlines())
                heading = next((each[1] for each in found if each), heading)
            if cell.get("id") == cell_id:
                return heading
    return ""


def _share(slug: str, folder: Path, name: str, content: Mapping[str, Any]) -> None:
    # Nothing that a learner does depends on it: a class's folder that is full or gone stops no cell.
    with suppress(OSError):
        if own := place():
            _write(own / name, json.dumps(content).encode())
            _records(own / slug, folder / RECORDS)


def _records(shared: Path, records: Path) -> None:
    """Copy the Records that are not shared yet, or have changed."""
    for file in records.glob("[A-Z]*.json"):
        copy = shared / RECORDS / file.name
        if not copy.is_file() or copy.stat().st_mtime < file.stat().st_mtime:
            _write(copy, file.read_bytes())


def _write(file: Path, content: bytes) -> None:
    with _for_the_group():
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh = file.with_name(f".{file.name}.new")
        fresh.write_bytes(content)
        fresh.replace(file)


@contextmanager
def _for_the_group() -> Iterator[None]:
    """What is made meanwhile is for this user, and for the group of the class's folder to read: who teaches."""
    before = os.umask(0o027)
    try:
        yield
    finally:
        os.umask(before)
