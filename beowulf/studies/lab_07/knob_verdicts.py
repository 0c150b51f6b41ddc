"""E6's claims: what paper E says of its knobs in section 4.1, held against before and after."""

from __future__ import annotations

from collections.abc import Sequence

from beowulf import papers
from beowulf.cluster.description import on_one_machine
from beowulf.measure.judgement import unjudged, verdict
from beowulf.measure.quality import NO_SAMPLES, trouble
from beowulf.measure.roundtrips import HALF
from beowulf.record import Record
from beowulf.studies.lab_07.knob_gains import (
    ALONE,
    LATER,
    TOGETHER,
    Gain,
    absent,
    gain,
    medians,
    says,
)
from beowulf.tuning.paper_e_baseline import FIREWALL, IRQBALANCE, LOW_LATENCY, MODERATION
from beowulf.verdict import Outcome, Verdict

MOST = "Of all knobs, interrupt moderation costs the most"
SECOND = "The firewall is another important contributor"
HARDLY = "irqbalance matters little"
NOT_BETTER = "tcp_low_latency makes latency no better"
FAR_LOWER = "Taken away together, they leave about 54 % less"
STEADIER = "The deviation is nearly halved"
NOT_A_SUM = "What they gain does not add up"
CLAIMS = {
    "moderation-most": MOST,
    "firewall-contributes": SECOND,
    "irqbalance-hardly": HARDLY,
    "tcp-low-latency-not-better": NOT_BETTER,
    "together-54-percent": FAR_LOWER,
    "deviation-halved": STEADIER,
    "not-additive": NOT_A_SUM,
}

ABOUT_PERCENT = 10.0  # around the paper's 54
HALVED = (0.35, 0.65)  # of the deviation is left, where it is nearly halved
ADDS_UP_PERCENT = 3.0  # a smaller difference between the sum and the whole is none
ON_PCS = "Measure on virtual machines or on real PCs."


def claims(record: Record) -> list[Verdict]:
    """All claims; what cannot be seen on this kind of cluster is inconclusive, and says so."""
    bad = trouble(record, HALF)
    if NO_SAMPLES in bad:
        return [
            _not_here(record, name, CLAIMS[name], knob)
            if (knob := KNOB_OF.get(name)) and absent(record, knob)
            else unjudged(record, {name: CLAIMS[name]}, bad)[0]
            for name in CLAIMS
        ]
    return [
        _most(record, bad),
        _contributes(record, bad),
        _hardly(record, "irqbalance-hardly", IRQBALANCE, bad),
        _hardly(record, "tcp-low-latency-not-better", LOW_LATENCY, bad),
        _together(record, bad),
        _deviation(record, bad),
        _sum(record, bad),
    ]


KNOB_OF = {
    "moderation-most": MODERATION,
    "firewall-contributes": FIREWALL,
    "irqbalance-hardly": IRQBALANCE,
    "tcp-low-latency-not-better": LOW_LATENCY,
}


def _not_here(record: Record, name: str, claim: str, knob: str) -> Verdict:
    why = absent(record, knob) or f"{knob} was not measured"
    return verdict(record, name, claim, "inconclusive", why, advice=ON_PCS)


def _stand_in(record: Record, knob: str) -> str:
    """What a knob was set to before, for whoever reads the evidence."""
    value = record.sweep.get("testbed", {}).get(knob, "")
    unit = {MODERATION: "µs", FIREWALL: "rules"}[knob]
    made = "a stand-in of " if knob == MODERATION and on_one_machine(record.cluster) else ""
    return f"{knob} ({made}{value} {unit})"


def _change(found: Gain) -> str:
    seen = found.percent
    return f"{seen.median:+.1f} % ({seen.low:+.1f} to {seen.high:+.1f})"


def _most(record: Record, bad: Sequence[str]) -> Verdict:
    first, second = gain(record, MODERATION), gain(record, FIREWALL)
    if not first or not second:
        missing = FIREWALL if first else MODERATION
        return _not_here(record, "moderation-most", MOST, missing)
    outcome: Outcome = "inconclusive"
    if first.ratio.high < min(1.0, second.ratio.low):
        outcome = "holds"
    elif first.decision in ("no effect", "slower") or first.ratio.low > second.ratio.high:
        outcome = "contradicted"
    return verdict(
        record,
        "moderation-most",
        MOST,
        outcome,
        f"without {_stand_in(record, MODERATION)}: {_change(first)};"
        f" without {_stand_in(record, FIREWALL)}: {_change(second)}",
        numbers={"moderation": first.ratio.median, "firewall": second.ratio.median},
        trouble=bad,
    )


