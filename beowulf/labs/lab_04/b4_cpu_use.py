"""B4, CPU use: how much of a core does a rank take that sends and waits, by the size of the message?

Paper B, figure 6, peaks that were read off `top` by hand: longer messages and non-blocking calls use more CPU.
Its MPICH waited in select(), which sleeps. Today's MPICH asks again and again, which takes the whole
core whatever is sent. So both are measured: `patient` polling, in which a rank that waits sleeps up to a
millisecond (beowulf/native/patient_poll.c), is the one to compare with the paper, and `spinning`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.course import personal_code
from beowulf.figures import Figure
from beowulf.measure import cpu
from beowulf.measure.judgement import below, difference, narrower, together
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import LAB, need_nodes
from beowulf.measure.statistics import LEAST_PAIRS, Summary, summary
from beowulf.measure.table import summarised, summary_of
from beowulf.record import Record
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study
from beowulf.verdict import Outcome

CPU = "cpu_percent"
PROTOCOLS = ("blocking", "nonblocking")
POLLING = {"patient": "always", "spinning": "never"}
SIZES = (1, 1024, 16_384, 65_536, 262_144, 1_048_576)
QUICK_SIZES = (1, 16_384, 262_144)
LAUNCHES = LEAST_PAIRS
CHUNK_S, CHUNKS = 0.1, 20
CLEARLY_MORE = 1.0  # percent of a core: the paper read whole percents off the display


def plan(cluster: Cluster, *, quick: bool, sizes: Sequence[int] | None = None) -> Plan:
    """One launch for each size, protocol and way of waiting, while /proc of both nodes is read."""
    need_nodes(cluster, 2)
    chosen = list(sizes if sizes is not None else QUICK_SIZES if quick else SIZES)
    launches = 1 if quick else LAUNCHES

    def steps(measurement: Measurement) -> None:
        for launch, size, protocol, polling in product(range(launches), chosen, PROTOCOLS, POLLING):
            _one(measurement, size, protocol, polling, launch)

    about = {"sizes": chosen, "launches": launches, "every_s": cpu.EVERY_S}
    return Plan(launches * len(chosen) * len(PROTOCOLS) * len(POLLING), about, steps)


def _one(measurement: Measurement, size: int, protocol: str, polling: str, launch: int) -> None:
    program = paths.root() / "labs" / LAB / "roundtrip.c"
    nodes = measurement.cluster.nodes[:2]
    words: list[str | int] = ["--protocol", protocol, "--sizes", size, "--passes", 1]
    words += ["--seed", personal_code.seed(launch)]
    # About two seconds.
    words += ["--chunks", CHUNKS, "--chunk-us", int(CHUNK_S * 1e6)]
    patient, at = {"BEOWULF_PATIENT": POLLING[polling]}, {"polling": polling}
    with cpu.watched(measurement.cluster, nodes, program.stem) as percents:
        measurement.launch(program, 2, words, launch=launch, environment=patient, at=at)
    place = {"size_bytes": size, "protocol": protocol, **at, "launch": launch}
    for node, samples in percents.items():
        measurement.add({**place, "node": node}, CPU, samples)


def use(record: Record, **at: object) -> Summary:
    """The CPU use at these coordinates; LabError without samples."""
    points = (p for p in record.select(**at) if p.quantity == CPU)
    return summary_of(points, busy=record.busy)


def sizes_of(record: Record) -> list[int]:
    """The sizes at which it was measured."""
    return sorted({int(p.at["size_bytes"]) for p in record.points if p.quantity == CPU})


def peak(record: Record, **at: object) -> Summary:
    """The highest use of each launch and node, as the paper's readers of `top` noted it; LabError without samples."""
    points = [p for p in record.select(**at) if p.quantity == CPU and p.samples]
    launches = [int(p.at.get("launch", 0)) for p in points]
    return summary([max(p.samples) for p in points], launches=launches, busy=record.busy)


Reading = Callable[..., Summary]


