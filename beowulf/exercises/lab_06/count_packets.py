"""Lab 06's exercise: a learner's own counts of a capture, held against ours and kept beside the notebook.

A Record of A12 with the variant `tally`: A12's quantities, counted by functions of the learner's.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beowulf.cluster import Cluster
from beowulf.errors import LabError, UsageError
from beowulf.exercises import own_functions
from beowulf.exercises.lab_06 import capture_run
from beowulf.record import Point, Record

if TYPE_CHECKING:
    import pandas as pd

STUDY, VARIANT = "A12", "tally"
RANKS = 4
# From these a new conversation is drawn each time, so that no number of an earlier one fits it.
BYTES, EXCHANGES = range(2_000, 20_000), range(60, 140)
CLOSE = 1e-3  # of our own count: rounding to three digits is right, another count is not

_TCP = 6
_OPENS_OR_CLOSES = "FIN|SYN|RST"


def ack_share(packets: pd.DataFrame, messages: pd.DataFrame) -> float:
    """Of all TCP packets, the share that only acknowledges."""
    tcp = packets[packets["ip_protocol"] == _TCP]
    empty = (tcp["payload_bytes"] == 0) & ~tcp["flags"].str.contains(_OPENS_OR_CLOSES)
    return float(empty.mean())


def overhead(packets: pd.DataFrame, messages: pd.DataFrame) -> float:
    """Of all bytes of TCP packets, the share that is not payload."""
    tcp = packets[packets["ip_protocol"] == _TCP]
    return float(1 - tcp["payload_bytes"].sum() / tcp["wire_bytes"].sum())


def bytes_a_message(packets: pd.DataFrame, messages: pd.DataFrame) -> float:
    """The bytes of all packets on the connections between the ranks, divided by all MPI messages."""
    talks = {tuple(ends) for ends in messages[["src_port", "dst_port"]].to_numpy().tolist()}
    talks |= {(there, here) for here, there in talks}
    ends = zip(packets["src_port"], packets["dst_port"], strict=True)
    mine = [each in talks for each in ends]
    return float(packets["wire_bytes"][mine].sum() / len(messages))


OURS: dict[str, Callable[[pd.DataFrame, pd.DataFrame], float]] = {
    "ack_share": ack_share,
    "overhead": overhead,
    "bytes_a_message": bytes_a_message,
}


def counts(file: Path, functions: Mapping[str, Any]) -> list[Point]:
    """A Point for each count of a capture: what the learner's function gives, and ours.

    What is no number is kept as None, with the reason.
    """
    from beowulf.packets.mpi_messages import messages
    from beowulf.packets.table import read

    tables = read(file), messages(file)
    if tables[1].empty:
        raise LabError(f"There is no MPI message in {file}.", "Capture a run of conversation.c.")
    found = []
    for name, ours in OURS.items():
        wanted = ours(*tables)
        given, why = _called(functions.get(name), name, tables)
        right = given is not None and is_right(given, wanted)
        facts = {"yours": given, "ours": wanted, "right": right, "why": why}
        found.append(Point({"count": name}, facts=facts))
    return found


def is_right(yours: float, ours: float) -> bool:
    """Whether a count is ours, up to rounding."""
    return abs(yours - ours) <= CLOSE * abs(ours)


def _called(function: Any, name: str, tables: Sequence[pd.DataFrame]) -> tuple[float | None, str]:
    copies = [table.copy() for table in tables]  # a function may change what it is given
    return own_functions.called(function, name, copies if name == "bytes_a_message" else copies[:1])


def conversation(chance: random.Random) -> list[str | int]:
    """The arguments of a conversation whose size and number of messages are drawn by chance."""
    size, exchanges = chance.choice(BYTES), chance.choice(EXCHANGES)
    return ["--protocol", "blocking", "--bytes", size, "--exchanges", exchanges, "--tag", 8]


def measure(
    cluster: Cluster, source: Path | str = "tally.py", chance: random.Random | None = None
) -> Record:
    """Capture a conversation that is drawn by `chance`, count it by `source`, and keep the Record.

    A recorded cluster gives what was kept. LabError when `source` is no Python or the run fails.
    """
    if recorded := cluster.replay(STUDY, VARIANT):
        return recorded
    functions = own_functions.functions(Path(source))
    program = Path(source).with_name("conversation.c")
    return capture_run.record(
        cluster,
        STUDY,
        VARIANT,
        program,
        conversation(chance or random.Random()),
        ranks=RANKS,
        look=lambda file: counts(file, functions),
    )


def lines(points: Sequence[Point]) -> list[str]:
    """What each count gives, and whether it is right; our own number stays with us."""
    said = []
    for point in points:
        facts = point.facts
        if facts["yours"] is None:
            verdict = facts["why"]
        elif facts["right"]:
            verdict = "right"
        else:
            verdict = "too small" if facts["yours"] < facts["ours"] else "too large"
            if facts["ours"] <= 1 < facts["yours"]:
                verdict += ": a share lies between 0 and 1"
        value = "" if facts["yours"] is None else f"{facts['yours']:.5g}"
        said.append(f"{point.at['count']:<16} {value:>10}  {verdict}")
    return said


def main(words: Sequence[str], functions: Mapping[str, Any]) -> None:
    """Count the capture that was named on the command line, and say what is right."""
    try:
        if len(words) != 2:
            raise UsageError("One capture is counted.", "`python tally.py conversation.pcapng`")
        for line in lines(counts(Path(words[1]), functions)):
            print(line)
    except LabError as problem:
        sys.exit(f"tally.py: {problem}")
