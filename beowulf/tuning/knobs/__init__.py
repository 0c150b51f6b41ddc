"""All knobs by name: each is a file of its own name, with a class of that name."""

from __future__ import annotations

from importlib import import_module

from beowulf.errors import UsageError
from beowulf.tuning.knob import Knob


def _known(*names: str) -> tuple[Knob, ...]:
    modules = {name: import_module(f"{__name__}.{name}") for name in names}
    return tuple(
        getattr(module, name.title().replace("_", ""))() for name, module in modules.items()
    )


# Paper E's four first: three in the order of its procedure, and the one that it leaves out; then what it did not turn,
# from the card up to the program.
EACH = _known(
    *"moderation irqbalance firewall tcp_low_latency irq_affinity busy_polling offloads".split(),
    *"rings bonding socket_buffers delayed_ack governor idle_states".split(),
)
# What studies and exercises change besides, in the same way: written down before, and put back from there.
OF_STUDIES = _known("cpu_share", "small_segments", "unwanted_senders", "striping", "multipath")
ALL: dict[str, Knob] = {knob.name: knob for knob in (*EACH, *OF_STUDIES)}


def find(name: str) -> Knob:
    """The knob of that name; UsageError with all names when there is none."""
    if knob := ALL.get(name):
        return knob
    raise UsageError(
        f"There is no knob {name!r}.", f"The knobs are: {', '.join(knob.name for knob in EACH)}."
    )
