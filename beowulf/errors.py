"""What goes wrong in a way that a person can mend: one sentence for what, one for what to try."""


class LabError(Exception):
    """`what` happened, on which `node` if on one, and what to try to `mend` it. The command line exits with 1."""

    exit_code = 1

    def __init__(self, what: str, mend: str = "", node: str = "") -> None:
        self.what = what
        self.mend = mend
        self.node = node
        # A compiler's lines stand by themselves.
        between = "\n" if "\n" in what else " "
        super().__init__(between.join(part for part in (what, mend) if part))

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the sentence, and nothing of our code."""
        return [str(self)]


class UsageError(LabError):
    """The arguments that a person gave cannot be used. The command line exits with 2."""

    exit_code = 2
