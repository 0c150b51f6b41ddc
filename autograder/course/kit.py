"""What an instructor gives out: the labs without their solutions, as a folder or a zip.

It is this checkout without the notebooks' sources, rubrics, tests and slides. In the place of a rubric is a list of the
Records that each question needs, so that `beowulf check` finds there what is missing. A lab whose hints the
course keeps closed has none in the kit, and one that it leaves out has neither notebook nor handout.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from autograder.course import limits
from autograder.rubrics import needed_records
from beowulf import paths
from beowulf.cluster.machines import checkout
from beowulf.errors import LabError

NAME = "beowulf-labs"
PARTS = (
    *(part for part in checkout.PARTS if part not in ("notebooks", limits.FILE)),
    *("notebooks/release", "docs", "README.md", "SECURITY.md", "CHANGELOG.md", "CITATION.cff"),
    *("Vagrantfile", ".gitignore"),
)
# A rubric, and what it reads from a lab's Records; `labs/NN-slug/needs.json` takes its place.
RUBRIC = re.compile(r"autograder/rubrics/([0-9]{2}_|facts_[0-9]{2}|pooled).*")
# What checks each push to a learner's repository, and where a forge looks for it.
FORGES = {"github.yml": ".github/workflows/check.yml", "gitlab.yml": ".gitlab-ci.yml"}
GUIDES = ("docs/afternoon.md", "docs/instructor.md", "docs/syllabus.md")
IN_PLACE_OF_A_GUIDE = (
    "This copy of the labs is what a course gives out (`beowulf class kit`). It has no solutions, and no guide\n"
    "for those who teach; both are in the project itself."
)
LEFT_OUT = "This course leaves this lab out."


def write(place: Path, course: Path | None = None) -> int:
    """Write a kit into the new or empty folder `place`; how many files it has.

    In a course's folder, its notebooks that are released, with what lies beside them, and its limits go into the kit.
    """
    _refuse(place)
    for name, path in checkout.files(PARTS):
        if not RUBRIC.fullmatch(name) and name not in GUIDES:
            _copy(path, place / name)
    for guide in GUIDES:
        _copy(paths.root() / guide, place / guide)
        _keep_title(place / guide, IN_PLACE_OF_A_GUIDE)
    for name, where in FORGES.items():
        _copy(Path(__file__).parent / "forges" / name, place / where)
    ignored = place / ".gitignore"  # in a repository of the kit, work/ is what is handed in
    text = ignored.read_text(encoding="utf-8")
    ignored.write_text(re.sub(r"^(work|records)/\n", "", text, flags=re.M), encoding="utf-8")
    for slug in paths.ours().labs:
        text = needed_records.as_text(needed_records.of_lab(slug, course))
        (place / "labs" / slug / needed_records.FILE).write_text(text, encoding="utf-8")
    (place / limits.FILE).write_text(limits.text_of(course), encoding="utf-8")
    if course:
        for path, name in _of_course(course, place):
            _copy(path, place / name)
    for slug in paths.ours().labs:
        if limits.of_course(slug, place).left_out:
            shutil.rmtree(place / "notebooks" / "release" / slug)
            _keep_title(place / "labs" / slug / "README.md", LEFT_OUT)
        if not limits.of_course(slug, place).hints:
            table = place / "labs" / slug / "lab.toml"
            text = without_hints(table.read_text(encoding="utf-8"))
            table.write_text(text, encoding="utf-8")
    return sum(path.is_file() for path in place.rglob("*"))


def _keep_title(page: Path, text: str) -> None:
    title = page.read_text(encoding="utf-8").partition("\n")[0]
    page.write_text(f"{title}\n\n{text}\n", encoding="utf-8")


def without_hints(text: str) -> str:
    """A lab.toml without the hints of its questions, and all else as it is."""
    kept: list[str] = []
    hints = ""
    for line in text.splitlines(keepends=True):
        if not hints and not re.match(r'\s*"?hints"?\s*=', line):
            kept.append(line)
            continue
        hints += line
        with suppress(tomllib.TOMLDecodeError):  # the list goes on in the next line
            tomllib.loads(hints)
            hints = ""
    return "".join(kept)


def _copy(source: Path, copy: Path) -> None:
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, copy)


def _of_course(course: Path, place: Path) -> Iterator[tuple[Path, str]]:
    """What the course released of our labs: its files, each with its name in the kit."""
    for slug in paths.ours().labs:
        for path in sorted((course / "release" / slug).glob("*")):
            if path.suffix == ".ipynb":
                yield path, f"notebooks/release/{slug}/{path.name}"
            elif path.is_file() and (place / "labs" / slug / path.name).is_file():
                yield path, f"labs/{slug}/{path.name}"


def write_zip(file: Path, course: Path | None = None) -> int:
    """Write a kit into a zip that does not exist yet; how many files it has."""
    if file.exists():
        raise LabError(f"{file} exists already.", "Name another file, or remove that one.")
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".kit-", dir=file.parent) as aside:
        folder = Path(aside)
        count = write(folder / NAME, course)
        made = shutil.make_archive(str(folder / "kit"), "zip", folder, NAME)
        Path(made).replace(file)
    return count


def _refuse(place: Path) -> None:
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise LabError(f"{place} exists and is not empty.", "Name a new or an empty folder.")
