"""Is the syllabus true to the labs: minutes, prerequisites, and samples that fit what a question is worth?"""

from __future__ import annotations

import re

import pytest
from test_lab_texts import SLUGS, handout, sections

from beowulf import paths
from beowulf.course import lab_file

TEXT = (paths.root() / "docs" / "syllabus.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| \[(\d\d) (.+)\]\((.+)\) \| (.+) \| (.+) \| .+ \| .+ \|$", re.MULTILINE)
SAMPLE = re.compile(r"^> \*\*([\d.]+) points?\.\*\* ", re.MULTILINE)


def part(slug: str) -> str:
    """What the syllabus says of one lab."""
    title = lab_file.read(slug).title
    _, heading, rest = TEXT.partition(f"\n## Lab {slug[:2]}: {title}\n")
    assert heading, f"{slug} has no part"
    return rest.partition("\n## ")[0]


def plan(heading: str) -> list[str]:
    """The cells of a plan's weeks, row by row."""
    body = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| \d+ \| (.+) \|$", body, re.MULTILINE)


def test_the_table_has_each_labs_minutes() -> None:
    rows = ROW.findall(TEXT)
    assert [number for number, *_ in rows] == [slug[:2] for slug in SLUGS]
    for slug, (_, title, link, core, more) in zip(SLUGS, rows, strict=True):
        lab = lab_file.read(slug)
        assert (title, link) == (lab.title, f"../labs/{slug}/README.md")
        assert float(core) == lab.minutes
        assert float(more) == sum(
            time for _, kind, time in sections(handout(slug)) if kind == "More"
        )


@pytest.mark.parametrize("slug", SLUGS)
def test_a_lab_has_misconceptions_and_three_samples_from_all_points_to_few(slug: str) -> None:
    text = part(slug)
    wrong = re.findall(r"^\| \"(.+?)\" \| (.+) \|$", text, re.MULTILINE)
    assert len(wrong) >= 3
    worth = lab_file.read(slug).questions["explain"].points
    assert f"**`explain`, {worth:g} points.**" in text
    full, middling, poor = (float(points) for points in SAMPLE.findall(text))
    assert full == worth > middling > poor >= 0
    assert text.count("> *Why:*") == 3


def test_what_a_lab_builds_on_comes_before_it_in_every_plan() -> None:
    built_on = {
        slug[:2]: set(re.findall(r"\b0\d\b", " ".join(lab_file.read(slug).prerequisites)))
        for slug in SLUGS
    }
    weeks = plan("Six weeks")
    assert len(weeks) == 6
    courses = [[week.split(" | ")[column][:2] for week in weeks] for column in (0, 1)]
    twelve = [
        re.search(r"0\d", week.split(" | ")[0].partition(":")[0]) for week in plan("Twelve weeks")
    ]
    assert len(twelve) == 12
    courses.append(list(dict.fromkeys(week[0] for week in twelve if week)))
    assert courses[-1] == [slug[:2] for slug in SLUGS]
    for labs in courses:
        for place, lab in enumerate(labs):
            assert built_on[lab] <= set(labs[:place]), f"{lab} comes too early in {labs}"


@pytest.mark.parametrize("slug", SLUGS)
def test_the_homework_of_a_week_is_a_section_marked_more(slug: str) -> None:
    lines = [week for week in plan("Twelve weeks") if week.startswith(slug[:2])]
    kinds = {title.split()[0]: kind for title, kind, _ in sections(handout(slug))}
    named = re.findall(r"sections? ([\d, and]+)", lines[0].split(" | ")[1])
    numbers = [number for each in named for number in re.findall(r"\d+", each)]
    assert {kinds[number] for number in numbers} <= ({"Core"} if slug[:2] == "09" else {"More"})
