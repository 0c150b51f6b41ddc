"""B4, CPU use: how much of a core does a rank that sends and waits use, by the size of the message?

Paper B, figure 6, shows peaks read off `top` by hand: longer messages and non-blocking calls use more CPU.
Its MPICH waited in select(), which sleeps. Today's MPICH checks again and again, which uses the whole
core whatever is sent. So both are measured: `patient` polling, in which a rank that waits sleeps up to a
millisecond (beowulf/native/patient_poll.c), is the one to compare with the paper, and `spinning`.

Its figures may come from mpptest with -overlap, whose axis is the work during an empty message: patient ranks are
also measured in that way. Its cards raised interrupts, which may be delayed: with a moderation that we set (the
paper names none) short messages wait longer. That result follows from our setting, so it is a demonstration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from beowulf import paths
from beowulf.cluster import Cluster
from beowulf.course import personal_code
from beowulf.errors import LabError
from beowulf.figures import Figure
from beowulf.measure import cpu, mpptest
from beowulf.measure.judgement import below, difference, narrower, together
from beowulf.measure.measurement import Measurement
from beowulf.measure.quality import trouble
from beowulf.measure.roundtrips import LAB, need_nodes
from beowulf.measure.statistics import LEAST_PAIRS, Summary, summary
from beowulf.measure.table import summarised, summary_of
from beowulf.record import Point, Record
from beowulf.studies import mpptest_reading
from beowulf.studies.states import KNOBS
from beowulf.studies.study import CABLE, Claim, Judgement, Plan, Study
from beowulf.tuning import knob_places
from beowulf.tuning.change import changed
from beowulf.tuning.knobs.moderation import Moderation
from beowulf.verdict import Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CPU = "cpu_percent"
PROTOCOLS = ("blocking", "nonblocking")
POLLING = {"patient": "always", "spinning": "never"}
SIZES = (1, 1024, 16_384, 65_536, 262_144, 1_048_576)
QUICK_SIZES = (1, 16_384, 262_144)
# In addition to the messages of SIZES: mpptest's work, and messages to cards that delay their interrupts.
OVERLAP, MODERATED = "mpptest, work", "moderated"
MODERATION_US = "100"
LAUNCHES = LEAST_PAIRS
SPINNING_LAUNCHES = 3  # a rank that spins uses its whole core, whatever is sent
CHUNK_S, CHUNKS = 0.1, 20
MOST_TRIPS = 1_000_000  # of a run of mpptest's, which ends after CHUNK_S
AS_MPPTEST = {"blocking": "blocking", "nonblocking": "async"}
CLEARLY_MORE = 1.0  # percent of a core: the paper's peaks were read off the display by hand
ASKED = f"more by {CLEARLY_MORE:g} % of a core"


def plan(cluster: Cluster, *, quick: bool, sizes: Sequence[int] | None = None) -> Plan:
    """One launch for each size, protocol and way of waiting, while /proc of both nodes is read."""
    need_nodes(cluster, 2)
    chosen = list(sizes if sizes is not None else QUICK_SIZES if quick else SIZES)
    launches = 1 if quick else LAUNCHES
    ends = sorted({chosen[0], chosen[-1]})
    few = sorted({*ends, chosen[len(chosen) // 2]})
    spinning = min(launches, SPINNING_LAUNCHES)

    def steps(measurement: Measurement) -> None:
        for launch in range(launches):
            for size, protocol in product(chosen, PROTOCOLS):
                _one(measurement, size, protocol, launch)
                if launch < spinning:
                    _one(measurement, size, protocol, launch, polling="spinning")
            for work, protocol in product(few, PROTOCOLS):
                _one(measurement, work, protocol, launch, way=OVERLAP)
        if absent := _no_moderation(cluster):
            measurement.warnings.append(f"No interrupts were held back: {absent}")
            measurement.planned = measurement.done
            return
        with changed(cluster, [(Moderation(), MODERATION_US)], nodes=cluster.nodes[:2]):
            for launch, size, protocol in product(range(launches), ends, PROTOCOLS):
                _one(measurement, size, protocol, launch, way=MODERATED)

    about = {"sizes": chosen, "few_sizes": few, "launches": launches, "every_s": cpu.EVERY_S}
    about["moderation_us"] = int(MODERATION_US)
    each = launches * (len(chosen) + len(few) + len(ends)) + spinning * len(chosen)
    return Plan(len(PROTOCOLS) * each, about, steps)


def _no_moderation(cluster: Cluster) -> str:
    """Why interrupts of this cluster cannot be delayed; empty where they can."""
    knob = Moderation()
    if not knob_places.places(cluster, knob):
        return KNOBS.because
    readings = knob_places.read(cluster, [knob])[knob.name].values()
    return next((each.absent for each in readings if each.absent), "")


def _one(
    measurement: Measurement,
    length: int,
    protocol: str,
    launch: int,
    *,
    polling: str = "patient",
    way: str = "",
) -> None:
    program = paths.root() / "labs" / LAB / "roundtrip.c"
    nodes = measurement.cluster.nodes[:2]
    words: list[str | int] = ["--seed", personal_code.seed(launch)]
    # About two seconds.
    chunk_us = int(CHUNK_S * 1e6)
    if way == OVERLAP:
        words += ["--mode", mpptest.MODE, "--protocol", AS_MPPTEST[protocol]]
        words += ["--overlap-bytes", length, "--passes", 2 * CHUNKS]  # some are short
        words += ["--reps", MOST_TRIPS, "--chunk-us", chunk_us]
    else:
        words += ["--protocol", protocol, "--sizes", length, "--passes", 1]
        words += ["--chunks", CHUNKS, "--chunk-us", chunk_us]
    at = {"polling": polling, **({"way": way} if way else {})}
    patient = {"BEOWULF_PATIENT": POLLING[polling]}
    with cpu.watched(measurement.cluster, nodes, program.stem) as percents:
        measurement.launch(program, 2, words, launch=launch, environment=patient, at=at)
    place = {"size_bytes": length, "protocol": protocol, **at, "launch": launch}
    for node, samples in percents.items():
        measurement.add({**place, "node": node}, CPU, samples)


def points_of(record: Record, way: str = "", **at: object) -> list[Point]:
    """The CPU use at these coordinates; `size_bytes` is the length of the work where that is swept."""
    points = [p for p in record.select(**at) if p.quantity == CPU and p.samples]
    return [p for p in points if p.at.get("way", "") == way]


def use(record: Record, **at: Any) -> Summary:
    """The CPU use at these coordinates; LabError without samples."""
    return summary_of(points_of(record, **at), busy=record.busy)


def sizes_of(record: Record, way: str) -> list[int]:
    """The sizes at which it was measured; LabError without two."""
    sizes = sorted({int(p.at["size_bytes"]) for p in points_of(record, way)})
    if len(sizes) < 2:
        raise LabError("There are fewer than two sizes to compare.", "Measure two or more.")
    return sizes


def peak(record: Record, **at: Any) -> Summary:
    """The highest use of each launch and node, as the paper's readers of `top` noted it; LabError without samples."""
    points = points_of(record, **at)
    launches = [int(p.at.get("launch", 0)) for p in points]
    return summary([max(p.samples) for p in points], launches=launches, busy=record.busy)


