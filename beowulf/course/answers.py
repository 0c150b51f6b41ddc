"""A learner's answers: read from the text of their cells, and held against the form that is asked for.

Notebook, `beowulf check` and grading read them by `Reading` and judge their form by `fault`, so that they say the same.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator
from numbers import Real
from typing import Any

from beowulf.course.constants import HOLDERS, RUN, CannotBeReadError, Constants, is_number, refuse
from beowulf.errors import Sentence

LONGEST_CELL, MOST_LINES = 40_000, 2_000  # characters and lines of a cell

_MAGIC = re.compile(r"(?m)^[ \t]*[!%].*$")
_CELL_MAGIC = re.compile(r"\s*%%(?!time\b|capture\b)")
_COMMA = re.compile(r"\d,\d")
_AUGMENTED = re.compile(r"\w+\s*(\*\*|//|<<|[-+*/%])=")
_OWN_NAMES = (
    *(ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
# A name that is assigned, its value, and in a sentence why that cannot be read: "" where it can.
_Outcome = tuple[str, Any, str]


class NoPythonError(ValueError):
    """A cell that is not Python, or too long; the message is what follows "The cell "."""


class NotAnAnswerError(Sentence, AssertionError):
    """An answer has not the required form."""


def word(value: object) -> str:
    """An answer as a text in small letters with single blanks, as rubrics compare it; "" when it is no text."""
    return " ".join(value.lower().split()) if isinstance(value, str) else ""


def as_written(value: object, longest: int = 200) -> str:
    """A learner's value as text: not 0.30000000000000004, and cut where it is too long to read."""
    text = f"{value:.9g}" if isinstance(value, float) else repr(value)
    return _short(text, longest)


class Reading:
    """The names that cells assign, in their order: each with its value, or with a sentence why it cannot be read.

    What is read is constants (`Constants`): nothing is run.
    """

    def __init__(self, cells: Iterable[str] = ()) -> None:
        self._constants = Constants()
        self.values = self._constants.values
        self.unread: dict[str, str] = {}
        for source in cells:
            try:
                self.cell(source)
            except NoPythonError:  # of a cell that failed
                continue

    def cell(self, source: str) -> list[str]:
        """Read one more cell; the names that it assigns. NoPythonError, and nothing is read, where it is no Python."""
        tree, lines = _parsed(source)
        assigned: list[str] = []
        for statement in () if _CELL_MAGIC.match(source) else tree.body:  # %%px runs elsewhere
            for name, value, why in list(self._outcomes(statement, lines)):
                assigned.append(name)
                self.values.pop(name, None)
                self.unread.pop(name, None)
                if why:
                    self.unread[name] = why
                else:
                    self.values[name] = value
        return assigned

    def written(self, name: str) -> str:
        """What a name was assigned, in one spelling; "" for one that is assigned nowhere."""
        return repr(self.values[name]) if name in self.values else self.unread.get(name, "")

    def _outcomes(self, statement: ast.stmt, lines: list[bytes]) -> Iterator[_Outcome]:
        """What a statement assigns."""
        match statement:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from self._assigned(target, value, lines)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield from self._assigned(target, value, lines)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                both = ast.BinOp(ast.Name(name, ast.Load()), op, value)
                yield from self._assigned(target, ast.copy_location(both, statement), lines)
            case _ if not isinstance(statement, _DEFINED):
                yield from self._changed(statement, lines)

    def _assigned(
        self, target: ast.expr, expression: ast.expr, lines: list[bytes]
    ) -> Iterator[_Outcome]:
        """What one target of an assignment gets, part by part where there are as many on both sides."""
        match target, expression:
            case (
                ast.Tuple(elts=targets) | ast.List(elts=targets),
                ast.Tuple(elts=parts) | ast.List(elts=parts),
            ) if len(targets) == len(parts):
                for each, part in zip(targets, parts, strict=True):
                    yield from self._assigned(each, part, lines)
                return
            case ast.Attribute() | ast.Subscript(), _:
                yield from self._changed(target, lines)
                return
        try:
            found = list(_unpacked(target, self._constants.value(expression)))
        except CannotBeReadError as problem:
            text = _short(_segment(lines, expression))
            for name in _stored(target):
                begins = "" if _AUGMENTED.match(text) else f"{name} = "
                yield name, None, f"{begins}{text}, {problem}"
        else:
            yield from ((name, value, "") for name, value in found)

    def _changed(self, node: ast.AST, lines: list[bytes]) -> Iterator[_Outcome]:
        """The names that anything but an assignment sets, and the lists and dicts that it may change."""
        for name in {*_stored(node), *self._reached_into(node)}:
            first = _short(_segment(lines, node).partition("\n")[0])
            yield name, None, f"{name} is set by `{first}`, {RUN}"

    def _reached_into(self, node: ast.AST) -> Iterator[str]:
        for each in ast.walk(node):
            match each:
                case (
                    ast.Attribute(value=ast.Name(id=name))
                    | ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del())
                ) if isinstance(self.values.get(name), HOLDERS):
                    yield name


def _unpacked(target: ast.expr, value: Any) -> Iterator[tuple[str, Any]]:
    """The names of a target, each with its part of a value."""
    match target:
        case ast.Name(id=name):
            yield name, value
        case ast.Tuple(elts=targets) | ast.List(elts=targets) if isinstance(value, list | tuple):
            if len(targets) != len(value):
                refuse()
            for each, part in zip(targets, value, strict=True):
                yield from _unpacked(each, part)
        case _:
            refuse()


