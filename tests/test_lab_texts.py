"""The texts of the labs: do handout, notebook and lab.toml say the same, and is what they show true?"""

from __future__ import annotations

import ast
import re
import textwrap
from functools import cache
from typing import Any

import jupytext
import pytest

from beowulf import paths
from beowulf.course import lab_file

ROOT = paths.root()
LABS = paths.labs()
SLUGS = sorted(LABS)
HEADINGS = ("Before you start", "Compare with", "Food for thought", "Troubleshooting", "Next")
TO_LOOK_UP = ("The questions", "Food for thought", "Troubleshooting")
MOST_WORDS = 4000  # of a lab's core, handout and notebook together
LEAST_EASE = 65


def handout(slug: str) -> str:
    return (LABS[slug] / "README.md").read_text(encoding="utf-8")


@cache
def notebook_cells(slug: str) -> list[Any]:
    source = sorted((ROOT / "notebooks" / "source" / slug).glob("*.py"))
    return [cell for path in source for cell in jupytext.read(path, fmt="py:percent").cells]


def marks(cell: Any) -> dict[str, Any]:
    found: dict[str, Any] = cell.metadata.get("nbgrader", {})
    return found


@pytest.mark.parametrize("slug", SLUGS)
def test_an_answer_cell_is_empty_for_the_learner_and_solved_for_the_author(slug: str) -> None:
    for cell in notebook_cells(slug):
        if not marks(cell).get("solution"):
            continue
        before, begin, rest = cell.source.partition("### BEGIN SOLUTION\n")
        assert begin, marks(cell)["grade_id"]
        assert "### END SOLUTION" in rest
        if cell.cell_type == "code":
            # The learner finds the name, and `form` a value that it can say something about; or the first line of a
            # function to write.
            names = set(re.findall(r"^(\w+) = None", before, re.MULTILINE))
            if not names:
                assert re.search(r"^def \w+\(", before, re.MULTILINE)
                continue
            # What the author computes from the Records may take more names.
            nodes = list(ast.walk(ast.parse(textwrap.dedent(rest))))
            stored = {
                n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            }
            assert names <= stored | {n.name for n in nodes if isinstance(n, ast.FunctionDef)}


@pytest.mark.parametrize("slug", SLUGS)
def test_the_notebook_names_every_question_and_its_points(slug: str) -> None:
    """The handout's table of questions and all totals are written by `make release`, and compared there."""
    cells = "\n".join(cell.source for cell in notebook_cells(slug) if cell.cell_type == "markdown")
    for name, each in lab_file.read(slug).questions.items():
        worth = f"({each.points:g} point{'s' * (each.points != 1)}"
        assert f"**Question `{name}`** {worth}" in cells, name


@pytest.mark.parametrize("slug", SLUGS)
def test_a_handout_says_what_its_lab_toml_says(slug: str) -> None:
    lab, text = lab_file.read(slug), handout(slug)
    plain = re.sub(r"\s+", " ", text.replace("`", ""))
    assert text.startswith(f"# Lab {slug[:2]}: {lab.question}\n")
    assert f"about {lab.minutes} minutes" in plain
    for objective in lab.objectives:
        assert f"- {objective}" in plain, objective
    for heading in HEADINGS:
        assert re.search(rf"^## .*{heading}", text, re.MULTILINE), heading


def sections(text: str) -> list[tuple[str, str, float]]:
    """The numbered sections of a text: each heading, whether it is core or more, and its minutes."""
    parts = re.split(r"^## ([0-9]+ .+)$", text, flags=re.MULTILINE)[1:]
    found = []
    for heading, body in zip(parts[::2], parts[1::2], strict=True):
        mark = re.match(r"\s*\*(Core|More), ([0-9]+) minutes\*$", body, re.MULTILINE)
        found.append((heading, mark[1] if mark else "", float(mark[2]) if mark else 0.0))
    return found


@pytest.mark.parametrize("slug", SLUGS)
def test_handout_and_notebook_are_one_path_whose_core_has_the_minutes_of_the_lab(slug: str) -> None:
    texts = [cell.source for cell in notebook_cells(slug) if cell.cell_type == "markdown"]
    path = sections(handout(slug))
    assert sections("\n".join(texts)) == path
    assert all(kind for heading, kind, _ in path if not heading.endswith("The questions"))
    core = sum(minutes for _, kind, minutes in path if kind == "Core")
    assert core == lab_file.read(slug).minutes


def prose(text: str) -> str:
    """What every learner reads of a text: no code, no tables, no sections for more or to look something up."""
    text = re.sub(r"^```.*?^```$|^\|.*?$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)  # of a link, what it shows
    first, *rest = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    read = [
        body
        for heading, body in zip(rest[::2], rest[1::2], strict=True)
        if not heading.endswith(TO_LOOK_UP) and not body.lstrip().startswith("*More")
    ]
    return "".join([first, *read])


def reading_ease(text: str) -> float:
    """Flesch's reading ease. Each group of vowels is a syllable, a silent e too: rather too low than too high."""
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:-|\d\.) )", text)  # paragraphs and items of lists
    sentences = [
        part
        for block in blocks
        for part in re.split(r"(?<=[.!?])\W*\s", block)
        if re.search(r"[a-z]", part)
    ]
    words = re.findall(r"[a-z']+", text.lower())
    syllables = sum(len(re.findall(r"[aeiouy]+", word)) or 1 for word in words)
    return 206.835 - 1.015 * len(words) / len(sentences) - 84.6 * syllables / len(words)


@pytest.mark.parametrize("slug", SLUGS)
def test_what_a_learner_reads_of_a_lab_is_short_and_easy(slug: str) -> None:
    cells = [cell.source for cell in notebook_cells(slug) if cell.cell_type == "markdown"]
    both = prose(handout(slug)), prose("\n\n".join(cells))
    words = [word for text in both for word in text.split() if re.search(r"\w", word)]
    print(f"{slug}: {len(words)} words, reading ease {reading_ease(both[0]):.1f}")
    assert MOST_WORDS / 2 < len(words) <= MOST_WORDS
    assert reading_ease(both[0]) >= LEAST_EASE


CUT = re.compile(r"^\| (\d\d) \| ([\d, ]+) \| (\d+) \|", re.MULTILINE)


def test_the_guides_sections_for_50_minutes_are_core_and_take_what_it_says() -> None:
    cuts = CUT.findall((ROOT / "docs" / "instructor.md").read_text())
    assert [lab for lab, _, _ in cuts] == [slug[:2] for slug in SLUGS]
    for slug, (_, numbers, minutes) in zip(SLUGS, cuts, strict=True):
        of = {title.split()[0]: (kind, time) for title, kind, time in sections(handout(slug))}
        taken = [of[number] for number in numbers.split(", ")]
        assert {kind for kind, _ in taken} == {"Core"}, slug
        assert sum(time for _, time in taken) == float(minutes) <= 50, slug
