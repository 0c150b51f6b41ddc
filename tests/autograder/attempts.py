"""Every way we know to get points, time or others' pages that no work earned: a row each, with the work that it has.

What tests/gold/hostile.py and broken_files.py hold is in the list, too. `honest` writes a hand-in of that work alone,
so that what an attempt gets can be compared with it.
"""

# ruff: noqa: E501, because these are rows of tables

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import nbformat

from tests.gold import broken_files, hostile, lab_01
from tests.gold.hand_in import answered, file_name, hand_in, released
from tests.gold.measured import as_handed_in

SLUG = lab_01.SLUG
FILE = file_name(SLUG)
NOTHING, RECORDS, ANSWERS, ALL = "nothing", "Records", "answers", "all"
WORK = (NOTHING, RECORDS, ANSWERS, ALL)
ZIP = "hand-in.zip"


@dataclass(frozen=True)
class Attempt:
    """What is done to a hand-in of some honest `work`; where there are `points`, they are known exactly."""

    name: str
    kind: str
    work: str
    change: Callable[[Path], object]
    points: Mapping[str, float] | None = None

    def write(self, folder: Path, student: str) -> None:
        """Write the hand-in."""
        if self.work:
            honest(folder, self.work, student)
        self.change(folder)


def honest(folder: Path, work: str, student: str) -> Path:
    """A hand-in of Records, answers, both or nothing, and no cells beside those of the questions."""
    notebook = released(SLUG)
    notebook.cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    if work in (ANSWERS, ALL):
        notebook = answered(notebook, lab_01.RIGHT)
    kept = lab_01.records() if work in (RECORDS, ALL) else []
    return hand_in(folder, notebook, kept, Path(FILE).stem, student=student)


def every() -> list[Attempt]:
    """The whole list."""
    made = [Attempt(n, "notebook", w, partial(changed, how=h)) for n, (w, h) in NOTEBOOKS.items()]
    made += [Attempt(n, "text", RECORDS, partial(as_text, how=h)) for n, h in TEXTS.items()]
    made += [Attempt(n, "answer", RECORDS, partial(typed, text=t)) for n, t in TYPED.items()]
    made += [Attempt(n, "file", RECORDS, partial(beside, files=f)) for n, f in FILES.items()]
    made += [Attempt(n, "file", RECORDS, how) for n, how in PLACES.items()]
    made += [Attempt(n, "Record", ANSWERS, partial(recorded, how=h)) for n, h in RECORDED.items()]
    made += [Attempt(n, "zip", ALL, partial(zipped, how=h)) for n, h in ZIPS.items()]
    for case in [*hostile.cases(), *broken_files.cases()]:
        if case.slug == SLUG:
            made.append(Attempt(f"gold: {case.name}", "gold", "", case.write, case.points))
    return made


# ---------------------------------------------------------------- the notebook


def changed(folder: Path, how: Callable[[Any], object]) -> None:
    """Change the notebook's JSON."""
    content = json.loads((folder / FILE).read_text())
    how(content)
    (folder / FILE).write_text(json.dumps(content))


def _cell(source: Any, cell_type: str = "code", **more: Any) -> dict[str, Any]:
    code = {"outputs": [], "execution_count": None} if cell_type == "code" else {}
    return {"cell_type": cell_type, "source": source, "metadata": {}, **code, **more}


def _cells(*cells: dict[str, Any], times: int = 1) -> Callable[[Any], object]:
    return lambda notebook: notebook["cells"].extend(list(cells) * times)


def _top(**parts: Any) -> Callable[[Any], object]:
    return lambda notebook: notebook.update(parts)


def _marks(**marks: Any) -> Callable[[Any], object]:
    """Change the marks of every question."""

    def change(notebook: Any) -> None:
        for cell in notebook["cells"]:
            cell["metadata"]["nbgrader"].update(marks)

    return change


def _each(**parts: Any) -> Callable[[Any], object]:
    """Change every cell."""

    def change(notebook: Any) -> None:
        for cell in notebook["cells"]:
            cell.update(parts)

    return change


def _rotated(notebook: Any) -> None:
    """Each cell under the name of the next one."""
    names = [cell["metadata"]["nbgrader"]["grade_id"] for cell in notebook["cells"]]
    for cell, name in zip(notebook["cells"], names[1:] + names[:1], strict=True):
        cell["metadata"]["nbgrader"]["grade_id"] = name


def _nested(depth: int) -> Any:
    made: Any = "x"
    for _ in range(depth):
        made = [made]
    return made


