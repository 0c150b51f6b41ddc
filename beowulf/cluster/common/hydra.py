"""What MPICH and its launcher Hydra read and print, and how a program gets its input through it."""

from __future__ import annotations

import os
import re
import select
import stat
from collections.abc import Sequence

# The variable that says how long a message of MPICH's CH3 device may be to leave without being asked for.
EAGER_LIMIT = "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE"

# Which rank ended badly, in what mpiexec prints of it.
BANNER = re.compile(r"RUNNING AT (?P<node>\S+)\s*\n=\s+EXIT CODE: (?P<code>\d+)")

# mpiexec fails when there is input, or an end of it, after rank 0 has ended, and when a rank reads more slowly than we
# write. So it gets an input that never comes (a FIFO that it holds open itself), and rank 0 has a FIFO of its own.
# The other ranks would wait for an end forever.
NO_INPUT = "exec </dev/null"
RANKS = f"""\
if [ "$PMI_RANK" = 0 ] && exec <"$BEOWULF_INPUT/rank0"; then rm -rf "$BEOWULF_INPUT"; else {NO_INPUT}; fi"""
LAUNCHER = """\
export BEOWULF_INPUT
BEOWULF_INPUT=$(mktemp -d /tmp/beowulf-input-XXXXXX) && mkfifo "$BEOWULF_INPUT/rank0" "$BEOWULF_INPUT/none" || exit 1
exec 3<&0
cat <&3 3<&- 2>/dev/null >"$BEOWULF_INPUT/rank0" &
"$@" 3<&- <>"$BEOWULF_INPUT/none"
code=$?
{ kill $!; wait $!; } 2>/dev/null
rm -rf "$BEOWULF_INPUT"
exit $code
"""


def reading(words: Sequence[str], *, wanted: bool) -> list[str]:
    """The words that start a program whose ranks read nothing, but for rank 0 when input is `wanted`."""
    # Without --norc, bash under sshd reads the learner's own start-up file, which may put another Python first.
    return ["bash", "--norc", "-c", f'{RANKS if wanted else NO_INPUT}; exec "$0" "$@"', *words]


def with_input(words: Sequence[str]) -> list[str]:
    """The words that start a launcher on the node of rank 0, and hand their own input on to that."""
    return ["bash", "--norc", "-c", LAUNCHER, "bash", *words]


def has_input() -> bool:
    """Whether a person or a program may still write to our own standard input."""
    try:
        status = os.fstat(0)
        if stat.S_ISREG(status.st_mode):
            return os.lseek(0, 0, os.SEEK_CUR) < status.st_size
        if os.path.samestat(status, os.stat(os.devnull)):
            return False
        poll = select.poll()
        poll.register(0, select.POLLIN)
        return not any(
            events & ~select.POLLIN and not events & select.POLLIN for _, events in poll.poll(0)
        )
    except OSError:
        return False  # it is closed
