"""Does lab 09 refuse each token that is more than plain C, in whatever spelling, and name it with its line?"""

from __future__ import annotations

import pytest

from beowulf import paths
from beowulf.errors import LabError
from beowulf.labs.lab_09 import stairs, tokens

HANDED_OUT = (paths.lab("09") / stairs.SOURCE).read_text(encoding="utf-8")
LINE = HANDED_OUT.count("\n") + 2

# By name: a line of C behind what is handed out, and what is said of it.
REFUSED = {
    "section": ('__attribute__((section(".text\\n\\tnop\\n#"))) int a;', "__attribute__"),
    "alias": ('void a(void) __attribute__((alias("halo_step")));', "__attribute__"),
    "ifunc": ('void a(void) __attribute ((ifunc("b")));', "__attribute"),
    "asm": ('void a(void) { asm("nop"); }', "asm"),
    "__asm": ('void a(void) { __asm volatile("nop"); }', "__asm"),
    "a label with a newline": ('int a __asm__("b\\n\\tnop\\n#");', "__asm__"),
    "a register's name": ('void a(void) { register int b __asm__("rax"); }', "__asm__"),
    "brackets": ("[[gnu::constructor]] void a(void);", "an attribute [["),
    "brackets apart": ("[ /* b */ [deprecated]] int a;", "an attribute [["),
    "brackets in other letters": ("<:[deprecated]:> int a;", "an attribute [["),
    "a pragma": ("#pragma weak a = halo_step", "#pragma weak a = halo_step"),
    "a pragma that names": ("#pragma redefine_extname a b", "#pragma redefine_extname a b"),
    "a pragma's word": ('_Pragma("weak a")', "_Pragma"),
    "words of parts": ("#define A(b, c) b##c", "##"),
    "words of parts in other letters": ("%:define A(b, c) b%:%:c", "%:%:"),
    "a macro": ("#define A __attribute__", "__attribute__"),
    "not compiled": ("#if 0\n#endif\n__asm__", "__asm__"),
    "an identifier's number": (r"__\u0061sm__", "__"),
    "a word's end by a number": (r"_\u005fasm__", "a stray \\"),
    "a builtin": ("void *a(void) { return __builtin_return_address(0); }", "__builtin_return_address"),
    "where a file is": ('#if __has_include("/dev/stdin")\n#endif', "__has_include"),
    "a device": ('#include "/dev/stdin"', '#include "/dev/stdin"'),
    "an endless device": ("#include </dev/zero>", "#include </dev/zero>"),
    "a way out": ('#include "../../stairs.h"', '#include "../../stairs.h"'),
    "a file by a macro": ('#define A "/dev/zero"\n#include A', "#include A"),
    "two names": ("#include <math.h> <math.h>", "#include <math.h><math.h>"),
    "the next file": ("#include_next <mpi.h>", "#include_next"),
    "a file's bytes": ('#embed "/dev/zero"', "#embed"),
    "an import": ('#import "/dev/zero"', "#import"),
    "other letters for #": ('??=include "/dev/zero"', '#include "/dev/zero"'),
    "other letters for #, too": ('%: include "/dev/zero"', '#include "/dev/zero"'),
    "behind a comment": ('/* a\n */ # /* b */ include "/dev/zero"', '#include "/dev/zero"'),
    "another file's line": ('#line 1 "/usr/include/mpi.h"', "#line"),
    "as a header's line": ('# 1 "/usr/include/mpi.h" 3 4', "#1"),
    "a text in the object": ('#ident "a"', "#ident"),
    "a quote that does not end": ("char a = 'b;", "a stray '"),
    "behind such a quote": ("'/*\n#include </dev/zero>\n*/", "#include </dev/zero>"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_each_is_refused_before_anything_is_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beowulf.mpi.build", lambda *_, **__: pytest.fail("it is compiled"))
    more, what = REFUSED[name]
    with pytest.raises(LabError) as refused:
        stairs.outcomes(f"{HANDED_OUT}\n{more}\n", ["tree"])
    assert f"stairs.c has {what}" in refused.value.message, refused.value.message


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ("__asm__", LINE),
        ("int a\\\n;\n__a\\\nsm__(0);", LINE + 2),
        ("__a??/\nsm__(0);", LINE),
        ("/* a\n\n */ // b\\\n c\n\n__asm__(0);", LINE + 5),
        ('#define A "\\\n" \\\n  __asm__', LINE + 2),
    ],
    ids=["alone", "on two lines", "with a trigraph", "behind comments", "in a macro"],
)
def test_the_line_is_the_one_on_which_the_token_begins(more: str, line: int) -> None:
    with pytest.raises(LabError, match=rf"stairs\.c has __asm__ in line {line}: "):
        tokens.check(f"{HANDED_OUT}\n{more}\n", stairs.SOURCE)


@pytest.mark.parametrize("text", ["int a;\r#include </dev/zero>\n", "int a;\0\n"])
def test_characters_that_no_text_has_are_refused(text: str) -> None:
    with pytest.raises(LabError, match="characters that do not belong in a text file"):
        tokens.check(text, stairs.SOURCE)


def test_after_the_preprocessor_the_learners_lines_count_and_headers_do_not() -> None:
    def text(where: str) -> str:
        return f'# 1 "/usr/include/a.h" 1 3 4\nint a __asm__("b");\n{where}\nint c __asm__("d");\n'

    tokens.check_preprocessed(text('# 40 "/usr/include/a.h" 3 4'), stairs.SOURCE)
    for flags in ("", " 2", " 3 4"):
        with pytest.raises(LabError, match="has __asm__ in line 40"):
            tokens.check_preprocessed(text(f'# 40 "/tmp/x/stairs.c"{flags}'), stairs.SOURCE)