def _contributes(record: Record, bad: Sequence[str]) -> Verdict:
    alone, later = gain(record, FIREWALL), gain(record, FIREWALL, LATER)
    if not alone:
        return _not_here(record, "firewall-contributes", SECOND, FIREWALL)
    decided: dict[str, Outcome] = {
        "faster": "holds",
        "inconclusive": "inconclusive",
    }
    seen = f"without {_stand_in(record, FIREWALL)}: {_change(alone)}, {alone.decision}"
    numbers = {ALONE: alone.ratio.median}
    if later:
        seen += f"; when moderation is gone already: {_change(later)}, {later.decision}"
        numbers[LATER] = later.ratio.median
    return verdict(
        record,
        "firewall-contributes",
        SECOND,
        decided.get(alone.decision, "contradicted"),
        seen,
        numbers=numbers,
        trouble=bad,
    )


def _hardly(record: Record, name: str, knob: str, bad: Sequence[str]) -> Verdict:
    found = gain(record, knob)
    if not found:
        return _not_here(record, name, CLAIMS[name], knob)
    allowed = ("no effect",) if knob == IRQBALANCE else ("no effect", "slower")
    outcome: Outcome = "holds" if found.decision in allowed else "contradicted"
    if found.decision == "inconclusive":
        outcome = "inconclusive"
    return verdict(
        record,
        name,
        CLAIMS[name],
        outcome,
        f"{says(found)}: {_change(found)}, {found.decision}",
        numbers={"ratio": found.ratio.median},
        trouble=bad,
    )


def _published(what: str, finding: str) -> float:
    known = papers.table("E-knobs")
    return float(known[(known.what == what) & (known.finding == finding)].value.iloc[0])


def _together(record: Record, bad: Sequence[str]) -> Verdict:
    name, found = "together-54-percent", gain(record, TOGETHER)
    if not found:
        return _not_here(record, name, FAR_LOWER, MODERATION)
    paper = _published(TOGETHER, "mean latency")
    seen = f"{medians(found)}; paper E: {paper:+.0f} %"
    low, high = paper - ABOUT_PERCENT, paper + ABOUT_PERCENT
    outcome: Outcome = "inconclusive"
    if low <= found.percent.low and found.percent.high <= high:
        outcome = "holds"
    elif found.percent.high < low or found.percent.low > high:
        outcome = "contradicted"
    advice, but = "", ""
    if on_one_machine(record.cluster):
        but = (
            "the share follows from how much moderation is put in, and from the 20 µs of card, cable"
            " and switch below it, which this kind of cluster does not have"
        )
        advice = ON_PCS
    numbers = {"percent": found.percent.median, "paper_percent": paper}
    return verdict(
        record, name, FAR_LOWER, outcome, seen, advice=advice, but=but, numbers=numbers, trouble=bad
    )


def _deviation(record: Record, bad: Sequence[str]) -> Verdict:
    found = gain(record, TOGETHER)
    if not found:
        return _not_here(record, "deviation-halved", STEADIER, MODERATION)
    left = found.after.deviation / found.before.deviation if found.before.deviation else 1.0
    low, high = HALVED
    outcome: Outcome = "holds" if low <= left <= high else "contradicted"
    advice, but = "", ""
    if on_one_machine(record.cluster):
        but = "what disturbs a local cluster is the rest of its machine"
        advice = ON_PCS
    return verdict(
        record,
        "deviation-halved",
        STEADIER,
        outcome,
        f"from {found.before.deviation:.2f} to {found.after.deviation:.2f} µs, {left:.2f} times",
        advice=advice,
        but=but,
        numbers={"times": left},
        trouble=bad,
    )


def _sum(record: Record, bad: Sequence[str]) -> Verdict:
    # A knob that was not taken away together with the others is no part of that whole.
    parts = [each for knob in record.sweep.get("testbed", {}) if (each := gain(record, knob))]
    whole = gain(record, TOGETHER)
    if not whole or len(parts) < 2:
        return _not_here(record, "not-additive", NOT_A_SUM, MODERATION)
    # In per cent of the same state before, as the paper has them.
    total = sum(each.percent.median for each in parts)
    low = whole.percent.low - sum(each.percent.high for each in parts)
    high = whole.percent.high - sum(each.percent.low for each in parts)
    us = sum(each.saved_us.median for each in parts)
    outcome: Outcome = "holds" if low > 0 or high < 0 else "inconclusive"
    if low >= -ADDS_UP_PERCENT and high <= ADDS_UP_PERCENT:
        outcome = "contradicted"
    return verdict(
        record,
        "not-additive",
        NOT_A_SUM,
        outcome,
        f"alone they come to {total:+.1f} % and {us:.1f} µs, together to {_change(whole)} and"
        f" {whole.saved_us.median:.1f} µs; the difference lies between {low:+.1f} and {high:+.1f} %",
        numbers={"sum_percent": total, "together_percent": whole.percent.median},
        trouble=bad,
    )
