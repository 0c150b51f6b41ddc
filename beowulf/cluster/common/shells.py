"""Shell commands run inside a cluster, each one shown beforehand to anyone who wants to see it."""

from __future__ import annotations

import locale
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from beowulf.errors import LabError

LONGEST_SCRIPT_S = 60.0
HINT = "`beowulf doctor` says what is missing, `beowulf doctor --fix` installs it."
# --norc: after a login over ssh, bash would read the user's start-up file, whatever is in it.
SHELL = ("bash", "--norc", "-eu")

# What a command prints first. All that comes before it is a start-up file's: bash reads .bashrc at a login by ssh.
ANSWER = "--- beowulf asks ---"

# What a line of shell has started carries a mark in its words or its environment; these lines kill all with that mark.
KILL_MARKED = """
for each in /proc/[0-9]*; do
    if grep -qsF {mark} $each/cmdline $each/environ; then kill -KILL ${{each##*/}}; fi
done 2>/dev/null
"""
LONGEST_KILLING_S = 60.0


@dataclass(frozen=True)
class Completed:
    """What a command on a node printed, how it ended, and how long it took."""

    returncode: int
    stdout: str
    stderr: str
    elapsed_s: float


# called with where lines of shell are about to be run, and the lines
Show = Callable[[str, str], None]


def silent(where: str, lines: str) -> None:
    """Show nothing; the default of `show`."""


def surroundings() -> dict[str, str]:
    """The environment of what we start: an ordinary user's PATH lacks the folders of ip, tc and sysctl on Debian.

    Where its locale was never generated, as often after an ssh login, it has another one: bash and perl would warn.
    """
    path = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
    return {**os.environ, "PATH": path, **({} if _locale_is_there() else {"LC_ALL": "C.UTF-8"})}


@cache
def _locale_is_there() -> bool:
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, "")
    except locale.Error:
        return False
    locale.setlocale(locale.LC_ALL, before)
    return True


def look_for(*needed: str | Path) -> None:
    """LabError with all of these tools and files that this machine does not have."""
    path = surroundings()["PATH"]
    if lacking := [
        str(each)
        for each in needed
        if not (each.exists() if isinstance(each, Path) else shutil.which(each, path=path))
    ]:
        raise LabError(f"{', '.join(lacking)} cannot be found on this machine.", HINT)


def marked(command: str) -> str:
    """A line of shell whose answer can be separated from what a login prints before it."""
    return f"echo '{ANSWER}'; {command}"


def answer(printed: bytes) -> bytes:
    """What a marked command itself has printed; all of it where the mark never came."""
    before, mark, after = printed.partition(f"{ANSWER}\n".encode())
    return after if mark else before


class Answer:
    """The same piece by piece, as it comes: `heard()` gives the part of a piece that belongs to the answer."""

    def __init__(self) -> None:
        self._before: bytes | None = b""

    def heard(self, piece: bytes) -> bytes:
        """What a marked command itself has printed; nothing until the mark came."""
        if self._before is None:
            return piece
        self._before += piece
        _, mark, after = self._before.partition(f"{ANSWER}\n".encode())
        if mark:
            self._before = None
        return after


class UnfinishedError(LabError):
    """A command on a node took longer than is allowed."""

    def __init__(self, node: str, command: str, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        super().__init__(
            f"{node or 'The cluster'} did not finish `{command}` within {timeout_s:g} s.",
            "`beowulf status` shows which nodes answer.",
            node,
        )


def script(where: str, words: list[str], lines: list[str], show: Show) -> None:
    """Run lines of shell behind `words` (which enter some namespace); LabError when one of them fails."""
    words = [*words, *SHELL]
    done = completed(words, announced(where, words, lines, show), LONGEST_SCRIPT_S, "")
    if done.returncode:
        raise LabError(
            f"The cluster could not be set up {where}: {done.stderr.strip()}.",
            "`beowulf doctor` checks what this needs.",
        )


def announced(where: str, words: list[str], lines: list[str], show: Show) -> str:
    """Call `show` with what `words` are about to run, as a learner could type it; gives the text of the lines."""
    text = "\n".join(lines) + "\n"
    show(where, f"{shlex.join(words)} <<'END'\n{text}END")
    return text


def completed(words: list[str], stdin: str, timeout_s: float, node: str) -> Completed:
    """Run a command to its end; LabError naming the `node` when it takes longer than `timeout_s`."""
    began = time.monotonic()
    try:
        done = subprocess.run(
            words,
            input=stdin,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            env=surroundings(),
        )
    except subprocess.TimeoutExpired as error:
        raise UnfinishedError(node, words[-1], timeout_s) from error
    return Completed(done.returncode, done.stdout, done.stderr, time.monotonic() - began)
