"""Hand-ins of a lab with values that no measurement and no answer is; a seed gives the same ones again."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbformat.v4 import new_code_cell, new_notebook

from tests.gold.labs import Gold
from tests.gold.measured import as_handed_in

DEEP: Any = []
for _ in range(300):
    DEEP = [DEEP]
LONG = 100_000
# As JSON: texts on which a pattern would go back, numbers that overflow or vanish, values of every other type.
VALUES: tuple[str, ...] = (
    *("5e-324", "-5e-324", "1e308", "-1e308", "1e400", "NaN", "Infinity", "0", "-1"),
    *("1" + "0" * 30, "-1" + "0" * 300, "1" + "0" * 400, "9" * 5000),
    *("null", "true", "[]", "{}", "[[]]", "[null]", '{"a": null}', json.dumps(DEEP)),
    *('""', '"nan"', '"-"', '"a\\nb"', r'"\u001b[31m\u0007\u0000\u202e"', r'"\ud800"'),
    *(json.dumps(text * (LONG // len(text))) for text in ("x", "1", "A1-", "A1-00000000T", "/* ")),
)
# As an answer in words, or a comment.
TEXTS = (
    *("<script>1</script>\n\n![x](attachment:x.png)", "\x1b[31m\x07\u202e", ""),
    *("| a |\n|-|\n" * 5000, "[" * 20_000, "$" * 20_000, "=HYPERLINK(1)"),
    *("{% raw %}{{ 7 * 7 }}", "x" * LONG, "\ufffe\uffff"),
)
PARTS = ("points", "points", "points", "cluster", "circumstances", "program", "sweep", "captures")
# As a learner types them.
ANSWERS = (
    *("1e400", "-1e400", "5e-324", "0x" + "f" * 20_000, "[0x" + "f" * 9000 + "]", "1j", "None"),
    *("True", "''", "'\\x1b[31m\\x00'", "{}", "[[]]", "{1: [2]}"),
    *(repr("A1-" * 9000), "b'x'", "..."),
)


def replaced(lab: Gold, folder: Path, seed: int) -> Any:
    """Write the Records of a lab into `folder`, one value of each replaced; the notebook, every second answer so."""
    chance = random.Random(f"{lab.slug} {seed}")
    (folder / "records").mkdir(parents=True)
    for number, record in enumerate(lab.records()):
        plain = as_handed_in(record).as_plain()
        part = chance.choice(PARTS)
        places = [place for place in _places(plain[part], (part,)) if len(place) > 1] or [(part,)]
        path = folder / "records" / f"{record.study}-{number}.json"
        path.write_text(_with(plain, chance.choice(places), chance.choice(VALUES)))
    lines = [
        f"{name} = {chance.choice(ANSWERS) if chance.random() < 0.5 else repr(value)}"
        for name, value in lab.right.items()
    ]
    marks = {"nbgrader": {"grade_id": "answers", "solution": True}}
    return new_notebook(cells=[new_code_cell(line, metadata=marks) for line in lines])


def _places(value: Any, place: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield place
    listed = enumerate(value if isinstance(value, list) else ())
    for name, each in value.items() if isinstance(value, dict) else listed:
        yield from _places(each, (*place, name))


def _with(plain: Any, place: tuple[Any, ...], value: str) -> str:
    """The JSON of a Record with another value, which Python may not have, in one place."""
    holder = plain
    for name in place[:-1]:
        holder = holder[name]
    holder[place[-1]] = "THE-VALUE"
    return json.dumps(plain).replace('"THE-VALUE"', value, 1)
