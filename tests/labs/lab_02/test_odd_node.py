"""Lab 02's puzzle and its curve: is one node made odd, only while it is measured, and is it the one that is found?"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from nodeless_cluster import Nodeless
from running import warned

from beowulf.cluster.namespaces.cluster import NamespaceCluster
from beowulf.errors import LabError
from beowulf.labs.lab_02 import load_times, odd_node
from beowulf.labs.lab_02.node_comparison import OVER_IP
from beowulf.labs.lab_02.node_rows import RESULT
from beowulf.record import Point, Record, newest

LEVELS = [(4, 1.0), (8, 1.0), (16, 4.0), (32, 4.0), (64, 90.0)]


def tables(cluster: NamespaceCluster) -> dict[str, str]:
    """The packet filters of all nodes."""
    return {node: cluster.administer(node, "nft list tables").stdout for node in cluster.nodes}


def found(record: Record) -> str:
    """The odd node; a very busy machine may show none, but never another one."""
    try:
        return odd_node.odd(record)
    except LabError:
        return "none"


@pytest.mark.nightly
@pytest.mark.cluster
def test_the_odd_node_is_the_one_that_was_made_so_and_is_put_back_afterwards(
    cluster: NamespaceCluster, records: Path
) -> None:
    before = tables(cluster)
    record = odd_node.measure(cluster, random.Random(1))
    assert found(record) in (random.Random(1).choice(cluster.nodes[1:]), "none")
    assert (found(record) == "none") == bool(warned(record))
    assert tables(cluster) == before
    assert (record.study, record.variant, record.complete) == ("A3", "odd", True)
    shown = odd_node.table(record)
    assert set(OVER_IP) < set(shown["row"])
    assert {"null call", "pipe", "pipe bandwidth", "mem read"} < set(shown["row"])
    assert list(shown.columns) == ["row", "unit", *cluster.nodes]
    assert newest(records, "A3", "odd") == record


def test_nodes_of_another_kind_are_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(LabError, match="kind nodeless, unwanted-senders is not ours to change"),
        odd_node.made_odd(Nodeless(tmp_path), "node01"),
    ):
        pass


def curve() -> Record:
    at = {"node": "node00", "launch": 0}
    points = [
        Point({**at, "size_bytes": kib * 1024}, load_times.QUANTITY, [ns + 0.2, ns, ns + 0.1])
        for kib, ns in LEVELS
    ]
    first = {"from_bytes": 4096, "to_bytes": 8192}
    points.append(Point({**at, "program": "memory", RESULT: "L1 cache"}, facts=first))
    return Record("A3", points=points, sweep={"nodes": ["node00"]})


def test_the_curve_has_a_line_a_size_names_its_plateaus_and_is_drawn_with_its_table() -> None:
    found = load_times.table(curve(), "node00")
    assert list(found["size_kib"]) == [kib for kib, _ in LEVELS]
    assert list(found["best_ns"]) == [ns for _, ns in LEVELS]
    assert list(found["median_ns"]) == pytest.approx([ns + 0.1 for _, ns in LEVELS])
    assert list(found["plateau"]) == ["L1 cache", "L1 cache", "", "", ""]
    drawn = load_times.picture(curve(), "node00")
    assert "node00" in drawn.alt
    assert len(drawn.table) == len(LEVELS)


def test_a_node_without_a_curve_is_named() -> None:
    with pytest.raises(LabError, match="node07"):
        load_times.table(curve(), "node07")
