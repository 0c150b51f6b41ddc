"""All knobs by name."""

from __future__ import annotations

from beowulf.errors import UsageError
from beowulf.tuning.knob import Knob
from beowulf.tuning.knobs.bonding import Bonding
from beowulf.tuning.knobs.cpu_share import CpuShare
from beowulf.tuning.knobs.delayed_ack import DelayedAck
from beowulf.tuning.knobs.firewall import Firewall
from beowulf.tuning.knobs.irq_affinity import IrqAffinity
from beowulf.tuning.knobs.irqbalance import Irqbalance
from beowulf.tuning.knobs.moderation import Moderation
from beowulf.tuning.knobs.multipath import Multipath
from beowulf.tuning.knobs.offloads import Offloads
from beowulf.tuning.knobs.small_segments import SmallSegments
from beowulf.tuning.knobs.socket_buffers import SocketBuffers
from beowulf.tuning.knobs.striping import Striping
from beowulf.tuning.knobs.tcp_low_latency import TcpLowLatency
from beowulf.tuning.knobs.unwanted_senders import UnwantedSenders

# Paper E's four first, in the order of its procedure; then what it did not turn, from the card up to the program.
EACH: tuple[Knob, ...] = (
    *(Moderation(), Irqbalance(), Firewall(), TcpLowLatency()),
    *(IrqAffinity(), Offloads(), Bonding(), SocketBuffers(), DelayedAck()),
)
# What studies and exercises change besides, in the same way: written down before, and put back from there.
OF_STUDIES: tuple[Knob, ...] = (
    *(CpuShare(), SmallSegments(), UnwantedSenders()),
    *(Striping(), Multipath()),
)
ALL: dict[str, Knob] = {knob.name: knob for knob in (*EACH, *OF_STUDIES)}


def find(name: str) -> Knob:
    """The knob of that name; UsageError with all names when there is none."""
    if knob := ALL.get(name):
        return knob
    raise UsageError(
        f"There is no knob {name!r}.", f"There are: {', '.join(knob.name for knob in EACH)}."
    )