Reading = Callable[..., Summary]


def nonblocking_uses_more(reading: Reading, record: Record, way: str = "") -> Judgement:
    """Figure 6, 'consistently': at each size, by more than a percent of a core."""
    outcomes, listed = [], []
    for size in sizes_of(record, way):
        blocking, nonblocking = (
            reading(record, way=way, size_bytes=size, protocol=protocol, polling="patient")
            for protocol in PROTOCOLS
        )
        outcomes.append(clearly_more(nonblocking, blocking))
        listed.append(f"{size:,} bytes: {blocking.median:.0f} and {nonblocking.median:.0f} %")
    if not way and points_of(record, polling="spinning"):
        spinning = use(record, polling="spinning").median
        listed.append(f"spinning, any rank uses {spinning:.0f} %")
    return Judgement(
        together(outcomes),
        f"blocking and non-blocking, patient: {'; '.join(listed)}; {ASKED} at each is needed",
        advice=narrower(record),
    )


def rises_with_size(reading: Reading, record: Record, way: str = "") -> Judgement:
    """Figure 6: the longest message, or work, against the shortest."""
    sizes = sizes_of(record, way)
    short, long = (
        reading(record, way=way, size_bytes=size, polling="patient")
        for size in (sizes[0], sizes[-1])
    )
    return Judgement(
        clearly_more(long, short),
        f"patient: {short.median:.0f} % of a core at {sizes[0]:,} bytes,"
        f" {long.median:.0f} % at {sizes[-1]:,} bytes; {ASKED} is needed",
        {"short_percent": short.median, "long_percent": long.median},
        advice=narrower(record),
    )


