"""`beowulf …`: parse, call, print. Each file here is a group of commands."""

from __future__ import annotations

import signal
import sys
from types import FrameType

from beowulf.errors import LabError

# What typer makes of a KeyboardInterrupt; a command on a node may end with it too.
INTERRUPTED = 130


def main() -> None:
    """Run a command; a mistake that a person can mend becomes a sentence, without a traceback."""
    stopped = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup wants it
            signal.signal(number, stop)
    try:
        # Only now, because it takes a moment in which somebody may press Ctrl-C.
        from beowulf.cli.commands import app

        app()
    except LabError as trouble:
        print(f"beowulf: {trouble}", file=sys.stderr)
        sys.exit(trouble.exit_code)
    except (KeyboardInterrupt, SystemExit) as end:
        if stopped and getattr(end, "code", INTERRUPTED) == INTERRUPTED:
            print("beowulf: stopped.", file=sys.stderr)
            sys.exit(1)
        raise
