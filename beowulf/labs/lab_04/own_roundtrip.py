"""Lab 04's exercise: a learner's own round trip in Python, measured on two nodes alongside the C program.

It is a Record of E2 with the variant `own` (or `own-nonblocking`): at each place of the sweep there are samples of the
learner's function and of roundtrip.c, whose ranks wait for messages as the engines do.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from beowulf import figures
from beowulf.engines import Engines
from beowulf.errors import LabError, UsageError
from beowulf.exercises import engine_function
from beowulf.exercises.exercise import Exercise, records
from beowulf.measure import roundtrips
from beowulf.measure.measurement import Measurement
from beowulf.measure.roundtrips import HALF
from beowulf.measure.table import summarised
from beowulf.record import Point, Record
from beowulf.studies.roundtrip_sweep import times_over_sizes
from beowulf.this_machine.progress import bar

if TYPE_CHECKING:
    import pandas as pd

    from beowulf.figures import Figure

STUDY = "E2"
VARIANTS = {"blocking": "own", "nonblocking": "own-nonblocking"}
OWN, C = "own", "C"
STOPPED = "stopped"  # a fault after which nothing more is called
NAME = "half_round_trip_us"
SIZES = (8, 128, 1024, 8192, 32_768, 65_536, 262_144, 1_048_576)
# Launches of the C program, each after as many passes of the learner's function over all sizes.
LAUNCHES, PASSES = 4, 15
QUICK_LAUNCHES, QUICK_PASSES = 3, 10
# As shares of the C program's time: what is impossible for a Python program that does the same, at any size; and at
# the largest size, where the cable decides, what is too short and too long: a quarter of a round trip, or a whole one.
SECONDS = 1e-4
TOO_FAST = 0.1
LARGE_TIMES_C = 0.75, 1.7
DRAGGED = {  # twelve values per decade, and powers of two
    "alpha_us": [float(f"{value:.2g}") for value in np.geomspace(1, 1000, 37)],
    "beta_us_per_byte": [float(f"{value:.2g}") for value in np.geomspace(1e-4, 1, 49)],
    "limit_bytes": [2**power for power in range(10, 21)],
}


def measure(
    engines: Engines,
    name: str = NAME,
    *,
    protocol: str = "blocking",
    sizes: Sequence[int] = SIZES,
    quick: bool = True,
) -> Record:
    """Call the function on all ranks with messages of these sizes, alternating with roundtrip.c, and keep the Record.

    A fault in a call is reported and kept as a fact, and the call is not a sample. LabError when there is no such
    function.
    """
    if protocol not in VARIANTS:
        raise UsageError(f"The protocol is {' or '.join(VARIANTS)}, not {protocol!r}.")
    cluster = engines.cluster
    roundtrips.need_nodes(cluster, 2)
    about = engine_function.about(engines, name)
    launches, passes = (QUICK_LAUNCHES, QUICK_PASSES) if quick else (LAUNCHES, PASSES)
    exercise = Exercise(STUDY, VARIANTS[protocol], "Your own round trip")
    sweep = {"exercise": name, "protocol": protocol, "sizes": list(sizes), "passes": passes}
    with (
        bar(exercise.asks, draw=picture) as progress,
        Measurement(
            STUDY,
            cluster,
            records(cluster),
            quick=quick,
            progress=progress,
            launches=2 * launches,
            sweep=sweep,
        ) as session,
    ):
        calls = _Calls(engines, name, protocol, tuple(sizes), session, dict(about))
        session.points.append(Point({"own": True}, facts=calls.facts))
        try:
            for launch in range(launches):
                if not calls.measured(launch, passes):
                    break
                session.done += 1
                roundtrips.run(
                    session,
                    2,
                    sizes,
                    protocols=(protocol,),
                    passes=passes,
                    launch=launch,
                    environment={"BEOWULF_PATIENT": "always" if engines.patient else "never"},
                    at={"language": C},
                )
            if session.complete:
                seen = engine_function.called(engines, one_call, name, SIZES[0])
                calls.facts["mpi_calls"] = seen
        finally:
            calls.end()  # the faults stay in the Record, whatever ends the measurement
    record = session.record()
    # Its own samples are Python's, with all digits.
    record.program["name"] = ", ".join([name, record.program["name"]]).strip(", ")
    exercise.keep(record, records(cluster), half=True)
    print(*lines(record), sep="\n")
    return record


@dataclass
class _Calls:
    """The calls of a learner's function, pass by pass, and what is wrong with them."""

    engines: Engines
    name: str
    protocol: str
    sizes: tuple[int, ...]
    session: Measurement
    facts: dict[str, Any]
    made: int = 0
    found: dict[str, str] = field(default_factory=dict)  # by kind of fault, the first sentence
    often: Counter[str] = field(default_factory=Counter)
    seeds: random.Random = field(default_factory=random.Random)

    def measured(self, launch: int, passes: int) -> bool:
        """Take this many samples of each size; False when the function cannot be measured."""
        good = self._one_pass(launch, None)  # the first calls warm up
        for number in range(passes):
            if not good:
                return False
            share = self.session.done + (number + 1) / (passes + 1)
            text = f"{self.name}: pass {number + 1}"
            self.session.progress(share, self.session.planned, text)
            good = self._one_pass(launch, number) is not None
        return bool(good)

    def _one_pass(self, launch: int, number: int | None) -> int | None:
        """Call the function once with each size; return how many calls were right, None when it could not be called."""
        order = list(self.sizes)
        self.seeds.shuffle(order)
        card = self.engines.cluster.interface(self.engines.nodes[0])
        try:
            by_rank = self.engines.apply(
                calls_of, self.name, order, self.seeds.randrange(2**31), card
            )
        except LabError as problem:
            self._note(STOPPED, problem.message)
            self.session.complete = False
            self.session.warnings.append(f"{self.name} was not measured to the end.")
            return None
        good = 0
        at = {"protocol": self.protocol, "pattern": "pingpong", "language": OWN, "ranks": 2}
        for size, zero, one in zip(order, by_rank[0], by_rank[1], strict=True):
            self.made += 1
            if (what := fault(size, zero, one)) is not None:
                self._note(what[0], f"With {size:,} bytes {what[1]}")
                continue
            good += 1
            if number is not None:
                here = {**at, "size_bytes": size, "launch": launch}
                self.session.add(here, HALF, [zero["value"]], **{"pass": number})
        return good

    def _note(self, kind: str, sentence: str) -> None:
        self.found.setdefault(kind, sentence)
        self.often[kind] += 1

    def end(self) -> None:
        """Record what was wrong, and how often."""
        faults = [
            sentence if kind == STOPPED else f"{sentence} ({self.often[kind]} of {self.made} calls)"
            for kind, sentence in self.found.items()
        ]
        seen = {"calls": self.made, "faults": faults, "patient": self.engines.patient}
        self.facts.update(seen, right=not faults)


