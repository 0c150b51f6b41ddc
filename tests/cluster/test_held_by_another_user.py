"""Is a cluster of PCs held against a second user at another machine, and let go of by a user who dies?"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from running import PATIENCE_S, Beowulf, next_line, wait_until

from beowulf import paths
from beowulf.cluster.machines.targets import CARD as FACTS
from tests.simulated_pcs import Hall, learner_at

pytestmark = pytest.mark.cluster
PCS = 2
# Holds the cluster and says so, until it is killed or a line comes; a second argument: whether it waits.
HOLDS = """
import sys
from beowulf.cluster import running
from beowulf.errors import LabError
cluster = running()
try:
    with cluster.holding("study A6", wait="wait" in sys.argv, report=lambda sentence: print(sentence, flush=True)):
        print("held", flush=True)
        sys.stdin.readline()
        print(cluster.as_found().get("hold on the master"), flush=True)
except LabError as error:
    print(error, flush=True)
"""
OURS = "for p in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$p; echo; done 2>/dev/null | grep -c '[b]eowulf-holds'"


@pytest.fixture(scope="module")
def pcs(pcs: Hall) -> Hall:
    for name in pcs.names:
        # What `beowulf setup` leaves there, as far as a lock asks; programs it needs none.
        pcs.at(name, f"mkdir -p $(dirname {FACTS}); printf 'cluster=ours\\n' >{FACTS}")
    return pcs


@pytest.fixture(scope="module")
def users(pcs: Hall, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Beowulf]]:
    """Two learners at machines of their own, who log in to the same PCs as different users."""
    with ExitStack() as stack:
        found = []
        for user in ("root", "ada"):
            here = tmp_path_factory.mktemp(user[0])
            learner = stack.enter_context(learner_at(pcs, here))
            learner.environment["LOGNAME"] = user
            learner("up", "--target", pcs.inventory(here / "pcs.yml", user=user), code=1)
            found.append(learner)
        yield found


def holds(learner: Beowulf, ends: ExitStack, *words: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [*learner.prefix, str(paths.python_bin() / "python"), "-c", HOLDS, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=learner.environment,
    )
    ends.callback(process.wait, PATIENCE_S)
    ends.callback(process.kill)
    return process


def held_on_master(pcs: Hall) -> int:
    return int(pcs.at(pcs.names[0], OURS, code=None))


@pytest.mark.nightly
def test_another_user_reads_who_measures_and_waits_until_that_is_done(
    pcs: Hall, users: list[Beowulf], ends: ExitStack
) -> None:
    first = holds(users[0], ends)
    assert next_line(first) == "held"
    said = next_line(holds(users[1], ends))
    assert "The cluster has been in use by root at " in said
    assert "for study A6, which measures or waits for its turn" in said
    third = holds(users[1], ends, "wait")
    assert "Waiting until that is done" in next_line(third)
    assert first.stdin
    first.stdin.write("\n")
    first.stdin.flush()
    assert next_line(first) == "there"
    assert next_line(third) == "held"


def test_a_knob_is_not_turned_while_another_user_measures(
    pcs: Hall, users: list[Beowulf], ends: ExitStack
) -> None:
    assert next_line(holds(users[1], ends)) == "held"
    said = users[0]("tune", "apply", "firewall", "10", "--unmeasured", code=1)
    assert "The cluster has been in use by ada at " in said
    assert pcs.at("node01", "nft list ruleset") == ""


def test_the_hold_ends_with_a_process_that_is_killed(
    pcs: Hall, users: list[Beowulf], ends: ExitStack
) -> None:
    first = holds(users[0], ends)
    assert next_line(first) == "held"
    assert held_on_master(pcs) == 1
    first.kill()
    wait_until(lambda: held_on_master(pcs) == 0, "the master is let go of")
    assert next_line(holds(users[1], ends)) == "held"


def test_a_hold_whose_connection_broke_is_known_as_lost(
    pcs: Hall, users: list[Beowulf], ends: ExitStack
) -> None:
    first = holds(users[0], ends)
    assert next_line(first) == "held"
    pcs.at(
        "node00",
        "for p in /proc/[0-9]*; do tr '\\0' ' ' <$p/cmdline 2>/dev/null |"
        " grep -q '[b]eowulf-holds' && kill ${p#/proc/}; done; true",
    )
    wait_until(lambda: held_on_master(pcs) == 0, "the master is let go of")
    assert first.stdin
    first.stdin.write("\n")
    first.stdin.flush()
    assert next_line(first) == "lost"


def test_a_master_that_was_never_set_up_or_is_off_holds_nothing_up(
    pcs: Hall, users: list[Beowulf], ends: ExitStack
) -> None:
    pcs.at("node00", f"mv {FACTS} {FACTS}.away")
    try:
        assert next_line(holds(users[0], ends)) == "held"
        assert next_line(holds(users[1], ends)) == "held"
    finally:
        pcs.at("node00", f"mv {FACTS}.away {FACTS}")
