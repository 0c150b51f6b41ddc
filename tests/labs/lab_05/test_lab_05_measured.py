"""Lab 05's studies on a real cluster, with few launches: does each run from measuring to its picture?"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from running import first

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.labs.lab_05 import (
    a8_small_messages_overlap,
    a9_overlap_sizes,
    d1_synchronisation,
    d2_message_size_sweep,
    d4_both_sides,
    d5_improvement,
    d6_cumulative_and_processes,
)
from beowulf.labs.lab_05.overlap import DEFAULT, KB, ONE_USER, ONE_USER_SOCKET, THREADED, Amount
from beowulf.studies import judge

FEW = {"QUICK": Amount(launches=1, passes=3)}
ONE_WAY = FEW | {"WAYS": (ONE_USER,)}
CASES: list[tuple[ModuleType, dict[str, Any], dict[str, Any]]] = [
    (d1_synchronisation, FEW | {"CASES": ((ONE_USER, 40_000),), "SHARES": {"delay": 0.5}}, {}),
    (d2_message_size_sweep, ONE_WAY | {"PAPER_D": (10 * KB, 80 * KB)}, {"seconds": 0.005}),
    (d4_both_sides, FEW | {"WAYS": (ONE_USER_SOCKET,), "SIZES": (7 * KB,)}, {}),
    # D4 runs its program in every run.
    (d5_improvement, FEW | {"WAYS": (ONE_USER, THREADED), "SIZES": (14 * KB, 28 * KB)}, {}),
    (
        d6_cumulative_and_processes,
        FEW | {"WAYS": (ONE_USER_SOCKET, DEFAULT), "COUNTS": (1, 8)},
        {},
    ),
    (a8_small_messages_overlap, {}, {"sizes": (0, 1, 1024)}),  # A7 sweeps as it does
    (a9_overlap_sizes, {"RANKS": (2, 3)}, {"sizes": (1, 1000), "overlap_bytes": (1, 100_000)}),
]


@pytest.mark.nightly
@pytest.mark.cluster
@pytest.mark.parametrize(("module", "changes", "options"), first(3, CASES))
def test_a_study_runs_from_measure_to_picture(
    cluster: NamespaceCluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    changes: dict[str, Any],
    options: dict[str, Any],
) -> None:
    for name, value in changes.items():
        monkeypatch.setattr(module, name, value)
    reported: list[float] = []
    study = module.STUDY
    options |= {"progress": lambda done, of, _: reported.append(done / of)}
    record = study.measure(cluster, tmp_path, quick=True, **options)
    assert record.complete, record.warnings
    assert reported == sorted(reported)
    assert [verdict.claim for verdict in judge(record)] == [claim.name for claim in study.judged]
    assert study.picture(record).alt