def nonblocking_uses_more(reading: Reading, record: Record) -> Judgement:
    """Figure 6, 'consistently': at each size, by more than a percent of a core."""
    outcomes, listed = [], []
    for size in sizes_of(record):
        blocking, nonblocking = (
            reading(record, size_bytes=size, protocol=protocol, polling="patient")
            for protocol in PROTOCOLS
        )
        outcomes.append(clearly_more(nonblocking, blocking))
        listed.append(f"{size:,} bytes: {blocking.median:.0f} and {nonblocking.median:.0f} %")
    if any(point.samples for point in record.select(polling="spinning")):
        spinning = use(record, polling="spinning").median
        listed.append(f"spinning, any rank uses {spinning:.0f} %")
    return Judgement(
        together(outcomes),
        f"blocking and non-blocking, patient: {'; '.join(listed)}",
        advice=narrower(record),
    )


def rises_with_size(reading: Reading, record: Record) -> Judgement:
    """Figure 6: the longest message against the shortest."""
    sizes = sizes_of(record)
    short, long = (
        reading(record, size_bytes=size, polling="patient") for size in (sizes[0], sizes[-1])
    )
    return Judgement(
        clearly_more(long, short),
        f"patient: {short.median:.0f} % of a core at {sizes[0]:,} bytes,"
        f" {long.median:.0f} % at {sizes[-1]:,} bytes",
        {"short_percent": short.median, "long_percent": long.median},
        advice=narrower(record),
    )


def clearly_more(one: Summary, other: Summary) -> Outcome:
    """Whether the first is above the second by more than a percent of a core; too few values leave it open."""
    if min(one.n, other.n) < LEAST_PAIRS:
        return "inconclusive"
    return below(CLEARLY_MORE, difference(one, other))


def picture(record: Record) -> Figure:
    """CPU use over the size, blocking and non-blocking, patient and spinning: figure 6."""
    from beowulf import figures

    percents = summarised(record, CPU, ["protocol", "polling", "size_bytes"])
    percents = percents.rename(columns={"median": CPU})
    names = zip(percents["protocol"], percents["polling"], strict=True)
    return figures.over_sizes(
        percents.assign(line=[f"{protocol}, {polling}" for protocol, polling in names]),
        CPU,
        "line",
        title="CPU use of a rank that plays ping-pong",
        y_title="CPU use, median with 95 % interval (% of a core)",
        joined=False,  # from 1 byte to 16 KiB, who knows where it falls?
    )


STUDY = Study(
    id="B4",
    title="CPU use of a rank by message size",
    plan=plan,
    judged=[
        Claim(
            "nonblocking-uses-more",
            "Non-blocking calls use more CPU than blocking ones, at each size",
            partial(nonblocking_uses_more, use),
            place="figure 6",
        ),
        Claim(
            "nonblocking-peaks-higher",
            "The peak of non-blocking calls, which the paper recorded, is higher at each size",
            partial(nonblocking_uses_more, peak),
            place="figure 6",
        ),
        Claim(
            "rises-with-size",
            "Longer messages use more CPU",
            partial(rises_with_size, use),
            place="figure 6",
        ),
        Claim(
            "peak-rises-with-size",
            "The peak, which the paper recorded, is higher with longer messages",
            partial(rises_with_size, peak),
            place="figure 6",
        ),
    ],
    draw=picture,
    troubles=partial(trouble, quantity=CPU),
    needs=(CABLE,),
    differs={
        "holds": (
            "A patient rank sleeps while it waits, as the paper's MPICH did in select(), so its "
            "use of a core is what sending costs: more for more calls, and more for more bytes."
        ),
        "contradicted": (
            "A long message is on the cable most of the time, while a patient rank sleeps, so it "
            "uses less of a core per second than a stream of short ones does, and both calls end "
            "in the same wait; the paper's peaks were read off `top` by hand."
        ),
        "inconclusive": (
            "The paper's effect has to exceed one per cent of a core, which other programs on the "
            "same cores add or take between two launches."
        ),
    },
)
