"""Lab 07's Records as nobody measured them: a budget, an unlike node, an interval, knobs, a plate, letters."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from beowulf.labs.lab_07 import (
    by_lot,
    differing_node,
    null_knob,
    own_interval,
    own_knob,
    rules_way,
    small_writes,
)
from beowulf.labs.lab_07 import e7_procedure as e7
from beowulf.labs.lab_07 import l2_applications as l2
from beowulf.labs.lab_07.knob_gains import ALONE, LATER, TOGETHER
from beowulf.measure.roundtrips import HALF
from beowulf.measure.statistics import LEAST_PAIRS
from beowulf.record import Point, Record
from beowulf.studies.states import PING
from beowulf.tuning.ab_comparison import AFTER, BEFORE, TURNS
from beowulf.tuning.budget import CALL_US, LONG, SHORT, WAYS
from beowulf.tuning.paper_e_baseline import FIREWALL, IRQBALANCE, LOW_LATENCY, MODERATION
from tests import heat_records
from tests.gold import measured
from tests.gold.case import worth
from tests.gold.hand_in import plain_answers
from tests.gold.measured import NODES

SLUG = "07-latency-tuning"
CLUSTER = {"kind": "namespaces", "nodes": list(NODES)}
sealed = partial(measured.sealed, 7, cluster=CLUSTER)

BLOCKS, EACH = 6, 5  # blocks of four visits, samples of a visit
ABSENT = "not observable here: no."

# Half round trips of 1 byte by their ways (us), and a system call.
BUDGET = dict(zip(WAYS, (5.0, 7.0, 6.5, 8.0, 7.0), strict=True))
CALL = 0.2
# Alone and together, as times of what was there before (40 us).
MODERATED, FILTERED, BOTH, LATE_FILTERED = 0.4, 0.96, 0.37, 0.9

RIGHT: dict[str, Any] = plain_answers(SLUG) | {
    "stack_us": 4.6,
    "cable_us": 1.5,
    "wake_up_us": 1.5,
    "mpi_us": 0.5,
    "unlike_node": "node02",
    "unlike_question": "firewall",
    "moderation_percent": -60.0,
    "firewall_percent": -4.0,
    "together_percent": -63.0,
    "firewall_later_percent": -10.0,
    "knob_fate": "reverted",
    "boot_line": "net.ipv4.ip_early_demux = 1",
    "step_percent": 40.0,
    "exchange_percent": 75.0,
    "moderation_fate": "kept",
    "firewall_fate": "reverted",
    "rules_part": "after",
    "rules_to_rank": 1,
    "rules_us": 9.4,
    "pingpong_percent": -80.0,
    "best_kernel": "CG",
    "best_kernel_percent": -50.0,
    "waiting_percent": 26.2,
}

WORTH = worth(SLUG)
# What needs no answer.
MEASURED = worth(
    SLUG,
    *("predict-byte", "predict-together", "predict-plate", "l1-record", "e6-record", "e7-record"),
    *("l2-record", "own-interval", "quantile-plot", "own-knob", "letters"),
)
LOOK = "cat /proc/sys/net/ipv4/ip_early_demux"
SOURCE = """def change_percent(before, after):
    ratios = np.array(after) / np.array(before)
    draws = np.random.default_rng(1).choice(ratios, (2000, len(ratios)))
    low, high = np.percentile(np.median(draws, axis=1), (2.5, 97.5))
    return 100 * (np.median(ratios) - 1), 100 * (low - 1), 100 * (high - 1)
