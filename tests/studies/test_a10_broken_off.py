"""A10 that is stopped by Ctrl-C: is what was measured kept, and nothing else?"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from running import PATIENCE_S, Beowulf, wait_until

from beowulf.cluster.namespaces import NamespaceCluster
from beowulf.errors import LabError
from beowulf.labs.lab_01 import a5_no_load
from beowulf.labs.lab_06 import a10_short_messages
from beowulf.record import newest
from beowulf.studies.study import Study


@pytest.mark.nightly
@pytest.mark.cluster
def test_ctrl_c_keeps_the_launches_that_were_captured_whole_and_their_captures(
    at_cluster: Beowulf,
) -> None:
    running = at_cluster.start("study", "A10", "--quick")
    kept = at_cluster.here / "records"
    # The second launch has begun when a second capture is there, or the first is gone again.
    seen: set[str] = set()

    def second_launch() -> bool:
        seen.update(path.name for path in kept.glob("*.pcapng"))
        return len(seen) >= 2

    wait_until(second_launch, "a second capture")
    os.kill(running.pid, signal.SIGINT)
    said, _ = running.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in said, said
    record = newest(kept, "A10")
    assert record is not None, said
    assert not record.complete
    assert [p.facts["matched"] for p in record.points if "matched" in p.facts] != []
    named = {each["file"] for each in record.captures}
    assert named == {path.name for path in kept.glob("*.pcapng")}
    verdicts = json.loads(at_cluster("claims", "A10", "--json"))
    assert {verdict["outcome"] for verdict in verdicts} == {"inconclusive"}


@pytest.mark.cluster
@pytest.mark.parametrize("study", [a5_no_load.STUDY, a10_short_messages.STUDY])
def test_a_capture_that_is_refused_leaves_no_file(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, study: Study
) -> None:
    def refused(*words: object, **more: object) -> None:
        raise LabError("No packets here.")

    monkeypatch.setattr(NamespaceCluster, "capture", refused)
    with pytest.raises(LabError, match="No packets here"):
        study.measure(cluster, tmp_path, quick=True)
    assert list(tmp_path.iterdir()) == []
