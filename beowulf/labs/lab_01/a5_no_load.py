"""A5, no load: what does the wire carry when nothing runs?

Paper A (section III, stage 4) captures the idle network first, to compare later captures with it.
It lists elapsed time, first to last packet, packets, bytes, and averages per second.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from beowulf.cluster import SWITCH, WIRE, Cluster
from beowulf.cluster.common.config import RATE_BITS_PER_S
from beowulf.figures import Figure
from beowulf.measure.measurement import Measurement
from beowulf.record import Point, Record, reserve
from beowulf.studies.study import PACKETS, Claim, Judgement, Plan, Study

ELAPSED_S = 60.0
QUICK_ELAPSED_S = 10.0
IDLE_SHARE = 0.01  # an idle wire uses less than this share of what it can carry
SHORTEST_S = 5.0


def plan(_cluster: Cluster, *, quick: bool) -> Plan:
    """Capture the wire for a minute (10 s if `quick`) while nothing of ours runs."""
    seconds = QUICK_ELAPSED_S if quick else ELAPSED_S

    def steps(measurement: Measurement) -> None:
        folder = measurement.folder
        folder.mkdir(parents=True, exist_ok=True)
        named = Record(study=measurement.study, started=measurement.started).file_name
        file = reserve((folder / named).with_suffix(".pcapng"))
        try:
            with measurement.cluster.capture(file) as wire:
                began = time.monotonic()
                while (passed := time.monotonic() - began) < seconds:
                    measurement.progress(passed, seconds, "listening to the idle wire")
                    time.sleep(min(0.5, seconds - passed))
        except BaseException:
            file.unlink(missing_ok=True)  # useless without its Record
            raise
        measurement.points.append(Point({"where": wire.where}, facts=wire.summary()))
        measurement.captures.append(wire.facts())
        measurement.warnings += wire.warnings

    return Plan(1, {"seconds": seconds}, steps)


def seen(record: Record) -> dict[str, Any]:
    """What was seen on the wire: at the switch, on all cards together, or on one card; empty if nothing was."""
    places = [SWITCH, WIRE, *record.cluster.get("nodes", ())]
    facts = [point.facts for point in record.points if point.at.get("where") in places]
    return facts[0] if facts else {}


def quiet(record: Record) -> Judgement:
    """What the wire carried, as a share of what it can carry."""
    facts = record.points[0].facts
    rate = RATE_BITS_PER_S.get(str(record.cluster.get("rate")))
    mbit, sent, elapsed_s = facts["mbit_per_s"], facts["bytes"], facts["elapsed_s"]
    numbers = {"mbit_per_s": mbit, "packets": facts["packets"]}
    evidence = f"{sent:,} bytes in {elapsed_s:.0f} s"  # the lab asks how many Mbit/s that is
    short = elapsed_s < SHORTEST_S
    if rate is None or short:
        why = "the capture is too short" if short else "the links have no rate to compare with"
        advice = f"Capture at least {SHORTEST_S:g} s on a cluster with a rate, such as `beowulf up --rate 100mbit`."
        return Judgement("inconclusive", evidence, numbers, advice, undecidable=why)
    limit = f"{100 * IDLE_SHARE:g} % of the link's {rate / 1e6:g} Mbit/s"
    return Judgement(
        "holds" if mbit * 1e6 < IDLE_SHARE * rate else "contradicted",
        f"{evidence}; {limit} would be {IDLE_SHARE * rate / 8 * elapsed_s:,.0f} bytes",
        numbers,
        hint="Something is running: `beowulf ssh node00 ps ax` shows what.",
    )


def recount(record: Record, capture: Path) -> dict[str, Any]:
    """Packets and bytes of a capture, counted again over the same time; empty if the Record does not name it."""
    from beowulf.packets.protocols import summary

    since, until = (record.captures[0].get(name) for name in ("began", "ended"))
    if since is None or until is None:
        return {}
    counted = summary(
        capture, record.points[0].facts["elapsed_s"], since=since, until=until or None
    )
    return {name: counted[name] for name in ("packets", "bytes")}


def picture(record: Record) -> Figure:
    """Packets by protocol on the idle wire."""
    from beowulf import figures

    facts = record.points[0].facts
    counts = {name: each["packets"] for name, each in facts["protocols"].items()}
    return figures.bars(
        counts or {"none": 0},
        title=f"The idle wire: {facts['packets']} packets in {facts['elapsed_s']:.0f} s",
        value_title="packets",
    )


STUDY = Study(
    id="A5",
    title="The idle wire: what it carries when nothing runs",
    plan=plan,
    judged=[
        Claim(
            "idle-wire-is-quiet",
            "When nothing runs, the wire carries less than 1 % of what it can",
            quiet,
        )
    ],
    draw=picture,
    timed=False,
    recount=recount,
    asked=("mbit_per_s",),
    needs=(PACKETS,),
    differs={
        "holds": (
            "A switched network without users carries little more than address requests and "
            "keep-alive packets of open connections; the paper prints no figures for its own."
        ),
        "contradicted": (
            "Something uses this network: a login, a copy or an update carries more than a "
            "hundredth of the cable's rate, unlike an idle private LAN."
        ),
        "inconclusive": (
            "The traffic cannot be compared with the cable's rate if the capture is shorter than "
            "five seconds or the rate is unknown."
        ),
    },
)
