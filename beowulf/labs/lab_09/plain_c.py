"""A learner's functions as an object file of plain C that calls only what is allowed, and has only their names."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Iterable
from pathlib import Path

from beowulf.errors import LabError

# What a function may call: messages from one rank to another, and memory.
ALLOWED = frozenset(
    {
        *("MPI_Send", "MPI_Recv", "MPI_Sendrecv", "MPI_Sendrecv_replace", "MPI_Isend", "MPI_Irecv"),
        *("MPI_Ssend", "MPI_Issend", "MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome"),
        *("MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Probe", "MPI_Iprobe", "MPI_Get_count"),
        *("MPI_Comm_rank", "MPI_Comm_size", "memcpy", "memmove", "memset", "malloc", "calloc"),
        *("free", "__stack_chk_fail", "__assert_fail", "_GLOBAL_OFFSET_TABLE_"),
        *("compute_inner_rows", "compute_border_rows", "ceil", "floor", "log2", "sqrt", "abs"),
        # What smpicc puts in the place of malloc, calloc and free.
        *("smpi_shared_malloc_intercept", "smpi_shared_calloc_intercept", "smpi_shared_free"),
        "MPI_COMM_WORLD",
    }
)
CONSTANT = re.compile(r"smpi_MPI_\w+")  # such as MPI_BYTE
# What a compiler makes of plain C: no assembler of the author's own, and no parts that are run before main().
ASSEMBLER, SECTION = re.compile(r"^#APP", re.M), re.compile(r"^\s*\.section\s+([^,\s]+)", re.M)
PLAIN_SECTION = re.compile(
    r"\.(text|rodata|data|bss|debug)[\w.]*|\.note\.[\w-]+(\.[\w-]+)*|\.comment|\.eh_frame"
)
# A jump to a place that the program computes may lead into its constants, which may be machine code.
BY_POINTER = re.compile(r"^\s*(?:notrack\s+)?(?:call|jmp)q?\s+\*|^\s*(?:blr|br)\s+x", re.M)
FLAGS = ("-fno-jump-tables",)  # else a `switch` is such a jump
# How a function is called by its name; any other way takes its address.
CALLS = ("R_X86_64_PLT32", "R_AARCH64_CALL26", "R_AARCH64_JUMP26")
RELOCATION = re.compile(r"^[0-9a-f]+\s+[0-9a-f]+\s+(R_\w+)\s+[0-9a-f]+\s+(\w+)", re.M)


def assembled(text: Path, part: Path, functions: Collection[str]) -> Path:
    """The functions as an object that has only their names; LabError where they are not plain C.

    `text` is the compiler's assembler, made with FLAGS.
    """
    lines = text.read_text(encoding="utf-8", errors="replace")
    odd = [name for name in SECTION.findall(lines) if not PLAIN_SECTION.fullmatch(name)]
    if ASSEMBLER.search(lines) or odd:
        what = f"a part {odd[0]}" if odd else "assembler"
        raise LabError(f"{text.stem}.c has {what} in it: it must be plain C.")
    if BY_POINTER.search(lines):
        raise LabError(f"{text.stem}.c calls a function through a pointer: call it by its name.")
    kept = [word for name in functions for word in ("-G", name)]
    for words in (["as", str(text), "-o", str(part)], ["objcopy", *kept, str(part)]):
        _tool(words)
    called = {line.split()[-1] for line in _tool(["nm", "-u", str(part)]).splitlines() if line}
    # smpicc puts smpi_usleep in the place of usleep.
    foreign = sorted(n.removeprefix("smpi_") for n in called - ALLOWED if not CONSTANT.fullmatch(n))
    if foreign:
        raise LabError(
            f"{text.stem}.c calls {', '.join(foreign)}, which is not allowed here.",
            "Write it with MPI_Send, MPI_Recv, MPI_Isend, MPI_Irecv, MPI_Sendrecv and MPI_Wait… only; print"
            " only under `beowulf run`.",
        )
    taken = {
        name
        for kind, name in RELOCATION.findall(_tool(["readelf", "-rW", str(part)]))
        if name in ALLOWED - {"MPI_COMM_WORLD"} and kind not in CALLS
    }
    if taken:
        raise LabError(
            f"{text.stem}.c takes the address of {', '.join(sorted(taken))}: call functions by name only."
        )
    there = _tool(["nm", "-g", "--defined-only", str(part)]).split()
    if missing := [name for name in functions if name not in there]:
        raise LabError(f"{text.stem}.c has no function {missing[0]}.")
    return part


def linked(rank: Path, part: Path, headers: Iterable[Path]) -> Path:
    """The program of one simulated rank: `rank`, a source in C, with the functions."""
    program = rank.with_suffix("")
    include = [f"-I{folder}" for folder in headers]
    words = ["cc", "-std=c11", "-O2", "-Wall", "-Wextra", *include, str(rank), str(part)]
    _tool([*words, "-static", "-lm", "-o", str(program)])
    return program


def _tool(words: list[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise LabError(f"{words[0]} failed: {done.stderr.strip()[:300]}")
    return done.stdout