def calls_of(
    names: dict[str, Any], function: str, sizes: list[int], seed: int, card: str
) -> list[dict[str, Any]]:
    """On an engine: call the function once with each size; return its result, how long it took, and what arrived.

    The bytes are drawn from `seed`, the same on all ranks. Rank 0 gets them; on the others each byte differs.
    """
    import time

    import numpy as np
    from mpi4py import MPI

    def carried() -> tuple[int, int]:
        # Bytes that a card has sent and received since it was set up.
        with open("/proc/net/dev") as table:
            for line in table:
                name, _, counts = line.partition(":")
                if name.strip() == card:
                    numbers = counts.split()
                    return int(numbers[8]), int(numbers[0])
        return 0, 0

    world = MPI.COMM_WORLD
    chance = np.random.default_rng(seed)
    calls = []
    for size in sizes:
        pattern = chance.integers(0, 256, size, dtype=np.uint8)
        buffer = pattern.copy() if world.Get_rank() == 0 else 255 - pattern
        world.Barrier()
        # A lead-in, as in roundtrip.c; it changes nothing where the wire takes long.
        if size <= 65_536:
            names[function](np.zeros(size, dtype=np.uint8))
        before = carried()
        began = time.perf_counter()
        given = names[function](buffer)
        elapsed_us = (time.perf_counter() - began) * 1e6
        after = carried()
        numeric = isinstance(given, int | float | np.integer | np.floating)
        wrong = np.flatnonzero(buffer != pattern)
        calls.append(
            {
                "value": float(given) if numeric and not isinstance(given, bool) else None,
                "kind": "nothing" if given is None else f"a {type(given).__name__}",
                "elapsed_us": elapsed_us,
                "wrong": int(wrong[0]) if len(wrong) else -1,
                "sent": after[0] - before[0],
                "received": after[1] - before[1],
            }
        )
    return calls


def one_call(names: dict[str, Any], function: str, size: int) -> None:
    """On an engine: call the function once."""
    import numpy as np

    names[function](np.zeros(size, dtype=np.uint8))


