from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.measure import cpu
from beowulf.measure.cpu import percents, watched

SECOND = 1_000_000_000


def lines(*shares: float) -> str:
    """A watcher's lines, a tenth of a second apart, of a rank that uses these shares of a core."""
    used, said = 0.0, ["0 0"]
    for place, share in enumerate(shares, start=1):
        used += share * SECOND / 10
        said.append(f"{place * SECOND // 10} {int(used)}")
    return "\n".join(said)


def test_the_start_and_the_last_interval_are_left_out() -> None:
    assert percents(lines(1, 1, 1, 1, 0.5, 0.25, 1)) == [pytest.approx(50), pytest.approx(25)]


def test_a_program_that_was_not_seen_has_no_use() -> None:
    assert percents("") == []
    assert percents(lines(1, 1)) == []


@pytest.mark.cluster
def test_the_use_of_a_program_that_computes_is_seen_and_one_that_sleeps_has_none(
    cluster: NamespaceCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu, "EVERY_S", 0.02)  # so that a busy machine leaves some looks
    found = {}
    for name, command, words in (
        ("computes", "bash", "-c 'while :; do :; done'"),
        ("idles", "sleep", "60"),
    ):
        program = shutil.copy(shutil.which(command) or command, tmp_path / name)
        with watched(cluster, ["node01"], name) as use:
            cluster.run("node01", f"timeout 1.5 {program} {words} || true")
        found[name] = use["node01"]
    assert max(found["computes"]) > 0
    # A busy machine may start it so late that the first samples see it.
    assert min(found["idles"]) == 0.0
