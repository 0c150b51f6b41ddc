"""Does a node that dies in any phase of a study leave a sentence with its name, and no Record that says complete?"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from running import PATIENCE_S, Beowulf, first
from tiny_study import PHASES, paused

from beowulf.cluster.holding import lock
from beowulf.record import Record
from tests.simulated_pcs import Hall

pytestmark = pytest.mark.cluster
PCS = 2
DIES = "node01"


def check(learner: Beowulf, phase: str, kill: Callable[[], None]) -> None:
    study = paused(learner, phase, phase)
    kill()
    said, _ = study.communicate("\n", timeout=PATIENCE_S)
    assert "Traceback" not in said, said
    assert DIES in said, said
    for path in (learner.here / "records").glob(f"X1-{phase}-*.json"):
        record = Record.load(path)
        assert not record.complete
        assert DIES in " ".join(record.warnings)
        assert phase not in ("before", "entered")
    if phase in ("last", "after"):
        assert f"the state of {DIES} was up and is" in said
    assert lock.holder(learner.state) is None


@pytest.mark.parametrize("phase", first(1, sorted(PHASES, key="launch".__ne__)))
def test_a_node_of_this_machine(beowulf: Beowulf, phase: str) -> None:
    beowulf("up", "--nodes", "2")
    check(beowulf, phase, lambda: beowulf.cluster.kill(DIES))


@pytest.mark.nightly  # a lost connection is noticed after ten seconds
@pytest.mark.parametrize("phase", PHASES)
def test_a_pc_whose_cable_is_pulled(pcs: Hall, connected: Beowulf, phase: str) -> None:
    connected("up")
    try:
        check(connected, phase, lambda: pcs.unplug(DIES))
    finally:
        pcs.plug(DIES)