"""


def record(study: str, points: Iterable[Point], variant: str = "", **changes: Any) -> Record:
    """A Record of a study with these points, labelled."""
    return measured.record(study, points, variant=variant, cluster=CLUSTER, **changes)


def steps(wire: float = 1397.0, **ways: float) -> Record:
    """L1: these ways take so long, and all others as in BUDGET; a rate adds `wire` to a long message."""
    points = []
    known = {**BUDGET, **{name.replace("_", " "): us for name, us in ways.items()}}
    for shaped in (False, True):
        visits = [v for v in range(16) if (v % 4 in (1, 2)) == shaped for _ in range(EACH)]
        cases = [("call", 0, CALL)]
        for way, us in known.items():
            more = wire if shaped and "loopback" not in way else 0.0
            cases += [(way, SHORT, us), (way, LONG, us + 20 + more)]
        for way, size, us in cases:
            at = {"step": way, "size_bytes": size, "shaped": shaped, "ranks": 2}
            samples, facts = [us] * len(visits), {"visit": visits}
            points.append(Point(at, HALF if size else CALL_US, samples, facts))
    return record("L1", points, sweep={"shaped": "100mbit"})


def asked(node: str = "node02", question: str = FIREWALL) -> Record:
    """The checklist, with one node that answers one question otherwise; none of them with an empty name."""
    usual = {"driver": "veth 1.0", "kernel": "6.1", MODERATION: "0", FIREWALL: "none"}
    points = []
    for name, answer in usual.items():
        answers = dict.fromkeys(NODES, answer)
        if name == question and node:
            answers[node] = "100"
        facts = {"asks": f"{name}?", "wanted": answer, "answers": answers}
        points.append(Point({"question": name, "when": differing_node.ASKED}, facts=facts))
    return record(differing_node.STUDY, points, differing_node.VARIANT)


def compared(
    times: float, us: float, tails: tuple[float, float] = (0.02, 0.02), **at: Any
) -> list[Point]:
    """The Points of one cycle in which half a round trip of `us` becomes `times` as long.

    The last sample of each visit is longer by `tails`, a share for each state.
    """
    points = []
    for state, middle, tail in zip((BEFORE, AFTER), (us, us * times), tails, strict=True):
        visits = [v for v in range(4 * BLOCKS) if TURNS[v % 4] == state for _ in range(EACH)]
        samples = [middle * (1 + tail * (n % EACH == 4)) for n in range(len(visits))]
        points.append(Point({**at, "state": state}, HALF, samples, {"visit": visits}))
    return points


def launches(
    knob: str, times: float, way: str = ALONE, us: float = 50.0, deviates: float = 0.5
) -> list[Point]:
    """A knob compared in as many launches as an interval needs; the deviation becomes `deviates` times as large."""
    at, tails = {"knob": knob, "way": way}, (0.1, 0.1 * deviates / times)
    found = [compared(times, us, tails, **at, launch=launch) for launch in range(LEAST_PAIRS)]
    return [point for both in found for point in both]


def null(times: float = 1.0) -> Record:
    """A cycle of nothing, which found so many times the time of before."""
    return record(null_knob.STUDY, compared(times, 7.0, knob="nothing"), null_knob.VARIANT)


def knobs(*, root: bool = True) -> Record:
    """E6; without `root`, the moderation cannot be turned."""

    def one(knob: str, times: float, way: str = ALONE, us: float = 40.0) -> list[Point]:
        return compared(times, us, knob=knob, way=way, launch=0)

    away = (IRQBALANCE, LOW_LATENCY) if root else (IRQBALANCE, LOW_LATENCY, MODERATION)
    points = [Point({"knob": name}, facts={"absent": ABSENT}) for name in away]
    points += one(FIREWALL, FILTERED)
    if root:
        points += one(MODERATION, MODERATED) + one(TOGETHER, BOTH)
        points += one(FIREWALL, LATE_FILTERED, LATER, 16.0)
    return record("E6", points, sweep={"testbed": {FIREWALL: "100"}})


def procedure(**fates: str) -> Record:
    """E7: what became of each knob."""
    known = fates or {MODERATION: e7.KEPT, FIREWALL: e7.REVERTED}
    points = [Point({"knob": name, "step": 1}, facts={"fate": f}) for name, f in known.items()]
    return record("E7", points)


def own(
    takes: bool = True,
    exact: bool = True,
    cycle: bool = True,
    values: tuple[str, str] = ("0", "1"),
    look: str = LOOK,
    times: float = 1.0,
    settings: Sequence[str] = (by_lot.USUAL_SETTING,),
) -> Record:
    """A learner's knob that was found at the second value, on the nodes that measure, and what it turns."""
    points = []
    for start, value in (("", values[0]), ("", values[1]), values, values[::-1]):
        before = start or values[1]
        now, again = value if takes else before, before if exact else value
        read = {"before": before, "now": now, "again": again}
        facts: dict[str, Any] = {
            name: dict.fromkeys(NODES[:2], state) for name, state in read.items()
        }
        facts["settings"] = list(settings)
        points.append(Point({"turn": value, "from": start or "as found"}, facts=facts))
    if cycle:
        points += compared(times, 7.0, knob="mine", value=values[0])
    return record(own_knob.STUDY, points, own_knob.VARIANT, sweep={"look": look})


