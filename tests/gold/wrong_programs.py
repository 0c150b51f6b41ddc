"""Hand-ins with right answers whose programs or plots are not right: what is left of the points, and what is said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from beowulf.measure.statistics import ratio
from beowulf.record import Record
from tests import heat_solutions
from tests.gold import lab_01, lab_03, lab_04, lab_07
from tests.gold.case import Case, of_answers


def cases() -> list[Case]:
    """Every kind of wrong program and plot of labs 01, 03, 04 and 07."""
    return [*_of_nodes(), *_of_plates(), *_round_trips(), *_exchanges(), *_plots(), *_of_knobs()]


def _case(
    name: str, made: Record, left: Mapping[str, float], said: Mapping[str, str], lab: Any = lab_04
) -> Case:
    """A perfect hand-in but for one Record; `left` has the points of the questions that lose some."""

    def records() -> list[Record]:
        kept = [r for r in lab.records() if (r.study, r.variant) != (made.study, made.variant)]
        return [*kept, made]

    points = lab.WORTH | left
    return of_answers(lab.SLUG, name, lab.RIGHT, records, points, said)


def _of_nodes() -> list[Case]:
    """Lab 01: rings, round trips, their plot, and a ring that did not wait."""

    def case(name: str, question: str, share: float, says: str, made: Record) -> Case:
        left = {question: share * lab_01.WORTH[question]}
        return _case(name, made, left, {question: says}, lab_01)

    home = list(lab_01.NODES)
    passed = [home, home[:2], home[:3], home]
    ring, trips, plot = lab_01.ring, lab_01.trips, lab_01.trips_plot
    forgotten = ring(returned=[home[:1] + home[2:], home[:1], *passed[2:]])
    outward = ring(returned=[home[:1], *passed[1:]])
    waits = "node01 (rank 1) waits in line 7 of pass_token: token = world.recv(source=before)"
    collected = ring(calls=["MPI_Allgather", "MPI_Allgatherv"])
    quick = trips(faults=["it returned 9,000.0 µs, and the whole call took 210.0 µs."])
    whole = lab_01.stuck()
    whole.points = [p for p in whole.points if "rank" not in p.at]
    nobody = _case(
        "a ring on which nobody waits",
        whole,
        {"ring-waits": 0, "broken-d": 0},
        {"ring-waits": "did not wait"},
        lab_01,
    )
    return [
        case("a node that writes nothing", "own-ring", 0.5, "did not append its node", forgotten),
        case("a token on its way out", "own-ring", 0.5, "not what came home", outward),
        case("a ring that never closes", "own-ring", 0, waits, ring(why=waits)),
        case(
            "no ring at all", "own-ring", 0.5, "MPI_Allgather, MPI_Allgatherv, with all", collected
        ),
        case("one rank only", "own-trips", 0.5, "0 of the 5 samples", trips(left_out=[1, 2, 3])),
        case("a time too long", "own-trips", 0.5, "the whole call took 210.0 µs", quick),
        case("trips without a unit", "trips-plot", 5 / 6, "no unit", plot(y_label="round trip")),
        nobody,
    ]


def _of_plates() -> list[Case]:
    """Lab 03: a plate that is wrong on several ranks has no times, so nothing that follows from them counts."""

    def of_plate(mistake: str) -> Case:
        wrong = heat_solutions.WRONG[mistake]
        made = lab_03.plate(faults={wrong.name: wrong.said}, sources={wrong.name: wrong.function})
        left = {"heat-run": 2 if wrong.name == "run" else 0, "speed-up-plot": 0.5}
        left |= {"karp-flatt": 0, "cores-bound": 0}
        return _case(mistake, made, left, {"heat-run": wrong.said}, lab_03)

    def case(name: str, question: str, left: float, says: str, made: Record) -> Case:
        return _case(name, made, {question: left}, {question: says}, lab_03)

    plot, share = lab_03.drawn, lab_03.WORTH["speed-up-plot"]
    alone, *_ = plot().points[0].facts["lines"]
    return [
        *(of_plate(name) for name, wrong in heat_solutions.WRONG.items() if wrong.lab == 3),
        case("a law upside down", "laws", 2, "karp_flatt: 4 of 5", lab_03.asked(karp_flatt=4.0)),
        case("pieces that fit, not counted", "sizes", 2, "ours is", lab_03.counted(one_packet=759)),
        case("no intervals", "speed-up-plot", share * 5 / 6, "intervals", plot("line")),
        case("one plate", "speed-up-plot", share * 3.5 / 6, "1 of 2 lines", plot(lines=[alone])),
    ]


def _round_trips() -> list[Case]:
    def case(name: str, left: float, says: str, **what: Any) -> Case:
        made = lab_04.own("blocking", **what)
        return _case(name, made, {"own-blocking": left}, {"own-blocking": says})

    faults = {
        "a round trip in text": "it returned a str on rank 0, not a number of microseconds.",
        "a whole round trip": "it returned 84,000.0 µs, but the whole call took 84,001.0 µs.",
        "nothing sent": "the message did not travel there and back.",
    }
    return [
        *(case(name, 1, says, faults=[says]) for name, says in faults.items()),
        case("not blocking at all", 1, "which is not blocking", calls=lab_04.CALLS["nonblocking"]),
    ]


def _exchanges() -> list[Case]:
    """A wrong exchange has no samples; the Record says of its function what the nodes said."""

    def case(mistake: str) -> Case:
        wrong = heat_solutions.WRONG[mistake]
        way = wrong.name.removeprefix("exchange_")
        made = lab_04.exchanges(wrong={way: wrong.said}, sources={way: wrong.function})
        return _case(mistake, made, {"exchange": 1}, {"exchange": wrong.said})

    irecv = lab_04.exchanges(calls={"send_first": ["MPI_Irecv", "MPI_Send", "MPI_Wait"]})
    return [
        *(case(mistake) for mistake, wrong in heat_solutions.WRONG.items() if wrong.lab == 4),
        _case("another call", irecv, {"exchange": 2}, {"exchange": "a recording shows MPI_Irecv"}),
    ]


def _plots() -> list[Case]:
    def case(name: str, share: float, says: str, **facts: Any) -> Case:
        left = share * lab_04.WORTH["times-plot"]
        made = lab_04.times_plot(**facts)
        return _case(name, made, {"times-plot": left}, {"times-plot": says})

    return [
        case("a linear axis", 5 / 6, "linear", x_scale="linear"),
        case("no unit", 5 / 6, "no unit", y_label="half round trip"),
        case("no lines", 0, "nothing is drawn", lines=[]),
    ]


def _of_knobs() -> list[Case]:
    """Lab 07: intervals, a plot of distributions, a learner's own knob and letters."""

    def case(name: str, question: str, left: float, says: str, made: Record) -> Case:
        return _case(name, made, {question: left}, {question: says}, lab_07)

    def drawn_once(before: list[float], after: list[float]) -> list[float]:
        return [lab_07.change_percent(before, after)[0]] * 3

    def turned_round(before: list[float], after: list[float]) -> Any:
        return lab_07.change_percent(after, before)

    (plot,) = (point.facts for point in lab_07.quantiles().points)
    swapped = [{**each, "x": each["y"], "y": each["x"]} for each in plot["lines"]]
    return [
        case("no width", "own-interval", 1, "too narrow", lab_07.interval(drawn_once)),
        case(
            "a ratio upside down",
            "own-interval",
            0,
            "divides before",
            lab_07.interval(turned_round),
        ),
        case("the package's interval", "own-interval", 0, "its work", lab_07.interval(_ours)),
        case("a range of 90 %", "own-interval", 1, "times as wide", lab_07.interval(_of_90)),
        case(
            "axes swapped", "quantile-plot", 0.75, "0 of 2 lines", lab_07.quantiles(lines=swapped)
        ),
        case("a value that does not take", "own-knob", 0, "does not take", lab_07.own(takes=False)),
        case(
            "another state than before",
            "own-knob",
            3,
            "does not come back",
            lab_07.own(exact=False),
        ),
        case("letters that wait as before", "letters", 0, "1 times", lab_07.posted(44.0)),
    ]


def _ours(before: list[float], after: list[float]) -> list[float]:
    found = ratio(list(zip(after, before, strict=True)))
    return [100 * (each - 1) for each in (found.median, found.low, found.high)]


def _of_90(before: list[float], after: list[float]) -> Any:
    ratios = np.array(after) / before
    draws = np.random.default_rng(1).choice(ratios, (2000, len(ratios)))
    ends = np.percentile(np.median(draws, axis=1), (5, 95))
    return 100 * (np.array([np.median(ratios), *ends]) - 1)