BAD_OUTPUT = {"output_type": "points", "x": 100}
# What happens to the notebook's JSON, by name, with the work that is in it.
NOTEBOOKS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "a kernel that is a command": (RECORDS, _top(metadata={"kernelspec": {"name": "../../x; id", "argv": ["sh"]}})),
    "state of widgets": (RECORDS, _top(metadata={"widgets": {"application/vnd.jupyter.widget-state+json": {"state": {"x" * 99: {}}}}})),
    "a minor version of a billion": (RECORDS, _top(nbformat_minor=10**9)),
    "points of no number": (RECORDS, _marks(points="all of them")),
    "grades that are solutions": (RECORDS, _marks(grade=True, solution=True, locked=False)),
    "tasks": (RECORDS, _marks(task=True, grade=True, points=100)),
    "names turned round": (RECORDS, _rotated),
    "one name for all": (RECORDS, _marks(grade_id="explain")),
    "names that lead elsewhere": (RECORDS, _marks(grade_id="../../../gradebook.db\n\x1b[2J")),
    "names of a megabyte": (RECORDS, _marks(grade_id="x" * 50_000)),
    "a script that was saved as output": (RECORDS, _each(outputs=[{"output_type": "display_data", "metadata": {}, "data": {"text/html": "<script>x</script>", "application/javascript": "x", "image/svg+xml": "<svg onload='x'/>"}}])),
    "outputs of odd types": (ALL, _each(outputs=[7, {"output_type": "stream", "text": [1, {"x": 2}]}, {"output_type": "error", "traceback": "x", "ename": 3}, {"output_type": "display_data", "data": [1]}, {"output_type": "execute_result", "data": {"text/plain": {"x": 1}, "image/png": 7}}])),
    "colours without end": (ALL, _each(outputs=[{"output_type": "error", "ename": "E", "evalue": "", "traceback": ["\x1b[31m\x1b[0m" * 20_000]}])),
    "printed without end": (ALL, _each(outputs=[{"output_type": "stream", "name": "stdout", "text": "x\n" * 100_000}])),
    "all cells are raw": (RECORDS, _each(cell_type="raw")),
    "counts of odd types": (RECORDS, _each(execution_count="100", id=["x"])),
    "a nest in metadata": (RECORDS, lambda n: n["cells"][0]["metadata"].update(x=_nested(300))),
    "half a surrogate pair": (ALL, _cells(_cell("x = '\ud800'"), _cell("\udfff", "markdown", attachments={"\ud800": {"image/png": "\udfff"}}))),
    "a cell of 15 MB": (ALL, _cells(_cell("#" * 15_000_000))),
    "very many outputs that are wrong": (ALL, lambda n: n["cells"][0].update(outputs=[BAD_OUTPUT] * 300_000)),
    "metadata of a million values": (ALL, lambda n: n["metadata"].update(x=[[]] * 900_000)),
    "pictures without end": (ALL, _cells(_cell("![x](attachment:x)", "markdown", attachments={f"{k}": {"image/png": "iVBORw0KGgo="} for k in range(50_000)}))),
    "a picture of 15 MB": (ALL, _cells(_cell("![x](attachment:x)", "markdown", attachments={"x": {"image/png": "iVBORw0KGgo" + "A" * 15_000_000}}))),
    "attachments of odd types": (ALL, _cells(*(_cell("x", "markdown", attachments=odd) for odd in (7, [1], {"x": 1}, {"x": {"image/png": [1]}})))),
    "texts that are slow to read": (ALL, _cells(*(_cell(part * (19_000 // len(part)), "markdown") for part in ("[", "![", "*a **a ", "[a](<b", "> ", "<b><p>", "`a``", "|a")), times=5)),
}  # fmt: skip
# What happens to the notebook's text, which then may be no JSON that a program writes.
TEXTS: dict[str, Callable[[str], str]] = {
    "cells twice": lambda t: t[:-1] + ', "cells": []}',
    "a count of 5,000 digits": lambda t: t[:-1] + f', "x": {"9" * 5000}}}',
    "a mark of byte order": lambda t: "\ufeff" + t,
    "two notebooks": lambda t: t + t,
}


def as_text(folder: Path, how: Callable[[str], str]) -> None:
    """Change the notebook's text."""
    (folder / FILE).write_text(how((folder / FILE).read_text()), encoding="utf-8")


# ---------------------------------------------------------------- answers

# Typed for every answer that the lab asks for: none of these is one.
TYPED = {
    "every number": "range(10**6)",
    "all at once": "{12, 4, 3, 'node01', 'node02', 'key-refused', 'wrong-hosts'}",
    "a mapping": "{'12': 12, 'points': 100}",
    "a number that equals all": "type('Any', (int,), {'__eq__': lambda *a: True})()",
    "a text with points": "'points: 100</td></tr></table>'",
    "a sum of 5,000 numbers": "+".join(["1"] * 5_000),
    "10,000 signs": "-" * 10_000 + "12",
    "a list of lists": "[" * 90 + "]" * 90,
    "a cursor": "'\\x1b[2J\\x1b]0;x\\x07\\u202e'",
    "half a pair": "'\\ud800'",
}


def typed(folder: Path, text: str) -> None:
    """Give every answer this text."""
    notebook = nbformat.read(folder / FILE, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.metadata.nbgrader.solution:
            lines = [line.partition(" = None") for line in cell.source.split("\n")]
            cell.source = "\n".join(f"{n} = {text}" if m else n for n, m, _ in lines)
    nbformat.write(notebook, folder / FILE)


# ---------------------------------------------------------------- files beside the notebook

OUR_POINTS = "def ask(*a):\n    return {}\nSCORERS = {}\n"
FILES: dict[str, dict[str, str]] = {
    "a conftest": {"conftest.py": OUR_POINTS, "pytest.ini": "[pytest]\n"},
    "json.py beside it": {"json.py": "raise SystemExit", "numpy/__init__.py": "raise SystemExit"},
    "a package like ours": {"autograder/__init__.py": "", "autograder/rubrics/__init__.py": OUR_POINTS, "beowulf/__init__.py": "raise SystemExit"},
    "nbgrader's configuration beside it": {"nbgrader_config.py": "c = get_config()\nc.ClearOutput.enabled = False\n"},
    "IPython's configuration": {"ipython_config.py": "import os; os._exit(0)", ".ipython/profile_default/startup/0.py": "import os; os._exit(0)"},
    "another template": {"templates/x/index.html.j2": "{{ 1/0 }}", "feedback.html.j2": "{{ 1/0 }}"},
    "a gradebook": {"gradebook.db": "SQLite format 3\0", "../gradebook.db": "x"},
    "the course's own files": {"course.toml": "[hints]\nafter = 0\n", "lab.toml": "", "programs.txt": f"{'0' * 64} hello.c\n", "course.key": "c4" * 32, "roster.csv": "x"},
    "Records as if given": {"given/01-validation/A2.json": "{}", "records/given.json": "{}"},
    "a time long ago": {"timestamp.txt": "1970-01-01 00:00:00 UTC"},
    "a time to come": {"timestamp.txt": "9999-12-31 23:59:59 -14:00"},
    "a time of 5 MB": {"timestamp.txt": "1 " * 2_500_000},
    "a secret": {"submission_secret.txt": "x" * 100_000},
    "more notebooks": {"validation-2.ipynb": "{}", "validation.ipynb.ipynb": "{}", "Validation.ipynb": "{}"},
    "names with control characters": {"a\nb\x1b[2J.txt": "x", "-rf": "x", "*": "x", "%s%n.json": "x"},
    "long names": {"x" * 250: "x", "/".join(["d" * 40] * 60) + "/x.txt": "x"},
    "many files": {f"many/{n}.txt": "x" for n in range(3000)},
    "a repository": {".git/config": "[core]\nfsmonitor = touch /tmp/x\n", ".git/hooks/post-checkout": "x"},
}  # fmt: skip


def beside(folder: Path, files: Mapping[str, str]) -> None:
    """Put files beside the notebook."""
    for name, text in files.items():
        if ".." not in name:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)


def _linked(name: str, to: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        place = folder / name
        if place.is_dir():
            place.rename(folder / "old")
        place.unlink(missing_ok=True)
        place.symlink_to(to)

    return change


def _fifo(folder: Path) -> None:
    os.mkfifo(folder / "records" / "A2-1.json")
    os.mkfifo(folder / "x.txt")


# Links, pipes and names that no zip can hold; the exchange takes them.
PLACES: dict[str, Callable[[Path], object]] = {
    "a neighbour's notebook": _linked(FILE, f"../../honest-all/{SLUG}/{FILE}"),
    "a neighbour's Records": _linked("records", f"../../honest-all/{SLUG}/records"),
    "all of the course": _linked("course", "../../.."),
    "a link round and round": _linked("records/x.json", "x.json"),
    "the time is a link": _linked("timestamp.txt", "/proc/self/environ"),
    "the time is a folder": lambda folder: (folder / "timestamp.txt").mkdir(),
    "pipes": _fifo,
    "a name that is no text": lambda f: Path(os.fsdecode(bytes(f) + b"/\xff.txt")).touch(),
}


# ---------------------------------------------------------------- Records


def recorded(folder: Path, how: Callable[[dict[str, Any], Path], object]) -> None:
    """Hand in all of the lab's Records, each with what shows that nobody measured it, and changed."""
    for number, record in enumerate(lab_01.records()):
        plain = replace(as_handed_in(record), warnings=[MADE_UP]).as_plain()
        made = how(plain, folder / "records")
        text = made if isinstance(made, str) else json.dumps(plain)
        (folder / "records" / f"{str(plain['study'])[-2:]}-{number}.json").write_text(text)


def _set(**parts: Any) -> Callable[[dict[str, Any], Path], object]:
    return lambda record, place: record.update(parts)


def _facts(**facts: Any) -> Callable[[dict[str, Any], Path], object]:
    def change(record: dict[str, Any], place: Path) -> None:
        for point in record["points"]:
            point["facts"] = {**point["facts"], **facts}

    return change


def _capture(content: bytes, names: int = 1) -> Callable[[dict[str, Any], Path], object]:
    def change(record: dict[str, Any], place: Path) -> None:
        (place / "x.pcapng").write_bytes(content)
        one = {"file": "x.pcapng", "sha256": hashlib.sha256(content).hexdigest()}
        record["captures"] = [one] * names

    return change


MADE_UP = "Made up: nobody measured this."
RECORDED: dict[str, Callable[[dict[str, Any], Path], object]] = {
    "a made-up Record": _set(),
    "a source that is no text": _facts(source="\ud800", sha256="0" * 64),
    "a capture with a name that no file has": _set(captures=[{"file": "x" * 300, "sha256": "0" * 64}]),
    "a capture of the instructor's": _set(captures=[{"file": "../../../../gradebook.db", "sha256": ""}]),
    "100,000 captures": _set(captures=[{"file": f"{n}.pcapng", "sha256": "0"} for n in range(50_000)]),
    "one capture 100,000 times": _capture(bytes(20_000_000), 30_000),
    "points of its own": _facts(points=100, of=1, right=True, score=100),
    "a mark of another": _set(cluster={"kind": "namespaces", "nodes": [], "mark": "0" * 16}),
    "an odd cluster": _set(cluster={"kind": ["namespaces"], "nodes": {"node00": 1}, "rate": 1e308}),
    "a start in the year 9999": _set(started="9999-12-31T23:59:59.000Z", ended="9999-12-31T23:59:59.999Z"),
    "a learner that is a page": _set(learner="<script>alert(1)</script>" * 1000),
    "warnings without end": _set(warnings=[MADE_UP, *["x\x1b[2J"] * 50_000]),
    "a study of a path": _set(study="../../../A2"),
    "facts of 200 KB": _facts(mbit_per_s="9" * 200_000, bytes="1," * 50_000),
    "facts in a nest": _facts(nest=_nested(300)),
    "500,000 samples": lambda r, _: [p.update(samples=[5e-324] * 60_000) for p in r["points"][:1]],
    "a Record of 15 MB of spaces": lambda r, _: json.dumps(r) + " " * 3_000_000,
    "a Record of brackets": lambda r, _: "[" * 400_000 + "]" * 400_000,
}  # fmt: skip


# ---------------------------------------------------------------- zips, as an LMS that takes one file gets them


def zipped(folder: Path, how: Callable[[zipfile.ZipFile], object]) -> None:
    """Pack the hand-in into a zip with more in it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, str(path.relative_to(folder)))
            if path.is_file():
                path.unlink()
        how(archive)
    (folder / ZIP).write_bytes(packed.getvalue())


def _members(*names: str, content: str = "{}") -> Callable[[zipfile.ZipFile], object]:
    return lambda archive: [archive.writestr(zipfile.ZipInfo(n), content) for n in names]


def _symlink(archive: zipfile.ZipFile) -> None:
    for name, to in {"records/A2-9.json": "/etc/passwd", "x": "../../..", "x/y": "z"}.items():
        info = zipfile.ZipInfo(name)
        info.create_system, info.external_attr = 3, 0o120777 << 16
        archive.writestr(info, to)


def _bomb(archive: zipfile.ZipFile) -> None:
    for number in range(3):
        archive.writestr(f"{number}.txt", bytes(45_000_000))


def _full_zips(archive: zipfile.ZipFile) -> None:
    """Zips of very many folders in one zip: small, and slow to look through."""
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as more:
        for number in range(60_000):
            more.writestr(f"{number}/", b"")
    for number in range(12):
        archive.writestr(f"{number}.zip", inner.getvalue())


ZIPS: dict[str, Callable[[zipfile.ZipFile], object]] = {
    "names that lead out": _members(f"../../honest-all/{SLUG}/{FILE}", f"../{FILE}", "a/../../x"),
    "links in a zip": _symlink,
    "zeros without end": _bomb,
    "full zips in a zip": _full_zips,
    "two notebooks of one name": _members(
        FILE.upper(), f"./{FILE}x", "records/A2.json", "records/A2.json"
    ),
    "names of control characters": _members("a\x1b[2Jb", "c\nd", "\u202ex.ipynb", "x" * 300),
    "50,000 members": _members(*(f"{n}/" for n in range(50_000))),
    "3,000 files": _members(*(f"{n}.txt" for n in range(3_000))),
    "a folder in each folder": _members(*(f"{n}/" + "d/" * 90 + "x" for n in range(1_500))),
    "a zip of the Records only": _members("records.zip", content="PK"),
}
