"""Does any order of a study, changes, a second study and a kill leave a Record that is not true, or a lock behind?

Each interleaving starts some commands at moments drawn by chance, and may kill one of them. What a Record says is held
against what its own samples saw on each node, and against when which change was begun and done.
"""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from running import PATIENCE_S, Beowulf
from test_held import tiny

from beowulf.cluster import lock
from beowulf.record import Record

pytestmark = pytest.mark.cluster
RATES = {"10mbit": "10Mbit", "100mbit": "100Mbit"}
CHANGES = (
    ("up", "--rate", "10mbit"),
    ("up", "--rate", "10mbit", "--force"),
    ("up",),
    ("down",),
    ("down", "--force"),
    ("break", "wrong-hosts"),
    ("break", "node-down", "--force"),
)
WITHIN_S = 1.5
MOST_COMMANDS = 4
TELLING = (3, 6)  # without a lock, these leave Records that are not true


@dataclass
class Event:
    """A command that was run: when it began and ended, how, and whether it was killed."""

    words: tuple[str, ...]
    process: subprocess.Popen[str]
    began: float
    ended: float = 0.0
    killed: bool = False
    said: str = ""

    @property
    def changed(self) -> bool:
        """Whether the cluster is another one afterwards."""
        done = self.process.returncode == 0 and not self.killed
        return done and "nothing was changed" not in self.said and self.words != ("up",)


def interleaving(learner: Beowulf, seed: int) -> list[Event]:
    """Start commands at moments drawn by chance, kill one or none, and wait for all of them."""
    chance = random.Random(seed)
    commands: list[tuple[float, tuple[str, ...]]] = [(0.0, ("study", f"a{seed}"))]
    for number in range(chance.randint(1, MOST_COMMANDS - 1)):
        second = ("study", f"{'bcd'[number]}{seed}")
        words = second if chance.random() < 0.25 else chance.choice(CHANGES)
        commands.append((chance.uniform(0, WITHIN_S), words))
    commands.sort()
    doomed = chance.choice([*range(len(commands)), None, None])
    after = chance.uniform(0, WITHIN_S)
    events: list[Event] = []
    start = time.monotonic()
    kill_at = float("inf")
    while len(events) < len(commands) or any(not event.ended for event in events):
        now = time.monotonic() - start
        assert now < PATIENCE_S, [event.words for event in events if not event.ended]
        if len(events) < len(commands) and now >= commands[len(events)][0]:
            words = commands[len(events)][1]
            if len(events) == doomed:
                kill_at = now + after
            begun = tiny(learner, words[1], 8) if words[0] == "study" else learner.start(*words)
            events.append(Event(words, begun, time.time()))
        if now >= kill_at and doomed is not None:
            kill_at, victim = float("inf"), events[doomed]
            victim.killed = victim.process.poll() is None
            victim.process.kill()
        for event in events:
            if not event.ended and event.process.poll() is not None:
                event.ended = time.time()
        time.sleep(0.005)
    for event in events:
        event.said = event.process.communicate()[0]
    return events


def untrue(record: Record, events: list[Event]) -> list[str]:
    """What a Record that says it is complete has wrong about its cluster."""
    if not record.complete:
        return [] if record.warnings else ["it is not complete, and does not say why"]
    rate = RATES[record.cluster["rate"]]
    seen = {value for point in record.points for value in point.facts.get("rate", [])}
    asked = {point.at["node"] for point in record.points if point.facts.get("rate")}
    found = [] if seen == {rate} else [f"it says {rate}, and the nodes saw {seen}"]
    if asked != set(record.cluster["nodes"]) or record.cluster["dead_nodes"]:
        found.append(f"of {record.cluster['nodes']} it has {asked}")
    began, ended = seconds(record.started), seconds(record.ended)
    found += [
        f"{event.words} was done while it was measured"
        for event in events
        if event.changed and event.began > began and event.ended < ended
    ]
    return found


def kept(learner: Beowulf, seed: int) -> list[Path]:
    return list((learner.here / "records").glob(f"X1-?{seed}-*.json"))


def whole(path: Path, events: list[Event]) -> Record | None:
    """The Record; None where its study was killed while it was written, which leaves an empty file."""
    if path.stat().st_size == 0 and any(event.killed for event in events):
        return None
    return Record.load(path)


def seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).astimezone(UTC).timestamp()


def check(learner: Beowulf, seed: int) -> int:
    """One interleaving; how many Records it left, each of which is true."""
    learner("up", "--rate", "100mbit")
    events = interleaving(learner, seed)
    history = [(event.words, event.killed, event.said) for event in events]
    assert lock.holder(learner.state) is None, history
    assert not [event for event in events if "Traceback" in event.said], history
    records = [record for path in kept(learner, seed) if (record := whole(path, events))]
    for record in records:
        assert untrue(record, events) == [], (history, record.cluster, record.warnings)
    inside = [(seconds(each.started), seconds(each.ended)) for each in records]
    for first, second in zip(sorted(inside), sorted(inside)[1:], strict=False):
        assert first[1] <= second[0], "two studies measured at once"
    return len(records)


def check_all(learner: Beowulf, seeds: Sequence[int]) -> None:
    left = sum(check(learner, seed) for seed in seeds)
    assert left >= len(seeds) / 4, "so few Records say nothing"
    learner("up")
    assert tiny(learner, "last", 1).wait(PATIENCE_S) == 0, "something still holds the cluster"
    assert len(list(Path(learner.here / "records").glob("X1-last-*.json"))) == 1


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_two_hundred_interleavings_leave_only_true_records_and_no_lock(beowulf: Beowulf) -> None:
    check_all(beowulf, [*TELLING, *range(1000, 1200)])
