"""The learner's heat program: where its files lie, and which of its functions are the learner's own.

heat.py grows from lab to lab: each brings stubs of functions, under a heading of its own. Who has skipped a lab gets
its functions given. They are recognised by their code, whatever is changed in their comments and in the names of their
variables.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from beowulf import paths
from beowulf.errors import LabError, UsageError

ORIGINALS = paths.root() / "labs" / "heat"
FILE, STEP_C, OVERLAP_C = "heat.py", "heat_step.c", "heat_overlap.c"
RUN, PARTS = "run_heat.py", ("heat_tasks.py", "heat_checks.py")
LAID_OUT = (STEP_C, OVERLAP_C, "run_heat.h", RUN, *PARTS)
FUNCTIONS = {
    2: ("step_loops", "step_numpy"),
    3: ("my_rows", "run"),
    4: ("exchange_send_first", "exchange_nonblocking"),
    5: ("overlapped_step",),
}
IN_C = {"heat_step": STEP_C, "overlapped": OVERLAP_C}
LAST_LAB = 9
HEADING = re.compile(r"^# ---- Lab (\d\d)", re.MULTILINE)
# One without an end goes on to the end of the text: looking for it again from each place would take forever.
COMMENT_IN_C = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
NAME_IN_C = re.compile(r"[A-Za-z_]\w*")
MOST_SOURCE = 20_000  # letters of it that a Record keeps
UNWRITTEN = "it is not written yet"


@dataclass(frozen=True)
class Function:
    """One function of the learner's, as a Record keeps it."""

    name: str
    source: str = ""
    given: bool = False  # its code is that of the course
    why: str = ""  # it cannot be run

    def facts(self) -> dict[str, Any]:
        """What a Record says of it."""
        digest = hashlib.sha256(self.source.encode()).hexdigest() if self.source else ""
        return {"source": self.source[:MOST_SOURCE], "sha256": digest, "given": self.given}


def folder() -> Path:
    """Where the learner's heat program lies: beside the folder of the lab that they are in."""
    here = paths.here()
    return here if here.name == ORIGINALS.name else here.parent / ORIGINALS.name


def lay_out(place: Path) -> None:
    """Copy what is given of the program to where the learner works; what is there already stays."""
    place.mkdir(parents=True, exist_ok=True)
    for name in LAID_OUT:
        if not (place / name).exists():
            write(place / name, _original(name))


def write(file: Path, text: str) -> None:
    """Write the learner's file whole or not at all."""
    part = file.with_name(f"{file.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(file)


def read(file: Path) -> str:
    """The text of the learner's heat.py; LabError when there is none, or it is no Python."""
    try:
        text = file.read_text(encoding="utf-8")
        ast.parse(text)
    except OSError:
        raise LabError(
            f"There is no {file.name} in {file.parent}.",
            "`lab.heat.start(LAB)` writes one, for example `lab.heat.start(3)`.",
        ) from None
    except SyntaxError as problem:
        raise LabError(
            f"{file}, line {problem.lineno}: {problem.msg}.", "Fix it and save it."
        ) from None
    except ValueError as problem:
        raise LabError(f"{file} cannot be read as Python: {problem}.", "Fix it.") from None
    return text


def composed(lab: int) -> str:
    """heat.py as it is at the beginning of a lab: what came before is given, the lab's own functions are stubs."""
    stubs, given = sections(_original(FILE)), sections(_original("given.py"))
    text = stubs[0]
    for number in FUNCTIONS:
        if number <= lab:
            text += given[number] if number < lab else stubs[number]
    return text.rstrip("\n") + "\n"


def sections(text: str) -> dict[int, str]:
    """The text under each lab's heading; under 0 what comes before the first one."""
    headings = list(HEADING.finditer(text))
    ends = [match.start() for match in headings[1:]] + [len(text)]
    found = {0: text[: headings[0].start()] if headings else text}
    for match, end in zip(headings, ends, strict=True):
        found[int(match[1])] = text[match.start() : end].rstrip("\n") + "\n\n\n"
    return found


def added(text: str, lab: int) -> str:
    """The learner's text, with the stubs of a lab behind it where it has none of that lab's functions.

    They replace what was given because a later lab came first.
    """
    if lab not in FUNCTIONS:
        return text
    stubs = sections(_original(FILE))[lab].rstrip("\n")
    given = sections(_original("given.py"))[lab].rstrip("\n")
    if given in text:
        return text.replace(given, stubs)
    if set(FUNCTIONS[lab]) & set(defined(text)):
        return text
    return text.rstrip("\n") + "\n\n\n" + stubs + "\n"


def defined(text: str) -> dict[str, ast.FunctionDef]:
    """The functions that a text defines at its top level, the last of each name."""
    return {each.name: each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)}


