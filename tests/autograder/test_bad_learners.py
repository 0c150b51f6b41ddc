"""Who takes all that a machine has, and a disk that is really full: does everybody else get their points?"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from running import PATIENCE_S
from small_class import SLUG, expected, grade, hand_in, reached

from autograder.course.course import Course
from autograder.grading import driver
from autograder.sandbox.box import HOME
from tests.gold.broken_files import FILE, FULL, whole
from tests.gold.case import Case

BOMB = "import os, time\nwhile True:\n    if not os.fork():\n        time.sleep(1000)"
FILL = "for number in range(1000):\n    open(f'/tmp/{number}', 'wb').write(bytes(1 << 20))"
EAT = (
    "import os, time\nfor _ in range(8):\n    if not os.fork():\n"
    "        taken = bytearray(b'x') * (100 << 20)\n        time.sleep(1000)\ntime.sleep(1000)"
)
CALL = "import socket\nsocket.create_connection(('192.0.2.1', 80), 5)"
LOOK = f"print(open('{HOME}/../../gradebook.db', 'rb').read(), open('/etc/shadow').read())"
# What a notebook does first, and what is then said of it: in its output, or on top of it.
TAKERS = {
    "makes processes": (BOMB, "BlockingIOError"),
    "never ends": ("while True:\n    pass", "CellTimeoutError"),
    "prints without end": ("while True:\n    print('x' * 1000)", "larger than 0.5 MB"),
    "fills the disk": (FILL, "No space left"),
    "takes memory": (EAT, "of memory"),
    "calls home": (CALL, "OSError"),
    "looks round": (LOOK, "FileNotFoundError"),
}


def case(name: str, code: str) -> Case:
    """A perfect hand-in that does something else first."""

    def write(folder: Path) -> None:
        path = whole(folder, name) / FILE
        notebook = nbformat.read(path, as_version=4)
        notebook.cells = [cell for cell in notebook.cells if "picture(" not in cell.source]
        notebook.cells.insert(0, new_code_cell(code))
        nbformat.write(notebook, path)

    return Case(SLUG, name, write, FULL)


@pytest.fixture
def strict(class_of_guests: Course) -> Iterator[Course]:
    """The course with little patience for what takes without end, and as much as ever for what is slow."""
    config = class_of_guests.api.config
    before = dict(config.ExecuteOnRecords)
    config.ExecuteOnRecords.update(timeout=20, longest_run_s=600, memory_mib=600, output_mb=0.5)
    config.ExecuteOnRecords.update(disk_mib=64, processes=40)
    yield class_of_guests
    config.ExecuteOnRecords.clear()
    config.ExecuteOnRecords.update(before)


@pytest.mark.slow
def test_who_takes_without_end_gets_what_the_hand_in_earns_and_costs_nobody_else_anything(
    strict: Course,
) -> None:
    guests = {name.replace(" ", "-"): case(name, code) for name, (code, _) in TAKERS.items()}
    guests["a-neighbour"] = case("a neighbour", "print('here')")
    guests["z-neighbour"] = case("z neighbour", "print('here')")
    hand_in(strict, guests)
    found = grade(strict, *guests)
    assert {name: each.problem for name, each in found.items()} == dict.fromkeys(guests, "")
    for name, each in found.items():
        assert reached(each) == expected(guests[name]), name
    for name, (_, said) in TAKERS.items():
        place = strict.folder / "autograded" / name.replace(" ", "-") / SLUG / FILE
        assert said in place.read_text(), name


# ---------------------------------------------------------------- a disk of 60 MB for the whole course

ON_A_SMALL_DISK = """
import json, sys
from dataclasses import asdict
from pathlib import Path
import nbformat
from autograder.grading import driver
from autograder.course.create import make_course
from tests import gold

here, room = Path(sys.argv[1]), int(sys.argv[2])
course = make_course(here / "course")
course.release("01")
perfect = gold.hand_ins("01-validation")["perfect"]
for student in ("ada", "bob", "eve"):
    place = course.folder / "submitted" / student / "01-validation"
    perfect.write(place)
    notebook = nbformat.read(place / "validation.ipynb", as_version=4)
    notebook.cells = [cell for cell in notebook.cells if "picture(" not in cell.source]
    nbformat.write(notebook, place / "validation.ipynb")

def graded(*students):
    every = driver.grade(course, "01", list(students) or None, jobs=2)
    print(json.dumps({each.student: asdict(each) for each in every}))

graded("ada")
with (here / "filler").open("wb", buffering=0) as filler:
    try:
        while filler.write(bytes(1 << 12)):
            pass
    except OSError:
        filler.truncate(filler.tell() - room)
graded()
(here / "filler").unlink()
graded()
"""


@pytest.mark.parametrize("room", [0, pytest.param(400_000, marks=pytest.mark.slow)])
def test_on_a_disk_that_is_really_full_what_was_graded_stays_and_the_rest_gets_a_sentence(
    tmp_path: Path, sandboxed: None, private_mounts: tuple[str, ...], room: int
) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    words = [*private_mounts, f"tmpfs:60m:{folder}", sys.executable, "-c", ON_A_SMALL_DISK]
    done = subprocess.run(
        [*words, str(folder), str(room)], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr
    before, full, after = map(json.loads, done.stdout.splitlines())
    assert before["ada"]["points"] == sum(FULL.values())
    assert full["ada"] == before["ada"] | {"skipped": True}
    for student in ("bob", "eve"):
        said, points = full[student]["problem"], full[student]["points"]
        assert points == 0 if said else points == sum(FULL.values())
        assert not said or "again" in said, said
    if room == 0:
        assert full["bob"]["problem"]
    assert {each["points"] for each in after.values()} == {sum(FULL.values())}
    assert not any(each["problem"] for each in after.values())


def test_what_could_not_be_graded_is_kept_for_the_report(class_of_guests: Course) -> None:
    guest = Case(SLUG, "no notebook", lambda folder: (whole(folder) / FILE).unlink())
    hand_in(class_of_guests, {"gold-none": guest})
    found = grade(class_of_guests, "gold-none")["gold-none"]
    assert driver.ungraded(class_of_guests.folder, SLUG)["gold-none"] == found.problem
