"""The report as one HTML file that needs no other file, no network and no script; its JSON, and a picture to share."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from beowulf import papers
from beowulf.cluster.common.config import SIMULATED
from beowulf.errors import UsageError, with_commands
from beowulf.figures import MOST_ROWS, number_text, titled
from beowulf.record import GIVEN
from beowulf.report import content, found
from beowulf.verdict import HEADINGS, SYMBOLS, heading, with_place

HERE = Path(__file__).parent
TITLE = "Beowulf Labs: what I built and found"
MOST_WARNINGS = 20


@dataclass(frozen=True)
class Report:
    """A report's plain data, and its pictures by what they show."""

    content: content.Plain
    pictures: dict[str, str]

    def html(self) -> str:
        """The whole page; Jinja escapes whatever is put into it."""
        environment = Environment(
            loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined
        )
        environment.filters |= {
            "as_number": number_text,
            "as_moment": _moment,
            "counted": _counted,
            "how": _how,
            "titled": titled,
            "with_commands": _with_commands,
            "heading": heading,
            "with_place": with_place,
        }
        return environment.get_template("report.html").render(
            report=self.content,
            pictures=self.pictures,
            shared=content.SHARED,
            title=TITLE,
            symbols=SYMBOLS,
            letters=papers.letters(),
            headings=HEADINGS,
            most_rows=MOST_ROWS,
            most_warnings=MOST_WARNINGS,
        )

    def save(self, page: Path) -> list[Path]:
        """Write the page, beside it its data as JSON, and the picture to share."""
        twin, picture = page.with_suffix(".json"), page.with_suffix(".png")
        data = json.dumps(self.content, indent=1, ensure_ascii=False) + "\n"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(self.html(), encoding="utf-8")
        twin.write_text(data, encoding="utf-8")
        picture.write_bytes(base64.b64decode(self.pictures[content.SHARED]))
        return [page, twin, picture]


def make(folders: Sequence[Path]) -> Report:
    """The report on the Records in these folders, or on a learner's own."""
    return Report(*content.of(found.read(folders)))


def refuse(page: Path) -> None:
    """UsageError for a name that is not that of a page, or whose JSON or picture would overwrite something else."""
    if page.suffix != ".html":
        raise UsageError(f"A report is saved as .html, not as {page.name}.")
    twin, picture = page.with_suffix(".json"), page.with_suffix(".png")
    ours = twin.exists() and content.BEGINS.encode() in twin.read_bytes()[:100]
    for beside in (twin, picture):
        if beside.exists() and not ours:
            raise UsageError(
                f"{beside} is not a report, and would be overwritten.",
                "Choose another name for the page.",
            )


def _with_commands(text: str) -> Markup:
    """A sentence whose commands stand between backticks."""
    return Markup(with_commands(text))


def _moment(text: str) -> str:
    return datetime.fromisoformat(text).strftime("%Y-%m-%d %H:%M UTC")


def _counted(number: int, what: str, many: str = "") -> str:
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def _how(study: dict[str, Any]) -> str:
    """What is unusual about the Record of a study, in words."""
    given = study["variant"] == GIVEN
    those = {
        "given with the labs, not measured by you": given,
        "simulated, not measured": study["kind"] == SIMULATED,
        "quick": study["quick"],
        "cut short": not study["complete"],
        f"variant {study['variant']}": study["variant"] and not given,
    }
    return ", ".join(word for word, true in those.items() if true)
