"""Notebooks changed at random, as editors, transfers and pranks change them; a seed gives the same ones again."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.gold.case import Case
from tests.gold.hand_in import file_name
from tests.gold.labs import LABS

# Of a value, whatever it was.
ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1e308,
    "",
    "text",
    [],
    {},
    [[]],
    {"a": {"b": None}},
    "\x00",
    "\ud7ff",
)
DEEP = 3000
Json = Any


@dataclass(frozen=True)
class Mutant:
    """A hand-in of the gold class whose notebook was changed by `changes`, one after the other."""

    case: Case
    changes: tuple[str, ...]
    seed: int

    def write(self, folder: Path) -> None:
        """Lay the hand-in out and change its notebook."""
        self.case.write(folder)
        path = folder / file_name(self.case.slug)
        path.write_bytes(self.changed(path.read_bytes()))

    def changed(self, content: bytes) -> bytes:
        """The notebook after all changes."""
        chance = random.Random(self.seed)
        notebook = json.loads(content)
        for name in self.changes:
            if name in OF_CELLS and isinstance(notebook.get("cells"), list):
                OF_CELLS[name](notebook, chance)
        text = json.dumps(notebook, indent=1)
        for name in self.changes:
            if name in OF_TEXT:
                text = OF_TEXT[name](text, chance)
        return text.encode("utf-8", errors="surrogatepass")


def mutants(number: int, seed: int = 1) -> Iterator[Mutant]:
    """So many mutants of the gold class: each a hand-in of some lab with one to three changes."""
    chance = random.Random(seed)
    cases = [case for gold in LABS for case in gold.cases()]
    names = [*OF_CELLS, *OF_TEXT]
    for place in range(number):
        # Every change comes, and after it others by chance.
        changes = [names[place % len(names)], *chance.choices(names, k=chance.randrange(3))]
        yield Mutant(cases[chance.randrange(len(cases))], tuple(changes), chance.getrandbits(32))


def _cell(notebook: Json, chance: random.Random) -> Json:
    cells = [cell for cell in notebook["cells"] if isinstance(cell, dict)]
    return chance.choice(cells) if cells else {}


def _odd(chance: random.Random, *more: Any) -> Json:
    # A copy: a later change may be made within it.
    return deepcopy(chance.choice([*ODD, *more]))


def _shuffle(notebook: Json, chance: random.Random) -> None:
    chance.shuffle(notebook["cells"])


def _drop(notebook: Json, chance: random.Random) -> None:
    for _ in range(chance.randrange(1, 6)):
        if notebook["cells"]:
            del notebook["cells"][chance.randrange(len(notebook["cells"]))]


def _double(notebook: Json, chance: random.Random) -> None:
    if notebook["cells"]:
        cell = json.loads(json.dumps(chance.choice(notebook["cells"])))
        notebook["cells"].insert(chance.randrange(len(notebook["cells"]) + 1), cell)


def _lose_metadata(notebook: Json, chance: random.Random) -> None:
    for cell in notebook["cells"]:
        if isinstance(cell, dict) and chance.random() < 0.3:
            cell["metadata"] = {}


def _odd_metadata(notebook: Json, chance: random.Random) -> None:
    _cell(notebook, chance)["metadata"] = _odd(chance)


def _odd_marks(notebook: Json, chance: random.Random) -> None:
    cell = _cell(notebook, chance)
    metadata = cell.setdefault("metadata", {})
    if isinstance(metadata, dict):
        marks = metadata.get("nbgrader")
        if isinstance(marks, dict) and marks:
            marks[chance.choice(sorted(marks))] = _odd(chance)
        else:
            metadata["nbgrader"] = _odd(chance)


def _same_ids(notebook: Json, chance: random.Random) -> None:
    cell_id = chance.choice(["the-same", "", "a" * 100, 7, None])
    for cell in notebook["cells"]:
        if isinstance(cell, dict):
            cell["id"] = cell_id


def _other_type(notebook: Json, chance: random.Random) -> None:
    _cell(notebook, chance)["cell_type"] = chance.choice(["markdown", "raw", "heading", "", 7])


def _odd_source(notebook: Json, chance: random.Random) -> None:
    _cell(notebook, chance)["source"] = _odd(chance, ["a\n", 1, None], ["x = 1\n"] * 50)


def _lose_part(notebook: Json, chance: random.Random) -> None:
    cell = _cell(notebook, chance)
    if cell:
        del cell[chance.choice(sorted(cell))]


def _nan_outputs(notebook: Json, chance: random.Random) -> None:
    said = chance.choice(["nan", "inf", "-inf", "1e999", "100", "NaN"])
    for cell in notebook["cells"]:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            data = {"text/plain": said, "application/json": float("nan")}
            result = {"output_type": "execute_result", "metadata": {}, "data": data}
            cell["outputs"] = [{**result, "execution_count": 1}]


def _odd_outputs(notebook: Json, chance: random.Random) -> None:
    _cell(notebook, chance)["outputs"] = _odd(chance, [{"output_type": "none"}], [1, 2])


def _nest(notebook: Json, chance: random.Random) -> None:
    deep: Json = {}
    for _ in range(chance.choice([10, 100, 400])):
        deep = {"a": [deep]}
    notebook.setdefault("metadata", {})
    if isinstance(notebook["metadata"], dict):
        notebook["metadata"]["deep"] = deep


def _odd_cell(notebook: Json, chance: random.Random) -> None:
    notebook["cells"].insert(chance.randrange(len(notebook["cells"]) + 1), _odd(chance))


def _odd_part(notebook: Json, chance: random.Random) -> None:
    parts = ["cells", "metadata", "nbformat", "nbformat_minor"]
    notebook[chance.choice(parts)] = _odd(chance)


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text))]


def _flip(text: str, chance: random.Random) -> str:
    """A mark of JSON lost or another one in its place."""
    marks = [place for place, mark in enumerate(text) if mark in '{}[]",:']
    place = chance.choice(marks) if marks else 0
    return text[:place] + chance.choice(["", ",", "}", '"', "\x00", "\ufeff"]) + text[place + 1 :]


def _bracket(text: str, chance: random.Random) -> str:
    return chance.choice(["[", '{"a":']) * DEEP + text


def _tail(text: str, chance: random.Random) -> str:
    return text + chance.choice([text, "<<<<<<< HEAD\n", "\x00" * 10, "}", "\n" * 1000])


def _surrogate(text: str, chance: random.Random) -> str:
    place = chance.randrange(len(text)) if text else 0
    return text[:place] + "\ud800" + text[place:]


OF_CELLS: dict[str, Callable[[Json, random.Random], None]] = {
    "cells in another order": _shuffle,
    "cells lost": _drop,
    "a cell twice": _double,
    "metadata lost": _lose_metadata,
    "metadata of an odd type": _odd_metadata,
    "marks of an odd type": _odd_marks,
    "the same id": _same_ids,
    "another cell type": _other_type,
    "a source of an odd type": _odd_source,
    "a part of a cell lost": _lose_part,
    "NaN in outputs": _nan_outputs,
    "outputs of an odd type": _odd_outputs,
    "a deep nest": _nest,
    "a cell of an odd type": _odd_cell,
    "a part of an odd type": _odd_part,
}
OF_TEXT: dict[str, Callable[[str, random.Random], str]] = {
    "cut off": _cut,
    "a mark of JSON lost": _flip,
    "brackets in front": _bracket,
    "something behind": _tail,
    "half a letter": _surrogate,
}
