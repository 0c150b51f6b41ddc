"""Hand-ins whose Records are not what was measured: each is noticed, and said in words."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from beowulf.measure.roundtrips import EXCHANGE, HALF
from beowulf.record import Point, Record
from tests.gold import lab_01, lab_04, lab_06
from tests.gold.case import Case
from tests.gold.hand_in import answered, file_name, hand_in, released
from tests.gold.measured import as_handed_in

Change = Callable[[Record], Record]
OF_A7 = ("a7-record", "saturation-bytes", "four-nodes")
OF_A5 = ("a5-record", "idle-mbit")


def cases() -> list[Case]:
    """Every kind of doubtful Record that we know; the share says what is left of the points that rest on it."""
    return [*_times(), *_samples(), *_circumstances(), *_cables(), *_captures()]


def _doubtful(
    lab: Any,
    worth: Mapping[str, float],
    name: str,
    study: str,
    change: Change,
    rests: tuple[str, ...],
    share: float,
    says: str,
    variant: str = "",
) -> Case:
    """A perfect hand-in in which the Record of a study was changed after it was measured."""

    def write(folder: Path) -> None:
        kept = [as_handed_in(record, name) for record in lab.records()]
        kept = [change(r) if (r.study, r.variant) == (study, variant) else r for r in kept]
        notebook = answered(released(lab.SLUG), lab.RIGHT)
        folder = hand_in(folder, notebook, [], Path(file_name(lab.SLUG)).stem, student=name)
        for record in kept:
            record.save_in(folder / "records")

    points = {q: of * (share if q in rests else 1) for q, of in worth.items()}
    return Case(lab.SLUG, name, write, points, {rests[0]: says})


def _a7(name: str, change: Change, share: float, says: str) -> Case:
    case = _doubtful(lab_04, lab_04.WORTH, name, "A7", change, OF_A7, share, says)
    # A plot without a Record that it shows has a quarter of its points.
    plot = lab_04.WORTH["rates-plot"] * (1 + 3 * share) / 4
    return replace(case, points={**case.points, "rates-plot": plot})


def _a5(name: str, change: Change, share: float, says: str) -> Case:
    return _doubtful(lab_01, lab_01.WORTH, name, "A5", change, OF_A5, share, says)


def _each(change: Callable[[Point], Point]) -> Change:
    return lambda record: replace(record, points=[change(point) for point in record.points])


def _with(**parts: Any) -> Change:
    return lambda record: replace(record, **parts)


def _with_facts(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Change:
    return _each(lambda point: replace(point, facts={**point.facts, **change(point.facts)}))


def _times() -> list[Case]:
    def at_once(record: Record) -> Record:
        many = _each(
            lambda p: replace(p, facts={**p.facts, "repetitions": [10**6] * len(p.samples)})
        )
        return replace(many(record), ended=record.started)

    tomorrow = _with(started="2096-01-05T10:00:00Z", ended="2096-01-05T10:05:00Z")
    return [
        _a7(
            "ended before it began",
            lambda r: replace(r, started=r.ended, ended=r.started),
            0,
            "before it began",
        ),
        _a7("longer than it took", at_once, 0, "all of it 0.0 s"),
        _a7("measured in seventy years", tomorrow, 0.5, "in the future"),
    ]


def _samples() -> list[Case]:
    def rounded(point: Point) -> Point:
        times = [1] * len(point.samples)  # so that the digits of the seconds are few as well
        samples = [float(f"{sample:.3g}") for sample in point.samples]
        # Differing by a digit here and there, as a careful person would have it.
        samples = [s + (place % 3) * s / 1000 for place, s in enumerate(samples)]
        samples = [float(f"{s:.4g}") for s in samples]
        return replace(point, samples=samples, facts={**point.facts, "repetitions": times})

    def changed(how: Callable[[list[float]], list[float]]) -> Change:
        return _each(lambda point: replace(point, samples=how(point.samples)))

    return [
        _a7(
            "all samples alike",
            changed(lambda s: [s[0]] * len(s)),
            0.5,
            "every sample is the same",
        ),
        _a7("rounded samples", _each(rounded), 0.5, "4 digits or fewer"),
        _a7(
            "samples made larger",
            changed(lambda s: [1.01 * each for each in s]),
            0.5,
            "are not numbers that",
        ),
        _a7("a negative time", changed(lambda s: [*s[:-1], -s[-1]]), 0, "not a time that passed"),
    ]


def _circumstances() -> list[Case]:
    nothing = _with(circumstances={"before": {}, "after": {}}, versions={})

    def backwards(record: Record) -> Record:
        after = record.circumstances["after"] | {"involuntary_switches": 0}
        return replace(record, circumstances={**record.circumstances, "after": after})

    def another_kernel(record: Record) -> Record:
        return replace(record, cluster={**record.cluster, "kernel": "2.4.7"})

    return [
        _a7("no circumstances", nothing, 0.5, "lacks beowulf-labs"),
        _a7("a count that runs backwards", backwards, 0.5, "smaller afterwards"),
        _a7("two kernels in one machine", another_kernel, 0.5, "2.4.7"),
        _a5("a wire of no machine", nothing, 0.5, "lacks"),
    ]


def _cables() -> list[Case]:
    def faster(point: Point) -> Point:
        if point.quantity not in (HALF, EXCHANGE):
            return point
        # Half the time and twice the repetitions: each digit stays as it was printed.
        times = [2 * n for n in point.facts["repetitions"]]
        samples = [sample / 2 for sample in point.samples]
        return replace(point, samples=samples, facts={**point.facts, "repetitions": times})

    def torrent(facts: dict[str, Any]) -> dict[str, Any]:
        names = ("bytes", "bytes_per_s", "mbit_per_s")
        return {name: facts[name] * 1e10 / facts["bytes"] for name in names}

    another_rate = _with_facts(lambda facts: {"packets": 10 * facts["packets"]})
    longer = _with_facts(lambda f: {"frame_bytes": 200} if "frame_bytes" in f else {})
    counted = [{"rank": 0, "tag": 600, "messages": 900, "bytes": 17}]
    miscounted = _with_facts(lambda _: {"sent": counted, "captured": counted})
    lab = (lab_06, lab_06.WORTH)
    return [
        _a7("faster than the cable", _each(faster), 0, "Faster than the cable"),
        _a5("rates that do not add up", another_rate, 0.5, "do not add up"),
        _a5("more than all cables carry", _with_facts(torrent), 0, "More than all cables"),
        _doubtful(
            *lab, "a frame longer than its parts", "A10", longer, ("postcard", "headers"), 0,
            "Headers", variant="postcard",
        ),
        _doubtful(
            *lab, "200,000 bytes in one segment", "A10", _with_facts(lambda _: {"segments": 1}),
            ("cost-plot",), 0.25, "too few", variant="sizes",
        ),
        _doubtful(
            *lab, "messages that do not add up", "A12", miscounted, ("a12-record",), 0,
            "Messages that do not add up",
        ),
    ]  # fmt: skip


def _captures() -> list[Case]:
    """A Record that names a capture by its digest, and another file of that name beside it."""

    digest = hashlib.sha256(b"what was captured").hexdigest()
    taken = {"file": "../A5.pcapng", "sha256": digest, "began": 1.0, "ended": 61.0}

    def case(name: str, content: bytes, says: str) -> Case:
        named = _a5(name, _with(captures=[taken]), 0, says)

        def write(folder: Path) -> None:
            named.write(folder)
            if content:
                (folder / "records" / "A5.pcapng").write_bytes(content)

        return replace(named, write=write)

    return [
        case("another capture", b"what someone else captured", "not the capture that it names"),
        case("a capture that is none", b"what was captured", "not a capture that can be read"),
        case("a capture not handed in", b"", "which is not in records"),
    ]
