"""What texts say of a lab's points, written from its lab.toml: nobody types a total, or a row of a table.

`make release` writes it into the handouts, the notebooks' sources and the syllabus, and a test compares; `beowulf class
release` writes it into a course's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

from autograder.rubrics import questions
from beowulf import paths
from beowulf.course import lab_file
from beowulf.course.lab_file import QuestionTable

TABLE = re.compile(
    r"(?<=^\| question \| points \| what is asked \|\n\| --- \| --- \| --- \|\n)(\|.*\n)+", re.M
)
# In a notebook, and in its source, where Markdown is behind `# `.
SECTION = re.compile(r"^(?:# )?## [0-9]+ .+\n#?\n(?:# )?\*(Core|More), [0-9]+ minutes\*$", re.M)
ROW = r"(?<=\]\(\.\./labs/{}/README\.md\) \| )(\S+) \| (\S+) \| \S+ \| \S+(?= \|$)"


def texts(sources: Mapping[str, Path]) -> dict[Path, str]:
    """Each text that names points, as it should be; `sources` are the sources of the labs' notebooks."""
    syllabus = paths.root() / "docs" / "syllabus.md"
    labs = {slug: source for slug, source in sources.items() if slug in paths.labs()}
    found = {syllabus: syllabus.read_text(encoding="utf-8")} if labs else {}
    for slug, source in labs.items():
        asked = lab_file.read(slug).questions
        total = f"{sum(each.points for each in asked.values()):g}"
        notebook = source.read_text(encoding="utf-8")
        by_kind = points_by_kind(notebook, asked)
        for file in (source, paths.labs()[slug] / "README.md"):
            found[file] = with_sums(file.read_text(encoding="utf-8"), by_kind, asked)
        person = f"{sum(each.points for name, each in asked.items() if name not in questions.scorers(slug)):g}"
        row = re.compile(ROW.format(re.escape(slug)), re.M)
        found[syllabus] = row.sub(rf"\1 | \2 | {total} | {person}", found[syllabus])
    return found


def with_sums(text: str, by_kind: Mapping[str, str], asked: Mapping[str, QuestionTable]) -> str:
    """A text with the points of these questions in all, those of core and more, and the table of the questions."""
    total = f"{sum(each.points for each in asked.values()):g}"
    text = re.sub(r"(?<=which have )[0-9.]+(?= points)", by_kind["Core"], text, count=1)
    text = re.sub(r"(?<=and have )[0-9.]+(?= · \*\*Points)", by_kind["More"], text, count=1)
    text = re.sub(r"(?<=\*\*Points\*\* )[0-9.]+", total, text, count=1)
    return TABLE.sub("".join(rows(asked.values())).replace("\\", r"\\"), text, count=1)


def points_by_kind(notebook: str, asked: Mapping[str, QuestionTable]) -> dict[str, str]:
    """How many points the questions of the notebook's core sections have, and those of the others."""
    parts = SECTION.split(notebook)
    sums = {"Core": 0.0, "More": 0.0}
    for kind, text in zip(parts[1::2], parts[2::2], strict=True):
        sums[kind] += sum(
            asked[name].points
            for name in re.findall(r"\*\*Question `(.+?)`\*\*", text)
            if name in asked
        )
    return {kind: f"{points:g}" for kind, points in sums.items()}


def rows(asked: Iterable[QuestionTable]) -> list[str]:
    """The lines of a handout's table: a line for each question, or for neighbours that ask the same."""
    lines = []
    for (points, asks), same in groupby(asked, lambda each: (each.points, each.asks)):
        names = [f"`{each.name}`" for each in same]
        each_has = f"{points:g} each" if len(names) > 1 else f"{points:g}"
        lines.append(f"| {', '.join(names)} | {each_has} | {asks} |\n")
    return lines
