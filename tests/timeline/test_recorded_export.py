"""Do others' tools find in a trace what is in it?"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from beowulf.errors import LabError
from beowulf.timeline import analysis, export
from beowulf.timeline.trace import PART

if TYPE_CHECKING:
    from tests.timeline.conftest import Recorded


def test_chromes_format_has_each_call_mark_and_message(record: Recorded, tmp_path: Path) -> None:
    found = analysis.read(record("everything.c", 2))
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


def test_otf2s_own_tool_reads_the_archive(record: Recorded, tmp_path: Path) -> None:
    if not shutil.which("otf2-print") or not Path(export.DEBIAN_PACKAGES, "otf2").exists():
        pytest.skip("OTF2 is not installed here")
    found = analysis.read(record("everything.c", 2))
    export.otf2(found, tmp_path / "archive")
    words = ["otf2-print", tmp_path / "archive" / "traces.otf2"]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    kinds = Counter(line.split()[0] for line in printed.splitlines() if line[:1].isupper())
    calls = int((found.events["flags"] & PART == 0).sum())
    assert (kinds["ENTER"], kinds["LEAVE"]) == (calls, calls)
    assert kinds["MPI_SEND"] == kinds["MPI_RECV"] == len(found.messages)
    with pytest.raises(LabError, match="is there already"):
        export.otf2(found, tmp_path / "archive")


def test_without_its_library_otf2_says_how_to_get_it(
    record: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "otf2", None)
    found = analysis.read(record("many.c", 2, "3"))
    with pytest.raises(LabError, match="is not installed") as error:
        export.otf2(found, tmp_path / "archive")
    assert "python3-otf2" in error.value.hint
