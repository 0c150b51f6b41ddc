"""A Record and its clock: its order in time, how long it took, and the digits of its samples."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta

from autograder.evidence.finding import (
    IMPOSSIBLE,
    INCONCLUSIVE,
    OF_SIMULATIONS,
    Finding,
    is_number,
)
from beowulf.measure.measurement import PER_SECOND
from beowulf.record import Point, Record

# A learner's machine may have a wrong clock, or the clock of another time zone.
MOST_AHEAD = timedelta(hours=36)
# The clock of the day may be set while something is measured; the samples come from another one.
ROOM_S, ROOM_SHARE = 5.0, 0.05
# labs/include/measure/lines.h prints a number with so many digits.
PRINTED_DIGITS = 9
EXACT = 1e-12  # what dividing and multiplying again costs, far below a printed digit
STRAY = 0.05  # of the samples may be off
# A clock that counts nanoseconds gives six digits or more of anything that lasts; people write two or three.
ROUND_DIGITS, FINE_CLOCK_S = 4, 1e-7
FEWEST, FEWEST_EQUAL = 5, 8
ENOUGH = 4000
# The HPC Challenge counts the seconds of its sections itself, whole ones: a short section has none.
WHOLE_SECONDS = "section_s"
# Of these coordinates each value has its own time; of others, such as rank or part, values may share one.
ONE_AFTER_ANOTHER = {
    *("size_bytes", "message_bytes", "overlap_bytes", "pattern", "protocol", "sweep", "ranks"),
    *("launch", "row", "program", "operation", "way", "benchmark", "class", "profiled"),
}


def order(record: Record, now: datetime) -> Iterator[Finding]:
    """Whether it began before it ended, and not in the future."""
    started, ended = _moment(record.started), _moment(record.ended)
    if ended < started:
        says = f"It ended ({record.ended}) before it began ({record.started})."
        yield Finding(IMPOSSIBLE, says)
    elif started > now + MOST_AHEAD:
        yield Finding(INCONCLUSIVE, f"It began at {record.started}, which is in the future.")


def duration(record: Record) -> list[Finding]:
    """Whether what was timed fits into the time from its start to its end."""
    took_s = (_moment(record.ended) - _moment(record.started)).total_seconds()
    most_s = took_s * (1 + ROOM_SHARE) + ROOM_S
    sums: dict[str, float] = defaultdict(float)
    for point, seconds in timed(record):
        if any(each < 0 or (each == 0 and point.quantity != WHOLE_SECONDS) for each in seconds):
            return [Finding(IMPOSSIBLE, f"A sample of {point.quantity} is not a time that passed.")]
        place = {k: v for k, v in point.at.items() if k not in ONE_AFTER_ANOTHER}
        sums[json.dumps([place, point.quantity], sort_keys=True)] += sum(seconds)
    longest_s = max(sums.values(), default=0.0)
    # Simulated time passes faster than a clock, or more slowly.
    if longest_s <= most_s or record.study[:1] == OF_SIMULATIONS:
        return []
    says = f"Its samples took {longest_s:,.1f} s together, and all of it {took_s:,.1f} s."
    return [Finding(IMPOSSIBLE, says)]


def digits(record: Record) -> Iterator[Finding]:
    """Whether the samples are numbers that the program can have printed."""
    names = [name.strip() for name in record.program.get("name", "").split(",")]
    if not all(name.endswith(".c") for name in names):
        return  # Python prints all digits that it has
    printed = [each for point, seconds in timed(record) if is_counted(point) for each in seconds]
    printed = _few(printed)
    nearest = [float(f"{each:.{PRINTED_DIGITS}g}") for each in printed]
    pairs = zip(printed, nearest, strict=True)
    stray = sum(not abs(each - near) <= EXACT * abs(each) for each, near in pairs)
    if stray > STRAY * len(printed):
        says = (
            f"{stray:,} of its {len(printed):,} samples are not numbers that {names[0]} prints: it gives"
            f" {PRINTED_DIGITS} digits of the seconds of all repetitions."
        )
        yield Finding(INCONCLUSIVE, says)


def spread(record: Record) -> Iterator[Finding]:
    """Whether samples differ as times do, and have the digits of a clock."""
    constant, looked_at, fine = 0, list[float](), _is_fine(record)
    for point, _ in timed(record):
        if len(point.samples) >= FEWEST_EQUAL and len(set(point.samples)) == 1:
            constant += 1
        if len(point.samples) >= FEWEST and fine:
            looked_at += point.samples
    looked_at = _few(looked_at)
    every = len(looked_at)
    rounded = sum(float(f"{value:.{ROUND_DIGITS}g}") == value for value in looked_at)
    if constant:
        says = f"At {constant} of its points every sample is the same; a clock shows that each differs."
        yield Finding(INCONCLUSIVE, says)
    if rounded > every / 2:
        says = f"{rounded:,} of its {every:,} samples have {ROUND_DIGITS} digits or fewer; a clock gives more."
        yield Finding(INCONCLUSIVE, says)


def timed(record: Record) -> Iterator[tuple[Point, list[float]]]:
    """The points with times of a measuring program, with the seconds of each sample's repetitions together."""
    for point in record.points:
        unit = next((u for u in PER_SECOND if point.quantity.endswith(u)), "")
        # A2 runs ping and ssh, which print times in their own way.
        own_way = "check" in point.at or point.quantity.endswith("_per_s")
        if not unit or not point.samples or own_way:
            continue
        times = point.facts["repetitions"] if is_counted(point) else [1] * len(point.samples)
        ways = 2 if point.quantity.startswith("half_round_trip") else 1
        pairs, per = zip(point.samples, times, strict=True), PER_SECOND[unit]
        yield point, [ways * s * n / per for s, n in pairs]


def _few(samples: list[float]) -> list[float]:
    """Of very many samples some thousands from all over, which are enough."""
    return samples[:: len(samples) // ENOUGH + 1]


def is_counted(point: Point) -> bool:
    """Whether a point has for each sample how many repetitions it is the mean of."""
    times = point.facts.get("repetitions")
    if not isinstance(times, list) or len(times) != len(point.samples):
        return False
    return all(is_number(each) and each > 0 for each in times)


def _is_fine(record: Record) -> bool:
    """Whether the clock that took the samples makes small steps, as far as the Record has it."""
    steps = [point.facts.get("clock_resolution_s") for point in record.points]
    return all(step < FINE_CLOCK_S for step in steps if is_number(step))


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
