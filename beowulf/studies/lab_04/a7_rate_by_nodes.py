"""A7, rate by nodes: how many bits a second, over the size of the message, for 2, 3 and 4 nodes.

Paper A, figures 13 to 15: the rate rises with the size and saturates, more nodes give a higher rate,
blocking and non-blocking calls are nearly alike. It does not print its sizes, nor how three ranks are
paired. Here `ring` (each rank sends to the next) means the same for 2, 3 and 4 ranks, and `pairs`
(mpptest's two halves, for 2 and 4) has one message on a cable at a time; rates are summed over all.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.measure.judgement import (
    ALIKE,
    MOSTLY,
    Agreement,
    narrower,
    need_study,
    rising,
    unjudged,
    verdict,
)
from beowulf.measure.quality import NO_SAMPLES, trouble
from beowulf.measure.roundtrips import HALF, SweepConfig, pairs, rates, ratios, sweep
from beowulf.measure.statistics import Ratio
from beowulf.measure.sweep import powers_of_two
from beowulf.measure.wire import frame, mtu_of, payload_mbit_per_s
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.verdict import Outcome, Verdict

ID = "A7"
TITLE = "Rate over message size for 2, 3 and 4 nodes"
ADAPTIVE = True  # measure() can find sizes between those that it is given

LAST_BYTES = 4 * 1024 * 1024
QUICK_LAST_BYTES = 1024 * 1024
PROTOCOLS = ("blocking", "nonblocking")
RUNS = (("pairs", 2), ("pairs", 4), ("ring", 2), ("ring", 3), ("ring", 4))

FLAT = 0.1  # a saturated rate stays within this share of the rate of the largest message
RISEN = 0.5  # of the largest message's rate is more than the smallest message has
NEAR_THE_LINK = 0.05


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    sizes: Sequence[int] | None = None,
    adaptive: bool = False,
) -> Record:
    """Blocking and non-blocking in turns, for each pattern and number of ranks, in several launches.

    `adaptive`, sizes come in between where a time leaves the line between its neighbours.
    """
    if sizes is None:
        sizes = powers_of_two(1, QUICK_LAST_BYTES)[::2] if quick else powers_of_two(1, LAST_BYTES)
    plan = SweepConfig(RUNS, PROTOCOLS, sizes)
    return sweep(ID, cluster, folder, plan, quick=quick, refined=adaptive, progress=progress)


def claims(record: Record) -> list[Verdict]:
    """What paper A says of its figures 13 to 15, each held against this Record."""
    need_study(record, ID)
    bad = trouble(record)
    if NO_SAMPLES in bad:
        return unjudged(record, CLAIMS, bad)
    found = rates(record)
    return [
        _rises(record, found, bad),
        _alike(record, bad),
        _more_nodes(record, found, bad),
        _link(record, found, bad),
    ]


RISES = "The rate rises with the size of the message, then saturates"
SAME = "Blocking and non-blocking calls have nearly the same rate"
MORE = "More nodes have a higher rate"
LINK = "The rate saturates at what Ethernet, IP and TCP leave of the link"
CLAIMS = {
    "rises-then-saturates": RISES,
    "blocking-alike": SAME,
    "more-nodes-higher-rate": MORE,
    "saturates-at-the-link": LINK,
}


def saturation_bytes(rate: pd.Series[float]) -> int:
    """The smallest size from which on the rate (by size) stays within 10 % of that of the largest."""
    away = (rate / rate.iloc[-1] - 1).abs() > FLAT
    outside = [place for place, far in enumerate(away) if far]
    return int(rate.index[outside[-1] + 1 if outside else 0])


def _one(found: pd.DataFrame, pattern: str, ranks: int, protocol: str) -> pd.DataFrame:
    chosen = (found["pattern"] == pattern) & (found["ranks"] == ranks)
    return found[chosen & (found["protocol"] == protocol)].set_index("size_bytes").sort_index()


def _at(found: pd.DataFrame, pattern: str, ranks: int, size: int) -> dict[str, float]:
    row = _one(found, pattern, ranks, "nonblocking").to_dict("index")[size]
    return {name: float(row[name]) for name in ("rate_mbit_per_s", "low", "high")}


def _rises(record: Record, found: pd.DataFrame, bad: list[str]) -> Verdict:
    falls, still, sizes, humps = [], [], {}, []
    for ranks in (ranks for pattern, ranks in RUNS if pattern == "pairs"):
        for protocol in PROTOCOLS:
            rate = _one(found, "pairs", ranks, protocol)["rate_mbit_per_s"]
            name = f"np {ranks}, {protocol}"
            sizes[name] = saturation_bytes(rate)
            values: list[float] = rate.tolist()
            first, before, last, highest = values[0], values[-2], values[-1], max(values)
            if first > RISEN * last or last < (1 - FLAT) * before:
                falls.append(name)
            elif last > (1 + FLAT) * before:
                still.append(name)
            if highest > (1 + FLAT) * last:
                size = int(rate.index[values.index(highest)])
                humps.append(f"{highest:.0f} Mbit/s at {size:,} bytes ({name})")
    outcome: Outcome = "contradicted" if falls else "inconclusive" if still else "holds"
    evidence = "saturated from " + "; ".join(f"{n:,} bytes ({name})" for name, n in sizes.items())
    if falls:
        evidence = f"no rise to a plateau: {', '.join(falls)}"
    elif still:
        evidence = f"still rising at the largest message: {', '.join(still)}"
    elif humps:
        # A shaped link lets a short burst pass at once: a message within it is not slowed.
        evidence += f"; before that, faster: {humps[0]}"
    return verdict(
        record,
        "rises-then-saturates",
        RISES,
        outcome,
        evidence,
        advice=_larger(record) if still else "",
        numbers={"saturation_bytes": sizes},
        trouble=bad,
    )


def _larger(record: Record) -> str:
    if record.sweep.get("quick"):
        return "Measure larger messages: without --quick the sweep is longer."
    return "Measure larger messages: the study's `measure()` takes the `sizes` that it is given."


def _alike(record: Record, bad: list[str]) -> Verdict:
    found: dict[tuple[int, int], Ratio] = {}
    for ranks in (ranks for pattern, ranks in RUNS if pattern == "pairs"):
        compared = pairs(
            record, HALF, "protocol", "nonblocking", "blocking", pattern="pairs", ranks=ranks
        )
        found |= {(size, ranks): each for size, each in ratios(compared).items()}
    agree = Agreement.of(found.values(), ALIKE)
    outcome = agree.outcome(MOSTLY)
    (size, ranks), most = max(found.items(), key=lambda each: abs(each[1].median - 1))
    return verdict(
        record,
        "blocking-alike",
        SAME,
        outcome,
        f"{agree}; the largest median: non-blocking takes {most.median:.2f} times"
        f" ({most.low:.2f} to {most.high:.2f}) at {size:,} byte{'' if size == 1 else 's'}, np {ranks}",
        advice=narrower(record) if outcome == "inconclusive" else "",
        numbers={
            "alike": agree.alike,
            "differ": agree.differ,
            "undecided": agree.undecided,
            "places": agree.places,
        },
        trouble=bad,
    )


def _more_nodes(record: Record, found: pd.DataFrame, bad: list[str]) -> Verdict:
    size = int(found["size_bytes"].max())
    rows = {n: _at(found, "ring", n, size) for pattern, n in RUNS if pattern == "ring"}
    outcome = rising([(row["low"], row["high"]) for row in rows.values()])
    said = ", ".join(f"np {n}: {row['rate_mbit_per_s']:.1f} Mbit/s" for n, row in rows.items())
    return verdict(
        record,
        "more-nodes-higher-rate",
        MORE,
        outcome,
        f"{said} with {size:,} bytes in a ring"
        + ("; the intervals touch" if outcome == "inconclusive" else ""),
        numbers={f"np_{n}_mbit_per_s": row["rate_mbit_per_s"] for n, row in rows.items()},
        trouble=bad,
    )


def _link(record: Record, found: pd.DataFrame, bad: list[str]) -> Verdict:
    left = payload_mbit_per_s(record.cluster)
    rate = float(_one(found, "pairs", 2, "blocking")["rate_mbit_per_s"].iloc[-1])
    if left is None:
        return verdict(
            record,
            "saturates-at-the-link",
            LINK,
            "inconclusive",
            f"{rate:.1f} Mbit/s, and the links have no known rate",
            advice="Measure on a cluster with a rate, such as `beowulf up --rate 100mbit`.",
            trouble=bad,
        )
    data, whole = frame(mtu_of(record.cluster))
    near = abs(rate - left) <= NEAR_THE_LINK * left
    return verdict(
        record,
        "saturates-at-the-link",
        LINK,
        "holds" if near else "contradicted",
        f"{rate:.1f} Mbit/s of data; headers leave {data} of every {whole} bytes, {left:.1f} Mbit/s",
        numbers={"rate_mbit_per_s": rate, "left_mbit_per_s": left},
        trouble=bad,
    )


def picture(record: Record) -> Figure:
    """The rate over the size for np = 2, 3 and 4 in a ring, blocking and non-blocking: figure 15."""
    from beowulf import figures

    need_study(record, ID)
    found = rates(record)
    found = found[found["pattern"] == "ring"].sort_values(["ranks", "protocol", "size_bytes"])
    found = found.assign(
        line=[f"np {r}, {p}" for r, p in zip(found["ranks"], found["protocol"], strict=True)]
    )
    return figures.over_sizes(
        found,
        "rate_mbit_per_s",
        "line",
        title="Rate by message size in a ring, summed over all ranks",
        y_title="rate, median with 95 % interval (Mbit/s)",
    )
