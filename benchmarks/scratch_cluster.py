"""The folder in which a benchmark works: its own clusters are there, and nothing of it stays."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from beowulf.cluster import namespaces

# The state folder of the one cluster that a benchmark has at a time; no other cluster of this user is used.
STATE = "state"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder. Afterwards it is gone, and the cluster whose state was in it is down."""
    with tempfile.TemporaryDirectory(prefix="beowulf-bench-") as name:
        folder = Path(name)
        try:
            yield folder
        finally:
            # A second Ctrl-C would otherwise leave a cluster that no command finds.
            handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
            try:
                namespaces.down(folder=folder / STATE)
            finally:
                signal.signal(signal.SIGINT, handler)


# While a process holds this file with a zero in it, no idle core sleeps: the kernel's own interface for it, and
# gone with the process. See Documentation/power/pm_qos_interface.rst of Linux.
SLEEP = Path("/dev/cpu_dma_latency")


@contextmanager
def awake() -> Iterator[bool]:
    """Idle cores wait awake meanwhile, as knob idle-states has it; False where this machine does not let us ask."""
    with ExitStack() as held:
        is_awake = False
        with suppress(OSError):
            file = held.enter_context(SLEEP.open("wb", buffering=0))
            file.write(bytes(4))
            is_awake = True
        yield is_awake
