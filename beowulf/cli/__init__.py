"""`beowulf …`: parse, call, print. Each file here is a group of commands."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType

from beowulf.errors import LabError, plain

# What typer makes of a KeyboardInterrupt; a command on a node may end with it too.
INTERRUPTED = 130


def main() -> None:
    """Run a command; a mistake that a person can fix becomes a sentence, without a traceback."""
    stopped = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Ignored as nohup wants it, or by a script that started this in the background; but Ctrl-C is how a lab ends.
        if signal.getsignal(number) is not signal.SIG_IGN or (
            number == signal.SIGINT and sys.argv[1:2] == ["lab"]
        ):
            signal.signal(number, stop)
    try:
        # Only now, because it takes a moment in which a person may press Ctrl-C.
        from beowulf.cli.commands import command

        try:
            command(sys.argv[1:])()
        finally:
            if sys.stdout:
                sys.stdout.flush()
    except LabError as trouble:
        print(f"beowulf: {plain(str(trouble))}", file=sys.stderr)
        sys.exit(trouble.exit_code)
    except OSError as error:
        _drop_output()
        if not isinstance(error, BrokenPipeError):  # a reader such as `head` stops reading early
            where = error.filename or "What is to be printed"
            print(f"beowulf: {where}: {error.strerror}.", file=sys.stderr)
        sys.exit(1)
    except (KeyboardInterrupt, SystemExit) as end:
        if stopped and getattr(end, "code", INTERRUPTED) == INTERRUPTED:
            print("beowulf: stopped.", file=sys.stderr)
            sys.exit(1)
        raise


def _drop_output() -> None:
    """What could not be written is not to be tried again when Python ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
