"""The value of a constant expression as a learner types one: computed from its text, within limits, and never run."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

LONGEST_TEXT = 10_000  # characters that are put together
DEEPEST = 100  # brackets and operators within each other
MOST_STEPS = 200_000  # parts of all expressions; a whole lab has some hundred
MOST_DIGITS = 300  # to which a number is rounded

RUN = "which cannot be read without running it: write the value itself"
NO_VALUE = "has no value that can be read: write the value itself"
RANGE = "a number out of range"
HOLDERS = (list, tuple, set, dict)
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_MODULES = ("np", "numpy", "math", "statistics")


class CannotBeReadError(Exception):
    """An expression that has no value here; the message is the end of a sentence that begins with its text."""


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a fact or an answer is a number to compute with; True, False and NaN are not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


class Constants:
    """Names with their values, and the values of expressions of them.

    Known are numbers, texts, lists and dicts, the operators of numbers, comparisons, and `FUNCTIONS`.
    """

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self._left = MOST_STEPS

    def value(self, expression: ast.expr) -> Any:
        """The value of an expression; CannotBeReadError where it has none."""
        try:
            return self._value(expression, 0)
        except OverflowError:
            raise CannotBeReadError(RANGE) from None
        except TypeError:  # in a kernel, too, or it is of a kind that is not known here
            raise CannotBeReadError(RUN) from None
        except (ArithmeticError, LookupError, ValueError) as problem:
            raise CannotBeReadError(f"which fails ({type(problem).__name__}: {problem})") from None

    def _value(self, expression: ast.expr, depth: int) -> Any:
        found = self._computed(expression, depth)
        self._left -= 1 + (len(found) // 10 if isinstance(found, str) else 0)
        if self._left < 0:
            refuse()
        if isinstance(found, int | float) and not abs(found) < 1e300:
            raise OverflowError
        return found

    def _computed(self, expression: ast.expr, depth: int) -> Any:
        if depth > DEEPEST:
            refuse()

        def part(each: ast.expr) -> Any:
            return self._value(each, depth + 1)

        def held(each: ast.expr) -> Any:
            # No name of a list within another list: doubled again and again, it would fill the memory.
            found = part(each)
            return (
                refuse()
                if isinstance(found, HOLDERS) and not isinstance(each, _DISPLAYS)
                else found
            )

        match expression:
            case ast.Constant(value=value) if not isinstance(value, bytes | complex):
                return value
            case ast.Name(id=name) if name in self.values:
                return self.values[name]
            case ast.Name(id=name):
                raise CannotBeReadError(f"in which `{name}` {NO_VALUE}")
            case ast.JoinedStr(values=parts) if all(isinstance(p, ast.Constant) for p in parts):
                return "".join(part(each) for each in parts)
            case ast.Tuple(elts=parts):
                return tuple(held(each) for each in parts)
            case ast.List(elts=parts):
                return [held(each) for each in parts]
            case ast.Set(elts=parts):
                return {held(each) for each in parts}
            case ast.Dict(keys=keys, values=parts):
                pairs = zip(keys, parts, strict=True)
                return {part(key) if key else refuse(): held(each) for key, each in pairs}
            case ast.Subscript(value=of, slice=index):
                return part(of)[part(index)]
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return part(body) if part(test) else part(orelse)
            case ast.Compare(left=left, ops=ops, comparators=others):
                values = [part(each) for each in (left, *others)]
                sides = zip(ops, values, values[1:], strict=False)
                return all(_COMPARED.get(type(op), _REFUSE)(*two) for op, *two in sides)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -_number(part(operand))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return _number(part(operand))
            case ast.BinOp(left=first, op=op, right=second):
                return _combined(op, part(first), part(second))
            case ast.Call(args=args, keywords=[]):
                values = [part(each) for each in args]
                self._left -= sum(len(each) for each in values if isinstance(each, HOLDERS))
                return FUNCTIONS.get(_called(expression), _REFUSE)(*values)
        return refuse()


def refuse(*_: Any) -> Any:
    """Say that something has to be run."""
    raise CannotBeReadError(RUN)


_REFUSE: Callable[..., Any] = refuse


def _called(call: ast.Call) -> str:
    """The last name of a function; "" for a method of a value."""
    match call.func:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=module), attr=name) if module in _MODULES:
            return name
    return ""


def _number(value: Any) -> Any:
    return value if is_number(value) else refuse()


def _numbers(*values: Any) -> list[Any]:
    """The numbers of one list, or these numbers; at least one."""
    many = values[0] if len(values) == 1 and isinstance(values[0], list | tuple | set) else values
    return [_number(each) for each in many] or refuse()


def _combined(op: ast.operator, first: Any, second: Any) -> Any:
    """Two numbers by an operator, or two texts put together."""
    if isinstance(first, str) and isinstance(second, str) and isinstance(op, ast.Add):
        return first + second if len(first) + len(second) <= LONGEST_TEXT else refuse()
    return _ARITHMETIC.get(type(op), _REFUSE)(_number(first), _number(second))


def _power(base: float, exponent: float) -> float:
    """By floating point, in which 9 ** 9 ** 9 fails at once; a whole number where it is exact."""
    power = math.pow(base, exponent)
    whole = isinstance(base, int) and isinstance(exponent, int) and exponent >= 0
    return int(power) if whole and abs(power) < 2**53 else power


def _round(value: Any, digits: Any = 0) -> Any:
    few = isinstance(digits, int) and abs(digits) <= MOST_DIGITS
    return round(_number(value), digits) if few else refuse()


def _median(*values: Any) -> Any:
    ordered = sorted(_numbers(*values))
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def _of(function: Callable[[Any], Any], *kinds: type) -> Callable[[Any], Any]:
    """The function of one number, or of a value of one of these kinds."""
    return lambda value: function(value if isinstance(value, kinds) else _number(value))


def _of_all(function: Callable[[Any], Any]) -> Callable[..., Any]:
    """The function of the numbers of a list, or of these numbers."""
    return lambda *values: function(_numbers(*values))


_ARITHMETIC: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
    ast.LShift: lambda number, places: number * _power(2, places),
}
_COMPARED: dict[type[ast.cmpop], Callable[..., Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ONE = (abs, math.sqrt, math.exp, math.log2, math.log10, math.floor, math.ceil)
# By their last name: `np.float64`, `math.sqrt` and `statistics.median` as well as `sqrt`.
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys(("float", "float64", "float32"), _of(float, str)),
    **dict.fromkeys(("int", "int64", "int32"), _of(int, str)),
    **dict.fromkeys(("str", "str_"), _of(str, str)),
    **dict.fromkeys(("list", "tuple", "array"), _of(list, list, tuple)),
    **dict.fromkeys(("mean", "fmean", "average"), _of_all(lambda many: sum(many) / len(many))),
    **{each.__name__: _of(each) for each in _ONE},
    "log": lambda value, *base: math.log(*map(_number, (value, *base))),
    "pow": lambda base, exponent: _power(_number(base), _number(exponent)),
    "round": _round,
    "len": _of(len, str, *HOLDERS),
    "median": _median,
    **{each.__name__: _of_all(each) for each in (min, max, sum, sorted)},
}
