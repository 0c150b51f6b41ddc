"""The tokens of a learner's C: none that makes assembler, sections or other names, and no file but the usual headers.

The compiler copies some text unchecked into its assembler, such as the name of a section, and that may hold lines of
assembler. So these tokens are refused before it runs: in the text, and in what the preprocessor makes of it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NoReturn

from beowulf.errors import LabError

C_LIBRARY = (
    *("assert", "complex", "ctype", "errno", "float", "inttypes", "iso646", "limits", "math"),
    *("stdalign", "stdarg", "stdbool", "stddef", "stdint", "stdio", "stdlib", "stdnoreturn"),
    *("string", "tgmath", "time"),
)
HEADERS = frozenset({"stairs.h", "mpi.h", *(f"{name}.h" for name in C_LIBRARY)})
DIRECTIVES = frozenset(
    {"define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error"}
)
PRAGMAS = (["GCC", "diagnostic"], ["GCC", "unroll"], ["GCC", "ivdep"])
# Such names are the compiler's own; these are in plain C, or do no more than a number or a hint does.
RESERVED = re.compile(r"__\w*|_[A-Z]\w*")
USUAL = frozenset(
    {
        *("_Alignas", "_Alignof", "_Atomic", "_Bool", "_Complex", "_Generic", "_Noreturn"),
        *("_Static_assert", "__FILE__", "__FUNCTION__", "__GNUC__", "__LINE__", "__STDC__"),
        *("__STDC_VERSION__", "__extension__", "__func__", "__inline", "__inline__"),
        *("__restrict", "__restrict__", "__typeof__", "__builtin_expect"),
        *(
            f"__builtin_{name}{size}"
            for name in ("clz", "ctz", "ffs", "popcount")
            for size in ("", "l", "ll")
        ),
    }
)
# What no macro of a header may bring into the learner's lines either.
COMPILERS = frozenset({"asm", "__asm", "__asm__", "__attribute", "__attribute__"})
TRIGRAPHS = dict(zip("=/'()!<>-", "#\\^[]|{}~", strict=True))
TRIGRAPH, SPLICE = re.compile(r"\?\?([=/'()!<>-])"), re.compile(r"\\[ \t\v\f]*\n")
TOKEN = re.compile(
    r"""(?P<space>[ \t\v\f]+|/\*.*?(?:\*/|\Z)|//[^\n]*)|(?P<newline>\n)
    |(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<stray>["'][^\n]*|\\)
    |(?P<word>[^\W\d]\w*)|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
    |(?P<mark>\#\#|%:%:|%:|<:|.)""",
    re.DOTALL | re.VERBOSE,
)
HASH, PASTE, OPEN = ("#", "%:"), ("##", "%:%:"), ("[", "<:")
MARKER = re.compile(r'# (\d+) "((?:\\.|[^"\\])*)"([ \d]*)')


@dataclass(frozen=True)
class Token:
    """A piece of a text, the line on which it begins, and its kind: `word`, `string`, `number`, `mark`, or `stray`."""

    text: str
    line: int
    kind: str


def check(text: str, name: str) -> None:
    """LabError for a text of C, called `name`, with a directive, an #include or a word that is not allowed."""
    if "\r" in text.replace("\r\n", "\n") or "\0" in text:
        raise LabError(f"{name} has characters that do not belong in a text file.")
    lines = list(_lines(text))
    for line in lines:
        if line[0].text in HASH:
            _check_directive(line, name)
    _check_words((token for line in lines for token in line), name)


def check_preprocessed(text: str, name: str) -> None:
    """LabError where the preprocessor made such a word of the lines of the file `name`."""
    _check_words(_from_file(text, name), name)


def _check_directive(line: list[Token], name: str) -> None:
    words = [token.text for token in line[1:]]
    what, rest = (words[0], words[1:]) if words else ("", [])
    if what == "include":
        file = "".join(rest)
        if file[:1] + file[-1:] not in ("<>", '""') or file[1:-1] not in HEADERS:
            raise LabError(
                f"{name} has #include {file[:60]} in line {line[0].line}, which is not allowed here.",
                f"It may include stairs.h, mpi.h, and from the C library: {', '.join(C_LIBRARY)}.",
            )
    elif what == "pragma":
        if rest[:2] not in PRAGMAS:
            _refuse(f"#pragma {' '.join(rest)[:60]}", line[0], name)
    elif what and what not in DIRECTIVES:
        _refuse(f"#{what}", line[0], name)
    for token in line:
        # It makes words that are nowhere in the text.
        if token.text in PASTE:
            _refuse(token.text, token, name)


def _check_words(tokens: Iterable[Token], name: str) -> None:
    before = ""
    for token in tokens:
        if token.kind == "word":
            if token.text == "asm" or (RESERVED.fullmatch(token.text) and token.text not in USUAL):
                _refuse(token.text, token, name)
        elif token.text in OPEN and before in OPEN:
            _refuse("an attribute [[", token, name)
        elif token.kind == "stray":
            _refuse(f"a stray {token.text[0]}", token, name)
        before = token.text


def _refuse(what: str, token: Token, name: str) -> NoReturn:
    raise LabError(
        f"{name} has {what} in line {token.line}: it must be plain C.",
        "Names with two underscores in front, or with one and a capital letter, are the compiler's own.",
    )


def _lines(text: str) -> Iterator[list[Token]]:
    """The tokens of each line that is not empty, as the compiler sees lines."""
    line: list[Token] = []
    for token in _tokens(text):
        if token.kind != "newline":
            line.append(token)
        elif line:
            yield line
            line = []
    if line:
        yield line


def _tokens(text: str) -> Iterator[Token]:
    """Tokens without space and comments; trigraphs are replaced, and lines that end with a backslash joined, before."""
    replaced = TRIGRAPH.sub(lambda found: TRIGRAPHS[found[1]], text.replace("\r\n", "\n"))
    parts, starts = list[str](), [0]  # of each line, where it begins in the joined text
    for part in re.split(r"(?<=\n)", replaced):
        joined = SPLICE.sub("", part)
        parts.append(joined)
        starts.append(starts[-1] + len(joined))
    for found in TOKEN.finditer("".join(parts)):
        if found.lastgroup != "space":
            line = bisect_right(starts, found.start())
            yield Token(found[0], line, str(found.lastgroup))


def _from_file(text: str, name: str) -> Iterator[Token]:
    """The tokens that the preprocessor made of the file's lines; of headers' macros there, those of COMPILERS alone."""
    ours, of_header, number = False, False, 0
    for line in text.split("\n"):
        if marker := MARKER.fullmatch(line):
            ours = marker[2].rpartition("/")[2] == name
            number, of_header = int(marker[1]), "3" in marker[3].split()
            continue
        if ours and not line.startswith("#pragma"):
            for found in TOKEN.finditer(line):
                if found.lastgroup != "space" and (not of_header or found[0] in COMPILERS):
                    yield Token(found[0], number, str(found.lastgroup))
        number += 1
