"""Is what a class is given whole enough to work with, and without anything that a learner is to find out?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from autograder.commands import app
from autograder.course import kit, limits
from autograder.course.create import make_course
from autograder.rubrics import needed_records
from beowulf import paths
from beowulf.errors import LabError
from tests.gold import lab_01
from tests.gold.hand_in import answered, hand_in, released


def names(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and not {".git", "__pycache__"} & set(path.parts)
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("kits") / "kit"
    assert kit.write(place) == len(names(place))
    return place


def run(made: Path, here: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the kit, by the packages of this checkout's .venv."""
    environment = {**os.environ, "PYTHONPATH": str(made), "BEOWULF_WORK": str(here / "work")}
    return subprocess.run(
        [sys.executable, "-c", "from beowulf.cli import main; main()", *words],
        cwd=here,
        env=environment | {"BEOWULF_STATE": str(here / "state"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )


def test_a_kit_has_every_lab_and_no_solution(made: Path) -> None:
    there = names(made)
    for slug in paths.labs():
        assert {f"labs/{slug}/lab.toml", f"labs/{slug}/README.md"} <= there
        assert any(name.startswith(f"notebooks/release/{slug}/") for name in there)
    assert {"Makefile", "LICENSE", "pyproject.toml", "cluster_setup/bootstrap.sh"} <= there
    ours = ("tests/", "slides/", "notebooks/source")
    assert not [name for name in there if name.startswith(ours)]
    rubrics = {path.name for path in (made / "autograder" / "rubrics").iterdir()}
    assert not {name for name in rubrics if any(letter.isdigit() for letter in name)}
    texts = [path for path in made.rglob("*") if path.suffix in {".ipynb", ".md", ".toml"}]
    assert [path for path in texts if "BEGIN SOLUTION" in path.read_text()] == []
    for guide in kit.GUIDES:
        assert "what a course gives out" in (made / guide).read_text()


@pytest.mark.nightly
def test_all_modules_of_a_kit_can_be_loaded(made: Path, tmp_path: Path) -> None:
    script = (
        "import importlib, pkgutil, autograder, beowulf\n"
        f"assert beowulf.__file__.startswith({str(made)!r}), beowulf.__file__\n"
        "for package in (autograder, beowulf):\n"
        "    for each in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        if not each.name.endswith('__main__'): importlib.import_module(each.name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(made)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_in_a_kit_a_check_finds_what_is_missing_and_knows_no_answer(
    made: Path, tmp_path: Path
) -> None:
    slug = next(iter(paths.labs()))
    (notebook,) = (made / "notebooks" / "release" / slug).glob("*.ipynb")
    folder = tmp_path / "work" / slug
    folder.mkdir(parents=True)
    (folder / notebook.name).write_bytes(notebook.read_bytes())
    done = run(made, tmp_path, "check", slug, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["level"] == "form"
    states = {line["question"]: line["state"] for line in found["lines"]}
    wanted = {name for name, need in needed_records.of_lab(slug).items() if need}
    open_states = {"Record missing", "plot missing", "prediction not sealed", "empty"}
    assert {states[name] for name in wanted} <= open_states


def steps(made: Path, forge: str) -> list[str]:
    """The commands that a forge runs after each push."""
    found = yaml.safe_load((made / kit.FORGES[forge]).read_text())
    job = found.get("jobs", found)["check"]
    return job.get("script") or [each["run"] for each in job["steps"] if "run" in each]


def test_both_forges_run_the_same_commands_and_git_has_what_a_learner_does(made: Path) -> None:
    github, gitlab = (steps(made, forge) for forge in kit.FORGES)
    assert github == gitlab[-2:]
    assert github[0] == "bash cluster_setup/bootstrap.sh lab"
    assert not {"work/", "records/"} & set((made / ".gitignore").read_text().splitlines())


@pytest.mark.nightly
def test_a_forge_is_content_with_a_full_hand_in_alone(made: Path, tmp_path: Path) -> None:
    clone = shutil.copytree(made, tmp_path / "clone")
    program = clone / ".venv" / "bin" / "beowulf"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!{sys.executable}\nfrom beowulf.cli import main\nmain()\n")
    program.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(clone), "BEOWULF_WORK": "", "COLUMNS": "160"}

    def pushed() -> tuple[int, str]:
        command = ["bash", "-ec", steps(made, "github.yml")[-1]]
        done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    assert pushed() == (1, "There is no lab in work/ yet.\n")
    slug, right, misspelt = lab_01.SLUG, lab_01.RIGHT, {"ring_messages": "four"}
    for answers, records, code, said in (
        ({}, [], 1, "Record missing"),
        (right | misspelt, lab_01.records(), 1, "malformed"),
        (right, lab_01.records(), 0, "Whether an answer is right was not checked."),
    ):
        shutil.rmtree(clone / "work", ignore_errors=True)
        hand_in(clone / "work" / slug, answered(released(slug), answers), records)
        assert (found := pushed())[0] == code, found
        assert said in found[1]


def hints_of(kit_folder: Path) -> set[str]:
    """The labs that have hints there."""
    labs = (kit_folder / "labs").glob("*/lab.toml")
    tables = {path.parent.name: tomllib.loads(path.read_text())["questions"] for path in labs}
    assert set(tables) == set(paths.labs())
    return {
        slug for slug, asked in tables.items() if any("hints" in each for each in asked.values())
    }


def test_a_kit_has_hints_only_where_the_course_opens_them(made: Path, tmp_path: Path) -> None:
    assert hints_of(paths.root()) == set(paths.labs())
    assert hints_of(made) == set()
    course = tmp_path / "course"
    course.mkdir()
    (course / limits.FILE).write_text("[labs.04]\nhints = true\n")
    kit.write(tmp_path / "kit", course)
    assert hints_of(tmp_path / "kit") == {paths.lab("04").name}


def test_whatever_form_hints_have_nothing_else_goes_with_them() -> None:
    text = '''[questions.a]
hints = ["one", "two", "three"]
points = 1
[questions.b]
"hints"=[
    "a ] and a # in it",  # and a comment
    """more
    lines""",
    'three']
asks = "hints = what?"
'''
    assert kit.without_hints(text) == (
        '[questions.a]\npoints = 1\n[questions.b]\nasks = "hints = what?"\n'
    )


def small(place: Path, course: Path | None = None) -> int:
    """Write a kit of few files, in place of a whole one."""
    files = {limits.FILE: "", "labs/README.md": "labs", "bootstrap.sh": "true"}
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    (place / "bootstrap.sh").chmod(0o755)
    return len(files)


def test_a_zip_has_the_same_files_and_what_can_be_run_stays_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kit, "write", small)
    count = kit.write_zip(tmp_path / "out" / "labs.zip")
    with zipfile.ZipFile(tmp_path / "out" / "labs.zip") as packed:
        files = {each.filename: each for each in packed.infolist() if not each.is_dir()}
    there = {limits.FILE, "labs/README.md", "bootstrap.sh"}
    assert set(files) == {f"{kit.NAME}/{name}" for name in there}
    assert len(files) == count
    assert files[f"{kit.NAME}/bootstrap.sh"].external_attr >> 16 & 0o100
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["labs.zip"]
    with pytest.raises(LabError, match=r"labs\.zip exists already"):
        kit.write_zip(tmp_path / "out" / "labs.zip")


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name in ("full", "file"):
        with pytest.raises(LabError, match=f"{name} exists and is not empty"):
            kit.write(tmp_path / name)
    assert sorted(names(tmp_path)) == ["file", "full/mine"]


@pytest.mark.nightly
def test_in_a_courses_folder_its_notebooks_and_its_limits_go_into_the_kit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = next(iter(paths.labs()))
    course = make_course(tmp_path / "course")
    assert (course.folder / limits.FILE).read_text() == limits.TEXT
    (course.folder / limits.FILE).write_text('check = "fit"\n')
    course.release(slug)
    (place := course.folder / "release" / slug)
    assert (place / limits.FILE).read_text() == 'check = "fit"\n'
    (place / "README.md").write_text("# Another\n")
    monkeypatch.chdir(course.folder)
    done = CliRunner().invoke(app, ["kit", "--output", str(tmp_path / "kit")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "kit" / limits.FILE).read_text() == 'check = "fit"\n'
    assert (tmp_path / "kit" / "labs" / slug / "README.md").read_text() == "# Another\n"
    (notebook,) = (tmp_path / "kit" / "notebooks" / "release" / slug).glob("*.ipynb")
    assert "course-header" in notebook.read_text()
    (course.folder / limits.FILE).write_text("check = 3\n")
    with pytest.raises(LabError, match=r"course\.toml, line 1: `check` must be one of"):
        kit.write(tmp_path / "other", course.folder)
