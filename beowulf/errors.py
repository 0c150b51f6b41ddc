"""What goes wrong in a way that a person can fix: a message, and a hint what to try."""

import re

COMMAND = re.compile(r"`([^`\n]+)`")
# JupyterLab's dark theme is no background for the colours of an outcome.
ON_WHITE = "background:#fff;padding:0 .3em;border-radius:.2em;white-space:nowrap"


def plain(text: str) -> str:
    """A text that others wrote, for a terminal: its lines, and no control character."""
    lines = text.expandtabs(4).split("\n")
    return "\n".join("".join(c if c.isprintable() else " " for c in line) for line in lines)


def with_commands(text: str) -> str:
    """A sentence as HTML: nothing in it is markup but commands between backticks."""
    from html import escape  # takes milliseconds, which a command in a terminal does not need

    return COMMAND.sub(r"<code>\1</code>", escape(text))


class Sentence(BaseException):
    """What a notebook shows by its sentence, and nothing of our code."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class LabError(Sentence, Exception):
    """A `message`: what happened, on which `node` if on one; a `hint`: what to try. The command line exits with 1."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "", node: str = "") -> None:
        self.message = message
        self.hint = hint
        self.node = node
        # A compiler's lines are by themselves.
        between = "\n" if "\n" in message else " "
        super().__init__(between.join(part for part in (message, hint) if part))


class UsageError(LabError):
    """The arguments that a person gave cannot be used. The command line exits with 2."""

    exit_code = 2
