"""The texts of the labs: do handout, notebook and lab.toml say the same, and is what they show true?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
import pytest

from beowulf import places

ROOT = places.root()
LABS = places.labs()
SLUGS = sorted(LABS)
STUDY = re.compile(r"[A-E][0-9]+")
HEADINGS = ("Before you start", "Compare with", "Food for thought", "Troubleshooting", "Next")
LONGEST_COMMAND_S = 240


def about(slug: str) -> dict[str, Any]:
    return tomllib.loads((LABS[slug] / "lab.toml").read_text(encoding="utf-8"))


def handout(slug: str) -> str:
    return (LABS[slug] / "README.md").read_text(encoding="utf-8")


def notebook_cells(slug: str) -> list[Any]:
    source = sorted((ROOT / "notebooks" / "source" / slug).glob("*.py"))
    return [cell for path in source for cell in jupytext.read(path, fmt="py:percent").cells]


def marks(cell: Any) -> dict[str, Any]:
    found: dict[str, Any] = cell.metadata.get("nbgrader", {})
    return found


@pytest.mark.parametrize("slug", SLUGS)
def test_a_lab_says_what_it_asks_takes_and_needs(slug: str) -> None:
    lab = about(slug)
    assert set(lab) == {
        *("title", "question", "objectives", "minutes", "prerequisites", "studies", "points")
    }
    assert lab["question"].endswith("?")
    assert 10 <= lab["minutes"] <= 240
    assert all(STUDY.fullmatch(study) for study in lab["studies"])
    assert lab["objectives"]
    assert lab["prerequisites"]


@pytest.mark.parametrize("slug", SLUGS)
def test_the_points_of_a_lab_are_those_of_its_notebook(slug: str) -> None:
    graded = {
        marks(cell)["grade_id"]: marks(cell)["points"]
        for cell in notebook_cells(slug)
        if marks(cell).get("grade")
    }
    assert graded == about(slug)["points"]


@pytest.mark.parametrize("slug", SLUGS)
def test_a_notebook_gives_each_cell_a_name_of_its_own_and_no_test_can_be_edited(slug: str) -> None:
    known = [marks(cell) for cell in notebook_cells(slug) if marks(cell)]
    names = [each["grade_id"] for each in known]
    assert len(names) == len(set(names))
    assert all(m.get("locked") for m in known if m.get("grade") and not m.get("solution"))


@pytest.mark.parametrize("slug", SLUGS)
def test_an_answer_cell_is_empty_for_the_learner_and_solved_for_the_author(slug: str) -> None:
    for cell in notebook_cells(slug):
        if marks(cell).get("solution"):
            before, begin, rest = cell.source.partition("### BEGIN SOLUTION\n")
            assert begin, marks(cell)["grade_id"]
            assert "### END SOLUTION" in rest
            if cell.cell_type == "code":
                # The learner finds the name, and `form` a value that it can say something about.
                names = re.findall(r"^(\w+) = None", before, re.MULTILINE)
                assert names
                assert re.findall(r"^(\w+) = (?!None)", rest, re.MULTILINE) == names


@pytest.mark.parametrize("slug", SLUGS)
def test_handout_and_notebook_name_every_question(slug: str) -> None:
    cells = "\n".join(cell.source for cell in notebook_cells(slug) if cell.cell_type == "markdown")
    for name, points in about(slug)["points"].items():
        assert f"`{name}`" in handout(slug), name
        worth = f"({points:g} point{'s' * (points != 1)}"
        assert f"**Question `{name}`** {worth}" in cells, name


@pytest.mark.parametrize("slug", SLUGS)
def test_a_handout_says_what_its_lab_toml_says(slug: str) -> None:
    lab, text = about(slug), handout(slug)
    plain = re.sub(r"\s+", " ", text.replace("`", ""))
    assert text.startswith(f"# Lab {slug[:2]}: {lab['question']}\n")
    assert f"about {lab['minutes']} minutes" in plain
    assert f"**Points** {sum(lab['points'].values())}" in plain
    for objective in lab["objectives"]:
        assert f"- {objective}" in plain, objective
    for heading in HEADINGS:
        assert re.search(rf"^## .*{heading}", text, re.MULTILINE), heading


@pytest.mark.parametrize("slug", SLUGS)
def test_what_a_handout_links_to_is_there(slug: str) -> None:
    links = re.findall(r"\]\(([^)#]+)", handout(slug))
    local = [link for link in links if "//" not in link]
    assert all((LABS[slug] / link).exists() for link in local), local


def consoles(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a handout's ```console blocks, with the lines that it is said to print."""
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        assert block.startswith("$ "), block
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *expected = step.splitlines()
            yield command, expected


def fits(expected: list[str], printed: str) -> bool:
    """Whether output is as shown; `...` stands for any lines, or inside a line for any text."""
    pattern = ""
    for line in expected:
        if line == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(map(re.escape, line.split("..."))) + r"[ \t]*\n"
    return re.fullmatch(pattern, printed if printed.endswith("\n") else printed + "\n") is not None


def test_the_dots_of_a_handout_stand_for_what_may_differ() -> None:
    assert fits(["a", "...", "z"], "a\nb\nc\nz\n")
    assert fits(["a", "..."], "a\n")
    assert fits(["time=... ms"], "time=0.04 ms")
    assert not fits(["a"], "a\nb\n")
    assert not fits(["a", "...", "z"], "a\nb\n")
    assert not fits(["a.c"], "abc\n")


@pytest.mark.cluster
@pytest.mark.timeout(900)
@pytest.mark.parametrize("slug", SLUGS)
def test_every_command_of_a_handout_does_what_the_handout_shows(slug: str, tmp_path: Path) -> None:
    desk = tmp_path / slug
    shutil.copytree(LABS[slug], desk)
    environment = {
        **os.environ,
        "BEOWULF_STATE": str(tmp_path / "state"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    environment.pop("BEOWULF_RECORDED", None)
    try:
        for command, expected in consoles(handout(slug)):
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=desk,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=LONGEST_COMMAND_S,
            )
            shown = f"$ {command}\n{done.stdout}"
            assert done.returncode == 0, shown
            assert fits(expected, done.stdout), f"{shown}\ninstead of\n" + "\n".join(expected)
    finally:
        subprocess.run(["beowulf", "down"], env=environment, stdout=subprocess.DEVNULL)