def posted(yours_ms: float = 0.05, given_ms: float = 44.0) -> Record:
    """Letters of both ways, with delayed acknowledgements and with quick ones."""
    points = []
    for acks, given in ((small_writes.LATE, given_ms), (small_writes.AT_ONCE, 0.06)):
        for way, ms in ((small_writes.GIVEN, given), (small_writes.YOURS, yours_ms)):
            at = {"way": way, "acks": acks, "body_bytes": 100, "ranks": 2, "launch": 0}
            points.append(Point(at, small_writes.QUANTITY, [ms] * 20, {"pass": list(range(20))}))
    return record(small_writes.STUDY, points, small_writes.VARIANT)


def applications(**times: float) -> Record:
    """L2: the ping-pong and each kernel take so many times as long after as before."""
    usual = {PING: 0.2, "IS": 0.6, "CG": 0.5, "MG": 0.7, "FT": 0.8}
    points = []
    for name, factor in {**usual, **times}.items():
        for launch in range(LEAST_PAIRS):
            for state, share in ((BEFORE, 1.0), (AFTER, factor)):
                at: dict[str, Any] = {"state": state, "launch": launch}
                if name == PING:
                    points.append(Point(at, HALF, [35 * share] * 10))
                else:
                    points.append(Point({**at, "kernel": name}, l2.TIME, [0.5 * share]))
    return record("L2", points)


def change_percent(before: list[float], after: list[float]) -> tuple[float, float, float]:
    """What SOURCE says."""
    known: dict[str, Any] = {"np": np}
    exec(SOURCE, known)
    found: tuple[float, float, float] = known["change_percent"](before, after)
    return found


def interval(
    function: Callable[[list[float], list[float]], Any] = change_percent, source: str = SOURCE
) -> Record:
    """A learner's function for a change, tried on a cycle of nothing and on four that are made up."""
    own = own_interval.made_up(0.0, random.Random(0))
    points = own_interval.tried(function, own, random.Random(1))
    return record(own_interval.STUDY, points, own_interval.VARIANT, sweep={"source": source})


def quantiles(**other: Any) -> Record:
    """The distribution of all together, before and after, at every fifth per cent."""
    shares = list(range(5, 100, 5))
    before, after = own_interval.samples(knobs(), TOGETHER)
    lines = {
        name: dict(zip(map(float, shares), np.percentile(times, shares).tolist(), strict=True))
        for name, times in (("before", before), ("after", after))
    }
    labels = {"y_scale": "log", "x_label": "share of the messages (%)"}
    labels |= {"y_label": "half round trip (µs)"}
    return measured.plot("F7", "quantiles", lines, cluster=CLUSTER, **{**labels, **other})


def plate(columns: int = by_lot.USUAL_COLUMNS, step: float = 1.4, exchange: float = 1.75) -> Record:
    """What a firewall costs the heat program: a step and an exchange take so many times as long."""
    points = []
    for launch, state in enumerate(TURNS * 3):
        for quantity, us, times in (("step_s", 500, step), ("exchange_s", 250, exchange)):
            drift = 1 + 0.01 * (launch // 2)  # a machine that gets slower meanwhile
            seconds = 1e-6 * us * drift * (times if state == AFTER else 1.0)
            at = {"state": state, "way": "nonblocking", "rows": 402, "columns": columns}
            points.append(Point({**at, "ranks": 4, "launch": launch}, quantity, [seconds] * 25))
    sweep = {"knob": FIREWALL, "value": "1000", "columns": columns}
    return record("H7", points, FIREWALL, sweep=sweep)


def on_a_timeline() -> Record:
    """A T7: rules on the second node add 9.4 us to what arrives there."""
    points = []
    for run, extra in ((rules_way.NONE, 0.0), (rules_way.WITH, 9.4)):
        points += heat_records.run_on_a_timeline(run, ranks=2)
        for source in (0, 1):
            after = 2.6 + (extra if source == 0 else 0.1)
            facts = {"messages": 1000, rules_way.BEFORE: 2.5, rules_way.AFTER: after}
            points.append(Point({"timeline": run, "from_rank": source}, facts=facts))
    return record(rules_way.STUDY, points)


def records() -> list[Record]:
    """Every Record that a whole hand-in of lab 07 has."""
    return [
        sealed("byte", 12, 4, 40, "L1"),
        sealed("together", -70, -95, -10, "E6"),
        sealed("plate", 30, 5, 150, "H7-firewall"),
        *(steps(), asked(), null(), interval(), knobs(), quantiles()),
        *(own(), plate(), posted(), procedure(), on_a_timeline(), applications()),
    ]
