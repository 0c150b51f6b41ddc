"""Lab 07's exercise in C: letters in two writes, which wait forty milliseconds, and the learner's, which need not.

It is a Record of L1 with the variant `letters`: most of a message's microseconds are a wait. The program runs twice,
the second time with a receiver that acknowledges at once (the knob delayed-ack).
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from beowulf import figures
from beowulf.cluster import Cluster
from beowulf.errors import LabError
from beowulf.exercises.exercise import Exercise
from beowulf.exercises.gas import beside_headers
from beowulf.figures.segments import Part, timeline
from beowulf.measure.measurement import Measurement
from beowulf.measure.statistics import Ratio, ratio
from beowulf.record import Record
from beowulf.tuning.change import changing
from beowulf.tuning.knobs import ALL

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

STUDY, VARIANT = "L1", "letters"
EXERCISE = Exercise(STUDY, VARIANT, "Your own letters")
QUANTITY = "letter_ms"
KNOB, LATE, AT_ONCE = "delayed-ack", "delayed", "quick"
GIVEN, YOURS = "given", "yours"
SAYS = {
    (GIVEN, LATE): "apart",
    (GIVEN, AT_ONCE): "apart with quick ACKs",
    (YOURS, LATE): "yours",
    (YOURS, AT_ONCE): "yours with quick ACKs",
}
PASSES = 20  # letters each way
LONGEST_S = 90.0
DRAGGED = {"ack_delay_ms": (0, 1, 2, 5, 10, 20, 30, 40, 50, 75, 100, 200), "nagle": ("on", "off")}


def measure(cluster: Cluster, source: Path | str = "letters.c") -> Record:
    """Compile and run `source` in both states, and save its Record.

    LabError when it does not compile, does not end, or a letter is wrong; then nothing is kept.
    """
    knob = [(ALL[KNOB], AT_ONCE)]
    with (
        beside_headers(Path(source), "07") as program,
        changing(cluster, knob, nodes=cluster.nodes[:2]) as acknowledged_at_once,
    ):

        def steps(session: Measurement) -> None:
            for number, state in enumerate((LATE, AT_ONCE)):
                acknowledged_at_once(state == AT_ONCE)
                words: list[str | int] = ["--lines", "--passes", PASSES]
                how: dict[str, Any] = {"launch": number, "at": {"acks": state}}
                session.launch(program, 2, words, timeout_s=LONGEST_S, **how)

        sweep = {"exercise": program.name, "states": [LATE, AT_ONCE]}
        return EXERCISE.measure(cluster, steps, of=program.name, launches=2, sweep=sweep)


def samples(record: Record, way: str, acks: str) -> list[float]:
    """The milliseconds of the letters of one way, in one state; LabError when there are none."""
    points = record.select(way=way, acks=acks)
    found = [ms for point in points if point.quantity == QUANTITY for ms in point.samples]
    if not found:
        raise LabError(
            f"The Record has no letters of this kind: {SAYS[way, acks]}.", "Measure again."
        )
    return found


def times(record: Record) -> Ratio:
    """The time of the learner's letters as a share of the given ones, letter by letter."""
    yours, given = (samples(record, way, LATE) for way in (YOURS, GIVEN))
    return ratio(list(zip(yours, given, strict=False)))


def table(record: Record) -> pd.DataFrame:
    """A line for each way of sending and each state: median, least and most milliseconds, and how many letters."""
    import numpy as np
    import pandas as pd

    lines = []
    for (way, acks), says in SAYS.items():
        found = samples(record, way, acks)
        line = {"letters": says, "median_ms": float(np.median(found))}
        lines.append(line | {"least_ms": min(found), "most_ms": max(found), "n": len(found)})
    return pd.DataFrame(lines)


def picture(record: Record) -> Figure:
    """The median of each way of sending, in each state."""
    found = table(record)
    drawn = figures.bars(
        {str(row["letters"]): float(f"{row['median_ms']:.3g}") for row in found.to_dict("records")},
        title=f"Letters: yours are {float(f'{1 / times(record).median:.2g}'):,g} times as fast",
        value_title="until the answer, median (ms)",
    )
    return figures.Figure(drawn.drawing, drawn.title, drawn.alt, found)


@figures.draggable(EXERCISE.own, "lab.small_writes.measure", **DRAGGED)
def two_clocks(record: Record, ack_delay_ms: float = 200, nagle: str = "on") -> Figure:
    """Nagle's wait and the delayed acknowledgement's, beside your letters: drag the delay, and turn Nagle off.

    One way takes a quarter of a given letter with quick ACKs: head, ACK, body and answer.
    """
    one_way = median(samples(record, GIVEN, AT_ONCE)) / 4
    measured = {SAYS[way, LATE]: median(samples(record, way, LATE)) for way in (GIVEN, YOURS)}
    # With Nagle off the body comes right behind the head, and the answer takes the ACK along.
    on = nagle == "on"
    there, waits = Part("on the way", one_way), Part("holds the ACK", ack_delay_ms * on)
    rest = Part("on the way", (3 if on else 1) * one_way)
    return timeline(
        {
            "rank 0, Nagle": [Part("holds the body", (2 * one_way + ack_delay_ms) * on)],
            "rank 1, delayed ACK": [there, waits],
            "a letter and its answer": [there, waits, rest],
            **{f"measured: {name}": [Part("measured", ms)] for name, ms in measured.items()},
        },
        title=f"ACKs are held for {ack_delay_ms:g} ms, Nagle is {nagle}",
        value_title="time since the head was written (ms)",
    )
