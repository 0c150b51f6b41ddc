"""On a disk that is really full: does everybody get their points, or a sentence?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from running import PATIENCE_S
from small_class import SLUG, grade, hand_in

from autograder.course.course import Course
from autograder.grading import driver
from tests.gold.broken_files import FILE, FULL, whole
from tests.gold.case import Case

# ---------------------------------------------------------------- a disk of 60 MB for the whole course

ON_A_SMALL_DISK = """
import json, sys
from dataclasses import asdict
from pathlib import Path
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


@pytest.mark.parametrize("room", [0, 400_000])
@pytest.mark.nightly
def test_on_a_disk_that_is_really_full_what_was_graded_stays_and_the_rest_gets_a_sentence(
    tmp_path: Path, private_mounts: tuple[str, ...], room: int
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