def clearly_more(one: Summary, other: Summary) -> Outcome:
    """Whether the first is above the second by more than a percent of a core; too few values leave it open."""
    if min(one.n, other.n) < LEAST_PAIRS:
        return "inconclusive"
    return below(CLEARLY_MORE, difference(one, other))


def picture(record: Record) -> Figure:
    """CPU use over the size, blocking and non-blocking, by how ranks wait: figure 6; and over the work of mpptest."""
    from beowulf import figures

    title = "CPU use of a rank that plays ping-pong"
    charts = {"message": partial(_drawn, record, ("", MODERATED), title, "message size (bytes)")}
    if points_of(record, OVERLAP):
        beside = "During an empty message, with mpptest's method"
        charts["work"] = partial(_drawn, record, (OVERLAP,), beside, mpptest_reading.WORK_SWEPT)
    return figures.one_below_another(title, charts)


def _drawn(
    record: Record, ways: Sequence[str], title: str, x_title: str, axes: Axes | None = None
) -> Figure:
    from beowulf import figures

    points = [replace(p, at={"way": way, **p.at}) for way in ways for p in points_of(record, way)]
    by = ["way", "protocol", "polling", "size_bytes"]
    percents = summarised(replace(record, points=points), CPU, by).rename(columns={"median": CPU})
    names = zip(percents["protocol"], percents["way"], percents["polling"], strict=True)
    return figures.over_sizes(
        percents.assign(line=[f"{protocol}, {way or polling}" for protocol, way, polling in names]),
        CPU,
        "line",
        title=title,
        x_title=x_title,
        y_title="CPU use, median with 95 % interval (% of a core)",
        joined=False,  # between 1 byte and 16 KiB nothing shows where it falls
        axes=axes,
    )


STUDY = Study(
    id="B4",
    title="CPU use of a rank by message size",
    plan=plan,
    judged=[
        Claim(
            "nonblocking-uses-more",
            "Non-blocking calls use more CPU than blocking ones, at each size, by the median",
            partial(nonblocking_uses_more, use),
        ),
        Claim(
            "nonblocking-peaks-higher",
            "The peak of non-blocking calls, which the paper recorded, is higher at each size",
            partial(nonblocking_uses_more, peak),
            place="figure 6",
        ),
        Claim(
            "rises-with-size",
            "Longer messages use more CPU, by the median",
            partial(rises_with_size, use),
        ),
        Claim(
            "peak-rises-with-size",
            "The peak, which the paper recorded, is higher with longer messages",
            partial(rises_with_size, peak),
            place="figure 6",
        ),
        Claim(
            "mpptest-nonblocking-uses-more",
            "In mpptest's way, non-blocking calls use more CPU than blocking ones, at each length of the work",
            partial(nonblocking_uses_more, use, way=OVERLAP),
            place="figure 6",
        ),
        Claim(
            "mpptest-rises-with-work",
            "In mpptest's way, longer work uses more CPU (if that is the axis; the paper says message size)",
            partial(rises_with_size, use, way=OVERLAP),
            place="figure 6",
        ),
        Claim(
            "moderated-nonblocking-uses-more",
            f"With interrupts held back {MODERATION_US} µs, which we set, non-blocking calls use more CPU"
            f" at each size",
            partial(nonblocking_uses_more, use, way=MODERATED),
            place="figure 6",
            rests_on="demonstration",
        ),
        Claim(
            "moderated-rises-with-size",
            f"With interrupts held back {MODERATION_US} µs, which we set, longer messages use more CPU",
            partial(rises_with_size, use, way=MODERATED),
            place="figure 6",
            rests_on="demonstration",
        ),
    ],
    draw=picture,
    troubles=partial(trouble, quantity=CPU),
    needs=(CABLE,),
    differs={
        "holds": (
            "A patient rank sleeps while it waits, as MPICH 1.2.0 did in select(), so it uses a core only for"
            " its work and its calls: longer work, which mpptest's -overlap sweeps during an empty message, fills"
            " more of the time."
        ),
        "contradicted": (
            "A long message is on the cable most of the time, while a patient rank sleeps, so it uses less of a"
            " core than a stream of short ones does, and both calls end in the same wait; the paper read its"
            " peaks from `top` by hand, and if it used -overlap, its axis is the work."
        ),
        "inconclusive": (
            "A difference of one per cent of a core is needed, and other programs on the same cores change as much"
            " between two launches; two cores that are left alone can decide it, and a claim on interrupts needs a"
            " network card or root."
        ),
    },
)
