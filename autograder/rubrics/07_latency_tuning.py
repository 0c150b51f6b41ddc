"""Lab 07: points for a learner's own interval, plot, knob and letters, and for what their Records show."""

from __future__ import annotations

import re
from functools import partial

from autograder.rubrics import facts_07, own_plots
from autograder.rubrics.answers import given, is_near, word
from autograder.rubrics.predictions import sealed
from autograder.rubrics.questions import Scorer
from autograder.rubrics.record_facts import (
    ByRecord,
    Facts,
    best_of_own,
    near,
    numbers_and_words,
    record_of,
)
from autograder.rubrics.score import Score
from autograder.rubrics.submission import Submission, is_number
from beowulf import papers
from beowulf.exercises.plot_reading import Wants
from beowulf.labs.lab_07 import (
    by_lot,
    differing_node,
    own_interval,
    own_knob,
    rules_way,
    small_writes,
)
from beowulf.labs.lab_07.e7_procedure import KEPT
from beowulf.labs.lab_07.l2_applications import KERNELS
from beowulf.record import Point, Record
from beowulf.tuning.paper_e_baseline import FIREWALL

# No delayed acknowledgement takes so long: something else slowed down a given letter that does.
LONGEST_GIVEN_MS = 500.0
# As the notebook asks for it.
QUANTILES = Wants(x="share in %", y="time in µs", lines=2, points=9)
# A line of a file in /etc/sysctl.d, whose names have dots or slashes.
BOOT_LINE = re.compile(r"-?\s*([\w./-]+)\s*=\s*(\S+)")


def budget(
    submission: Submission, facts: Facts, by: str, *, tolerance: float, tolerance_percent: float
) -> Score:
    """A point for each step that is the difference of its two ways."""
    of_visits = facts_07.OF_VISITS
    wanted = {name: (facts[name], facts[of_visits.format(name)]) for name in facts_07.STEPS}
    return near(submission, wanted, f"in µs, by {by}", tolerance, tolerance_percent)


def interval(record: Record, expected: str) -> Score:
    """A point for a change that is right for every cycle, two more for its ranges."""
    cycles = [each for each in record.points if "cycle" in each.at]
    lengths = {len(each.facts["before"]) for each in cycles}
    if len(cycles) <= own_interval.CASES or min(lengths) < own_interval.LEAST_PAIRS:
        return Score(0, 3, f"{record.file_name}: it was not tried on all cycles.", expected)
    judged = [_judged(each) for each in cycles]
    why = next((each for _, each in judged if each), "") or own_interval.width_fault(cycles)
    changes = all(change for change, _ in judged)
    found = f"{record.file_name}: {why or 'every cycle is right'}."
    return Score(changes + 2 * (not why), 3, found, expected)


def _judged(point: Point) -> tuple[bool, str]:
    """Whether the change of a cycle is right, and why change or range are not."""
    facts = point.facts
    before, after, gave = (
        [float(each) for each in facts[name]] for name in ("before", "after", "given")
    )
    if len(gave) != 3:
        return False, str(facts["why"] or "it did not give three numbers")
    change = not own_interval.wrong_change(before, after, gave[0])
    return change, own_interval.judged(before, after, gave)


def own(submission: Submission) -> Score:
    """A point each for values that take, the exact state back, a whole cycle, and the learner's own setting."""
    expected = "both values take, the exact state comes back, a cycle is measured, and it is the setting that was asked"
    judge = partial(_own, submission.code)
    return best_of_own(own_knob.STUDY, own_knob.VARIANT, expected, judge, submission)


def _own(own: str, record: Record, expected: str) -> Score:
    takes, exact, decision = facts_07.own(record)
    setting = own_knob.setting(record, by_lot.setting(own))
    asked = setting == by_lot.setting(own) if own else bool(setting)
    results = [
        "both values take" if takes else "a value does not take",
        "the exact state comes back" if exact else "the exact state does not come back",
        f"the cycle decides {decision}" if decision else "no whole cycle",
        f"it is {setting or 'no setting below /proc/sys/net/ipv4'}",
    ]
    if setting and not asked:
        results[-1] += f", and yours is {by_lot.setting(own)}"
    points = takes + exact + (takes and bool(decision)) + (takes and asked)
    return Score(points, 4, f"{record.file_name}: {'; '.join(results)}", expected)


def kept_line(submission: Submission, facts: Facts, by: str) -> Score:
    """A point for what becomes of the knob by its cycle, one for the line that makes it so at the next boot."""
    line = BOOT_LINE.fullmatch(str(submission.answers.get("boot_line", "")).strip())
    setting, value, fate = (facts[name] for name in ("setting", "value", "fate"))
    said, could = word(submission, "knob_fate"), facts["could_stay"]
    points = int(said == fate or (said == KEPT and could != ""))
    value = could if said == KEPT and could else value
    points += line is not None and (line[1].replace("/", "."), line[2]) == (setting, value)
    expected = f"knob_fate: {fate}, boot_line: {setting} = {value} (by {by})"
    return Score(points, 2, given(submission, "knob_fate", "boot_line"), expected)


