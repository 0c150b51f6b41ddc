"""The heat program for who works in a terminal, from the folder of a lab or in work/heat.

    python -m beowulf.exercises.heat start 3
    python -m beowulf.exercises.heat check 3
    python -m beowulf.exercises.heat speed-up

What is measured: steps, speed-up, exchanges, overlap (Python or C), capture, tuned KNOB [VALUE].
"""

import sys
from collections.abc import Sequence

from beowulf.errors import LabError, UsageError
from beowulf.exercises import heat

MEASURED = {
    "steps": heat.steps,
    "speed-up": heat.speed_up,
    "exchanges": heat.exchanges,
    "overlap": heat.overlap,
    "capture": heat.capture,
    "tuned": heat.tuned,
}
LOCAL = {"start": heat.start, "check": heat.check}


def main(words: Sequence[str]) -> None:
    """Do what the first word says; a Record is kept in the folder `records`."""
    if not words or words[0] not in {*MEASURED, *LOCAL}:
        raise UsageError(f"The first word must be one of {', '.join([*LOCAL, *MEASURED])}.")
    name, *rest = words
    if name in LOCAL:
        if len(rest) != 1:
            raise UsageError(f"`{name}` takes the number of a lab, such as 3.")
        LOCAL[name](rest[0])
        return
    from beowulf.cluster import running

    try:
        record = MEASURED[name](running(), *rest)  # type: ignore[operator]
    except TypeError as problem:
        raise UsageError(f"{name}: {problem}.") from None
    if name != "capture":
        print(heat.table(record).to_string(index=False))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except LabError as problem:
        print(problem, file=sys.stderr)
        sys.exit(problem.exit_code)