def _stored(node: ast.AST) -> Iterator[str]:
    """The names that a statement sets or deletes where it is, and not within a function of its own."""
    left = [node]
    while left:
        each = left.pop()
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store | ast.Del):
            yield each.id
        if not isinstance(each, _OWN_NAMES):
            left.extend(ast.iter_child_nodes(each))


def _parsed(source: str) -> tuple[ast.Module, list[bytes]]:
    """A cell as Python, and its lines; those for a shell or for IPython are none of Python."""
    if len(source) > LONGEST_CELL:
        raise NoPythonError(
            f"cannot be read as Python (it has more than {LONGEST_CELL:,} characters)."
        )
    if source.count("\n") > MOST_LINES:
        raise NoPythonError(f"cannot be read as Python (it has more than {MOST_LINES:,} lines).")
    problem: Exception | None = None
    for text in (source, _MAGIC.sub("", source)):
        try:
            return ast.parse(text), text.encode().splitlines(keepends=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as found:
            problem = found
    raise NoPythonError(_no_python(source, problem)) from None


def _no_python(source: str, problem: Exception | None) -> str:
    lines = source.split("\n")
    number = getattr(problem, "lineno", None) or 0
    if not 0 < number <= len(lines):
        return f"cannot be read as Python ({problem})."
    line = lines[number - 1].strip()
    said = f"cannot be read as Python (line {number}, `{_short(line)}`: {getattr(problem, 'msg', '')})."
    if _COMMA.search(line):
        return f"{said} Write a number with a point, not with a comma."
    return f"{said} Write a number alone, such as 16.07, or a text in quotes."


def _segment(lines: list[bytes], node: Any) -> str:
    """The source of a part: ast.get_source_segment would split the whole cell for each."""
    last = (node.end_lineno or node.lineno) - 1
    part = lines[node.lineno - 1 : last + 1]
    part[-1] = part[-1][: node.end_col_offset]
    part[0] = part[0][node.col_offset :]
    return b"".join(part).decode(errors="replace")


def _short(text: str, longest: int = 80) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def asked(source: str) -> dict[str, str]:
    """The answers that a cell asks for as `lab.form(answer, "number")`, each with its kind; 1.0.0 had no `lab.`."""
    found = {}
    try:
        tree, _ = _parsed(source)
    except NoPythonError:
        return {}
    for each in ast.walk(tree):
        match each:
            case ast.Call(
                func=ast.Attribute(attr=form.__name__) | ast.Name(id=form.__name__),
                args=[ast.Name(id=name), ast.Constant(value=str(kind))],
            ):
                found[name] = kind
    return found


def fault(value: object, kind: str) -> str:
    """What is wrong with the form of an answer, in sentences; "" when nothing is.

    `kind` is text, number, node (such as "node02"), choice:a,b,c, or number or WORDS.
    """
    if value is None or value is Ellipsis:
        return "This answer is still empty."
    value = _plain(value)
    kind, _, words = kind.partition(" or ")
    shown, text = as_written(value), word(value)
    if kind == "number":
        if is_number(value) or (text and text == words):
            return ""
        also = f', or "{words}"' if words else ""
        said = f"The answer is a number, such as 3 or 0.25{also}, not {shown}."
        return f"{said} {number_hint(value)}".rstrip()
    if not text:
        return f"The answer is a text in quotes, not {shown}."
    if kind == "node" and not re.fullmatch(r"node\d\d", text):
        return f'The answer is the name of a node, such as "node02", not {shown}.'
    if kind.startswith("choice:"):
        choices = kind.removeprefix("choice:").split(",")
        if text not in [choice.lower() for choice in choices]:
            return f"The answer is one of {', '.join(choices)}, not {shown}."
    return ""


def number_hint(value: object) -> str:
    """How to write what is no number, but was meant as one; "" where that cannot be seen."""
    if isinstance(value, tuple):
        return "A comma begins another value: write 1.5 with a point, and 12000 without a comma."
    if isinstance(value, str) and _COMMA.search(value):
        return "Write it with a point, not with a comma, and without quotes."
    if isinstance(value, str) and re.search(r"\d", value):
        return "Write the number alone: without quotes, words and units."
    return ""


def form(value: object, kind: str) -> None:
    """Say in a NotAnAnswerError what is wrong with the form of an answer; whether it is right is not checked here.

    `kind` is as in `fault`. Where grading cannot read from the cells what the kernel has computed, a line says so.
    """
    if problem := fault(value, kind):
        raise NotAnAnswerError(problem)
    for line in _read_otherwise(value):
        print(line)


def ran() -> Reading:
    """What the cells of this notebook assigned since its kernel started, in the order in which they ran."""
    return Reading(_cells(_shell()))


def _shell() -> Any:
    from IPython.core.getipython import get_ipython

    return get_ipython()


def _cells(shell: Any) -> list[str]:
    return [str(source) for source in shell.user_ns.get("In", ())] if shell else []


def _read_otherwise(value: Any) -> Iterator[str]:
    """What to write where this cell of a notebook asks for an answer that its text does not give."""
    shell = _shell()
    names = [
        name for name in asked((_cells(shell) or [""])[-1]) if shell.user_ns.get(name) is value
    ]
    reading = ran() if names else Reading()
    plain = _plain(value)
    for name in names:
        if not _is_same(reading.values.get(name), plain):
            why = (
                reading.unread.get(name)
                or f"{name} is read as {reading.written(name) or 'nothing'}"
            )
            yield f"Grading reads answers and runs nothing: {why}. Here: {name} = {as_written(plain)}"


def _is_same(one: object, other: object) -> bool:
    if is_number(one) and is_number(other):
        return math.isclose(one, other, rel_tol=1e-6)  # as numpy's float32
    return one == other


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python."""
    return value.item() if isinstance(value, Real) and hasattr(value, "item") else value
