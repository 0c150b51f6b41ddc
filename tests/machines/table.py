"""What came out on each machine, kept in build/machines, and written into docs/machines.md as a table.

python -m tests.machines.table writes the table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from tests.machines.userland import FOLDER, ROOT, SUITES, Suite

KEPT = FOLDER / "results.json"
PAGE = ROOT / "docs" / "machines.md"
BEGIN, END = "<!-- written by `make machines` -->\n", "<!-- end -->"
HEAD = {
    "root": "as root",
    "learner": "as an ordinary user",
    "container": "in a container without namespaces",
}


def keep(suite: Suite, way: str, steps: Iterable[Mapping[str, Any]], when: datetime) -> None:
    """Remember the steps that were taken on a machine."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    kept.setdefault(suite.name, {})[way] = {"steps": list(steps), "when": when.isoformat()}
    KEPT.write_text(json.dumps(kept, indent=1))


def rows(kept: Mapping[str, Any]) -> list[str]:
    """The table's lines."""
    lines = [f"| system | {' | '.join(HEAD.values())} |", "| --- |" + " --- |" * len(HEAD)]
    for suite in SUITES:
        cells = [_cell(kept.get(suite.name, {}).get(way)) for way in HEAD]
        lines.append(f"| {suite.title} | {' | '.join(cells)} |")
    return lines


def _cell(result: Mapping[str, Any] | None) -> str:
    if result is None:
        return "not tried"
    steps = result["steps"]
    failed = [step["step"] for step in steps if step["failure"]]
    if failed:
        return f"fails: {', '.join(failed)}"
    (lab,) = [step["seconds"] for step in steps if step["step"] == "make lab"]
    return f"JupyterLab after {lab:.0f} s; {len(steps)} steps of {len(steps)}"


def write() -> None:
    """Put the table into docs/machines.md."""
    text = PAGE.read_text(encoding="utf-8")
    lines = "\n".join(rows(json.loads(KEPT.read_text())))
    pattern = re.escape(BEGIN) + ".*?" + re.escape(END)
    PAGE.write_text(
        re.sub(pattern, f"{BEGIN}\n{lines}\n\n{END}", text, flags=re.DOTALL), encoding="utf-8"
    )


if __name__ == "__main__":
    write()
