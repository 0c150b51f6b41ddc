"""What `beowulf check` says of a lab before it is handed in, as plain data: a line for each question."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from beowulf import paths
from beowulf.course import answers
from beowulf.errors import ON_WHITE, LabError, plain, with_commands

if TYPE_CHECKING:
    from rich.table import Table

# How much is said of an answer. A course chooses; who learns alone gets the last.
FORM, FIT, RIGHT = "form", "fit", "right"
LEVELS = (FORM, FIT, RIGHT)
LEVEL_SAYS = {
    FORM: "whether an answer is there and has its form, and whether your programs and plots are right",
    FIT: "whether an answer is there, and whether it fits your Records",
    RIGHT: "whether an answer is right, and its points",
}

# The states of a question, each with its symbol. A word tells the state; symbol and colour only repeat it.
OPEN, BAD, UNCLEAR, DONE = "·", "✗", "?", "✓"
STATES = {
    "Record missing": OPEN,
    "plot missing": OPEN,
    "prediction not sealed": OPEN,
    "empty": OPEN,
    "malformed": BAD,
    "sealed too late": BAD,
    "program not yet right": BAD,
    "plot not yet right": BAD,
    "does not fit your Records": BAD,
    "not right": BAD,
    "partly right": BAD,
    "measure it again": UNCLEAR,
    "there": DONE,
    "fits your Records": DONE,
    "right": DONE,
    "sealed in time": DONE,
    "a person reads it": DONE,
}
# Of Okabe and Ito, as in a Verdict.
COLOURS = {OPEN: "#6E6E6E", BAD: "#A84300", UNCLEAR: "#6E6E6E", DONE: "#0072B2"}
LONGEST_S = 60.0
# So long a notebook has to be saved while its cell runs: a lab's page does that by itself.
SAVES_WITHIN_S = 2.0
UNSAVED = "{} in this notebook's file is not what you ran last. Run its cell, save (Ctrl+S), and check again."


@dataclass(frozen=True)
class Line:
    """One question: its state, a sentence on it, what it is worth, and where to read."""

    question: str
    state: str
    says: str = ""
    of: float = 0.0
    points: float | None = None  # None where they are not shown, or a person gives them
    read: str = ""

    @property
    def symbol(self) -> str:
        """The state at a glance."""
        return STATES.get(self.state, UNCLEAR)

    @property
    def worth(self) -> str:
        """The points, or only how many there are."""
        return f"{self.of:g}" if self.points is None else f"{self.points:.3g} of {self.of:g}"


@dataclass(frozen=True)
class Checklist:
    """A lab's questions as they are now, at a level of LEVELS, with notes on the whole."""

    lab: str
    notebook: str
    level: str
    lines: list[Line]
    notes: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        """How far it is, in a sentence or two."""
        done = [line for line in self.lines if line.symbol == DONE]
        what = "in order" if self.level == RIGHT else "complete"
        found = f"{len(done)} of {len(self.lines)} questions are {what}."
        if self.level == FORM:
            return f"{found} Whether an answer is right was not checked."
        if self.level == FIT:
            return f"{found} Answers that do not depend on your Records were not checked."
        points = sum(line.points or 0.0 for line in self.lines)
        by_hand = sum(line.of for line in self.lines if line.points is None)
        of = sum(line.of for line in self.lines) - by_hand
        return f"{found} Points: {round(points, 2):g} of {of:g}" + (
            f", counted by a program; a person gives up to {by_hand:g} more." if by_hand else "."
        )

    def as_plain(self) -> dict[str, Any]:
        """The Checklist as JSON knows it."""
        return asdict(self) | {"summary": self.summary}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Checklist:
        """The Checklist that was printed as JSON."""
        texts = {name: str(plain[name]) for name in ("lab", "notebook", "level")}
        lines = [Line(**line) for line in plain["lines"]]
        return cls(**texts, lines=lines, notes=list(plain["notes"]))

    def __str__(self) -> str:
        wide = max((len(line.question) for line in self.lines), default=0)
        lines = [
            plain(f"{line.symbol} {line.question:<{wide}}  {line.state}  {line.says}".rstrip())
            for line in self.lines
        ]
        return "\n".join([*lines, *map(plain, self.notes), self.summary])

    __repr__ = __str__

    def __rich__(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table()
        for head in ("question", "state", "points", "what to do", "read"):
            table.add_column(head, no_wrap=head in ("question", "points"), overflow="fold")
        for line in self.lines:
            # Text, because a plain string would have its [brackets] taken for markup.
            table.add_row(
                Text(line.question),
                Text(f"{line.symbol} {line.state}", style=f"bold {COLOURS[line.symbol]}"),
                Text(line.worth),
                Text(plain(line.says)),
                Text(line.read),
            )
        return table

    def _repr_html_(self) -> str:
        heads = ("question", "state", "points", "what to do", "read")
        head = "".join(f'<th scope="col" style="text-align:left">{name}</th>' for name in heads)
        notes = "".join(f"<p>{with_commands(note)}</p>" for note in self.notes)
        return (
            f"<table><caption>Lab {escape(self.lab[:2])}, before you hand it in</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(map(_row, self.lines))}</tbody></table>"
            f"{notes}<p>{with_commands(self.summary)}</p>"
        )


def _row(line: Line) -> str:
    state = (
        f'<strong style="{ON_WHITE};color:{COLOURS[line.symbol]}">'
        f'<span aria-hidden="true">{line.symbol}</span> {escape(line.state)}</strong>'
    )
    sentence = "text-align:left;overflow-wrap:anywhere;min-width:7em"
    cells = (
        ("text-align:left;white-space:nowrap", escape(line.question)),
        ("text-align:left", state),
        ("text-align:left;white-space:nowrap", escape(line.worth)),
        (sentence, with_commands(line.says)),
        (sentence, with_commands(line.read)),
    )
    return "<tr>" + "".join(f'<td style="{style}">{text}</td>' for style, text in cells) + "</tr>"


def of_notebook(lab: str, *, hint: str = "", solution: str = "") -> Checklist | None:
    """What `beowulf check` says of the lab of this notebook; a hint or a solution is printed instead.

    A line on stdout says so when the file that was checked is not what the kernel ran.
    """
    if hint or solution:
        wanted = {"--hint": hint, "--solution": solution}
        print(command("check", lab, *(w for each in wanted.items() if each[1] for w in each)))
        return None
    ran = answers.ran()
    deadline = time.monotonic() + SAVES_WITHIN_S
    while True:
        plain = json.loads(command("check", lab, "--json"))
        written: dict[str, str] = plain.pop("written")
        unsaved = [name for name, text in written.items() if ran.written(name) not in ("", text)]
        if not unsaved or time.monotonic() > deadline:
            break
    if unsaved:
        print(UNSAVED.format(", ".join(unsaved)))
    return Checklist.from_plain(plain)


def command(*words: str) -> str:
    """What a command of ours prints; LabError with its sentence where it fails."""
    program = str(paths.python_bin() / "beowulf")
    try:
        done = subprocess.run(
            [program, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
        )
    except subprocess.TimeoutExpired:
        raise LabError(f"`beowulf {' '.join(words)}` took longer than {LONGEST_S:g} s.") from None
    if done.returncode:
        said = done.stderr.strip().removeprefix("beowulf: ")
        raise LabError(said or f"`beowulf {' '.join(words)}` failed.")
    return done.stdout
