"""B4, CPU use: how much of a core does a rank take that sends and waits, by the size of the message?

Paper B, figure 6, read off `top` by hand: longer messages and non-blocking calls use more CPU.
Its MPICH waited in select(), which sleeps. Today's MPICH asks again and again, which takes the whole
core whatever is sent. So both are measured: `patient` polling, in which a rank that waits sleeps up to a
millisecond (beowulf/native/patient_poll.c), is the one to compare with the paper, and `spinning`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.figures import Figure
from beowulf.measure import cpu
from beowulf.measure.judgement import need_study, unjudged, verdict
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import NO_SAMPLES, trouble
from beowulf.measure.roundtrips import LAB, need_nodes
from beowulf.measure.statistics import summary
from beowulf.measure.sweep import checked
from beowulf.measure.table import summarised
from beowulf.record import Record
from beowulf.studies import Progress, no_progress
from beowulf.verdict import Outcome, Verdict

ID = "B4"
TITLE = "CPU use of a rank by message size"

CPU = "cpu_percent"
PROTOCOLS = ("blocking", "nonblocking")
POLLING = {"patient": "always", "spinning": "never"}
SIZES = (1, 1024, 16_384, 65_536, 262_144, 1_048_576)
QUICK_SIZES = (1, 16_384, 262_144)
LAUNCHES = 3
CHUNK_S, CHUNKS = 0.1, 20
CLEARLY_MORE = 1.0  # percent of a core

MORE = "Non-blocking calls use more CPU than blocking ones"
RISES = "Longer messages use more CPU"


def measure(
    cluster: Cluster,
    folder: Path,
    *,
    quick: bool = False,
    progress: Progress = no_progress,
    sizes: Sequence[int] | None = None,
) -> Record:
    """One launch for each size, protocol and way of waiting, while /proc of both nodes is read."""
    need_nodes(cluster, 2)
    free = cluster.free_memory_bytes()
    chosen = checked(sizes if sizes is not None else QUICK_SIZES if quick else SIZES, free=free)
    launches = 1 if quick else LAUNCHES
    told = {"sizes": chosen, "launches": launches, "every_s": cpu.EVERY_S}
    planned = launches * len(chosen) * len(PROTOCOLS) * len(POLLING)
    with Measurement(
        ID, cluster, folder, quick=quick, progress=progress, launches=planned, sweep=told
    ) as session:
        for launch in range(launches):
            for size in chosen:
                for protocol in PROTOCOLS:
                    for polling in POLLING:
                        _one(session, size, protocol, polling, launch)
    return session.record()


def _one(session: Measurement, size: int, protocol: str, polling: str, launch: int) -> None:
    program = paths.root() / "labs" / LAB / "roundtrip.c"
    nodes = session.cluster.nodes[:2]
    words: list[str | int] = ["--protocol", protocol, "--sizes", size, "--passes", 1]
    # About two seconds.
    words += ["--chunks", CHUNKS, "--chunk-us", int(CHUNK_S * 1e6)]
    with cpu.watched(session.cluster, nodes, program.stem) as use:
        session.launch(
            program,
            2,
            words,
            launch=launch,
            environment={"BEOWULF_PATIENT": POLLING[polling]},
            at={"polling": polling},
        )
    at = {"size_bytes": size, "protocol": protocol, "polling": polling, "launch": launch}
    for node, samples in use.percent.items():
        session.add({**at, "node": node}, CPU, samples)


def claims(record: Record) -> list[Verdict]:
    """What paper B says of its figure 6, each held against this Record."""
    need_study(record, ID)
    bad = trouble(record, CPU)
    if NO_SAMPLES in bad:
        return unjudged(record, {"nonblocking-uses-more": MORE, "rises-with-size": RISES}, bad)
    return [_more(record, bad), _rises(record, bad)]


def _samples(record: Record, **at: object) -> list[float]:
    return [s for p in record.select(**at) if p.quantity == CPU for s in p.samples]


def _more(record: Record, bad: list[str]) -> Verdict:
    sizes = sorted({int(p.at["size_bytes"]) for p in record.points if p.quantity == CPU})
    more, less, said = [], [], []
    for size in sizes:
        by = {
            p: summary(_samples(record, size_bytes=size, protocol=p, polling="patient"))
            for p in PROTOCOLS
        }
        old, new = by["blocking"], by["nonblocking"]
        if new.low > old.high + CLEARLY_MORE:
            more.append(size)
        elif new.high < old.low + CLEARLY_MORE:
            less.append(size)
        said.append(f"{size:,} bytes: {old.median:.0f} and {new.median:.0f} %")
    outcome: Outcome = "inconclusive"
    if len(more) > len(sizes) / 2:
        outcome = "holds"
    elif len(less) > len(sizes) / 2:
        outcome = "contradicted"
    spinning = _samples(record, polling="spinning")
    also = f"; spinning, any rank uses {summary(spinning).median:.0f} %" if spinning else ""
    return verdict(
        record,
        "nonblocking-uses-more",
        MORE,
        outcome,
        f"blocking and non-blocking, patient: {'; '.join(said)}{also}",
        numbers={"more": more, "not_more": less},
        trouble=bad,
    )


def _rises(record: Record, bad: list[str]) -> Verdict:
    sizes = sorted({int(p.at["size_bytes"]) for p in record.points if p.quantity == CPU})
    ends = {
        size: summary(_samples(record, size_bytes=size, polling="patient"))
        for size in (sizes[0], sizes[-1])
    }
    short, long = ends[sizes[0]], ends[sizes[-1]]
    outcome: Outcome = "inconclusive"
    if long.low > short.high + CLEARLY_MORE:
        outcome = "holds"
    elif long.high < short.low + CLEARLY_MORE:
        outcome = "contradicted"
    return verdict(
        record,
        "rises-with-size",
        RISES,
        outcome,
        f"patient: {short.median:.0f} % of a core at {sizes[0]:,} bytes,"
        f" {long.median:.0f} % at {sizes[-1]:,} bytes",
        numbers={"short_percent": short.median, "long_percent": long.median},
        trouble=bad,
    )


def picture(record: Record) -> Figure:
    """CPU use over the size, blocking and non-blocking, patient and spinning: figure 6."""
    from beowulf import figures

    need_study(record, ID)
    found = summarised(record, CPU, ["protocol", "polling", "size_bytes"])
    found = found.rename(columns={"median": CPU})
    names = zip(found["protocol"], found["polling"], strict=True)
    return figures.over_sizes(
        found.assign(line=[f"{protocol}, {polling}" for protocol, polling in names]),
        CPU,
        "line",
        title="CPU use of a rank that plays ping-pong",
        y_title="CPU use, median with 95 % interval (% of a core)",
        joined=False,  # from 1 byte to 16 KiB, who knows where it falls?
    )