def plate(
    submission: Submission, facts: Facts, by: str, *, tolerance: float, tolerance_percent: float
) -> Score:
    """A point each for the change of a step and of an exchange, on a plate with rows of the learner's own length."""
    names = ("step_percent", "exchange_percent")
    asked = by_lot.columns(submission.code)
    if facts["columns"] != asked:
        why = f"{by} has rows of {facts['columns']} columns, and yours have {asked}"
        return Score(0, len(names), f"{why}.", f"rows of {asked} columns")
    wanted = {name: facts[name] for name in names}
    return near(submission, wanted, f"by {by}", tolerance, tolerance_percent)


def letters_gain(submission: Submission, facts: Facts, by: str, *, times_the_given: float) -> Score:
    """All points for letters that take at most a certain share of the time of the given ones."""
    expected = f"at most {times_the_given:g} times the time of the given letters"
    if facts["given_ms"] > LONGEST_GIVEN_MS:
        why = f"{by}: the given letters take {facts['given_ms']:.0f} ms, which no acknowledgement explains."
        return Score(0, 1, why, expected)
    right = facts["times"] <= times_the_given
    return Score(int(right), 1, f"{by}: {facts['times']:.3g} times", expected)


def limit(submission: Submission, facts: Facts, by: str, *, tolerance: float) -> Score:
    """A point for the ping-pong's change, and one for the kernel that gains most, with its change."""
    kernels = {name: facts[f"percent of {name}"] for name in KERNELS}
    least = min(kernels.values())
    named = word(submission, "best_kernel").upper()
    right = [
        is_near(submission, "pingpong_percent", facts["pingpong_percent"], tolerance),
        named in kernels
        and kernels[named] <= least + tolerance
        and is_near(submission, "best_kernel_percent", kernels[named], tolerance),
    ]
    expected = (
        f"pingpong_percent: {facts['pingpong_percent']:+.1f}, best_kernel: {facts['best_kernel']},"
        f" best_kernel_percent: {least:+.1f} (by {by})"
    )
    answered = given(submission, "pingpong_percent", "best_kernel", "best_kernel_percent")
    return Score(sum(right), 2, answered, expected)


def waiting_share(submission: Submission, *, tolerance: float) -> Score:
    """The share of an application's time that waited for messages, from what the paper prints; no sign matters."""
    workload, name = by_lot.workload(submission.code), "waiting_percent"
    printed = papers.table("E-applications").set_index("workload")["change_percent"]
    wanted = 100 * float(printed[workload]) / float(printed["IMB PingPong"])
    answer = submission.answers.get(name)
    right = is_number(answer) and abs(abs(answer) - wanted) <= tolerance
    return Score(int(right), 1, given(submission, name), f"{name}: {wanted:.1f} for {workload}")


DIFFERING = numbers_and_words("unlike_node", "unlike_question")
FATES = numbers_and_words("moderation_fate", "firewall_fate")
EACH_KNOB = numbers_and_words(
    *("moderation_percent", "firewall_percent", "together_percent", "firewall_later_percent")
)

SCORERS: dict[str, Scorer] = {
    "predict-byte": sealed("byte"),
    "l1-record": partial(record_of, facts_07.budget, "L1"),
    "budget": ByRecord(facts_07.budget, "L1", budget),
    "unlike": ByRecord(facts_07.odd_one, differing_node.STUDY, DIFFERING, differing_node.VARIANT),
    "own-interval": partial(
        best_of_own,
        own_interval.STUDY,
        own_interval.VARIANT,
        "for every cycle the median of after / before, in per cent, and its 95 % interval",
        interval,
    ),
    "predict-together": sealed("together"),
    "e6-record": partial(record_of, facts_07.knobs, "E6"),
    "each-knob": ByRecord(facts_07.knobs, "E6", EACH_KNOB),
    "quantile-plot": own_plots.Plot("quantiles", QUANTILES, facts_07.distributions),
    "own-knob": own,
    "kept-line": ByRecord(facts_07.kept, own_knob.STUDY, kept_line, own_knob.VARIANT),
    "predict-plate": sealed("plate"),
    "plate": ByRecord(facts_07.plate, "H7", plate, FIREWALL),
    "letters": ByRecord(facts_07.posted, small_writes.STUDY, letters_gain, small_writes.VARIANT),
    "e7-record": partial(record_of, facts_07.procedure, "E7"),
    "fates": ByRecord(facts_07.procedure, "E7", FATES),
    "timeline": ByRecord(
        facts_07.rules,
        rules_way.STUDY,
        numbers_and_words("rules_part", "rules_to_rank", "rules_us"),
    ),
    "l2-record": partial(record_of, facts_07.applications, "L2"),
    "limit": ByRecord(facts_07.applications, "L2", limit),
    "waiting-share": waiting_share,
}
