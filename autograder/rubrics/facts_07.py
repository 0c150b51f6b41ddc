"""What the Records of lab 07 show: the numbers and words that its questions ask for."""

from __future__ import annotations

from contextlib import suppress

from autograder.rubrics.record_facts import MOST_POINTS, Facts
from beowulf.errors import LabError
from beowulf.exercises.lab_07 import differing_node, null_knob, own_knob, small_writes
from beowulf.record import Record
from beowulf.studies.lab_07 import e7_procedure as e7
from beowulf.studies.lab_07 import l2_applications as l2
from beowulf.studies.lab_07.knob_gains import LATER, TOGETHER, Gain, absent, gain, gains, says
from beowulf.tuning.ab_comparison import described
from beowulf.tuning.budget import CABLE, CALLS, MPI, SHORT, STACK, WIRE, steps
from beowulf.tuning.paper_e_baseline import FIREWALL, MODERATION

NOT_OBSERVABLE = "not observable"
US_OF = "us of "  # and the name of a step
WHOLE_BUDGET = (CALLS, STACK, CABLE, MPI)  # what a message of MPI takes


def budget(record: Record) -> Facts:
    """The microseconds of each step of one byte to a receiver that waits, and the sum of those of MPI.

    The wire is left out: shaped links let a byte pass at once, so that its step is what disturbs.
    """
    waiting = {
        step.name: step.us.median for step in steps(record, SHORT, "waiting") if step.name != WIRE
    }
    by_mpi = {step.name: step.us.median for step in steps(record, SHORT, "mpi")}
    return {
        **{f"{US_OF}{name}": us for name, us in waiting.items()},
        "predicted_mpi_us": sum(by_mpi[name] for name in WHOLE_BUDGET),
    }


def odd_one(record: Record) -> Facts:
    """The node that answered differently, and the question."""
    node, question = differing_node.odd(record)
    return {"unlike_node": node, "unlike_question": question}


def nothing(record: Record) -> Facts:
    """What a cycle of nothing decided, and its median before."""
    comparison = null_knob.comparison(record)
    return {
        "null_decision": comparison.decision,
        "measured_mpi_us": described(comparison.before).median,
    }


def knobs(record: Record) -> Facts:
    """What each knob gained alone and all together; a text where the moderation cannot be turned."""
    if not gains(record):
        raise LabError("it compares no knob")
    alone = _measured(record, FIREWALL)
    facts: Facts = {"firewall_alone_percent": alone.percent.median}
    later, whole = gain(record, FIREWALL, LATER), gain(record, TOGETHER)
    moderation = gain(record, MODERATION)
    if later and whole and moderation:
        mean = 100 * (whole.after.mean / whole.before.mean - 1)
        return facts | {
            "together_percent": mean,
            "deviation_times": whole.after.deviation / whole.before.deviation,
            "sum_percent": moderation.percent.median + alone.percent.median,
            "both_percent": whole.percent.median,
            "firewall_later_percent": later.percent.median,
        }
    if not absent(record, MODERATION):
        raise LabError(f"there is no comparison of {MODERATION} and of {TOGETHER}")
    names = ("together_percent", "deviation_times", "sum_percent", "both_percent")
    return facts | dict.fromkeys((*names, "firewall_later_percent"), NOT_OBSERVABLE)


def _measured(record: Record, knob: str) -> Gain:
    if comparison := gain(record, knob):
        return comparison
    others = ", ".join(says(each) for each in gains(record))
    raise LabError(f"there is no comparison of {knob}, only of {others}")


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
        raise LabError(f"{', '.join(missing)} was not measured in both states")
    kernels = {name: changes[name] for name in l2.KERNELS}
    return {
        "pingpong_percent": changes["ping-pong"],
        "best_kernel": min(kernels, key=lambda name: kernels[name]),
        **{f"percent of {name}": percent for name, percent in kernels.items()},
    }


def own(record: Record) -> tuple[bool, bool, str]:
    """Of a learner's own knob: whether both values take, whether the exact state comes back, what its cycle decides.

    Judged from what was read on the nodes, not from the Record's own conclusion.
    """
    takes = exact = False
    with suppress(LookupError, TypeError, ValueError, AttributeError):
        turns = own_knob.turns(record)[:MOST_POINTS]
        takes = len({each.at["turn"] for each in turns}) > 1
        takes = takes and all(own_knob.takes(each) for each in turns)
        exact = takes and all(own_knob.exact(each) for each in turns)
    decision = ""
    with suppress(LabError, LookupError, TypeError, ValueError, AttributeError):
        decision = null_knob.comparison(record).decision if record.complete else ""
    return takes, exact, decision
