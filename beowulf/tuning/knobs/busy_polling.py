"""Looking again and again for packets instead of waiting for an interrupt."""

from __future__ import annotations

from beowulf.tuning.knobs.files import Files


class BusyPolling(Files):
    """For how many microseconds a socket's reader asks the card itself."""

    name = "busy-polling"
    title = "busy polling (net.core.busy_read, busy_poll)"
    what = (
        "For how many microseconds a program that waits for a socket looks into the card's queue itself,"
        " instead of sleeping until an interrupt; 0 is not at all."
    )
    why = "Nobody has to be woken. It costs the whole core while it waits."
    here = (
        "The two switches belong to this machine, and every new socket on it takes them over, those of the nodes too."
        " A cable between namespaces has a queue to look into only with GRO on; and MPICH looks again and again anyway."
    )
    elsewhere = "On PCs and VMs: `sysctl -w net.core.busy_read=50 net.core.busy_poll=50`; a program: SO_BUSY_POLL."
    values = ("0", "50")
    tuned = "0"
    shows = "50"
    on_host = True
    relaunch = True
    files = ("/proc/sys/net/core/busy_read", "/proc/sys/net/core/busy_poll")
    lacking = "this kernel has no busy polling"
    numbers = (0, 1000, "microseconds")
