"""What a learner writes into the files that the exercises hand out, and right notebooks: shared by tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from beowulf import paths
from beowulf.labs.lab_02 import own_rows
from beowulf.labs.lab_03 import message_sizes, speedup_laws
from beowulf.labs.lab_07 import by_lot
from tests import heat_solutions

# Lab 02: the three functions of own_rows.c.
EMPTY_ROW = "    (void)nothing, (void)repetitions;\n    return NOT_WRITTEN;\n"
CLOCK = "struct timespec now;"
WRITE = 'must(write(pipe_in, &word, sizeof word), "write");'
READ = 'must(read(pipe_out, &word, sizeof word), "read");'


def loop(before: str, body: str, until: str = "repetitions") -> str:
    """What a learner writes in place of EMPTY_ROW."""
    return (
        f"    (void)nothing, (void)repetitions;\n    {before}\n    double began = seconds_now();\n"
        f"    for (long i = 0; i < {until}; i++) {{\n        {body}\n    }}\n"
        "    return seconds_now() - began;\n"
    )


LIBRARY = loop(CLOCK, "clock_gettime(CLOCK_MONOTONIC, &now);")
SYSTEM_CALL = loop(CLOCK, "syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);")
PIPE = loop("int word = 1;", f"{WRITE} {READ}")
# Lab 03: the three functions of laws.py.
LAWS = {
    "amdahl": "1 / (serial_share + (1 - serial_share) / ranks)",
    "karp_flatt": "(1 / speed_up - 1 / ranks) / (1 - 1 / ranks)",
    "gustafson": "serial_share + (1 - serial_share) * ranks",
}
# Lab 05: exchange.c.
ONE_AFTER_THE_OTHER = "    one_after_the_other(exchange); /* in place of this line */\n"
POST = """
    check(MPI_Irecv(exchange->in, exchange->size, MPI_BYTE, exchange->other, TAG, MPI_COMM_WORLD,
                    &exchange->requests[0]));
    check(MPI_Isend(exchange->out, exchange->size, MPI_BYTE, exchange->other, TAG, MPI_COMM_WORLD,
                    &exchange->requests[1]));
"""
SLICES = """
    for (int i = 0; i < 50; i++) {
        int done;
        work_share(0.75 / 50);
        check(MPI_Testall(2, exchange->requests, &done, MPI_STATUSES_IGNORE));
    }
"""
WAIT = "    check(MPI_Waitall(2, exchange->requests, MPI_STATUSES_IGNORE));\n"
QUARTER, REST = "    work_share(0.25);\n", "    work_share(0.75);\n"
# Lab 07: knob.py and letters.c.
EARLY_DEMUX = "/proc/sys/net/ipv4/ip_early_demux"
KNOB = {
    "values": '("0", "1")',
    "look": f'"cat {EARLY_DEMUX}"',
    "set": f'f"echo {{value}} >{EARLY_DEMUX}"',
    "back": "self.set(state)",
}
APART = "    apart(line, letter); /* in place of this line */\n"
TOGETHER = """
    struct iovec parts[] = {{letter->head, HEAD_BYTES}, {letter->body, (size_t)letter->size}};
    must((int)writev(line, parts, 2), "writev");
"""


def _filled(text: str, gap: str, bodies: Sequence[str]) -> str:
    """The text with a body in place of each gap, in order."""
    head, *rest = text.split(gap)
    return head + "".join(body + after for body, after in zip(bodies, rest, strict=True))


def _own_rows(text: str) -> str:
    assert len(own_rows.YOURS) == 3
    return _filled(text, EMPTY_ROW, (LIBRARY, SYSTEM_CALL, PIPE))


def _laws(text: str) -> str:
    return _filled(
        text, "    return ...\n", [f"    return {LAWS[name]}\n" for name in speedup_laws.OURS]
    )


def _knob(text: str) -> str:
    bodies = [f"        return {KNOB[name]}\n" for name in ("look", "set", "back")]
    return _filled(_filled(text, "(..., ...)", (KNOB["values"],)), "        return ...\n", bodies)


# By the file that is handed out.
SOLUTIONS: dict[str, Callable[[str], str]] = {
    "own_rows.c": _own_rows,
    "laws.py": _laws,
    "sizes.c": lambda text: text.replace(
        message_sizes.TO_DO, message_sizes.DONE + message_sizes.TO_DO
    ),
    "exchange.c": lambda text: text.replace(ONE_AFTER_THE_OTHER, QUARTER + POST + SLICES + WAIT),
    "knob.py": _knob,
    "letters.c": lambda text: text.replace(APART, TOGETHER),
}


def solve(folder: Path, own: str = "") -> None:
    """Write the solution into each exercise's file in a folder with a learner's copies; `own` is a personal code."""
    for name, solution in SOLUTIONS.items():
        if (file := folder / name).exists():
            solved = solution(file.read_text())
            assert solved != file.read_text(), name
            file.write_text(solved)
    if (knob := folder / "knob.py").exists():
        setting = f"/proc/sys/{by_lot.setting(own).replace('.', '/')}"
        knob.write_text(knob.read_text().replace(EARLY_DEMUX, setting))
    if (plate := folder.parent / "heat").is_dir():
        heat_solutions.write(plate)


def by_the_author(name: str, folder: Path) -> Path:
    """Lab 08's gas.c or galaxy.c in a folder, as it is handed out but for the function of the notebook's author."""
    file = folder / name
    notebook = paths.root() / "notebooks" / "source" / "08-first-beowulf" / "first.py"
    text = (paths.lab("08") / name).read_text()
    file.write_text(text)
    for block in re.findall(
        r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", notebook.read_text(), re.DOTALL
    ):
        if f'Path("{name}")' in block:
            exec(block, {"Path": lambda each: folder / each})
    assert file.read_text() != text
    return file
