"""What Hydra, MPICH's mpiexec, does to a program's streams: its own lines on them, and an input that ends too early."""

from __future__ import annotations

import os
import re
import select
import stat
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

RULE = re.compile("={40,}")  # its own has 83, and this line below it
BAD_END = "\n=   BAD TERMINATION"
TRACES = ("[mpiexec@", "[proxy:")
# Which rank it was, among them.
BANNER = re.compile(r"RUNNING AT (?P<node>\S+)\s*\n=\s+EXIT CODE: (?P<code>\d+)")
# mpiexec fails when it passes input on to a rank that has just ended; most that end at once have ended by then.
INPUT_AFTER_S = 1.0


class Sieve:
    """Passes on what a program prints, as it comes, and keeps Hydra's own lines aside.

    Of a program that ended badly they come last on stdout; on stderr each is known by its beginning.
    """

    def __init__(self, pass_on: Callable[[str], None]) -> None:
        self.aside = ""
        self._pass_on = pass_on
        self._held = ""  # what may become a line of Hydra's
        self._at_start = True  # of a line
        self._ended = False

    def write(self, text: str) -> None:
        """Take some text, and pass on what is the program's."""
        rest, self._held, passed = self._held + text, "", ""
        while rest:
            end = rest.find("\n") + 1 or len(rest)
            if self._at_start:
                rule = RULE.match(rest)
                if self._ended or (rule and rest.startswith(BAD_END, rule.end())):
                    self.aside += rest
                    self._ended = True
                    break
                if _undecided(rest, rule):
                    self._held = rest
                    break
                if rest.startswith(TRACES):
                    self.aside += rest[:end]
                    rest = rest[end:]
                    continue
            passed += rest[:end]
            self._at_start = passed.endswith("\n")
            rest = rest[end:]
        if passed:
            self._pass_on(passed)

    def close(self) -> None:
        """No more comes: what looked like the beginning of a line of Hydra's was the program's."""
        if self._held:
            self._pass_on(self._held)


def _undecided(text: str, rule: re.Match[str] | None) -> bool:
    """Whether it takes more text to know if a line of Hydra's begins here."""
    if rule:
        return BAD_END.startswith(text[rule.end() :])
    return "\n" not in text and any(mark.startswith(text[: len(mark)]) for mark in TRACES)


def reading(words: Sequence[str], *, wanted: bool) -> list[str]:
    """The words that start a program whose ranks, but for rank 0 of one whose input is `wanted`, read nothing.

    Hydra never ends the input of the others, and they would wait for it.
    """
    those = '[ "$PMI_RANK" = 0 ] || ' if wanted else ""
    # Without --norc, bash under sshd reads the learner's own start-up file, which may put another Python first.
    return ["bash", "--norc", "-c", f'{those}exec </dev/null; exec "$0" "$@"', *words]


def has_input() -> bool:
    """Whether somebody or something may still write to our own standard input."""
    try:
        status = os.fstat(0)
        if stat.S_ISREG(status.st_mode):
            return os.lseek(0, 0, os.SEEK_CUR) < status.st_size
        if os.path.samestat(status, os.stat(os.devnull)):
            return False
        asked = select.poll()
        asked.register(0, select.POLLIN)
        return not any(
            found & ~select.POLLIN and not found & select.POLLIN for _, found in asked.poll(0)
        )
    except OSError:
        return False  # it is closed


class Input:
    """Hands our own standard input on to a launcher: at once from a terminal, after a moment from elsewhere."""

    def __init__(self, wanted: bool) -> None:
        self.wanted = wanted
        terminal = wanted and os.isatty(0)
        # Where nothing is to be read, it stays open until the launcher ends, which then has nothing to pass on.
        self.stream = None if terminal else subprocess.PIPE
        self._over = threading.Event()

    def begin(self, process: subprocess.Popen[bytes]) -> None:
        """The launcher runs now."""
        if self.wanted and process.stdin:
            threading.Thread(target=self._relay, args=(process,), daemon=True).start()

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """The launcher has ended."""
        self._over.set()
        if process.stdin and not self.wanted:
            process.stdin.close()

    def _relay(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        with suppress(OSError):  # who reads has ended, and the rest is for nobody
            if not self._over.wait(INPUT_AFTER_S):
                while not self._over.is_set() and (chunk := os.read(0, 65536)):
                    process.stdin.write(chunk)
                    process.stdin.flush()
        with suppress(OSError):
            process.stdin.close()