def function(text: str, name: str) -> Function:
    """What is to be said of one function of the learner's text, before it is run."""
    found = defined(text).get(name)
    if found is None:
        return Function(name, why=f"there is no function {name}")
    source = ast.get_source_segment(text, found) or ""
    code = _code(found)
    given = code == _codes("given.py").get(name)
    if not _does_anything(found) or (code == _codes(FILE).get(name) and not given):
        return Function(name, source, why=UNWRITTEN)
    return Function(name, source, given)


def function_in_c(file: Path, name: str) -> Function:
    """The same of a file in C."""
    try:
        source = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return Function(name, why=f"there is no {file.name} in {file.parent}")
    same = _code_in_c(source) == _code_in_c(_original(IN_C[name]))
    # Lab 05's is right as it is given, without overlap, and can be measured.
    return Function(name, source, same, UNWRITTEN if same and name == "heat_step" else "")


def is_own(name: str, source: str) -> bool:
    """Whether the source in a Record is a function of this name, neither a stub nor the course's."""
    if name in IN_C:
        given = _code_in_c(_original(IN_C[name]))
        return f"{name}(" in bare_c(source) and _code_in_c(source) != given
    try:
        found = function(source, name)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return bool(found.source) and not found.given and not found.why


def bare_c(source: str) -> str:
    """C without comments and white space."""
    return re.sub(r"\s+", "", COMMENT_IN_C.sub(" ", source))


def _code_in_c(source: str) -> str:
    """C as bare_c() gives it, each name replaced by its number in the order in which the names first appear."""
    numbers: dict[str, int] = {}
    return bare_c(
        NAME_IN_C.sub(
            lambda found: f"@{numbers.setdefault(found[0], len(numbers))}@",
            COMMENT_IN_C.sub(" ", source),
        )
    )


def lab_number(lab: int | str) -> int:
    """The number of a lab: 3, "03" or "03-parallel-benchmarks"; UsageError for another."""
    head = str(lab).partition("-")[0]
    number = int(head) if head.isascii() and head.isdigit() else 0
    if not min(FUNCTIONS) <= number <= LAST_LAB:
        raise UsageError(
            f"The heat program is in labs {min(FUNCTIONS):02} to {LAST_LAB:02}, not in {lab!r}."
        )
    return number


def _does_anything(found: ast.FunctionDef) -> bool:
    """Whether there is more in a function than a docstring, `...`, `pass` and bare returns."""
    return any(
        not (
            isinstance(each, ast.Pass)
            or (isinstance(each, ast.Return) and each.value is None)
            or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        )
        for each in found.body
    )


def _code(found: ast.FunctionDef) -> str:
    """The code of a function without its docstring and its types; the names that it binds itself are numbered."""
    renamed = copy.deepcopy(found)
    nodes = list(ast.walk(renamed))
    names = [each for each in nodes if isinstance(each, ast.Name)]
    bound = {each.id for each in names if isinstance(each.ctx, ast.Store)}
    numbers: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.arg):
            bound.add(node.arg)
            node.arg, node.annotation = numbers.setdefault(node.arg, str(len(numbers))), None
    for name in names:
        if name.id in bound:
            name.id = numbers.setdefault(name.id, str(len(numbers)))
    body = renamed.body[1:] if ast.get_docstring(found) is not None else renamed.body
    return ast.dump(renamed.args) + "".join(map(ast.dump, body))


@cache
def _codes(name: str) -> dict[str, str]:
    return {each: _code(found) for each, found in defined(_original(name)).items()}


@cache
def _original(name: str) -> str:
    return (ORIGINALS / name).read_text(encoding="utf-8")
