"""What the Records of lab 07 show: the numbers and words that its questions ask for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from autograder.rubrics.own_plots import Curves
from autograder.rubrics.record_facts import Facts, attempt, each_read
from autograder.rubrics.submission import Submission
from beowulf.errors import LabError
from beowulf.exercises.heat import knob_worth
from beowulf.labs.lab_07 import (
    differing_node,
    null_knob,
    own_interval,
    own_knob,
    rules_way,
    small_writes,
)
from beowulf.labs.lab_07 import e7_procedure as e7
from beowulf.labs.lab_07 import l2_applications as l2
from beowulf.labs.lab_07.knob_gains import LATER, TOGETHER, absent, gains, says
from beowulf.record import Record
from beowulf.tuning.budget import CABLE, CALLS_A_MESSAGE, MPI, SHORT, STACK, WAKE_UP, steps, ways
from beowulf.tuning.paper_e_baseline import FIREWALL, MODERATION

NOT_OBSERVABLE = "not observable"
# The answers by the names of the steps; each is a difference of two ways.
STEPS = {"stack_us": STACK, "cable_us": CABLE, "wake_up_us": WAKE_UP, "mpi_us": MPI}
OF_VISITS = "{} of visits"
PERCENT = range(101)  # at which a distribution is looked at


def rules(record: Record) -> Facts:
    """Where on the way, and on the way to which rank, firewall rules add the most, and how many microseconds."""
    added = rules_way.added(record)
    source, part = max(added, key=lambda each: added[each])
    return {
        "rules_part": part.partition("_")[0],
        "rules_to_rank": 1 - source,
        "rules_us": added[source, part],
    }


def budget(record: Record) -> Facts:
    """The microseconds of the steps of one byte: from the medians of two ways, and as the study takes them by visit."""
    us = {name: each.median for name, each in ways(record, SHORT).items()}
    known = {
        "stack_us": us["loopback polling"] - CALLS_A_MESSAGE * us["call"],
        "cable_us": us["nodes polling"] - us["loopback polling"],
        "wake_up_us": us["nodes waiting"] - us["nodes polling"],
        "mpi_us": us["mpi"] - us["nodes polling"],
    }
    visits = {
        step.name: step.us.median
        for receiver in ("waiting", "mpi")
        for step in steps(record, SHORT, receiver)
    }
    return known | {OF_VISITS.format(name): visits[step] for name, step in STEPS.items()}


def odd_one(record: Record) -> Facts:
    """The node that answered differently, and the question."""
    node, question = differing_node.odd(record)
    return {"unlike_node": node, "unlike_question": question}


def knobs(record: Record) -> Facts:
    """What each knob gained alone, later and all together; a text where the moderation cannot be turned."""
    known = {says(each): each.percent.median for each in gains(record)}
    wanted = {
        "moderation_percent": MODERATION,
        "firewall_percent": FIREWALL,
        "together_percent": TOGETHER,
        "firewall_later_percent": f"{FIREWALL} {LATER}",
    }
    facts: Facts = {name: known[knob] for name, knob in wanted.items() if knob in known}
    if len(facts) == len(wanted):
        return facts
    if FIREWALL not in known or not absent(record, MODERATION):
        raise LabError(f"it compares only {', '.join(known)}")
    return dict.fromkeys(wanted, NOT_OBSERVABLE) | {"firewall_percent": known[FIREWALL]}


def distributions(submission: Submission) -> Iterator[tuple[str, Curves]]:
    """For each comparison in the newest Records E6 two curves: the time within which each share of the samples lies."""
    for record, curves in each_read(_quantiles, submission.measured("E6")):
        yield from ((f"{name} in {record.file_name}", both) for name, both in curves.items())


def _quantiles(record: Record) -> dict[str, Curves]:
    return {
        says(each): [
            dict(zip(map(float, PERCENT), np.percentile(us, PERCENT).tolist(), strict=True))
            for us in own_interval.samples(record, says(each))
        ]
        for each in gains(record)
    }


def own(record: Record) -> tuple[bool, bool, str]:
    """Of a learner's own knob: whether both values take, whether the exact state comes back, what its cycle decides.

    Judged from what was read on the nodes, not from the Record's own conclusion.
    """
    turns = own_knob.turns(record)
    takes = len({each.at["turn"] for each in turns}) > 1
    takes = takes and all(own_knob.takes(each) for each in turns)
    exact = takes and all(own_knob.exact(each) for each in turns)
    cycle = attempt(null_knob.comparison, record)[0] if record.complete else None
    return takes, exact, cycle.decision if cycle else ""


def kept(record: Record) -> Facts:
    """What becomes of the learner's knob by its cycle, the value that it has then or could have, and its setting."""
    fate, value = own_knob.stays(record)
    setting = own_knob.setting(record)
    if not setting:
        raise LabError("it turns no setting below /proc/sys/net/ipv4")
    could = own_knob.could_stay(record)
    return {"fate": fate, "value": value, "could_stay": could, "setting": setting}


def plate(record: Record) -> Facts:
    """By how many per cent a step of the plate and an exchange change with the knob turned, and how long a row is."""
    return {"columns": int(record.sweep["columns"])} | {
        name: 100 * (knob_worth.worth(record, quantity)[0].median - 1)
        for name, quantity in (("step_percent", "step_s"), ("exchange_percent", "exchange_s"))
    }


def procedure(record: Record) -> Facts:
    """What became of each change of the procedure; a text where a knob cannot be turned."""
    fates = e7.fates(record)
    if not fates:
        raise LabError("it changed nothing")
    return {
        "moderation_fate": fates.get(MODERATION, NOT_OBSERVABLE),
        "firewall_fate": fates.get(FIREWALL, NOT_OBSERVABLE),
    }


def posted(record: Record) -> Facts:
    """How many times as long the learner's letters take as the given ones, at most; and the given ones' time."""
    return {
        "times": small_writes.times(record).high,
        "given_ms": min(small_writes.samples(record, small_writes.GIVEN, small_writes.LATE)),
    }


def applications(record: Record) -> Facts:
    """The change of each time in per cent, and the kernels that gain most."""
    changes = {name: 100 * (each.median - 1) for name, each in l2.times(record).items()}
    if missing := [name for name in ("ping-pong", *l2.KERNELS) if name not in changes]:
        raise LabError(
            f"{', '.join(missing)} {'was' if len(missing) == 1 else 'were'} not measured in both states"
        )
    kernels = {name: changes[name] for name in l2.KERNELS}
    return {
        "pingpong_percent": changes["ping-pong"],
        "best_kernel": min(kernels, key=lambda name: kernels[name]),
        **{f"percent of {name}": percent for name, percent in kernels.items()},
    }
