"""Do others' tools find in a trace what is in it?"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from beowulf.timeline import analysis, export
from beowulf.timeline.trace import PART


def test_chromes_format_has_each_call_mark_and_message(
    everything: dict[int, Path], tmp_path: Path
) -> None:
    found = analysis.read(everything[2])
    export.chrome(found, tmp_path / "run.json")
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    phases = Counter(event["ph"] for event in events)
    marks = found.events["flags"] & 32 != 0
    calls = (found.events["flags"] & PART == 0) & ~marks
    assert phases["X"] == int(calls.sum())
    assert phases["s"] == phases["f"] == len(found.messages)
    assert phases["B"] == phases["E"] == 2
    # Each arrow ends within the call that got the message, where the tools look for it.
    spans = [e for e in events if e["ph"] == "X"]
    for arrow in (e for e in events if e["ph"] == "f"):
        assert any(
            span["pid"] == arrow["pid"] and span["ts"] <= arrow["ts"] <= span["ts"] + span["dur"]
            for span in spans
        )
