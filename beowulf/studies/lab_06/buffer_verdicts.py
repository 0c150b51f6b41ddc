"""What A13 claims of buffers and of the eager limit, each held against a Record."""

from __future__ import annotations

from collections.abc import Sequence

from beowulf.errors import LabError
from beowulf.measure import quality
from beowulf.measure.judgement import unmeasured, verdict
from beowulf.measure.roundtrips import HALF
from beowulf.record import Record
from beowulf.studies.lab_05.overlap import with_same_limit
from beowulf.studies.lab_06.buffer_sizes import (
    EARLY,
    KB,
    LATE,
    OWN,
    PART,
    SMALL,
    Setting,
    compared,
    counted,
    sizes,
)
from beowulf.studies.lab_06.wire_costs import ALIKE, readable, size_text, slower, times, unseen
from beowulf.verdict import Outcome, Verdict


def claims(record: Record) -> list[Verdict]:
    """What buffers and limit should do, each held against the Record."""
    bad = quality.trouble(record, HALF)
    slow = [
        _slower(record, SMALL, 256 * KB, "small-buffers-slow-256kb", bad),
        _slower(record, SMALL, 64 * KB, "small-buffers-slow-64kb", bad),
        _slower(record, SMALL, KB, "small-buffers-slow-1kb", bad),
    ]
    asked = _slower(record, EARLY, 64 * KB, "asking-first-slow-64kb", bad)
    counted_ones = [_segments(record), _control(record), _matched(record)]
    return [*slow, *with_same_limit(record, [asked]), *readable(record, counted_ones)]


def _slower(record: Record, setting: Setting, size: int, claim: str, bad: Sequence[str]) -> Verdict:
    how = {
        SMALL: "Socket buffers of 4 KB",
        EARLY: "An eager limit of 4 KB, so that the sender asks first,",
    }[setting]
    says = f"{how} make messages of {size_text(size)} slower".replace(", make", ", makes")
    try:
        found = compared(record, setting, size)
    except LabError:
        return unmeasured(record, claim, says)
    evidence = f"{times(found)} as long as with the nodes' own settings"
    numbers = {"times": found.median, "low": found.low, "high": found.high, "n": found.n}
    return verdict(record, claim, says, slower(found), evidence, numbers=numbers, trouble=bad)


def _segments(record: Record) -> Verdict:
    claim = "small-buffers-more-segments"
    says = "Socket buffers of 4 KB cut every message into more segments"
    parts: list[str] = []
    few, numbers = 0, {}
    for size in sizes(record):
        try:
            small, own = (counted(record, each, size, "segments") for each in (SMALL, OWN))
            again, closed = (
                counted(record, SMALL, size, name)
                for name in ("retransmitted_packets", "zero_window_packets")
            )
        except LabError:
            continue
        few += small < (1 + ALIKE) * own
        numbers[f"times_at_{size}"] = small / own
        numbers |= {f"sent_again_at_{size}": again, f"window_closed_at_{size}": closed}
        parts.append(f"{size_text(size)}: {small:.1f} against {own:.1f}")
    if not parts:
        return unmeasured(record, claim, says)
    outcome: Outcome = "contradicted" if few else "holds"
    longest = max(sizes(record))
    evidence = (
        f"{'; '.join(parts)}; of a message of {size_text(longest)},"
        f" {numbers[f'sent_again_at_{longest}']:.2f} frames are sent again, and its receiver closes"
        f" its window {numbers[f'window_closed_at_{longest}']:.2f} times"
    )
    return verdict(
        record, claim, says, outcome, evidence, numbers=numbers, trouble=unseen(record, PART)
    )


def _control(record: Record) -> Verdict:
    claim = "limit-decides-control-messages"
    says = "Above the eager limit a message takes two control messages, below none"
    seen, wrong = 0, []
    for setting in (OWN, EARLY, LATE):
        for size in sizes(record):
            try:
                count = counted(record, setting, size, "control_packets")
            except LabError:
                continue
            seen += 1
            if count != (2.0 if setting.asks_first(size) else 0.0):
                wrong.append(f"{setting.says}, {size_text(size)}: {count:.2f}")
    if not seen:
        return unmeasured(record, claim, says)
    outcome: Outcome = "contradicted" if wrong else "holds"
    evidence = (
        "; ".join(wrong) or f"in all {seen} cases of three limits and {len(sizes(record))} sizes"
    )
    why = unseen(record, PART)
    return verdict(record, claim, says, outcome, evidence, numbers={"cases": seen}, trouble=why)


def _matched(record: Record) -> Verdict:
    claim = "every-message-captured"
    says = "The captures have every message that the program sent, of the right size"
    found = [p for p in record.select(part=PART) if "matched" in p.facts]
    if not found:
        return unmeasured(record, claim, says)
    wrong = [point for point in found if not point.facts["matched"]]
    sent = sum(point.facts["sent"] for point in found)
    evidence = f"{sent:,} messages in {len(found)} launches; {len(wrong)} launches differ"
    outcome: Outcome = "contradicted" if wrong else "holds"
    why = unseen(record, PART) if wrong else []
    return verdict(record, claim, says, outcome, evidence, numbers={"sent": sent}, trouble=why)
