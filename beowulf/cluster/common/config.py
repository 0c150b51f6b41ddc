"""The plan of a local cluster: names, addresses, rate, networks. Plain data; nothing is started here."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from beowulf.errors import UsageError

RATE_BITS_PER_S = {"10mbit": 10e6, "100mbit": 100e6, "1gbit": 1e9}
RATES = (*RATE_BITS_PER_S, "off")
MPIS = ("classic", "modern")
SIMULATED = "simulated"  # the MPI of SimGrid, which no local cluster has
FEWEST_NODES, MOST_NODES = 2, 16

# Paper A gives node01 the address 192.168.0.9, so node00 has .8.
FIRST_HOST = 8


@dataclass(frozen=True)
class ClusterConfig:
    """A cluster of `nodes` nodes on `networks` networks, each link shaped to `rate`, with the `mpi` library."""

    nodes: int = 4
    rate: str = "100mbit"
    networks: int = 1
    mpi: str = "classic"

    def __post_init__(self) -> None:
        if not FEWEST_NODES <= self.nodes <= MOST_NODES:
            raise UsageError(
                f"A local cluster has {FEWEST_NODES} to {MOST_NODES} nodes, not {self.nodes}."
            )
        if self.rate not in RATES:
            raise UsageError(f"The rate is one of {', '.join(RATES)}, not {self.rate!r}.")
        if self.networks not in (1, 2):
            raise UsageError(f"A cluster has 1 or 2 networks, not {self.networks}.")
        if self.mpi not in MPIS:
            raise UsageError(f"The MPI library is one of {', '.join(MPIS)}, not {self.mpi!r}.")

    @property
    def names(self) -> tuple[str, ...]:
        """node00, node01, …; node00 is the master."""
        return tuple(f"node{i:02}" for i in range(self.nodes))

    def address(self, node: str, network: int = 0) -> str:
        """The IPv4 address of `node` on that network (0 is the first)."""
        return f"192.168.{network}.{FIRST_HOST + self.names.index(node)}"

    def hardware_address(self, node: str, network: int = 0) -> str:
        """The Ethernet address of `node`'s card, the same after every restart, so that its neighbours still know it."""
        return f"02:00:00:00:{network:02x}:{FIRST_HOST + self.names.index(node):02x}"

    def hosts(self, node: str) -> str:
        """The text of `node`'s /etc/hosts: its own name first, as paper A has it, then localhost, then the others."""
        others = [name for name in self.names if name != node]
        lines = [f"{self.address(node)} {node}", "127.0.0.1 localhost"]
        lines += [f"{self.address(name)} {name}" for name in others]
        for network in range(1, self.networks):
            lines += [
                f"{self.address(name, network)} {name}-eth{network}" for name in [node, *others]
            ]
        return "\n".join(lines) + "\n"

    def port(self, node: str, network: int = 0) -> str:
        """The name of the switch's port that the cable from `node` is plugged into."""
        return node if network == 0 else f"{node}-eth{network}"

    def as_dict(self) -> dict[str, Any]:
        """The plan as plain data for a file."""
        return asdict(self)
