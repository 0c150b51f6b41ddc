"""A5, no load: what does the wire carry when nothing runs?

Paper A (section III, stage 4) captures the idle network first, to hold later captures against it.
It lists elapsed time, first to last packet, packets, bytes, and averages per second.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from beowulf import host_state
from beowulf.cluster import SWITCH, WIRE, Cluster
from beowulf.cluster.config import RATE_BITS_PER_S
from beowulf.figures import Figure
from beowulf.measure.judgement import need_study
from beowulf.record import Point, Record, moment, reserve
from beowulf.studies import Progress, no_progress
from beowulf.verdict import Outcome, Verdict

ID = "A5"
TITLE = "The idle wire: what it carries when nothing runs"

ELAPSED_S = 60.0
QUICK_ELAPSED_S = 10.0
IDLE_SHARE = 0.01  # an idle wire uses less than this share of what it can carry
SHORTEST_S = 5.0


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
) -> Record:
    """Capture the wire for a minute (10 s if `quick`) while nothing of ours runs."""
    started, before = moment(), host_state.now()
    seconds = QUICK_ELAPSED_S if quick else ELAPSED_S
    folder.mkdir(parents=True, exist_ok=True)
    named = Record(study=ID, started=started).file_name
    file = reserve((folder / named).with_suffix(".pcapng"))
    try:
        with cluster.capture(file) as wire:
            began = time.monotonic()
            while (passed := time.monotonic() - began) < seconds:
                progress(passed, seconds, "listening to the idle wire")
                time.sleep(min(0.5, seconds - passed))
    except BaseException:
        file.unlink(missing_ok=True)  # without its Record it says nothing
        raise
    return Record(
        study=ID,
        program={"name": "", "arguments": [], "sha256": ""},
        sweep={"seconds": seconds},
        points=[Point({"where": wire.where}, facts=wire.summary())],
        cluster=dict(cluster.describe()),
        circumstances={"before": before, "after": host_state.now()},
        versions=host_state.versions(),
        started=started,
        ended=moment(),
        captures=[wire.facts()],
        warnings=wire.warnings,
    )


def seen(record: Record) -> dict[str, Any]:
    """What was seen of the wire: at the switch, on all cards together, or on one card; empty if it is not there."""
    nodes = record.cluster.get("nodes")
    places = [SWITCH, WIRE, *(nodes if isinstance(nodes, list | tuple) else ())]
    found = [point.facts for point in record.points if point.at.get("where") in places]
    return found[0] if found else {}


def claims(record: Record) -> list[Verdict]:
    """The idle wire is a baseline only if it is nearly silent and no MPI or file transfer is on it."""
    need_study(record, ID)
    facts = record.points[0].facts
    rate = RATE_BITS_PER_S.get(str(record.cluster.get("rate")))
    mbit = facts["mbit_per_s"]
    short = facts["elapsed_s"] < SHORTEST_S
    outcome: Outcome
    if rate is None or short:
        why = "the capture is too short" if short else "the links have no rate to compare with"
        outcome, evidence = "inconclusive", f"{mbit:.6f} Mbit/s, but {why}"
        advice = f"Capture at least {SHORTEST_S:g} s on a cluster with a rate, such as `beowulf up --rate 100mbit`."
    else:
        share = mbit * 1e6 / rate
        outcome = "holds" if share < IDLE_SHARE else "contradicted"
        evidence = f"{mbit:.6f} Mbit/s is {share:.5%} of the link's {rate / 1e6:g} Mbit/s"
        advice = (
            "" if share < IDLE_SHARE else "Something runs: `beowulf ssh node00 ps ax` shows what."
        )
    numbers = {"mbit_per_s": mbit, "packets": facts["packets"]}
    return [
        Verdict(
            ID,
            "idle-wire-is-quiet",
            "When nothing runs, the wire carries less than 1 % of what it can",
            outcome,
            evidence,
            advice,
            numbers,
            [record.digest],
        )
    ]


def picture(record: Record) -> Figure:
    """Packets by protocol on the idle wire."""
    from beowulf import figures

    need_study(record, ID)
    facts = record.points[0].facts
    counts = {name: found["packets"] for name, found in facts["protocols"].items()}
    return figures.bars(
        counts or {"none": 0},
        title=f"The idle wire: {facts['packets']} packets in {facts['elapsed_s']:.0f} s",
        value_title="packets",
    )
