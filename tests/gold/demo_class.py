"""What the eight made-up learners of `beowulf class demo` hand in: `python -m tests.gold.demo_class FOLDER`."""

from __future__ import annotations

import base64
import csv
import io
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from nbformat.v4 import new_output

from beowulf.record import Record
from tests.gold import lab_01
from tests.gold.hand_in import answered, file_name, hand_in, released
from tests.gold.labs import LABS, wrong
from tests.gold.measured import NODES

SLUG = lab_01.SLUG
RIGHT = lab_01.RIGHT
AVERAGE = RIGHT | dict(next(gold.slips for gold in LABS if gold.slug == SLUG))
WRONG = {name: wrong(value) for name, value in RIGHT.items()}
# What lab_01's Records have as sealed.
GUESSES = {"trip_guess": 200, "trip_low": 20, "trip_high": 2000}
GUESSES |= {"idle_guess": 20, "idle_low": 0, "idle_high": 200}
# One is late, one has another due date and came after the first one.
HANDED_IN = "2024-01-11 16:20"
LATE, EXTENDED = "2024-01-13 09:05", "2024-01-14 20:40"

WHOLE = """1. A rank looks up its own name and tells the others the address that it finds. With 127.0.1.1 on the first
line it would send the others to themselves, so `ring` stops at its first message and `hello` still prints.
2. My idle wire carried 0.00018 Mbit/s. So little can be subtracted from every later capture, or left out.
3. Ping and ssh need no connection between two ranks, the ring does. The rank in the send points at the node after it;
those in a receive only wait for a token that never left."""
NO_FIGURE = """The own name comes first because MPI asks for it and the others connect to what it finds. 127.0.1.1 is
always the machine itself. A capture of an idle wire is good to compare with. In cluster d the ring waits because
one node takes no connections, and the rank that sends to it is the one to look at."""
NO_CAUSE = """The first line is for speed, because the file is read from the top. The idle wire should be empty. In
cluster d rank 0 waits in a receive, so rank 0 is broken."""
SHORT = """Because of MPI. The wire is quiet. The ring hangs."""
OWN_WORDS = """Other ranks use the address that a rank finds under its own name, so it must be the one on the LAN: with
127.0.1.1 everyone would knock at their own door. What I measured on the idle wire, 20 packets in a minute, is there in
each later capture as well, and I can take it off. The ring waits where ping does not, since only the ring opens a
connection from rank to rank. The line with `send` is the one that points at the node; the others are consequences."""


def write(folder: Path) -> None:
    """Write a roster, when each learner handed in, and the hand-ins, a folder a learner."""
    kept = lab_01.records()
    # Ten times as many packets as its rates say: nobody can tell what was measured.
    doubtful = [lab_01.idle(packets=200) if r.study == "A5" else r for r in kept]
    learners: list[tuple[Mapping[str, Any], str, list[Record], str]] = [
        (RIGHT, WHOLE, kept, HANDED_IN),
        (AVERAGE, NO_FIGURE, kept, EXTENDED),
        (WRONG, NO_CAUSE, kept, HANDED_IN),
        (RIGHT, SHORT, [], HANDED_IN),
        (AVERAGE, OWN_WORDS, kept, HANDED_IN),
        (AVERAGE, OWN_WORDS, kept, LATE),
        (RIGHT, WHOLE, doubtful, HANDED_IN),
        (RIGHT, WHOLE, kept, HANDED_IN),
    ]
    names = [f"learner-{number:02}" for number in range(1, len(learners) + 1)]
    for name, (answers, text, records, _) in zip(names, learners, strict=True):
        notebook = answered(released(SLUG), {**GUESSES, **answers}, text)
        _draw(notebook)
        # The fifth handed in what the first measured.
        by = names[0] if name == names[4] else name
        measured = [_later(record, 11 * names.index(by)) for record in records]
        hand_in(folder / "hand-ins" / name, notebook, measured, Path(file_name(SLUG)).stem, by)
    # The last one's was cut off on its way.
    cut = folder / "hand-ins" / names[-1] / file_name(SLUG)
    cut.write_text(cut.read_text(encoding="utf-8")[:2000], encoding="utf-8")
    _table(folder / "roster.csv", [("id",), *((name,) for name in names)])
    when = [(name, each[-1]) for name, each in zip(names, learners, strict=True)]
    _table(folder / "times.csv", [("id", "handed_in"), *when])
    extended = (names[1], "01", "2024-01-15 18:00", "ill")
    _table(folder / "dates.csv", [("id", "lab", "due", "reason"), extended])


def _later(record: Record, minutes: int) -> Record:
    """The Record as if it was measured so many minutes later: no two learners begin in the same millisecond."""
    times = [datetime.fromisoformat(each) for each in (record.started, record.ended)]
    started, ended = (
        (each + timedelta(minutes=minutes, milliseconds=37 * minutes))
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
        for each in times
    )
    return replace(record, started=started, ended=ended)


def _draw(notebook: Any) -> None:
    """Put the plot of lab 01 below its cell, as a notebook that was run has it."""
    figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
    for rank, node in enumerate(NODES):
        others = [other for other in range(len(NODES)) if other != rank]
        times = [lab_01.trip_us(rank, other) for other in others]
        axes.plot(others, times, marker="o", label=f"from {node}")
    axes.set(xlabel="number of the other node", ylabel="round trip (µs)")
    axes.legend()
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=80)
    plt.close(figure)
    data = {"image/png": base64.b64encode(file.getvalue()).decode(), "text/plain": "<Figure>"}
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "trips-plot-answer":
            cell.outputs = [new_output("display_data", data=data)]


def _table(path: Path, rows: Iterable[Iterable[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
