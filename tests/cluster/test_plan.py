"""Is a plan that cannot be built refused, and has a second network addresses of its own?"""

from __future__ import annotations

import pytest

from beowulf.cluster.common.config import ClusterConfig
from beowulf.errors import UsageError


@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        ({"nodes": 1}, "2 to 16 nodes, not 1"),
        ({"nodes": 17}, "2 to 16 nodes, not 17"),
        ({"networks": 3}, "1 or 2 networks, not 3"),
        ({"rate": "56k"}, "10mbit, 100mbit, 1gbit, off, not '56k'"),
        ({"mpi": "lam"}, "classic, modern, not 'lam'"),
    ],
)
def test_a_plan_that_cannot_be_built_is_refused(wish: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        ClusterConfig(**wish)  # type: ignore[arg-type]


def test_a_second_network_has_names_and_addresses_of_its_own() -> None:
    plan = ClusterConfig(nodes=16, networks=2)
    addresses = [plan.address(node, network) for node in plan.names for network in (0, 1)]
    assert len(set(addresses)) == 32
    assert "192.168.1.23 node15-eth1" in plan.hosts("node00")
