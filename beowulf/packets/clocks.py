"""Packets of several machines in one order, although each machine has a clock of its own.

An acknowledgement is sent after the segment that it acknowledges. So the earliest acknowledgement of each direction
bounds how far one clock can be ahead of another. Where the times contradict that, they are shifted, each machine's all
by the same amount, to the middle of what the bounds allow; where they do not, they stay as they are.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from beowulf.errors import LabError
from beowulf.packets.batches import Integers
from beowulf.packets.headers import ACK, FIN, SYN, TCP
from beowulf.packets.table import Packets

if TYPE_CHECKING:
    import pandas as pd

# Source, its port, destination, its port.
Direction = tuple[str, int, str, int]

MOST_PACKETS = 500_000  # of each machine; more tell hardly more
_ENDS = ["src", "src_port", "dst", "dst_port"]
_COLUMNS = ["time_ns", "seq", "ack", "flags", "payload_bytes"]


def order(
    parts: Mapping[str, Sequence[Path]], ahead_s: Mapping[str, float]
) -> tuple[dict[str, float], list[str]]:
    """Shift the times in the files of machines whose clocks differ; by how many seconds, and warnings.

    `ahead_s` is by how much clocks are ahead, where that is known before.
    """
    shifted: dict[str, float] = {}

    def shift(by: Mapping[str, float]) -> None:
        for name in by.keys() & parts.keys():
            for part in parts[name]:
                _shift(part, by[name])
            shifted[name] = shifted.get(name, 0.0) + by[name]

    shift({name: -ahead for name, ahead in ahead_s.items() if ahead})
    by, well = shifts_s(parts)
    shift(by)
    warnings = [
        f"The clock of {name} differs from the others: the times of its packets are shifted, so that no answer comes"
        " before its question."
        for name in sorted(shifted)
    ]
    if not well:
        warnings.append(
            "The clocks of the nodes drift so fast that their packets cannot be put in order: the order and the"
            " times of packets of different nodes are not reliable."
        )
    return shifted, warnings


def _shift(part: Path, seconds: float) -> None:
    """Change the times of all packets of a file."""
    shifted = part.with_name(f"{part.name}.shifted")
    words = ["editcap", "-F", "pcapng", "-t", f"{seconds:.9f}", str(part), str(shifted)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode and "cut short" not in done.stderr:
        raise LabError(f"The times of {part} could not be changed: {done.stderr.strip()}")
    shifted.replace(part)


def shifts_s(parts: Mapping[str, Sequence[Path]]) -> tuple[dict[str, float], bool]:
    """By how many seconds each machine's times are to be shifted; whether all answers then come behind their questions.

    `parts` are the files of each machine, with what that machine sent.
    """
    names = list(parts)
    sent = {name: _sent(files) for name, files in parts.items()}
    least_s = np.full((len(names), len(names)), np.inf)
    np.fill_diagonal(least_s, 0.0)
    for one, asking in enumerate(names):
        for other, answering in enumerate(names):
            if one != other:
                least_s[one, other] = _earliest_s(sent[asking], sent[answering])
    if (least_s[~np.eye(len(names), dtype=np.bool_)] > 0).all():
        return {}, True
    # The bounds of all pairs together: shortest paths (Floyd, Warshall).
    for middle in range(len(names)):
        least_s = np.minimum(least_s, least_s[:, [middle]] + least_s[[middle], :])
    if (np.diag(least_s) < 0).any():
        return {}, False
    ahead = np.zeros(len(names))
    related = np.isfinite(least_s[0]) & np.isfinite(least_s[:, 0])
    ahead[related] = (least_s[0, related] - least_s[related, 0]) / 2
    return {name: -float(each) for name, each in zip(names, ahead, strict=True) if each}, True


def _earliest_s(
    asking: Mapping[Direction, pd.DataFrame], answering: Mapping[Direction, pd.DataFrame]
) -> float:
    """How soon, at the earliest, one machine acknowledged what another had sent, by their two clocks; inf if never."""
    answers_ns = [
        _answer_ns(data, answering[back])
        for way, data in asking.items()
        if (back := (way[2], way[3], way[0], way[1])) in answering
    ]
    return min((ns / 1e9 for ns in answers_ns if ns is not None), default=float("inf"))


def _answer_ns(data: pd.DataFrame, answers: pd.DataFrame) -> int | None:
    seq, flags = data["seq"].to_numpy(), data["flags"].to_numpy()
    length = data["payload_bytes"].to_numpy(dtype=np.int64) + (flags & (SYN | FIN) != 0)
    ends = _since(seq, seq[0]) + length
    # What is retransmitted may have been acknowledged before.
    before = np.concatenate([[np.iinfo(np.int64).min], np.maximum.accumulate(ends)[:-1]])
    fresh = (length > 0) & (ends > before)
    says = answers[answers["flags"] & ACK != 0]
    if not fresh.any() or says.empty:
        return None
    reached = np.maximum.accumulate(_since(says["ack"].to_numpy(), seq[0]))
    at = np.searchsorted(reached, ends[fresh])
    answered = at < reached.size
    if not answered.any():
        return None
    asked_ns = data["time_ns"].to_numpy()[fresh][answered]
    return int((says["time_ns"].to_numpy()[at[answered]] - asked_ns).min())


def _since(number: NDArray[Any], base: Any) -> Integers:
    """TCP's numbers, which begin again after 2^32, as distances from one of them."""
    distance: Integers = (number - base).astype(np.uint32).view(np.int32).astype(np.int64)
    return distance


def _sent(files: Sequence[Path]) -> dict[Direction, pd.DataFrame]:
    """What one machine sent in each direction of a connection, in the order of its clock."""
    import pandas as pd

    pieces, count = [pd.DataFrame(columns=_ENDS)], 0
    for file in files:
        packets = Packets(file)
        for piece in packets:
            tcp = piece["transport"] & (piece["ip_protocol"] == TCP)
            columns = {name: piece[name][tcp] for name in (*_ENDS, *_COLUMNS)}
            names = np.array(packets.addresses)
            columns |= {end: names[columns[end]] for end in ("src", "dst")}
            pieces.append(pd.DataFrame(columns))
            count += tcp.size
            if count >= MOST_PACKETS:
                break
    every = pd.concat(pieces[1:] or pieces, ignore_index=True)
    by_way: dict[Any, pd.DataFrame] = dict(iter(every.groupby(_ENDS, sort=False)))
    return by_way