def fault(size: int, zero: Mapping[str, Any], one: Mapping[str, Any]) -> tuple[str, str] | None:
    """What is wrong with a call, by what ranks 0 and 1 saw: its kind and a sentence; None if nothing is wrong."""
    value, elapsed_us = zero["value"], zero["elapsed_us"]
    if value is None:
        return "kind", f"it returned {zero['kind']} on rank 0, not a number of microseconds."
    if not math.isfinite(value):
        return "number", f"it returned {value} on rank 0, which cannot be a time."
    if value <= 0:
        return "sign", f"it returned {value:g} µs; a message takes longer than that."
    if one["wrong"] >= 0:
        return "there", (
            f"rank 1 does not hold what rank 0 sent: byte {one['wrong']} differs. It has to receive into `buffer`."
        )
    if zero["wrong"] >= 0:
        return "back", (
            f"rank 0 no longer holds what it sent: byte {zero['wrong']} differs. Rank 1 sends back what it got."
        )
    if min(zero["sent"], zero["received"]) < size:
        return "card", (
            f"rank 0's network card sent {zero['sent']:,} and received {zero['received']:,} bytes:"
            " the message did not travel there and back."
        )
    if value > elapsed_us / 2:
        return "clock", (
            f"it returned {value:,.1f} µs, but the whole call took {elapsed_us:,.1f} µs: half a round trip takes"
            f" at most {elapsed_us / 2:,.1f} µs."
        )
    return None


def own(record: Record) -> dict[str, Any]:
    """What a Record contains about the function: its source and its faults."""
    return next((dict(point.facts) for point in record.points if point.at.get("own")), {})


def table(record: Record) -> pd.DataFrame:
    """A row per size: the median half round trip of the function and of C in µs, the function's rate, and their ratio.

    LabError without samples of both.
    """
    import pandas as pd

    by_size = roundtrips.pairs(record, HALF, "language", OWN, C)
    if not by_size:
        raise LabError(
            "There are no samples of your function to compare with those of C.", "Measure again."
        )
    times = summarised(record, HALF, ["language", "size_bytes"])
    medians = times.pivot_table(index="size_bytes", columns="language", values="median")
    return pd.DataFrame(
        {
            "size_bytes": size,
            "own_us": medians[OWN][size],
            "own_mbit_per_s": 8 * size / medians[OWN][size],
            "c_us": medians[C][size],
            "ratio": ratio.median,
            "low": ratio.low,
            "high": ratio.high,
        }
        for size, ratio in roundtrips.ratios(by_size).items()
    )


def picture(record: Record) -> Figure:
    """The half round trip over the size, of the function and of C, each a median with its interval."""
    times = summarised(record, HALF, ["language", "size_bytes"]).rename(columns={"median": HALF})
    lines_of = {OWN: "your function in Python", C: "roundtrip.c"}
    times["line"] = times["language"].map(lines_of)
    return times_over_sizes(times, "line", "Your own round trip and the C program", y_log=True)


@figures.draggable(Exercise(STUDY, OWN).own, "lab.own_roundtrip.measure", **DRAGGED)
def message_time(
    record: Record, alpha_us: float = 100, beta_us_per_byte: float = 0.01, limit_bytes: int = 2**17
) -> Figure:
    """Your half round trips and alpha + beta n, plus a round trip above the eager limit: drag all three."""
    rows = table(record)
    times = dict(zip(rows["size_bytes"].tolist(), rows["own_us"].tolist(), strict=True))
    asked_us = 2 * alpha_us  # a request and its answer, without data
    model = {n: alpha_us + beta_us_per_byte * n + asked_us * (n > limit_bytes) for n in times}
    return figures.plot(
        {"your function": times, "alpha + beta n": model},
        *("size_bytes", "half_round_trip_us"),
        title=f"alpha {alpha_us:g} µs, 1 / beta {8 / beta_us_per_byte:.4g} Mbit/s",
        x_log=True,
        y_log=True,
    )


def lines(record: Record) -> list[str]:
    """Sentences on what is wrong with the function, if anything, and how long it takes compared with C."""
    found = own(record)
    said = [str(each) for each in found.get("faults", [])]
    try:
        rows = table(record).to_dict("records")
    except LabError as problem:
        return said or [str(problem)]
    first, last = rows[0], rows[-1]
    if not said:
        said = ["Every message arrived, and every time agrees with the clock."]
    if last["high"] < SECONDS:
        said.append("Your times look like seconds; return microseconds.")
    elif last["high"] < LARGE_TIMES_C[0]:
        said.append("Your times are shorter than the cable allows. Is it half of ONE round trip?")
    elif last["low"] > LARGE_TIMES_C[1]:
        said.append("Your times are far longer than the cable takes. Is it HALF of one round trip?")
    said += [
        f"{row['size_bytes']:,} bytes: yours takes {row['ratio']:#.3g} times as long as C"
        f" ({row['low']:#.3g} to {row['high']:#.3g})."
        for row in (first, last)
    ]
    return said
